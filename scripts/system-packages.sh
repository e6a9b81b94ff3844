#!/usr/bin/env bash
# Makes sure of what pip cannot install: a Vim that can report on itself, and the two parts of
# confinement. Installs what is missing where it may (Debian's packages; as root, or by a sudo
# that asks nothing), else stops with the one command to type.
#
#   scripts/system-packages.sh PYTHON [--with-browser]
#
# With the second argument also of what some tests need: a Chromium to look at pages, and a second,
# smaller Vim. They are skipped without, so where it cannot be installed, that is said and no more.
set -euo pipefail

python=${1:-python3}

say() { printf 'vimlib set-up: %s\n' "$*" >&2; }

stop() {
  say "$@"
  exit 1
}

# Empty if the Vim on the PATH will do, else what is wrong with it. A Vim without +eval skips
# from :if to :endif, so it is the good Vim that has to speak.
vim_fault() {
  if ! command -v vim >/dev/null; then
    echo "no vim on the PATH"
    return
  fi
  local answer
  answer=$(vim -u NONE -i NONE -N -n -es \
    -c 'if v:version >= 802 && has("timers") && exists("*echoraw") | verbose echo "good" | endif' \
    -c 'qall!' </dev/null 2>&1 || true)
  if [[ $answer != *good* ]]; then
    echo "$(command -v vim) is older than 8.2 or lacks +eval, +timers or echoraw()"
  fi
}

has_venv() { "$python" -c 'import ensurepip, venv' 2>/dev/null; }

# Found as pyseccomp will look for it.
has_seccomp() {
  "$python" -c 'import ctypes.util, sys; sys.exit(not ctypes.util.find_library("seccomp"))'
}

# Only the system's own Python can be completed by a system package.
is_system_python() { [[ $(command -v "$python") == /usr/bin/* ]]; }

faults=()
debian=()
others=()
look() {
  faults=() debian=() others=()
  local fault
  fault=$(vim_fault)
  if [[ -n $fault ]]; then
    faults+=("$fault")
    debian+=(vim)
    others+=(vim)
  fi
  if ! command -v bwrap >/dev/null; then
    faults+=("no bwrap (bubblewrap) on the PATH")
    debian+=(bubblewrap)
    others+=(bubblewrap)
  fi
  if ! has_seccomp; then
    faults+=("no libseccomp")
    debian+=(libseccomp2)
    others+=(libseccomp)
  fi
  if ! has_venv; then
    is_system_python || stop "$python has no venv module: pass another Python, as in: make PYTHON=python3.12"
    faults+=("$python has no venv module")
    debian+=("$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')")
    others+=(python3)
  fi
}

# The one command that a user of this system types.
command_to_type() {
  if command -v apt-get >/dev/null; then
    echo "sudo apt-get install ${debian[*]}"
  elif command -v dnf >/dev/null; then
    echo "sudo dnf install ${others[*]/#vim/vim-enhanced}"
  elif command -v pacman >/dev/null; then
    echo "sudo pacman -S ${others[*]/#python3/python}"
  elif command -v zypper >/dev/null; then
    echo "sudo zypper install ${others[*]}"
  elif command -v apk >/dev/null; then
    echo "sudo apk add ${others[*]}"
  else
    echo "your system's installer for: ${others[*]}"
  fi
}

# Runs its arguments as root, or fails at once where that would need a password.
as_root() {
  if [[ $EUID -eq 0 ]]; then
    "$@"
  else
    sudo --non-interactive "$@"
  fi
}

may_install() {
  command -v apt-get >/dev/null && as_root true 2>/dev/null
}

apt_install() {
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --no-install-recommends "${debian[@]}" </dev/null
}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
  stop "Python 3.11 or newer is needed and $python is not: pass one, as in: make PYTHON=python3.12"

# The list of packages may be missing or out of date, and need not be fetched where it is neither.
bring() {
  apt_install >/dev/null 2>&1 && return
  as_root apt-get update </dev/null >/dev/null || { failed="apt-get update"; return 1; }
  apt_install >/dev/null || { failed="apt-get install"; return 1; }
}

look
if [[ ${#faults[@]} -ne 0 ]]; then
  found=$(printf '%s; ' "${faults[@]}")
  found=${found%; }
  type_this=$(command_to_type)
  may_install || stop "$found. Type: $type_this"
  say "$found. Installing: ${debian[*]}"
  bring || stop "$found, and $failed failed. Type: $type_this"
  hash -r
  look
  [[ ${#faults[@]} -eq 0 ]] || stop "${faults[*]}, although the system's packages are installed: put a better one first on the PATH"
fi

has_browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null

if [[ ${2:-} == --with-browser ]] && ! has_browser; then
  debian=(chromium) others=(chromium)
  if may_install; then
    say "no Chromium on the PATH. Installing: chromium"
    bring || true
    hash -r
  fi
  has_browser || say "no Chromium on the PATH, so tests that look at pages are skipped. Type: $(command_to_type)"
fi

# On Debian its `vim-tiny`, which leaves the `vim` on the PATH alone.
if [[ ${2:-} == --with-browser ]] && command -v apt-get >/dev/null && ! command -v vim.tiny >/dev/null; then
  debian=(vim-tiny)
  if may_install; then
    say "no vim.tiny on the PATH. Installing: vim-tiny"
    bring || true
    hash -r
  fi
  command -v vim.tiny >/dev/null ||
    say "no vim.tiny on the PATH, so a test that needs a second Vim is skipped. Type: $(command_to_type)"
fi

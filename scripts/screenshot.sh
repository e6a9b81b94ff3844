#!/usr/bin/env bash
# The README's picture of a report: the top of its front page, as a headless Chromium draws it.
#
#   scripts/screenshot.sh [PAGE.html [PICTURE.png [HEIGHT]]]
#
# The picture in docs/images is of a store that holds this alone:
#   vimlib report --database "$(mktemp -d)/vimlib.duckdb" \
#     --suite ../shared/data/vimgolf/challenges.jsonl ../shared/data/logs
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

page=${1:-reports/latest/index.html}
picture=${2:-docs/images/report.png}
# By default just above the third picture: findings, pass rates and the table of runs.
height=${3:-1500}

stop() {
  printf 'screenshot: %s\n' "$*" >&2
  exit 1
}

[[ -f $page ]] || stop "$page: no such page; make it with: make report"
for browser in chromium chromium-browser google-chrome ''; do
  command -v "$browser" >/dev/null && break
done
[[ -n $browser ]] || stop "no Chromium on the PATH. Type: sudo apt-get install chromium"

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
# Root has no sandbox of Chromium's own; the page is ours, and forbids scripts and requests.
sandbox=()
[[ $EUID -ne 0 ]] || sandbox=(--no-sandbox)
"$browser" --headless "${sandbox[@]}" --disable-gpu --disable-quic --no-first-run \
  --disable-background-networking --disable-component-update --disable-sync \
  --blink-settings=preferredColorScheme=1 --force-device-scale-factor=1 --hide-scrollbars \
  --user-data-dir="$home" --window-size="1280,$height" --screenshot="$home/picture.png" \
  "file://$(realpath "$page")" >"$home/log" 2>&1 || stop "$browser failed: $(tail -n 1 "$home/log")"
[[ -s $home/picture.png ]] || stop "$browser wrote no picture: $(tail -n 1 "$home/log")"
mkdir -p "$(dirname "$picture")"
cp "$home/picture.png" "$picture"
echo "$picture: 1280 x $height, $(($(stat -c %s "$picture") / 1024)) KB"

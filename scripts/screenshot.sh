#!/usr/bin/env bash
# All pictures of README.md and docs/tour.md, from the version at hand, in one command:
#
#   scripts/screenshot.sh [REPORT [FOLDER]]
#
# REPORT: a folder with a report. Without it one is made of what the project ships (the seed suite, the
# solvers, the runs in data/runs) in a store of its own, so that no run of yours gets into a picture; that
# takes as long as a first `make report`. FOLDER: where the pictures go; docs/images.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python=${PYTHON:-.venv/bin/python}
report=${1:-}
pictures=${2:-docs/images}

if [[ -z $report ]]; then
  made=$(mktemp -d)
  trap 'rm -rf "$made"' EXIT
  # Nor may settings of yours.
  "$python" -m vimlib.cli report --config /dev/null --database "$made/vimlib.duckdb" --out "$made/reports"
  report=$made/reports/latest
fi
"$python" scripts/pictures.py "$report" "$pictures"

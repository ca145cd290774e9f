#!/bin/sh
# Install the harness, the floors and the product ($PRODUCT, by default this checkout) under $BENCH_HOME.
set -eu
: "${BENCH_HOME:=$HOME/.cache/bench}" "${PRODUCT:=$(cd "$(dirname "$0")/../.." && pwd)}"
mkdir -p "$BENCH_HOME"
venv() { d=$BENCH_HOME/$1; shift; [ -d "$d" ] || python3 -m venv "$d"; "$d/bin/pip" -q install "$@"; }
venv harness aiohttp ptyprocess pyte
venv floor textual==8.2.8 anthropic==2.14.0
venv product --force-reinstall --no-deps "$PRODUCT"
venv product "$PRODUCT"

#!/bin/bash
# benches/page/run.sh [DARKFIBER]: pages of five fabrics, up to the largest Slingshot, and what web/test/bench.mjs measures of them in a
# headless Chromium: size, time to the first picture, time to issue a frame. It needs node and chromium; docs/see.md has the table.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
darkfiber=$(realpath "${1:-$here/../../target/release/darkfiber}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$here"
"$darkfiber" route @slimfly-eth -e updn -e dfsssp -q --html "$work/slimfly.html" > /dev/null
"$darkfiber" route @t2hx-hyperx -e dfsssp -q --html "$work/hyperx.html" > /dev/null
"$darkfiber" simulate selene.toml -q --html "$work/selene-five-jobs.html" > /dev/null
"$darkfiber" fabric dragonfly:p=8,a=16,h=8 -q --html "$work/dragonfly-129-groups.html" > /dev/null
"$darkfiber" fabric @slingshot-max -q --html "$work/slingshot-max.html" > /dev/null
node "$here/../../web/test/bench.mjs" "$work"/{slimfly,hyperx,selene-five-jobs,dragonfly-129-groups,slingshot-max}.html

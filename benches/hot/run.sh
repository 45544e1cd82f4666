#!/bin/sh
# How long `darkfiber hot` takes to read tables and to find moves.
#
#   benches/hot/run.sh WORK [CASE...]      e.g. benches/hot/run.sh /tmp/hot dragonfly
#
# WORK is any folder outside of the repository; scenarios stay there. Jobs of 100 hosts anywhere fill each fabric, and each
# does an Alltoall. Prints a line of CSV for each case: pairs that send, moves, and the least seconds of RUNS runs (3 if
# not set), on one thread.
set -eu
work=${1:?a folder to work in}
shift
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$work"
ours=${CARGO_TARGET_DIR:-$here/../../target}/release/darkfiber
(cd "$here/../.." && cargo build --release -q -p darkfiber)
cp "$here/../../examples/cab.toml" "$work/cab.toml"

cases="tree pgft:m=18x18x36,w=1x18x18,p=1x1x1 ftree 116
dragonfly dragonfly:p=7,a=14,h=7 dfsssp 97
hyperx hyperx:dims=12x12x8,t=10 dfsssp 115"
echo "$cases" | while read -r name fabric engine jobs; do
    printf '%s\n' "fabric = \"$fabric\"" '[routes]' "engine = \"$engine\"" '[[job]]' "count = $jobs" \
        'traffic = "alltoall:bytes=1MiB"' 'nodes = 100' 'placement = "random"' > "$work/$name.toml"
done

echo "case,pairs,moves,reading_s,moving_s"
for name in cab tree dragonfly hyperx; do
    case " $* " in "  " | *" $name "*) ;; *) continue ;; esac
    for _ in $(seq "${RUNS:-3}"); do
        "$ours" -q --threads 1 --format json hot "$work/$name.toml" --moves 1000 > "$work/$name.json"
        jq -r '[.pairs, (.moves | length), .seconds_prepare, .seconds_compute] | @tsv' "$work/$name.json"
    done | awk -v name="$name" '
        { if (!n++ || $3 < a) a = $3; if (n == 1 || $4 < b) b = $4; pairs = $1; moves = $2 }
        END { printf "%s,%d,%d,%.4f,%.4f\n", name, pairs, moves, a, b }'
done

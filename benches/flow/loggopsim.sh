#!/bin/sh
# Schedules on darkfiber and on LogGOPSim, one after the other: the same operations and the same L, o, g, G.
#
#   benches/flow/loggopsim.sh WORK TOOLS
#
# TOOLS is the folder with LogGOPSim and txt2bin, compiled with -O2. WORK is any folder outside of the repository. Prints
# a line of CSV for each case: processor seconds of the simulation alone for darkfiber, of the whole program for
# LogGOPSim, which maps its binary schedule; it is stopped after LIMIT seconds (300 if not set).
set -eu
work=${1:?a folder to work in}
tools=${2:?the folder of LogGOPSim}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$work"
ours=${CARGO_TARGET_DIR:-$here/../../target}/release/examples/play
(cd "$here/../.." && cargo build --release -q -p darkfiber-workload --example play)

echo "kind,ranks,rounds,operations,darkfiber_s,million_operations_per_s,darkfiber_end_ns,loggopsim_s,loggopsim_end_ns"
while read -r kind ranks rounds; do
    "$ours" "$kind" "$ranks" "$rounds" "$work/s.goal" > /dev/null
    for _ in $(seq "${RUNS:-3}"); do "$ours" "$kind" "$ranks" "$rounds"; done | tr -d , > "$work/ours.log"
    "$tools/txt2bin" -i "$work/s.goal" -o "$work/s.bin" > /dev/null 2>&1
    rm "$work/s.goal"
    # Seconds of the processor that a command and what it started used.
    peer=$( (ulimit -t "${LIMIT:-300}"; "$tools/LogGOPSim" -f "$work/s.bin" > "$work/peer.log" 2>&1 || true; times) |
        tail -1 | tr 'ms' '  ' | awk '{ print $1 * 60 + $2 + $3 * 60 + $4 }')
    awk -v head="$kind,$ranks,$rounds" -v peer="$peer" '
        FNR == NR { if (!n++ || $13 < l) l = $13; ops = $1; for (i = 1; i < NF; i++) if ($i == "end") end = $(i + 1); next }
        $1 == "Host" && $3 > last { last = $3 }
        $1 == "Maximum" { last = $7 }
        END { printf "%s,%d,%.3f,%.2f,%d,%.3f,%s\n", head, ops, l, ops / l * 1e-6, end, peer, last }' "$work/ours.log" "$work/peer.log"
done <<CASES
${CASES:-dissemination 10000 1
ring 1000 100
alltoall 128 1
alltoall 256 1}
CASES

#!/bin/sh
# What a simulation of flows costs by number of flows and by size of the fabric, as CSV for a plot.
#
#   benches/flow/scaling.sh > scaling.csv
#
# Processor seconds are the least of RUNS runs (3 if not set).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
ours=${CARGO_TARGET_DIR:-$here/../../target}/release/examples/flow_problem
(cd "$here/../.." && cargo build --release -q -p darkfiber-flowsim --example flow_problem)

echo "by,fabric,engine,traffic,flows,solves,seconds,ns_per_flow"
row() {
    for _ in $(seq "${RUNS:-3}"); do "$ours" "$2" "$3" "$4" 1000000000; done |
        awk -v head="$1,\"$2\",$3,$4" '
            { if (!n++ || $2 < l) l = $2; flows = $5; solves = $7 }
            END { printf "%s,%d,%d,%.6f,%.0f\n", head, flows, solves, l, l / flows * 1e9 }'
}
for n in 1 3 10 30 100; do row flows fattree2:n=32,m=32,r=32 dmodk "permutation:$n"; done
for n in 4 8 16 32 64 100; do row fabric "fattree2:n=$n,m=$n,r=$n" dmodk permutation:1; done
for n in 4 8 12 16 22; do row fabric "kary:k=$n,n=3" dmodk permutation:1; done
for h in 2 3 4 5; do row fabric "dragonfly:p=$h,a=$((2 * h)),h=$h" minhop permutation:1; done
for g in 5 10 20; do row fabric "dragonfly:p=5,a=$((5 * g)),g=$g,per_pair=1" minhop permutation:1; done
for n in 4 8 16 24; do row pairs "fattree2:n=$n,m=$n,r=$n" dmodk all-pairs; done

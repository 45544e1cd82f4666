#!/bin/sh
# What a packet costs to cross a switch, by the size of the network: dragonflies of 72 to 100,000 hosts under uniform traffic.
#
#   benches/packet/size.sh WORK [OUT.svg]
#
# Every size runs on one thread, with packets of 1 and 16 flits at a load of 0.3; nanoseconds of a processor a hop, start-up
# (distances, tables) taken off by a run that ends at once. Prints CSV; draws it if a file is named (needs python3). HEIGHTS (2 to 12)
# and LENGTHS (1 16) choose sizes and lengths, DARKFIBER is a program that is built already.
set -eu
work=${1:?a folder to work in}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$work"
ours=${DARKFIBER:-${CARGO_TARGET_DIR:-$here/../../target}/release/darkfiber}
[ -n "${DARKFIBER:-}" ] || (cd "$here/../.." && cargo build --release -q -p darkfiber)

# Processor seconds, and packets times switches.
run() {
    { /usr/bin/time -f '%U' "$ours" -q --threads 1 --format json saturate "$1" -r ugal --switches booksim-iq --packet "$2" \
        --cable 10ns --global-cable 100ns --loads 0.3 --warmup "$3" --measure "$3" > "$work/out.json" 2> "$work/log"; }
    echo "$(tail -1 "$work/log") $(grep -o '"crossed": *[0-9]*' "$work/out.json" | tr -dc 0-9)"
}

echo "hosts,flits,ns_a_hop" > "$work/size.csv"
for h in ${HEIGHTS:-2 3 4 5 6 7 8 9 10 12}; do
    hosts=$((2 * h * h * (2 * h * h + 1)))
    for flits in ${LENGTHS:-1 16}; do
        # As many hops for all: some three million.
        long=$((2500000 * flits / hosts + 200))
        begin=$(run "dragonfly:p=$h,a=$((2 * h)),h=$h" "$flits" 20ns)
        all=$(run "dragonfly:p=$h,a=$((2 * h)),h=$h" "$flits" "${long}ns")
        echo "$hosts $flits $begin $all" |
            awk '{ printf "%d,%d,%.1f\n", $1, $2, 1e9 * ($5 - $3) / ($6 - $4) }' | tee -a "$work/size.csv"
    done
done
if [ $# -gt 1 ]; then
    python3 "$here/size.py" "$work/size.csv" "$2"
fi

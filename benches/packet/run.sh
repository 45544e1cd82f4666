#!/bin/sh
# Packets on darkfiber and on CAMINOS, one after the other: the same dragonfly of 1,056 hosts, loads and lengths.
#
#   benches/packet/run.sh WORK [LOAD...]      e.g. benches/packet/run.sh /tmp/packet 0.5
#
# WORK is any folder outside of the repository; CAMINOS 0.6.3 is installed there (`cargo install --locked`) if it is not on
# the PATH. Prints a line of CSV for each load and length: packets times switches that they crossed in each second of a
# processor, ours and theirs, the ratio, mean latencies, and loads that were accepted. The least of RUNS runs (3 if not set).
set -eu
work=${1:?a folder to work in}
shift
loads=${*:-0.2 0.5 0.8}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$work"
ours=${CARGO_TARGET_DIR:-$here/../../target}/release/darkfiber
(cd "$here/../.." && cargo build --release -q -p darkfiber)
caminos=$(command -v caminos || echo "$work/bin/caminos")
[ -x "$caminos" ] || cargo install --locked --version 0.6.3 --root "$work" --target-dir "$work/target" caminos
cycles=3000

# Groups of eight routers with four hosts each, links of 10, 100 and 1 cycles, six channels of 256 phits taken hop by hop,
# one choice between a shortest way and one round at the source.
config() {
    cat << END
Configuration {
    random_seed: 1, warmup: $cycles, measured: $cycles,
    topology: Dragonfly { global_ports_per_router: 4, servers_per_router: 4, group_size: 8, number_of_groups: 33,
        global_arrangement: Palmtree },
    traffic: HomogeneousTraffic { pattern: Uniform, servers: 1056, load: $1, message_size: $2 },
    maximum_packet_size: $2,
    router: Basic { virtual_channels: 6, virtual_channel_policies: [ EnforceFlowControl, Hops, LowestSinghWeight {
            extra_congestion: 0, extra_distance: 0, aggregate: true, use_internal_space: true }, Random ],
        delay: 0, buffer_size: 256, bubble: false, flit_size: $2, intransit_priority: false, allow_request_busy_port: true,
        output_buffer_size: 32, output_prioritize_lowest_label: false },
    routing: Sum { policy: Stubborn, first_routing: Shortest,
        second_routing: Valiant4Dragonfly { first: Shortest, second: Shortest, local_missrouting: false,
            dragonfly_bypass: true },
        first_allowed_virtual_channels: [0,1,2,3,4,5], second_allowed_virtual_channels: [0,1,2,3,4,5],
        first_extra_label: 0, second_extra_label: 0 },
    link_classes: [ LinkClass { delay: 10 }, LinkClass { delay: 100 }, LinkClass { delay: 1 }, LinkClass { delay: 1 } ],
    launch_configurations: [],
}
END
}

# Processor seconds of a command whose output goes to a file.
cpu() {
    out=$1
    shift
    { /usr/bin/time -f '%U' "$@" > "$out" 2> "$out.log"; } && tail -1 "$out.log"
}

# The last number of a name in a file, on its line or the next one.
value() { tr -s '\n\t' '  ' < "$2" | grep -o "$1\"\?: *[0-9.e+-]*" | tail -1 | sed 's/.*: *//'; }

echo "load,length,ours_hops_per_s,theirs_hops_per_s,ratio,ours_latency,theirs_latency,ours_accepted,theirs_accepted"
for load in $loads; do
    for length in 1 16; do
        config "$load" "$length" > "$work/dragonfly.cfg"
        least= peer=
        for _ in $(seq "${RUNS:-3}"); do
            s=$(cpu "$work/ours.json" "$ours" -q --threads 1 --format json load dragonfly:p=4,a=8,h=4 -r ugal \
                --switches caminos-basic --packet "$length" --cable 10ns --global-cable 100ns --loads "$load" \
                --warmup "${cycles}ns" --measure "${cycles}ns")
            least=$(printf '%s\n' $least "$s" | sort -g | head -1)
            s=$(cpu "$work/theirs.txt" "$caminos" "$work/dragonfly.cfg")
            peer=$(printf '%s\n' $peer "$s" | sort -g | head -1)
        done
        # Theirs counts links between routers; a packet crosses a router more.
        awk -v load="$load" -v length_="$length" -v s="$least" -v p="$peer" -v cycles="$cycles" \
            -v crossed="$(value crossed "$work/ours.json")" -v mean="$(value mean "$work/ours.json")" \
            -v accepted="$(value accepted "$work/ours.json")" -v delay="$(value average_message_delay "$work/theirs.txt")" \
            -v hops="$(value average_packet_hops "$work/theirs.txt")" -v took="$(value accepted_load "$work/theirs.txt")" '
            BEGIN {
                theirs = took * 1056 * 2 * cycles / length_ * (hops + 1) / p
                ours = crossed / s
                printf "%s,%d,%.0f,%.0f,%.1f,%.1f,%.1f,%.4f,%.4f\n", load, length_, ours, theirs, ours / theirs, mean, delay,
                    accepted, took
            }'
    done
done

#!/bin/sh
# Packets on darkfiber and on CAMINOS, one after the other: the same networks, loads and lengths.
#
#   benches/packet/run.sh WORK [LOAD...]      e.g. benches/packet/run.sh /tmp/packet 0.5
#
# WORK is any folder outside of the repository; CAMINOS 0.6.3 is installed there (`cargo install --locked`) if it is not on
# the PATH. Prints a line of CSV for each network, load and length: packets times switches that they crossed in each second of
# a processor, ours and theirs, the ratio, mean latencies, and loads that were accepted. The least of RUNS runs (3 if not set).
# FABRICS (dragonfly hyperx tree) says which networks, LENGTHS (1 16) which lengths, SIDES (ours theirs) who runs. DARKFIBER is a
# program that is built already.
set -eu
work=${1:?a folder to work in}
shift
loads=${*:-0.2 0.5 0.8}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$work"
sides=${SIDES:-ours theirs}
ours=${DARKFIBER:-${CARGO_TARGET_DIR:-$here/../../target}/release/darkfiber}
[ -n "${DARKFIBER:-}" ] || (cd "$here/../.." && cargo build --release -q -p darkfiber)
caminos=$(command -v caminos || echo "$work/bin/caminos")
[ "$sides" = ours ] || [ -x "$caminos" ] || cargo install --locked --version 0.6.3 --root "$work" --target-dir "$work/target" caminos
cycles=3000

# A network, load and length. The dragonfly has groups of eight routers with four hosts each, links of 10, 100 and 1 cycles, six
# channels of 256 phits taken hop by hop, one choice between a shortest way and one round at the source; the HyperX seven hosts
# on each of 12 by 8 routers, at most two deroutes; the tree ten hosts on each of a hundred leaves, adaptive ways up; both four
# channels of 64 phits, and links of a cycle.
config() {
    case $1 in
    dragonfly)
        topology="Dragonfly { global_ports_per_router: 4, servers_per_router: 4, group_size: 8, number_of_groups: 33,
        global_arrangement: Palmtree }"
        channels=6 buffer=256 lowest=false links="10 100"
        policies="EnforceFlowControl, Hops, LowestSinghWeight { extra_congestion: 0, extra_distance: 0, aggregate: true,
            use_internal_space: true }, Random"
        routing="Sum { policy: Stubborn, first_routing: Shortest,
        second_routing: Valiant4Dragonfly { first: Shortest, second: Shortest, local_missrouting: false,
            dragonfly_bypass: true },
        first_allowed_virtual_channels: [0,1,2,3,4,5], second_allowed_virtual_channels: [0,1,2,3,4,5],
        first_extra_label: 0, second_extra_label: 0 }" ;;
    hyperx)
        topology="Hamming { sides: [12,8], servers_per_router: 7 }"
        channels=4 buffer=64 lowest=true links="1 1"
        policies="EnforceFlowControl, Hops, OccupancyFunction { label_coefficient: 64, occupancy_coefficient: 1,
            product_coefficient: 0, constant_coefficient: 0, aggregate: true, use_internal_space: true,
            use_neighbour_space: true }, LowestLabel, Random"
        routing="OmniDimensionalDeroute { allowed_deroutes: 2, include_labels: true }" ;;
    tree)
        topology="XGFT { height: 2, down: [10,10], up: [10,10], servers_per_leaf: 10 }"
        channels=4 buffer=64 lowest=false links="1 1"
        policies="EnforceFlowControl, LowestSinghWeight { extra_congestion: 1, extra_distance: 0, aggregate: true,
            use_internal_space: true }, Random"
        routing=UpDown ;;
    esac
    cat << END
Configuration {
    random_seed: 1, warmup: $cycles, measured: $cycles, topology: $topology,
    traffic: HomogeneousTraffic { pattern: Uniform, servers: $(hosts "$1"), load: $2, message_size: $3 },
    maximum_packet_size: $3,
    router: Basic { virtual_channels: $channels, virtual_channel_policies: [ $policies ],
        delay: 0, buffer_size: $buffer, bubble: false, flit_size: $3, intransit_priority: false, allow_request_busy_port: true,
        output_buffer_size: 32, output_prioritize_lowest_label: $lowest },
    routing: $routing,
    link_classes: [ LinkClass { delay: ${links% *} }, LinkClass { delay: ${links#* } }, LinkClass { delay: 1 },
        LinkClass { delay: 1 } ],
    launch_configurations: [],
}
END
}

hosts() {
    case $1 in dragonfly) echo 1056 ;; hyperx) echo 672 ;; tree) echo 1000 ;; esac
}

# The same for ours.
options() {
    case $1 in
    dragonfly) echo "dragonfly:p=4,a=8,h=4 -r ugal --cable 10ns --global-cable 100ns" ;;
    hyperx) echo "hyperx:dims=12x8,t=7 -r omniwar --buffer 64B" ;;
    tree) echo "kary:k=10,n=3 -r adaptive --vcs 4 --buffer 64B" ;;
    esac
}

# Processor seconds of a command whose output goes to a file.
cpu() {
    out=$1
    shift
    { /usr/bin/time -f '%U' "$@" > "$out" 2> "$out.log"; } && tail -1 "$out.log"
}

# The last number of a name in a file, on its line or the next one.
value() { tr -s '\n\t' '  ' < "$2" | grep -o "$1\"\?: *[0-9.e+-]*" | tail -1 | sed 's/.*: *//'; }

echo "fabric,load,length,ours_hops_per_s,theirs_hops_per_s,ratio,ours_latency,theirs_latency,ours_accepted,theirs_accepted"
for fabric in ${FABRICS:-dragonfly hyperx tree}; do
    for load in $loads; do
        for length in ${LENGTHS:-1 16}; do
            config "$fabric" "$load" "$length" > "$work/$fabric.cfg"
            least= peer=
            rm -f "$work/ours.json" "$work/theirs.txt"
            touch "$work/ours.json" "$work/theirs.txt"
            for _ in $(seq "${RUNS:-3}"); do
                case $sides in *ours*)
                    # The words of the options are words of the command.
                    s=$(cpu "$work/ours.json" "$ours" -q --threads 1 --format json load $(options "$fabric") \
                        --switches caminos-basic --packet "$length" --loads "$load" --warmup "${cycles}ns" --measure "${cycles}ns")
                    least=$(printf '%s\n' $least "$s" | sort -g | head -1) ;;
                esac
                case $sides in *theirs*)
                    s=$(cpu "$work/theirs.txt" "$caminos" "$work/$fabric.cfg")
                    peer=$(printf '%s\n' $peer "$s" | sort -g | head -1) ;;
                esac
            done
            # Theirs counts links between routers; a packet crosses a router more.
            awk -v fabric="$fabric" -v load="$load" -v length_="$length" -v s="$least" -v p="$peer" -v cycles="$cycles" \
                -v hosts="$(hosts "$fabric")" -v crossed="$(value crossed "$work/ours.json")" \
                -v mean="$(value mean "$work/ours.json")" -v accepted="$(value accepted "$work/ours.json")" \
                -v delay="$(value average_message_delay "$work/theirs.txt")" \
                -v hops="$(value average_packet_hops "$work/theirs.txt")" -v took="$(value accepted_load "$work/theirs.txt")" '
                BEGIN {
                    if (p > 0) theirs = took * hosts * 2 * cycles / length_ * (hops + 1) / p
                    if (s > 0) ours = crossed / s
                    printf "%s,%s,%d,%.0f,%.0f,%.1f,%.1f,%.1f,%.4f,%.4f\n", fabric, load, length_, ours, theirs,
                        (theirs > 0 ? ours / theirs : 0), mean, delay, accepted, took
                }'
        done
    done
done

#!/bin/sh
# Flow problems on darkfiber and on SimGrid, one after the other: same channels, paths and flows.
#
#   benches/flow/run.sh WORK [CASE...]      e.g. benches/flow/run.sh /tmp/flow tree-10k
#
# Needs libsimgrid-dev and g++. WORK is any folder outside of the repository; problems and times stay there. Prints a
# line of CSV for each case: processor seconds of both (the least of RUNS runs, 3 if not set; of PEER_RUNS, 1 if not
# set), their ratio, and by how much completion times differ at most, by the longer one.
set -eu
work=${1:?a folder to work in}
shift
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$work"
ours=${CARGO_TARGET_DIR:-$here/../../target}/release/examples/flow_problem
(cd "$here/../.." && cargo build --release -q -p darkfiber-flowsim --example flow_problem)
[ -x "$work/simgrid" ] || g++ -O2 -o "$work/simgrid" "$here/simgrid.cpp" -lsimgrid

awk -f "$here/chassis.awk" > "$work/chassis.edges"

cases="tree-1k fattree2:n=32,m=32,r=32 dmodk permutation:10
tree-10k fattree2:n=100,m=100,r=100 dmodk permutation:1
tree-10k-ten fattree2:n=100,m=100,r=100 dmodk permutation:10
tree3-10k kary:k=22,n=3 dmodk permutation:1
dragonfly-10k dragonfly:p=5,a=20,h=5 minhop permutation:1
dragonfly-tapered-10k dragonfly:p=5,a=100,g=20,per_pair=1 minhop permutation:1
dragonfly-chassis-10k $work/chassis.edges minhop permutation:1
shift-1024 fattree2:n=32,m=32,r=32 dmodk shift
pairs-256 fattree2:n=16,m=16,r=16 dmodk all-pairs"

least() { grep -o "$1 [0-9.]* s cpu" | awk '{ if (!n++ || $2 < l) l = $2 } END { print l }'; }

echo "case,fabric,engine,traffic,flows,darkfiber_s,simgrid_s,ratio,difference"
echo "$cases" | while read -r name fabric engine traffic; do
    case " $* " in "  " | *" $name "*) ;; *) continue ;; esac
    rm -f "$work/ours.log" "$work/peer.log"
    for _ in $(seq "${RUNS:-3}"); do
        "$ours" "$fabric" "$engine" "$traffic" 1000000000 "$work/$name.txt" "$work/$name.ours" >> "$work/ours.log"
    done
    for _ in $(seq "${PEER_RUNS:-1}"); do
        "$work/simgrid" "$work/$name.txt" "$work/$name.simgrid" 2>/dev/null >> "$work/peer.log"
    done
    a=$(least darkfiber < "$work/ours.log")
    b=$(least simgrid < "$work/peer.log")
    paste "$work/$name.ours" "$work/$name.simgrid" | awk -v case="$name,\"$fabric\",$engine,$traffic" -v a="$a" -v b="$b" '
        { d = $1 > $2 ? ($1 - $2) / $1 : $2 > $1 ? ($2 - $1) / $2 : 0; if (d > m) m = d }
        END { printf "%s,%d,%.4f,%.3f,%.0f,%.1e\n", case, NR, a, b, b / a, m }'
done

#!/bin/sh
# sar-best against other engines wherever jobs run: for fabrics, allocators and moments of a log the fullest channel
# by jobs under sar-best, the least of the others and who it is, and the time of sar-best by those of sar and dfsssp.
#
# benches/jobs/placements.sh RICC-2010-2.swf.gz [DARKFIBER]     (jobs of at least 8 processors of a machine of 1,024 hosts)
set -eu
log=$1
darkfiber=${2:-darkfiber}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
gzip -dc "$log" | awk '/^;/ || $5 >= 8' > "$work/whole.swf"
for pair in "@taurus 1.967" "@tsubame25 1.375" "fattree2:n=18,m=18,r=36 0.6328" "@t2hx-hyperx 0.65625"; do
    fabric=${pair% *}
    for by in first-fit best-fit random interleaved clustered contiguous linear; do
        "$darkfiber" jobs place --fabric "$fabric" --jobs "$work/whole.swf" --scale "${pair#* }" \
            --by "$by" -q -o "$work/placed.log"
        for at in 22d 31d 47d 80d 120d; do
            "$darkfiber" jobs report --fabric "$fabric" --jobs "$work/placed.log" --at "$at" -q --format json \
                -e minhop,updn,ftree,dmodk,sssp,dfsssp,lash,sar,sar-minmax,sar-best > "$work/report.json"
            FABRIC=$fabric BY=$by AT=$at python3 - "$work/report.json" <<'PYTHON'
import json, os, sys
report = json.load(open(sys.argv[1]))
load = {"minhop": report["now"]["effective_efi"]["max"]}
time = {}
for engine in report["engines"]:
    if engine.get("then"):
        load[engine["engine"]] = engine["then"]["effective_efi"]["max"]
        time[engine["engine"]] = engine["seconds"]
best = load.pop("sar-best")
who = min(load, key=load.get)
verdict = "ok" if best <= load[who] else "WORSE"
print(os.environ["FABRIC"], os.environ["BY"], os.environ["AT"], verdict, best, load[who], who,
      round(time["sar-best"] / time["sar"], 1), round(time["sar-best"] / time["dfsssp"], 1), flush=True)
PYTHON
        done
    done
done

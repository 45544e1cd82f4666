#!/bin/sh
# How long an Alltoall of 28 random hosts takes under the engines for jobs and under dfsssp, ideal hosts: mean over
# sets of hosts, the worst set by sar's time, and on how many sets an engine is slower than sar. Ranks are numbered
# by host, then at random.
#
# benches/jobs/alltoall.sh [SETS] [DEPTH] [FABRIC] [DARKFIBER]        (50, flow, @taurus, darkfiber)
set -eu
sets=${1:-50} depth=${2:-flow} fabric=${3:-@taurus} darkfiber=${4:-darkfiber}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
SETS=$sets DEPTH=$depth FABRIC=$fabric DARKFIBER=$darkfiber WORK=$work python3 - <<'PYTHON'
import json, os, random, subprocess

sets, depth, fabric, darkfiber, work = (
    os.environ[name] for name in ("SETS", "DEPTH", "FABRIC", "DARKFIBER", "WORK"))
engines = ["sar", "sar-minmax", "sar-best", "dfsssp"]
about = json.loads(subprocess.run([darkfiber, "fabric", fabric, "--format", "json"], capture_output=True).stdout)
hosts = about["compute_terminals"]
for order in ("by host", "at random"):
    times = {engine: [] for engine in engines}
    for seed in range(int(sets)):
        draw = random.Random(1000 + seed).sample(range(1, hosts + 1), 28)
        if order == "by host":
            draw.sort()
        names = ",".join("cn%04d" % host for host in draw)
        for engine in engines:
            with open(work + "/scenario.toml", "w") as scenario:
                scenario.write(f'fabric = "{fabric}"\nhosts = "ideal"\ndepth = "{depth}"\n[routes]\nengine = "{engine}"\n'
                               f'[[job]]\ntraffic = "imb:op=alltoall,bytes=1MiB,repeat=1"\nhosts = "{names}"\n')
            run = subprocess.run([darkfiber, "simulate", work + "/scenario.toml", "--format", "json"],
                                 capture_output=True, text=True)
            if run.returncode:
                raise SystemExit(run.stderr)
            times[engine].append(json.loads(run.stdout)["seconds"] * 1e3)
    for engine in engines:
        ratios = [ours / sar for ours, sar in zip(times[engine], times["sar"])]
        print(f"ranks {order}, {engine}: mean {sum(times[engine]) / len(ratios):.2f} ms, worst {max(ratios):.3f} times sar, "
              f"slower on {sum(ratio > 1.0001 for ratio in ratios)} of {sets}", flush=True)
PYTHON

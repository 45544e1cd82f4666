#!/usr/bin/env python3
"""Random scenarios of one job, packet by packet, with every iteration and with steady ones multiplied.

    benches/packet/steady.py darkfiber SEED COUNT

Prints for each by how many times fewer events were run, how far off its end is, and what the result says that it may be off by.
"""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

FABRICS = ["kary:k=6,n=2", "kary:k=4,n=3", "dragonfly:p=3,a=6,h=3", "hyperx:dims=4x4,t=3", "fattree2:n=6,m=3,r=8", "torus:dims=4x4,t=2",
           "slimfly:q=5,p=3"]
TRAFFIC = ["imb:op=allreduce,algorithm=ring,bytes={large}KiB,repeat={few},root=0", "imb:op=alltoall,bytes={small}KiB,repeat={many},root=0",
           "imb:op=allgather,bytes={small}KiB,repeat={few},root=0", "imb:op=bcast,bytes={large}KiB,segment=16KiB,repeat={many},root=0",
           "imb:op=barrier,repeat=300", "halo3d:iterations=60", "imb:op=allreduce,algorithm=nccl-ring,segment=4KiB,bytes={large}KiB",
           "imb:op=reduce-scatter,algorithm=ring,bytes={small}KiB,repeat=3,root=0", "minife:iterations=60", "milc:iterations=40"]


def simulate(program, text, folder):
    """The end and the effort of a scenario; None if it is refused or takes too long."""
    path = Path(folder) / "scenario.toml"
    path.write_text(text)
    command = [program, "simulate", path, "--threads", "1", "--format", "json", "-q"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        return None
    result = json.loads(done.stdout)
    return result["seconds"], result["effort"]


def main(program, seed, count):
    draw = random.Random(seed)
    compared = shortened = beyond = underestimated = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            fabric = draw.choice(FABRICS)
            traffic = draw.choice(TRAFFIC).format(large=draw.choice([64, 300, 1024]), small=draw.choice([1, 4, 16]), few=draw.choice([1, 3, 12]),
                                                  many=draw.choice([20, 60, 150]))
            routing = draw.choice(["tables", "minimal", "ugal", "adaptive", "valiant"])
            hosts = draw.choice(["ideal", "slingshot"])
            place, nodes = draw.choice(["linear", "random"]), draw.choice([16, 24, 40, 48])
            engine = draw.choice(["minhop", "updn", "dfsssp"])
            precision = draw.choice([0.01, 0.01, 0.003, 0.03])
            head = f'fabric = "{fabric}"\ndepth = "packet"\nhosts = "{hosts}"\n'
            tail = (f'[routes]\nengine = "{engine}"\n[packets]\nrouting = "{routing}"\n[[job]]\ntraffic = "{traffic}"\n'
                    f'nodes = {nodes}\nplacement = "{place}"\n')
            whole = simulate(program, head + tail, folder)
            short = whole and simulate(program, head + f"[cost]\nprecision = {precision}\n" + tail, folder)
            if not short:
                continue
            compared += 1
            (end, _), (estimate, effort) = whole, short
            off = estimate / end - 1
            fewer = effort["events"] / (effort["events"] - effort["repeated"])
            shortened += effort["repeated"] > 0
            beyond += abs(off) > precision
            underestimated += effort["repeated"] > 0 and abs(off) > effort["error"] + 1e-9
            print(f"{number}: {fabric} {traffic} {routing} {hosts} {place} {nodes}, precision {precision}: {fewer:.1f} times fewer events, "
                  f"off by {off:.5f}, said {effort['error']:.5f}", flush=True)
    print(f"{compared} compared, {shortened} shortened, {beyond} off by more than the precision, {underestimated} by more than the result says")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))

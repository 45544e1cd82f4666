#!/usr/bin/env python3
"""What jobs suffer beside incasts that nobody tuned to: by scheme of congestion control, over drawn aggressors.

Each seed draws a kind of incast (lasting, in bursts, with a root that moves, of many sizes at random ranks), its message size, how often
it sends and from how many hosts; victims are an Allreduce of 8 B, an Alltoall of 128 B and Halo3D on 64 hosts, all at random on @malbec.
Then what a quiet machine pays: collectives by themselves, with each scheme and without.

benches/packet/unseen.py [SEEDS] [DARKFIBER] [--first SEED] [--schemes A,B:key=value,..]        (50, darkfiber, 1, all)

none must be among the schemes: what a quiet machine pays is measured against it. Parameters are given as --congestion takes them,
e.g. --schemes none,pairs:notes=priced,clock=4ns,reserve:notes=priced,clock=4ns. Seeds 1 to 50 have been looked at.
"""
import argparse, json, random, subprocess, sys

asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
asked.add_argument("seeds", type=int, nargs="?", default=50)
asked.add_argument("darkfiber", nargs="?", default="darkfiber")
asked.add_argument("--first", type=int, default=1)
asked.add_argument("--schemes", default="none,pairs,ecn,infiniband,qcn,grants,reserve")
asked = asked.parse_args()
seeds, darkfiber = asked.seeds, asked.darkfiber
# Commas are between schemes, and between parameters of one.
SCHEMES = []
for piece in asked.schemes.split(","):
    if "=" in piece and ":" not in piece.split("=")[0]:
        SCHEMES[-1] += "," + piece
    else:
        SCHEMES.append(piece)


def congest(*options):
    line = [darkfiber, "congest", "@malbec", "--scattered", "--place", "random", "--routing", "slingshot",
            "--congestion", ",".join(SCHEMES), "--format", "json", "-q", *options]
    run = subprocess.run(line, capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(run.stderr)
    found = json.loads(run.stdout)
    # Results have parameters in the order of the lists: schemes are told by their place.
    names = list(dict.fromkeys(m["congestion"] for m in found["mechanisms"]))
    for cell in found["cells"]:
        cell["congestion"] = SCHEMES[names.index(cell["congestion"])]
    return found


def drawn(seed):
    lot = random.Random(seed)
    size = 1024 << lot.randrange(9)
    puts = lot.randrange(1, 9)
    kind = lot.choice(["incast", "bursts", "rotating", "storm"])
    spec = {
        "incast": f"incast:bytes={size}",
        "bursts": f"bursts:bytes={size},burst={10 * puts},gap={lot.choice([10, 100, 1000])}us",
        "rotating": f"rotating:bytes={size},puts={puts},roots={lot.randrange(2, 33)},together={lot.randrange(2)}",
        "storm": f"storm:most={lot.randrange(4, 200)}",
    }[kind]
    return spec, lot.choice([64, 128, 192, 256, 320, 400])


impacts = {scheme: [] for scheme in SCHEMES}
for seed in range(asked.first, asked.first + seeds):
    spec, sources = drawn(seed)
    found = congest("--nodes", str(64 + sources), "--split", f"64/{sources}", "--victims", "allreduce:8B,alltoall:128B,halo3d",
                    "--aggressors", spec, "--limit", "5ms", "--seed", str(seed))
    for cell in found["cells"]:
        impacts[cell["congestion"]].append((cell["impact"] or 0, f"{cell['victim']} beside {spec} of {sources}, seed {seed}"))
    print(f"{seed}: {spec} of {sources}", {s: round(max(x[0] for x in impacts[s][-3:]), 2) for s in SCHEMES}, file=sys.stderr, flush=True)

quiet = {scheme: (0, "") for scheme in SCHEMES}
victims = "gather:16KiB,gather:64KiB,scatter:16KiB,alltoall:16KiB,allgather:16KiB,bcast:64KiB,allreduce:1MiB,halo3d"
for seed in (1, 2, 3):
    found = congest("--nodes", "72", "--split", "64/8", "--victims", victims, "--aggressors", "bursts:bytes=8,burst=1,gap=1ms",
                    "--limit", "3ms", "--seed", str(seed))
    alone = {(c["congestion"], c["victim"]): c["isolated"]["mean"] for c in found["cells"] if c["isolated"]}
    for (scheme, victim), time in alone.items():
        cost = 100 * (time / alone["none", victim] - 1)
        quiet[scheme] = max(quiet[scheme], (cost, victim))

print("| scheme | median C | 95 % of cells at most | largest C | of | alone longer than without control, at most |")
print("|---|--:|--:|--:|---|--:|")
for scheme in SCHEMES:
    ordered = sorted(impacts[scheme])
    at = lambda share: ordered[min(len(ordered) - 1, int(share * len(ordered)))][0]
    print(f"| `{scheme}` | {at(0.5):.2f} | {at(0.95):.2f} | {ordered[-1][0]:.2f} | {ordered[-1][1]} | "
          f"{quiet[scheme][0]:.1f} % ({quiet[scheme][1]}) |" if scheme != "none" else
          f"| `{scheme}` | {at(0.5):.2f} | {at(0.95):.2f} | {ordered[-1][0]:.2f} | {ordered[-1][1]} | |")

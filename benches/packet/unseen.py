#!/usr/bin/env python3
"""Benefit of congestion control under incasts that nobody tuned for, and its cost without incasts: by scheme.

Three parts, each with all requested schemes:

impacts  Each seed draws a kind of incast (lasting, in bursts, with a root that moves, of many sizes at random ranks), its message size, how
         often it sends and from how many hosts; victims are an Allreduce of 8 B, an Alltoall of 128 B and Halo3D on 64 hosts, all at random
         on @malbec.
quiet    Time of eight collectives of 64 hosts in isolation, three placements, relative to the time without control.
busy     Share of an endpoint's channel that carries data while 2 to 399 sources write to it, each block after the previous one.

benches/packet/unseen.py [SEEDS] [DARKFIBER] [--schemes A,B:key=value,..] [--parts impacts,quiet,busy] [--keep FILE]
                                                                                                    (1-50, darkfiber, all, all)

Parameters are given as --congestion takes them: --schemes pairs:notes=priced,clock=4ns,reserve:notes=priced,clock=4ns. Results are
kept in FILE, one per line, and not run again. Seeds 1 to 50 have been looked at.
"""
import argparse, json, os, random, subprocess, sys, tempfile

asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
asked.add_argument("seeds", nargs="?", default="1-50", help="seeds and ranges of them, separated by commas: 1-50,60")
asked.add_argument("darkfiber", nargs="?", default="darkfiber")
asked.add_argument("--schemes", default="none,pairs,ecn,infiniband,qcn,grants,reserve")
asked.add_argument("--parts", default="impacts,quiet,busy")
asked.add_argument("--keep")
asked = asked.parse_args()
parts = asked.parts.split(",")
ranges = [[int(end) for end in piece.split("-")] for piece in asked.seeds.split(",")]
seeds = [seed for ends in ranges for seed in range(ends[0], ends[-1] + 1)]
# Commas separate schemes, and also the parameters of one scheme.
SCHEMES = []
for piece in asked.schemes.split(","):
    if "=" in piece and ":" not in piece.split("=")[0]:
        SCHEMES[-1] += "," + piece
    else:
        SCHEMES.append(piece)

kept = {}
if asked.keep and os.path.exists(asked.keep):
    with open(asked.keep) as file:
        kept = {tuple(key): value for key, value in map(json.loads, file)}


def once(schemes, key, run):
    """Results by scheme; `run` is called for the schemes whose result is not kept yet."""
    todo = [s for s in schemes if (s, *key) not in kept]
    if todo:
        for scheme, value in run(todo).items():
            kept[scheme, *key] = value
            if asked.keep:
                with open(asked.keep, "a") as file:
                    print(json.dumps([[scheme, *key], value]), file=file)
    return {s: kept[s, *key] for s in schemes}


def darkfiber(*line):
    run = subprocess.run([asked.darkfiber, *line, "--format", "json", "-q"], capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(run.stderr)
    return json.loads(run.stdout)


def congest(schemes, *options):
    """The cells of `darkfiber congest` by scheme."""
    found = darkfiber("congest", "@malbec", "--scattered", "--place", "random", "--routing", "slingshot", "--congestion", ",".join(schemes), *options)
    # Results give parameters in their canonical order, so schemes are matched by position.
    names = list(dict.fromkeys(m["congestion"] for m in found["mechanisms"]))
    return {s: [c for c in found["cells"] if c["congestion"] == name] for s, name in zip(schemes, names, strict=True)}


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
for seed in seeds if "impacts" in parts else []:
    spec, sources = drawn(seed)

    def beside(schemes):
        found = congest(schemes, "--nodes", str(64 + sources), "--split", f"64/{sources}", "--victims", "allreduce:8B,alltoall:128B,halo3d",
                        "--aggressors", spec, "--limit", "5ms", "--seed", str(seed))
        return {s: {c["victim"]: c["impact"] or 0 for c in cells} for s, cells in found.items()}

    for scheme, by_victim in once(SCHEMES, ("impacts", seed), beside).items():
        impacts[scheme] += [(c, f"{victim} beside {spec} of {sources}, seed {seed}") for victim, c in by_victim.items()]
    print(f"{seed}: {spec} of {sources}", {s: round(max(x[0] for x in impacts[s][-3:]), 2) for s in SCHEMES}, file=sys.stderr, flush=True)

quiet = {}
victims = "gather:16KiB,gather:64KiB,scatter:16KiB,alltoall:16KiB,allgather:16KiB,bcast:64KiB,allreduce:1MiB,halo3d"
for seed in (1, 2, 3) if "quiet" in parts else ():
    def by_themselves(schemes):
        found = congest(schemes, "--nodes", "72", "--split", "64/8", "--victims", victims, "--aggressors", "bursts:bytes=8,burst=1,gap=1ms",
                        "--limit", "3ms", "--seed", str(seed))
        return {s: {c["victim"]: c["isolated"]["mean"] for c in cells if c["isolated"]} for s, cells in found.items()}

    alone = once(list(dict.fromkeys(["none", *SCHEMES])), ("quiet", seed), by_themselves)
    for scheme in SCHEMES:
        for victim, time in alone[scheme].items():
            cost = 100 * (time / alone["none"][victim] - 1)
            quiet[scheme] = max(quiet.get(scheme, (cost, victim)), (cost, victim))
    print(f"quiet, seed {seed}", quiet, file=sys.stderr, flush=True)

SCENARIO = """depth = "packet"
fabric = "dragonfly:p=16,a=8,g=4,per_pair=16,gbps=200,host_gbps=100"
hosts = "slingshot"
[routes]
engine = "minhop"
[packets]
switches = "rosetta"
routing = "slingshot"
size = "4KiB"
{control}
[[job]]
placement = "random"
traffic = "bursts:bytes={size},burst={puts},gap=1us"
nodes = {nodes}
"""
busy = {}
for sources, size, puts in [(2, "1MiB", 10), (3, "128KiB", 80), (5, "128KiB", 40), (16, "128KiB", 15), (16, "32KiB", 60), (63, "128KiB", 10),
                            (63, "16KiB", 40), (399, "128KiB", 3)] if "busy" in parts else ():
    def rates(schemes):
        found = {}
        for scheme in schemes:
            name, _, parameters = scheme.partition(":")
            pairs = [p.split("=") for p in parameters.split(",") if p]
            values = "".join(f", {k} = {v if k in COUNTS else json.dumps(v)}" for k, v in pairs)
            control = f'congestion = {{ scheme = "{name}"{values} }}' if pairs else f'congestion = "{name}"'
            with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
                file.write(SCENARIO.format(control=control, size=size, puts=puts, nodes=sources + 1))
                file.flush()
                job = darkfiber("simulate", file.name)["jobs"][0]
            found[scheme] = 100 * job["bytes"] / job["run_mean"] / 12.5e9
        return found

    # These parameters are numbers in scenarios, all others are strings.
    COUNTS = {"clock-bits", "halves", "growth", "limit", "increase"}
    for scheme, rate in once(SCHEMES, ("busy", sources, size), rates).items():
        busy[scheme] = min(busy.get(scheme, (rate, "")), (rate, f"{sources} sources, {size}"))
    print(f"{sources} sources, {size}", {s: round(kept[s, "busy", sources, size], 1) for s in SCHEMES}, file=sys.stderr, flush=True)

print("| scheme | median C | 95 % of cells at most | largest C | of | alone longer than without control, at most | endpoint busy, at least |")
print("|---|--:|--:|--:|---|--:|--:|")
for scheme in SCHEMES:
    row = [f"`{scheme}`"]
    if ordered := sorted(impacts[scheme]):
        at = lambda share: ordered[min(len(ordered) - 1, int(share * len(ordered)))][0]
        row += [f"{at(0.5):.2f}", f"{at(0.95):.2f}", f"{ordered[-1][0]:.2f}", ordered[-1][1]]
    else:
        row += [""] * 4
    row.append(f"{quiet[scheme][0]:.1f} % ({quiet[scheme][1]})" if scheme in quiet and scheme != "none" else "")
    row.append(f"{busy[scheme][0]:.1f} % ({busy[scheme][1]})" if scheme in busy else "")
    print("| " + " | ".join(row) + " |")

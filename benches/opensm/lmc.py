#!/usr/bin/env python3
"""Several LIDs a port: how even darkfiber's tables and OpenSM's are, for each LID of a port and together.

    cargo build --release
    benches/opensm/lmc.py WORK docs/benchmarks/lids.md

Every fabric is written once as an ibnetdiscover file; OpenSM routes it on ibsim with `-l 1`, `-l 2` and
`-l 3`, darkfiber with `--lmc`. The tables that both wrote are traced here, path by path, by a walk that
shares no code with darkfiber. WORK is a folder outside of the repository; needs numpy and what bench.py
needs.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

import simulator

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from made import made

REPO = Path(__file__).resolve().parents[2]
MARK = "<!-- generated: benches/opensm/lmc.py -->"
END = "<!-- end of benches/opensm/lmc.py -->"
# Name, what darkfiber calls it, more options.
FABRICS = [
    ("fattree-128", "fattree2:n=8,m=8,r=16", []),
    ("fattree-256", "fattree2:n=16,m=16,r=16", []),
    ("three-level-216", "kary:k=6,n=3", []),
    ("t2hx-fattree", "@t2hx-fattree", []),
    ("t2hx-hyperx", "@t2hx-hyperx", []),
    ("torus-4x4x4", "torus:dims=4x4x4,t=2", []),
    ("dragonfly-72", "dragonfly:p=2,a=4,h=2", []),
    ("irregular-256", "hyperx:dims=8x8,t=4", ["--fail-links", "150"]),
]
ENGINES = {"minhop": [], "updn": ["-a", "{roots}"], "sssp": [], "dfsssp": ["-Q"]}
LMC = (1, 2, 3)


class Wires:
    """Which port of which switch leads where."""

    def __init__(self, text):
        self.index, self.port_of, ends = {}, {}, []
        node = None
        for line in text.splitlines():
            if head := re.match(r'(Switch|Ca)\s+\d+\s+"([^"]+)"', line):
                node = head[2] if head[1] == "Switch" else None
                if node:
                    self.index.setdefault(node, len(self.index))
            elif node and (link := re.match(r'\[(\d+)\]\s+"([^"]+)"\[\d+\](?:\((\w+)\))?', line)):
                ends.append((node, int(link[1]), link[2], link[3]))
        n = len(self.index)
        # The switch behind a port; itself where there is none.
        self.next = np.tile(np.arange(n)[:, None], (1, 256))
        self.hosts = np.zeros(n, dtype=np.int64)
        for node, port, far, guid in ends:
            if far in self.index:
                self.next[self.index[node], port] = self.index[far]
            else:
                self.hosts[self.index[node]] += 1
                self.port_of[int(guid, 16)] = (self.index[node], port)


def tables(path, wires):
    """The port of every switch for each LID."""
    out = np.zeros((len(wires.index), 1 << 16), dtype=np.uint8)
    at = None
    for line in path.read_text().splitlines():
        if line.startswith("Unicast"):
            at = wires.index["S-" + re.search(r"guid 0x(\w+)", line)[1]]
        elif entry := re.match(r"0x(\w+) (\d+)", line):
            out[at, int(entry[1], 16)] = int(entry[2])
    return out


def loads(table, wires, guid2lid):
    """Paths over each channel, by offset of the LID; dies if a path does not arrive."""
    lids = [
        (int(w[0], 16), int(w[1], 16), int(w[2], 16))
        for w in map(str.split, guid2lid.read_text().splitlines())
        if len(w) == 3 and int(w[0], 16) in wires.port_of
    ]
    n = len(wires.index)
    width = min(high - low + 1 for _, low, high in lids)
    load = np.zeros((width, n, 256), dtype=np.int64)
    hops = 0
    for guid, low, _ in lids:
        home, port = wires.port_of[guid]
        for offset in range(width):
            row = table[:, low + offset]
            if row[home] != port:
                raise SystemExit(f"LID {low + offset} is not delivered")
            at, weight = np.nonzero(wires.hosts)[0], wires.hosts[wires.hosts > 0]
            for _ in range(n):
                going = at != home
                at, weight = at[going], weight[going]
                if len(at) == 0:
                    break
                np.add.at(load[offset], (at, row[at]), weight)
                hops += int(weight.sum())
                at = wires.next[at, row[at]]
            else:
                raise SystemExit(f"LID {low + offset} loops")
    return load, hops


def one(load):
    """Fullest channel by the worst offset alone, and by all together; share of channels that stay dark."""
    load, hops = load
    return int(load.max()), int(load.sum(axis=0).max()), hops


def opensm(net, engine, lmc, work, clock, roots):
    options = ["-l", str(lmc), *(o.format(roots=roots) for o in ENGINES[engine])]
    result = simulator.sweep(net, engine, options, work / "run", clock, 200)
    return work / "run" if "dump" in result else None


def darkfiber(binary, net, engine, lmc, work, roots):
    out = work / "tables"
    command = [binary, "route", net.path, "-e", engine, "--lmc", lmc, "-o", out, "-q"]
    # minhop and sssp promise no freedom of deadlock; nor do OpenSM's.
    command += ["--allow-deadlock", "--write", "lfts,guid2lid"]
    command += ["--roots", roots] if engine == "updn" else []
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    return out


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("work", type=Path)
    parser.add_argument("document", type=Path, nargs="?", help="its generated part is renewed")
    parser.add_argument("--darkfiber", type=Path, default=REPO / "target/release/darkfiber")
    args = parser.parse_args()
    work = args.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    clock = simulator.build_clock(work)
    text = "| fabric | engine | LMC | OpenSM, one LID | darkfiber, one LID | OpenSM, all | darkfiber, all | verdict |\n"
    text += "|---|---|--:|--:|--:|--:|--:|---|\n"
    tally = {"win": 0, "equal": 0, "loss": 0}
    for name, spec, options in FABRICS:
        path = work / f"{name}.net"
        command = [args.darkfiber, "fabric", spec, *options, "--to", "ibnetdiscover", "-o", path, "-q"]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
        net, wires = simulator.Net.read(path), Wires(path.read_text())
        roots = work / f"{name}.roots"
        roots.write_text("\n".join(net.roots()) + "\n")
        for engine in ENGINES:
            for lmc in LMC:
                folder = darkfiber(args.darkfiber, net, engine, lmc, work, roots)
                ours = one(loads(tables(folder / "lfts.dump", wires), wires, folder / "guid2lid"))
                folder = opensm(net, engine, lmc, work, clock, roots)
                theirs = None
                if folder:
                    dump = folder / "opensm-lfts.dump"
                    theirs = one(loads(tables(dump, wires), wires, folder / "guid2lid"))
                row, word = judged(f"{name} | {engine} | {lmc}", theirs, ours)
                tally[word] += 1
                text += row
                print(row, end="", flush=True)
    head = "{win} wins, {equal} equal, {loss} losses.\n\n".format(**tally)
    if args.document:
        before, mark, rest = args.document.read_text().partition(MARK)
        if not mark:
            raise SystemExit(f"{args.document} has no line {MARK}")
        args.document.write_text(f"{before}{MARK}\n\n{made()}\n{head}{text}\n{END}{rest.partition(END)[2]}")
    else:
        sys.stdout.write(head + text)


def judged(label, theirs, ours):
    """A row of the table, and win, equal or loss: a loss if anything is worse, hops included."""
    if theirs is None:
        return f"| {label} | - | {ours[0]:,} | - | {ours[1]:,} | win: OpenSM refuses |\n", "win"
    names = ("one LID", "all", "hops")
    worse = [name for name, mine, other in zip(names, ours, theirs) if mine > other]
    better = [name for name, mine, other in zip(names, ours, theirs) if mine < other]
    word = "loss" if worse else "win" if better else "equal"
    verdict = f"**loss: {', '.join(worse)}**" if worse else word
    cells = f"{theirs[0]:,} | {ours[0]:,} | {theirs[1]:,} | {ours[1]:,}"
    return f"| {label} | {cells} | {verdict} |\n", word


if __name__ == "__main__":
    main()

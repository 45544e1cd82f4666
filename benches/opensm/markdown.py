"""Results as markdown tables."""

import json
from dataclasses import dataclass, field

# OpenSM's CPU seconds over ours: what is aimed at.
TARGETS = {"dfsssp": 50, "minhop": 10, "updn": 10, "ftree": 10, "sssp": 10}


@dataclass
class Verdict:
    """Quality of our tables beside OpenSM's."""

    word: str
    better: list = field(default_factory=list)
    worse: list = field(default_factory=list)
    note: str = ""

    def plain(self):
        if self.word == "loss":
            return f"LOSS: {', '.join(self.worse)}" + (
                f" (better: {', '.join(self.better)})" if self.better else ""
            )
        detail = self.note or ", ".join(self.better)
        return self.word + (f": {detail}" if detail else "")

    def markdown(self):
        return f"**{self.plain()}**" if self.word == "loss" else self.plain()


def reached(quality):
    return quality["pairs"] - quality["unreachable"] - quality["loops"]


def layers(side):
    """Lanes that OpenSM's engine says it needs; it spreads over more when some are left over."""
    return side.get("lanes", side["quality"]["layers"])


def verdict(theirs, ours):
    """Win if nothing is worse and something better, loss if anything is worse."""
    refused = ours["quality"].get("refused")
    if "quality" not in theirs:
        if refused:
            return Verdict("equal", note="both refuse")
        return Verdict("win", note="OpenSM refuses")
    if refused:
        return Verdict("loss", worse=["darkfiber refuses"])
    a, b = theirs["quality"], ours["quality"]
    # (name, ours, theirs, what counts as a difference); smaller is better.
    measures = [
        ("pairs", -reached(b), -reached(a), 0),
        ("mean hops", b["hops"]["mean"], a["hops"]["mean"], 1e-9),
        ("max EFI", b["efi"]["max"], a["efi"]["max"], 0),
        ("layers", layers(ours), layers(theirs), 0),
        ("deadlock", not b["deadlock_free"], not sound(theirs), 0),
    ]
    # A table with deadlock is no yardstick for the layers of one without.
    if b["deadlock_free"] and not sound(theirs):
        measures = [m for m in measures if m[0] != "layers"]
    better = [name for name, mine, other, slack in measures if mine < other - slack]
    worse = [name for name, mine, other, slack in measures if mine > other + slack]
    word = "loss" if worse else "win" if better else "equal"
    return Verdict(word, better, worse)


def sound(theirs):
    """Whether OpenSM's tables are free of deadlock. Without its service levels (only the saved tables
    of dfsssp have them) its word is taken."""
    return theirs["quality"]["deadlock_free"] or "lanes" in theirs


def seconds(value):
    if value is None:
        return "-"
    return f"{value:.4f}" if value < 0.1 else f"{value:.3f}" if value < 10 else f"{value:.1f}"


def ratio(theirs, ours):
    if not theirs.get("cpu") or not ours.get("cpu"):
        return None
    return theirs["cpu"] / ours["cpu"]


def pair(theirs, ours, pick):
    def text(side):
        if side.get("quality", {}).get("pairs") is None:
            return "-"
        value = pick(side)
        return f"{value:.4f}" if isinstance(value, float) else f"{value:,}"

    return f"{text(theirs)} / {text(ours)}"


MARK = "<!-- generated: benches/opensm/bench.py table -->"
END = "<!-- end of benches/opensm/bench.py table -->"

COLUMNS = [
    "engine", "OpenSM CPU s", "darkfiber CPU s", "ratio", "2 threads, wall s", "pairs reached",
    "mean hops", "max EFI", "layers", "deadlock-free", "verdict",
]  # fmt: skip
HEAD = f"| {' | '.join(COLUMNS)} |\n|---{'|--:' * 8}|---|---|\n"


def row(label, theirs, ours):
    factor = ratio(theirs, ours)

    def free(side):
        if side.get("quality", {}).get("pairs") is None:
            return "-"
        return "yes" if (sound(side) if side is theirs else side["quality"]["deadlock_free"]) else "no"

    cells = [
        label,
        seconds(theirs.get("cpu")),
        seconds(ours.get("cpu")),
        "-" if factor is None else f"{factor:.0f}" if factor >= 9.95 else f"{factor:.1f}",
        seconds(ours.get("wall2")),
        pair(theirs, ours, lambda s: reached(s["quality"])),
        pair(theirs, ours, lambda s: float(s["quality"]["hops"]["mean"])),
        pair(theirs, ours, lambda s: s["quality"]["efi"]["max"]),
        pair(theirs, ours, layers),
        f"{free(theirs)} / {free(ours)}",
        verdict(theirs, ours).markdown(),
    ]
    return "| " + " | ".join(cells) + " |\n"


class Report:
    """A summary, the speed targets, then the tables: one a fabric, one for all two-level trees."""

    def __init__(self, work, fabrics):
        self.work = work
        self.tally = {"win": 0, "equal": 0, "loss": 0}
        self.losses, self.speed, self.trees = "", "", ""
        self.tables = "".join(self.fabric(f) for f in fabrics)

    def load(self, side, name):
        path = self.work / side / f"{name}.json"
        return json.loads(path.read_text()) if path.exists() else None

    def fabric(self, fabric):
        size = self.load("fabrics", fabric.name)
        if size is None:
            return ""
        small = fabric.name.startswith("opt-")
        rows, notes = "", ""
        for engine in fabric.engines:
            theirs, ours = (self.load(s, f"{fabric.name}.{engine}") for s in ("opensm", "darkfiber"))
            if not theirs or not ours:
                continue
            rows += row(f"{fabric.name} {engine}" if small else engine, theirs, ours)
            self.count(fabric, engine, theirs, ours)
            if "quality" not in theirs:
                notes += f"\nOpenSM {engine}: {theirs.get('problem', 'no tables')}.\n"
            if "refused" in ours["quality"]:
                notes += f"\ndarkfiber {engine}: {ours['quality']['refused']}.\n"
        if small:
            self.trees += rows
            return notes
        what = f"`{' '.join([fabric.spec, *fabric.options])}`" if fabric.spec else "reference tables"
        size = f"{size['terminals']:,} terminals, {size['switches']:,} switches"
        return f"\n### {fabric.name}\n\n{what}: {size}.\n\n{HEAD}{rows}{notes}"

    def count(self, fabric, engine, theirs, ours):
        found = verdict(theirs, ours)
        self.tally[found.word] += 1
        if found.word == "loss":
            self.losses += f"- {fabric.name}, {engine}: {', '.join(found.worse)}"
            if "max EFI" in found.worse:
                a, b = (side["quality"]["efi"]["max"] for side in (theirs, ours))
                self.losses += f" {b:,} where OpenSM has {a:,}"
            self.losses += "\n"
        factor = ratio(theirs, ours)
        if fabric.speed and engine in TARGETS and factor:
            target = TARGETS[engine] if fabric.target else None
            cells = [fabric.name, engine, seconds(theirs["cpu"]), seconds(ours["cpu"]), f"{factor:.1f}"]
            cells.append(str(target or "-"))
            cells.append("-" if target is None else "yes" if factor >= target else "**no**")
            self.speed += "| " + " | ".join(cells) + " |\n"

    def text(self):
        tally = self.tally
        losses = f"Losses:\n\n{self.losses}\n" if self.losses else ""
        return (
            f"## Summary\n\n{sum(tally.values())} comparisons of an engine on a fabric: {tally['win']} wins,"
            f" {tally['equal']} equal, {tally['loss']} losses.\n\n{losses}"
            "## Speed on fabrics of 2,500 to 4,100 hosts\n\n"
            "| fabric | engine | OpenSM CPU s | darkfiber CPU s | ratio | target | met |\n"
            f"|---|---|--:|--:|--:|--:|---|\n{self.speed}\n"
            f"## Fabric by fabric\n\nIn pairs of values OpenSM's stands first.\n{self.tables}"
            f"\n### Two-level trees\n\n`@opt-n-m-r`: r leaves with n hosts and m uplinks.\n\n{HEAD}{self.trees}"
        )


def report(work, fabrics):
    return Report(work, fabrics).text()

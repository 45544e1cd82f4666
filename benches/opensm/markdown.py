"""Results as markdown tables."""

import json
from dataclasses import dataclass, field

# CPU seconds of OpenSM over ours that the issue asks for on fabrics of 2,500 to 4,000 hosts.
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


HEAD = (
    "| engine | OpenSM CPU s | darkfiber CPU s | ratio | wall s, 2 threads | pairs reached | mean hops |"
    " max EFI | layers | deadlock-free | verdict |\n"
    "|---|--:|--:|--:|--:|--:|--:|--:|--:|---|---|\n"
)


def row(engine, theirs, ours):
    factor = ratio(theirs, ours)

    def free(side):
        if side is theirs:
            return "yes" if sound(side) else "no"
        return "yes" if side["quality"]["deadlock_free"] else "no"

    def freedom():
        sides = [free(s) if s.get("quality", {}).get("pairs") is not None else "-" for s in (theirs, ours)]
        return " / ".join(sides)

    cells = [
        engine,
        seconds(theirs.get("cpu")),
        seconds(ours.get("cpu")),
        "-" if factor is None else f"{factor:.0f}" if factor >= 9.5 else f"{factor:.1f}",
        seconds(ours.get("wall2")),
        pair(theirs, ours, lambda s: reached(s["quality"])),
        pair(theirs, ours, lambda s: float(s["quality"]["hops"]["mean"])),
        pair(theirs, ours, lambda s: s["quality"]["efi"]["max"]),
        pair(theirs, ours, layers),
        freedom(),
        verdict(theirs, ours).markdown(),
    ]
    return "| " + " | ".join(cells) + " |\n"


def load(work, side, fabric, engine):
    path = work / side / f"{fabric.name}.{engine}.json"
    return json.loads(path.read_text()) if path.exists() else None


def report(work, fabrics):
    """A summary, the speed targets, one table a fabric, and the reasons of refusals."""
    tally = {"win": 0, "equal": 0, "loss": 0}
    losses, speed, tables = [], "", ""
    for fabric in fabrics:
        size = work / "fabrics" / f"{fabric.name}.json"
        if not size.exists():
            continue
        size = json.loads(size.read_text())
        what = f"`{' '.join([fabric.spec, *fabric.options])}`" if fabric.spec else "reference tables"
        tables += f"\n### {fabric.name}\n\n{what}: {size['terminals']:,} hosts, {size['switches']:,} switches.\n\n"
        tables += HEAD
        notes = []
        for engine in fabric.engines:
            theirs, ours = (load(work, side, fabric, engine) for side in ("opensm", "darkfiber"))
            if not theirs or not ours:
                continue
            tables += row(engine, theirs, ours)
            found = verdict(theirs, ours)
            tally[found.word] += 1
            if found.word == "loss":
                losses.append(f"- {fabric.name} {engine}: {found.plain()}")
            if "problem" in theirs and "quality" not in theirs:
                notes.append(f"OpenSM {engine}: {theirs['problem']}")
            if "refused" in ours["quality"]:
                notes.append(f"darkfiber {engine}: {ours['quality']['refused']}")
            factor = ratio(theirs, ours)
            if fabric.speed and engine in TARGETS and factor:
                met = "yes" if factor >= TARGETS[engine] else "**no**"
                speed += (
                    f"| {fabric.name} | {engine} | {seconds(theirs['cpu'])} | {seconds(ours['cpu'])} |"
                    f" {factor:.0f} | {TARGETS[engine]} | {met} |\n"
                )
        tables += "".join(f"\n{note}\n" for note in notes)
    count = sum(tally.values())
    summary = (
        f"{count} comparisons: {tally['win']} wins, {tally['equal']} equal, {tally['loss']} losses.\n"
    )
    if losses:
        summary += "\n" + "\n".join(losses) + "\n"
    speed_head = (
        "| fabric | engine | OpenSM CPU s | darkfiber CPU s | ratio | target | met |\n"
        "|---|---|--:|--:|--:|--:|---|\n"
    )
    return f"{summary}\n## Speed\n\n{speed_head}{speed}\n## Fabric by fabric\n{tables}"

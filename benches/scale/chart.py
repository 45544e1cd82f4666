"""The plot: a column for each family, time above, memory below, both axes logarithmic."""

import math

import growth
import sizes

COLOURS = {
    "minhop": "#0072b2",
    "updn": "#b07d00",
    "ftree": "#009e73",
    "dfsssp": "#d1495b",
    "nue": "#7b4fa3",
}
INK, FAINT, GRID = "#1f2933", "#616e7c", "#e4e7eb"
SIDES = ("darkfiber", "opensm")

LEFT, TOP, WIDE, GAP = 66, 124, 330, 62
STRIP = 32  # above the plot of time, for runs that gave up
TIME, MEMORY, BETWEEN = 340, 300, 72
HOSTS = (200, 60_000)


class Axis:
    """Values onto pixels, by their logarithms."""

    def __init__(self, low, high, start, end):
        self.low, self.high = low, high
        self.place = lambda v: start + (end - start) * math.log(v / low) / math.log(high / low)

    def decades(self):
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        return [10.0**power for power in range(first, last + 1)]

    def between(self):
        """The minor grid values within decades."""
        every = [d * k for d in [self.decades()[0] / 10, *self.decades()] for k in range(2, 10)]
        return [v for v in every if self.low <= v <= self.high]


def label(x, y, text, anchor="start", size=11, fill=FAINT, more=""):
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} font-size="{size}" fill="{fill}"{more}>{text}</text>\n'


def line(x1, y1, x2, y2, stroke, more=""):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}"{more}/>\n'


def number(value):
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def mark(side, x, y, colour, fitted=True):
    """A disc for darkfiber, a hollow square for OpenSM; a diamond for sizes outside of the fit."""
    if not fitted:
        fill = colour if side == "darkfiber" else "#ffffff"
        path = f"M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5 -5z"
        return f'<path d="{path}" fill="{fill}" stroke="{colour}" stroke-width="1.4"/>\n'
    if side == "darkfiber":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{colour}"/>\n'
    return (
        f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6" fill="#ffffff" '
        f'stroke="{colour}" stroke-width="1.4"/>\n'
    )


def cross(x, y, colour, kind):
    """Mark of a run without a result: x over its time limit, a pale x expected to be, + refused by the engine."""
    path = f"M{x:.1f} {y - 4:.1f}v8M{x - 4:.1f} {y:.1f}h8" if kind == "refused" else (
        f"M{x - 3.2:.1f} {y - 3.2:.1f}l6.4 6.4m0 -6.4l-6.4 6.4"
    )  # fmt: skip
    pale = ' stroke-opacity="0.4"' if kind == "expected" else ""
    return f'<path d="{path}" stroke="{colour}" stroke-width="2" fill="none"{pale}/>\n'


def gave_up(result):
    """The kind of mark for a run without a result, or None."""
    if not result or "problem" not in result:
        return None
    if "expected" in result:
        return "expected"
    return "late" if "not finished" in result["problem"] else "refused"


class Plot:
    """One panel: axes, then a line for every engine and side."""

    def __init__(self, store, family, key, left, top, high, values):
        self.store, self.family, self.key = store, family, key
        self.left, self.top, self.high = left, top, high
        self.x = Axis(*HOSTS, left, left + WIDE)
        self.y = Axis(*values, top + high, top)

    def svg(self):
        out = self.grid()
        for side in reversed(SIDES):
            for engine in self.family.engines:
                out += self.curve(side, engine)
        if self.key == "cpu":
            out += self.strip()
        return out + self.legend()

    def grid(self):
        out, bottom, right = "", self.top + self.high, self.left + WIDE
        for value in self.x.between():
            out += line(self.x.place(value), self.top, self.x.place(value), bottom, "#f3f5f7")
        for value in self.y.between():
            out += line(self.left, self.y.place(value), right, self.y.place(value), "#f3f5f7")
        for value in self.x.decades():
            at = self.x.place(value)
            out += line(at, self.top, at, bottom, "#cbd2d9") + label(at, bottom + 15, number(value), "middle")
        for value in self.y.decades():
            at = self.y.place(value)
            out += line(self.left, at, right, at, "#cbd2d9")
            out += label(self.left - 6, at + 3.5, number(value), "end")
        frame = f'x="{self.left}" y="{self.top}" width="{WIDE}" height="{self.high}"'
        return out + f'<rect {frame} fill="none" stroke="#9aa5b1"/>\n'

    def curve(self, side, engine):
        colour = COLOURS[engine]
        spots = [
            (self.x.place(s.hosts), self.y.place(v), s.fitted)
            for s, v in growth.points(self.store, side, self.family, engine, self.key)
        ]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y, fitted in spots if fitted)
        dash = ' stroke-dasharray="5 4"' if side == "opensm" else ""
        out = f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.8"{dash}/>\n'
        return out + "".join(mark(side, x, y, colour, fitted) for x, y, fitted in spots)

    def strip(self):
        """Runs without a result, a row for each side, the engines next to each other."""
        out = ""
        middle = (len(self.family.engines) - 1) / 2
        for row, (side, name) in enumerate((("opensm", "OpenSM"), ("darkfiber", "darkfiber"))):
            y = self.top - STRIP + 9 + 13 * row
            marks = ""
            for size in self.family.sizes:
                for place, engine in enumerate(self.family.engines):
                    if kind := gave_up(self.store.get(side, size.spec, engine)):
                        at = self.x.place(size.hosts) + 9 * (place - middle)
                        marks += cross(at, y - 3.5, COLOURS[engine], kind)
            if marks:
                out += label(self.left + 2, y, f"{name} without result", size=10) + marks
        return out

    def legend(self):
        """Exponents, in a corner that the lines leave free: below them for time, above for memory."""
        wide, high = 162, 13.5 * len(self.family.engines) + 27
        x, y = self.left + 6, self.top + 6
        if self.key == "cpu":
            x, y = self.left + WIDE - wide - 6, self.top + self.high - high - 6
        box = f'x="{x}" y="{y:.0f}" width="{wide}" height="{high:.0f}" rx="3"'
        out = f'<rect {box} fill="#ffffff" fill-opacity="0.9" stroke="#e4e7eb"/>\n'
        ends = (110, 156)
        out += label(x + 6, y + 15, "exponent", size=10)
        for at, name in zip(ends, ("darkfiber", "OpenSM")):
            out += label(x + at, y + 15, name, "end", 10)
        for row, engine in enumerate(self.family.engines, start=1):
            down = y + 16 + 13.5 * row
            out += label(x + 6, down, engine, fill=f'{COLOURS[engine]}" font-weight="600')
            for at, value in zip(ends, growth.exponents(self.store, self.family, engine, self.key)):
                out += label(x + at, down, growth.text(value), "end", fill=INK)
        return out


def key():
    """The legend of lines and marks; colours are named in each panel."""
    out, y, at = "", 76, LEFT
    for side, name, dash in (("darkfiber", "darkfiber", ""), ("opensm", "OpenSM", ' stroke-dasharray="5 4"')):
        out += line(at, y - 4, at + 34, y - 4, INK, f' stroke-width="1.8"{dash}')
        out += mark(side, at + 17, y - 4, INK) + label(at + 41, y, name, size=12, fill=INK)
        at += 118
    out += mark("darkfiber", at, y - 4, INK, fitted=False)
    out += label(at + 11, y, "4:1 tapered tree, not in the fit", size=12, fill=INK)
    at += 208
    for kind, name, step in (
        ("late", "not done in 400 s", 140),
        ("expected", "not tried: expected so", 165),
        ("refused", "refused: too few lanes", 0),
    ):
        out += cross(at, y - 4, INK, kind) + label(at + 11, y, name, size=12, fill=INK)
        at += step
    return out


def bounds(store, key):
    """Whole decades around all values of a row of panels."""
    every = [
        value
        for family in sizes.FAMILIES
        for side in SIDES
        for engine in family.engines
        for _, value in growth.points(store, side, family, engine, key)
    ]
    low, high = min(every), max(every)
    return 10 ** math.floor(math.log10(low)), 10 ** math.ceil(math.log10(high))


def svg(store):
    columns = len(sizes.FAMILIES)
    wide = LEFT + columns * WIDE + (columns - 1) * GAP + 24
    lower = TOP + STRIP + TIME + BETWEEN
    high = lower + MEMORY + 46
    out = (
        '<svg xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" '
        f'font-family="Inter, Helvetica, Arial, sans-serif" font-size="12" fill="{INK}">\n'
        "<title>Time and memory of routing against the number of hosts</title>\n"
        '<rect width="100%" height="100%" fill="#ffffff"/>\n'
    )
    bold = f'{INK}" font-weight="600'
    out += label(LEFT, 28, "Routing time and memory against fabric size", size=17, fill=bold)
    note = "One thread. Exponents: least squares on the log-log points of 1,000 hosts and more"
    out += label(LEFT, 48, note, size=12)
    out += key()
    times, memories = bounds(store, "cpu"), bounds(store, "rss")
    for column, family in enumerate(sizes.FAMILIES):
        left = LEFT + column * (WIDE + GAP)
        out += label(left, TOP - 12, family.title, size=13, fill=bold)
        out += Plot(store, family, "cpu", left, TOP + STRIP, TIME, times).svg()
        out += Plot(store, family, "rss", left, lower, MEMORY, memories).svg()
        out += label(left + WIDE / 2, lower + MEMORY + 33, "hosts", "middle", 12)
    for text, top, tall in (("CPU seconds", TOP + STRIP, TIME), ("peak memory, MiB", lower, MEMORY)):
        x, y = 18, top + tall / 2
        out += label(x, y, text, "middle", 12, more=f' transform="rotate(-90 {x} {y})"')
    return out + "</svg>\n"

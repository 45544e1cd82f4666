"""Growth exponents: least squares on points of (log size, log value)."""

import math

# Below this number of hosts process startup dominates memory, and the resolution of the clock dominates time.
FROM_HOSTS = 1000


def points(store, side, family, engine, key):
    """Measured points (size, value), value in seconds or MiB."""
    scale = 1 / 1024 if key == "rss" else 1
    found = [(s, store.get(side, s.spec, engine)) for s in family.sizes]
    return [(s, r[key] * scale) for s, r in found if r and r.get(key)]


def exponent(measured):
    """Slope of the line through the points, or None with fewer than two sizes."""
    fit = [(math.log(s.hosts), math.log(v)) for s, v in measured if s.fitted and s.hosts >= FROM_HOSTS]
    if len(fit) < 2:
        return None
    x, y = (sum(column) / len(fit) for column in zip(*fit))
    return sum((a - x) * (b - y) for a, b in fit) / sum((a - x) ** 2 for a, _ in fit)


def exponents(store, family, engine, key):
    """The exponents of darkfiber and of OpenSM."""
    return [
        exponent(points(store, side, family, engine, key)) for side in ("darkfiber", "opensm")
    ]


def text(value):
    return "–" if value is None else f"{value:.2f}"



"""The fabrics and engines that are compared."""

from dataclasses import dataclass, field

TREE = ["minhop", "updn", "ftree", "sssp", "dfsssp"]
ANY = ["minhop", "updn", "sssp", "dfsssp"]
GRID = ["minhop", "updn", "dor", "sssp", "dfsssp"]

# Roots are given wherever an engine takes them, to both sides. dfsssp needs quality of service.
OPENSM_OPTIONS = {
    "updn": ["-a", "{roots}"],
    "ftree": ["-a", "{roots}"],
    "dfsssp": ["-Q"],
}
TAKES_ROOTS = ("updn", "ftree")


@dataclass
class Fabric:
    """A fabric: what darkfiber calls it, or a folder of saved OpenSM tables."""

    name: str
    spec: str = ""
    engines: list = field(default_factory=lambda: ANY)
    options: list = field(default_factory=list)
    reference: str = ""
    # Large enough to compare speed, and whether the speed that was aimed at is for this fabric.
    speed: bool = False
    target: bool = False


def preset(name, engines):
    return Fabric(name, "@" + name, engines)


def reference(name, engines):
    return Fabric(name, engines=engines, reference=name)


TWO_LEVEL = [
    "opt-9-9-18", "opt-12-12-24", "opt-16-16-32", "opt-24-24-48", "opt-25-25-50", "opt-8-8-16",
    "opt-16-16-16", "opt-12-4-16", "opt-16-8-24", "opt-24-4-28", "opt-24-8-32", "opt-24-9-33",
    "opt-24-16-40", "opt-8-16-24", "opt-8-24-32", "opt-10-25-35", "opt-12-16-28", "opt-16-32-48",
]  # fmt: skip

FABRICS = [
    # Saved tables of OpenSM, with service levels.
    reference("ft2_216", TREE),
    reference("kary4_3", TREE),
    reference("hx_12x8", GRID),
    reference("irr_200_faulty", ANY),
    # Large ones, for speed.
    Fabric("dragonfly-2550", "dragonfly:p=5,a=10,h=5", ANY, speed=True, target=True),
    Fabric("fattree-3888", "pgft:m=18x18x12,w=1x18x6,p=1x1x3", TREE, speed=True, target=True),
    Fabric("torus-8x8x8", "torus:dims=8x8x8,t=2", GRID),
    Fabric("hyperx-8x8x8", "hyperx:dims=8x8x8,t=8", GRID, speed=True),
    Fabric("irregular-2560", "hyperx:dims=16x16,t=10", ANY, ["--fail-links", "2800"], speed=True),
    # Machines.
    preset("t2hx-fattree", TREE),
    preset("t2hx-fattree-full", TREE),
    preset("t2hx-hyperx", GRID),
    preset("t2hx-hyperx-full", GRID),
    preset("tsubame25", TREE),
    preset("taurus", TREE),
    preset("sar-testbed", GRID),
    preset("cab", TREE),
    # Without dfsssp: OpenSM gives up after 510 s (9 lanes needed), darkfiber takes 139 s.
    preset("edison", ["minhop", "updn", "sssp"]),
    preset("crystal", ANY),
    preset("shandy", ANY),
    preset("malbec", ANY),
    preset("hx-4ary2tree", TREE),
    *(preset(name, TREE) for name in TWO_LEVEL),
]

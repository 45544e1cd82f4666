"""The fabrics whose size grows, family by family, and the engines that route them."""

from dataclasses import dataclass

ENGINES = ["minhop", "updn", "ftree", "dfsssp", "nue"]
TAKES_ROOTS = ("updn", "ftree")

# Both sides get the roots for every engine that takes them, and up to eight lanes.
OPENSM_OPTIONS = {
    "updn": ["-a", "{roots}"],
    "ftree": ["-a", "{roots}"],
    "dfsssp": ["-Q"],
    "nue": ["-Q", "--nue_max_num_vls", "8"],
}


@dataclass(frozen=True)
class Size:
    """One fabric of a family. A fabric constructed unlike the rest of its family is not `fitted`."""

    spec: str
    hosts: int
    fitted: bool = True


@dataclass(frozen=True)
class Family:
    name: str
    title: str
    sizes: tuple
    engines: tuple = tuple(e for e in ENGINES if e != "ftree")


def tree(half, pods):
    """Full three-level fat-tree of switches with 2 * `half` ports."""
    spec = f"pgft:m={half}x{half}x{pods},w=1x{half}x{pods // 2},p=1x1x{2 * half // pods}"
    return Size(spec, half * half * pods)


def hyperx(n):
    """Cube of n switches a side, 2n hosts each."""
    return Size(f"hyperx:dims={n}x{n}x{n},t={2 * n}", 2 * n**4)


def dragonfly(h):
    """Balanced: one cable between any two groups."""
    return Size(f"dragonfly:p={h},a={2 * h},h={h}", h * 2 * h * (2 * h * h + 1))


FAMILIES = [
    Family(
        "fat-tree",
        "3-level fat-tree",
        (
            tree(18, 2),
            tree(18, 6),
            tree(18, 12),
            tree(18, 36),
            tree(32, 32),
            # 40-port switches, 4:1 tapered at leaf and pod: the largest subnet that LIDs allow.
            Size("pgft:m=32x32x40,w=1x8x8,p=1x1x1", 40_960, fitted=False),
        ),
        tuple(ENGINES),
    ),
    Family("hyperx", "3-D HyperX, n×n×n switches, 2n hosts each", tuple(map(hyperx, (4, 5, 6, 8, 10, 12)))),
    Family("dragonfly", "balanced dragonfly, p = h, a = 2h", tuple(map(dragonfly, (3, 4, 6, 8, 10)))),
]

# More terminals than there are LIDs: not InfiniBand, so there is nothing to compare with.
MACHINES = [("@slingshot-max", "dragonfly-min", 279_040)]

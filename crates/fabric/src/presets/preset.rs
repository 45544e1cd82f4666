//! The registry of presets.

use crate::{Registry, SpecError, Topology};

use super::{machines, trees};

/// A machine, or a tree of a published table.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name, written `@name` on a command line.
    pub name: &'static str,
    /// One line for a list.
    pub summary: &'static str,
    /// The numbers of the paper, its misprints, and our decisions where it is silent.
    pub doc: &'static str,
    /// Reference that describes the machine.
    pub paper: &'static str,
    pub(super) source: PresetSource,
}

/// Source of the fabric of a preset.
#[derive(Clone, Copy, Debug)]
pub(super) enum PresetSource {
    /// The spec of a generator.
    Spec(&'static str),
    /// A function, for machines that no family covers.
    Build(fn() -> Result<Topology, SpecError>),
}

impl Preset {
    /// Its generator spec, `None` if no family covers it.
    pub fn spec(&self) -> Option<&'static str> {
        match self.source {
            PresetSource::Spec(spec) => Some(spec),
            PresetSource::Build(_) => None,
        }
    }
}

const HX: &str = "Domke et al., \"HyperX topology: first at-scale implementation and comparison to \
                  the fat-tree\", SC'19, section 2.3";
const SAR: &str = "Domke, Hoefler, \"Scheduling-aware routing for supercomputers\", SC'16, Figure 1 \
                   and section 4.3";
const AFAR: &str = "Smith et al., \"Mitigating inter-job interference using adaptive flow-aware \
                    routing\", SC'18, section III-A";
const SLS: &str = "De Sensi et al., \"An in-depth analysis of the Slingshot interconnect\", SC'20, \
                   sections II-B, II-G and III";
const POD: &str = "NVIDIA, \"DGX SuperPOD: next generation scalable infrastructure for AI leadership\", \
                   reference architecture RA-11333-001 (DGX H100), 2023, compute fabric";
const OPT: &str = "Nienaber, Mahapatra, Yuan, \"Improving performance of deterministic single-path \
                   routing on 2-level generalized fat-trees\", Tables I and II";

const fn opt(name: &'static str, kind: &'static str, spec: &'static str) -> Preset {
    Preset {
        name,
        summary: kind,
        doc: "Named opt-n-m-r: r bottom switches with n hosts and m uplinks, m top switches with r \
              ports. r = n+m in all rows of the two tables.",
        paper: OPT,
        source: PresetSource::Spec(spec),
    }
}

const FULL: &str = "two-level tree T(n+m,r) with full bisection";
const SLIM: &str = "two-level tree T(n+m,r), slimmed";
const FAT: &str = "two-level tree T(n+m,r), fatted";

/// The registry of presets.
pub static PRESETS: Registry<Preset> = Registry::new(
    "preset",
    &[
        Preset {
            name: "t2hx",
            summary: "T2HX: 672 hosts, each in a fat-tree plane and in a 12x8 HyperX plane",
            doc: "One fabric of two planes: t2hx-fattree is plane 1, t2hx-hyperx plane 2, with the cables that these \
              lack. Host n is the same machine in both: 28 hosts in a row, a rack, are on two edge switches \
              and on four switches of the HyperX. That racks were filled in this order is decided, not printed.",
            paper: HX,
            source: PresetSource::Build(machines::t2hx),
        },
        Preset {
            name: "t2hx-fattree",
            summary: "fat-tree plane of T2HX: 48 edge switches x 14 hosts, 6 directors, with faults",
            doc: "The paper prints 204 switches and 2662 links of which 197 were missing, \"18-ary \
              3-tree\" and 15 nodes per edge switch. A strict 18-ary 3-tree has 972 switches, and 672 \
              nodes are not a multiple of 15; section 5.1 says 14 a switch. 48 edge switches and 6 \
              Grid Directors 4700 with 17 leaf boards and 9 spines each are exactly 204 switches, with \
              2700 links. Decision: 38 of them were never installed and 197 failed, both drawn with \
              fixed seeds so that the fabric stays connected; 2465 are left.",
            paper: HX,
            source: PresetSource::Build(trees::t2hx_degraded),
        },
        Preset {
            name: "t2hx-fattree-full",
            summary: "fat-tree plane of T2HX with all of its 2700 cables",
            doc: "As t2hx-fattree, nothing missing. Each edge switch has three uplinks to every director. \
              Which leaf boards they went to is not published; decision: uplink u of edge switch e is \
              external port 3e+u of the director, and these are dealt over the 17 boards in turn.",
            paper: HX,
            source: PresetSource::Build(trees::t2hx),
        },
        Preset {
            name: "t2hx-hyperx",
            summary: "HyperX plane of T2HX: 12x8, 7 hosts a switch, 15 cables missing",
            doc: "The paper prints 684 cables; a full 12x8 HyperX has 864 (digits transposed, or active \
              optical ones only). Bisection 192 of 336, 57.14 %, is as printed. Decision: 15 cables, \
              drawn with a fixed seed, are missing; 849 are left.",
            paper: HX,
            source: PresetSource::Build(machines::t2hx_hyperx),
        },
        Preset {
            name: "t2hx-hyperx-full",
            summary: "HyperX plane of T2HX with all of its 864 cables",
            doc: "As t2hx-hyperx, nothing missing. 11 + 7 cables and 7 hosts use 25 of 36 ports.",
            paper: HX,
            source: PresetSource::Spec("hyperx:dims=12x8,t=7,link=4xQDR,radix=36"),
        },
        Preset {
            name: "taurus",
            summary: "like Taurus: 4 islands joined by a 216-port director, 2014 hosts, 210 switches",
            doc: "The paper prints 2014 compute nodes, 210 switches, multi-island two-level fat-trees and a \
              216-port director, FDR and QDR. Island sizes and radix are not published; this is \
              a fabric of those totals, not the machine. Decision: 4 islands of 30 leaves and 18 \
              spines, every spine with 3 cables to the director, a two-level Clos of 12 leaf and 6 \
              spine chips; hosts dealt evenly, 16 or 17 a leaf; all cables 4xFDR.",
            paper: SAR,
            source: PresetSource::Build(trees::taurus),
        },
        Preset {
            name: "tsubame25",
            summary: "one plane of Tsubame2.5: 101 edge switches x 14 hosts, 6 directors, 1408 hosts",
            doc: "The paper prints 1408 compute nodes on two full-bisection QDR fat-trees. Decision: one \
              plane with the directors of t2hx-fattree-full, 101 edge switches, 257 switches in all; \
              the last edge switch has 8 hosts.",
            paper: SAR,
            source: PresetSource::Build(trees::tsubame25),
        },
        Preset {
            name: "sar-testbed",
            summary: "two switches with two parallel cables, two hosts each",
            doc: "The test bed of section 4.3.5: QDR switches, 4 nodes. The node that ran OpenSM is left \
              out. Decision: 36-port switches.",
            paper: SAR,
            source: PresetSource::Spec("hyperx:dims=2,t=2,trunk=2,link=4xQDR,radix=36"),
        },
        Preset {
            name: "cab",
            summary: "Cab: three-level fat-tree of radix 36, 1296 hosts",
            doc: "The paper prints 72 leaves with 18 nodes, radix 36, and 1200 or 1190 nodes available; all \
              1296 are here. Decision: 4 pods of 18 leaves and 18 middle switches, 36 tops, 9 parallel \
              cables from a top to each pod: PGFT(3; 18,18,4; 1,18,2; 1,1,9), 2592 switch links.",
            paper: AFAR,
            source: PresetSource::Spec("pgft:m=18x18x4,w=1x18x2,p=1x1x9,link=4xQDR"),
        },
        Preset {
            name: "edison",
            summary: "Edison, Cray XC30: 15 groups of 6x16 routers, 5576 compute and 184 other nodes",
            doc: "15 groups x 384 nodes are 5760; 5576 compute. Decision: the 184 service nodes are spread \
              evenly and have the role `other`. Six four-link bundles per pair of groups: 2520 blue \
              links, 23.7 TB/s in both directions (printed: 23).",
            paper: AFAR,
            source: PresetSource::Build(machines::edison),
        },
        Preset {
            name: "aries-max",
            summary: "the largest Cray Cascade: 241 groups, 92,544 nodes",
            doc: "240 bundles of four are all 960 blue ports of a group, one bundle per pair of groups.",
            paper: SLS,
            source: PresetSource::Spec("cascade:groups=241,blue=4,radix=48"),
        },
        Preset {
            name: "crystal",
            summary: "Crystal, Aries: 2 groups, 698 nodes",
            doc: "The paper prints 698 nodes in 2 groups of at most 384. Decision: the first group is full; \
              24 blue links join the two, as between groups of Edison, since none are published.",
            paper: SLS,
            source: PresetSource::Spec("cascade:groups=2,hosts=698,radix=48"),
        },
        Preset {
            name: "slingshot-max",
            summary: "the largest Slingshot: 545 groups, 17,440 switches, 279,040 endpoints",
            doc: "64 ports: 16 endpoints, 31 to the group, 17 global; 32 switches a group; one cable \
              per pair of groups.",
            paper: SLS,
            source: PresetSource::Spec("dragonfly:p=16,a=32,h=17,radix=64"),
        },
        Preset {
            name: "slingshot-511",
            summary: "the largest Slingshot that addresses reach: 511 groups, 261,632 endpoints",
            doc: "As slingshot-max with the 511 groups that the address format allows.",
            paper: SLS,
            source: PresetSource::Spec("dragonfly:p=16,a=32,h=17,g=511,per_pair=1,radix=64"),
        },
        Preset {
            name: "shandy",
            summary: "Shandy, Slingshot: 8 groups, 128 switches, 1024 hosts with two terminals each",
            doc: "Section III prints 56 global links \"to each other group\", section II-G 56 of 112 per \
              group, 8 towards each other group: 7 x 8 = 56, so II-G is right. Two 100 Gb/s NICs per \
              node, on different switches (decision: neighbours in the group). The printed peaks 6.4 \
              and 12.8 Tb/s are TB/s.",
            paper: SLS,
            source: PresetSource::Spec(
                "dragonfly:p=16,a=16,h=7,g=8,per_pair=8,nics=2,gbps=200,host_gbps=100,radix=64",
            ),
        },
        Preset {
            name: "malbec",
            summary: "Malbec, Slingshot: 4 groups, 32 switches, 484 hosts",
            doc: "The paper prints 48 global links \"to each other group\"; by the rule that holds for \
              Shandy these are all of a group, 16 per pair. Decision: 8 switches a group, the first \
              three groups full with 128 hosts, 100 in the last; one 100 Gb/s NIC each.",
            paper: SLS,
            source: PresetSource::Spec(
                "dragonfly:p=16,a=8,g=4,per_pair=16,hosts=484,gbps=200,host_gbps=100,radix=64",
            ),
        },
        Preset {
            name: "superpod-su",
            summary: "a scalable unit of a DGX H100 SuperPOD: 32 hosts x 8 rails, 8 leaves, 4 spines",
            doc: "A unit has 32 DGX H100 and 8 leaf switches with 64 ports of 400 Gb/s NDR, one for each \
              NIC number; 256 cables go up. The document's own single unit has 31 hosts, since the \
              ports of one are left to the fabric manager.",
            paper: POD,
            source: PresetSource::Spec(
                "rails:hosts_per_unit=32,spines=4,trunk=8,link=4xNDR,radix=64",
            ),
        },
        Preset {
            name: "superpod-h100",
            summary: "DGX H100 SuperPOD of 4 scalable units: 127 hosts x 8 rails, 32 leaves, 16 spines",
            doc: "127 hosts, as the ports of the 128th are left to the fabric manager, which is not here; \
              1016 cables to hosts, 1024 between leaves and spines.",
            paper: POD,
            source: PresetSource::Spec(
                "rails:hosts_per_unit=32,units=4,spines=16,trunk=2,hosts=127,link=4xNDR,radix=64",
            ),
        },
        Preset {
            name: "superpod-b200-16su",
            summary: "DGX B200 SuperPOD of 16 scalable units: 512 hosts x 8 rails, three levels",
            doc: "The document prints 512 nodes, 128 leaf, 128 spine and 64 core switches with 4096 cables \
              on each stage. Decision: 4 pods of 4 units and 32 spines; every spine has 16 cables to \
              each of two cores, which it shares with the spines of its number in the other pods.",
            paper: "NVIDIA, \"DGX SuperPOD reference architecture\" for DGX B200, table of larger component \
                counts",
            source: PresetSource::Spec(
                "rails:hosts_per_unit=32,units=4,pods=4,spines=32,cores=2,core_trunk=16,link=4xNDR,radix=64",
            ),
        },
        Preset {
            name: "slimfly-eth",
            summary: "the first Slim Fly that was built: q=5, 50 switches, 200 hosts",
            doc: "MMS(5), the Hoffman-Singleton graph, with 4 hosts a switch: 7 + 4 ports. Decision: FDR \
              switches with 36 ports; their real port numbers are not kept.",
            paper: "Blach et al., \"A high-performance design, implementation, deployment, and evaluation of \
                the Slim Fly network\", NSDI'24",
            source: PresetSource::Spec("slimfly:q=5,link=4xFDR,radix=36"),
        },
        Preset {
            name: "hx-4ary2tree",
            summary: "4-ary 2-tree with 16 hosts, the example of Figure 2a",
            doc: "k^n hosts and n*k^(n-1) switches.",
            paper: HX,
            source: PresetSource::Spec("kary:k=4,n=2"),
        },
        opt("opt-9-9-18", FULL, "fattree2:n=9,m=9,r=18"),
        opt("opt-12-12-24", FULL, "fattree2:n=12,m=12,r=24"),
        opt("opt-16-16-32", FULL, "fattree2:n=16,m=16,r=32"),
        opt("opt-24-24-48", FULL, "fattree2:n=24,m=24,r=48"),
        opt("opt-25-25-50", FULL, "fattree2:n=25,m=25,r=50"),
        opt("opt-8-8-16", FULL, "fattree2:n=8,m=8,r=16"),
        opt("opt-16-16-16", FULL, "fattree2:n=16,m=16,r=16"),
        opt("opt-12-4-16", SLIM, "fattree2:n=12,m=4,r=16"),
        opt("opt-16-8-24", SLIM, "fattree2:n=16,m=8,r=24"),
        opt("opt-24-4-28", SLIM, "fattree2:n=24,m=4,r=28"),
        opt("opt-24-8-32", SLIM, "fattree2:n=24,m=8,r=32"),
        opt("opt-24-9-33", SLIM, "fattree2:n=24,m=9,r=33"),
        opt("opt-24-16-40", SLIM, "fattree2:n=24,m=16,r=40"),
        opt("opt-8-16-24", FAT, "fattree2:n=8,m=16,r=24"),
        opt("opt-8-24-32", FAT, "fattree2:n=8,m=24,r=32"),
        opt("opt-10-25-35", FAT, "fattree2:n=10,m=25,r=35"),
        Preset {
            name: "opt-12-16-28",
            summary: FAT,
            doc: "Table I prints T(12+16,24), Table II T(12+16,28). r = n+m everywhere else, and 28 is \
              what reproduces the values of Table II; with 24 the ABB of D-mod-k would be 0.355.",
            paper: OPT,
            source: PresetSource::Spec("fattree2:n=12,m=16,r=28"),
        },
        opt("opt-16-32-48", FAT, "fattree2:n=16,m=32,r=48"),
    ],
);

crate::named!(Preset);

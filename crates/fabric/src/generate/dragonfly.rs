//! Dragonflies with fully connected groups.

use crate::{DragonflyShape, GroupKind, Shape, SpecError, SwitchId, Topology};

use super::global::Global;
use super::layout::{Layout, Size};
use super::params::ethernet;
use super::spread::CableEnd;
use super::{Family, Key, Params};

/// Tag of dragonfly switches in their GUIDs.
pub(super) const TAG: u64 = 0x20;

/// Generator of the family `dragonfly`.
pub(super) struct Dragonfly;

impl Family for Dragonfly {
    fn name(&self) -> &'static str {
        "dragonfly"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["slingshot"]
    }

    fn summary(&self) -> &'static str {
        "dragonfly: fully connected groups, one or more cables between any two groups"
    }

    fn doc(&self) -> &'static str {
        "A switch has its p endpoints on ports 1..p, then a port towards each other switch of its \
         group in rising order, then at most h global ports. With g = a*h+1 groups (the default) one \
         cable joins any two groups, in palm-tree order. With fewer groups and no `per_pair`, global \
         ports are used in order, switch by switch, for as many rounds over all pairs as fit. \
         `per_pair` states the cables of a pair of groups instead; they are spread evenly over the \
         switches of both. `taper` keeps a percentage of the cables of every pair of groups, spread \
         evenly again. `nics` gives every host that many terminals, on neighbouring switches."
    }

    fn paper(&self) -> &'static str {
        "Kim, Dally, Scott, Abts, \"Technology-driven, highly-scalable dragonfly topology\", ISCA'08; \
         palm tree: Camarero, Vallejo, Beivide, \"Topological characterization of Hamming and \
         dragonfly networks and its implications on routing\", ACM TACO 11(4), 2014"
    }

    fn keys(&self) -> &'static [Key] {
        const {
            &[
                Key::required("p", "endpoints of a switch"),
                Key::required("a", "switches of a group"),
                Key::optional(
                    "h",
                    "global ports of a switch; required without per_pair",
                    "as many as per_pair needs",
                ),
                Key::optional("g", "groups", "a*h+1"),
                Key::optional(
                    "per_pair",
                    "cables between two groups, spread evenly",
                    "as many whole rounds as fit",
                ),
                Key::optional(
                    "taper",
                    "percentage of the cables of every two groups that is there",
                    "100",
                ),
                Key::optional("nics", "terminals of a host, each on another switch", "1"),
            ]
        }
    }

    fn example(&self) -> &'static str {
        "dragonfly:p=2,a=4,h=2"
    }

    fn generate(&self, params: &Params) -> Result<Topology, SpecError> {
        let plan = DragonflyPlan::read(params)?;
        let mut layout = Layout::new(params, plan.size(), ethernet(200.0), ethernet(200.0))?;
        let (p, a, g) = (plan.p, plan.a, plan.global.g);
        let id = |group: u32, member: u32| SwitchId(group * a + member);
        for group in 0..g {
            for member in 0..a {
                let name = format!("g{group:02}r{member:02}");
                layout.switch(TAG, id(group, member).index(), name);
            }
        }
        for first in (0..g * a).step_by(plan.nics as usize) {
            for port in 1..=p {
                let ends: Vec<_> = (0..plan.nics).map(|i| (SwitchId(first + i), port)).collect();
                layout.railed_host(&ends)?;
            }
        }
        for group in 0..g {
            for r in 0..a {
                for q in r + 1..a {
                    let (low, high) = ((id(group, r), p + q), (id(group, q), p + 1 + r));
                    layout.cable(low, high, layout.link)?;
                }
            }
        }
        let base = p + a;
        let end = |(group, member, slot): CableEnd| (id(group, member), base + slot);
        for (one, two) in plan.global.cables() {
            layout.cable(end(one), end(two), layout.link)?;
        }
        let switches = 0..g * a;
        layout.finish(|_| {
            Shape::Dragonfly(DragonflyShape {
                group: switches.clone().map(|s| s / a).collect(),
                member: switches.map(|s| s % a).collect(),
                inside: GroupKind::Full,
            })
        })
    }
}

struct DragonflyPlan {
    p: u32,
    a: u32,
    nics: u32,
    global: Global,
}

impl DragonflyPlan {
    fn read(params: &Params) -> Result<Self, SpecError> {
        let p = params.need("p", 0..=254)?;
        let a = params.need("a", 1..=254)?;
        let global = Global::read(params, a, "switches")?;
        let nics = params.get("nics", 1..=a)?.unwrap_or(1);
        if a % nics != 0 {
            return Err(params.bad("nics", format!("a divisor of a={a}")));
        }
        Ok(Self { p, a, nics, global })
    }

    fn size(&self) -> Size {
        let (a, g) = (u64::from(self.a), u64::from(self.global.g));
        Size {
            switches: a * g,
            hosts: a * g * u64::from(self.p) / u64::from(self.nics),
            rails: self.nics.into(),
            ports: u64::from(self.p) + a - 1 + u64::from(self.global.h),
            cables: (g * a * (a - 1) / 2).saturating_add(self.global.count()),
        }
    }
}

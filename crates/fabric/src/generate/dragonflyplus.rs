//! Dragonfly+ (Megafly): dragonfly groups that are two-level trees.

use crate::{DragonflyShape, GroupKind, LinkClass, Shape, SpecError, SwitchId, Topology};

use super::dragonfly::TAG;
use super::global::Global;
use super::layout::{Layout, Size};
use super::spread::CableEnd;
use super::{Family, Key, Params};

/// Generator of the family `dragonflyplus`.
pub(super) struct DragonflyPlus;

impl Family for DragonflyPlus {
    fn name(&self) -> &'static str {
        "dragonflyplus"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["megafly", "dfp"]
    }

    fn summary(&self) -> &'static str {
        "dragonfly+ (Megafly): groups of leaves x spines, global cables on the spines"
    }

    fn doc(&self) -> &'static str {
        "In a group every leaf has a cable to every spine. A leaf has its p endpoints on ports 1..p, \
         then a port towards each spine in order; a spine has a port towards each leaf in order, then \
         at most h global ports. Groups, `g` and `per_pair` are as in dragonfly, with spines in place \
         of its switches: the default are g = spines*h+1 groups with one cable between any two. Two \
         leaves are at most three cables apart, two spines at most five. leaves = spines = p = h is a \
         fabric of one switch radix with full bisection inside the groups. 33 groups of 16 leaves and \
         16 spines with p=h=16 are the layout that the CODES simulator ships as dfp_8k."
    }

    fn paper(&self) -> &'static str {
        "Shpiner et al., \"Dragonfly+: low cost topology for scaling datacenters\", HiPINEB 2017; \
         Flajslik et al., \"Megafly: a topology for exascale systems\", ISC 2018"
    }

    fn keys(&self) -> &'static [Key] {
        const {
            &[
                Key::required("p", "endpoints of a leaf"),
                Key::required("leaves", "leaves of a group"),
                Key::required("spines", "spines of a group"),
                Key::optional(
                    "h",
                    "global ports of a spine; required without per_pair",
                    "as many as per_pair needs",
                ),
                Key::optional("g", "groups", "spines*h+1"),
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
            ]
        }
    }

    fn example(&self) -> &'static str {
        "dragonflyplus:p=2,leaves=2,spines=2,h=2"
    }

    fn generate(&self, params: &Params) -> Result<Topology, SpecError> {
        let p = params.need("p", 0..=254)?;
        let leaves = params.need("leaves", 1..=254)?;
        let spines = params.need("spines", 1..=254)?;
        let global = Global::read(params, spines, "spines")?;
        let (g, members) = (global.g, leaves + spines);
        let size = {
            let [g, leaves, spines, p, h] = [g, leaves, spines, p, global.h].map(u64::from);
            Size {
                switches: g * (leaves + spines),
                hosts: g * leaves * p,
                rails: 1,
                ports: (p + spines).max(leaves + h),
                cables: (g * leaves * spines).saturating_add(global.count()),
            }
        };
        let hdr = || LinkClass::infiniband("4xHDR").unwrap_or_else(LinkClass::unknown);
        let mut layout = Layout::new(params, size, hdr(), hdr())?;

        let leaf = |group: u32, l: u32| SwitchId(group * members + l);
        let spine = |group: u32, s: u32| SwitchId(group * members + leaves + s);
        for group in 0..g {
            for l in 0..leaves {
                let name = format!("g{group:02}leaf{:02}", l + 1);
                layout.switch(TAG, leaf(group, l).index(), name);
            }
            for s in 0..spines {
                let name = format!("g{group:02}spine{:02}", s + 1);
                layout.switch(TAG, spine(group, s).index(), name);
            }
        }
        for (group, l) in (0..g).flat_map(|group| (0..leaves).map(move |l| (group, l))) {
            for port in 1..=p {
                layout.host(&[(leaf(group, l), port)])?;
            }
            for s in 0..spines {
                let (up, down) = ((leaf(group, l), p + 1 + s), (spine(group, s), l + 1));
                layout.cable(up, down, layout.link)?;
            }
        }
        let end = |(group, member, slot): CableEnd| (spine(group, member), leaves + 1 + slot);
        for (one, two) in global.cables() {
            layout.cable(end(one), end(two), layout.link)?;
        }
        let switches = 0..g * members;
        layout.finish(|_| {
            Shape::Dragonfly(DragonflyShape {
                group: switches.clone().map(|s| s / members).collect(),
                member: switches.map(|s| s % members).collect(),
                inside: GroupKind::LeafSpine { leaves },
            })
        })
    }
}

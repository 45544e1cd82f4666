//! Positions of switches on a map: from the structure of a fabric, never from names.
//!
//! Lengths are in units of the map. Switches are dots of radius [`DOT`], and no two are nearer to each other than
//! [`PITCH`], for any fabric: layouts grow instead.

mod curve;
mod force;
mod lattice;
mod levels;
mod map;
mod planes;
mod rings;
mod sun;

use darkfiber_fabric::{Fabric, Planes, Shape, SwitchId, Topology};

pub use curve::{Cubic, Curve, Point};
pub use map::{Caption, DOT, Layout, PITCH, cables};

use curve::Curves;

impl Layout {
    /// Lays a fabric out. Equal fabrics have equal layouts.
    ///
    /// Complexity: O(switches log switches + cables).
    pub fn of(fabric: &Fabric, shape: Option<&Shape>) -> Self {
        let found = Planes::of(fabric);
        if let Some(Shape::Planes(_)) = shape
            && found.count() < 2
        {
            return Self::of_one(fabric, None);
        }
        if found.count() < 2 {
            return Self::of_one(fabric, shape);
        }
        let parts: Vec<(Self, Vec<SwitchId>)> = found
            .apart(fabric, shape)
            .into_iter()
            .map(|(Topology { fabric, shape }, map)| {
                (Self::of_one(&fabric, shape.as_ref()), map.old_switch)
            })
            .collect();
        planes::beside(fabric, &parts)
    }

    fn of_one(fabric: &Fabric, shape: Option<&Shape>) -> Self {
        match shape {
            Some(Shape::Tree(tree)) => rings::of(fabric, &tree.level),
            Some(Shape::Grid(grid)) => lattice::of(fabric, grid),
            Some(Shape::Dragonfly(d)) => sun::of(fabric, &d.group, &d.member, sun::Block::of(d)),
            Some(Shape::SlimFly(fly)) => {
                let of = |c: &[u16]| u32::from(c[0]) * fly.q + u32::from(c[1]);
                let group: Vec<u32> = fly.coords.chunks(3).map(of).collect();
                let member: Vec<u32> = fly.coords.chunks(3).map(|c| c[2].into()).collect();
                sun::of(fabric, &group, &member, sun::Block::spoke(fly.q))
            }
            Some(Shape::Expander(expander)) if expander.metanode.is_some() => {
                let group = expander.metanode.clone().unwrap_or_default();
                let member = sun::numbered(&group);
                let size = member.iter().max().map_or(1, |most| most + 1);
                sun::of(fabric, &group, &member, sun::Block::spoke(size))
            }
            _ => match levels::of(fabric) {
                Some(level) => rings::of(fabric, &level),
                None => force::of(fabric),
            },
        }
    }
}

//! Where switches are on a map: from what a fabric is, never from names.
//!
//! Lengths are in units of the map. Switches are dots of radius [`DOT`], and no two are nearer to each other than
//! [`PITCH`], whatever the fabric: layouts grow instead.

mod curve;
mod force;
mod lattice;
mod levels;
mod planes;
mod rings;
mod sun;

use darkfiber_fabric::{ChannelId, Fabric, Planes, Shape, SwitchId, Topology};

pub use curve::{Cubic, Curve, Point};

use curve::Curves;

/// Radius of a switch.
pub const DOT: f32 = 2.6;

/// Least distance of two switches.
pub const PITCH: f32 = 9.0;

/// A text on the map.
#[derive(Clone, Debug, PartialEq)]
pub struct Caption {
    /// What it says.
    pub text: String,
    /// Its middle.
    pub at: Point,
}

/// A map.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// What it is drawn as, in a word or two for people.
    pub kind: &'static str,
    /// Where each switch is.
    pub at: Vec<Point>,
    /// The group of each switch: pods of trees, groups of dragonflies, rows of lattices. Cables of two groups are drawn as one
    /// where there are too many to see.
    pub group: Vec<u32>,
    /// What groups are called, one of them.
    pub group_word: &'static str,
    /// Groups.
    pub groups: u32,
    /// The ways that cables take.
    pub curves: Vec<Curve>,
    /// By cable, in the order of its lower channels, which of them it takes.
    pub curve_of: Vec<u8>,
    /// Texts that say what is where.
    pub captions: Vec<Caption>,
    /// Half of the side of the cell that a switch has for itself: room for its hosts.
    pub room: f32,
}

/// The lower channel of each cable between switches, rising: the order of cables.
pub fn cables(fabric: &Fabric) -> impl Iterator<Item = ChannelId> {
    (0..fabric.channel_count()).map(ChannelId::new).filter(|&c| c < fabric.reverse(c))
}

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

    /// The corners of what is drawn, cables and hosts included.
    pub fn bounds(&self) -> (Point, Point) {
        let mut low = Point { x: f32::MAX, y: f32::MAX };
        let mut high = Point { x: f32::MIN, y: f32::MIN };
        for p in self.at.iter().chain(self.captions.iter().map(|c| &c.at)) {
            low = Point { x: low.x.min(p.x), y: low.y.min(p.y) };
            high = Point { x: high.x.max(p.x), y: high.y.max(p.y) };
        }
        if self.at.is_empty() {
            (low, high) = (Point::default(), Point::default());
        }
        let margin = self.room.max(PITCH) * 1.5;
        (
            Point { x: low.x - margin, y: low.y - margin },
            Point { x: high.x + margin, y: high.y + margin },
        )
    }

    /// The way of a cable, by its number and its ends.
    pub fn cubic(&self, cable: usize, from: SwitchId, to: SwitchId) -> Cubic {
        let curve = &self.curves[usize::from(self.curve_of[cable])];
        curve.between(self.at[from.index()], self.at[to.index()])
    }
}

//! A map as a value.

use darkfiber_fabric::{ChannelId, Fabric, SwitchId};

use super::curve::{Cubic, Curve, Point};

/// Radius of a switch.
pub const DOT: f32 = 2.6;

/// Least distance of two switches.
pub const PITCH: f32 = 9.0;

/// A text on the map.
#[derive(Clone, Debug, PartialEq)]
pub struct Caption {
    /// Text of the caption.
    pub text: String,
    /// Centre of the text.
    pub at: Point,
}

/// The layout of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Kind of the drawing, in a word or two for people.
    pub kind: &'static str,
    /// Position of each switch.
    pub at: Vec<Point>,
    /// The group of each switch: pods of trees, groups of dragonflies, rows of lattices. Cables of two groups are drawn as one
    /// where there are too many to see.
    pub group: Vec<u32>,
    /// The word for a group, in singular.
    pub group_word: &'static str,
    /// The number of groups.
    pub groups: u32,
    /// Curves of the cables.
    pub curves: Vec<Curve>,
    /// By cable, in the order of its lower channels, which of them it takes.
    pub curve_of: Vec<u8>,
    /// Captions of parts of the map.
    pub captions: Vec<Caption>,
    /// Half of the side of the cell that belongs to one switch: space for its hosts.
    pub room: f32,
}

/// The lower channel of each cable between switches, rising: the order of cables.
pub fn cables(fabric: &Fabric) -> impl Iterator<Item = ChannelId> {
    (0..fabric.channel_count()).map(ChannelId::new).filter(|&c| c < fabric.reverse(c))
}

impl Layout {
    /// The corners of switches with their hosts, and of captions.
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

    /// The corners of all that is drawn: cables that bow out of the corners of the switches, too.
    pub fn extent(&self, fabric: &Fabric) -> (Point, Point) {
        let (mut low, mut high) = self.bounds();
        for (i, c) in cables(fabric).enumerate() {
            let Cubic([a, b, c, d]) = self.cubic(i, fabric.tail(c), fabric.head(c));
            // A cable is farthest out in its middle, or at its ends.
            let middle = |a: f32, b: f32, c: f32, d: f32| (a + 3.0 * (b + c) + d) / 8.0;
            let (x, y) = (middle(a.x, b.x, c.x, d.x), middle(a.y, b.y, c.y, d.y));
            low = Point { x: low.x.min(x), y: low.y.min(y) };
            high = Point { x: high.x.max(x), y: high.y.max(y) };
        }
        (low, high)
    }

    /// The curve of a cable, by its number and its ends.
    pub fn cubic(&self, cable: usize, from: SwitchId, to: SwitchId) -> Cubic {
        let curve = &self.curves[usize::from(self.curve_of[cable])];
        curve.between(self.at[from.index()], self.at[to.index()])
    }
}

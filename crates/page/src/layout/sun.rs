//! Groups as the spokes of a sun: dragonflies, Slim Flies, Xpanders.

use std::f32::consts::TAU;

use darkfiber_fabric::{DragonflyShape, Fabric, GroupKind};

use super::{Caption, Curve, Curves, Layout, PITCH, Point, cables};

/// More switches than this in a spoke make it broader.
const LONG: u32 = 40;
/// By how much the outermost switch of a spoke is further clockwise than the innermost, in distances of switches: the global cables of each
/// run beside the others, and local ones on the other side.
const SLANT: f32 = 1.1;
/// Captions of groups around a sun at most.
const CAPTIONS: u32 = 24;

/// Placement of the switches of a group: `across` the spoke, the others along it, outward.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    across: u32,
    along: u32,
    /// Members of the outermost row, where rows are leaves and spines; the others are the innermost.
    leaves: Option<u32>,
}

impl Block {
    pub(crate) fn of(shape: &DragonflyShape) -> Self {
        let size = shape.member.iter().max().map_or(1, |most| most + 1);
        match shape.inside {
            GroupKind::Full => Self::spoke(size),
            GroupKind::Grid { rows, columns } => {
                Self { across: rows.max(1), along: columns.max(1), leaves: None }
            }
            GroupKind::LeafSpine { leaves } => {
                let across = leaves.max(size.saturating_sub(leaves)).max(1);
                Self { across, along: 2, leaves: Some(leaves) }
            }
        }
    }

    /// All in one line, or in a few if they are many.
    pub(crate) fn spoke(size: u32) -> Self {
        let across = size.div_ceil(LONG).max(1);
        Self { across, along: size.div_ceil(across).max(1), leaves: None }
    }

    /// How far a switch of a slanted spoke is across from where its row is: where it has rows, within their distance.
    fn slant(self, along: u32) -> f32 {
        if self.leaves.is_some() || self.along < 2 {
            return 0.0;
        }
        let most = if self.across == 1 { SLANT } else { SLANT.min(0.6) };
        most * (along as f32 / (self.along as f32 - 1.0) - 0.5)
    }

    /// Across from the middle of the spoke, and along it from the inside.
    fn place(self, member: u32) -> (f32, u32) {
        let middle = |i: u32, of: u32| i as f32 - (of as f32 - 1.0) / 2.0;
        match self.leaves {
            Some(leaves) if member < leaves => {
                (middle(member, leaves) * self.across as f32 / leaves as f32, 1)
            }
            Some(leaves) => (middle(member - leaves, self.across), 0),
            None => {
                let (i, j) = (member / self.along, member % self.along);
                (middle(i, self.across), self.along - 1 - j)
            }
        }
    }
}

/// A number for each switch within its group, by id.
pub(crate) fn numbered(group: &[u32]) -> Vec<u32> {
    let groups = group.iter().max().map_or(0, |most| *most as usize + 1);
    let mut next = vec![0; groups];
    let number = |&g: &u32| {
        next[g as usize] += 1;
        next[g as usize] - 1
    };
    group.iter().map(number).collect()
}

pub(crate) fn of(fabric: &Fabric, group: &[u32], member: &[u32], block: Block) -> Layout {
    // Groups that are there, in their order, and members that no other one has.
    let most = group.iter().max().map_or(0, |most| *most as usize + 1);
    let mut used = vec![false; most];
    for &g in group {
        used[g as usize] = true;
    }
    let mut number = vec![0u32; most];
    let mut groups = 0u32;
    for g in 0..most {
        number[g] = groups;
        groups += u32::from(used[g]);
    }
    let group: Vec<u32> = group.iter().map(|&g| number[g as usize]).collect();
    let wide = (block.across as f32 + 0.9) * PITCH;
    let inner = (groups as f32 * wide / TAU).max(4.0 * PITCH);
    // A spoke that is not lost between long chords.
    let step = ((block.along as f32 - 1.0) * PITCH).max(0.62 * inner)
        / (block.along as f32 - 1.0).max(1.0);
    let outer = inner + step * (block.along as f32 - 1.0);
    let angle = |g: u32| TAU * (g as f32 + 0.5) / groups.max(1) as f32;
    let at: Vec<Point> = (group.iter().zip(member))
        .map(|(&g, &m)| {
            let (across, along) = block.place(m);
            let radius = inner + step * along as f32;
            // Across at the distance that it has on the innermost row, so that spokes stay apart and lines stay straight.
            let (a, side) = (angle(g), (across + block.slant(along)) * PITCH);
            let (sin, cos) = a.sin_cos();
            Point::polar(a, radius).plus(Point { x: cos * side, y: sin * side })
        })
        .collect();
    let mut curves = Curves::default();
    for c in cables(fabric) {
        let (a, b) = (fabric.tail(c).index(), fabric.head(c).index());
        if group[a] != group[b] {
            curves.push(Curve::Radial { x: 0.0, y: 0.0, r: inner * 0.42 });
            continue;
        }
        let (p, q) = (at[a], at[b]);
        let long = ((p.x - q.x).powi(2) + (p.y - q.y).powi(2)).sqrt();
        let steps = (long / step).round();
        let h = if block.along < 3 || steps < 1.5 {
            0.0
        } else {
            // Next to the spoke, within its share of the circle.
            let most = (block.along as f32 - 1.0).max(2.0);
            let sign = if member[a] < member[b] { 1.0 } else { -1.0 };
            sign * PITCH * (0.3 + 1.1 * (steps / most).sqrt())
        };
        curves.push(Curve::Bow { h });
    }
    let (curves, curve_of) = curves.into_parts();
    let every = groups.div_ceil(CAPTIONS).max(1);
    let captions = (0..groups)
        .step_by(every as usize)
        .map(|g| Caption {
            text: if g == 0 { "group 0".to_owned() } else { g.to_string() },
            at: Point::polar(angle(g), outer + 1.5 * PITCH + outer * 0.015),
        })
        .collect();
    Layout {
        kind: "sun of groups",
        at,
        group,
        group_word: "group",
        groups,
        curves,
        curve_of,
        captions,
        room: PITCH / 2.0,
    }
}

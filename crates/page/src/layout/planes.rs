//! Several networks placed in a row.

use darkfiber_fabric::{Fabric, SwitchId};

use super::{Caption, Curve, Curves, Layout, PITCH, Point, cables};

/// The layouts of planes, with the switches of each, as tiles of one map.
pub(crate) fn beside(fabric: &Fabric, parts: &[(Layout, Vec<SwitchId>)]) -> Layout {
    let n = fabric.switch_count();
    let across =
        (1..=parts.len()).find(|w| w * w * 2 >= parts.len() * 3).unwrap_or(1).min(parts.len());
    let boxes: Vec<(Point, Point)> = parts.iter().map(|(part, _)| part.bounds()).collect();
    let most = |side: &dyn Fn(&(Point, Point)) -> f32| boxes.iter().map(side).fold(0.0, f32::max);
    let wide = most(&|(low, high)| high.x - low.x) + 6.0 * PITCH;
    let tall = most(&|(low, high)| high.y - low.y) + 8.0 * PITCH;
    let mut all = Layout {
        kind: "planes",
        at: vec![Point::default(); n],
        group: vec![0; n],
        group_word: parts.first().map_or("plane", |(part, _)| part.group_word),
        groups: 0,
        curves: Vec::new(),
        curve_of: Vec::new(),
        captions: Vec::new(),
        room: parts.iter().map(|(part, _)| part.room).fold(f32::MAX, f32::min),
    };
    let mut plane_of = vec![0usize; n];
    let mut shifts = Vec::with_capacity(parts.len());
    for (i, (part, old)) in parts.iter().enumerate() {
        let (low, high) = boxes[i];
        let middle = Point { x: f32::midpoint(low.x, high.x), y: f32::midpoint(low.y, high.y) };
        let by = Point {
            x: (i % across) as f32 * wide - middle.x,
            y: (i / across) as f32 * tall - middle.y,
        };
        for (new, s) in old.iter().enumerate() {
            all.at[s.index()] = part.at[new].plus(by);
            all.group[s.index()] = all.groups + part.group[new];
            plane_of[s.index()] = i;
        }
        all.groups += part.groups;
        all.captions.extend(
            part.captions.iter().map(|c| Caption { text: c.text.clone(), at: c.at.plus(by) }),
        );
        let above = Point { x: middle.x, y: low.y - 2.0 * PITCH };
        all.captions.push(Caption { text: format!("plane {}", i + 1), at: above.plus(by) });
        shifts.push(by);
    }
    // A plane keeps the order of its cables.
    let mut next = vec![0usize; parts.len()];
    let mut curves = Curves::default();
    for c in cables(fabric) {
        let plane = plane_of[fabric.tail(c).index()];
        let part = &parts[plane].0;
        let by = shifts[plane];
        let of = part.curve_of[next[plane]];
        next[plane] += 1;
        curves.push(match part.curves[usize::from(of)] {
            Curve::Radial { x, y, r } => Curve::Radial { x: x + by.x, y: y + by.y, r },
            bow @ Curve::Bow { .. } => bow,
        });
    }
    (all.curves, all.curve_of) = curves.into_parts();
    all
}

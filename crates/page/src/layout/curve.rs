//! The curves of cables between two switches.

use serde::Serialize;

/// A place on the map; y grows downward.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Distance to the right.
    pub x: f32,
    /// Distance downwards.
    pub y: f32,
}

impl Point {
    /// At an angle (0 is up, growing clockwise) and a distance from the origin.
    pub(crate) fn polar(angle: f32, radius: f32) -> Self {
        Self { x: angle.sin() * radius, y: -angle.cos() * radius }
    }

    /// The point moved by another one.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { x: self.x + other.x, y: self.y + other.y }
    }
}

/// A curve by two ends and two control points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cubic(pub [Point; 4]);

/// A rule for the control points of cables. `web/src/curve.ts` has the same rules.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Curve {
    /// Control points in the directions of the ends as seen from a centre, at one distance from it: cables from one
    /// direction to another run together.
    Radial {
        /// Abscissa of the centre.
        x: f32,
        /// Ordinate of the centre.
        y: f32,
        /// Radius of the circle.
        r: f32,
    },
    /// Beside the straight line, with this maximum distance to the right of the direction from the first to the second
    /// end; 0 is straight.
    Bow {
        /// Maximum distance from the line.
        h: f32,
    },
}

impl Curve {
    /// The curve between two places.
    pub fn between(&self, a: Point, b: Point) -> Cubic {
        match *self {
            Self::Radial { x, y, r } => {
                let toward = |p: Point| {
                    let (dx, dy) = (p.x - x, p.y - y);
                    let long = (dx * dx + dy * dy).sqrt().max(1e-6);
                    Point { x: x + dx / long * r, y: y + dy / long * r }
                };
                Cubic([a, toward(a), toward(b), b])
            }
            Self::Bow { h } => {
                let (dx, dy) = (b.x - a.x, b.y - a.y);
                let long = (dx * dx + dy * dy).sqrt().max(1e-6);
                // A cubic is furthest from its base at 3/4 of the distance of its control points.
                let (nx, ny) = (-dy / long * h / 0.75, dx / long * h / 0.75);
                let at = |t: f32| Point { x: a.x + dx * t + nx, y: a.y + dy * t + ny };
                Cubic([a, at(0.15), at(0.85), b])
            }
        }
    }
}

/// Collects the curves of a map, each once.
#[derive(Default)]
pub(crate) struct Curves {
    all: Vec<Curve>,
    pub(crate) of: Vec<u8>,
}

impl Curves {
    /// The next cable takes this one. Beyond 256 different ones the last serves for all.
    pub(crate) fn push(&mut self, curve: Curve) {
        let known = self.all.iter().rposition(|c| *c == curve);
        let i = known.unwrap_or_else(|| {
            if self.all.len() < 256 {
                self.all.push(curve);
            }
            self.all.len() - 1
        });
        self.of.push(i as u8);
    }

    pub(crate) fn into_parts(self) -> (Vec<Curve>, Vec<u8>) {
        (self.all, self.of)
    }
}

//! A fabric together with what it is.

use crate::{Fabric, Faults, Renumbering, Shape};

/// A [`Fabric`] and, where known, its [`Shape`]: what generators make and readers return.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// The network.
    pub fabric: Fabric,
    /// What it is; `None` for a dump that nobody has recognised.
    pub shape: Option<Shape>,
}

impl Topology {
    /// What is left when `faults` are taken away; see [`Fabric::with_faults`].
    pub fn with_faults(&self, faults: &Faults) -> (Self, Renumbering) {
        let (fabric, map) = self.fabric.with_faults(faults);
        let shape = self.shape.as_ref().map(|s| s.restricted(&map));
        (Self { fabric, shape }, map)
    }
}

//! States that connections which still run were made in.

use crate::{Layers, Routes};

/// One state of a fabric that connections which still run were made in.
#[derive(Clone, Copy, Debug)]
pub struct Before<'a> {
    /// Its tables, and the service levels that it gave to connections.
    pub routes: &'a Routes,
    /// Whether these service levels are known. If not, connections are assumed to use every lane that
    /// any state uses.
    pub has_levels: bool,
}

/// The lanes that a layer description can name.
pub(super) fn lanes(layers: &Layers) -> u32 {
    match layers {
        // Tables of which switches choose lanes are refused before.
        Layers::One | Layers::ByHop(_) => 1,
        Layers::ByRow(l) | Layers::BySourceSwitch(l) | Layers::BySource(l) => {
            l.iter().fold(0, |mask, &l| mask | 1 << l)
        }
    }
}

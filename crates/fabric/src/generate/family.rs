//! The registry of topology families.

use crate::{Registry, SpecError, Topology};

use super::{
    Key, Params, cascade, clos3, dragonfly, dragonflyplus, fattree2, fullmesh, hypercube, hyperx,
    jellyfish, kary, pgft, rails, slimfly, torus, xpander,
};

/// A family of topologies: parameters in, fabric and shape out.
///
/// To add one: write its file with a unit struct that implements this trait, and add a line to
/// [`FAMILIES`]. Help, documentation, completion and the tests over all families follow from the slice.
pub trait Family: Sync {
    /// The word before the colon.
    fn name(&self) -> &'static str;

    /// Other words for it.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// One line for a list.
    fn summary(&self) -> &'static str;

    /// Numbering of nodes and wiring of ports.
    fn doc(&self) -> &'static str;

    /// Reference of its definition: authors, title, venue, year.
    fn paper(&self) -> &'static str;

    /// Its own keys; [`COMMON_KEYS`](super::COMMON_KEYS) come on top.
    fn keys(&self) -> &'static [Key];

    /// A small spec of the family.
    fn example(&self) -> &'static str;

    /// Makes the fabric. Its name is the text of the spec.
    ///
    /// # Errors
    /// If a required key is missing, a value cannot be, or the fabric would be too large (254 ports a
    /// switch, 2^24 switches or terminals, all planes together).
    fn generate(&self, params: &Params) -> Result<Topology, SpecError>;
}

/// The registry of families.
pub static FAMILIES: Registry<&dyn Family> = Registry::new(
    "topology family",
    &[
        &fattree2::FatTree2,
        &kary::KAry,
        &pgft::Pgft,
        &clos3::Clos3,
        &rails::Rails,
        &hyperx::HyperX,
        &hypercube::Hypercube,
        &fullmesh::FullMesh,
        &torus::Torus,
        &torus::Mesh,
        &dragonfly::Dragonfly,
        &dragonflyplus::DragonflyPlus,
        &cascade::Cascade,
        &slimfly::SlimFly,
        &jellyfish::Jellyfish,
        &xpander::Xpander,
    ],
);

impl crate::Entry for &dyn Family {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn aliases(&self) -> &[&str] {
        (**self).aliases()
    }
}

//! The registry of topology families.

use crate::{Registry, SpecError, Topology};

use super::{
    Params, cascade, clos3, dragonfly, dragonflyplus, fattree2, fullmesh, hypercube, hyperx,
    jellyfish, kary, pgft, rails, slimfly, torus, xpander,
};

/// A key of a spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it sets.
    pub meaning: &'static str,
    /// What it is if the spec does not have it: a value, or how one is found. `None`: required.
    pub default: Option<&'static str>,
}

impl Key {
    /// A key that a spec must have.
    pub const fn required(name: &'static str, meaning: &'static str) -> Self {
        Self { name, meaning, default: None }
    }

    /// A key that a spec may have.
    pub const fn optional(
        name: &'static str,
        meaning: &'static str,
        default: &'static str,
    ) -> Self {
        Self { name, meaning, default: Some(default) }
    }
}

/// Keys that every family has beside its own.
pub const COMMON_KEYS: &[Key] = &[
    Key::optional("link", "InfiniBand width and speed of all cables, e.g. 4xHDR", "the family's"),
    Key::optional("gbps", "data rate of all cables in Gbit/s, instead of link", "the family's"),
    Key::optional("host_link", "width and speed of the hosts' cables, if they differ", "as link"),
    Key::optional(
        "host_gbps",
        "data rate of the hosts' cables in Gbit/s, instead of host_link",
        "as gbps",
    ),
    Key::optional("hosts", "number of hosts; the last places stay empty", "all places"),
    Key::optional("planes", "copies of the switch network; every host is in each of them", "1"),
    Key::optional("radix", "ports that a switch has", "the most that any switch uses"),
];

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

    /// How nodes are numbered and ports are wired.
    fn doc(&self) -> &'static str;

    /// Where it is defined: authors, title, venue, year.
    fn paper(&self) -> &'static str;

    /// Its own keys; [`COMMON_KEYS`] come on top.
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

/// All families.
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

//! Tori and meshes: the lines of a lattice are rings or rows.

use crate::{GridKind, SpecError, Topology};

use super::{Family, Key, Params, grid};

const KEYS: &[Key] = &[
    Key::required("dims", "size of each dimension, e.g. 8x8x8"),
    Key::optional("t", "hosts of a switch", "1"),
    Key::optional("trunk", "parallel cables, one number or one by dimension", "1"),
];

/// Generator of the family `torus`.
pub(super) struct Torus;

impl Family for Torus {
    fn name(&self) -> &'static str {
        "torus"
    }

    fn summary(&self) -> &'static str {
        "k-ary n-cube: a lattice whose lines are rings"
    }

    fn doc(&self) -> &'static str {
        "Hosts are on ports 1..t; then, dimension by dimension, `trunk` ports in the direction of \
         rising coordinates and `trunk` in the other. A ring of two switches has one cable, as a row \
         does."
    }

    fn paper(&self) -> &'static str {
        "Dally, \"Performance analysis of k-ary n-cube interconnection networks\", IEEE Trans. \
         Comput. 39, 1990"
    }

    fn keys(&self) -> &'static [Key] {
        KEYS
    }

    fn example(&self) -> &'static str {
        "torus:dims=4x4x4,t=1"
    }

    fn generate(&self, params: &Params) -> Result<Topology, SpecError> {
        grid::read(params, GridKind::Torus)?.generate(params)
    }
}

/// Generator of the family `mesh`.
pub(super) struct Mesh;

impl Family for Mesh {
    fn name(&self) -> &'static str {
        "mesh"
    }

    fn summary(&self) -> &'static str {
        "a lattice whose lines are rows"
    }

    fn doc(&self) -> &'static str {
        "As torus, without the cables that close the rings; ports keep their numbers."
    }

    fn paper(&self) -> &'static str {
        "Dally, Towles, \"Principles and practices of interconnection networks\", 2004, chapter 5"
    }

    fn keys(&self) -> &'static [Key] {
        KEYS
    }

    fn example(&self) -> &'static str {
        "mesh:dims=4x4,t=2"
    }

    fn generate(&self, params: &Params) -> Result<Topology, SpecError> {
        grid::read(params, GridKind::Mesh)?.generate(params)
    }
}

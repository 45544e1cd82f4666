//! HyperX: every line of a lattice is fully connected.

use crate::{GridKind, SpecError, Topology};

use super::{Family, Key, Params, grid};

/// Generator of the family `hyperx`.
pub(super) struct HyperX;

impl Family for HyperX {
    fn name(&self) -> &'static str {
        "hyperx"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["flatbutterfly", "hamming"]
    }

    fn summary(&self) -> &'static str {
        "HyperX: a lattice whose lines are fully connected; 2x2x.. is a hypercube"
    }

    fn doc(&self) -> &'static str {
        "Switches with coordinates that differ in one dimension have `trunk` cables. Hosts are on \
         ports 1..t; then, dimension by dimension, the ports towards each other coordinate in rising \
         order. The diameter is the number of dimensions larger than 1."
    }

    fn paper(&self) -> &'static str {
        "Ahn, Binkert, Davis, McLaren, Schreiber, \"HyperX: topology, routing, and packaging of \
         efficient large-scale networks\", SC'09"
    }

    fn keys(&self) -> &'static [Key] {
        const {
            &[
                Key::required("dims", "size of each dimension, e.g. 12x8"),
                Key::optional("t", "hosts of a switch", "1"),
                Key::optional("trunk", "parallel cables, one number or one by dimension", "1"),
            ]
        }
    }

    fn example(&self) -> &'static str {
        "hyperx:dims=4x3,t=2"
    }

    fn generate(&self, params: &Params) -> Result<Topology, SpecError> {
        grid::read(params, GridKind::HyperX)?.generate(params)
    }
}

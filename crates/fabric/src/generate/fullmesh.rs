//! Fully connected networks: HyperX with one line.

use crate::{GridKind, SpecError, Topology};

use super::grid::Grid;
use super::{Family, Key, Params};

/// Generator of the family `fullmesh`.
pub(super) struct FullMesh;

impl Family for FullMesh {
    fn name(&self) -> &'static str {
        "fullmesh"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["complete"]
    }

    fn summary(&self) -> &'static str {
        "n switches, each joined with every other one"
    }

    fn doc(&self) -> &'static str {
        "It is hyperx with one dimension, and is wired and named as that: hosts on ports 1..t, then \
         `trunk` cables to each other switch in rising order."
    }

    fn paper(&self) -> &'static str {
        "The one-dimensional case of Ahn et al., \"HyperX: topology, routing, and packaging of efficient \
         large-scale networks\", SC'09"
    }

    fn keys(&self) -> &'static [Key] {
        const {
            &[
                Key::required("n", "switches"),
                Key::optional("t", "hosts of a switch", "1"),
                Key::optional("trunk", "parallel cables between two switches", "1"),
            ]
        }
    }

    fn example(&self) -> &'static str {
        "fullmesh:n=6,t=2"
    }

    fn generate(&self, params: &Params) -> Result<Topology, SpecError> {
        let n = params.need("n", 1..=255)?;
        let trunk = params.get("trunk", 1..=254)?.unwrap_or(1);
        let t = params.get("t", 0..=254)?.unwrap_or(1);
        Grid { kind: GridKind::HyperX, dims: vec![n], t, trunk: vec![trunk] }.generate(params)
    }
}

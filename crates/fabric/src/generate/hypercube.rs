//! Hypercubes: HyperX with two switches on a line.

use crate::{GridKind, SpecError, Topology};

use super::grid::Grid;
use super::{Family, Key, Params};

/// Generator of the family `hypercube`.
pub(super) struct Hypercube;

impl Family for Hypercube {
    fn name(&self) -> &'static str {
        "hypercube"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["ncube"]
    }

    fn summary(&self) -> &'static str {
        "binary n-cube: 2^n switches, joined where one bit differs"
    }

    fn doc(&self) -> &'static str {
        "It is hyperx with n dimensions of size 2, and is wired and named as that: hosts on ports \
         1..t, then `trunk` cables along each dimension. The first dimension is the highest bit of a \
         switch's number."
    }

    fn paper(&self) -> &'static str {
        "Saad, Schultz, \"Topological properties of hypercubes\", IEEE Trans. Comput. 37, 1988"
    }

    fn keys(&self) -> &'static [Key] {
        const {
            &[
                Key::required("n", "dimensions"),
                Key::optional("t", "hosts of a switch", "1"),
                Key::optional("trunk", "parallel cables, one number or one by dimension", "1"),
            ]
        }
    }

    fn example(&self) -> &'static str {
        "hypercube:n=4,t=2"
    }

    fn generate(&self, params: &Params) -> Result<Topology, SpecError> {
        let n = params.need("n", 1..=24)? as usize;
        let trunk = params.per("trunk", &(1..=254), n, 1)?;
        let t = params.get("t", 0..=254)?.unwrap_or(1);
        Grid { kind: GridKind::HyperX, dims: vec![2; n], t, trunk }.generate(params)
    }
}

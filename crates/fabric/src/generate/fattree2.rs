//! Two-level generalized fat-trees T(n+m,r), and with parallel cables.

use crate::{SpecError, Topology};

use super::pgft::Tree;
use super::{Family, Key, Params};

/// Generator of the family `fattree2`.
pub(super) struct FatTree2;

impl Family for FatTree2 {
    fn name(&self) -> &'static str {
        "fattree2"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["ft2"]
    }

    fn summary(&self) -> &'static str {
        "two-level fat-tree T(n+m,r): r leaves with n hosts, m spines"
    }

    fn doc(&self) -> &'static str {
        "Every leaf has its n hosts on ports 1..n and a cable (or `trunk` of them, side by side) to \
         each of the m spines in order. m/n is the bisection ratio: 1 full, below slimmed, above \
         fatted. It is PGFT(2; n,r; 1,m; 1,trunk)."
    }

    fn paper(&self) -> &'static str {
        "Nienaber, Mahapatra, Yuan, \"Improving performance of deterministic single-path routing on \
         2-level generalized fat-trees\", section I"
    }

    fn keys(&self) -> &'static [Key] {
        const {
            &[
                Key::required("n", "hosts of a leaf"),
                Key::required("m", "spines"),
                Key::required("r", "leaves"),
                Key::optional("trunk", "parallel cables from a leaf to a spine", "1"),
            ]
        }
    }

    fn example(&self) -> &'static str {
        "fattree2:n=4,m=4,r=8"
    }

    fn generate(&self, params: &Params) -> Result<Topology, SpecError> {
        let n = params.need("n", 1..=254)?;
        let m = params.need("m", 1..=254)?;
        let r = params.need("r", 1..=254)?;
        let trunk = params.get("trunk", 1..=254)?.unwrap_or(1);
        Tree { m: vec![n, r], w: vec![1, m], p: vec![1, trunk] }.generate(params)
    }
}

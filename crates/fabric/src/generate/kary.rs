//! k-ary n-trees.

use crate::{SpecError, Topology};

use super::pgft::Tree;
use super::{Family, Key, Params};

/// Generator of the family `kary`.
pub(super) struct KAry;

impl Family for KAry {
    fn name(&self) -> &'static str {
        "kary"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["karyn"]
    }

    fn summary(&self) -> &'static str {
        "k-ary n-tree: k^n hosts, n levels of k^(n-1) switches"
    }

    fn doc(&self) -> &'static str {
        "Every switch has k children and, below the top, k parents. It is \
         PGFT(n; k..k; 1,k..k; 1..1), so switches of the top level use half of their ports."
    }

    fn paper(&self) -> &'static str {
        "Petrini, Vanneschi, \"k-ary n-trees: high performance networks for massively parallel \
         architectures\", IPPS 1997"
    }

    fn keys(&self) -> &'static [Key] {
        const {
            &[
                Key::required("k", "children, and parents, of a switch"),
                Key::required("n", "levels"),
            ]
        }
    }

    fn example(&self) -> &'static str {
        "kary:k=4,n=3"
    }

    fn generate(&self, params: &Params) -> Result<Topology, SpecError> {
        let k = params.need("k", 1..=127)?;
        let n = params.need("n", 1..=15)? as usize;
        let mut w = vec![k; n];
        w[0] = 1;
        Tree { m: vec![k; n], w, p: vec![1; n] }.generate(params)
    }
}

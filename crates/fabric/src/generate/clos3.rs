//! Three-level folded Clos networks of one switch radix.

use crate::{SpecError, Topology};

use super::pgft::Tree;
use super::{Family, Key, Params};

/// Generator of the family `clos3`.
pub(super) struct Clos3;

impl Family for Clos3 {
    fn name(&self) -> &'static str {
        "clos3"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["fattree3"]
    }

    fn summary(&self) -> &'static str {
        "three-level folded Clos of radix-k switches with full bisection"
    }

    fn doc(&self) -> &'static str {
        "A pod is k/2 leaves with k/2 hosts each and k/2 middle switches, all joined; L = pods*k/2 \
         leaves make L*k/2 cables on either stage, and L/2 tops use all of their k ports. Every top \
         has k/pods parallel cables to one middle switch of each pod. It is PGFT(3; k/2,k/2,pods; \
         1,k/2,pods/2; 1,1,k/pods); k=36, pods=4 is Cab."
    }

    fn paper(&self) -> &'static str {
        "Leiserson, \"Fat-trees: universal networks for hardware-efficient supercomputing\", IEEE \
         Trans. Comput. C-34, 1985; dimensions as in Smith et al., \"Mitigating inter-job \
         interference using adaptive flow-aware routing\", SC'18"
    }

    fn keys(&self) -> &'static [Key] {
        const {
            &[
                Key::required("k", "ports of a switch; even"),
                Key::optional("pods", "pods; even, a divisor of k", "k"),
            ]
        }
    }

    fn example(&self) -> &'static str {
        "clos3:k=8,pods=4"
    }

    fn generate(&self, params: &Params) -> Result<Topology, SpecError> {
        let k = params.need("k", 2..=254)?;
        if k % 2 != 0 {
            return Err(params.bad("k", "an even number"));
        }
        let pods = params.get("pods", 1..=k)?.unwrap_or(k);
        if pods % 2 != 0 || k % pods != 0 {
            let fit: Vec<String> =
                (2..=k).filter(|p| p % 2 == 0 && k % p == 0).map(|p| p.to_string()).collect();
            return Err(params.bad("pods", format!("an even divisor of k: {}", fit.join(", "))));
        }
        Tree { m: vec![k / 2, k / 2, pods], w: vec![1, k / 2, pods / 2], p: vec![1, 1, k / pods] }
            .generate(params)
    }
}

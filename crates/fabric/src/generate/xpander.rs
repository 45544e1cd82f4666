//! Xpander: random lifts of complete graphs.

use crate::{SpecError, Topology};

use super::expander::{Draw, Expander, join};
use super::{Family, Key, Params};

/// Generator of the family `xpander`.
pub(super) struct Xpander;

impl Family for Xpander {
    fn name(&self) -> &'static str {
        "xpander"
    }

    fn summary(&self) -> &'static str {
        "Xpander: a random lift of the complete graph, d+1 metanodes of `lift` switches"
    }

    fn doc(&self) -> &'static str {
        "Each of the d+1 nodes of a complete graph becomes a metanode of `lift` switches, each of its \
         edges a random perfect matching between two metanodes: a switch has one cable to each other \
         metanode and none within its own. Should the lift fall apart, two cables of one matching \
         exchange ends. Equal seeds give equal fabrics on every machine. Switch s is in metanode \
         s/lift. Hosts are on ports 1..p, then the other metanodes in order. d=10, lift=21 has the 231 \
         switches of the netbench simulator's example."
    }

    fn paper(&self) -> &'static str {
        "Valadarsky, Shahaf, Dinitz, Schapira, \"Xpander: towards optimal-performance datacenters\", \
         CoNEXT'16"
    }

    fn keys(&self) -> &'static [Key] {
        const {
            &[
                Key::required("d", "cables of a switch to others"),
                Key::required("lift", "switches of a metanode"),
                Key::optional("p", "hosts of a switch", "1"),
                Key::optional("seed", "which random lift", "1"),
            ]
        }
    }

    fn example(&self) -> &'static str {
        "xpander:d=4,lift=3,p=2"
    }

    fn generate(&self, params: &Params) -> Result<Topology, SpecError> {
        let d = params.need("d", 2..=254)?;
        let lift = params.need("lift", 1..=65_535)?;
        let p = params.get("p", 0..=254)?.unwrap_or(1);
        let mut draw = Draw::new(params)?;
        let n = (d + 1) * lift;
        Expander { n, p, degree: d, lift: Some(lift) }.generate(params, || {
            let mut edges = Vec::with_capacity(n as usize * d as usize / 2);
            let mut to: Vec<u32> = (0..lift).collect();
            for (a, b) in (0..=d).flat_map(|a| (a + 1..=d).map(move |b| (a, b))) {
                draw.shuffle(&mut to);
                edges.extend((0..lift).zip(&to).map(|(i, &j)| (a * lift + i, b * lift + j)));
            }
            join(n, &mut edges, |edge| edge / lift as usize);
            edges
        })
    }
}

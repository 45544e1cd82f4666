//! Fat-tree routing on trees, whole or damaged.

use darkfiber_fabric::Fabric;

use super::balance::FirstCriterion;
use super::updn::{legal_routes, up_down_of_tree};
use crate::{Deadlock, Engine, FabricRequirement, Refusal, Request, Routes};

/// The engine `ftree`; see [`Engine::doc`].
pub(crate) struct FTree;

impl Engine for FTree {
    fn name(&self) -> &'static str {
        "ftree"
    }

    fn summary(&self) -> &'static str {
        "fat-trees, whole or damaged: each port serves its share of the destinations"
    }

    fn doc(&self) -> &'static str {
        "Levels come from --roots, from the fabric's shape, or from the distance to the switches with \
         hosts. Every destination is reached over one chain of least used down ports and all sources \
         climb towards that chain, so that on a full tree each down port of a leaf serves one \
         destination and each up port an equal share of them (the pattern of D-mod-k). Destinations of one leaf are kept \
         on channels apart before loads are balanced, so that shifts of all ranks meet little. On a damaged \
         tree sources that cannot climb to the chain take the least loaded other way; cables within a \
         level stay dark. Where damage has left hosts without a way up and down, paths to \
         them are those of updn, by way of one leaf; aggregation nodes on several roots reach each other in a \
         virtual layer of their own. Refuses a fabric \
         in which more than a tenth of the cables join switches of one level, and says which.\n\n\
         OpenSM's ftree refuses a tree with a missing cable unless roots are given, and any LMC; this \
         one takes both.\n\nComplexity: as sssp."
    }

    fn paper(&self) -> &'static str {
        "Zahavi, Johnson, Kerbyson, Lang: Optimized InfiniBand fat-tree routing for shift all-to-all \
         communication patterns, CCPE 22(2), 2010; OpenSM, doc/current-routing.txt"
    }

    fn needs(&self) -> FabricRequirement {
        FabricRequirement::Tree
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::Free
    }

    fn takes_roots(&self) -> bool {
        true
    }

    fn compute(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        let (_, updown) = up_down_of_tree(self, fabric, request)?;
        legal_routes(self.name(), fabric, request, &updown, FirstCriterion::Siblings)
    }
}

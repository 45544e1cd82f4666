//! Rail-optimised clusters: hosts with several NICs, each on a separate leaf.

use crate::{SpecError, Topology};

use super::pgft::Tree;
use super::planes::MAX_PLANES;
use super::{Family, Key, Params};

/// Generator of the family `rails`.
pub(super) struct Rails;

impl Family for Rails {
    fn name(&self) -> &'static str {
        "rails"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["railopt"]
    }

    fn summary(&self) -> &'static str {
        "rail-optimised AI cluster: NIC i of all hosts of a unit on one leaf, leaves joined by spines"
    }

    fn doc(&self) -> &'static str {
        "A scalable unit has hosts_per_unit hosts and a leaf for each of their NICs: host j of the unit \
         has NIC i on port j of leaf i, so that GPUs of equal rank are one switch apart. Every leaf of \
         every unit has `trunk` cables to each spine. With `pods` that is one pod, whose spines have \
         `core_trunk` cables to each of their `cores` core switches; the k-th spines of all pods share \
         theirs. As a tree it is PGFT(2; hosts_per_unit, nics*units; 1, spines; 1, trunk) with the NICs \
         as its hosts. spines=0 leaves the rails of one unit apart (rail-only): one switch each, and \
         each a plane; for rails of many switches give any other family planes=8."
    }

    fn paper(&self) -> &'static str {
        "NVIDIA, \"DGX SuperPOD: next generation scalable infrastructure for AI leadership\", reference \
         architecture RA-11333-001, 2023, compute fabric; rail-only: Wang et al., \"Rail-only: a \
         low-cost high-performance network for training LLMs with trillion parameters\", HOTI 2024"
    }

    fn keys(&self) -> &'static [Key] {
        const {
            &[
                Key::required("hosts_per_unit", "hosts of a scalable unit"),
                Key::required("spines", "spines of a pod; 0: none, every rail is a plane"),
                Key::optional("units", "scalable units of a pod", "1"),
                Key::optional("nics", "NICs of a host, leaves of a unit", "8"),
                Key::optional("trunk", "parallel cables from a leaf to a spine", "1"),
                Key::optional("pods", "pods", "1"),
                Key::optional("cores", "core switches of a spine", "1 with pods, else none"),
                Key::optional("core_trunk", "parallel cables from a spine to a core", "one each"),
            ]
        }
    }

    fn example(&self) -> &'static str {
        "rails:hosts_per_unit=4,units=2,nics=4,spines=2"
    }

    fn generate(&self, params: &Params) -> Result<Topology, SpecError> {
        let hosts = params.need("hosts_per_unit", 1..=254)?;
        let spines = params.need("spines", 0..=254)?;
        let nics = params.get("nics", 1..=MAX_PLANES)?.unwrap_or(8);
        if spines == 0 {
            for key in ["units", "pods"] {
                if params.get(key, 1..=u32::MAX)?.is_some_and(|n| n > 1) {
                    return Err(params.bad(key, "1 with spines=0, as nothing would join them"));
                }
            }
            for key in ["trunk", "cores", "core_trunk", "planes"] {
                if params.raw(key).is_some() {
                    return Err(params.bad(key, format!("no {key} with spines=0")));
                }
            }
            let rail = Tree { m: vec![hosts], w: vec![1], p: vec![1] };
            return rail.generate(&params.with("planes", nics));
        }
        let units = params.get("units", 1..=254)?.unwrap_or(1);
        let trunk = params.get("trunk", 1..=254)?.unwrap_or(1);
        let pods = params.get("pods", 1..=254)?.unwrap_or(1);
        let cores = params.get("cores", 1..=254)?;
        let core_trunk = params.get("core_trunk", 1..=254)?;
        let mut tree = Tree { m: vec![hosts, nics * units], w: vec![1, spines], p: vec![1, trunk] };
        if pods > 1 {
            tree.m.push(pods);
            tree.w.push(cores.unwrap_or(1));
            tree.p.push(core_trunk.unwrap_or(1));
        } else if cores.is_some() || core_trunk.is_some() {
            let key = if cores.is_some() { "cores" } else { "core_trunk" };
            return Err(params.bad(key, format!("no {key} without pods")));
        }
        tree.railed(params, nics)
    }
}

//! What hosts send to each other, as the program uses it.

use darkfiber_fabric::Fabric;
use darkfiber_operate::Digest;
use darkfiber_routing::Demand;

use crate::profiles::{Profiles, are_among, demands_of};
use crate::value::JobsValue;

/// What hosts send to each other, as it was given.
pub(crate) enum Sent {
    /// By pair of terminals; pairs that are not there send nothing.
    Pairs(Vec<Demand>),
    /// By pair of ranks, for each job.
    Profiles(Profiles),
}

/// What hosts send to each other.
pub(crate) struct DemandsValue {
    pub(crate) sent: Sent,
    pub(crate) digest: Digest,
    /// The fabric that they were read for.
    pub(crate) fabric: Digest,
}

impl DemandsValue {
    /// Demands of the jobs that run.
    pub(crate) fn demands(&self, jobs: &JobsValue, fabric: &Fabric) -> Vec<Demand> {
        match &self.sent {
            Sent::Pairs(pairs) => pairs.clone(),
            Sent::Profiles(profiles) => demands_of(profiles, jobs, fabric),
        }
    }

    /// Number of pairs that send.
    pub(crate) fn pairs(&self) -> u64 {
        match &self.sent {
            Sent::Pairs(pairs) => pairs.len() as u64,
            Sent::Profiles(profiles) => profiles.values().map(|m| m.entries().len() as u64).sum(),
        }
    }

    /// Whether all of it was known: jobs that ended took their profiles away.
    pub(crate) fn is_among(&self, known: &Self) -> bool {
        match (&self.sent, &known.sent) {
            (Sent::Profiles(new), Sent::Profiles(old)) => {
                self.fabric == known.fabric && are_among(new, old)
            }
            _ => self.fabric == known.fabric && self.digest == known.digest,
        }
    }
}

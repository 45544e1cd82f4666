//! Scheduling-aware routing: tables for the jobs that run.

use darkfiber_fabric::Fabric;

use super::dag::require_routable;
use super::job_tables::{Choice, JobRoutingContext, layered};
use super::others::served;
use crate::{Deadlock, Engine, FabricRequirement, Refusal, Request, Routes};

pub(super) const PAPER: &str =
    "Domke, Hoefler: Scheduling-Aware Routing for Supercomputers, SC'16, Algorithm 1";

/// Algorithm 1, by one choice of paths or another.
pub(crate) struct Sar {
    name: &'static str,
    summary: &'static str,
    doc: &'static str,
    choice: Choice,
}

pub(crate) static SAR: Sar = Sar {
    name: "sar",
    summary: "dfsssp for the jobs that run: paths inside jobs first, then those of all others",
    doc: "Compute terminals that run jobs are routed by falling size of the largest job on them, each on shortest \
          paths with the least sum of weights so far; only paths between terminals of one job add to the \
          weights, one each, however many jobs the two share. Ties go to the lower terminal and the lower \
          channel. Which jobs run is said with --jobs.\n\n\
          Table entries (switch, LID) on paths inside jobs stay as that chose them. All others are free, and \
          serve all pairs of terminals: they are chosen as in sssp around the entries that stay, whose load \
          counts, too; on lattices those of dfsssp are taken and balanced again. So the jobs have the paths of \
          Algorithm 1, and whatever starts next finds a balanced fabric. Where every compute terminal runs a \
          job, nothing is left to start, and the tables are Algorithm 1's to the last entry. Without jobs \
          they are those of dfsssp.\n\n\
          Virtual layers as in dfsssp, so hop counts are the same, too. Entries of two origins can take a lane \
          or two more than either; where --lanes do not suffice, fewer entries are balanced.\n\n\
          A job in the place of another on the same terminals gives the same tables.\n\n\
          Known weakness: a sum of weights lets many small loads outweigh a large one, so that on uniformly \
          random placements the fullest channel is fuller than under D-mod-k; where a job is a quarter of the \
          fabric that can be felt by all pairs. See sar-best.\n\n\
          Complexity: as dfsssp, plus the pairs inside jobs.",
    choice: Choice::Sum,
};

pub(crate) static SAR_MINMAX: Sar = Sar {
    name: "sar-minmax",
    summary: "as sar, by the fullest channel of a path before its sum",
    doc: "As sar, but of the shortest paths the one whose fullest channel is least full is taken, and of these \
          the one with the least sum. Not in the paper.\n\nComplexity: as sar.",
    choice: Choice::Fullest,
};

impl Engine for Sar {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn doc(&self) -> &'static str {
        self.doc
    }

    fn paper(&self) -> &'static str {
        PAPER
    }

    fn needs(&self) -> FabricRequirement {
        FabricRequirement::Any
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::Layers
    }

    fn follows_jobs(&self) -> bool {
        true
    }

    fn compute(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        require_routable(self.name, fabric, request)?;
        let work = JobRoutingContext::new(self.name, fabric, request);
        if work.all_run() {
            let routes = work.finish(work.running(self.choice), self.choice);
            return layered(routes, fabric, request, self.name);
        }
        served(self.name, (fabric, request), &work, work.running(self.choice))
    }
}

//! Logs of jobs that options name.

use darkfiber_fabric::Topology;
use darkfiber_report::replay::remarks;
use darkfiber_scenario::Folder;
use darkfiber_scenario::history::{HistoryPart, LoadedHistory, Window};
use darkfiber_workload::placement::{ALLOCATORS, Allocator};

use crate::failure::Failure;
use crate::options::{Common, HistoryArgs};
use crate::out::Teller;
use crate::{jobs, out};

impl HistoryArgs {
    /// The values of the options.
    pub(crate) fn part(&self) -> HistoryPart {
        HistoryPart {
            log: self.jobs.display().to_string(),
            aliases: self.aliases.as_ref().map(|path| path.display().to_string()),
            place: self.place.clone(),
            processors_per_host: self.processors_per_host,
            scale: Some(self.scale),
            whole: false,
        }
    }

    /// Reads the log, finds or chooses hosts for its jobs, and reports irregularities.
    pub(crate) fn load(
        &self,
        topology: &Topology,
        window: Window,
        common: &Common,
    ) -> Result<LoadedHistory, Failure> {
        let listener = &mut Teller::new(common);
        let (files, seed) = (Folder::default(), common.seed());
        let loaded = self.part().load(topology, window, seed, &files, listener)?;
        let name = self.jobs.display();
        if !common.quiet {
            for remark in remarks(&loaded.facts) {
                out::eprint_line(&format!("{name}: note: {remark}"));
            }
            jobs::report_unknown(&name.to_string(), &loaded.facts.unknown_nodes, common);
        }
        Ok(loaded)
    }
}

/// The allocator of a name that the user typed.
pub(crate) fn known_allocator(name: &str) -> Result<&'static Allocator, Failure> {
    Ok(ALLOCATORS.get(name)?)
}

//! A running fabric, and its counters.

use std::path::PathBuf;

use clap::Args;

use super::{BesideTables, JobsArgs, NamesArgs};

/// A fabric that runs, and what was counted on it.
#[derive(Args, Debug)]
pub(crate) struct CountedArgs {
    #[command(flatten)]
    pub(crate) names: NamesArgs,
    /// Fabric: a file, @preset or family:key=value,...
    #[arg(long, value_name = "FABRIC", requires = "routes", help_heading = COUNTED)]
    pub(crate) fabric: Option<String>,
    /// Its tables: a file, or a directory written by `darkfiber route -o`
    #[arg(long, value_name = "PATH", requires = "fabric", help_heading = COUNTED)]
    pub(crate) routes: Option<PathBuf>,
    #[command(flatten, next_help_heading = COUNTED)]
    pub(crate) beside: BesideTables,
    /// Traffic between hosts: a table with columns source, destination, bytes, and job if known; or demands as for
    /// route
    #[arg(long, value_name = "FILE", requires = "fabric", conflicts_with = "counters", help_heading = COUNTED)]
    pub(crate) sent: Option<PathBuf>,
    /// Port counters, in the order of time: perfquery -x, OpenSM's perfmgr dump, ibdiagnet's db_csv or .pm,
    /// Prometheus text of an exporter, or a table. Who sends
    /// what is estimated
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "fabric", help_heading = COUNTED)]
    pub(crate) counters: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) jobs: JobsArgs,
}

impl CountedArgs {
    /// An option that was given and is not for scenarios, which name all of that themselves.
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        let all = [
            ("--routes", self.routes.is_some()),
            ("--sent", self.sent.is_some()),
            ("--counters", !self.counters.is_empty()),
            ("--jobs", self.jobs.jobs.is_some()),
            ("--aliases", self.jobs.aliases.is_some()),
            ("--at", self.jobs.at.is_some()),
        ];
        let beside = self.beside.first_given();
        all.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name).or(beside)
    }
}

/// Heading of these options.
const COUNTED: &str = "Without a scenario";

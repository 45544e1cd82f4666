//! `darkfiber jobs`: what a batch system says, made fit for routing; and where jobs could be.

mod allocate;
mod filter;
mod report;

use clap::{Args, Subcommand};

use crate::failure::{Exit, Failure};
use crate::options::Common;

#[derive(Args, Debug)]
pub(crate) struct JobsCommand {
    #[command(subcommand)]
    pub(crate) action: JobsAction,
}

#[derive(Subcommand, Debug)]
pub(crate) enum JobsAction {
    /// Report whether jobs changed so that routing should follow, and write which nodes run jobs together
    #[command(after_help = filter::HELP)]
    Filter(filter::FilterCommand),
    /// Report which jobs share which links now, what stays dark, and what each engine would change
    #[command(after_help = report::HELP)]
    Report(report::ReportCommand),
    /// Allocate hosts: hostfiles for jobs, or a placement for the jobs of a log
    #[command(name = "allocate", alias = "place", after_help = allocate::HELP)]
    Allocate(allocate::AllocateCommand),
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
Examples:
  darkfiber jobs filter running --topology /etc/slurm/topology.conf \\
            --poll 'squeue -a -o \"%i %T %N\"'; [ $? = 1 ] &&
            darkfiber route my-fabric.topo -e sar --jobs running -o tables
  squeue --json > now; darkfiber jobs report --fabric my-fabric.topo --routes lfts.dump --jobs now
  darkfiber jobs allocate --fabric my-fabric.topo --hosts 28 --place best-fit --avoid now > hostfile";

pub(crate) fn run(args: &JobsCommand, common: &Common) -> Result<Exit, Failure> {
    match &args.action {
        JobsAction::Filter(args) => filter::run(args, common),
        JobsAction::Report(args) => report::run(args, common),
        JobsAction::Allocate(args) => allocate::run(args, common),
    }
}

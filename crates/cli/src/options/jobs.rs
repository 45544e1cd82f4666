//! Jobs that run, and jobs over time.

use std::path::PathBuf;

use clap::Args;

use super::values::above_zero;

/// Which jobs run.
#[derive(Args, Debug, Default)]
pub(crate) struct JobsArgs {
    /// Jobs and their nodes: SLURM's squeue, scontrol, sacct or JSON, PBS, JSON of Flux or LSF, Batsim, SWF with nodes, or a
    /// file with `node job` on each line; recognised by content
    #[arg(long, value_name = "FILE", help_heading = "Job options")]
    pub(crate) jobs: Option<PathBuf>,
    /// Other names of hosts: an alias and the name or GUID in the fabric on each line, in any order; `@group hosts`
    /// names several
    #[arg(long, value_name = "FILE", requires = "jobs", help_heading = "Job options")]
    pub(crate) aliases: Option<PathBuf>,
    /// Jobs running at this time of the log: a date, or a time after its first job started (10d)
    #[arg(long, value_name = "WHEN", requires = "jobs", value_parser = crate::moment::when, help_heading = "Job options")]
    pub(crate) at: Option<crate::moment::LogMoment>,
}

/// Jobs over time.
#[derive(Args, Debug)]
pub(crate) struct HistoryArgs {
    /// Log of jobs: sacct -P, SWF, PBS, Batsim, OAR, SLURM's JSON; recognised by content
    #[arg(long, value_name = "LOG", help_heading = "Job options")]
    pub(crate) jobs: PathBuf,
    /// Other names of hosts: an alias and the name or GUID in the fabric on each line, in any order; `@group hosts`
    /// names several
    #[arg(long, value_name = "FILE", help_heading = "Job options")]
    pub(crate) aliases: Option<PathBuf>,
    /// Place jobs by an allocator (`darkfiber list allocators`), wherever they ran [default: where they
    /// ran; first-fit if the log does not say]
    #[arg(long, value_name = "ALLOCATOR", help_heading = "Job options")]
    pub(crate) place: Option<String>,
    /// Processors of a host, for jobs that are placed [default: as the log's header says, else 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536), help_heading = "Job options")]
    pub(crate) processors_per_host: Option<u32>,
    /// Multiply the hosts of jobs that are placed, for a machine of another size; jobs smaller than a host come as
    /// many times as often instead
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = above_zero, help_heading = "Job options")]
    pub(crate) scale: f64,
}

//! The content of a text report of mpiP.

use darkfiber_workload::CommMatrix;

/// The parts of a report that are read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Command line of the program.
    pub command: String,
    /// By task, the node that it ran on.
    pub nodes: Vec<String>,
    /// By task, seconds of the program, and of these in MPI.
    pub times: Vec<(f64, f64)>,
    /// Places in the program that call MPI.
    pub sites: Vec<Site>,
    /// Traffic of tasks by call site.
    pub sent: Vec<TaskTraffic>,
    /// Bytes between tasks, of reports that say so.
    pub matrix: Option<CommMatrix>,
}

/// A place in the program that calls MPI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Number in the report.
    pub id: u32,
    /// File and line or address, and function.
    pub place: String,
    /// The call, without `MPI_`.
    pub call: String,
}

/// Traffic of a task from a call site.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskTraffic {
    /// The call, without `MPI_`.
    pub call: String,
    /// Number of the call site.
    pub site: u32,
    /// Rank of the task.
    pub rank: u32,
    /// Number of calls.
    pub count: u64,
    /// Bytes of a call on average.
    pub mean: f64,
    /// Bytes of all calls, to the four digits that reports have.
    pub sum: f64,
}

//! Communication of the ranks of a job: schedules, traces of MPI calls, and communication matrices.
//!
//! | module | what | becomes |
//! |---|---|---|
//! | [`goal`], [`goal_binary`] | GOAL of LogGOPSim | [`Schedule`] |
//! | [`chakra`] | execution traces of Chakra | [`OpGraph`] |
//! | [`torch`] | traces of `torch.profiler` | [`OpGraph`] |
//! | [`simgrid`] | time-independent traces of SimGrid | [`MpiTrace`] |
//! | [`dumpi`] | traces of DUMPI, binary or made text by dumpi2ascii | [`MpiTrace`] |
//! | [`matrix`] | graphs of mpiP, tables, lists | [`CommMatrix`] |
//! | [`mpip`] | reports of mpiP | [`mpip::Report`] |
//!
//! [`open()`] recognises them by their content, in single files, folders and tar archives.
//!
//! [`Schedule`]: darkfiber_workload::schedule::Schedule
//! [`OpGraph`]: darkfiber_workload::trace::OpGraph
//! [`MpiTrace`]: darkfiber_workload::trace::MpiTrace
//! [`CommMatrix`]: darkfiber_workload::CommMatrix

mod bytes;
pub mod chakra;
pub mod dumpi;
pub mod goal;
pub mod goal_binary;
pub mod list;
pub mod matrix;
pub mod mpip;
mod mpip_report;
mod open;
mod run;
pub mod simgrid;
mod tar;
pub mod torch;
mod values;
mod wire;

pub use open::{FORMS, detect, open, read};
pub use run::{File, Head, Options, Read, ReadBy, ReadRun, ScheduleFormat};

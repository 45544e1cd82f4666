//! What ran on a fabric, as other programs have written it: logs of jobs, schedules and traces of their ranks, and dumps of NCCL.
//!
//! Readers are like those of [`darkfiber_formats`], which reads the fabrics: they return what they could read plus
//! [`Diagnostics`](darkfiber_formats::Diagnostics), and fail only on "this is not such a file".
//!
//! ```
//! use darkfiber_traces::jobs;
//!
//! let log = "JOBID|USER|STATE|START_TIME|END_TIME|NODELIST\n4711|ada|RUNNING|1700000000|1700003600|cn[01-02]\n";
//! assert_eq!(jobs::detect(log).map(|log| log.name), Some("squeue"));
//! ```

pub mod jobs;
pub mod nccl;
pub mod schedules;

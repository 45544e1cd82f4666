//! Scenarios: a fabric, its routes, jobs placed on it, and their traffic.
//!
//! A [`ScenarioFile`] is the content of a file, as typed values whose errors name lines. [`ScenarioFile::resolve`] finds and
//! makes everything that it names: a [`Case`], which [runs](Case::run) at any [depth](Depth).
//!
//! ```
//! use std::path::Path;
//!
//! use darkfiber_scenario::{Depth, Folder, ScenarioFile};
//!
//! # std::env::set_current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))?;
//! let path = Path::new("examples/incast.toml");
//! let mut file = ScenarioFile::read(path)?;
//! file.scenario.depth = Depth::Flow;
//! let case = file.resolve(&Folder::of(path), &mut ())?;
//! assert_eq!((case.title.as_str(), case.tables.routes.engine.as_str()), ("An incast beside Allreduces", "minhop"));
//!
//! let mut messages = 0;
//! let result = case.run(None, &mut |_record| messages += 1)?;
//! for (job, runs) in case.jobs.iter().zip(&result.runs) {
//!     let microseconds = (runs[0].end - runs[0].begin) as f64 / 1e6;
//!     println!("{}: {} ranks, {microseconds:.1} us", job.name, job.play.program.ranks());
//! }
//! assert!(messages > 10_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod case;
mod chain;
mod class_totals;
mod classes;
mod congestion_part;
mod count;
mod drive;
mod error;
mod error_text;
mod estimate;
pub mod fabric;
pub mod faults;
mod file;
mod files;
mod flow_times;
mod flows;
mod hashing;
pub mod history;
pub mod job_log;
mod jobs;
mod kept_state;
mod lane_fault;
mod lines;
mod listener;
pub mod log_facts;
mod logged_jobs;
mod medium;
pub mod memory;
pub mod moment;
mod packets;
mod pairs;
pub mod participants;
mod path_choice;
mod pause_storm;
mod planes;
mod resolve;
mod run;
mod scenario_file;
mod schema;
mod setup;
mod skipped;
mod steps;
mod striped;
pub mod tables;
mod unused;
mod update;
mod update_part;
mod update_run;
pub mod value;

pub use case::{Case, Tables};
pub use chain::{Chain, reason};
pub use class_totals::ClassTotals;
pub use classes::MessageClass;
pub use congestion_part::CongestionPart;
pub use error::{Error, ErrorKind};
pub use estimate::Estimate;
pub use fabric::{FabricSource, Loaded, Recognised};
pub use file::{
    AdaptivePart, ClassPart, CostPart, Depth, EngineInput, JobPart, KeepPart, LidsPart,
    PacketsPart, RoutesPart, Scenario, ShortPart,
};
pub use files::{Files, Folder, Memory};
pub use hashing::Hashing;
pub use jobs::{Job, aliases, program, rank_terminals, refuse_shared};
pub use lane_fault::LaneFaultPart;
pub use listener::Listener;
pub use medium::{Effort, Medium, PacketOptions, Sharing};
pub use packets::channels;
pub use pairs::{Pair, Pairs};
pub use pause_storm::{PauseStormPart, PfcPart};
pub use planes::PlanePart;
pub use run::{demanded, isolated, places, sent, simulate, simulate_until};
pub use scenario_file::{ScenarioFile, fabric_instead};
pub use schema::schema;
pub use setup::{Setup, SimError, Simulated, Until};
pub use steps::{Counted, counted};
pub use update::{UpdateCase, UpdateOutcome, mended};
pub use update_part::{HowPart, UpdateFaultPart, UpdatePart};

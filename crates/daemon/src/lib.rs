//! The program around the state machine of `darkfiber-operate`: it reads a fabric, the tables in place and the running jobs,
//! does the work that the machine requests, keeps its journal, places plans for OpenSM's engine `file`, and answers operators
//! and monitors.
//!
//! One thread owns the state (`owner`). Each input has a thread (`poll`), work has one (`worker`), and requests have
//! theirs (`control`, `http`); all of them send it `event::Event`s.
//!
//! ```
//! use std::path::Path;
//!
//! // Whoever asks a daemon that does not run hears so.
//! let nobody = darkfiber_daemon::ask(Path::new("/nonexistent/darkfiber.sock"), "status");
//! assert!(nobody.is_err());
//! ```

mod actuator;
mod alarm;
mod book_maker;
mod cables;
mod children;
mod config;
mod config_file;
mod console;
mod control;
mod demands;
mod event;
mod fabric_guids;
mod fault_book;
mod fetch;
mod http;
mod inputs;
mod kept_tables;
mod load;
mod lost;
mod map_page;
mod notify;
mod opensm_log;
mod overdue_inputs;
mod owner;
mod plan_files;
mod plan_image;
mod plugin;
mod poll;
mod port_events;
mod profiles;
mod proof;
mod proposal;
mod question;
mod questions;
mod read;
mod reference;
mod rehearse;
mod repairs;
mod report;
mod restore;
mod router;
mod run;
mod snapshot;
mod standby;
mod store;
mod switch_writer;
mod tables_digest;
mod tables_input;
mod top;
mod value;
mod work;
mod worker;

pub use alarm::TopAlarm;
pub use config::Config;
pub use console::Console;
pub use control::{ask, ask_within};
pub use rehearse::{DayEvents, Rehearsal};
pub use report::schemas;
pub use run::{Stop, run};
pub use store::{ReviewedJournal, replay, review};

pub use darkfiber_operate::{DecisionOutcome, DecisionParts, ReviewedDecision, Trigger};
pub use top::{Top, TopChannel, TopJob};

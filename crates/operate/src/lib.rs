//! Operation together with a running OpenSM and SLURM, decided by a state machine.
//!
//! [`step`] takes a [`State`], a time and an [`Input`], and returns the next state and the [`Action`]s to do: no I/O, no clock, no
//! globals. The caller writes a [`journal::Step`] to disk first and acts afterwards, so that a state always agrees with the
//! journal, and [`journal::replay`] gives the same actions again.
//!
//! Fabrics, tables and lists of jobs are named by [`Digest`]s. Computations on them are requested as [`Action::Work`] and
//! come back as [`Input::Done`] with the generation in which they were requested; a change meanwhile makes the result
//! void.
//!
//! Safety rules, each guarded by the simulation in `tests/it`:
//!
//! - S1: a plan is committed only after its verdict came back, from other work than found it.
//! - S2: the fabric at that moment is the one that the verdict is about, and so are the tables in place.
//! - S3: one plan is in flight.
//! - S4: a step is in the journal before its actions are done.
//! - S5: a question of OpenSM is answered within its budget, if necessary with `None`.
//! - S6: after two mismatches or two sweeps with a foreign engine within ten minutes nothing is changed until an operator
//!   allows it.
//! - S7: without this program OpenSM routes as it is configured: it does not depend on anything here.
//! - S8: if a standby subnet manager does not have the plan, no plans are made for jobs.
//! - S9: an engine list of OpenSM that ends in `minhop` prevents all changes.
//!
//! Modes that change something are [`Mode::ApplyFaults`] and [`Mode::Apply`]. OpenSM's engine `file` sends no
//! questions; [`Input::Asked`] is the question of the plugin at each heavy sweep.
//!
//! ```
//! use darkfiber_operate::{Input, Mode, Policy, State, step};
//!
//! let started = Input::Started { mode: Mode::Observe, policy: Policy::default(), engines: Vec::new() };
//! let (state, _) = step(&State::default(), 0, &started);
//! // The same input gives the same state and the same actions, whoever asks.
//! assert_eq!(step(&State::default(), 0, &started).0, state);
//! ```

mod action;
mod by_hand;
mod decision;
mod engines;
mod explain;
mod fault;
mod full_route;
mod input;
pub mod journal;
mod machine;
mod mode;
mod place;
mod propose;
mod question;
mod review;
mod state;
mod step;
mod value;

pub use action::{Action, Level, Task};
pub use darkfiber_routing::transition::Rung;
pub use decision::{Candidate, Decision, DecisionOutcome, Measure, Trigger, Verdict};
pub use engines::{EnginesRefused, engines_allowed};
pub use explain::explain;
pub use input::{Command, Input, Ready, WorkResult};
pub use mode::{FullRoute, Mode, Policy};
pub use review::{DecisionParts, ReviewedDecision, review};
pub use state::{BadInput, FreezeReason, Measured, Phase, PlanInFlight, Question, State};
pub use step::step;
pub use value::{Digest, InputSource, Millis, PlanId};

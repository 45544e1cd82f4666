//! Studies: one scenario over axes of its keys, and questions that are asked of every cell.
//!
//! A [`StudyFile`] is a scenario some of whose keys have a list where a value belongs, and a `[study]` table that says what is asked:
//! questions of a [registry](QUESTIONS), how many seeds, which axes go together. [`run`] answers all cells, side by side; fabrics and
//! tables are shared between cells that name the same.

mod axis;
mod cell;
mod expect;
mod file;
mod find;
mod group;
mod kept;
mod keys;
mod means;
mod params;
mod part;
mod plan;
pub mod preset;
mod progress;
mod question;
mod questions;
mod row;
mod run;
mod table;
mod until;
mod wanted;

pub use axis::Axis;
pub use cell::{Cell, Prepared};
pub use expect::{Compare, Each, ExpectPart, Take};
pub use file::{StudyFile, StudyKeys};
pub use kept::KeptRuns;
pub use params::Params;
pub use part::{FindPart, QuestionPart, StudyPart, UntilPart};
pub use plan::Alike;
pub use question::{Ask, Asked, ColumnOf, QUESTIONS, Question, Scope};
pub use questions::latency::Curve;
pub(crate) use questions::routes::RoutesFound;
pub use row::{Answer, Detail, Details, Record, Value};
pub use run::{Answered, Hooks, Ready, Shard, Store, Unkept, answer, run};
pub use table::{RowOf, Table};

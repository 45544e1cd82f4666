//! Studies: one scenario over axes of its keys, and questions about every cell.
//!
//! A [`StudyFile`] is a scenario some of whose keys have a list in place of a value, and a `[study]` table with questions of a
//! [registry](QUESTIONS), the number of seeds, and the axes that go together. [`run`] answers all cells in parallel; fabrics and
//! tables are shared between cells that name the same.

mod axis;
mod cell;
mod current;
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
pub use plan::CellGroup;
pub use question::{CellContext, ColumnOf, QUESTIONS, Question, Scope, ScopedQuestion};
pub use questions::latency::Curve;
pub(crate) use questions::routes::RoutesFound;
pub use row::{Answer, Detail, Details, Record, Value};
pub use run::{Answered, Hooks, NullStore, Ready, Shard, Store, answer, run};
pub use table::{RowOf, Table};

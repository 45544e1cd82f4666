//! The result of `darkfiber simulate` of several scenarios: their jobs side by side.

mod bars;
mod result;

pub use bars::bars;
pub use result::{
    CompareResult, ComparedJob, JobInScenario, RunDifference, RunMean, ScenarioError, ScenarioRow,
};

//! The result of `darkfiber simulate` of several scenarios: a comparison of their jobs.

mod bars;
mod result;

pub use bars::bars;
pub use result::{
    CompareResult, ComparedJob, JobInScenario, RunDifference, RunMean, ScenarioError, ScenarioRow,
};

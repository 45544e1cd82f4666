//! `--estimate`: how long a run will take.

use std::time::Duration;

use darkfiber_report::estimate::EstimateResult;
use darkfiber_scenario::{Case, Error};

use crate::commands::metrics;
use crate::failure::{Exit, Failure};
use crate::options::Common;
use crate::{process, provenance};

/// For how long a run is looked at.
const LOOK: Duration = Duration::from_secs(5);

/// Begins the run, ends it, and says how long all of it takes. What is wrong with the scenario comes back apart from what is
/// wrong with the answer.
///
/// `prepared` is how long it took to come here.
pub(super) fn run(
    case: &Case,
    prepared: Duration,
    common: &Common,
) -> Result<Result<Exit, Failure>, Error> {
    let found = case.estimate(LOOK)?;
    let result = EstimateResult {
        title: &case.title,
        depth: case.medium.depth().to_string(),
        messages: found.messages,
        bytes: found.bytes,
        is_repeated: case.is_repeated(),
        looked_seconds: found.looked,
        done: found.done,
        wall_seconds: found.seconds,
        is_at_most: found.done < 1.0 && case.may_repeat(),
        prepared_seconds: prepared.as_secs_f64(),
        memory_bytes: process::most_memory().map(|most| most + found.kept),
        fabric: &metrics::of_loaded(&case.loaded),
        provenance: &provenance::of(case.fabric(), common),
    };
    Ok(common.show(&result).map(|()| Exit::Fine))
}

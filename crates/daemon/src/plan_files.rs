//! Paths of the files of plans.

use std::path::{Path, PathBuf};

use darkfiber_operate::PlanId;

use crate::config::Config;

/// The folder of a proposal.
pub(crate) fn folder(config: &Config, plan: PlanId) -> PathBuf {
    config.state.join("plans").join(plan.to_string())
}

/// The tables that were in place before the plan in a folder; a set of tables has no place for them.
pub(crate) fn tables_before(dir: &Path) -> PathBuf {
    dir.with_extension("before")
}

/// The folder of the tables that were complete last before the repair in a folder, of the fabric that there was then.
pub(crate) fn tables_whole(dir: &Path) -> PathBuf {
    dir.with_extension("whole")
}

/// The mark of a plan that was put where OpenSM finds it.
pub(crate) fn placed(plans: &Path, plan: PlanId) -> PathBuf {
    plans.join(format!("{plan}.placed"))
}

/// Whether a plan was put where OpenSM finds it.
pub(crate) fn was_placed(plans: &Path, plan: PlanId) -> bool {
    placed(plans, plan).exists()
}

/// The tables of a stage of the plan in a folder that is not its last.
pub(crate) fn tables_of_stage(dir: &Path) -> PathBuf {
    dir.with_extension("stage")
}

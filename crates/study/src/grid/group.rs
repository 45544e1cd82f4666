//! Groups of cells with the same fabric, and with the same tables.

use darkfiber_scenario::{EngineInput, Scenario};

/// All that the fabric of a scenario depends on before anything fails, in words.
pub(super) fn whole_key(s: &Scenario) -> String {
    format!(
        "{:?}",
        (&s.fabric, &s.compute, &s.storage, s.plane, s.hosts_per_switch, &s.node_name_map)
    )
}

/// All that fails in it, in words.
pub(super) fn faults_key(s: &Scenario) -> String {
    let draws = s.fail_links.is_some_and(|n| n > 0) || s.fail_percent.is_some_and(|p| p.0 > 0.0);
    let seed = draws.then_some(s.seed);
    format!("{:?}", (s.fail_links, s.fail_percent, &s.fail, s.symbol_errors, seed))
}

/// All that its tables depend on besides the fabric. Engines that follow jobs depend on those, too.
pub(super) fn tables_key(s: &Scenario) -> String {
    let chain = s.routes.engine.as_ref();
    let follows = s.routes.follow == EngineInput::Jobs
        && chain.is_some_and(|c| c.engines.iter().any(|e| e.follows_jobs() || e.follows_demands()));
    let jobs = follows.then_some((&s.jobs, &s.aliases));
    format!("{:?}", (&s.routes, s.seed, &s.update, jobs))
}

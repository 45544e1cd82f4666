//! A decision in plain words.

use std::fmt::Write as _;

use crate::decision::{Decision, DecisionOutcome, Trigger};

/// Explains a decision in some lines: its trigger, candidate and proof, its costs and gains, and its outcome.
pub fn explain(decision: &Decision) -> String {
    let d = decision;
    let mut text = format!("decision {}: {}\n", d.id, d.outcome.name());
    let mut line = |key: &str, value: &str| {
        let _infallible = writeln!(text, "  {key:<12} {value}");
    };
    line(
        "because",
        match d.trigger {
            Trigger::Jobs => "jobs started, or what they run on or send changed",
            Trigger::Operator => "an operator asked for a proposal",
            Trigger::Counters => "counters show a hot channel",
            Trigger::Fault => "the fabric or its tables changed",
            Trigger::Question => "OpenSM asked for a plan",
            Trigger::Recall => "an operator asked for the tables of an earlier time",
        },
    );
    let jobs = d.jobs.map_or_else(|| "not known".to_owned(), |jobs| jobs.to_string());
    line("fabric", &d.fabric.to_string());
    line("tables", &format!("{} in place", d.from));
    line("jobs", &format!("{} running, list {jobs}", d.running));
    if let Some(demands) = d.demands {
        line("demands", &demands.to_string());
    }
    if let Some(few) = d.instead_of {
        line("considered", &format!("decision {few}: few entries in place of tables made anew"));
    }
    if let Some(c) = &d.candidate {
        let bound = c.bound.map_or_else(String::new, |b| format!("; no tables have less than {b}"));
        line(
            "gain",
            &format!(
                "{:.1} %: {} {} -> {}{bound}",
                100.0 * c.gain(),
                c.measure.words(),
                c.kept,
                c.proposed
            ),
        );
        let stages = match c.stages.len() {
            0 => "nothing changes".to_owned(),
            1 => "in one sweep".to_owned(),
            n => format!("in {n} stages"),
        };
        line("cost", &format!("{} entries, {} blocks, {stages}", c.entries, c.blocks));
        if c.withheld > 0 {
            line("withheld", &format!("{} changes that would take more stages", c.withheld));
        }
        line("new tables", &c.tables.to_string());
    }
    if let Some(v) = &d.verdict {
        line("proved", &format!("{}; {} pairs take another path", v.rung.name(), v.pairs_changed));
        for obligation in &v.obligations {
            line("", obligation);
        }
    }
    let is_stuck = d
        .verdict
        .as_ref()
        .zip(d.candidate.as_ref())
        .is_some_and(|(v, c)| !v.allows(c.stages.len()));
    if d.trigger.is_damage() && is_stuck && matches!(d.outcome, DecisionOutcome::Kept { .. }) {
        line(
            "what helps",
            "the cable or switch back; or, while no job sends, tables that `darkfiber reroute -o` makes of those",
        );
        line("", "in place, written by hand: without traffic nothing can deadlock on the way");
    }
    if let DecisionOutcome::Kept { why } | DecisionOutcome::Dropped { why } = &d.outcome {
        line(d.outcome.name(), why);
    }
    text
}

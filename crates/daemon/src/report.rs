//! The state for people and for monitors.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use darkfiber_operate::{
    Decision, DecisionOutcome, Digest, InputSource, Measure, Millis, Phase, State,
};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;

/// The state in a few lines; `unknown` says which nodes of jobs are left aside, `is_lame` that the journal cannot be written.
pub(crate) fn status(state: &State, site: &str, unknown: Option<String>, is_lame: bool) -> String {
    let mut text = String::new();
    let mut line = |key: &str, value: String| {
        let _infallible = writeln!(text, "{key:<10} {value}");
    };
    let paused = if state.paused { ", paused" } else { "" };
    line("site", format!("{site}, mode {}{paused}", state.mode.name()));
    let why = match &state.phase {
        Phase::Frozen { why } => format!(" ({why:?})"),
        _ => String::new(),
    };
    line("phase", format!("{}{why}", state.phase.name()));
    let digest =
        |d: Option<Digest>| d.map_or_else(|| "not known yet".to_owned(), |d| d.to_string());
    let (switches, terminals) = state.size;
    line("fabric", format!("{}, {switches} switches, {terminals} terminals", digest(state.fabric)));
    let plan = state.in_place.map_or_else(String::new, |p| format!(", those of plan {p}"));
    line("tables", format!("{}{plan}", digest(state.tables)));
    line("jobs", format!("{}, {} running", digest(state.jobs), state.running));
    if let Some(unknown) = unknown {
        line("left aside", unknown);
    }
    if let Some(demands) = state.demands {
        line("demands", demands.to_string());
    }
    if let Some(m) = &state.measured {
        let bound = m.bound.map_or_else(String::new, |b| format!(", bound {b}"));
        line("jobs meet", format!("{} {}{bound}", m.measure.words(), m.efi));
    }
    if state.damaged {
        let what = if state.retry.is_some() {
            "pairs are lost, and mended tables could not be written: that is tried again"
        } else {
            "pairs are lost, and no safe way to mended tables was found"
        };
        line("damaged", what.to_owned());
    }
    if is_lame {
        line(
            "journal",
            "cannot be written: this is what was known before, and nothing is done".to_owned(),
        );
    }
    if let Some(what) = &state.disk {
        line("disk", format!("the state folder cannot be written, and nothing is done: {what}"));
    }
    if !state.standby {
        line("standby", "a subnet manager that stands by lacks the plan".to_owned());
    }
    for (source, bad) in state.bad.iter().filter(|(_, bad)| bad.in_a_row > 0) {
        line(
            "bad input",
            format!("{}: {} times in a row: {}", source.name(), bad.in_a_row, bad.what),
        );
    }
    for d in state.decisions.iter().rev().take(5) {
        let gain = d.candidate.as_ref().map_or_else(String::new, |c| {
            format!(", gain {:.1} %, {} entries, {} blocks", 100.0 * c.gain(), c.entries, c.blocks)
        });
        line("decision", format!("{} {}{gain}", d.id, d.outcome.name()));
    }
    text
}

/// The state as JSON: `/status`, and `darkfiber operate status --format json`.
#[derive(JsonSchema, Serialize)]
struct StatusPage<'a> {
    /// Name of the site.
    site: &'a str,
    /// Name of the phase: what the program does.
    phase: &'static str,
    /// Size of the journal, bytes.
    journal_bytes: u64,
    /// All that the program remembers. Times are milliseconds since 1970.
    state: &'a State,
}

/// JSON Schemas of what the program says: `status`, and `decision` for `explain --format json`. `docs/schema/NAME.json` holds a copy.
pub fn schemas() -> [(&'static str, Schema); 2] {
    [of::<StatusPage<'_>>("status"), of::<Decision>("decision")]
}

fn of<T: JsonSchema>(name: &'static str) -> (&'static str, Schema) {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    schema.insert("title".to_owned(), name.into());
    (name, schema)
}

pub(crate) fn status_json(state: &State, site: &str, journal_bytes: u64) -> String {
    let phase = state.phase.name();
    serde_json::to_string(&StatusPage { site, phase, journal_bytes, state }).unwrap_or_default()
}

/// Numbers in the text form of OpenMetrics.
pub(crate) fn metrics(state: &State, journal_bytes: u64, totals: &Totals) -> String {
    let mut text = String::new();
    let mut family = |name: &str, kind: &str, help: &str, rows: &[(String, f64)]| {
        let name = format!("darkfiber_operate_{name}");
        let _infallible = writeln!(text, "# TYPE {name} {kind}\n# HELP {name} {help}");
        let suffix = if kind == "counter" { "_total" } else { "" };
        for (labels, value) in rows {
            let _infallible = writeln!(text, "{name}{suffix}{labels} {value}");
        }
    };
    let plain = |value: f64| vec![(String::new(), value)];
    let phases = [
        "starting",
        "auditing",
        "watching",
        "working",
        "proving",
        "committing",
        "confirming",
        "draining",
        "frozen",
    ];
    let is = |yes: bool| if yes { 1.0 } else { 0.0 };
    let rows: Vec<_> = phases
        .iter()
        .map(|p| (format!("{{phase=\"{p}\"}}"), is(*p == state.phase.name())))
        .collect();
    family("phase", "gauge", "What the program does: 1 at the phase that it is in.", &rows);
    let mode = vec![(format!("{{mode=\"{}\"}}", state.mode.name()), 1.0)];
    family("mode", "gauge", "How far the program may go.", &mode);
    family("paused", "gauge", "1 while it is paused.", &plain(is(state.paused)));
    let help = "1 while pairs are lost, and no safe way to mended tables was found or these could not be written.";
    family("damaged", "gauge", help, &plain(is(state.damaged)));
    let standby = plain(is(state.standby));
    family("standby_has_plan", "gauge", "0 if a standby subnet manager lacks the plan.", &standby);
    family("jobs", "gauge", "Jobs that run.", &plain(f64::from(state.running)));
    let (mut efi, mut demand, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    let mut load = |measure: Measure, which: &str, load: u64| {
        let rows = match measure {
            Measure::EffectiveEfi => &mut efi,
            Measure::Demand => &mut demand,
            Measure::Bytes => &mut bytes,
        };
        rows.push((format!("{{which=\"{which}\"}}"), load as f64));
    };
    if let Some(m) = &state.measured {
        load(m.measure, "kept", m.efi);
    }
    let proposed = state.decisions.iter().rev().find(|d| d.outcome == DecisionOutcome::Proposed);
    // A proposal for jobs that have ended says nothing of those that run: what is kept is not measured then, either.
    let proposed = proposed.filter(|_| state.measured.is_some());
    if let Some(c) = proposed.and_then(|d| d.candidate.as_ref()) {
        load(c.measure, "proposed", c.proposed);
    }
    family("effective_efi", "gauge", "Most routes inside jobs on a channel.", &efi);
    family("demand", "gauge", "Most demand on a channel.", &demand);
    family("bytes", "gauge", "Most bytes on a channel, as estimated from counters.", &bytes);
    let bad: Vec<_> = InputSource::ALL
        .iter()
        .chain(&[InputSource::Counters, InputSource::Demands])
        .map(|s| {
            let total = state.bad.get(s).map_or(0, |b| b.total);
            (format!("{{source=\"{}\"}}", s.name()), total as f64)
        })
        .collect();
    family("inputs_bad", "counter", "Readings that could not be used.", &bad);
    family(
        "steps",
        "counter",
        "Steps in the journal since the start.",
        &plain(totals.steps as f64),
    );
    let plans: Vec<_> = totals
        .plans
        .iter()
        .map(|(result, &n)| (format!("{{result=\"{result}\"}}"), n as f64))
        .collect();
    family("plans", "counter", "Decisions since the start, by what came of them.", &plans);
    let heard: Vec<_> = totals
        .heard
        .iter()
        .map(|(source, &at)| (format!("{{source=\"{}\"}}", source.name()), at as f64 / 1e3))
        .collect();
    let help = "When an input was last read, in seconds since 1970.";
    family("last_reading_timestamp_seconds", "gauge", help, &heard);
    family("alarms", "counter", "Alarms since the start.", &plain(totals.alarms as f64));
    family("journal_bytes", "gauge", "Size of the journal.", &plain(journal_bytes as f64));
    let failures = plain(totals.unwritten as f64);
    family("journal_failures", "counter", "Steps that could not be written.", &failures);
    text.push_str("# EOF\n");
    text
}

/// Counts since the start of the program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) steps: u64,
    pub(crate) alarms: u64,
    pub(crate) unwritten: u64,
    /// When each input was last read.
    pub(crate) heard: BTreeMap<InputSource, Millis>,
    /// Number of decisions by outcome.
    plans: BTreeMap<&'static str, u64>,
}

impl Totals {
    /// Counts the decisions of which something came in a step.
    pub(crate) fn count(&mut self, before: &State, after: &State) {
        for decision in &after.decisions {
            let was = before.decision(decision.id).map_or("open", |d| d.outcome.name());
            let is = decision.outcome.name();
            if was != is {
                *self.plans.entry(is).or_default() += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    /// Names of metrics in a text.
    fn names(text: &str) -> BTreeSet<&str> {
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        text.match_indices("darkfiber_operate_")
            .map(|(at, _)| {
                let rest = &text[at..];
                rest.find(|c| !is_of_name(c)).map_or(rest, |end| &rest[..end])
            })
            .collect()
    }

    /// After a change that is meant: `DARKFIBER_UPDATE_DOCS=1 cargo test -p darkfiber-daemon schemas`.
    #[test]
    fn docs_hold_the_schemas() {
        for (name, schema) in schemas() {
            let made = serde_json::to_string_pretty(&schema).expect("JSON") + "\n";
            let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
            let file = docs.join(format!("{name}.json"));
            if std::env::var_os("DARKFIBER_UPDATE_DOCS").is_some() {
                std::fs::write(&file, &made).expect("a file");
            }
            let kept = std::fs::read_to_string(&file).unwrap_or_default();
            assert!(kept == made, "{name}: DARKFIBER_UPDATE_DOCS=1 rewrites docs/schema");
        }
    }

    /// The dashboard for Grafana uses only existing metrics, and all of them.
    #[test]
    fn the_dashboard_knows_the_metrics() {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/grafana-operate.json");
        let text = std::fs::read_to_string(&path).expect("the dashboard");
        let dashboard: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        assert!(dashboard["panels"].as_array().is_some_and(|panels| panels.len() > 9));
        let mut totals = Totals::default();
        totals.plans.insert("proposed", 1);
        totals.heard.insert(InputSource::Jobs, Millis::default());
        let measured = Some(darkfiber_operate::Measured {
            measure: Measure::EffectiveEfi,
            efi: 3,
            bound: None,
        });
        let state = State { measured, ..State::default() };
        let given = metrics(&state, 0, &totals);
        let samples: Vec<&str> = given.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(names(&text), names(&samples.join("\n")));
    }
}

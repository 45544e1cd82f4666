//! The configuration file as written: its keys, and their positions.

use std::ops::Range;
use std::path::{Path, PathBuf};

use darkfiber_fabric::Unknown;
use darkfiber_scenario::Error;
use serde::Deserialize;
use toml::Spanned;

/// The configuration as its file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConfigFile {
    pub(crate) site: Option<String>,
    pub(crate) mode: Option<Spanned<String>>,
    pub(crate) state: Spanned<PathBuf>,
    pub(crate) socket: Option<Spanned<PathBuf>>,
    pub(crate) http: Option<Spanned<String>>,
    pub(crate) journal_mib: Option<Spanned<i64>>,
    pub(crate) fabric: Spanned<InputPart>,
    pub(crate) tables: Spanned<InputPart>,
    pub(crate) jobs: Spanned<InputPart>,
    pub(crate) counters: Option<Spanned<InputPart>>,
    pub(crate) demands: Option<Spanned<InputPart>>,
    pub(crate) opensm: Option<Spanned<OpenSmPart>>,
    pub(crate) plugin: Option<Spanned<PluginPart>>,
    pub(crate) switches: Option<SwitchesPart>,
    pub(crate) standby: Option<StandbyPart>,
    #[serde(default)]
    pub(crate) policy: PolicyPart,
}

/// Source of an input, and the method of its reading. Keys that only some inputs have are refused for the others.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InputPart {
    pub(crate) file: Option<Spanned<PathBuf>>,
    pub(crate) profiles: Option<Spanned<PathBuf>>,
    pub(crate) command: Option<Spanned<Vec<String>>>,
    pub(crate) socket: Option<Spanned<PathBuf>>,
    pub(crate) every_s: Option<Spanned<f64>>,
    pub(crate) timeout_s: Option<Spanned<f64>>,
    pub(crate) allow_warnings: Option<Spanned<bool>>,
    pub(crate) empty_is_idle: Option<Spanned<bool>>,
    pub(crate) aliases: Option<Spanned<PathBuf>>,
    pub(crate) sl: Option<Spanned<PathBuf>>,
    pub(crate) guid2lid: Option<Spanned<PathBuf>>,
    pub(crate) lid_choice: Option<Spanned<PathBuf>>,
    pub(crate) lfts_file: Option<Spanned<PathBuf>>,
}

/// Delivery of tables to OpenSM.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OpenSmPart {
    pub(crate) engines: Option<Spanned<String>>,
    pub(crate) sweep: Option<Spanned<Vec<String>>>,
    pub(crate) log: Option<Spanned<PathBuf>>,
    pub(crate) qos_policy: Option<Spanned<PathBuf>>,
}

/// How blocks are written into switches without OpenSM.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SwitchesPart {
    pub(crate) write: Spanned<Vec<String>>,
}

/// How standby subnet managers get what OpenSM reads.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StandbyPart {
    pub(crate) copy: Spanned<Vec<String>>,
    pub(crate) every_s: Option<Spanned<f64>>,
    pub(crate) timeout_s: Option<Spanned<f64>>,
    pub(crate) needed: Option<bool>,
}

/// Settings for OpenSM's plugin.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PluginPart {
    pub(crate) socket: Option<Spanned<PathBuf>>,
    pub(crate) plan_file: Option<Spanned<PathBuf>>,
    pub(crate) budget_ms: Option<Spanned<i64>>,
    pub(crate) book_s: Option<Spanned<f64>>,
}

/// When changes are worth it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PolicyPart {
    pub(crate) min_gain: Option<Spanned<f64>>,
    pub(crate) max_blocks: Option<Spanned<i64>>,
    pub(crate) cooldown_s: Option<Spanned<f64>>,
    pub(crate) max_per_hour: Option<Spanned<i64>>,
    pub(crate) moves: Option<Spanned<i64>>,
    pub(crate) work_s: Option<Spanned<f64>>,
    pub(crate) confirm_s: Option<Spanned<f64>>,
    pub(crate) hold_s: Option<Spanned<f64>>,
    pub(crate) drain_s: Option<Spanned<f64>>,
    pub(crate) audit_s: Option<Spanned<f64>>,
    pub(crate) hot: Option<Spanned<f64>>,
    pub(crate) hot_for_s: Option<Spanned<f64>>,
    pub(crate) route: Option<RoutePart>,
}

/// When tables are made anew.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoutePart {
    pub(crate) engine: Spanned<String>,
    pub(crate) beyond: Option<Spanned<f64>>,
    pub(crate) max_blocks: Option<Spanned<i64>>,
    pub(crate) max_stages: Option<Spanned<i64>>,
    pub(crate) lanes: Option<Spanned<i64>>,
}

/// A position in a file.
pub(crate) struct Place<'a> {
    pub(crate) path: &'a Path,
    pub(crate) text: &'a str,
}

impl Place<'_> {
    /// `FILE: line N: `.
    pub(crate) fn at(&self, span: &Range<usize>) -> String {
        let before = self.text.get(..span.start).unwrap_or_default();
        format!("{}: line {}: ", self.path.display(), before.matches('\n').count() + 1)
    }
}

/// Parses the text of a configuration file.
///
/// # Errors
/// If it is not TOML, or a key is missing or unknown: with file, line and the nearest key.
pub(crate) fn parse(place: &Place<'_>) -> Result<ConfigFile, Error> {
    toml::from_str(place.text).map_err(|e| refused(place, &e))
}

fn refused(place: &Place<'_>, error: &toml::de::Error) -> Error {
    let message = error.message().trim();
    let file = place.path.display();
    let missing = message.strip_prefix("missing field `").and_then(|m| m.strip_suffix('`'));
    if let Some(key) = missing {
        // A missing key has no line.
        let shown = match key {
            "fabric" | "tables" | "jobs" => format!("section [{key}]"),
            key => format!("key {key}"),
        };
        return Error::input(format!("{file}: the {shown} is missing"))
            .hint("`darkfiber help operate` shows a whole configuration");
    }
    let at = error.span().map_or_else(|| format!("{file}: "), |span| place.at(&span));
    let mut quoted = message.split('`').skip(1).step_by(2);
    if message.starts_with("unknown field")
        && let Some(key) = quoted.next()
    {
        let unknown = Unknown::new("key", key, quoted);
        return Error::input(format!("{at}{unknown}")).hint(unknown.hint());
    }
    // The first line has the message; the others draw its position.
    let mut first = message.lines().next().unwrap_or_default().to_owned();
    for (kind, plain) in [("i64", "a whole number"), ("f64", "a number"), ("u64", "a whole number")]
    {
        first = first.replace(&format!("expected {kind}"), &format!("expected {plain}"));
    }
    Error::input(format!("{at}{first}"))
}

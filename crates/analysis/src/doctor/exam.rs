//! One area of a fabric, and the findings there.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{Finding, Severity};

/// What is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Area {
    /// Pieces, hosts without a cable, cables and switches that the structure has and the fabric lacks.
    Cabling,
    /// Cables that are slower than those like them.
    Speeds,
    /// Hosts and switches that cannot be told apart by name.
    Names,
    /// LIDs that are missing, out of range, or taken twice.
    Lids,
    /// Pairs without a route, and loops.
    Routes,
    /// Cyclic channel dependencies.
    Deadlock,
    /// The fullest channel, beside what an engine would give.
    Balance,
    /// Channels that no route crosses.
    DarkFiber,
    /// Cables with too many symbol errors, and the jobs that cross them.
    BadCables,
    /// The channel that carried most.
    HotCables,
    /// How jobs share channels.
    Jobs,
}

impl Area {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cabling => "cabling",
            Self::Speeds => "speeds",
            Self::Names => "names",
            Self::Lids => "LIDs",
            Self::Routes => "routes",
            Self::Deadlock => "deadlock",
            Self::Balance => "balance",
            Self::DarkFiber => "dark fiber",
            Self::BadCables => "bad cables",
            Self::HotCables => "hot cables",
            Self::Jobs => "jobs",
        }
    }
}

/// How an area is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// No file was given that would say.
    NotAsked,
    /// Nothing is wrong.
    Good,
    /// Worth knowing.
    Note,
    /// Costs performance, or is likely a mistake.
    Warning,
    /// Does not work, or may stop working under load.
    Error,
}

/// What was found in an area.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Exam {
    /// The area.
    pub area: Area,
    /// How it is.
    pub verdict: Verdict,
    /// What was found, in a line.
    pub message: String,
    /// What to do about it; empty where nothing is.
    pub action: String,
    /// Where, by name.
    pub places: Vec<String>,
}

impl Exam {
    /// An area without problems.
    pub fn good(area: Area, message: impl Into<String>) -> Self {
        let (message, action) = (message.into(), String::new());
        Self { area, verdict: Verdict::Good, message, action, places: Vec::new() }
    }

    /// An area for which no input was given.
    pub fn not_asked(area: Area, action: impl Into<String>) -> Self {
        let (message, action) = ("not looked at".to_owned(), action.into());
        Self { area, verdict: Verdict::NotAsked, message, action, places: Vec::new() }
    }

    /// The gravest of these findings, all of them where several are as grave, and how many others there are; `good`
    /// without any.
    pub fn of(area: Area, findings: &[Finding], good: impl Into<String>) -> Self {
        let Some(worst) = findings.iter().map(|f| f.severity).max() else {
            return Self::good(area, good);
        };
        let verdict = match worst {
            Severity::Note => Verdict::Note,
            Severity::Warning => Verdict::Warning,
            Severity::Error => Verdict::Error,
        };
        let gravest: Vec<&Finding> = findings.iter().filter(|f| f.severity == worst).collect();
        // Notes are not worth a line each.
        let shown = if verdict == Verdict::Note { 1 } else { gravest.len() };
        let others = match findings.len() - shown {
            0 => String::new(),
            1 => " (and 1 finding more: -v)".to_owned(),
            n => format!(" (and {n} findings more: -v)"),
        };
        let messages: Vec<&str> = gravest.iter().take(shown).map(|f| f.message.as_str()).collect();
        let mut actions: Vec<&str> = gravest.iter().take(shown).map(|f| f.hint).collect();
        actions.dedup();
        Self {
            area,
            verdict,
            message: format!("{}{others}", messages.join("; ")),
            action: actions.join("; "),
            places: findings.iter().map(|f| f.message.clone()).collect(),
        }
    }
}

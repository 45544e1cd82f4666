//! The `[study]` table of a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a study asks, and of how many cells.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct StudyPart {
    /// What tables and pictures are called; without, the name of the file.
    pub title: Option<String>,
    /// What is asked of every cell: names of `darkfiber list questions`, or tables `{ ask = "NAME", key = value, .. }`. `runs` where
    /// there are jobs, else `routes`.
    #[serde(default)]
    pub questions: Vec<QuestionPart>,
    /// As many seeds, from the scenario's on.
    pub seeds: Option<u64>,
    /// Axes that go together, first with first, second with second.
    #[serde(default)]
    pub zip: Vec<Vec<String>>,
    /// Cells that are left out: those that have all these values.
    #[serde(default)]
    #[schemars(with = "Vec<std::collections::BTreeMap<String, serde_json::Value>>")]
    pub exclude: Vec<toml::Table>,
    /// Maximum number of cells; a million without.
    pub max_cells: Option<u64>,
    /// More seeds for each point of the grid, until the mean of a quantity is known well enough.
    pub until: Option<UntilPart>,
    /// Instead of an axis over a key: the smallest of its values that does something, by bisection.
    pub find: Option<FindPart>,
}

/// When a mean is known well enough.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct UntilPart {
    /// A column of a question that is asked.
    pub quantity: String,
    /// Half the width of the confidence interval of its mean is at most this part of the mean; 0.02 without.
    pub relative: Option<f64>,
    /// How sure the interval is, by Student's t; 0.95 without.
    pub confidence: Option<f64>,
    /// Seeds of a point at most; 200 without.
    pub at_most: Option<u64>,
}

/// Which value of a key is looked for.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FindPart {
    /// The key, which holds a number, or text with one in it.
    pub axis: String,
    /// The minimum value.
    pub from: f64,
    /// The largest.
    pub to: f64,
    /// How well the value is to be known; of whole numbers 1 without.
    pub within: Option<f64>,
    /// The value as text, with {} where the number goes: "imb:op=alltoall,bytes={}KiB".
    #[serde(rename = "as")]
    pub text: Option<String>,
    /// A column of a question that is asked.
    pub quantity: String,
    /// Looked for is the smallest value at which its mean over seeds is above this.
    pub above: Option<f64>,
    /// Or below this.
    pub below: Option<f64>,
}

/// A question of a study.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum QuestionPart {
    /// By its name.
    Name(String),
    /// With parameters: `ask` is its name.
    Table(#[schemars(with = "std::collections::BTreeMap<String, serde_json::Value>")] toml::Table),
}

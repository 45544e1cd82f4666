//! What the `[study]` table of a file says.

use schemars::JsonSchema;
use serde::Deserialize;

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
    /// Most cells that there may be; a million without.
    pub max_cells: Option<u64>,
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

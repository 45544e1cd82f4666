//! Names of things outside, times, and numbers of plans.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Milliseconds since 1970. Callers of [`crate::step`] ensure that times do not go back while a program runs.
pub type Millis = u64;

/// Number of a decision, and of the plan that it is about; from 1.
pub type PlanId = u64;

/// Identity of a fabric, a set of tables or a list of jobs: 64 bits of a hash of its content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub u64);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl JsonSchema for Digest {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Digest".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9a-f]{16}$" })
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16).map(Self).map_err(D::Error::custom)
    }
}

/// Source of an input.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum InputSource {
    /// Switches, hosts and cables.
    Fabric,
    /// The tables in place.
    Tables,
    /// The jobs that run.
    Jobs,
    /// The port counters.
    Counters,
    /// What hosts send to each other.
    Demands,
}

impl InputSource {
    /// Those that are always there.
    pub const ALL: [Self; 3] = [Self::Fabric, Self::Tables, Self::Jobs];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fabric => "fabric",
            Self::Tables => "tables",
            Self::Jobs => "jobs",
            Self::Counters => "counters",
            Self::Demands => "demands",
        }
    }
}

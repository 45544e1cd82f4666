//! Hashing of switches, as specified in a scenario.

use std::borrow::Cow;

use darkfiber_routing::ecmp::EcmpSpec;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Error;
use crate::value::HINT;

/// Routes by ECMP: `crc32:seed=switch,qps=4`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hashing(pub EcmpSpec);

impl Hashing {
    /// Reads `hash` or `hash:key=value,...`.
    ///
    /// # Errors
    /// If there is no such hash, key or value.
    pub fn parse(text: &str) -> Result<Self, Error> {
        EcmpSpec::parse(text).map(Self).map_err(|e| Error::usage(&e).hint(e.hint()))
    }
}

impl Serialize for Hashing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Hashing {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?)
            .map_err(|error| D::Error::custom(format!("{error}{HINT}{}", error.hint)))
    }
}

impl JsonSchema for Hashing {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Hashing".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

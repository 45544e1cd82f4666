//! Chains of engines, of which the first that does not refuse is used.

use std::borrow::Cow;
use std::fmt;

use darkfiber_fabric::Fabric;
use darkfiber_routing::{Engine, Refusal, Request, Routes, find_engine, route_first};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::value::HINT;
use crate::{Error, Listener};

/// Engines of which the first that does not refuse routes a fabric: `ftree+minhop`.
#[derive(Clone)]
pub struct Chain {
    /// Name of the chain, as written.
    pub name: String,
    /// The first that does not refuse routes.
    pub engines: Vec<&'static dyn Engine>,
}

impl Chain {
    /// Reads `a+b`.
    ///
    /// # Errors
    /// If no engine is called like that.
    pub fn parse(text: &str) -> Result<Self, Error> {
        // Before there were lists, commas joined a chain.
        if text.contains(',') {
            return Err(Error::usage(format!("'{text}' is several engines, and one is expected"))
                .hint(format!("a fallback chain is written {}", text.replace(',', "+"))));
        }
        let engines = text.split('+').map(|name| find_engine(name.trim()));
        Ok(Self { engines: engines.collect::<Result<_, _>>()?, name: text.replace(' ', "") })
    }

    /// Whether one of its engines follows jobs.
    pub fn follows_jobs(&self) -> bool {
        self.engines.iter().any(|e| e.follows_jobs())
    }

    /// Routes with the first engine that does not refuse.
    ///
    /// # Errors
    /// The reasons of all of them; tables that do not fit into memory.
    pub fn route(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Error> {
        self.route_telling(fabric, request, &mut ())
    }

    /// As [`Self::route`]; `listener` hears why engines before the one that routes refused.
    ///
    /// # Errors
    /// As [`Self::route`].
    pub fn route_telling(
        &self,
        fabric: &Fabric,
        request: &Request<'_>,
        listener: &mut dyn Listener,
    ) -> Result<Routes, Error> {
        match route_first(&self.engines, fabric, request) {
            Ok((routes, refusals)) => {
                for (name, refusal) in refusals {
                    let why = reason(name, &refusal);
                    listener.note(&format!("{name} refused, so {} routed: {why}", routes.engine));
                }
                Ok(routes)
            }
            Err(refusals) => {
                let each = refusals.iter().map(|(name, r)| format!("{name}: {}", reason(name, r)));
                Err(Error::infeasible(each.collect::<Vec<_>>().join("; ")))
            }
        }
    }
}

/// Why an engine refused, without its name, which is printed before it anyway.
pub fn reason(engine: &str, refusal: &Refusal) -> String {
    let text = refusal.to_string();
    let rest = text.strip_prefix(engine);
    rest.map(|rest| rest.trim_start_matches(':').trim_start().to_owned()).unwrap_or(text)
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl PartialEq for Chain {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Serialize for Chain {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name)
    }
}

impl<'de> Deserialize<'de> for Chain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?)
            .map_err(|error| D::Error::custom(format!("{error}{HINT}{}", error.hint)))
    }
}

impl JsonSchema for Chain {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Chain".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

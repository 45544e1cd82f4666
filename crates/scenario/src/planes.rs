//! The planes of a fabric that jobs use, and the terminals of hosts in each.

use std::fmt;

use darkfiber_fabric::{Fabric, Planes, TerminalId};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error as _, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The planes that a job uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanePart {
    /// One of them, from 1.
    Number(u8),
    /// All: every message is divided into equal parts, one for each plane.
    Striped,
    /// All: rank r of a host uses plane r modulo their number, as GPUs use the NICs of their rails.
    Rails,
}

const STRIPED: &str = "striped";
const RAILS: &str = "rails";

impl Serialize for PlanePart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_u8(*number),
            Self::Striped => serializer.serialize_str(STRIPED),
            Self::Rails => serializer.serialize_str(RAILS),
        }
    }
}

impl<'de> Deserialize<'de> for PlanePart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = PlanePart;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a plane from 1, \"striped\", or \"rails\"")
            }

            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<PlanePart, E> {
                match u8::try_from(value) {
                    Ok(number @ 1..) => Ok(PlanePart::Number(number)),
                    _ => Err(E::custom(format!("{value} is no plane: they are numbered from 1"))),
                }
            }

            fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<PlanePart, E> {
                match value {
                    STRIPED => Ok(PlanePart::Striped),
                    RAILS => Ok(PlanePart::Rails),
                    _ => Err(E::custom(format!(
                        "\"{value}\" is no plane: expected 1, 2, ..., \"striped\" or \"rails\""
                    ))),
                }
            }
        }
        deserializer.deserialize_any(Any).map_err(D::Error::custom)
    }
}

impl JsonSchema for PlanePart {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PlanePart".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 64 }, { "enum": [STRIPED, RAILS] }]
        })
    }
}

/// The terminals of hosts by plane.
#[derive(Debug)]
pub(crate) struct Rails {
    planes: Planes,
    /// By terminal, the corresponding terminals of its host in each plane; empty where one has none.
    peers: Vec<Vec<TerminalId>>,
}

impl Rails {
    pub(crate) fn new(fabric: &Fabric) -> Self {
        let planes = Planes::of(fabric);
        let mut of_host = vec![vec![Vec::new(); planes.count()]; fabric.hosts().len()];
        for t in (0..fabric.terminal_count()).map(TerminalId::new) {
            of_host[fabric.host_of(t).index()][planes.of_terminal(fabric, t)].push(t);
        }
        // The nth of a host in one plane goes with the nth in the others.
        let peers = |t: TerminalId| {
            let host: &Vec<Vec<TerminalId>> = &of_host[fabric.host_of(t).index()];
            let own = &host[planes.of_terminal(fabric, t)];
            let nth = own.iter().position(|&other| other == t).unwrap_or(0);
            let peer = |of: &Vec<TerminalId>| of.get(nth % of.len().max(1)).copied();
            host.iter().map(peer).collect::<Option<Vec<_>>>().unwrap_or_default()
        };
        let peers = (0..fabric.terminal_count()).map(TerminalId::new).map(peers).collect();
        Self { planes, peers }
    }

    pub(crate) fn count(&self) -> usize {
        self.planes.count()
    }

    /// By plane, the terminals that correspond to this one.
    pub(crate) fn peers(&self, t: TerminalId) -> &[TerminalId] {
        &self.peers[t.index()]
    }
}

/// Bytes of part `i` of `of` of a message.
pub(crate) fn part(bytes: u64, i: usize, of: usize) -> u64 {
    let up_to = |i: usize| (u128::from(bytes) * i as u128 / of as u128) as u64;
    up_to(i + 1) - up_to(i)
}

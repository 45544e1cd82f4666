//! Values of scenario files: quantities with units, parts of a whole, names of registries.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use darkfiber_fabric::{Entry, Registry};
use darkfiber_packetsim::routing::{ROUTINGS, RoutingKind};
use darkfiber_packetsim::{
    ARBITRATIONS, Arbitration, CONGESTIONS, FRAMINGS, Framing, INTERLEAVES, Interleave, MICROS,
    Preset, QUEUES, Queues, Scheme,
};
use darkfiber_workload::collective::{LIBRARIES, Library};
use darkfiber_workload::placement::{ALLOCATORS, Allocator};
use darkfiber_workload::play::{HOSTS, Host};
use darkfiber_workload::quantity;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::Error;

/// Separator of a message and its hint in errors that pass through the TOML reader.
pub(crate) const HINT: &str = "\u{1f}";

/// The largest unit of which the value is a whole multiple, so that the written form is read back as the same value.
fn in_units(value: u64, units: &[(u64, &str)]) -> String {
    let fits = units.iter().find(|(size, _)| value > 0 && value.is_multiple_of(*size));
    let (size, unit) = fits.or(units.last()).expect("there are units");
    format!("{}{unit}", value / size)
}

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident($of:ty), $read:path, $example:literal, |$value:ident| $write:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
        pub struct $name(pub $of);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let $value = self.0;
                f.write_str(&$write)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                $read(&text).map(Self).map_err(D::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "description": $example })
            }
        }
    };
}

quantity! {
    /// A size in bytes, written with a unit: `64KiB`, `1.5GB`.
    Bytes(u64), quantity::bytes, "A size with a unit: 64KiB, 1.5GB",
    |bytes| in_units(bytes, &[(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B")])
}
quantity! {
    /// A time in picoseconds, written with a unit: `100ms`, `1.2us`, `3h`.
    Picos(u64), quantity::time, "A time with a unit: 100ms, 1.2us, 3h",
    |ps| in_units(ps, &[
        (1_000_000_000_000, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1000, "ns"), (1, "ps"),
    ])
}
quantity! {
    /// A rate in bytes a second, above zero, written with a unit: `2.26GiB/s`, `100Gbit/s`.
    Rate(f64), quantity::rate, "A rate with a unit: 2.26GiB/s, 100Gbit/s",
    |rate| format!("{rate}B/s")
}

/// Maximum [`Overhead`], in picoseconds: a second. Sums of much larger times would exceed the clock.
const MOST_OVERHEAD: u64 = 1_000_000_000_000;

/// What hosts and switches take for one message: at most a second.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Overhead(pub Picos);

impl<'de> Deserialize<'de> for Overhead {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let time = Picos::deserialize(deserializer)?;
        if time.0 > MOST_OVERHEAD {
            return Err(D::Error::custom(format!("{time} must be at most 1s for each message")));
        }
        Ok(Self(time))
    }
}

impl Bytes {
    /// As a size of packets and buffers, which have at most 4 GiB.
    pub fn short(self) -> u32 {
        u32::try_from(self.0).unwrap_or(u32::MAX)
    }
}

impl Picos {
    /// As a latency of a cable, in picoseconds: at most 4 ms.
    pub fn short(self) -> u32 {
        u32::try_from(self.0).unwrap_or(u32::MAX)
    }
}

/// A number between two bounds, given in thousandths so that types can name them: `Between<0, 500>` is 0 to 0.5.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Between<const LEAST: u32, const MOST: u32>(pub f64);

/// A part of a whole: 0 to 1.
pub type Share = Between<0, 1000>;

impl<'de, const LEAST: u32, const MOST: u32> Deserialize<'de> for Between<LEAST, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        let (least, most) = (f64::from(LEAST) / 1000.0, f64::from(MOST) / 1000.0);
        if (least..=most).contains(&value) {
            Ok(Self(value))
        } else {
            Err(D::Error::custom(format!("{value} must be between {least} and {most}")))
        }
    }
}

impl<const LEAST: u32, const MOST: u32> JsonSchema for Between<LEAST, MOST> {
    fn schema_name() -> Cow<'static, str> {
        format!("From{LEAST}To{MOST}Thousandths").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "number",
            "minimum": f64::from(LEAST) / 1000.0,
            "maximum": f64::from(MOST) / 1000.0,
        })
    }
}

/// A part of a whole: above 0 and at most 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Fraction(pub f64);

impl<'de> Deserialize<'de> for Fraction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        if value > 0.0 && value <= 1.0 {
            Ok(Self(value))
        } else {
            Err(D::Error::custom(format!("{value} must be above 0 and at most 1")))
        }
    }
}

impl JsonSchema for Fraction {
    fn schema_name() -> Cow<'static, str> {
        "Fraction".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "exclusiveMinimum": 0.0, "maximum": 1.0 })
    }
}

/// A number above zero.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Positive(pub f64);

impl<'de> Deserialize<'de> for Positive {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        if value > 0.0 && value.is_finite() {
            Ok(Self(value))
        } else {
            Err(D::Error::custom(format!("{value} must be above 0")))
        }
    }
}

impl JsonSchema for Positive {
    fn schema_name() -> Cow<'static, str> {
        "Positive".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "exclusiveMinimum": 0.0 })
    }
}

/// A whole number from `LEAST` to `MOST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Count<const LEAST: u64, const MOST: u64>(pub u64);

impl<const LEAST: u64, const MOST: u64> Default for Count<LEAST, MOST> {
    fn default() -> Self {
        Self(LEAST)
    }
}

impl<'de, const LEAST: u64, const MOST: u64> Deserialize<'de> for Count<LEAST, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = i64::deserialize(deserializer)?;
        match u64::try_from(value) {
            Ok(number) if (LEAST..=MOST).contains(&number) => Ok(Self(number)),
            Ok(number) if number > MOST => {
                Err(D::Error::custom(format!("{value} is more than {MOST}, the most there can be")))
            }
            _ => Err(D::Error::custom(format!("{value} must be at least {LEAST}"))),
        }
    }
}

impl<const LEAST: u64, const MOST: u64> JsonSchema for Count<LEAST, MOST> {
    fn schema_name() -> Cow<'static, str> {
        format!("CountFrom{LEAST}To{MOST}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": LEAST, "maximum": MOST })
    }
}

/// Cables of which only a part of the lanes works, written `SHARE:PART`: `0.05:0.5` has half of the lanes of 5 % of the cables work.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Degraded {
    /// The share of cables, 0 to 1.
    pub share: f32,
    /// The part of their lanes that works, above 0 and at most 1.
    pub part: f32,
}

impl FromStr for Degraded {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let number = |text: &str| text.parse::<f32>().ok().filter(|x| (0.0..=1.0).contains(x));
        let both = text.split_once(':').and_then(|(a, b)| Some((number(a)?, number(b)?)));
        match both {
            Some((share, part)) if part > 0.0 => Ok(Self { share, part }),
            _ => Err(Error::usage(format!("{text} is no SHARE:PART"))
                .hint("0.05:0.5 has half of the lanes of 5 % of the cables work")),
        }
    }
}

impl Serialize for Degraded {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}:{}", self.share, self.part))
    }
}

impl<'de> Deserialize<'de> for Degraded {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = String::deserialize(deserializer)?.parse();
        read.map_err(|error: Error| D::Error::custom(format!("{error}{HINT}{}", error.hint)))
    }
}

impl JsonSchema for Degraded {
    fn schema_name() -> Cow<'static, str> {
        "Degraded".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": "SHARE:PART, for example 0.05:0.5" })
    }
}

/// A component that scenario files choose by name.
pub trait Choice: Entry + Sized + 'static {
    /// All that there are.
    const REGISTRY: &'static Registry<Self>;
    /// The kind of `darkfiber list` that shows them, if one does.
    const LISTED: &'static str;
}

macro_rules! choices {
    ($($of:ty: $registry:ident, $listed:literal;)*) => {$(
        impl Choice for $of {
            const REGISTRY: &'static Registry<Self> = &$registry;
            const LISTED: &'static str = $listed;
        }
    )*};
}

choices! {
    Allocator: ALLOCATORS, "allocators";
    Host: HOSTS, "hosts";
    Preset: MICROS, "switches";
    RoutingKind: ROUTINGS, "routings";
    Scheme: CONGESTIONS, "congestion";
    Framing: FRAMINGS, "framing";
    (&'static str, Library): LIBRARIES, "";
    (&'static str, Queues): QUEUES, "";
    (&'static str, Arbitration): ARBITRATIONS, "";
    (&'static str, Interleave): INTERLEAVES, "";
}

/// A component of a registry, by name.
pub struct Chosen<T: Choice>(pub &'static T);

impl<T: Choice> Chosen<T> {
    /// The component of a name that is in the source code.
    pub(crate) fn known(name: &str) -> Self {
        Self::named(name).expect("names in the source are registered")
    }

    /// The component of that name.
    ///
    /// # Errors
    /// If there is none.
    pub fn named(name: &str) -> Result<Self, darkfiber_fabric::Unknown> {
        T::REGISTRY.get(name).map(Self)
    }
}

impl<T: Choice> Clone for Chosen<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Choice> Copy for Chosen<T> {}

impl<T: Choice> fmt::Debug for Chosen<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

impl<T: Choice> PartialEq for Chosen<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0.name() == other.0.name()
    }
}

impl<T: Choice> Serialize for Chosen<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl<'de, T: Choice> Deserialize<'de> for Chosen<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::named(&name)
            .map_err(|unknown| D::Error::custom(format!("{unknown}{HINT}{}", unknown.hint())))
    }
}

impl<T: Choice> JsonSchema for Chosen<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        T::REGISTRY.kind().into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = T::REGISTRY.names().collect();
        json_schema!({ "type": "string", "enum": names })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for bytes in [0, 1, 1000, 1024, 3 << 20, (1 << 40) + 1] {
            assert_eq!(quantity::bytes(&Bytes(bytes).to_string()), Ok(bytes));
        }
        for ps in [0, 1, 999, 1000, 1_500_000, 3_600_000_000_000_000] {
            assert_eq!(quantity::time(&Picos(ps).to_string()), Ok(ps));
        }
        for rate in [1.0, 12.5e9, 2.26 * f64::from(1 << 30), 1e-3] {
            assert_eq!(quantity::rate(&Rate(rate).to_string()), Ok(rate));
        }
        assert_eq!(Bytes(64 << 10).to_string(), "64KiB");
        assert_eq!(Picos(1_200_000).to_string(), "1200ns");
    }
}

/// Names of files: one as text, or a list. `*`, `?` and `[...]` stand for others, as in a shell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Names(pub Vec<String>);

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct OneOrMany;
        impl<'de> de::Visitor<'de> for OneOrMany {
            type Value = Names;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name or a list of names")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Names, E> {
                Ok(Names(vec![name.to_owned()]))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<Names, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = list.next_element()? {
                    names.push(name);
                }
                Ok(Names(names))
            }
        }
        from.deserialize_any(OneOrMany)
    }
}

impl JsonSchema for Names {
    fn schema_name() -> Cow<'static, str> {
        "Names".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "one name or several; *, ? and [...] stand for others",
            "anyOf": [
                { "type": "string" },
                { "type": "array", "items": { "type": "string" } }
            ]
        })
    }
}

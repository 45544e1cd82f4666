//! Congestion control in a scenario: a name, or a table with a name and parameters.

use std::borrow::Cow;
use std::fmt;

use darkfiber_packetsim::{CONGESTIONS, Parameter, Scheme, Tuned, TuningError, Unit};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error as _, MapAccess, Visitor, value::StrDeserializer};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::Error;
use crate::value::Chosen;

/// A congestion control scheme, and those of its parameters that differ from its paper.
#[derive(Clone, Debug, PartialEq)]
pub struct CongestionPart {
    /// Scheme of congestion control.
    pub scheme: Chosen<Scheme>,
    /// Parameters by name, as written.
    pub parameters: Vec<(String, String)>,
}

impl CongestionPart {
    /// A scheme as in its paper.
    pub(crate) fn known(name: &str) -> Self {
        Self { scheme: Chosen::known(name), parameters: Vec::new() }
    }

    /// The scheme with its parameters.
    ///
    /// # Errors
    /// If it has none of a name, or a value is invalid or out of range: with the key of the parameter.
    pub fn tuned(&self) -> Result<Tuned, Error> {
        let wrong = |e: TuningError| Error::input(e.message).hint(e.hint);
        let mut tuned = Tuned::new(self.scheme.0);
        for (name, text) in &self.parameters {
            tuned.set(name, text).map_err(|e| wrong(e).inside(name))?;
        }
        tuned.check().map_err(wrong)?;
        Ok(tuned)
    }

    /// Says all parameters, those as in its paper, too.
    pub(crate) fn fill(&mut self) {
        for p in self.scheme.0.all_parameters() {
            if !self.parameters.iter().any(|(name, _)| name == p.name) {
                self.parameters.push((p.name.to_owned(), p.default_text()));
            }
        }
    }
}

impl From<Tuned> for CongestionPart {
    fn from(tuned: Tuned) -> Self {
        let parameters = tuned.different().into_iter();
        let parameters = parameters.map(|(name, value)| (name.to_owned(), value)).collect();
        Self { scheme: Chosen(tuned.scheme), parameters }
    }
}

impl Serialize for CongestionPart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.parameters.is_empty() {
            return self.scheme.serialize(serializer);
        }
        let mut map = serializer.serialize_map(Some(1 + self.parameters.len()))?;
        map.serialize_entry("scheme", &self.scheme)?;
        for (name, text) in &self.parameters {
            let counts = |p: &Parameter| p.name == name && p.unit == Unit::Count;
            let number = self.scheme.0.all_parameters().any(counts);
            match text.parse::<u64>() {
                Ok(number_of) if number => map.serialize_entry(name, &number_of)?,
                _ => map.serialize_entry(name, text)?,
            }
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for CongestionPart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PartVisitor)
    }
}

struct PartVisitor;

impl<'de> Visitor<'de> for PartVisitor {
    type Value = CongestionPart;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a scheme of `darkfiber list congestion`, or a table with scheme = \"ecn\" and its parameters")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<CongestionPart, E> {
        // As commands take a scheme with its parameters.
        if name.contains(':') {
            return Tuned::parse(name).map(CongestionPart::from).map_err(E::custom);
        }
        let scheme = Chosen::deserialize(StrDeserializer::<E>::new(name))?;
        Ok(CongestionPart { scheme, parameters: Vec::new() })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<CongestionPart, A::Error> {
        let (mut scheme, mut parameters) = (None, Vec::new());
        while let Some(key) = map.next_key::<String>()? {
            if key == "scheme" {
                scheme = Some(map.next_value()?);
            } else {
                let Written(text) = map.next_value()?;
                parameters.push((key, text));
            }
        }
        let scheme = scheme.ok_or_else(|| {
            A::Error::custom("there is no scheme: write scheme = \"ecn\", or another one of `darkfiber list congestion`")
        })?;
        Ok(CongestionPart { scheme, parameters })
    }
}

/// A parameter as written: a text or a number.
struct Written(String);

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WrittenVisitor;
        impl Visitor<'_> for WrittenVisitor {
            type Value = Written;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or a quantity with its unit such as \"55us\"")
            }

            fn visit_str<E>(self, text: &str) -> Result<Written, E> {
                Ok(Written(text.to_owned()))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Written, E> {
                Ok(Written(number.to_string()))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Written, E> {
                Ok(Written(number.to_string()))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Written, E> {
                Ok(Written(number.to_string()))
            }
        }
        deserializer.deserialize_any(WrittenVisitor)
    }
}

impl JsonSchema for CongestionPart {
    fn schema_name() -> Cow<'static, str> {
        "CongestionPart".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = CONGESTIONS.names().collect();
        let parameters = format!("^({}):.+=.+", names.join("|"));
        let mut any = vec![
            json!({ "type": "string", "enum": names }),
            json!({ "type": "string", "pattern": parameters }),
        ];
        any.extend(CONGESTIONS.iter().map(table));
        json_schema!({
            "description": "What holds sources back: a scheme as in its paper, or with parameters (reserve:turn=1/2), or a table of both.",
            "anyOf": any,
        })
    }
}

/// The table of a scheme.
fn table(scheme: &Scheme) -> Value {
    let mut keys = Map::new();
    keys.insert("scheme".to_owned(), json!({ "const": scheme.name }));
    for p in scheme.all_parameters() {
        let about =
            format!("{}; {}; from {}; {}", p.meaning, p.range_text(), p.source, p.default_text());
        let [least, most] = p.range.map(|bound| p.unit.show(bound).parse::<u64>().unwrap_or(0));
        let key = match p.unit {
            Unit::Word(words) => json!({ "enum": words }),
            Unit::Count => json!({ "type": "integer", "minimum": least, "maximum": most }),
            Unit::Share => json!({ "type": ["number", "string"] }),
            Unit::Time | Unit::Bytes => json!({ "type": "string" }),
        };
        let mut key = key;
        key["description"] = about.into();
        keys.insert(p.name.to_owned(), key);
    }
    json!({
        "type": "object",
        "description": scheme.summary,
        "properties": keys,
        "required": ["scheme"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize, Serialize)]
    struct Packets {
        congestion: CongestionPart,
    }

    fn read(text: &str) -> Result<CongestionPart, String> {
        toml::from_str::<Packets>(text).map(|p| p.congestion).map_err(|e| e.message().to_owned())
    }

    #[test]
    fn names_and_tables_are_read_and_written() {
        assert_eq!(read("congestion = \"pairs\""), Ok(CongestionPart::known("pairs")));
        let short = read("congestion = \"reserve:turn=1/2,clock=4ns\"").expect("a text");
        let short = short.tuned().expect("in range");
        assert_eq!(short.to_string(), "reserve:turn=1/2,clock=4ns");
        assert!(read("congestion = \"reserve:turns=1\"").is_err_and(|e| e.contains("turns")));
        let text = "[congestion]\nscheme = \"ecn\"\ng = 0.25\nhalves = 3\nkmin = \"2us\"\nnotes = \"priced\"\n";
        let part = read(text).expect("a table");
        let tuned = part.tuned().expect("in range");
        assert_eq!(tuned.to_string(), "ecn:kmin=2us,g=1/4,halves=3,notes=priced");
        for filled in [false, true] {
            let mut part = part.clone();
            if filled {
                part.fill();
            }
            let text = toml::to_string(&Packets { congestion: part }).expect("written");
            let again = read(&text).expect("read back").tuned().expect("in range");
            assert_eq!(again.to_string(), tuned.to_string(), "{text}");
        }
        assert_eq!(
            read("[congestion]\ng = 1\n").expect_err("no scheme").split(':').next(),
            Some("there is no scheme")
        );
        assert!(
            read("congestion = 3").is_err()
                && read("[congestion]\nscheme = \"ecn\"\ng = [1]\n").is_err()
        );
    }
}

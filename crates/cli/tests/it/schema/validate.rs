//! Whether a value agrees with a JSON Schema, for the part of JSON Schema that our schemas use: any other keyword is
//! refused. Stricter than the standard: a key without a description is a violation.

use std::collections::BTreeSet;

use regex_lite::Regex;
use serde_json::{Map, Value};

/// Checks that the value conforms to the schema.
pub(super) fn valid(schema: &Value, value: &Value, what: &str) {
    if let Some(problem) = violation(schema, value) {
        panic!("{what}: {problem}\n{value:#}");
    }
}

/// The first violation of the schema by the value.
pub(super) fn violation(schema: &Value, value: &Value) -> Option<String> {
    Judge { root: schema }.closed(schema, value).err()
}

type Keys = BTreeSet<String>;

struct Judge<'a> {
    root: &'a Value,
}

impl Judge<'_> {
    /// As [`described`](Self::described), and all keys of the value are.
    fn closed(&self, schema: &Value, value: &Value) -> Result<(), String> {
        let known = self.described(schema, value)?;
        let keys = value.as_object().into_iter().flat_map(Map::keys);
        match keys.into_iter().find(|k| !known.contains(*k)) {
            Some(key) => Err(format!("nothing describes {key}")),
            None => Ok(()),
        }
    }

    /// The keys of the value that the schema describes.
    fn described(&self, schema: &Value, value: &Value) -> Result<Keys, String> {
        let Value::Object(rules) = schema else {
            return if *schema == Value::Bool(true) {
                Ok(Keys::new())
            } else {
                Err("false".into())
            };
        };
        let mut known = Keys::new();
        for (keyword, rule) in rules {
            let at = |problem: String| format!("{keyword}: {problem}");
            known.append(&mut self.apply(keyword, rule, rules, value).map_err(at)?);
        }
        Ok(known)
    }

    fn apply(
        &self,
        keyword: &str,
        rule: &Value,
        rules: &Map<String, Value>,
        value: &Value,
    ) -> Result<Keys, String> {
        let mut known = Keys::new();
        let fine = match keyword {
            "$schema" | "$defs" | "title" | "description" | "format" | "default" => true,
            "$ref" => {
                let place = rule.as_str().and_then(|r| r.strip_prefix('#')).expect("a reference");
                let target = self.root.pointer(place).expect("what is referred to");
                return self.described(target, value);
            }
            "type" => match rule {
                Value::Array(types) => types.iter().any(|t| is(t, value)),
                one => is(one, value),
            },
            "const" => rule == value,
            "enum" => list(rule).contains(value),
            // Bounds are for numbers; other types are checked by "type".
            "minimum" => value.as_f64().is_none_or(|v| Some(v) >= rule.as_f64()),
            "maximum" => value.as_f64().is_none_or(|v| Some(v) <= rule.as_f64()),
            "exclusiveMinimum" => value.as_f64().is_none_or(|v| Some(v) > rule.as_f64()),
            "pattern" => {
                let pattern = Regex::new(rule.as_str().expect("a pattern")).expect("an expression");
                // As bounds are for numbers, this is for strings.
                value.as_str().is_none_or(|text| pattern.is_match(text))
            }
            "required" => {
                list(rule).iter().all(|key| value.get(key.as_str().expect("a key")).is_some())
            }
            "items" => {
                for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                    self.closed(rule, item).map_err(|problem| format!("{i}: {problem}"))?;
                }
                true
            }
            "prefixItems" => {
                let items = value.as_array().into_iter().flatten();
                for (i, (schema, item)) in list(rule).iter().zip(items).enumerate() {
                    self.closed(schema, item).map_err(|problem| format!("{i}: {problem}"))?;
                }
                true
            }
            "minItems" => value.as_array().is_none_or(|v| Some(v.len() as u64) >= rule.as_u64()),
            "maxItems" => value.as_array().is_none_or(|v| Some(v.len() as u64) <= rule.as_u64()),
            "uniqueItems" => value
                .as_array()
                .is_none_or(|v| v.iter().enumerate().all(|(i, item)| !v[..i].contains(item))),
            "properties" => {
                for (key, schema) in rule.as_object().expect("schemas by key") {
                    if let Some(inner) = value.get(key) {
                        self.closed(schema, inner)
                            .map_err(|problem| format!("{key}: {problem}"))?;
                        known.insert(key.clone());
                    }
                }
                true
            }
            "patternProperties" => {
                for (pattern, schema) in rule.as_object().expect("schemas by pattern") {
                    let pattern = Regex::new(pattern).expect("an expression");
                    for (key, inner) in value.as_object().into_iter().flatten() {
                        if pattern.is_match(key) {
                            self.closed(schema, inner)
                                .map_err(|problem| format!("{key}: {problem}"))?;
                            known.insert(key.clone());
                        }
                    }
                }
                true
            }
            "additionalProperties" if rules.contains_key("patternProperties") => true,
            "additionalProperties" => {
                let named = rules.get("properties");
                for (key, inner) in value.as_object().into_iter().flatten() {
                    if named.and_then(|n| n.get(key)).is_none() {
                        self.closed(rule, inner).map_err(|problem| format!("{key}: {problem}"))?;
                        known.insert(key.clone());
                    }
                }
                true
            }
            "anyOf" | "oneOf" => {
                let tried: Vec<_> = list(rule).iter().map(|s| self.described(s, value)).collect();
                let fits = tried.iter().filter(|t| t.is_ok()).count();
                if fits == 0 {
                    return Err(format!(
                        "{:?}",
                        tried.into_iter().filter_map(Result::err).collect::<Vec<_>>()
                    ));
                }
                known.extend(tried.into_iter().flatten().flatten());
                keyword == "anyOf" || fits == 1
            }
            other => panic!("keyword {other} is not known here"),
        };
        if fine { Ok(known) } else { Err(format!("{rule} against {value}")) }
    }
}

fn list(rule: &Value) -> &[Value] {
    rule.as_array().expect("a list")
}

fn is(kind: &Value, value: &Value) -> bool {
    match kind.as_str().expect("a type") {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("type {other} is not known here"),
    }
}

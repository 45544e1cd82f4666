//! Configuration of ECMP: `crc32:seed=switch,qps=4`.

use std::fmt;

use darkfiber_fabric::{Key, Params, SpecError, Unknown};

use super::{Field, HASHES, HashFunction};

/// The part of the hash that differs between switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Differs {
    /// Nothing differs: all switches are configured alike.
    #[default]
    Same,
    /// From tier to tier: switches with hosts, those above, ...
    Tier,
    /// Every switch has its own.
    Switch,
}

impl Differs {
    const ALL: [(&'static str, Self); 3] =
        [("same", Self::Same), ("tier", Self::Tier), ("switch", Self::Switch)];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|d| d.1 == self).map_or("", |d| d.0)
    }
}

/// Hashing of the switches, and the number of queue pairs over which hosts send.
#[derive(Clone, Debug)]
pub struct EcmpSpec {
    /// The hash function that switches use.
    pub hash: &'static HashFunction,
    /// Fields of a packet that it reads, in rising order.
    pub fields: Vec<Field>,
    /// Difference of the seed between switches.
    pub seed: Differs,
    /// By how many bits the hash is rotated.
    pub rotate: Differs,
    /// Queue pairs from one terminal to another, 1 to 256.
    pub queue_pairs: u32,
    /// Buckets of a resilient group; none where a hash picks by its remainder.
    pub buckets: Option<u32>,
    /// Whether next hops are weighted by what they can carry to the destination.
    pub weighted: bool,
}

/// The keys of a spec.
pub static ECMP_KEYS: &[Key] = &[
    Key {
        name: "fields",
        meaning: "what is hashed, joined by +: src-ip, dst-ip, src-port, dst-port, protocol, dst-qp, in-port",
        default: Some("the first five"),
    },
    Key {
        name: "seed",
        meaning: "seeds of the hash: same everywhere, by tier (distance from hosts), by switch",
        default: Some("same"),
    },
    Key {
        name: "rotate",
        meaning: "bits by which the hash is rotated: same (none), by tier, by switch",
        default: Some("same"),
    },
    Key {
        name: "qps",
        meaning: "queue pairs from one terminal to another, 1 to 256, each a flow of its own",
        default: Some("1"),
    },
    Key {
        name: "buckets",
        meaning: "resilient hashing: buckets of a group, of which only those of failed next hops move",
        default: Some("a hash picks by its remainder"),
    },
    Key {
        name: "weighted",
        meaning: "yes: next hops have buckets by what they can carry to the destination",
        default: Some("no"),
    },
];

impl EcmpSpec {
    /// Reads `hash` or `hash:key=value,...`.
    ///
    /// # Errors
    /// If there is no such hash, key or value; the error lists the valid ones.
    pub fn parse(text: &str) -> Result<Self, EcmpError> {
        let (name, pairs) = text.split_once(':').unwrap_or((text, ""));
        let hash = HASHES.get(name.trim())?;
        let params = Params::parse("ecmp", ECMP_KEYS, text, pairs)?;
        let differs = |key: &'static str| match params.raw(key) {
            None => Ok(Differs::Same),
            Some(word) => Differs::ALL
                .iter()
                .find(|d| d.0 == word)
                .map(|d| d.1)
                .ok_or_else(|| params.bad(key, "same, tier or switch")),
        };
        let fields = match params.raw("fields") {
            None => Field::FIVE_TUPLE.to_vec(),
            Some(words) => {
                let field = |word: &str| Field::ALL.into_iter().find(|f| f.name() == word.trim());
                let found: Option<Vec<Field>> = words.split('+').map(field).collect();
                let names = Field::ALL.map(Field::name).join(", ");
                let mut found = found
                    .ok_or_else(|| params.bad("fields", format!("some of {names}, joined by +")))?;
                found.sort_unstable();
                found.dedup();
                found
            }
        };
        let weighted = match params.raw("weighted") {
            None | Some("no") => false,
            Some("yes") => true,
            Some(_) => return Err(params.bad("weighted", "yes or no").into()),
        };
        Ok(Self {
            hash,
            fields,
            seed: differs("seed")?,
            rotate: differs("rotate")?,
            queue_pairs: params.get("qps", 1..=256)?.unwrap_or(1),
            buckets: params.get("buckets", 2..=4096)?,
            weighted,
        })
    }
}

impl PartialEq for EcmpSpec {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for EcmpSpec {}

/// The canonical form: keys with default values are left out.
impl fmt::Display for EcmpSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pairs = Vec::new();
        if self.fields != Field::FIVE_TUPLE {
            let names: Vec<&str> = self.fields.iter().map(|f| f.name()).collect();
            pairs.push(format!("fields={}", names.join("+")));
        }
        for (key, value) in [("seed", self.seed), ("rotate", self.rotate)] {
            if value != Differs::Same {
                pairs.push(format!("{key}={}", value.name()));
            }
        }
        if self.queue_pairs != 1 {
            pairs.push(format!("qps={}", self.queue_pairs));
        }
        pairs.extend(self.buckets.map(|b| format!("buckets={b}")));
        if self.weighted {
            pairs.push("weighted=yes".to_owned());
        }
        let colon = if pairs.is_empty() { "" } else { ":" };
        write!(f, "{}{colon}{}", self.hash.name, pairs.join(","))
    }
}

/// Why a text does not say how to hash.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EcmpError {
    /// There is no such hash.
    #[error(transparent)]
    Unknown(#[from] Unknown),
    /// There is no such key, or it cannot have that value.
    #[error(transparent)]
    Spec(#[from] SpecError),
}

impl EcmpError {
    /// Suggestion of what the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Unknown(unknown) => unknown.hint(),
            Self::Spec(_) => {
                "for example crc32:seed=switch,qps=4; `darkfiber list hashes` has all keys"
                    .to_owned()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_go_round() {
        for text in [
            "crc32",
            "jenkins:seed=switch,qps=4",
            "xor:fields=src-port+dst-qp,rotate=tier,buckets=256",
            "crc16:seed=tier,weighted=yes",
        ] {
            assert_eq!(EcmpSpec::parse(text).expect(text).to_string(), text);
        }
        let usual = EcmpSpec::parse("crc32:fields=dst-ip+src-ip+protocol+dst-port+src-port,qps=1");
        assert_eq!(usual.expect("a spec").to_string(), "crc32");
    }

    #[test]
    fn errors_say_what_there_is() {
        let error = |text: &str| EcmpSpec::parse(text).expect_err(text).to_string();
        assert_eq!(error("crc33"), "no hash is called 'crc33'");
        assert_eq!(
            error("crc32:fields=src-ip+ttl"),
            "ecmp: fields=src-ip+ttl: expected some of src-ip, dst-ip, src-port, dst-port, protocol, dst-qp, in-port, joined by +"
        );
        assert_eq!(error("crc32:seed=leaf"), "ecmp: seed=leaf: expected same, tier or switch");
        assert!(error("crc32:qps=0").contains("expected"), "{}", error("crc32:qps=0"));
    }
}

//! Why a text does not make a fabric.

use thiserror::Error;

use crate::{BuildError, FaultError};

/// Why a spec or a preset name does not make a fabric.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SpecError {
    /// Neither `@preset` nor `family:...`.
    #[error(
        "\"{text}\" is neither a preset (@name) nor a spec (family:key=value,...){}",
        did_you_mean(nearest)
    )]
    NotASpec {
        /// The text.
        text: String,
        /// Close presets and families.
        nearest: Vec<String>,
    },
    /// No generator of that name.
    #[error("no topology family is called \"{name}\"{}", did_you_mean(nearest))]
    UnknownFamily {
        /// The name.
        name: String,
        /// Close family names; all of them if none is close.
        nearest: Vec<String>,
    },
    /// No preset of that name.
    #[error("no preset is called \"@{name}\"{}", did_you_mean(nearest))]
    UnknownPreset {
        /// The name, without `@`.
        name: String,
        /// Close preset names, with `@`.
        nearest: Vec<String>,
    },
    /// A preset that no family covers, with keys.
    #[error("@{preset} is no generator's fabric, and has no keys")]
    NoKeys {
        /// The preset, without `@`.
        preset: &'static str,
    },
    /// A key that the family does not have.
    #[error("{family} has no key \"{key}\"{}", did_you_mean(nearest))]
    UnknownKey {
        /// The family.
        family: &'static str,
        /// The key.
        key: String,
        /// Close keys; all of them if none is close.
        nearest: Vec<String>,
    },
    /// Something between two commas that is not `key=value`.
    #[error("{family}: \"{text}\" is not of the form key=value")]
    NotAPair {
        /// The family.
        family: &'static str,
        /// The text between the commas.
        text: String,
    },
    /// One key twice.
    #[error("{family}: key \"{key}\" is given twice")]
    DuplicateKey {
        /// The family.
        family: &'static str,
        /// The key.
        key: String,
    },
    /// A key that has no default is not there.
    #[error("{family} needs \"{key}\": {expected}")]
    MissingKey {
        /// The family.
        family: &'static str,
        /// The key.
        key: &'static str,
        /// What it means.
        expected: String,
    },
    /// A value that the key cannot have.
    #[error("{family}: {key}={value}: expected {expected}")]
    BadValue {
        /// The family.
        family: &'static str,
        /// The key.
        key: &'static str,
        /// The value.
        value: String,
        /// What it could be.
        expected: String,
    },
    /// A fabric beyond what ids and port numbers can name. Found before anything is allocated.
    #[error("{family}: {count} {what} are more than {limit}, the most that are supported")]
    TooLarge {
        /// The family.
        family: &'static str,
        /// What there would be too many of.
        what: &'static str,
        /// How many there would be; `u64::MAX` stands for more than can be counted.
        count: u64,
        /// How many there may be.
        limit: u64,
    },
    /// The generator wired a port twice or made two equal GUIDs; this is a bug in it.
    #[error("generated fabric is not valid: {0}")]
    Build(#[from] BuildError),
    /// The missing cables of a preset could not be drawn.
    #[error(transparent)]
    Faults(#[from] FaultError),
}

fn did_you_mean(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        [one] => format!("; did you mean {one}?"),
        many => format!("; did you mean one of {}?", many.join(", ")),
    }
}

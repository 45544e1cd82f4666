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
        /// Text of the spec.
        text: String,
        /// Close presets and families.
        nearest: Vec<String>,
    },
    /// No generator of that name.
    #[error("no topology family is called \"{name}\"{}", did_you_mean(nearest))]
    UnknownFamily {
        /// Name that was not found.
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
        /// Name of the family.
        family: &'static str,
        /// Name of the key.
        key: String,
        /// Close keys; all of them if none is close.
        nearest: Vec<String>,
    },
    /// Something between two commas that is not `key=value`.
    #[error("{family}: \"{text}\" is not of the form key=value")]
    NotAPair {
        /// Name of the family.
        family: &'static str,
        /// The text between the commas.
        text: String,
    },
    /// A key is given twice.
    #[error("{family}: key \"{key}\" is given twice")]
    DuplicateKey {
        /// Name of the family.
        family: &'static str,
        /// Name of the key.
        key: String,
    },
    /// A key that has no default is not there.
    #[error("{family} needs \"{key}\": {expected}")]
    MissingKey {
        /// Name of the family.
        family: &'static str,
        /// Name of the key.
        key: &'static str,
        /// Meaning of the key.
        expected: String,
    },
    /// A value that the key cannot have.
    #[error("{family}: {key}={value}: expected {expected}")]
    BadValue {
        /// Name of the family.
        family: &'static str,
        /// Name of the key.
        key: &'static str,
        /// Value as written.
        value: String,
        /// The valid values.
        expected: String,
    },
    /// The fabric exceeds the range of ids or port numbers. Found before anything is allocated.
    #[error("{family}: {count} {what} are more than {limit}, the most that are supported")]
    TooLarge {
        /// Name of the family.
        family: &'static str,
        /// Kind of the element that exceeds its limit.
        what: &'static str,
        /// Number of such elements; `u64::MAX` stands for more than can be counted.
        count: u64,
        /// Maximum number that is allowed.
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

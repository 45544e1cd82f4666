//! Generator specs and presets as text: `family:key=value,...` and `@preset`.
//!
//! The text comes from command lines and scenario files, so every error names the word that is wrong,
//! what was expected in its place, and the names that are close to it.

use thiserror::Error;

use crate::generate::{COMMON_KEYS, FAMILIES, Family, Params};
use crate::presets::{PRESETS, Preset};
use crate::{BuildError, FaultError, Topology};

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

/// Those of `candidates` that someone who typed `name` may have meant, closest first.
///
/// Close is: within a third of its letters in Damerau-Levenshtein distance (insertions, deletions,
/// substitutions and swaps of neighbours), or one is the beginning of the other. Letter case does not
/// count. Equal distances keep the order of `candidates`.
///
/// ```
/// use darkfiber_fabric::nearest;
///
/// assert_eq!(nearest("hyprex", ["torus", "hyperx", "mesh"]), ["hyperx"]);
/// assert_eq!(nearest("sling", ["slingshot-max", "shandy", "slingshot-511"]), [
///     "slingshot-max",
///     "slingshot-511",
/// ]);
/// assert!(nearest("zzz", ["torus", "hyperx"]).is_empty());
/// ```
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let name = name.to_lowercase();
    let mut close: Vec<(usize, &str)> = Vec::new();
    for candidate in candidates {
        let lower = candidate.to_lowercase();
        let distance = strsim::damerau_levenshtein(&name, &lower);
        let prefix = name.len().min(lower.len()) >= 2
            && (lower.starts_with(&name) || name.starts_with(&lower));
        let length = name.chars().count().max(lower.chars().count());
        if prefix || distance <= (length / 3).max(1).min(length.saturating_sub(1)) {
            close.push((distance, candidate));
        }
    }
    close.sort_by_key(|&(distance, _)| distance);
    close.truncate(5);
    close.into_iter().map(|(_, candidate)| candidate).collect()
}

/// [`nearest`], or all candidates where none is close: for lists short enough to print.
pub(crate) fn nearest_or_all<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Vec<String> {
    let all: Vec<&str> = candidates.into_iter().collect();
    let close = nearest(name, all.iter().copied());
    let chosen = if close.is_empty() { all } else { close };
    chosen.into_iter().map(str::to_owned).collect()
}

/// The family of that name or alias.
///
/// # Errors
/// [`SpecError::UnknownFamily`] with the close names.
pub fn family(name: &str) -> Result<&'static dyn Family, SpecError> {
    FAMILIES.iter().copied().find(|f| f.name() == name || f.aliases().contains(&name)).ok_or_else(
        || SpecError::UnknownFamily {
            name: name.to_owned(),
            nearest: nearest_or_all(name, FAMILIES.iter().map(|f| f.name())),
        },
    )
}

/// The preset of that name, with or without the leading `@`.
///
/// # Errors
/// [`SpecError::UnknownPreset`] with the close names.
pub fn preset(name: &str) -> Result<&'static Preset, SpecError> {
    let name = name.strip_prefix('@').unwrap_or(name);
    // The machine was upgraded in place, and goes by either name.
    let name = if name == "tsubame2" { "tsubame25" } else { name };
    PRESETS.iter().find(|p| p.name == name).ok_or_else(|| {
        let close = nearest(name, PRESETS.iter().map(|p| p.name));
        SpecError::UnknownPreset {
            name: name.to_owned(),
            nearest: close.iter().map(|n| format!("@{n}")).collect(),
        }
    })
}

/// Makes the fabric of a generator spec, `family:key=value,...`; the spec becomes its name.
///
/// ```
/// let t = darkfiber_fabric::parse_spec("hyperx:dims=12x8,t=7")?;
/// assert_eq!(t.fabric.switch_count(), 96);
/// assert_eq!(t.fabric.name(), "hyperx:dims=12x8,t=7");
/// # Ok::<(), darkfiber_fabric::SpecError>(())
/// ```
///
/// # Errors
/// If the text is not a spec, a family, key or value is unknown, or the fabric would be too large.
pub fn parse_spec(text: &str) -> Result<Topology, SpecError> {
    let text = text.trim();
    let Some((name, pairs)) = text.split_once(':') else {
        return Err(not_a_spec(text));
    };
    let family = family(name.trim())?;
    let keys = family.keys().iter().chain(COMMON_KEYS);
    let params = Params::parse(family.name(), keys, text, pairs)?;
    family.generate(&params)
}

/// Makes the fabric of `@preset`, of `@preset:key=value,...` with keys of the preset's family that differ, or of a
/// generator spec.
///
/// ```
/// use darkfiber_fabric::open;
///
/// assert_eq!(open("@cab")?.fabric.switch_link_count(), 2592);
/// let error = open("@cap").unwrap_err();
/// assert_eq!(error.to_string(), "no preset is called \"@cap\"; did you mean @cab?");
/// # Ok::<(), darkfiber_fabric::SpecError>(())
/// ```
///
/// # Errors
/// As [`parse_spec`], and [`SpecError::UnknownPreset`].
pub fn open(name_or_spec: &str) -> Result<Topology, SpecError> {
    let text = name_or_spec.trim();
    match text.strip_prefix('@').map(|name| name.split_once(':').ok_or(name)) {
        Some(Ok((name, pairs))) => preset(name)?.build_with(pairs),
        Some(Err(name)) => preset(name)?.build(),
        None => parse_spec(text),
    }
}

fn not_a_spec(text: &str) -> SpecError {
    let presets = nearest(text, PRESETS.iter().map(|p| p.name));
    let families = nearest(text, FAMILIES.iter().map(|f| f.name()));
    SpecError::NotASpec {
        text: text.to_owned(),
        nearest: presets
            .into_iter()
            .map(|p| format!("@{p}"))
            .chain(families.into_iter().map(|f| format!("{f}:...")))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        open(text).expect_err(text).to_string()
    }

    #[test]
    fn errors_name_the_word_and_the_way_out() {
        assert_eq!(
            message("hyprex:dims=4x4"),
            "no topology family is called \"hyprex\"; did you mean hyperx?"
        );
        assert_eq!(message("hyperx:dim=4x4"), "hyperx has no key \"dim\"; did you mean dims?");
        assert_eq!(
            message("hyperx:t=4"),
            "hyperx needs \"dims\": size of each dimension, e.g. 12x8"
        );
        assert_eq!(
            message("kary:k=four,n=2"),
            "kary: k=four: expected a whole number from 1 to 127"
        );
        assert_eq!(message("kary:k=4,n"), "kary: \"n\" is not of the form key=value");
        assert_eq!(message("kary:k=4,k=5,n=2"), "kary: key \"k\" is given twice");
        assert_eq!(
            message("cab"),
            "\"cab\" is neither a preset (@name) nor a spec (family:key=value,...); \
             did you mean @cab?"
        );
        assert_eq!(message("@shany"), "no preset is called \"@shany\"; did you mean @shandy?");
        assert_eq!(
            message("@edison:groups=3"),
            "@edison is no generator's fabric, and has no keys"
        );
        assert_eq!(
            message("@shandy:taper=20"),
            "dragonfly: taper=20: expected a percentage of 8 that is a whole number of cables"
        );
        assert!(message("@shandy:tapre=25").contains("did you mean taper?"));
        assert!(message("@").starts_with("no preset is called \"@\""));
        assert!(message("").contains("neither a preset"));
    }

    #[test]
    fn an_unknown_word_far_from_all_lists_the_choices() {
        let text = message("qqqqqqqqqq:a=1");
        assert!(FAMILIES.iter().all(|f| text.contains(f.name())), "{text}");
    }

    #[test]
    fn nearest_is_ordered_by_distance() {
        assert_eq!(nearest("tours", ["torus", "tree", "ours"]), ["torus", "ours"]);
        assert_eq!(nearest("MESH", ["mesh"]), ["mesh"]);
        assert!(nearest("a", ["b"]).is_empty());
        assert!(nearest("", ["mesh"]).is_empty());
    }
}

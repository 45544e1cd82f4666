//! Generator specs and presets as text: `family:key=value,...` and `@preset`.
//!
//! The text comes from command lines and scenario files, so every error names the wrong word, what was expected in
//! its place, and the names that are close to it.

use crate::close_names::{nearest, nearest_or_all};
use crate::generate::{COMMON_KEYS, FAMILIES, Family, Params};
use crate::presets::{PRESETS, Preset};
use crate::{SpecError, Topology};

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

//! A fabric by the name of a preset or by a generator spec.

use crate::{SpecError, Topology, parse_spec, preset};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FAMILIES;

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
}

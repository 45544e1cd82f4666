//! The registry of patterns.

use darkfiber_fabric::{Key, Params, Registry, nearest};

use super::{
    Participants, Pattern, PatternError, adversarial, bits, collectives, neighbours, random, shift,
};

/// A kind of pattern: parameters and participants in, pairs out.
pub trait PatternKind: Sync {
    /// The word before the colon.
    fn name(&self) -> &'static str;

    /// Other words for it.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// One line for a list.
    fn summary(&self) -> &'static str;

    /// The exact pairs of the pattern, and the source of its definition.
    fn doc(&self) -> &'static str;

    /// Keys of its spec.
    fn keys(&self) -> &'static [Key] {
        &[]
    }

    /// Makes it for these participants.
    ///
    /// # Errors
    /// If a value cannot be, or this many participants cannot do it.
    fn make(&self, params: &Params, among: &Participants)
    -> Result<Box<dyn Pattern>, PatternError>;
}

/// All kinds of patterns.
pub static PATTERNS: Registry<&dyn PatternKind> = Registry::new(
    "pattern",
    &[
        &random::BISECT,
        &random::PERMUTATION,
        &random::DISSEMINATION,
        &shift::Shift,
        &shift::Ring,
        &shift::AllToAll,
        &shift::Tornado,
        &bits::BitComplement,
        &bits::BitReverse,
        &bits::Transpose,
        &neighbours::NN2D,
        &neighbours::NN3D,
        &neighbours::NN4D,
        &collectives::RECURSIVE_DOUBLING,
        &collectives::BINOMIAL,
        &collectives::BRUCK,
        &collectives::BARRIER,
        &shift::Incast,
        &adversarial::Adversarial,
    ],
);

impl darkfiber_fabric::Entry for &dyn PatternKind {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn aliases(&self) -> &[&str] {
        (**self).aliases()
    }
}

/// The kind of that name or alias.
///
/// # Errors
/// [`PatternError::Unknown`] with the close names.
pub fn kind(name: &str) -> Result<&'static dyn PatternKind, PatternError> {
    let found = PATTERNS.iter().find(|k| k.name() == name || k.aliases().contains(&name));
    found.copied().ok_or_else(|| PatternError::Unknown {
        name: name.to_owned(),
        nearest: (nearest(name, PATTERNS.iter().map(|k| k.name())).into_iter())
            .map(str::to_owned)
            .collect(),
    })
}

/// The pattern of a spec, `kind` or `kind:key=value,...`, among these participants.
///
/// # Errors
/// If the kind, a key or a value is unknown, or this many participants cannot do it.
pub fn pattern(spec: &str, among: &Participants) -> Result<Box<dyn Pattern>, PatternError> {
    let text = spec.trim();
    let (name, pairs) = text.split_once(':').unwrap_or((text, ""));
    let kind = kind(name.trim())?;
    let params = Params::parse(kind.name(), kind.keys(), text, pairs)?;
    kind.make(&params, among)
}

//! Freedom of a repair: the changes that it may make.

/// Changes that a repair may make besides giving cut-off switches new entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each may be given without the others")]
pub(super) struct Freedom {
    /// Whether paths may move to another virtual layer. If not, entries of switches that the fault did not cut off may
    /// change before a row is given up.
    pub(super) levels: bool,
    /// Whether new paths may be incompatible with old ones.
    pub(super) apart: bool,
    /// Whether rows that the fault did not touch may be moved where a channel would be far too full.
    pub(super) ease: bool,
    /// Whether cut-off switches that no path between terminals passes are left without an entry.
    pub(super) close: bool,
    /// The criterion by which new paths are chosen.
    pub(super) choice: ChoiceBy,
}

/// The criterion by which new paths are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChoiceBy {
    /// Even loads, and paths that are no longer than those of the old tables.
    Load,
    /// As few changed entries as possible, whatever the loads and the lengths of paths.
    Entries,
    /// Every row takes the detour that [`Prepared::protected`](super::Prepared::protected) reserved, and no other.
    Plan,
    /// Every row takes the detour that adds the fewest channel dependencies.
    Fit,
}

impl Freedom {
    /// Everything is allowed: whatever changes least.
    pub(super) const ALL: Self =
        Self { levels: true, apart: true, ease: true, close: false, choice: ChoiceBy::Load };
}

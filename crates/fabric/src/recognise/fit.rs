//! The comparison that decides: the cables of a supposed structure that are missing in the fabric, and the reverse.

use super::net::Net;

/// Most cables between present switches that may be missing, in percent of the structure's.
const MOST_MISSING: u64 = 8;
/// Most cables that the structure does not have, in percent of the structure's.
const MOST_EXTRA: u64 = 2;
/// Two cables that swapped an end are accepted up to this share, in percent of the structure's.
const MOST_SWAPPED: u64 = 5;
/// Most places without a switch, in percent of the structure's; one is always allowed.
const MOST_VACANT: u64 = 5;

/// Differences of a fabric from a supposed structure.
#[derive(Default)]
pub(super) struct Fit {
    /// Cables that the structure has between the present switches.
    pub(super) expected: u64,
    /// Two switches and the number of missing cables between them.
    pub(super) missing: Vec<(u32, u32, u32)>,
    /// Two switches and the cables that they have too many.
    pub(super) extra: Vec<(u32, u32, u32)>,
    /// Two groups and the cables that are missing between them, where the structure leaves open which
    /// of their switches those join.
    pub(super) between: Vec<((u32, u32), u32)>,
    /// Switches and the cables that they lack, where nothing tells to whom.
    pub(super) short: Vec<(u32, u32)>,
    /// Places of the structure, with or without a switch.
    pub(super) places: u64,
    /// The places without one, by name.
    pub(super) vacant: Vec<String>,
}

impl Fit {
    /// Compares the pairs of neighbours that `judged` accepts with those of the structure: two
    /// switches and their cables, every pair once.
    pub(super) fn of(
        net: &Net<'_>,
        ideal: impl IntoIterator<Item = (u32, u32, u32)>,
        judged: impl Fn(u32, u32) -> bool,
    ) -> Self {
        let mut wanted: Vec<(u32, u32, u32)> =
            ideal.into_iter().map(|(s, v, n)| (s.min(v), s.max(v), n)).collect();
        wanted.sort_unstable();
        let mut fit = Self { places: net.len() as u64, ..Self::default() };
        let mut next = wanted.iter().copied().peekable();
        for &(s, v) in net.edges.iter().filter(|&&(s, v)| judged(s, v)) {
            while let Some(gone) = next.next_if(|w| (w.0, w.1) < (s, v)) {
                fit.missing.push(gone);
            }
            let has = net.cables(s, v);
            let ideal = next.next_if(|w| (w.0, w.1) == (s, v)).map_or(0, |w| w.2);
            if has < ideal {
                fit.missing.push((s, v, ideal - has));
            } else if has > ideal {
                fit.extra.push((s, v, has - ideal));
            }
        }
        fit.missing.extend(next);
        fit.expected = wanted.iter().map(|w| u64::from(w.2)).sum();
        fit
    }

    /// Cables between present switches in which the two differ.
    pub(super) fn off(&self) -> u64 {
        self.missing.iter().chain(&self.extra).map(|m| u64::from(m.2)).sum()
    }

    /// Whether a structure of this many places is worth comparing with this many switches.
    ///
    /// # Errors
    /// If it has too many vacant ones, or too few.
    pub(super) fn worth(places: u64, switches: usize) -> Result<(), String> {
        let switches = switches as u64;
        if places < switches {
            return Err(format!("{switches} switches on {places} places"));
        }
        let vacant = places - switches;
        if vacant > 1 && vacant * 100 > places * MOST_VACANT {
            return Err(format!("{vacant} of {places} places would be vacant"));
        }
        Ok(())
    }

    /// Accepts the fit if the fabric differs by little enough to be a damaged copy.
    ///
    /// # Errors
    /// The kind of cable that exceeds its limit.
    pub(super) fn accept(self) -> Result<Self, String> {
        Self::worth(self.places, (self.places as usize).saturating_sub(self.vacant.len()))?;
        let sum = |all: &[(u32, u32, u32)]| all.iter().map(|m| u64::from(m.2)).sum::<u64>();
        let between: u64 = self.between.iter().map(|m| u64::from(m.1)).sum();
        let (missing, extra) = (sum(&self.missing) + between, sum(&self.extra));
        let expected = self.expected;
        if missing > 1 && missing * 100 > expected * MOST_MISSING {
            return Err(format!("{missing} of {expected} cables would be missing"));
        }
        let most = if extra <= 2 { MOST_SWAPPED } else { MOST_EXTRA };
        if extra * 100 > expected * most {
            return Err(format!("{extra} cables would be too many for {expected}"));
        }
        Ok(self)
    }
}

//! The cables between the groups of a dragonfly or dragonfly+: how many a pair of groups gets, and on
//! which members' ports they end.

use crate::SpecError;

use super::Params;
use super::spread::{CableEnd, Spread};

/// Groups, and the global ports of the members that have some (all switches of a dragonfly group, the
/// spines of a dragonfly+ group).
pub(super) struct Global {
    /// Number of groups.
    pub(super) g: u32,
    /// Global ports of a member.
    pub(super) h: u32,
    /// Members of a group with global ports.
    members: u32,
    /// Rule by which cables are spread; `None` for ports in order.
    spread: Option<Spread>,
}

impl Global {
    /// Reads `h`, `g`, `per_pair` and `taper` for groups of `members` such switches, which are called `what` in
    /// errors.
    pub(super) fn read(params: &Params, members: u32, what: &str) -> Result<Self, SpecError> {
        let per_pair = params.get("per_pair", 1..=65_535)?;
        let h = match per_pair {
            None => params.need("h", 0..=254)?,
            Some(_) => params.get("h", 0..=254)?.unwrap_or(254),
        };
        let full = members * h + 1;
        let g = match (params.raw("g"), per_pair) {
            (None, Some(_)) if params.raw("h").is_none() => params.need("g", 1..=full)?,
            _ => params.get("g", 1..=full)?.unwrap_or(full),
        };
        let mut spread = match per_pair {
            None if g < full => None,
            _ => Some(Spread { groups: g, members, per_pair: per_pair.unwrap_or(1) }),
        };
        if let Some(percent) = params.get("taper", 1..=100)? {
            let all = spread.map_or(members * h / (g - 1).max(1), |s| s.per_pair);
            if all * percent % 100 != 0 {
                let expected = format!("a percentage of {all} that is a whole number of cables");
                return Err(params.bad("taper", expected));
            }
            spread = Some(Spread { groups: g, members, per_pair: all * percent / 100 });
        }
        let most = spread.map_or(0, Spread::most);
        if most > u64::from(h) {
            let fit = u64::from(members * h) / u64::from(g - 1).max(1);
            let expected = format!(
                "at most {fit}, as {members} {what} with {h} global ports have no more for {} other \
                 groups",
                g - 1
            );
            return Err(params.bad("per_pair", expected));
        }
        let h = params.get("h", 0..=254)?.unwrap_or(most as u32);
        Ok(Self { g, h, members, spread })
    }

    /// Cables of a pair of groups.
    fn per_pair(&self) -> u64 {
        match self.spread {
            Some(spread) => spread.per_pair.into(),
            None if self.g > 1 => u64::from(self.members * self.h / (self.g - 1)),
            None => 0,
        }
    }

    /// Cables between groups, saturated.
    pub(super) fn count(&self) -> u64 {
        let g = u64::from(self.g);
        (g * (g - 1) / 2).saturating_mul(self.per_pair())
    }

    /// All cables between groups.
    pub(super) fn cables(&self) -> impl Iterator<Item = (CableEnd, CableEnd)> {
        let spread = self.spread.map(Spread::cables);
        let rounds = self.spread.is_none().then(|| self.rounds());
        spread.into_iter().flatten().chain(rounds.into_iter().flatten())
    }

    /// Global ports in order: for each pair of groups the next free one of either.
    fn rounds(&self) -> impl Iterator<Item = (CableEnd, CableEnd)> + use<> {
        let mut used = vec![0; self.g as usize];
        let (g, h) = (self.g, self.h);
        let mut next = move |group: u32| {
            let c = used[group as usize];
            used[group as usize] += 1;
            (group, c / h, c % h)
        };
        let pairs = move || (0..g).flat_map(move |i| (i + 1..g).map(move |j| (i, j)));
        (0..self.per_pair()).flat_map(move |_| pairs()).map(move |(i, j)| (next(i), next(j)))
    }
}

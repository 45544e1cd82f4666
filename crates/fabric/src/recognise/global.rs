//! Cables between groups: equally many between any two, as in a dragonfly.

use std::collections::BTreeMap;

use super::fit::Fit;
use super::net::{Net, typical};

/// The groups of a dragonfly.
pub(super) struct Groups {
    /// Group of each switch, numbered from 0.
    pub(super) of: Vec<u32>,
    /// For each group the number of its missing switches.
    pub(super) vacant: Vec<u32>,
}

impl Groups {
    /// Compares the cables between groups with the usual number and adds differences to `fit`. Returns that number.
    ///
    /// # Errors
    /// If too few pairs of groups have any cable.
    pub(super) fn join(&self, net: &Net<'_>, fit: &mut Fit) -> Result<u32, String> {
        let g = self.vacant.len();
        let group = |s: u32| self.of[s as usize];
        let mut between: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        let mut global = vec![0; net.len()];
        let mut bundles = Vec::new();
        for &(s, v) in net.edges.iter().filter(|&&(s, v)| group(s) != group(v)) {
            let (a, b) = (group(s).min(group(v)), group(s).max(group(v)));
            let cables = net.cables(s, v);
            *between.entry((a, b)).or_default() += cables;
            global[s as usize] += cables;
            global[v as usize] += cables;
            bundles.push((s, v, cables));
        }
        let pairs = g * (g - 1) / 2;
        if between.len() * 10 < pairs * 7 {
            return Err(format!(
                "{} of {pairs} pairs of groups have no cable",
                pairs - between.len()
            ));
        }
        let none = std::iter::repeat_n(0, pairs - between.len());
        // Losses of bundles count here, so that few groups with a loss each do not hide it.
        let usual = usual(&bundles);
        let mut whole = between.clone();
        for &(s, v, cables) in &bundles {
            let pair = (group(s).min(group(v)), group(s).max(group(v)));
            *whole.entry(pair).or_default() += usual.saturating_sub(cables);
        }
        let per_pair = typical(whole.into_values().chain(none));
        fit.expected += u64::from(per_pair) * pairs as u64;
        let mut lacks: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for a in 0..g as u32 {
            for b in a + 1..g as u32 {
                let has = between.get(&(a, b)).copied().unwrap_or(0);
                if has < per_pair {
                    lacks.insert((a, b), per_pair - has);
                } else if has > per_pair {
                    self.spare(&bundles, (a, b), has - per_pair, fit);
                }
            }
        }
        let most = typical(global.iter().copied());
        let budget = global.iter().copied().max().unwrap_or(0);
        self.gone_with_switches(budget, &mut lacks);
        Self::from_bundles(&bundles, group, &mut lacks, fit);
        self.by_degree(&global, most, &mut lacks, fit);
        fit.between.extend(lacks.into_iter().filter(|(_, n)| *n > 0));
        Ok(per_pair)
    }

    /// It cannot be determined which cables are extra; the last are named.
    fn spare(&self, bundles: &[(u32, u32, u32)], pair: (u32, u32), count: u32, fit: &mut Fit) {
        let mut left = count;
        for &(s, v, cables) in bundles.iter().rev() {
            let (a, b) = (self.of[s as usize], self.of[v as usize]);
            if left > 0 && (a.min(b), a.max(b)) == pair {
                let here = cables.min(left);
                fit.extra.push((s, v, here));
                left -= here;
            }
        }
    }

    /// Missing cables of a group with a missing switch are first of all that switch's cables, up to `each`.
    fn gone_with_switches(&self, each: u32, lacks: &mut BTreeMap<(u32, u32), u32>) {
        let mut budget: Vec<u32> = self.vacant.iter().map(|v| v * each).collect();
        for (&(a, b), lack) in lacks.iter_mut() {
            for group in [a, b] {
                let explained = budget[group as usize].min(*lack);
                budget[group as usize] -= explained;
                *lack -= explained;
            }
        }
    }

    /// Where two switches of different groups always have several cables, those with fewer have missing ones.
    fn from_bundles(
        bundles: &[(u32, u32, u32)],
        group: impl Fn(u32) -> u32,
        lacks: &mut BTreeMap<(u32, u32), u32>,
        fit: &mut Fit,
    ) {
        let usual = usual(bundles);
        for &(s, v, cables) in bundles.iter().filter(|b| b.2 < usual) {
            let (a, b) = (group(s), group(v));
            if let Some(lack) = lacks.get_mut(&(a.min(b), a.max(b))) {
                let here = (usual - cables).min(*lack);
                if here > 0 {
                    fit.missing.push((s, v, here));
                    *lack -= here;
                }
            }
        }
    }

    /// Where all switches have equally many cables to other groups, a cable is missing between those with
    /// fewer, if each group has just one such.
    fn by_degree(
        &self,
        global: &[u32],
        most: u32,
        lacks: &mut BTreeMap<(u32, u32), u32>,
        fit: &mut Fit,
    ) {
        let thin: Vec<u32> =
            (0..global.len() as u32).filter(|&s| (1..most).contains(&global[s as usize])).collect();
        if thin.len() * 4 > global.len() {
            return;
        }
        let mut only: BTreeMap<u32, Option<u32>> = BTreeMap::new();
        for s in thin {
            only.entry(self.of[s as usize]).and_modify(|s| *s = None).or_insert(Some(s));
        }
        for (&(a, b), lack) in lacks.iter_mut().filter(|(_, lack)| **lack == 1) {
            let one = |group: u32| {
                only.get(&group).copied().flatten().filter(|_| self.vacant[group as usize] == 0)
            };
            if let (Some(s), Some(v)) = (one(a), one(b)) {
                fit.missing.push((s, v, *lack));
                *lack = 0;
            }
        }
    }
}

/// The cables that two switches of different groups have if they have any; 1 if that differs.
fn usual(bundles: &[(u32, u32, u32)]) -> u32 {
    let usual = typical(bundles.iter().map(|b| b.2));
    let thin = bundles.iter().filter(|b| b.2 < usual).count();
    if thin * 4 > bundles.len() { 1 } else { usual }
}

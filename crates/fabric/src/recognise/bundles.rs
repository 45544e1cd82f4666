//! Bundles of parallel cables, and which of them follow each other in one dimension.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::net::Net;
use super::sets::Sets;
use super::torus::Steps;

/// What cycles of four tell of the cables of a lattice.
#[derive(Clone)]
pub(super) struct Bundles {
    /// Pairs of neighbours that are parallel.
    sets: Sets,
    /// Per pair of neighbours how many there are in its bundle.
    trust: Vec<u32>,
    /// Two bundles that meet in so many switches and span no cycle of four, and whether the second is
    /// turned if the first goes on in it.
    follow: Vec<(u32, usize, usize, bool)>,
    /// Two bundles that span a cycle of four somewhere, so that they are of different dimensions.
    differ: BTreeSet<(usize, usize)>,
}

impl Bundles {
    /// Looks at all cycles of four.
    ///
    /// # Errors
    /// If opposite sides have contradicting directions.
    pub(super) fn new(net: &Net<'_>) -> Result<Self, String> {
        let mut bundles = Sets::new(net.edges.len());
        let mut twisted = 0;
        let mut square = vec![];
        for s in 0..net.len() as u32 {
            let near: Vec<(u32, usize)> = net.incident(s).collect();
            for (i, &(v, e)) in near.iter().enumerate() {
                for &(x, f) in &near[i + 1..] {
                    for w in net.common(v, x).filter(|&w| w != s) {
                        square.push((e, f));
                        let (Some(a), Some(b)) = (net.edge_of(x, w), net.edge_of(v, w)) else {
                            continue;
                        };
                        // From s to v as from x to w, from s to x as from v to w.
                        let parallel = bundles.unite(e, a, (s < v) != (x < w));
                        let also = bundles.unite(f, b, (s < x) != (v < w));
                        twisted += usize::from(!parallel) + usize::from(!also);
                    }
                }
            }
        }
        if twisted * 20 > net.edges.len() {
            return Err("opposite sides of its cycles of four are not parallel".to_owned());
        }
        square.sort_unstable();

        // For each two bundles that meet: switches where they span no cycle, and which way they follow
        // each other there. A bundle of one cable says nothing.
        let mut meet: BTreeMap<(usize, usize), [u32; 2]> = BTreeMap::new();
        let mut differ: BTreeSet<(usize, usize)> = BTreeSet::new();
        for s in 0..net.len() as u32 {
            let near: Vec<(u32, usize)> = net.incident(s).collect();
            for (i, &(v, e)) in near.iter().enumerate() {
                for &(x, f) in &near[i + 1..] {
                    let ((a, back_e), (b, back_f)) = (bundles.find(e), bundles.find(f));
                    if a == b || bundles.size(a) < 2 || bundles.size(b) < 2 {
                        continue;
                    }
                    let pair = (a.min(b), a.max(b));
                    if square.binary_search(&(e, f)).is_ok() {
                        differ.insert(pair);
                    } else {
                        // The way from v over s to x goes on in one direction.
                        let along = (v < s) ^ back_e;
                        let on = (s < x) ^ back_f;
                        meet.entry(pair).or_default()[usize::from(along != on)] += 1;
                    }
                }
            }
        }
        let follow = (meet.into_iter())
            .filter(|(pair, _)| !differ.contains(pair))
            .filter_map(|((a, b), [same, turned])| {
                let votes = same.max(turned);
                let least = bundles.size(a).min(bundles.size(b));
                (votes as usize * 2 >= least).then_some((votes, a, b, turned > same))
            })
            .collect();
        let trust = (0..net.edges.len())
            .map(|e| {
                let bundle = bundles.root(e);
                bundles.size(bundle) as u32
            })
            .collect();
        Ok(Self { sets: bundles, trust, follow, differ })
    }

    /// How many parallel cables the middle one has.
    fn median(&self) -> u32 {
        let mut sizes = self.trust.clone();
        sizes.sort_unstable();
        sizes.get(sizes.len() / 2).copied().unwrap_or(0)
    }

    /// How few votes and parallel cables may count, to be tried in this order. Few of them can be pieces
    /// that damage has cut off and that seem to belong anywhere; but a lattice can be so small that it has
    /// no others.
    pub(super) fn thresholds(&self) -> &'static [u32] {
        if self.median() > 4 { &[3, 4, 5, 2] } else { &[2, 3] }
    }

    /// Puts bundles that follow each other into one dimension, while no two of them span a cycle of four.
    /// What many switches say goes before what few say: at a corner of the lattice that lacks a cable two
    /// bundles of different dimensions may seem to follow each other.
    pub(super) fn group(mut self, net: &Net<'_>, few: u32) -> Steps {
        let mut dimensions = Sets::new(net.edges.len());
        let mut apart: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for &(a, b) in &self.differ {
            apart.entry(a).or_default().insert(b);
            apart.entry(b).or_default().insert(a);
        }
        let mut least = self.follow.iter().map(|f| f.0).max().unwrap_or(0);
        while least >= few {
            let mut sum: BTreeMap<(usize, usize, bool), u32> = BTreeMap::new();
            for &(votes, a, b, turned) in &self.follow {
                let ((a, back_a), (b, back_b)) = (dimensions.find(a), dimensions.find(b));
                if a != b {
                    let pair = (a.min(b), a.max(b), turned ^ back_a ^ back_b);
                    *sum.entry(pair).or_default() += votes;
                }
            }
            let mut strong: Vec<_> = sum.into_iter().filter(|s| s.1 >= least).collect();
            strong.sort_by_key(|&(pair, votes)| (Reverse(votes), pair));
            let mut joined = false;
            for ((a, b, turned), _) in strong {
                // Either may have grown since; the sums then say too little, which is made up for in the
                // next round.
                let roots = dimensions.root(a) == a && dimensions.root(b) == b;
                if !roots || apart.get(&a).is_some_and(|set| set.contains(&b)) {
                    continue;
                }
                joined |= dimensions.unite(a, b, turned);
                let (top, low) = if dimensions.root(a) == a { (a, b) } else { (b, a) };
                let moved = apart.remove(&low).unwrap_or_default();
                for z in &moved {
                    let others = apart.entry(*z).or_default();
                    others.remove(&low);
                    others.insert(top);
                }
                apart.entry(top).or_default().extend(moved);
            }
            if !joined {
                least = if least > few { (least / 2).max(few) } else { 0 };
            }
        }
        let mut size: BTreeMap<usize, usize> = BTreeMap::new();
        let root: Vec<(usize, bool)> = (0..net.edges.len())
            .map(|e| {
                let (bundle, back) = self.sets.find(e);
                let (dimension, turned) = dimensions.find(bundle);
                *size.entry(dimension).or_default() += 1;
                (dimension, back ^ turned)
            })
            .collect();
        // The smallest dimension, of two layers, has half as many cables as there are switches.
        size.retain(|_, pairs| *pairs * 5 >= net.len());
        let number: BTreeMap<usize, usize> = size.into_keys().zip(0..).collect();
        let least_trust = few.min(self.median());
        let step = root.into_iter().zip(&self.trust).map(|((d, back), &trust)| {
            number.get(&d).filter(|_| trust >= least_trust).map(|&d| (d, back))
        });
        Steps { dimensions: number.len(), step: step.collect(), trust: self.trust }
    }
}

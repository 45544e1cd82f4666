//! Candidate graphs divided into what depends on loads and what does not, for passes that choose again and again.

use darkfiber_fabric::SwitchId;

use super::dag::{Candidate, Dag};

/// A candidate graph, and the part of it in which a choice can change something.
#[derive(Clone, Default)]
pub(super) struct DividedDag {
    /// All of it.
    pub(super) whole: Dag,
    /// The destination, the switches with several candidates, and those that others may send over, where these are few enough for that to
    /// pay. Distances are those of the whole.
    open: Option<Dag>,
    /// All others, with their only candidate: whatever is chosen elsewhere, it carries the paths of this switch alone. On a balanced
    /// dragonfly these are more than half.
    pub(super) settled: Vec<(u32, Candidate)>,
    /// By switch, whether others may send over it.
    is_passed: Vec<bool>,
}

/// A graph is divided where at least one switch in this many has one candidate alone: a copy of nearly all of it takes room in caches.
const PAYS: usize = 4;

impl DividedDag {
    /// Makes it of a rule for the whole.
    pub(super) fn make(&mut self, home: SwitchId, rule: impl Fn(&mut Dag, SwitchId)) {
        let Self { whole, open, settled, is_passed } = self;
        rule(whole, home);
        settled.clear();
        let alone = whole.rows().filter(|(_, candidates)| candidates.len() == 1).count();
        if alone * PAYS < whole.order.len() {
            *open = None;
            return;
        }
        let open = open.get_or_insert_default();
        is_passed.clear();
        is_passed.resize(whole.dist.len(), false);
        for (_, candidates) in whole.rows() {
            for c in candidates {
                is_passed[c.head as usize] = true;
            }
        }
        open.clear(0);
        open.order.push(home.0);
        open.end_row();
        for (s, candidates) in whole.rows() {
            match candidates {
                [only] if !is_passed[s as usize] => settled.push((s, *only)),
                _ => open.add_row(s, candidates),
            }
        }
    }

    /// The part in which a choice can change something: all of it where it is not divided.
    #[inline]
    pub(super) fn open(&self) -> &Dag {
        self.open.as_ref().unwrap_or(&self.whole)
    }

    /// By switch, whether others may send over it: switches with one candidate that nobody sends over are settled. `None` if none is.
    #[inline]
    pub(super) fn is_passed(&self) -> Option<&[bool]> {
        self.open.is_some().then_some(&self.is_passed[..])
    }

    /// Memory in use, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let settled = self.settled.len() * size_of::<(u32, Candidate)>();
        let open = self.open.as_ref().map_or(0, Dag::bytes);
        self.whole.bytes() + open + settled + self.is_passed.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_sends_over_what_is_settled() {
        for spec in ["dragonfly:p=2,a=4,h=2", "fattree2:n=3,m=2,r=4", "hyperx:dims=3x4,t=1"] {
            let fabric = darkfiber_fabric::parse_spec(spec).expect("a spec").fabric;
            let mut dag = DividedDag::default();
            for home in (0..fabric.switch_count()).map(SwitchId::new) {
                dag.make(home, |dag, home| dag.shortest(&fabric, home));
                let settled: Vec<u32> = dag.settled.iter().map(|&(s, _)| s).collect();
                assert_eq!(settled.len() + dag.open().order.len(), fabric.switch_count(), "{spec}");
                for (s, candidates) in dag.whole.rows() {
                    assert!(candidates.iter().all(|c| !settled.contains(&c.head)), "{spec}");
                    let is_open = dag.open().rows().any(|(open, _)| open == s);
                    assert_ne!(is_open, settled.contains(&s), "{spec}");
                    assert!(is_open || candidates.len() == 1, "{spec}");
                }
            }
        }
    }
}

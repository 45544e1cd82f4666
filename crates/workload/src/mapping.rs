//! Groups of nodes that run jobs together.

use std::collections::BTreeSet;

/// The jobs that matter for routing: those on several switches, as sorted lists of nodes in sorted order. Ids are
/// left out, so that a job in the place of another on the same nodes is no change (Domke, Hoefler,
/// "Scheduling-Aware Routing for Supercomputers", SC'16, section 3.2.1, figure 5).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    jobs: BTreeSet<Vec<String>>,
    /// Jobs on the same nodes as another: they add nothing.
    repeated: usize,
    /// Jobs on one switch.
    on_one_switch: usize,
}

impl Mapping {
    /// Adds a job. `switch_of` gives the switches of a node, none if it is unknown: such a node is assumed to be on a
    /// separate switch.
    pub fn add(&mut self, nodes: &[String], switch_of: impl Fn(&str) -> Vec<u32>) {
        let mut nodes = nodes.to_vec();
        nodes.sort_unstable();
        nodes.dedup();
        let mut switches = BTreeSet::new();
        let mut strangers = 0;
        for node in &nodes {
            let on = switch_of(node);
            strangers += usize::from(on.is_empty());
            switches.extend(on);
        }
        if switches.len() + strangers < 2 || nodes.len() < 2 {
            self.on_one_switch += 1;
        } else if !self.jobs.insert(nodes) {
            self.repeated += 1;
        }
    }

    /// The jobs, each a sorted list of nodes.
    pub fn jobs(&self) -> impl ExactSizeIterator<Item = &[String]> {
        self.jobs.iter().map(Vec::as_slice)
    }

    /// Whether the same nodes run jobs together.
    pub fn is_like(&self, other: &Self) -> bool {
        self.jobs == other.jobs
    }

    /// Jobs on one switch, which are left out.
    pub fn on_one_switch(&self) -> usize {
        self.on_one_switch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(jobs: &[&str]) -> Mapping {
        let mut all = Mapping::default();
        for job in jobs {
            let nodes: Vec<String> = job.split(' ').map(str::to_owned).collect();
            // a1, a2, ... hang on switch a.
            all.add(&nodes, |node| match node.as_bytes() {
                [b'x', ..] | [] => Vec::new(),
                [first, ..] => vec![u32::from(*first)],
            });
        }
        all
    }

    #[test]
    fn ids_and_orders_do_not_matter() {
        let one = of(&["a1 b1", "c1 c2", "a2 b2 c3"]);
        assert!(one.is_like(&of(&["c3 b2 a2", "b1 a1"])));
        assert!(!one.is_like(&of(&["a1 b1"])));
        assert_eq!((one.jobs().len(), one.on_one_switch()), (2, 1));
        assert!(of(&["a1 b1", "b1 a1"]).is_like(&of(&["a1 b1"])));
    }

    #[test]
    fn strangers_are_kept() {
        let one = of(&["x1 x2", "a1 x1", "x3", "a1"]);
        assert_eq!((one.jobs().len(), one.on_one_switch()), (2, 2));
    }
}

//! Trees that collectives follow, rooted at 0.

/// Parents and children of ranks; numbers count from the root.
pub(super) struct Tree {
    pub(super) parent: Vec<Option<u32>>,
    pub(super) children: Vec<Vec<u32>>,
}

impl Tree {
    fn new(n: u32, parent: impl Fn(u32) -> u32) -> Self {
        let mut tree = Self { parent: vec![None], children: vec![Vec::new(); n as usize] };
        for v in 1..n {
            let p = parent(v);
            tree.parent.push(Some(p));
            tree.children[p as usize].push(v);
        }
        tree
    }

    /// All below the root.
    pub(super) fn star(n: u32) -> Self {
        Self::new(n, |_| 0)
    }

    /// This many chains of almost equal length below the root.
    pub(super) fn chains(n: u32, fanout: u32) -> Self {
        let fanout = fanout.clamp(1, n.max(2) - 1);
        // Chains are runs of ranks, longer ones first.
        let (short, longer) = ((n - 1) / fanout, (n - 1) % fanout);
        let begins = |v: u32| {
            let at = v - 1;
            let in_long = longer * (short + 1);
            if at < in_long {
                at.is_multiple_of(short + 1)
            } else {
                (at - in_long).is_multiple_of(short)
            }
        };
        Self::new(n, |v| if begins(v) { 0 } else { v - 1 })
    }

    /// Two below each: 2 v + 1 and 2 v + 2.
    pub(super) fn binary(n: u32) -> Self {
        Self::new(n, |v| (v - 1) / 2)
    }

    /// Round k doubles the reached ranks: v has its highest bit from its parent, and 0 the children 1, 2, 4, ...
    pub(super) fn binomial(n: u32) -> Self {
        Self::new(n, |v| v & !(1 << v.ilog2()))
    }

    /// Below each is a run of numbers: v has its lowest bit from its parent.
    pub(super) fn in_order(n: u32) -> Self {
        Self::new(n, |v| v & (v - 1))
    }

    /// The tree that, with its mirror image, gives every rank at most one place with children: leaves are the odd
    /// numbers, and 0 has one child (Sanders, Speck, Traeff: "Two-tree algorithms for full bandwidth broadcast,
    /// reduction and scan", Parallel Computing 35, 2009).
    pub(super) fn half_of_two(n: u32) -> Self {
        let parent = |v: u32| {
            let low = v & v.wrapping_neg();
            let up = v ^ low | low << 1;
            if up < n { up } else { v ^ low }
        };
        let mut tree =
            Self { parent: vec![None; n as usize], children: vec![Vec::new(); n as usize] };
        for v in 1..n {
            tree.parent[v as usize] = Some(parent(v));
            tree.children[parent(v) as usize].push(v);
        }
        tree
    }

    /// Length of the run of numbers below v of [`Tree::in_order`], v counted.
    pub(super) fn run(v: u32, n: u32) -> u32 {
        if v == 0 { n } else { (1 << v.trailing_zeros()).min(n - v) }
    }
}

//! Two- and three-level trees as the search sees them.

use crate::engines::modk::Tree;

/// A regular tree of two or three levels of switches. All subtrees below the top are alike, so one of them
/// stands for all.
pub(super) struct Tower {
    /// Terminals of a leaf.
    pub(super) leaf: usize,
    /// Terminals of a subtree below the top: a leaf, or a pod of leaves.
    pub(super) places: usize,
    /// Number of such subtrees.
    pub(super) subtrees: usize,
    /// Up ports of a leaf, and how many switches they lead to.
    pub(super) up: u32,
    pub(super) parents: u32,
    /// Up ports of a second-level switch; 1 if there are two levels.
    pub(super) second: u32,
    /// Whether there are three levels.
    pub(super) three: bool,
    /// Number of each terminal in tree order.
    pub(super) index: Vec<u32>,
}

/// The LID that a place uses as source, and the up path to each place for each LID.
#[derive(Clone)]
pub(super) struct Assignment {
    /// Class of each place.
    pub(super) class: Vec<u16>,
    pub(super) classes: usize,
    /// `slots[class * places + destination]`: up port of the leaf + up ports x up port of the second level.
    pub(super) slots: Vec<u32>,
}

impl Tower {
    pub(super) fn of(tree: &Tree<'_>) -> Result<Self, String> {
        let pgft = tree.pgft();
        let levels = pgft.m.len();
        if !(2..=3).contains(&levels) {
            return Err(format!(
                "the search knows trees of two and three levels, this one has {levels}"
            ));
        }
        if pgft.w[0] * pgft.p[0] != 1 {
            return Err("hosts have several ports in one tree; the search knows one".to_owned());
        }
        let ports = |level: usize| pgft.w[level] * pgft.p[level];
        let three = levels == 3;
        let leaf = pgft.m[0] as usize;
        Ok(Self {
            leaf,
            places: if three { leaf * pgft.m[1] as usize } else { leaf },
            subtrees: pgft.m[levels - 1] as usize,
            up: ports(1),
            parents: pgft.w[1],
            second: if three { ports(2) } else { 1 },
            three,
            index: pgft.index.clone(),
        })
    }

    /// Leaves of a subtree.
    pub(super) fn leaves(&self) -> usize {
        self.places / self.leaf
    }

    /// Number of up paths.
    pub(super) fn slots(&self) -> u32 {
        self.up * self.second
    }

    /// The up port of a slot at a switch of a level (1 = leaf).
    pub(super) fn port(&self, slot: u32, level: usize) -> u32 {
        if level == 1 { slot % self.up } else { slot / self.up }
    }

    /// The up channel of a slot at the second level, among those of a subtree.
    pub(super) fn high(&self, slot: u32) -> usize {
        ((slot % self.up % self.parents) * self.second + slot / self.up) as usize
    }

    /// Channels up of a subtree's second level.
    pub(super) fn highs(&self) -> usize {
        if self.three { (self.parents * self.second) as usize } else { 0 }
    }

    /// No assignment of this many classes has a bound below: a leaf's up ports share n^2 pairs of places, and
    /// each takes at most W sources times W destinations (Nienaber, Mahapatra, Yuan, Theorem 1); and every
    /// class uses some port.
    pub(super) fn least(&self, classes: usize) -> u32 {
        let n = self.leaf as u32;
        let root = (1..=n).find(|w| w * w * self.up >= n * n).unwrap_or(n);
        root.max((n as usize).div_ceil(classes) as u32).min(n)
    }
}

//! Channel dependency graphs that paths are put into and taken out of.
//!
//! Each dependency counts the paths that make it. While a layer is acyclic its channels have a
//! topological order: a path that follows the order is admitted without a search, and one that does
//! not moves what it leads to behind it (Marchetti-Spaccamela, Nanni, Rohnert, "Maintaining a
//! topological order under edge insertions", IPL 59, 1996). Removing paths never invalidates an
//! order.

use std::cmp::Ordering;

use darkfiber_fabric::Fabric;

/// Positions of the counters of the dependencies of each channel: those of channel `c` on the channels that leave
/// its head are a run, in the order of those channels.
#[derive(Clone)]
pub(super) struct Slots {
    start: Vec<u32>,
    /// Words of 64 bits that a set of the channels out of one switch takes.
    words: usize,
    switches: usize,
}

impl Slots {
    pub(super) fn new(fabric: &Fabric) -> Self {
        let mut start = Vec::with_capacity(fabric.channel_count() + 1);
        let starts = fabric.channel_starts();
        let mut total = 0;
        for &head in fabric.heads() {
            start.push(total);
            total += starts[head as usize + 1] - starts[head as usize];
        }
        start.push(total);
        let widest = starts.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
        let words = widest.div_ceil(64).max(1) as usize;
        Self { start, words, switches: fabric.switch_count() }
    }

    #[inline]
    fn of(&self, fabric: &Fabric, c: u32, d: u32) -> usize {
        let first = fabric.channel_starts()[fabric.heads()[c as usize] as usize];
        (self.start[c as usize] + d - first) as usize
    }

    fn count(&self) -> usize {
        self.start.last().map_or(0, |&n| n as usize)
    }
}

/// The dependencies of one virtual layer.
#[derive(Clone)]
pub(super) struct Layer {
    /// Paths that make each dependency.
    uses: Vec<u32>,
    /// Channels out of its head that depend on a channel, as a bit set: those with `uses`.
    after: Vec<u64>,
    /// Place of each channel in a topological order, and the channel at each place.
    place: Vec<u32>,
    at: Vec<u32>,
    /// Whether the paths that it was made of have a cycle. Then there is no order, and every path is
    /// admitted: the layer is not deadlock-free anyway.
    pub(super) cyclic: bool,
    /// Dependencies that close a cycle, as bit sets, until something is taken out for good; and the
    /// words that have any.
    barred: Vec<u64>,
    has_barred: Vec<u32>,
    /// Channels that a search has seen, as bit sets by the switch that they leave, and the number of the
    /// last search that saw any of them. Dense graphs have many paths to each channel; only the first is
    /// followed.
    seen: Vec<u64>,
    last: Vec<u32>,
    search: u32,
    stack: Vec<u32>,
    /// Changes since the last [`Self::go_back`], if changes are recorded.
    changes: Option<Changes>,
}

/// Changes made in a layer.
#[derive(Clone, Default)]
struct Changes {
    /// Changed slots of `uses`.
    uses: Vec<u32>,
    /// Changed words of `after`.
    after: Vec<u32>,
    /// Whether the order is another one.
    order: bool,
}

impl Layer {
    /// A layer without any path.
    pub(super) fn new(slots: &Slots) -> Self {
        let channels = slots.start.len() - 1;
        Self {
            uses: vec![0; slots.count()],
            after: vec![0; channels * slots.words],
            place: (0..channels as u32).collect(),
            at: (0..channels as u32).collect(),
            cyclic: false,
            barred: vec![0; channels * slots.words],
            has_barred: Vec::new(),
            seen: vec![0; slots.switches * slots.words],
            last: vec![0; slots.switches],
            search: 0,
            stack: Vec::new(),
            changes: None,
        }
    }

    /// Starts to record changes, for [`Self::go_back`].
    pub(super) fn note_changes(&mut self) {
        self.changes = Some(Changes::default());
    }

    /// Ends the recording that [`Self::note_changes`] started.
    pub(super) fn forget_changes(&mut self) {
        self.changes = None;
    }

    /// Is as `old` again, which it was when changes began to be noted.
    pub(super) fn go_back(&mut self, old: &Self) {
        let Some(changes) = &mut self.changes else { return };
        for slot in changes.uses.drain(..) {
            self.uses[slot as usize] = old.uses[slot as usize];
        }
        for word in changes.after.drain(..) {
            self.after[word as usize] = old.after[word as usize];
        }
        if std::mem::take(&mut changes.order) {
            self.place.copy_from_slice(&old.place);
            self.at.copy_from_slice(&old.at);
        }
        self.cyclic = old.cyclic;
        for word in self.has_barred.drain(..) {
            self.barred[word as usize] = 0;
        }
        for &word in &old.has_barred {
            self.barred[word as usize] = old.barred[word as usize];
        }
        self.has_barred.extend(&old.has_barred);
    }

    /// Counts a dependency of this many paths without looking at the order; [`Self::sort`] must follow.
    #[inline]
    pub(super) fn count(&mut self, slots: &Slots, fabric: &Fabric, c: u32, d: u32, paths: u32) {
        self.uses[slots.of(fabric, c, d)] += paths;
    }

    /// Word and bit of a dependency in `after`.
    fn bit(slots: &Slots, fabric: &Fabric, c: u32, d: u32) -> (usize, u64) {
        let k = d - fabric.channel_starts()[fabric.heads()[c as usize] as usize];
        (c as usize * slots.words + (k >> 6) as usize, 1 << (k & 63))
    }

    fn add(&mut self, slots: &Slots, fabric: &Fabric, c: u32, d: u32) {
        let slot = slots.of(fabric, c, d);
        self.uses[slot] += 1;
        if self.uses[slot] == 1 {
            let (word, bit) = Self::bit(slots, fabric, c, d);
            self.after[word] |= bit;
            self.note_word(word);
        }
        self.note_use(slot);
    }

    fn subtract(&mut self, slots: &Slots, fabric: &Fabric, c: u32, d: u32) {
        let slot = slots.of(fabric, c, d);
        self.uses[slot] -= 1;
        if self.uses[slot] == 0 {
            let (word, bit) = Self::bit(slots, fabric, c, d);
            self.after[word] &= !bit;
            self.note_word(word);
        }
        self.note_use(slot);
    }

    #[inline]
    fn note_use(&mut self, slot: usize) {
        if let Some(changes) = &mut self.changes {
            changes.uses.push(slot as u32);
        }
    }

    #[inline]
    fn note_word(&mut self, word: usize) {
        if let Some(changes) = &mut self.changes {
            changes.after.push(word as u32);
        }
    }

    #[inline]
    fn note_order(&mut self) {
        if let Some(changes) = &mut self.changes {
            changes.order = true;
        }
    }

    /// Makes the order from the dependencies (Kahn's algorithm): channels by the longest chain of
    /// dependencies that leads to them, so that later paths of the same kind follow it too.
    pub(super) fn sort(&mut self, slots: &Slots, fabric: &Fabric) {
        for c in 0..self.place.len() {
            let run = slots.start[c] as usize..slots.start[c + 1] as usize;
            for (k, _) in self.uses[run].iter().enumerate().filter(|(_, uses)| **uses > 0) {
                self.after[c * slots.words + k / 64] |= 1 << (k % 64);
            }
        }
        let mut waits = vec![0u32; self.place.len()];
        for c in 0..self.place.len() as u32 {
            self.each_after(slots, fabric, c, |d| waits[d as usize] += 1);
        }
        let free = (0..self.place.len() as u32).filter(|&c| waits[c as usize] == 0);
        let mut order: Vec<u32> = free.collect();
        let mut next = 0;
        while next < order.len() {
            let c = order[next];
            next += 1;
            self.each_after(slots, fabric, c, |d| {
                waits[d as usize] -= 1;
                if waits[d as usize] == 0 {
                    order.push(d);
                }
            });
        }
        self.cyclic = order.len() < self.place.len();
        if !self.cyclic {
            self.note_order();
            for (place, &c) in order.iter().enumerate() {
                self.place[c as usize] = place as u32;
            }
            self.at = order;
        }
    }

    /// Whether this has the same dependencies, and an order of its channels that suits them if the other has one.
    #[cfg(test)]
    pub(super) fn is_as(&self, other: &Self, slots: &Slots, fabric: &Fabric) -> bool {
        let mut in_order = true;
        for c in 0..self.place.len() as u32 {
            let place = |c: u32| self.place[c as usize];
            self.each_after(slots, fabric, c, |d| in_order &= self.cyclic || place(c) < place(d));
        }
        let same =
            (&self.uses, &self.after, self.cyclic) == (&other.uses, &other.after, other.cyclic);
        in_order && same
    }

    fn each_after(&self, slots: &Slots, fabric: &Fabric, c: u32, mut with: impl FnMut(u32)) {
        let mut first = fabric.channel_starts()[fabric.heads()[c as usize] as usize];
        for &word in &self.after[c as usize * slots.words..][..slots.words] {
            let mut left = word;
            while left != 0 {
                with(first + left.trailing_zeros());
                left &= left - 1;
            }
            first += 64;
        }
    }

    /// Puts one dependency in; `false` and unchanged if that would close a cycle.
    pub(super) fn put(&mut self, slots: &Slots, fabric: &Fabric, c: u32, d: u32) -> bool {
        let known = self.uses[slots.of(fabric, c, d)] > 0;
        let fits = known || self.cyclic || self.make_way(slots, fabric, c, d);
        if fits {
            self.add(slots, fabric, c, d);
        }
        fits
    }

    /// Whether some path makes a dependency.
    pub(super) fn knows(&self, slots: &Slots, fabric: &Fabric, c: u32, d: u32) -> bool {
        self.uses[slots.of(fabric, c, d)] > 0
    }

    /// Takes one dependency out.
    pub(super) fn take(&mut self, slots: &Slots, fabric: &Fabric, c: u32, d: u32) {
        for word in self.has_barred.drain(..) {
            self.barred[word as usize] = 0;
        }
        self.subtract(slots, fabric, c, d);
    }

    /// Whether a path can be put in without a search: its dependencies are there, or follow the order.
    pub(super) fn follows(&self, slots: &Slots, fabric: &Fabric, path: &[u32]) -> bool {
        path.windows(2).all(|pair| {
            let (c, d) = (pair[0], pair[1]);
            self.place[c as usize] < self.place[d as usize] || self.uses[slots.of(fabric, c, d)] > 0
        })
    }

    /// Adds all dependencies of a path, or none; returns whether they fit.
    pub(super) fn admit(&mut self, slots: &Slots, fabric: &Fabric, path: &[u32]) -> bool {
        let is_barred = |pair: &[u32]| {
            let (word, bit) = Self::bit(slots, fabric, pair[0], pair[1]);
            self.barred[word] & bit != 0
        };
        if path.windows(2).any(is_barred) {
            return false;
        }
        let mut fresh = false;
        for (i, pair) in path.windows(2).enumerate() {
            let (c, d) = (pair[0], pair[1]);
            let known = self.uses[slots.of(fabric, c, d)] > 0;
            if self.put(slots, fabric, c, d) {
                fresh |= !known;
                continue;
            }
            self.undo(slots, fabric, &path[..=i]);
            // Many paths try this dependency: it is worth finding out whether it closes a cycle without the others
            // of this path.
            if !fresh || !self.make_way(slots, fabric, c, d) {
                let (word, bit) = Self::bit(slots, fabric, c, d);
                self.barred[word] |= bit;
                self.has_barred.push(word as u32);
            }
            return false;
        }
        true
    }

    /// Undoes the last [`Self::admit`].
    pub(super) fn undo(&mut self, slots: &Slots, fabric: &Fabric, path: &[u32]) {
        for pair in path.windows(2) {
            self.subtract(slots, fabric, pair[0], pair[1]);
        }
    }

    /// Changes the order such that `c` comes before `d`; `false` if `d` already leads to `c`.
    fn make_way(&mut self, slots: &Slots, fabric: &Fabric, c: u32, d: u32) -> bool {
        let (low, high) = (self.place[d as usize], self.place[c as usize]);
        if high < low {
            return true;
        }
        if !self.search(slots, fabric, d, high) {
            return false;
        }
        self.note_order();
        // What `d` leads to moves behind `c`, in the same order; all between moves up.
        self.stack.clear();
        let mut free = low;
        for place in low..=high {
            let x = self.at[place as usize];
            if self.has_seen(slots, fabric, x) {
                self.stack.push(x);
            } else {
                self.at[free as usize] = x;
                self.place[x as usize] = free;
                free += 1;
            }
        }
        for (place, &x) in (free..).zip(&self.stack) {
            self.at[place as usize] = x;
            self.place[x as usize] = place;
        }
        true
    }

    /// Marks what `start` leads to up to place `high`; `false` if that includes the channel there. It looks
    /// one step ahead, which is enough to end most searches early: many channels lead to any given one.
    fn search(&mut self, slots: &Slots, fabric: &Fabric, start: u32, high: u32) -> bool {
        self.search += 1;
        self.stack.clear();
        self.stack.push(start);
        let tail = fabric.tails()[start as usize];
        let k = start - fabric.channel_starts()[tail as usize];
        self.mark(slots, tail, k as usize / 64, 1 << (k % 64));
        let goal = self.at[high as usize];
        let goal_tail = fabric.tails()[goal as usize];
        let goal_k = goal - fabric.channel_starts()[goal_tail as usize];
        let (goal_word, goal_bit) = ((goal_k / 64) as usize, 1 << (goal_k % 64));
        while let Some(x) = self.stack.pop() {
            let v = fabric.heads()[x as usize];
            let mut first = fabric.channel_starts()[v as usize];
            for w in 0..slots.words {
                let mut new = self.mark(slots, v, w, self.after[x as usize * slots.words + w]);
                while new != 0 {
                    let y = first + new.trailing_zeros();
                    new &= new - 1;
                    match self.place[y as usize].cmp(&high) {
                        Ordering::Less => {
                            let word = y as usize * slots.words + goal_word;
                            if fabric.heads()[y as usize] == goal_tail
                                && self.after[word] & goal_bit != 0
                            {
                                return false;
                            }
                            self.stack.push(y);
                        }
                        Ordering::Equal => return false,
                        Ordering::Greater => {}
                    }
                }
                first += 64;
            }
        }
        true
    }

    /// Those of `bits` (word `w` of the channels that leave `v`) that this search has not seen, which it
    /// now has.
    #[inline]
    fn mark(&mut self, slots: &Slots, v: u32, w: usize, bits: u64) -> u64 {
        let row = v as usize * slots.words;
        if self.last[v as usize] != self.search {
            self.last[v as usize] = self.search;
            self.seen[row..row + slots.words].fill(0);
        }
        let seen = &mut self.seen[row + w];
        let new = bits & !*seen;
        *seen |= bits;
        new
    }

    fn has_seen(&self, slots: &Slots, fabric: &Fabric, x: u32) -> bool {
        let v = fabric.tails()[x as usize];
        let k = (x - fabric.channel_starts()[v as usize]) as usize;
        self.last[v as usize] == self.search
            && self.seen[v as usize * slots.words + k / 64] >> (k % 64) & 1 != 0
    }
}

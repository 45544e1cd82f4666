//! Channel dependency graphs that paths are put into and taken out of.
//!
//! Each dependency counts the paths that make it. While a layer is free of cycles its channels have a
//! topological order: a path that follows the order is let in without a search, and one that does not
//! moves what it leads to behind it (Marchetti-Spaccamela, Nanni, Rohnert, "Maintaining a topological
//! order under edge insertions", IPL 59, 1996). Taking paths out never spoils an order.

use std::collections::HashSet;

use darkfiber_fabric::Fabric;

/// Where the dependencies of each channel are counted: those of channel `c` on the channels that leave
/// its head are a run, in the order of those channels.
pub(super) struct Slots {
    start: Vec<u32>,
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
        Self { start }
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
pub(super) struct Layer {
    /// Paths that make each dependency.
    uses: Vec<u32>,
    /// Place of each channel in a topological order, and the channel at each place.
    place: Vec<u32>,
    at: Vec<u32>,
    /// Whether the paths that it was made of have a cycle. Then there is no order, and every path is
    /// let in: what is broken cannot be kept whole.
    pub(super) cyclic: bool,
    /// Dependencies that close a cycle, until something is taken out for good.
    barred: HashSet<usize>,
    /// Number of the last search that saw each channel.
    seen: Vec<u32>,
    search: u32,
    stack: Vec<u32>,
}

impl Layer {
    /// A layer without any path.
    pub(super) fn new(slots: &Slots) -> Self {
        let channels = slots.start.len() - 1;
        Self {
            uses: vec![0; slots.count()],
            place: (0..channels as u32).collect(),
            at: (0..channels as u32).collect(),
            cyclic: false,
            barred: HashSet::new(),
            seen: vec![0; channels],
            search: 0,
            stack: Vec::new(),
        }
    }

    /// Counts a path without looking at the order; [`Self::sort`] must follow.
    #[inline]
    pub(super) fn count(&mut self, slots: &Slots, fabric: &Fabric, c: u32, d: u32) {
        self.uses[slots.of(fabric, c, d)] += 1;
    }

    /// Makes the order from the dependencies (Kahn's algorithm): channels by the longest chain of
    /// dependencies that leads to them, so that later paths of the same kind follow it too.
    pub(super) fn sort(&mut self, slots: &Slots, fabric: &Fabric) {
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
            for (place, &c) in order.iter().enumerate() {
                self.place[c as usize] = place as u32;
            }
            self.at = order;
        }
    }

    fn each_after(&self, slots: &Slots, fabric: &Fabric, c: u32, mut with: impl FnMut(u32)) {
        let first = fabric.channel_starts()[fabric.heads()[c as usize] as usize];
        let run = slots.start[c as usize] as usize..slots.start[c as usize + 1] as usize;
        for (k, &uses) in self.uses[run].iter().enumerate() {
            if uses > 0 {
                with(first + k as u32);
            }
        }
    }

    /// Puts one dependency in; `false` and unchanged if that would close a cycle.
    pub(super) fn put(&mut self, slots: &Slots, fabric: &Fabric, c: u32, d: u32) -> bool {
        let slot = slots.of(fabric, c, d);
        if self.uses[slot] == 0 && !self.cyclic && !self.make_way(slots, fabric, c, d) {
            return false;
        }
        self.uses[slot] += 1;
        true
    }

    /// Takes one dependency out.
    pub(super) fn take(&mut self, slots: &Slots, fabric: &Fabric, c: u32, d: u32) {
        self.barred.clear();
        self.uses[slots.of(fabric, c, d)] -= 1;
    }

    /// Puts all dependencies of a path in, or none; whether they fit.
    pub(super) fn admit(&mut self, slots: &Slots, fabric: &Fabric, path: &[u32]) -> bool {
        let mut fresh = false;
        for (i, pair) in path.windows(2).enumerate() {
            let slot = slots.of(fabric, pair[0], pair[1]);
            let known = self.uses[slot] > 0;
            if known || !self.barred.contains(&slot) && self.put(slots, fabric, pair[0], pair[1]) {
                self.uses[slot] += u32::from(known);
                fresh |= !known;
                continue;
            }
            if !fresh {
                // It closes a cycle without the others of this path.
                self.barred.insert(slot);
            }
            self.undo(slots, fabric, &path[..=i]);
            return false;
        }
        true
    }

    /// Takes back what [`Self::admit`] put in just now.
    pub(super) fn undo(&mut self, slots: &Slots, fabric: &Fabric, path: &[u32]) {
        for pair in path.windows(2) {
            self.uses[slots.of(fabric, pair[0], pair[1])] -= 1;
        }
    }

    /// Changes the order such that `c` comes before `d`; `false` if `d` already leads to `c`.
    fn make_way(&mut self, slots: &Slots, fabric: &Fabric, c: u32, d: u32) -> bool {
        let (low, high) = (self.place[d as usize], self.place[c as usize]);
        if high < low {
            return true;
        }
        self.search += 1;
        let search = self.search;
        let mut stack = std::mem::take(&mut self.stack);
        let mut seen = std::mem::take(&mut self.seen);
        stack.clear();
        stack.push(d);
        seen[d as usize] = search;
        let mut closes = false;
        while let Some(x) = stack.pop() {
            self.each_after(slots, fabric, x, |y| {
                closes |= y == c;
                if self.place[y as usize] < high && seen[y as usize] != search {
                    seen[y as usize] = search;
                    stack.push(y);
                }
            });
            if closes {
                break;
            }
        }
        if !closes {
            // What `d` leads to goes behind `c`, in the same order; all between moves up.
            stack.clear();
            let mut free = low as usize;
            for place in low as usize..=high as usize {
                let x = self.at[place];
                if seen[x as usize] == search {
                    stack.push(x);
                } else {
                    self.at[free] = x;
                    self.place[x as usize] = free as u32;
                    free += 1;
                }
            }
            for (i, &x) in stack.iter().enumerate() {
                self.at[free + i] = x;
                self.place[x as usize] = (free + i) as u32;
            }
        }
        self.stack = stack;
        self.seen = seen;
        !closes
    }
}

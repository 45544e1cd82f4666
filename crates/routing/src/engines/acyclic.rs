//! An acyclic channel dependency graph that only grows.
//!
//! A dependency is let in if the graph stays acyclic, which an incrementally kept topological order
//! decides (Pearce and Kelly, "A dynamic topological sort algorithm for directed acyclic graphs", JEA
//! 11, 2006).

use darkfiber_fabric::Fabric;

/// No channel: where a path ends.
pub(super) const NONE: u32 = u32::MAX;

/// Channels that a search has seen, as bit sets by the switch that they leave, so that a switch's row
/// is filtered a word at a time. Dense graphs have many paths to each channel; only the first is
/// followed.
#[derive(Clone)]
struct Seen {
    words: usize,
    search: u32,
    last: Vec<u32>,
    bits: Vec<u64>,
}

impl Seen {
    /// Those of `bits` (word `w` of the row of switch `v`) that this search has not seen, which it
    /// now has.
    #[inline]
    fn add(&mut self, v: usize, w: usize, bits: u64) -> u64 {
        let row = v * self.words;
        if self.last[v] != self.search {
            self.last[v] = self.search;
            self.bits[row..row + self.words].fill(0);
        }
        let seen = &mut self.bits[row + w];
        let new = bits & !*seen;
        *seen |= bits;
        new
    }
}

/// The places in the upper halves of two sorted lists, sorted.
fn merge_places(a: &[u64], b: &[u64], places: &mut Vec<u32>) {
    places.clear();
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let left = j == b.len() || i < a.len() && a[i] < b[j];
        places.push((if left { a[i] } else { b[j] } >> 32) as u32);
        if left {
            i += 1;
        } else {
            j += 1;
        }
    }
}

/// An acyclic channel dependency graph that only grows, with a topological order of its channels.
#[derive(Clone)]
pub(super) struct Acyclic<'a> {
    fabric: &'a Fabric,
    /// Place of each channel in a topological order.
    place: Vec<u32>,
    /// Words of 64 bits a channel has in each of the sets below.
    words: usize,
    /// Channels out of the head of a channel that depend on it, as bits by place in that switch's row.
    succ: Vec<u64>,
    /// Channels into the tail of a channel that it depends on, as bits by place of their reverse.
    pred: Vec<u64>,
    /// Dependencies that close a cycle, as `succ`.
    barred: Vec<u64>,
    seen: Seen,
    /// Channels that a search may visit.
    effort: usize,
    /// Results of a search, as place in the upper and channel in the lower half of a word, so that
    /// sorting the words sorts by place.
    ahead: Vec<u64>,
    behind: Vec<u64>,
    places: Vec<u32>,
    /// Dependencies of the path at hand that were not there before.
    fresh: Vec<(u32, u32)>,
    /// Dependencies that the current trial admitted or rejected.
    log: Option<Vec<(u32, u32, bool)>>,
}

impl<'a> Acyclic<'a> {
    pub(super) fn new(fabric: &'a Fabric, effort: usize) -> Self {
        let m = fabric.channel_count();
        let starts = fabric.channel_starts();
        let widest = starts.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
        let words = widest.div_ceil(64).max(1) as usize;
        Self {
            fabric,
            place: (0..m as u32).collect(),
            words,
            succ: vec![0; m * words],
            pred: vec![0; m * words],
            barred: vec![0; m * words],
            seen: Seen {
                words,
                search: 0,
                last: vec![0; fabric.switch_count()],
                bits: vec![0; fabric.switch_count() * words],
            },
            effort,
            ahead: Vec::new(),
            behind: Vec::new(),
            places: Vec::new(),
            fresh: Vec::new(),
            log: None,
        }
    }

    /// First channel that leaves a switch.
    #[inline]
    fn row(&self, switch: u32) -> u32 {
        self.fabric.channel_starts()[switch as usize]
    }

    /// Word index and bit of dependency (c, d) in `succ` and `barred`.
    #[inline]
    fn bit(&self, c: u32, d: u32) -> (usize, u64) {
        let k = d - self.row(self.fabric.heads()[c as usize]);
        (c as usize * self.words + (k >> 6) as usize, 1 << (k & 63))
    }

    /// Word index and bit of dependency (c, d) in `pred`.
    #[inline]
    fn back_bit(&self, c: u32, d: u32) -> (usize, u64) {
        let k = self.fabric.reverses()[c as usize] - self.row(self.fabric.tails()[d as usize]);
        (d as usize * self.words + (k >> 6) as usize, 1 << (k & 63))
    }

    fn set(&mut self, c: u32, d: u32) {
        let (w, b) = self.bit(c, d);
        self.succ[w] |= b;
        let (w, b) = self.back_bit(c, d);
        self.pred[w] |= b;
    }

    fn unset(&mut self, c: u32, d: u32) {
        let (w, b) = self.bit(c, d);
        self.succ[w] &= !b;
        let (w, b) = self.back_bit(c, d);
        self.pred[w] &= !b;
    }

    /// Adds the dependencies of the path from `s` along `next` if the graph stays acyclic; otherwise
    /// changes nothing and returns `false`.
    pub(super) fn admit(&mut self, next: impl Fn(usize) -> u32, s: usize) -> bool {
        let heads = self.fabric.heads();
        self.fresh.clear();
        let mut c = next(s);
        while c != NONE {
            let d = next(heads[c as usize] as usize);
            if d == NONE {
                break;
            }
            let (w, b) = self.bit(c, d);
            if self.barred[w] & b != 0 {
                self.undo();
                return false;
            }
            if self.succ[w] & b == 0 {
                if !self.insert(c, d) {
                    let alone = self.fresh.is_empty();
                    self.undo();
                    if alone || !self.would_fit(c, d) {
                        self.barred[w] |= b;
                    }
                    return false;
                }
                self.fresh.push((c, d));
            }
            c = d;
        }
        true
    }

    /// Sets how many channels a search may visit from now on.
    pub(super) fn set_effort(&mut self, effort: usize) {
        self.effort = effort;
    }

    /// Whether dependency (c, d) is in the graph.
    #[inline]
    pub(super) fn has(&self, c: u32, d: u32) -> bool {
        let (w, b) = self.bit(c, d);
        self.succ[w] & b != 0
    }

    /// Whether dependency (c, d) was found to close a cycle.
    #[inline]
    pub(super) fn is_barred(&self, c: u32, d: u32) -> bool {
        let (w, b) = self.bit(c, d);
        self.barred[w] & b != 0
    }

    /// Adds dependency (c, d) unless that closes a cycle; whether it is in the graph now.
    pub(super) fn extend(&mut self, c: u32, d: u32) -> bool {
        let (w, b) = self.bit(c, d);
        if self.succ[w] & b != 0 {
            return true;
        }
        if self.barred[w] & b != 0 {
            return false;
        }
        let fits = self.insert(c, d);
        if !fits {
            self.barred[w] |= b;
        }
        if let Some(log) = &mut self.log {
            log.push((c, d, fits));
        }
        fits
    }

    /// Begins a trial: what [`extend`](Self::extend) does from here on can be undone.
    pub(super) fn begin(&mut self) {
        self.log = Some(Vec::new());
    }

    /// Ends a trial, and undoes it unless it is kept. Dependencies that close a cycle even then stay
    /// known, so that later trials need not search for them.
    pub(super) fn end(&mut self, keep: bool) {
        let log = self.log.take().unwrap_or_default();
        if keep {
            return;
        }
        for &(c, d, _) in log.iter().filter(|(.., fits)| *fits) {
            self.unset(c, d);
        }
        // Before the trial let anything in, a search found the same as now.
        let first = log.iter().position(|(.., fits)| *fits).unwrap_or(log.len());
        for &(c, d, _) in log[first..].iter().filter(|(.., fits)| !fits) {
            if self.would_fit(c, d) {
                let (w, b) = self.bit(c, d);
                self.barred[w] &= !b;
            }
        }
    }

    fn undo(&mut self) {
        while let Some((c, d)) = self.fresh.pop() {
            // The order stays valid for fewer dependencies.
            self.unset(c, d);
        }
    }

    fn would_fit(&mut self, c: u32, d: u32) -> bool {
        let fits = self.insert(c, d);
        if fits {
            self.unset(c, d);
        }
        fits
    }

    /// Adds one dependency if that closes no cycle, and updates the order.
    fn insert(&mut self, c: u32, d: u32) -> bool {
        let (low, high) = (self.place[d as usize], self.place[c as usize]);
        if high < low {
            self.set(c, d);
            return true;
        }
        if !self.search_ahead(d, c, high) {
            return false;
        }
        self.search_behind(c, low);
        self.ahead.sort_unstable();
        self.behind.sort_unstable();
        // Channels that lead to `c` take the first of all their places, those that follow `d` the
        // last.
        merge_places(&self.behind, &self.ahead, &mut self.places);
        for (w, &place) in self.behind.iter().chain(&self.ahead).zip(&self.places) {
            self.place[*w as u32 as usize] = place;
        }
        self.set(c, d);
        true
    }

    /// Collects the channels reachable from `start` up to place `high`; `false` if that includes `goal` or
    /// takes too long.
    fn search_ahead(&mut self, start: u32, goal: u32, high: u32) -> bool {
        if start == goal {
            return false;
        }
        self.seen.search += 1;
        self.ahead.clear();
        self.ahead.push(self.found(start));
        let mut i = 0;
        while i < self.ahead.len() {
            if i > self.effort {
                return false;
            }
            let x = self.ahead[i] as u32 as usize;
            i += 1;
            let v = self.fabric.heads()[x];
            let mut first = self.row(v);
            for w in 0..self.words {
                let mut new = self.seen.add(v as usize, w, self.succ[x * self.words + w]);
                while new != 0 {
                    let y = first + new.trailing_zeros();
                    new &= new - 1;
                    if y == goal {
                        return false;
                    }
                    if self.place[y as usize] < high {
                        self.ahead.push(self.found(y));
                    }
                }
                first += 64;
            }
        }
        true
    }

    /// Collects the channels that reach `start`, down to place `low`.
    fn search_behind(&mut self, start: u32, low: u32) {
        self.seen.search += 1;
        self.behind.clear();
        self.behind.push(self.found(start));
        let mut i = 0;
        while i < self.behind.len() {
            let x = self.behind[i] as u32 as usize;
            i += 1;
            let v = self.fabric.tails()[x];
            let mut first = self.row(v);
            for w in 0..self.words {
                let mut new = self.seen.add(v as usize, w, self.pred[x * self.words + w]);
                while new != 0 {
                    let y = self.fabric.reverses()[(first + new.trailing_zeros()) as usize];
                    new &= new - 1;
                    if self.place[y as usize] > low {
                        self.behind.push(self.found(y));
                    }
                }
                first += 64;
            }
        }
    }

    #[inline]
    fn found(&self, x: u32) -> u64 {
        u64::from(self.place[x as usize]) << 32 | u64::from(x)
    }
}

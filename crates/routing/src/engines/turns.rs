//! The turns of finished tables: which channel follows which one, and after which others.
//!
//! A turn is a channel and the element before it: another channel, or a terminal of the switch. A packet that makes two
//! turns in succession holds the channel between them in the lane of the first one.

use darkfiber_fabric::{Fabric, SwitchId, TerminalId};

use super::acyclic::NONE;
use super::layers::channel;
use crate::{DestId, Routes};

/// All turns that paths between terminals make.
///
/// Those onto channel c are numbered from `first[c]` on, by the place of the previous channel among the channels
/// into its switch (that of its reverse among those out of it); the last one is from terminals.
pub(super) struct Turns<'a> {
    fabric: &'a Fabric,
    first: Vec<u32>,
    channel_of: Vec<u32>,
    used: Vec<bool>,
    /// Words of 64 bits for each turn below.
    words: usize,
    /// By turn, which channels out of the head of its channel follow it, by their place there.
    then: Vec<u64>,
}

impl<'a> Turns<'a> {
    /// Complexity: O(LIDs x switches).
    pub(super) fn new(fabric: &'a Fabric, routes: &Routes) -> Self {
        let starts = fabric.channel_starts();
        let degree = |s: u32| starts[s as usize + 1] - starts[s as usize];
        let (mut first, mut channel_of) = (Vec::new(), Vec::new());
        for (c, &tail) in fabric.tails().iter().enumerate() {
            first.push(channel_of.len() as u32);
            channel_of.extend(std::iter::repeat_n(c as u32, degree(tail) as usize + 1));
        }
        first.push(channel_of.len() as u32);
        let widest = (0..fabric.switch_count() as u32).map(degree).max().unwrap_or(0);
        let words = widest.div_ceil(64).max(1) as usize;
        let all = channel_of.len();
        let mut turns =
            Self { fabric, first, channel_of, used: vec![false; all], words, then: Vec::new() };
        turns.then = vec![0; all * words];
        turns.read(routes);
        turns
    }

    /// Reads all rows on which terminals are reached.
    fn read(&mut self, routes: &Routes) {
        let fabric = self.fabric;
        let n = fabric.switch_count();
        let mut rows: Vec<(usize, usize)> = (0..fabric.terminal_count())
            .flat_map(|d| (0..routes.paths()).map(move |path| (d, path)))
            .map(|(d, path)| {
                let row = routes.row(DestId::new(d), path);
                (row, if routes.source_chooses() { path } else { 0 })
            })
            .collect();
        rows.sort_unstable();
        rows.dedup();
        let sends: Vec<Vec<bool>> = (0..if routes.source_chooses() { routes.paths() } else { 1 })
            .map(|path| {
                let on = |s| fabric.terminals_on(SwitchId::new(s)).map(TerminalId::new);
                (0..n).map(|s| on(s).any(|t| routes.uses(t, path))).collect()
            })
            .collect();
        let (mut next, mut passed) = (vec![NONE; n], vec![false; n]);
        for (row, path) in rows {
            for (s, &port) in routes.ports(row).iter().enumerate() {
                next[s] = channel(fabric, s, port);
            }
            self.read_row(&next, &sends[path], &mut passed);
        }
    }

    fn read_row(&mut self, next: &[u32], sends: &[bool], passed: &mut [bool]) {
        let heads = self.fabric.heads();
        passed.fill(false);
        for start in (0..next.len()).filter(|&s| sends[s]) {
            let mut s = start;
            while !std::mem::replace(&mut passed[s], true) && next[s] != NONE {
                s = heads[next[s] as usize] as usize;
            }
        }
        for s in (0..next.len()).filter(|&s| passed[s]) {
            let c = next[s];
            if c == NONE {
                continue;
            }
            let d = next[heads[c as usize] as usize];
            if sends[s] {
                self.note(self.entering(c), d);
            }
            if d != NONE {
                let e = next[heads[d as usize] as usize];
                self.note(self.between(c, d), e);
            }
        }
    }

    fn note(&mut self, turn: u32, then: u32) {
        self.used[turn as usize] = true;
        if then != NONE {
            let k = then - self.row_of(turn);
            self.then[turn as usize * self.words + (k >> 6) as usize] |= 1 << (k & 63);
        }
    }

    /// The first channel that may follow a turn.
    fn row_of(&self, turn: u32) -> u32 {
        let head = self.fabric.heads()[self.channel_of[turn as usize] as usize];
        self.fabric.channel_starts()[head as usize]
    }

    /// The turn from terminals onto channel `c`.
    fn entering(&self, c: u32) -> u32 {
        self.first[c as usize + 1] - 1
    }

    /// The turn from channel `b` onto channel `c`.
    fn between(&self, b: u32, c: u32) -> u32 {
        let row = self.fabric.channel_starts()[self.fabric.tails()[c as usize] as usize];
        self.first[c as usize] + self.fabric.reverses()[b as usize] - row
    }

    /// Number of turns, made or not.
    pub(super) fn len(&self) -> usize {
        self.used.len()
    }

    /// The turns that paths make.
    pub(super) fn made(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.used.len() as u32).filter(|&t| self.used[t as usize])
    }

    /// The channel that a turn is onto.
    pub(super) fn onto(&self, turn: u32) -> u32 {
        self.channel_of[turn as usize]
    }

    /// The channel that a turn is from, or [`NONE`] if that is a terminal.
    pub(super) fn from(&self, turn: u32) -> u32 {
        let c = self.onto(turn);
        if turn == self.entering(c) {
            return NONE;
        }
        let row = self.fabric.channel_starts()[self.fabric.tails()[c as usize] as usize];
        self.fabric.reverses()[(row + turn - self.first[c as usize]) as usize]
    }

    /// Turns that paths make next.
    pub(super) fn each_after(&self, turn: u32, mut found: impl FnMut(u32)) {
        let (c, row) = (self.onto(turn), self.row_of(turn));
        for w in 0..self.words {
            let mut bits = self.then[turn as usize * self.words + w];
            while bits != 0 {
                found(self.between(c, row + 64 * w as u32 + bits.trailing_zeros()));
                bits &= bits - 1;
            }
        }
    }

    /// Turns that paths make before.
    pub(super) fn each_before(&self, turn: u32, mut found: impl FnMut(u32)) {
        let b = self.from(turn);
        if b == NONE {
            return;
        }
        for before in self.first[b as usize]..self.first[b as usize + 1] {
            let k = self.onto(turn) - self.row_of(before);
            if self.then[before as usize * self.words + (k >> 6) as usize] & 1 << (k & 63) != 0 {
                found(before);
            }
        }
    }
}

//! Senders on each table row, and the amount of their traffic.

use darkfiber_fabric::{Fabric, TerminalId};

use super::RerouteError;
use crate::routes::equal_part;
use crate::{Demand, DestId, Routes};

/// Everything that has failed so far, in the ids of the fabric that the tables were made for.
#[derive(Clone)]
pub(super) struct Gone {
    /// Failed inter-switch channels, by channel.
    pub(super) channel: Vec<bool>,
    /// Failed switches, by switch.
    pub(super) switch: Vec<bool>,
    /// Failed terminals, by terminal.
    pub(super) terminal: Vec<bool>,
}

impl Gone {
    pub(super) fn nothing(fabric: &Fabric) -> Self {
        Self {
            channel: vec![false; fabric.channel_count()],
            switch: vec![false; fabric.switch_count()],
            terminal: vec![false; fabric.terminal_count()],
        }
    }
}

/// The destinations of one row.
#[derive(Clone, Copy)]
pub(super) struct Row {
    /// The switch of its destinations.
    pub(super) home: u32,
    /// The path (LID index) that it is.
    path: u32,
    /// Terminals that it leads to.
    dests: u32,
    /// Whether it leads to anything that has not failed.
    pub(super) live: bool,
}

/// Rows, and the terminals that send on them.
#[derive(Clone)]
pub(super) struct Traffic {
    pub(super) rows: Vec<Row>,
    /// `senders[path * switches + s]`: terminals on `s` that may use path `path`.
    senders: Vec<u32>,
    switches: usize,
    /// Amounts sent, if they are known; otherwise every pair of terminals sends 1.
    amounts: Option<Amounts>,
}

/// Amounts that the terminals of each switch send on each row: (switch, amount), by rising switch.
#[derive(Clone)]
struct Amounts {
    of_row: Vec<u32>,
    from: Vec<(u32, u64)>,
}

impl Amounts {
    fn new(fabric: &Fabric, routes: &Routes, demands: &[Demand]) -> Self {
        let home = |t: TerminalId| fabric.terminal(t).switch.0;
        let far = demands.iter().filter(|d| d.weight > 0 && home(d.from) != home(d.to));
        let mut all: Vec<(u32, u32, u64)> = Vec::new();
        for d in far {
            // Amounts are of many messages, most of them large.
            let paths = routes.parts(d.from, d.to, LARGE);
            let n = paths.len() as u64;
            for (i, (path, _)) in (0..).zip(paths) {
                let row = routes.row(DestId::terminal(d.to), path);
                all.push((row as u32, home(d.from), equal_part(d.weight, i, n)));
            }
        }
        all.sort_unstable_by_key(|&(row, from, _)| (row, from));
        let mut of_row = vec![0; routes.row_count() + 1];
        let mut from = Vec::new();
        for same in all.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            from.push((same[0].1, same.iter().map(|x| x.2).sum()));
            of_row[same[0].0 as usize + 1] = from.len() as u32;
        }
        for row in 1..of_row.len() {
            of_row[row] = of_row[row].max(of_row[row - 1]);
        }
        Self { of_row, from }
    }

    fn of(&self, row: usize) -> &[(u32, u64)] {
        &self.from[self.of_row[row] as usize..self.of_row[row + 1] as usize]
    }
}

/// Bytes of a message that is large for any sender.
const LARGE: u64 = u64::MAX >> 1;
const UNUSED: u32 = u32::MAX;

impl Traffic {
    /// Reads rows and senders, leaving out what has failed.
    pub(super) fn new(fabric: &Fabric, routes: &Routes, gone: &Gone) -> Result<Self, RerouteError> {
        let switches = fabric.switch_count();
        let unused = Row { home: UNUSED, path: 0, dests: 0, live: false };
        let mut rows = vec![unused; routes.row_count()];
        let mut senders = vec![0; routes.paths().max(1) * switches];
        for d in (0..routes.dest_count()).map(DestId::new) {
            let home = d.home(fabric);
            let terminal = d.as_terminal(fabric);
            let lives = !gone.switch[home.index()]
                && terminal.is_none_or(|t: TerminalId| !gone.terminal[t.index()]);
            for path in 0..terminal.map_or(1, |_| routes.paths()) {
                let row = &mut rows[routes.row(d, path)];
                if row.home == UNUSED {
                    *row = Row { home: home.0, path: path as u32, ..unused };
                } else if row.home != home.0 || (row.path != path as u32 && routes.source_chooses())
                {
                    return Err(RerouteError::MixedRow);
                }
                row.live |= lives;
                row.dests += u32::from(lives && terminal.is_some());
            }
            if let Some(t) = terminal.filter(|_| lives) {
                // The paths to every destination that a terminal may send to must stay
                // deadlock-free.
                for path in (0..routes.paths()).filter(|&path| routes.uses(t, path)) {
                    senders[path * switches + home.index()] += 1;
                }
            }
        }
        Ok(Self { rows, senders, switches, amounts: None })
    }

    /// The same with the amounts sent.
    pub(super) fn with_amounts(
        mut self,
        fabric: &Fabric,
        routes: &Routes,
        demands: &[Demand],
    ) -> Self {
        self.amounts = Some(Amounts::new(fabric, routes, demands));
        self
    }

    /// Keeps the amounts that were sent before.
    pub(super) fn take_amounts_of(&mut self, before: &mut Self) {
        self.amounts = before.amounts.take();
    }

    /// Restores the rows and senders of another fault; the amounts sent are the same.
    pub(super) fn go_back(&mut self, old: &Self) {
        self.rows.copy_from_slice(&old.rows);
        self.senders.copy_from_slice(&old.senders);
    }

    /// The rows on which some sender or destination is there that fails until `later`, each with these senders: their
    /// switch, the pairs of terminals that are left, and how much less they send.
    pub(super) fn less(&self, later: &Self) -> impl Iterator<Item = (usize, Vec<(u32, u64, u64)>)> {
        let fewer = |path: u32| {
            let of = path as usize * self.switches;
            let both = self.senders[of..of + self.switches].iter().zip(&later.senders[of..]);
            (0u32..).zip(both).filter(|(_, (was, is))| was != is).map(|(s, _)| s).collect()
        };
        let paths = self.senders.len() / self.switches.max(1);
        let fewer: Vec<Vec<u32>> = (0..paths as u32).map(fewer).collect();
        (0..self.rows.len()).filter_map(move |row| {
            let (was, is) = (&self.rows[row], &later.rows[row]);
            if !was.live || was.dests == 0 {
                return None;
            }
            let part = |s: u32| {
                let (before, left) = (self.pairs(row, s), later.pairs(row, s));
                let amount = |of: &Self, pairs: u64| if pairs == 0 { 0 } else { of.amount(row, s) };
                // Only `later` has the amounts.
                let (a, b) = match later.amounts {
                    None => (before, left),
                    Some(_) => (amount(later, before), amount(later, left)),
                };
                (s != was.home && before != left).then_some((s, left, a - b))
            };
            let of_row: Vec<(u32, u64, u64)> = if was.dests == is.dests {
                fewer[was.path as usize].iter().filter_map(|&s| part(s)).collect()
            } else {
                self.sources(row).filter_map(|(s, _)| part(s)).collect()
            };
            (!of_row.is_empty()).then_some((row, of_row))
        })
    }

    /// Amount that the terminals of switch `s` send on a row.
    #[inline]
    pub(super) fn amount(&self, row: usize, s: u32) -> u64 {
        match &self.amounts {
            None => self.pairs(row, s),
            Some(amounts) => {
                let of = amounts.of(row);
                of.binary_search_by_key(&s, |x| x.0).map_or(0, |i| of[i].1)
            }
        }
    }

    /// The switches whose terminals send anything on a row to another switch, with the amounts.
    pub(super) fn amounts(&self, row: usize) -> impl Iterator<Item = (u32, u64)> + '_ {
        let (known, counted) = match &self.amounts {
            Some(amounts) => (amounts.of(row), None),
            None => (&[][..], Some(self.sources(row))),
        };
        let lives = move |&(s, _): &(u32, u64)| self.pairs(row, s) > 0;
        known.iter().copied().filter(lives).chain(counted.into_iter().flatten())
    }

    /// Ordered pairs of terminals that send from switch `s` on a row.
    #[inline]
    pub(super) fn pairs(&self, row: usize, s: u32) -> u64 {
        let Row { path, dests, .. } = self.rows[row];
        let senders = self.senders[path as usize * self.switches + s as usize];
        u64::from(senders) * u64::from(dests)
    }

    /// Whether a row leads to a switch itself: management traffic alone goes there.
    #[inline]
    pub(super) fn is_of_switch(&self, row: usize) -> bool {
        self.rows[row].live && self.rows[row].dests == 0
    }

    /// The switches from which a row must lead to its destinations: those whose terminals send on it, and to a switch itself all with
    /// terminals, since any of them may manage it.
    pub(super) fn must_reach(&self, row: usize) -> impl Iterator<Item = u32> + '_ {
        let home = self.rows[row].home;
        let any =
            move |s: usize| self.senders.iter().skip(s).step_by(self.switches).any(|&n| n > 0);
        let switches = if self.is_of_switch(row) { self.switches } else { 0 };
        let managers = (0..switches).filter(move |&s| s != home as usize && any(s));
        self.sources(row).map(|(s, _)| s).chain(managers.map(|s| s as u32))
    }

    /// The switches with terminals that send on a row, with the pairs of each.
    pub(super) fn sources(&self, row: usize) -> impl Iterator<Item = (u32, u64)> + '_ {
        let Row { path, dests, home, .. } = self.rows[row];
        let first = path as usize * self.switches;
        let senders = if dests == 0 { &[] } else { &self.senders[first..first + self.switches] };
        (0u32..)
            .zip(senders)
            .filter(move |&(s, &n)| n > 0 && s != home)
            .map(move |(s, &n)| (s, u64::from(n) * u64::from(dests)))
    }
}

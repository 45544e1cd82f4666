//! Tables of one stage of a transition, which need not be complete while others follow.

use std::ops::Range;

use darkfiber_fabric::{AtPort, Fabric, SwitchId, TerminalId};

use crate::routes::{DELIVER, NO_ROUTE};
use crate::{DestId, Routes};

/// Which pairs the tables of a stage may lose until the stages after it are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// None: the tables are complete.
    None,
    /// Those that the tables in place lose, after a fault: no pair that works is lost.
    Already,
    /// Those to LIDs to which the tables in place lose a pair: entries of such a row may be cleared, as drop-drain does.
    CutRows,
}

impl Lost {
    /// Whether tables lose only such pairs over those in place, to the terminals of these runs.
    ///
    /// Complexity: O(rows x switches).
    pub(super) fn allows(
        self,
        fabric: &Fabric,
        in_place: &Routes,
        stage: &Routes,
        runs: &[Range<usize>],
    ) -> bool {
        let home = |d: usize| fabric.terminal(TerminalId::new(d)).switch;
        let all = fabric.terminal_count();
        let mut senders: Vec<usize> = (0..all).map(|t| home(t).index()).collect();
        senders.sort_unstable();
        senders.dedup();
        let mut arrives = [Vec::new(), Vec::new()];
        let mut row_is_allowed = |d: usize, path: usize| {
            for (arrives, routes) in arrives.iter_mut().zip([in_place, stage]) {
                let row = routes.ports(routes.row(DestId::new(d), path));
                delivered(fabric, home(d), d, row, arrives);
            }
            let [before, after] = &arrives;
            let is_whole = |arrives: &[bool]| senders.iter().all(|&s| arrives[s]);
            match self {
                Self::None => is_whole(after),
                Self::Already => senders.iter().all(|&s| after[s] || !before[s]),
                Self::CutRows => is_whole(after) || !is_whole(before),
            }
        };
        let mut dests = runs.iter().flat_map(Clone::clone);
        dests.all(|d| (0..stage.paths()).all(|path| row_is_allowed(d, path)))
    }
}

/// Writes from which switches a row leads to terminal `dest` on switch `home`.
fn delivered(fabric: &Fabric, home: SwitchId, dest: usize, row: &[u8], arrives: &mut Vec<bool>) {
    const UNKNOWN: u8 = 0;
    const OPEN: u8 = 1;
    const LOST: u8 = 2;
    const FOUND: u8 = 3;
    let mut state = vec![UNKNOWN; row.len()];
    let mut walk = Vec::new();
    for start in 0..row.len() {
        let mut at = start;
        let end = loop {
            match state[at] {
                UNKNOWN => {}
                // Whatever comes back to itself does not arrive.
                OPEN => break LOST,
                known => break known,
            }
            state[at] = OPEN;
            walk.push(at);
            match row[at] {
                NO_ROUTE => break LOST,
                DELIVER => break if at == home.index() { FOUND } else { LOST },
                port => match fabric.at_port(SwitchId::new(at), port) {
                    AtPort::Switch(_, next) => at = next.index(),
                    AtPort::Terminal(t) => break if t.index() == dest { FOUND } else { LOST },
                    AtPort::Nothing | AtPort::Loopback => break LOST,
                },
            }
        };
        for s in walk.drain(..) {
            state[s] = end;
        }
    }
    arrives.clear();
    arrives.extend(state.iter().map(|&s| s == FOUND));
}

/// The tables in place with every entry cleared that is another one in the new tables: what drop-drain writes first.
///
/// `None` if the two do not share their rows alike.
pub fn cleared(in_place: &Routes, new: &Routes) -> Option<Routes> {
    if in_place.row_count() != new.row_count() {
        return None;
    }
    let mut stage = in_place.clone();
    for row in 0..new.row_count() {
        for (port, &then) in stage.ports_mut(row).iter_mut().zip(new.ports(row)) {
            if *port != then {
                *port = NO_ROUTE;
            }
        }
    }
    Some(stage)
}

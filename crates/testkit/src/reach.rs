//! An exhaustive search: whether given packets can deadlock while tables are written.
//!
//! The smallest model of a network: every channel holds one packet. At any time one of these happens: a packet enters the
//! network, a packet moves to the next channel, or a switch gets its new entries (all in one block). A packet decides on
//! its next channel when it arrives in a switch. A state that no order of these leads to is unreachable for these packets.

use std::collections::{BTreeMap, HashMap};

use darkfiber_fabric::{AtPort, Fabric, SwitchId, TerminalId};
use darkfiber_routing::{DestId, Routes};

/// A packet of one lane.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Terminal that sends it.
    pub source: TerminalId,
    /// Terminal that receives it.
    pub dest: TerminalId,
    /// To which of its LIDs, from 0.
    pub lid: usize,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Packets wait for each other for ever after these switches were written, in this order.
    Deadlock(Vec<SwitchId>),
    /// No order of anything leads there.
    Never,
    /// There are more states than were to be looked at.
    Undecided,
}

/// Nowhere yet, or on to no channel.
const NONE: u16 = u16::MAX;

/// The switches that are written, and by packet the channel that it is in and the one that it requests.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    written: u16,
    at: Vec<[u16; 2]>,
}

/// Searches from an empty network with old tables, or with the new ones at once.
///
/// # Panics
/// If there are more than 16 switches.
pub fn reach(
    fabric: &Fabric,
    tables: [&Routes; 2],
    packets: &[Packet],
    at_once: bool,
    most_states: usize,
) -> Reach {
    let switches = fabric.switch_count();
    assert!(switches <= 16, "states have a bit for each switch");
    // By packet, generation and switch the next channel.
    let next: Vec<[Vec<u16>; 2]> = packets
        .iter()
        .map(|p| {
            tables.map(|routes| {
                let of = |s| match routes.lft_entry(fabric, s, DestId::terminal(p.dest), p.lid) {
                    Some(port) => match fabric.at_port(s, port) {
                        AtPort::Switch(c, _) => c.0 as u16,
                        _ => NONE,
                    },
                    None => NONE,
                };
                (0..switches).map(|s| of(SwitchId::new(s))).collect()
            })
        })
        .collect();
    let changes: Vec<usize> =
        (0..switches).filter(|&s| next.iter().any(|[old, new]| old[s] != new[s])).collect();
    let all = changes.iter().fold(0, |bits, s| bits | 1 << s);
    let first =
        State { written: if at_once { all } else { 0 }, at: vec![[NONE; 2]; packets.len()] };
    let head = |c: u16| fabric.heads()[usize::from(c)] as usize;
    let entry = |state: &State, p: usize, s: usize| next[p][usize::from(state.written >> s & 1)][s];
    // Predecessor of each state.
    let mut seen: HashMap<State, Option<(usize, Option<usize>)>> = HashMap::new();
    let mut order: Vec<State> = vec![first.clone()];
    seen.insert(first, None);
    let mut todo = vec![0];
    while let Some(number) = todo.pop() {
        let state = order[number].clone();
        if waits_for_ever(&state) {
            return Reach::Deadlock(writes(&order, &seen, number));
        }
        let mut after: Vec<(State, Option<usize>)> = Vec::new();
        for &s in changes.iter().filter(|&&s| state.written >> s & 1 == 0) {
            let mut then = state.clone();
            then.written |= 1 << s;
            after.push((then, Some(s)));
        }
        for (p, packet) in packets.iter().enumerate() {
            let to = match state.at[p] {
                [NONE, _] => entry(&state, p, fabric.terminal(packet.source).switch.index()),
                [_, wanted] => wanted,
            };
            if to == NONE || state.at.iter().any(|at| at[0] == to) {
                continue;
            }
            let mut then = state.clone();
            then.at[p] = [to, entry(&state, p, head(to))];
            after.push((then, None));
        }
        for (then, write) in after {
            if !seen.contains_key(&then) {
                seen.insert(then.clone(), Some((number, write)));
                todo.push(order.len());
                order.push(then);
            }
        }
        if order.len() > most_states {
            return Reach::Undecided;
        }
    }
    Reach::Never
}

/// Whether some packets hold channels that others of them request, in a cycle.
fn waits_for_ever(state: &State) -> bool {
    let holder: BTreeMap<u16, usize> = state
        .at
        .iter()
        .enumerate()
        .filter(|(_, at)| at[0] != NONE)
        .map(|(p, at)| (at[0], p))
        .collect();
    (0..state.at.len()).any(|start| {
        let mut at = start;
        for _ in 0..state.at.len() {
            match holder.get(&state.at[at][1]) {
                Some(&p) if state.at[at][1] != NONE => at = p,
                _ => return false,
            }
        }
        true
    })
}

fn writes(
    order: &[State],
    seen: &HashMap<State, Option<(usize, Option<usize>)>>,
    last: usize,
) -> Vec<SwitchId> {
    let mut found = Vec::new();
    let mut at = last;
    while let Some(&Some((before, write))) = seen.get(&order[at]) {
        found.extend(write.map(SwitchId::new));
        at = before;
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::{Packet, Reach, reach};
    use crate::families;
    use darkfiber_fabric::{SwitchId, TerminalId};
    use darkfiber_routing::{Request, Routes, find_engine};

    /// A ring of four, every packet two hops clockwise: all channels of one direction fill.
    #[test]
    fn a_ring_deadlocks_and_half_of_it_does_not() {
        let fabric = families::topology("torus:dims=4,t=1").fabric;
        let routed = find_engine("minhop")
            .expect("an engine")
            .route(&fabric, &Request::default())
            .expect("routes");
        let mut round = Routes::empty("round", &fabric, 1);
        let step = |s: usize| {
            let to = SwitchId::new((s + 1) % 4);
            let mut all = fabric.channels_from(SwitchId::new(s));
            let c = all.find(|&c| fabric.heads()[c] == to.0).expect("a ring");
            fabric.tail_ports()[c]
        };
        for d in (0..4).map(TerminalId::new) {
            let home = fabric.terminal(d).switch;
            for s in (0..4).filter(|&s| s != home.index()) {
                let dest = darkfiber_routing::DestId::terminal(d);
                round.set_lft_entry(&fabric, SwitchId::new(s), dest, 0, step(s));
            }
        }
        let packet = |s: usize| Packet {
            source: TerminalId::new(s),
            dest: TerminalId::new((s + 2) % 4),
            lid: 0,
        };
        let four: Vec<Packet> = (0..4).map(packet).collect();
        let deadlock = reach(&fabric, [&routed, &round], &four, true, 100_000);
        assert_eq!(deadlock, Reach::Deadlock(vec![]));
        assert_eq!(reach(&fabric, [&routed, &round], &four[..3], true, 100_000), Reach::Never);
        // From shortest paths on, some switches must be written first.
        let Reach::Deadlock(written) = reach(&fabric, [&routed, &round], &four, false, 100_000)
        else {
            panic!("it can be reached");
        };
        assert!(!written.is_empty());
    }
}

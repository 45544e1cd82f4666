//! What a fabric has lost, as faults of the one before, and the ids of what is left.

use darkfiber_fabric::{AtPort, ChannelId, Fabric, Faults, Renumbering, SwitchId, TerminalId};

/// What is missing of `whole` in a part of it, and the ids of the rest; `None` if it is no part, or has its switches and terminals
/// in another order.
///
/// Complexity: O(switches + terminals + channels).
pub(crate) fn lost(whole: &Fabric, part: &Fabric) -> Option<(Faults, Renumbering)> {
    let guids = |of: &Fabric| -> Vec<u64> { of.switches().iter().map(|s| s.guid.0).collect() };
    let switch = places(&guids(whole), &guids(part))?;
    let guids = |of: &Fabric| -> Vec<u64> { of.terminals().iter().map(|t| t.guid.0).collect() };
    let terminal = places(&guids(whole), &guids(part))?;
    let mut faults = Faults::default();
    let mut map = Renumbering {
        switch: switch.iter().map(|new| new.map(SwitchId::new)).collect(),
        terminal: terminal.iter().map(|new| new.map(TerminalId::new)).collect(),
        old_switch: Vec::with_capacity(part.switch_count()),
        old_terminal: Vec::with_capacity(part.terminal_count()),
    };
    for (old, new) in (0..switch.len()).map(SwitchId::new).zip(&switch) {
        if new.is_some() { &mut map.old_switch } else { &mut faults.switches }.push(old);
    }
    for (old, new) in (0..terminal.len()).map(TerminalId::new).zip(&terminal) {
        if new.is_some() {
            map.old_terminal.push(old);
        } else if map.switch[whole.terminal(old).switch.index()].is_some() {
            faults.terminals.push(old);
        }
    }
    let mut left = 0;
    for c in (0..whole.channel_count()).map(ChannelId::new) {
        let ends = (map.switch[whole.tail(c).index()], map.switch[whole.head(c).index()]);
        let (Some(tail), Some(head)) = ends else { continue };
        match part.at_port(tail, whole.tail_port(c)) {
            AtPort::Nothing if c < whole.reverse(c) => faults.links.push(c),
            AtPort::Nothing => {}
            AtPort::Switch(_, there) if there == head => left += 1,
            _ => return None,
        }
    }
    (left == part.channel_count()).then_some((faults, map))
}

/// By element of a list, its place among those that are left, which have kept their order.
fn places(all: &[u64], left: &[u64]) -> Option<Vec<Option<usize>>> {
    let mut next = 0;
    let mut place = |guid: &u64| {
        let is_left = left.get(next) == Some(guid);
        next += usize::from(is_left);
        is_left.then(|| next - 1)
    };
    let found = all.iter().map(&mut place).collect();
    (next == left.len()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_is_what_was_taken_away() {
        let whole = darkfiber_testkit::families::topology("dragonfly:p=2,a=4,h=2").fabric;
        let cases = [
            Faults::default(),
            Faults { links: vec![ChannelId(0)], ..Faults::default() },
            Faults { switches: vec![SwitchId(3)], ..Faults::default() },
            Faults { terminals: vec![TerminalId(5)], ..Faults::default() },
            Faults {
                links: vec![ChannelId(40)],
                switches: vec![SwitchId(0), SwitchId(35)],
                terminals: vec![TerminalId(30), TerminalId(31)],
            },
        ];
        for faults in cases {
            let (part, map) = whole.with_faults(&faults);
            assert_eq!(lost(&whole, &part), Some((faults, map)));
        }
        let (part, _) =
            whole.with_faults(&Faults { switches: vec![SwitchId(3)], ..Faults::default() });
        assert_eq!(lost(&part, &whole), None, "the whole is no part of its part");
    }
}

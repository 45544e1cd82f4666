//! Naming the packets that close a cycle.

use darkfiber_fabric::{ChannelId, Fabric, TerminalId};

use super::row::{Hops, NONE, Tables};
use super::verdict::{Generation, Held, Obligation, Witness};

/// Which tables a packet that began at one may meet at the next switch.
fn allowed(of: Obligation, last: Option<usize>, next: usize) -> bool {
    match of {
        Obligation::Target | Obligation::Steady => next == 1,
        Obligation::Flight => last.is_none_or(|last| last == next),
        Obligation::Mixed => true,
        Obligation::Ordered => last.is_none_or(|last| last <= next),
    }
}

/// A packet for each dependency of a cycle; `None` if one is not found, which would be a bug.
pub(super) fn name(
    fabric: &Fabric,
    tables: &Tables<'_>,
    of: Obligation,
    lane: u8,
    channels: &[ChannelId],
) -> Option<Witness> {
    let mut found: Vec<Option<Held>> = vec![None; channels.len()];
    let mut hops = Hops::new(fabric);
    let paths = tables.paths();
    for dest in 0..fabric.terminal_count() {
        for &path in &paths {
            if found.iter().all(Option::is_some) {
                break;
            }
            hops.read(fabric, tables, dest, path);
            for (i, held) in found.iter_mut().enumerate().filter(|(_, held)| held.is_none()) {
                let pair = (channels[i], channels[(i + 1) % channels.len()]);
                *held = packet(fabric, tables, &hops, of, lane, (dest, path), pair);
            }
        }
    }
    let links = found.into_iter().collect::<Option<Vec<Held>>>()?;
    Some(Witness { lane, links })
}

/// A packet to LID `path` of `dest` that holds the first channel and wants the second.
fn packet(
    fabric: &Fabric,
    tables: &Tables<'_>,
    hops: &Hops,
    of: Obligation,
    lane: u8,
    (dest, path): (usize, usize),
    (held, wanted): (ChannelId, ChannelId),
) -> Option<Held> {
    let (s, v) = (fabric.tail(held).index(), fabric.head(held).index());
    let by = |at: usize, c: ChannelId| (0..2).filter(move |&k| hops.next[k][at] == c.0);
    by(s, held).next()?;
    by(v, wanted).next()?;
    for source in (0..fabric.terminal_count()).map(TerminalId::new) {
        let Some(level_of) = tables.gives(fabric, source, dest, path, lane) else { continue };
        let reached = reach(fabric, hops, of, fabric.terminal(source).switch.index());
        for k in by(s, held) {
            for j in by(v, wanted) {
                // O3: only old connections are on old paths.
                let in_time = of != Obligation::Flight || k == 1 || level_of == Generation::Old;
                let comes = (0..3)
                    .any(|last| reached[last][s] && allowed(of, (last < 2).then_some(last), k));
                if comes && in_time && allowed(of, Some(k), j) {
                    let generation = |k| if k == 0 { Generation::Old } else { Generation::New };
                    return Some(Held {
                        channel: held,
                        held_by: generation(k),
                        wants_by: generation(j),
                        source,
                        dest: TerminalId::new(dest),
                        path,
                        level_of,
                    });
                }
            }
        }
    }
    None
}

/// By the tables that were met last (old, new, none yet): the switches that packets from `start` come to.
fn reach(fabric: &Fabric, hops: &Hops, of: Obligation, start: usize) -> [Vec<bool>; 3] {
    let none = || vec![false; fabric.switch_count()];
    let mut reached = [none(), none(), none()];
    reached[2][start] = true;
    let mut stack = vec![(2usize, start)];
    while let Some((last, s)) = stack.pop() {
        for k in (0..2).filter(|&k| allowed(of, (last < 2).then_some(last), k)) {
            let c = hops.next[k][s];
            if c == NONE || c as usize >= fabric.channel_count() {
                continue;
            }
            let v = fabric.heads()[c as usize] as usize;
            if !reached[k][v] {
                reached[k][v] = true;
                stack.push((k, v));
            }
        }
    }
    reached
}

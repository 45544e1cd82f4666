//! The routes that close a cycle of channel dependencies.

use darkfiber_fabric::{ChannelId, Fabric, TerminalId};

use super::layer::Cycle;
use super::sources::Sources;
use super::walk::Walk;
use crate::{DestId, Routes};

/// The cycle of these channels and the lanes in which they are held, with a route for each channel that holds it in that
/// lane and requests the next one in its.
///
/// `lane_of` is the lane of a channel in which a source's packets by a table row are, given that row's in-tree.
pub(super) fn witnessed(
    fabric: &Fabric,
    routes: &Routes,
    sources: &Sources,
    held: &[(usize, u8)],
    lane_of: impl Fn(&Walk<'_>, TerminalId, usize, usize) -> u8,
) -> Cycle {
    let mut found: Vec<Option<(TerminalId, TerminalId)>> = vec![None; held.len()];
    let mut walk = Walk::new(fabric);
    for dest in (0..fabric.terminal_count()).map(TerminalId::new) {
        for &path in &sources.paths {
            if found.iter().all(Option::is_some) {
                break;
            }
            let row = routes.row(DestId(dest.0), path);
            walk.to(routes.ports(row), dest, |_| true);
            for (i, &(c, lane)) in held.iter().enumerate() {
                let (next, then) = held[(i + 1) % held.len()];
                let (s, v) = (fabric.tails()[c] as usize, fabric.heads()[c] as usize);
                if found[i].is_some() || walk.channel(s) != Some(c) || walk.channel(v) != Some(next)
                {
                    continue;
                }
                found[i] = (0..fabric.terminal_count())
                    .map(TerminalId::new)
                    .find(|&t| {
                        t != dest
                            && routes.uses(t, path)
                            && walk.passes(fabric.terminal(t).switch.index(), s)
                            && lane_of(&walk, t, row, c) == lane
                            && lane_of(&walk, t, row, next) == then
                    })
                    .map(|t| (t, dest));
            }
        }
    }
    Cycle {
        channels: held.iter().map(|&(c, _)| ChannelId::new(c)).collect(),
        lanes: held.iter().map(|&(_, lane)| lane).collect(),
        routes: found.into_iter().map(|f| f.expect("some route made the dependency")).collect(),
    }
}

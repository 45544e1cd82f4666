//! The routes that close a cycle of channel dependencies.

use darkfiber_fabric::{ChannelId, Fabric, TerminalId};

use super::layer::Cycle;
use super::sources::Sources;
use super::walk::Walk;
use crate::{DestId, Routes};

/// The cycle of these channels and the lanes in which they are held, with a route for each channel that holds it in that
/// lane and requests the next one in its.
///
/// `waits` says whether a source's packets by a table row, given that row's in-tree, hold a channel in a lane and request the next one
/// in its.
pub(super) fn witnessed(
    fabric: &Fabric,
    routes: &Routes,
    sources: &Sources,
    held: &[(usize, u8)],
    waits: impl Fn(&Walk<'_>, TerminalId, usize, (usize, u8), (usize, u8)) -> bool,
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
            for (i, &at) in held.iter().enumerate() {
                let (c, to) = (at.0, held[(i + 1) % held.len()]);
                let (s, v) = (fabric.tails()[c] as usize, fabric.heads()[c] as usize);
                if found[i].is_some() || walk.channel(s) != Some(c) || walk.channel(v) != Some(to.0)
                {
                    continue;
                }
                found[i] = (0..fabric.terminal_count())
                    .map(TerminalId::new)
                    .find(|&t| {
                        t != dest
                            && routes.uses(t, path)
                            && walk.passes(fabric.terminal(t).switch.index(), s)
                            && waits(&walk, t, row, at, to)
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

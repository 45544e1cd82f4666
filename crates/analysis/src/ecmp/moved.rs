//! Number of flows that change their paths when a cable fails.

use darkfiber_fabric::{ChannelId, Fabric, TerminalId};
use darkfiber_routing::ecmp::Ecmp;

/// Effects on flows of one cable after the other failing, each in isolation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MovedFlows {
    /// Flows that crossed the cable, of all: mean over cables.
    pub hit: f64,
    /// Flows that take other paths afterwards, of all.
    pub moved: f64,
}

/// Fails these cables, named by either channel, each in isolation.
///
/// Complexity: O(cables x (flows x hops + destination switches x channels)).
pub fn moved(
    fabric: &Fabric,
    ecmp: &Ecmp,
    cables: &[ChannelId],
    pairs: &[[TerminalId; 2]],
) -> MovedFlows {
    let paths = |ecmp: &Ecmp| -> Vec<Vec<u32>> {
        let flows = pairs.iter().flat_map(|p| (0..ecmp.queue_pairs()).map(move |q| (p, q)));
        flows
            .map(|(&[from, to], number)| {
                let mut path = Vec::new();
                ecmp.follow(fabric, from, to, number, &mut path);
                path
            })
            .collect()
    };
    let before = paths(ecmp);
    let mut sum = MovedFlows::default();
    for &c in cables {
        let back = fabric.reverse(c);
        let after = paths(&ecmp.after(fabric, &|other| other != c && other != back));
        let hit =
            before.iter().filter(|path| path.contains(&c.0) || path.contains(&back.0)).count();
        let moved = before.iter().zip(&after).filter(|(old, new)| old != new).count();
        sum.hit += hit as f64;
        sum.moved += moved as f64;
    }
    let all = (before.len() * cables.len()).max(1) as f64;
    MovedFlows { hit: sum.hit / all, moved: sum.moved / all }
}

//! Helpers of several modules: small queries about a fabric, answered from its plain accessors.

use darkfiber_fabric::{ChannelId, Fabric, SwitchId, Topology, parse_spec};

/// The fabric of a spec that is known to be good.
pub(crate) fn spec(text: &str) -> Topology {
    parse_spec(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

pub(crate) fn switches(f: &Fabric) -> impl Iterator<Item = SwitchId> {
    (0..f.switch_count()).map(SwitchId::new)
}

/// Each cable between switches once, as (tail, head).
pub(crate) fn cables(f: &Fabric) -> impl Iterator<Item = (SwitchId, SwitchId)> {
    (0..f.channel_count())
        .map(ChannelId::new)
        .filter(|&c| c < f.reverse(c))
        .map(|c| (f.tail(c), f.head(c)))
}

/// Cables to other switches.
pub(crate) fn degree(f: &Fabric, s: SwitchId) -> usize {
    f.channels_from(s).len()
}

/// Hops from one switch to each other one, `usize::MAX` where there is no path.
pub(crate) fn distances(f: &Fabric, from: SwitchId) -> Vec<usize> {
    let mut distance = vec![usize::MAX; f.switch_count()];
    distance[from.index()] = 0;
    let mut queue = std::collections::VecDeque::from([from]);
    while let Some(s) = queue.pop_front() {
        for n in f.channels_from(s).map(|c| SwitchId(f.heads()[c])) {
            if distance[n.index()] == usize::MAX {
                distance[n.index()] = distance[s.index()] + 1;
                queue.push_back(n);
            }
        }
    }
    distance
}

/// Numbers joined by `x`, as specs write lists.
pub(crate) fn list(numbers: &[u32]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    numbers.join("x")
}

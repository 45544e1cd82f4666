//! What several modules need: small questions about a fabric, answered from its plain accessors.

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

/// Numbers joined by `x`, as specs write lists.
pub(crate) fn list(numbers: &[u32]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    numbers.join("x")
}

//! Cables by their ends: node GUID and port, as OpenSM names them.

use darkfiber_fabric::{ChannelId, Fabric, SwitchId};

/// The end of a cable: node GUID and port.
pub(crate) type End = (u64, u8);

/// Cables, each from both ends. OpenSM waits while they are compared, so they are sorted rather than kept in a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cables(Vec<(End, End)>);

impl Cables {
    /// Of pairs of ends, each cable once. Of two cables at one end the later one counts.
    pub(crate) fn new(once: &[(End, End)]) -> Self {
        let mut all: Vec<(End, End)> =
            once.iter().flat_map(|&(a, b)| [(b, a), (a, b)]).rev().collect();
        all.sort_by_key(|&(from, _)| from);
        all.dedup_by_key(|&mut (from, _)| from);
        Self(all)
    }

    /// All cables of a fabric, those of its hosts included.
    pub(crate) fn of(fabric: &Fabric) -> Self {
        let switch = |s: SwitchId| fabric.switch(s).guid.0;
        let channels = (0..fabric.channel_count()).map(ChannelId::new);
        let links = channels.filter(|&c| c < fabric.reverse(c)).map(|c| {
            let from = (switch(fabric.tail(c)), fabric.tail_port(c));
            (from, (switch(fabric.head(c)), fabric.head_port(c)))
        });
        let hosts = fabric.terminals().iter().map(|t| {
            let host = (fabric.adapter(t.adapter).guid.0, t.port);
            (host, (switch(t.switch), t.switch_port))
        });
        Self::new(&links.chain(hosts).collect::<Vec<_>>())
    }

    /// Where the cable at an end leads.
    pub(crate) fn get(&self, end: End) -> Option<End> {
        let at = self.0.binary_search_by_key(&end, |&(from, _)| from).ok()?;
        Some(self.0[at].1)
    }

    /// Whether a node has any cable.
    pub(crate) fn has_node(&self, guid: u64) -> bool {
        let at = self.0.partition_point(|&((node, _), _)| node < guid);
        self.0.get(at).is_some_and(|&((node, _), _)| node == guid)
    }

    /// Each cable from both ends, in the order of the ends.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(End, End)> {
        self.0.iter()
    }

    /// Number of ends.
    #[cfg(test)]
    pub(crate) fn ends(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cable_is_found_from_both_ends_and_the_later_of_two_counts() {
        let cables = Cables::new(&[((1, 2), (9, 3)), ((1, 4), (8, 1)), ((1, 2), (7, 7))]);
        assert_eq!(cables.get((1, 2)), Some((7, 7)));
        assert_eq!((cables.get((8, 1)), cables.get((1, 3))), (Some((1, 4)), None));
        assert_eq!([1, 2, 7, 9, 10].map(|n| cables.has_node(n)), [true, false, true, true, false]);
        assert_eq!((cables.ends(), cables.iter().count()), (5, 5));
    }
}

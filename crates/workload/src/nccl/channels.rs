//! Ranks that talk to each other over the network in each channel (`connect.cc`).

use super::constants::MOST_IN_ALL;
use super::tree::double_tree;
use super::{Algorithm, Cluster, Operation, Protocol};

/// Entries and exits of a channel at the hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Local ranks next to the NICs by which it enters and leaves hosts of even numbers; exchanged on hosts of odd numbers where
    /// the two have different NICs, so that it keeps to its rails.
    pub ends: [u32; 2],
    /// Whether the ends are exchanged on hosts of odd numbers.
    pub alternates: bool,
    /// Index of the tree of hosts, of two.
    pub tree: u8,
}

impl Channel {
    /// The local ranks by which a host is entered and left.
    pub fn of_node(&self, node: u32) -> [u32; 2] {
        let [enters, leaves] = self.ends;
        if self.alternates && node % 2 == 1 { [leaves, enters] } else { [enters, leaves] }
    }
}

/// All that one rank sends to another over the network in one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The channel, from 0.
    pub channel: u32,
    /// Rank that sends.
    pub from: u32,
    /// Rank that receives.
    pub to: u32,
    /// Bytes on the wire.
    pub bytes: u64,
}

/// The channels of a communicator. NCCL's NIC of a channel is next to one GPU, to two, or to more: with one, channels go in pairs,
/// that enter where the other one leaves (`NCCL_CROSS_NIC`=2), unless `crosses` forbids it: then the last GPU of a host hands over to
/// the first one, by NVLink (PXN).
pub fn channels(cluster: &Cluster, algorithm: Algorithm, crosses: bool) -> Vec<Channel> {
    let (gpus, nics) = (cluster.system.gpus, cluster.system.nics.min(cluster.system.gpus));
    let graph = if algorithm == Algorithm::NvlsTree { nics } else { cluster.graph().channels };
    // Twice as many as were searched for: each of two trees has its own.
    let all = (2 * graph).clamp(1, MOST_IN_ALL);
    (0..all)
        .map(|c| {
            let nic = c % nics;
            let second = nic + nics;
            let partner = nic ^ 1;
            let (ends, alternates) = if algorithm == Algorithm::NvlsTree {
                ([nic, nic], false)
            } else if second < gpus {
                ([nic, second], false)
            } else if crosses && partner < nics {
                ([nic, partner], true)
            } else {
                ([nic, nic], false)
            };
            Channel { ends, alternates, tree: u8::from(c >= all / 2) }
        })
        .collect()
}

/// Traffic over the network of one call with a vector of this number of bytes (in an Alltoall that of one rank), in all channels. `pxn`:
/// in an Alltoall a message leaves its host on the rail of its destination.
#[expect(clippy::cast_sign_loss, reason = "bytes are not below zero")]
pub fn connections(
    cluster: &Cluster,
    (operation, algorithm, protocol): (Operation, Algorithm, Protocol),
    channels: &[Channel],
    bytes: u64,
    pxn: bool,
) -> Vec<Connection> {
    let (gpus, nodes) = (cluster.system.gpus, cluster.nodes);
    let mut all = Vec::new();
    if nodes < 2 || channels.is_empty() {
        return all;
    }
    let ranks = f64::from(cluster.ranks());
    let on_wire = |data: f64| (data * protocol.expansion() * cluster.overhead()).round() as u64;
    let rank = |node: u32, local: u32| node * gpus + local;
    if operation == Operation::AllToAll {
        let pair = bytes as f64 / ranks;
        let nics = cluster.system.nics.min(gpus);
        for (a, b) in (0..nodes).flat_map(|a| (0..nodes).map(move |b| (a, b))) {
            if a == b {
                continue;
            }
            for to in 0..gpus {
                let mut add = |channel, from, to, data| {
                    let (from, to) = (rank(a, from), rank(b, to));
                    all.push(Connection { channel, from, to, bytes: on_wire(data) });
                };
                if pxn {
                    // All of the host for this one.
                    add(to % nics, to, to, pair * f64::from(gpus));
                } else {
                    (0..gpus).for_each(|from| add(from % nics, from, to, pair));
                }
            }
        }
        return all;
    }
    let data = bytes as f64 / channels.len() as f64;
    let trees = double_tree(nodes);
    for (channel, number) in channels.iter().zip(0..) {
        if algorithm == Algorithm::Ring {
            let bytes = on_wire(data * operation.factor(cluster.ranks()));
            for node in 0..nodes {
                let next = (node + 1) % nodes;
                let from = rank(node, channel.of_node(node)[1]);
                let to = rank(next, channel.of_node(next)[0]);
                all.push(Connection { channel: number, from, to, bytes });
            }
            continue;
        }
        for (child, parent) in (0..nodes).zip(&trees[usize::from(channel.tree)]) {
            let Some(parent) = *parent else { continue };
            // A host talks to its parent by its first GPU; the parent to a child before it by the second one.
            let side = usize::from(child < parent);
            let below = rank(child, channel.of_node(child)[0]);
            let above = rank(parent, channel.of_node(parent)[side]);
            let bytes = on_wire(data);
            all.push(Connection { channel: number, from: below, to: above, bytes });
            all.push(Connection { channel: number, from: above, to: below, bytes });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::nccl::system;

    fn made(
        name: &str,
        nodes: u32,
        algorithm: Algorithm,
        crosses: bool,
    ) -> (Cluster, Vec<Connection>) {
        let cluster = Cluster::new(system(name).expect("known"), nodes);
        let found = channels(&cluster, algorithm, crosses);
        let what = (Operation::AllReduce, algorithm, Protocol::Simple);
        let all = connections(&cluster, what, &found, 1 << 30, true);
        (cluster, all)
    }

    /// Every NIC sends 2(n-1)/n of the vector over the number of NICs, and rings keep to their rails, but for one step where the
    /// number of hosts is odd and channels alternate.
    #[test]
    fn rings_share_the_nics_evenly_and_keep_to_rails() {
        for (name, crosses) in [("dgx-h100", true), ("dgx-h100", false), ("a100-4nic", true)] {
            for nodes in [2, 4, 5, 32] {
                let (cluster, all) = made(name, nodes, Algorithm::Ring, crosses);
                let nics = cluster.system.nics;
                let mut sent: BTreeMap<(u32, u32), u64> = BTreeMap::new();
                let mut crossing = 0;
                for c in &all {
                    let place = |rank: u32| (rank / 8, rank % 8 % nics);
                    *sent.entry(place(c.from)).or_default() += c.bytes;
                    crossing += usize::from(place(c.from).1 != place(c.to).1);
                }
                let factor = Operation::AllReduce.factor(cluster.ranks());
                let each = factor * (1u64 << 30) as f64 / f64::from(nics) * cluster.overhead();
                assert_eq!(sent.len() as u32, nodes * nics);
                assert!(sent.values().all(|&b| (b as f64 / each - 1.0).abs() < 1e-6), "{name}");
                let odd = nodes % 2 == 1 && crosses && name == "dgx-h100";
                assert_eq!(crossing, if odd { 16 } else { 0 }, "{name} x {nodes}");
            }
        }
    }

    /// Trees of the NVSwitch never leave their rails; a tree moves the vector up and down each of its edges.
    #[test]
    fn trees_move_the_vector_twice_over_each_edge() {
        for nodes in [2, 3, 8, 33] {
            for algorithm in [Algorithm::Tree, Algorithm::NvlsTree] {
                let (cluster, all) = made("dgx-h100", nodes, algorithm, true);
                let whole: u64 = all.iter().map(|c| c.bytes).sum();
                let edges = f64::from(2 * (nodes - 1)) * (1u64 << 30) as f64 * cluster.overhead();
                assert!((whole as f64 / edges - 1.0).abs() < 1e-6, "{nodes}");
                let keeps = all.iter().all(|c| c.from % 8 == c.to % 8);
                assert!(algorithm == Algorithm::Tree || keeps);
            }
        }
    }

    #[test]
    fn all_to_all_stays_on_the_rail_of_its_destination_with_pxn() {
        let cluster = Cluster::new(system("dgx-h100").expect("known"), 3);
        let what = (Operation::AllToAll, Algorithm::Ring, Protocol::Simple);
        let found = channels(&cluster, Algorithm::Ring, true);
        let of = |pxn| connections(&cluster, what, &found, 576 << 20, pxn);
        let bytes = |all: &[Connection]| all.iter().map(|c| c.bytes).sum::<u64>();
        let (with, without) = (of(true), of(false));
        assert_eq!((with.len(), without.len()), (3 * 2 * 8, 3 * 2 * 64));
        assert!(with.iter().all(|c| c.from % 8 == c.to % 8));
        assert!((bytes(&with) as f64 / bytes(&without) as f64 - 1.0).abs() < 1e-5);
    }
}

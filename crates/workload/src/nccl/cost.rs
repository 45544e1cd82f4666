//! The cost model by which NCCL chooses (`tuning.cc`): a latency, and bytes over a bandwidth.

use super::constants::{
    LL_MOST, MOST_CHANNELS, NVLS_SHARE, NVLS_TREE, RING_LL128, TREE, TREE_LL128, base,
    inter_speeds, intra_speeds, net, nvlink, tree_correction,
};
use super::system::Generation;
use super::{Algorithm, Operation, Processor, Protocol, System};

/// Hosts of one system, with a rank on each GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cluster {
    /// Description of each host.
    pub system: System,
    /// Number of hosts of the cluster.
    pub nodes: u32,
}

/// Cost of one call without contention.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Topology that joins the ranks.
    pub algorithm: Algorithm,
    /// Protocol of the data.
    pub protocol: Protocol,
    /// Latency, independent of the number of bytes.
    pub latency: f64,
    /// Bytes of the vector a second, beyond that.
    pub bandwidth: f64,
    /// Total of latency and transfer.
    pub seconds: f64,
}

/// Channels that were found for a host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Graph {
    pub(super) channels: u32,
    /// GB/s of a channel within the host, and to others.
    intra: f64,
    inter: f64,
}

impl Cluster {
    /// A cluster of this number of hosts.
    pub fn new(system: &System, nodes: u32) -> Self {
        Self { system: *system, nodes }
    }

    /// The number of ranks.
    pub fn ranks(&self) -> u32 {
        self.system.gpus.saturating_mul(self.nodes)
    }

    /// Rings and trees: on one host those that fill NVLink best, else one for each NIC, at the fastest speed of the list that NIC and
    /// NVLink have.
    #[expect(clippy::cast_sign_loss, reason = "rates are not below zero")]
    pub(super) fn graph(&self) -> Graph {
        let System { generation, gpus, nics, nic, nvlink, .. } = self.system;
        let mut graph = if self.nodes == 1 {
            let channels = |speed: f64| MOST_CHANNELS.min((nvlink / speed) as u32);
            let mut best = Graph { channels: 1, intra: 0.0, inter: 0.0 };
            for &speed in intra_speeds(generation) {
                if f64::from(channels(speed)) * speed > f64::from(best.channels) * best.intra {
                    best = Graph { channels: channels(speed), intra: speed, inter: speed };
                }
            }
            best
        } else {
            // The last GPU of a channel sends to its NIC instead of to a neighbour.
            let used = f64::from(nics * gpus.saturating_sub(1)) / f64::from(gpus);
            let fits = |speed: &&f64| **speed <= nic && **speed * used <= nvlink;
            let speed = inter_speeds(generation).iter().find(fits).copied().unwrap_or(0.12);
            Graph { channels: nics.min(MOST_CHANNELS), intra: speed, inter: speed }
        };
        let few = generation >= Generation::Hopper && graph.intra < 50.0 && graph.channels > 4;
        if graph.intra >= 25.0 && !few && 2 * graph.channels <= MOST_CHANNELS {
            graph.channels *= 2;
            graph.intra /= 2.0;
            graph.inter /= 2.0;
        }
        graph
    }

    /// Sums in the NVSwitch: a channel for each GPU that has a NIC.
    fn nvls_graph(&self) -> Graph {
        let System { generation, gpus, nics, nic, nvlink, .. } = self.system;
        let channels = if self.nodes == 1 { gpus } else { gpus.min(nics) }.min(MOST_CHANNELS);
        let within = |most: f64, speeds: &[f64]| {
            speeds.iter().copied().find(|&speed| speed <= most).unwrap_or(0.12)
        };
        Graph {
            channels,
            intra: within(nvlink / f64::from(channels.max(1)), intra_speeds(generation)),
            inter: within(nic, inter_speeds(generation)),
        }
    }

    /// Cost of a call; `None` for an impossible combination.
    pub fn cost(
        &self,
        operation: Operation,
        algorithm: Algorithm,
        protocol: Protocol,
        bytes: u64,
    ) -> Option<Cost> {
        let ranks = self.ranks();
        if ranks < 2 || (operation != Operation::AllReduce && algorithm != Algorithm::Ring) {
            return None;
        }
        if operation == Operation::AllToAll {
            return (protocol == Protocol::Simple).then(|| self.all_to_all(bytes));
        }
        let bandwidth = self.bandwidth(operation, algorithm, protocol, bytes)?;
        let mut latency = self.latency(operation, algorithm, protocol);
        let graph = self.graph();
        // Large rings between hosts fill slowly.
        let piece = bytes / u64::from(graph.channels) / u64::from(ranks);
        if algorithm == Algorithm::Ring
            && protocol == Protocol::Simple
            && operation == Operation::AllReduce
            && self.nodes > 1
            && piece >= 64
        {
            latency *= if self.system.generation < Generation::Ampere { 1.9 } else { 1.4 };
        }
        let (latency, bandwidth) = (latency * 1e-6, bandwidth * 1e9);
        let seconds = latency + bytes as f64 / bandwidth;
        Some(Cost { algorithm, protocol, latency, bandwidth, seconds })
    }

    /// The cheapest combination among those that are allowed.
    pub fn choose(
        &self,
        operation: Operation,
        algorithm: Option<Algorithm>,
        protocol: Option<Protocol>,
        bytes: u64,
    ) -> Option<Cost> {
        let algorithms = Algorithm::ALL.into_iter().filter(|a| algorithm.is_none_or(|b| b == *a));
        algorithms
            .flat_map(|a| Protocol::ALL.map(|p| (a, p)))
            .filter(|(_, p)| protocol.is_none_or(|q| q == *p))
            .filter_map(|(a, p)| self.cost(operation, a, p, bytes))
            .min_by(|a, b| a.seconds.total_cmp(&b.seconds))
    }

    /// Bandwidth of the vector in GB/s.
    fn bandwidth(
        &self,
        operation: Operation,
        algorithm: Algorithm,
        protocol: Protocol,
        bytes: u64,
    ) -> Option<f64> {
        let row = self.system.generation as usize;
        let column = self.nodes.clamp(1, 3) as usize - 1;
        let ranks = f64::from(self.ranks());
        let to_ring = ranks / (operation.factor(self.ranks()) * ranks);
        if matches!(algorithm, Algorithm::Nvls | Algorithm::NvlsTree) {
            let graph = self.nvls_graph();
            let one_host = algorithm == Algorithm::Nvls;
            let share = NVLS_SHARE[row];
            let fits = (self.nodes == 1) == one_host && graph.channels >= 2 && share > 0.0;
            if !fits || protocol != Protocol::Simple || self.system.gpus < 2 {
                return None;
            }
            let channels = f64::from(graph.channels);
            let intra = 2.0 * graph.intra * share * (channels - 1.0) / channels;
            let inter = graph.inter * if self.nodes == 2 { 2.0 } else { 1.0 };
            let each = if one_host { intra } else { intra.min(inter).min(NVLS_TREE[row][column]) };
            return Some(channels * each * to_ring);
        }
        let graph = self.graph();
        let channels = f64::from(graph.channels);
        let bus = channels * if self.nodes <= 2 { graph.intra } else { graph.inter };
        let ll_row = match (self.nodes, self.system.processor) {
            (1, _) => row,
            (_, Processor::Intel) => 0,
            (_, Processor::Amd) => 1,
        };
        let ll_most = LL_MOST[ll_row][column];
        Some(match (algorithm, protocol) {
            (Algorithm::Ring, Protocol::Ll) => ll_most.min(bus / 2.0) * to_ring,
            (Algorithm::Ring, Protocol::Ll128) => {
                (0.92 * bus).min(channels * RING_LL128[row]) * to_ring
            }
            (Algorithm::Ring, Protocol::Simple) => bus * to_ring,
            (_, protocol) => {
                let bus = (0.92 * bus).min(channels * TREE[row][column]);
                let by_protocol = match protocol {
                    Protocol::Ll => (bus / 3.8).min(ll_most),
                    Protocol::Ll128 => {
                        let share = if self.nodes == 1 { 7.0 / 9.0 } else { 120.0 / 128.0 };
                        (bus * share).min(channels * TREE_LL128[row][column])
                    }
                    Protocol::Simple => bus,
                };
                0.5 * by_protocol * tree_correction(protocol, bytes)
            }
        })
    }

    /// In microseconds, before corrections.
    fn latency(&self, operation: Operation, algorithm: Algorithm, protocol: Protocol) -> f64 {
        let System { gpus, processor, .. } = self.system;
        let (n, nodes) = (f64::from(self.ranks()), f64::from(self.nodes));
        let (base, intra) = (base(algorithm, protocol), nvlink(algorithm, protocol));
        // With one GPU a host the network time is not hidden.
        let exposed = gpus == 1 && algorithm == Algorithm::Ring;
        let inter = net(if exposed { Algorithm::Tree } else { algorithm }, protocol);
        let depth = f64::from(self.nodes.ilog2());
        match algorithm {
            Algorithm::Ring => {
                let turns = if operation == Operation::AllReduce { 2.0 } else { 1.0 };
                let between = if self.nodes > 1 { turns * (nodes - 1.0) } else { 0.0 };
                let overhead = match processor {
                    _ if self.nodes == 1 => 0.0,
                    Processor::Intel => 1.0,
                    Processor::Amd => 2.0,
                };
                let overhead = overhead * if protocol == Protocol::Simple { 3.0 } else { 1.0 };
                base + (turns * (n - 1.0) - between) * intra.max(overhead) + between * inter
            }
            Algorithm::Tree => base + 2.0 * (f64::from(gpus - 1) * intra + depth * inter),
            Algorithm::Nvls => intra,
            Algorithm::NvlsTree => intra + 2.0 * depth * inter,
        }
    }

    /// Point-to-point messages of all pairs: NCCL has no model of them. A message over the network, and the NICs; or NVLink.
    fn all_to_all(&self, bytes: u64) -> Cost {
        let System { gpus, nics, nvlink: fast, .. } = self.system;
        let (n, g) = (f64::from(self.ranks()), f64::from(gpus));
        // Of the bytes of one rank.
        let away = (n - g) / n * g / f64::from(nics.min(gpus));
        let near = (g - 1.0) / n;
        let (algorithm, protocol) = (Algorithm::Ring, Protocol::Simple);
        let speed = if self.nodes == 1 { f64::INFINITY } else { self.nic_speed() };
        let each = (away / speed).max(near / fast);
        let step =
            if self.nodes == 1 { nvlink(algorithm, protocol) } else { net(algorithm, protocol) };
        let latency = (base(algorithm, protocol) + step) * 1e-6;
        let bandwidth = 1e9 / each;
        Cost {
            algorithm,
            protocol,
            latency,
            bandwidth,
            seconds: latency + bytes as f64 / bandwidth,
        }
    }

    /// Speed of a NIC in NCCL's model, in GB/s: the fastest of its list that the NIC reaches.
    pub(super) fn nic_speed(&self) -> f64 {
        let fits = |speed: &&f64| **speed <= self.system.nic;
        inter_speeds(self.system.generation).iter().find(fits).copied().unwrap_or(0.12)
    }

    /// Bytes of a NIC's data rate that go by for each byte that NCCL counts on.
    pub fn overhead(&self) -> f64 {
        self.system.nic / self.nic_speed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nccl::{SYSTEMS, system};

    fn bus(name: &str, nodes: u32, algorithm: Option<Algorithm>, bytes: u64) -> (Cost, f64) {
        let cluster = Cluster::new(system(name).expect("known"), nodes);
        let cost = cluster.choose(Operation::AllReduce, algorithm, None, bytes).expect("a way");
        (cost, Operation::AllReduce.bus_bandwidth(cluster.ranks(), bytes, cost.seconds) / 1e9)
    }

    /// Large rings move channels times the speed of one; these are the numbers that NVIDIA's staff name as targets.
    #[test]
    fn large_rings_fill_their_nics() {
        let most = 1 << 40;
        for (name, nodes, target) in [
            ("dgx-h100", 4, 384.0),
            ("h100-4nic", 5, 192.0),
            ("dgx-a100", 64, 192.0),
            ("a100-4nic", 3, 96.0),
            ("dgx-a100", 1, 240.0),
            ("dgx-h100", 1, 360.0),
        ] {
            let (_, bus) = bus(name, nodes, Some(Algorithm::Ring), most);
            assert!((bus - target).abs() < 0.01 * target, "{name} x {nodes}: {bus}");
        }
        // Sums in the switch: 476 on one host.
        let (cost, bus) = bus("dgx-h100", 1, None, most);
        assert_eq!(cost.algorithm, Algorithm::Nvls);
        assert!((bus - 476.0).abs() < 1.0, "{bus}");
    }

    /// By hand, two hosts of eight H100: LL in a ring of 16.
    #[test]
    fn a_cost_by_hand() {
        let cluster = Cluster::new(system("dgx-h100").expect("known"), 2);
        let (ring, ll) = (Algorithm::Ring, Protocol::Ll);
        let cost = cluster.cost(Operation::AllReduce, ring, ll, 3900).expect("a way");
        // 6.6 + 28 x 1 (cost of a NIC on a Xeon) + 2 x 2.7; 39 GB/s of the bus are 20.8 of the vector.
        assert!((cost.latency * 1e6 - 40.0).abs() < 1e-9, "{cost:?}");
        assert!((cost.bandwidth / 1e9 - 20.8).abs() < 1e-9, "{cost:?}");
        let tree = cluster.cost(Operation::AllReduce, Algorithm::Tree, ll, 64).expect("a way");
        assert!((tree.latency * 1e6 - (6.8 + 2.0 * (7.0 * 0.6 + 5.0))).abs() < 1e-9, "{tree:?}");
    }

    /// Small vectors use few steps, large ones the highest bandwidth; fewer bytes are never slower by more than the
    /// corrections of trees.
    #[test]
    fn small_and_large_go_different_ways() {
        // In a chain of 72 GPUs sums in the switch are faster even for 64 bytes.
        for system in SYSTEMS.iter().filter(|system| system.gpus <= 8) {
            for nodes in [2, 4, 32, 512] {
                let cluster = Cluster::new(system, nodes);
                let by =
                    |bytes| cluster.choose(Operation::AllReduce, None, None, bytes).expect("a way");
                assert_eq!(by(64).protocol, Protocol::Ll, "{}", system.name);
                assert_eq!(by(1 << 38).protocol, Protocol::Simple, "{}", system.name);
                assert!(by(64).seconds < by(1 << 30).seconds);
                let gather = cluster.choose(Operation::AllGather, None, None, 1 << 30);
                assert_eq!(gather.map(|cost| cost.algorithm), Some(Algorithm::Ring));
            }
        }
    }

    /// NVIDIA's rule for Alltoall: with a NIC of B for each GPU, N hosts have a bus bandwidth of B x N/(N-1).
    #[test]
    fn all_to_all_is_bound_by_nics() {
        for nodes in [2, 6, 64] {
            let cluster = Cluster::new(system("dgx-h100").expect("known"), nodes);
            let bytes = 1 << 40;
            let cost = cluster.choose(Operation::AllToAll, None, None, bytes).expect("a way");
            // The factor counts messages within the host, too.
            let n = f64::from(cluster.ranks());
            let share = f64::from(nodes) / f64::from(nodes - 1) * (n - 1.0) / n;
            let bus = Operation::AllToAll.bus_bandwidth(cluster.ranks(), bytes, cost.seconds);
            assert!((bus / 1e9 - 48.0 * share).abs() < 0.5, "{nodes}: {bus}");
        }
    }
}

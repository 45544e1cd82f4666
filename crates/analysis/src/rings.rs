//! Rings of GPU collectives on real cables: which share a cable, what each job can expect, and a better order of its
//! hosts.
//!
//! All channels of a job move the same bytes and wait for each other, and a ring runs at the rate of its slowest connection: by max-min
//! shares that is the channel with the lowest rate per flow. Bus bandwidth of an Allreduce is that rate times the channels.

use std::collections::BTreeMap;

use darkfiber_fabric::{ChannelId, Fabric, TerminalId, natural_order};
use darkfiber_routing::Routes;

/// The terminals by which a ring enters a host and leaves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingPorts {
    /// NIC through which it enters.
    pub enters: TerminalId,
    /// NIC through which it leaves.
    pub leaves: TerminalId,
}

/// The channels of a job: by channel and host, in the order of hosts, where a ring enters and leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rings {
    /// By channel its stops, one for each host.
    pub channels: Vec<Vec<RingPorts>>,
}

/// By channel its connections between hosts: sender and receiver.
pub type Connections = Vec<Vec<(TerminalId, TerminalId)>>;

/// A connection of a ring or tree between two hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingFlow {
    /// Number of the job.
    pub job: usize,
    /// Channel of the job.
    pub channel: usize,
    /// Its position in the channel: in a ring, that of the host that sends.
    pub host: usize,
    /// Terminal that sends.
    pub from: TerminalId,
    /// Terminal that receives.
    pub to: TerminalId,
    /// Channels of the fabric that it crosses: the one into the network, those between switches, the one out of it; as in
    /// [`Heat`](crate::heat::Heat). Empty if the tables have no path.
    pub path: Vec<u32>,
}

/// The rings of several jobs on the channels of a fabric.
#[derive(Clone, Debug, PartialEq)]
pub struct RingTraffic {
    /// All connections, by job, channel and host.
    pub flows: Vec<RingFlow>,
    /// By channel of the fabric that is used, the flows on it.
    pub on: BTreeMap<u32, Vec<usize>>,
}

impl RingTraffic {
    /// Follows all connections of rings. Complexity: O(flows x hops).
    pub fn of(fabric: &Fabric, routes: &Routes, jobs: &[Rings]) -> Self {
        let all: Vec<Connections> = jobs.iter().map(Rings::connections).collect();
        Self::over(fabric, routes, &all)
    }

    /// Follows all connections of jobs. Complexity: O(flows x hops).
    pub fn over(fabric: &Fabric, routes: &Routes, jobs: &[Connections]) -> Self {
        let mut flows = Vec::new();
        let mut on: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (job, channels) in jobs.iter().enumerate() {
            for (channel, connections) in channels.iter().enumerate() {
                for (host, &(from, to)) in connections.iter().enumerate() {
                    let path = path(fabric, routes, from, to, channel).unwrap_or_default();
                    for &c in &path {
                        on.entry(c).or_default().push(flows.len());
                    }
                    flows.push(RingFlow { job, channel, host, from, to, path });
                }
            }
        }
        Self { flows, on }
    }

    /// The bytes a second that a flow gets where all flows of a channel of the fabric share it evenly; 0 without a path.
    pub fn rate(&self, fabric: &Fabric, flow: &RingFlow) -> f64 {
        let shares = flow.path.iter().map(|c| speed(fabric, *c) / self.on[c].len() as f64);
        shares.reduce(f64::min).unwrap_or(0.0)
    }

    /// The bus bandwidth that a job can expect of a large Allreduce, in bytes a second, and the flow that bounds it.
    pub fn bus(&self, fabric: &Fabric, job: usize, channels: usize) -> Option<(f64, usize)> {
        let rates = self.flows.iter().enumerate().filter(|(_, f)| f.job == job);
        let slowest = rates
            .map(|(i, f)| (self.rate(fabric, f), i))
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))?;
        Some((slowest.0 * channels as f64, slowest.1))
    }

    /// Channels between switches that all flows cross together.
    pub fn hops(&self) -> usize {
        self.flows.iter().map(|f| f.path.len().saturating_sub(2)).sum()
    }
}

/// The channels of the fabric from terminal to terminal; `None` if the tables have no path. Where switches hash, every channel of a
/// job has a separate connection, and so a separate queue pair.
fn path(
    fabric: &Fabric,
    routes: &Routes,
    from: TerminalId,
    to: TerminalId,
    channel: usize,
) -> Option<Vec<u32>> {
    let (m, t) = (fabric.channel_count(), fabric.terminal_count());
    let mut path_channels = vec![(m + t + from.index()) as u32];
    let number = if routes.hashed.is_some() { channel } else { routes.path_of(from) };
    let arrives = routes.flow_path(fabric, from, to, number, &mut path_channels);
    path_channels.push((m + to.index()) as u32);
    arrives.then_some(path_channels)
}

/// The data rate of a channel, in bytes a second.
pub fn speed(fabric: &Fabric, channel: u32) -> f64 {
    let (m, t) = (fabric.channel_count(), fabric.terminal_count());
    let c = channel as usize;
    let class = if c < m {
        fabric.class_of(ChannelId::new(c))
    } else {
        fabric.terminal_class(TerminalId::new((c - m) % t))
    };
    class.bytes_per_second.max(1) as f64
}

impl Rings {
    /// Its connections: each host's with the next one.
    pub fn connections(&self) -> Connections {
        let of = |stops: &Vec<RingPorts>| match stops.as_slice() {
            [] | [_] => Vec::new(),
            stops => (0..stops.len())
                .map(|i| (stops[i].leaves, stops[(i + 1) % stops.len()].enters))
                .collect(),
        };
        self.channels.iter().map(of).collect()
    }

    /// Whether rings alternate between NICs as those of NCCL's `crossNic` 2: some enter a host by another rail than they leave it
    /// by, and none leaves its rail on the way to the next host. `rails` has the rail of each terminal.
    pub fn alternate(&self, rails: &[usize]) -> bool {
        let rail = |t: TerminalId| rails[t.index()];
        let mut stops = self.channels.iter().flatten();
        let mut connections = self.connections().into_iter().flatten();
        stops.any(|stop| rail(stop.enters) != rail(stop.leaves))
            && connections.all(|(from, to)| rail(from) == rail(to))
    }

    /// The same with hosts in another order: `order[i]` is the host that comes to position i. Where rings `alternate`, hosts that
    /// change between even and odd positions exchange the NICs by which they enter and leave, as NCCL does.
    #[must_use]
    pub fn reordered(&self, order: &[usize], alternate: bool) -> Self {
        let stop = |stops: &[RingPorts], (new, &old): (usize, &usize)| {
            let RingPorts { enters, leaves } = stops[old];
            if !alternate || new % 2 == old % 2 {
                stops[old]
            } else {
                RingPorts { enters: leaves, leaves: enters }
            }
        };
        let channel =
            |stops: &Vec<RingPorts>| order.iter().enumerate().map(|o| stop(stops, o)).collect();
        Self { channels: self.channels.iter().map(channel).collect() }
    }

    /// The same with one rail for each channel, that by which it leaves its first host, as with `NCCL_CROSS_NIC=0`. `of_host` gives
    /// the terminals of a terminal's host by rail; a host without the rail keeps the NIC by which it is left.
    #[must_use]
    pub fn on_one_nic<'a>(&self, of_host: impl Fn(TerminalId) -> &'a [TerminalId]) -> Self {
        let channel = |stops: &Vec<RingPorts>| {
            let first = stops.first().map(|stop| stop.leaves);
            let rail = first.and_then(|t| of_host(t).iter().position(|&of| of == t));
            let one = |stop: &RingPorts| {
                let nic = rail.and_then(|rail| of_host(stop.leaves).get(rail).copied());
                let nic = nic.unwrap_or(stop.leaves);
                RingPorts { enters: nic, leaves: nic }
            };
            stops.iter().map(one).collect()
        };
        Self { channels: self.channels.iter().map(channel).collect() }
    }

    /// The hosts of each position.
    fn hosts(&self) -> usize {
        self.channels.first().map_or(0, Vec::len)
    }

    /// An order of the hosts of a job alone on the fabric that gives more bandwidth, or the same over fewer cables, if one is
    /// found: by leaf switches, and from there by exchanges of two hosts. Complexity: O(tries x flows x hops).
    pub fn better_order(
        &self,
        fabric: &Fabric,
        routes: &Routes,
        tries: usize,
        alternate: bool,
    ) -> Option<Vec<usize>> {
        let n = self.hosts();
        if n < 3 || self.channels.iter().any(|stops| stops.len() != n) {
            return None;
        }
        let score = |order: &[usize]| {
            let rings = self.reordered(order, alternate);
            let traffic = RingTraffic::of(fabric, routes, std::slice::from_ref(&rings));
            let bus = traffic.bus(fabric, 0, self.channels.len()).map_or(0.0, |b| b.0);
            (bus, traffic.hops())
        };
        let is_better = |a: (f64, usize), b: (f64, usize)| {
            a.0 > b.0 * (1.0 + 1e-9) || (a.0 >= b.0 * (1.0 - 1e-9) && a.1 < b.1)
        };
        let as_is: Vec<usize> = (0..n).collect();
        let begin = score(&as_is);
        let mut by_leaf = as_is.clone();
        let leaf = |host: usize| {
            &fabric.switch(fabric.terminal(self.channels[0][host].leaves).switch).description
        };
        by_leaf.sort_by(|&a, &b| natural_order(leaf(a), leaf(b)).then(a.cmp(&b)));
        let mut best = (begin, as_is);
        let sorted = score(&by_leaf);
        if is_better(sorted, best.0) {
            best = (sorted, by_leaf);
        }
        let mut left = tries;
        'improve: loop {
            for i in 0..n {
                for j in i + 1..n {
                    if left == 0 {
                        break 'improve;
                    }
                    left -= 1;
                    let mut order = best.1.clone();
                    order.swap(i, j);
                    let found = score(&order);
                    if is_better(found, best.0) {
                        best = (found, order);
                        continue 'improve;
                    }
                }
            }
            break;
        }
        is_better(best.0, begin).then_some(best.1)
    }
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::open;
    use darkfiber_routing::{Request, find_engine};

    use super::*;

    /// Two units of two hosts with two rails each, one spine with one cable to each leaf.
    fn machine() -> (darkfiber_fabric::Topology, Routes) {
        let topology =
            open("rails:hosts_per_unit=2,units=2,nics=2,spines=1,gbps=400").expect("a spec");
        let engine = find_engine("updn").expect("registered");
        let request = Request { shape: topology.shape.as_ref(), ..Request::default() };
        let routes = engine.route(&topology.fabric, &request).expect("it routes trees");
        (topology, routes)
    }

    /// The NIC of a rail of a host.
    fn nic(fabric: &Fabric, host: usize, rail: usize) -> TerminalId {
        let name = format!("cn{:04} HCA-{}", host + 1, rail + 1);
        let of = |t: &TerminalId| fabric.adapter(fabric.terminal(*t).adapter).description == name;
        (0..fabric.terminal_count()).map(TerminalId::new).find(of).expect(&name)
    }

    /// By host its NICs, by rail.
    fn nics(fabric: &Fabric) -> [[TerminalId; 2]; 4] {
        [0, 1, 2, 3].map(|host| [nic(fabric, host, 0), nic(fabric, host, 1)])
    }

    fn rings(fabric: &Fabric, hosts: [usize; 4]) -> Rings {
        let stop = |host: usize, rail: usize| {
            let terminal = nic(fabric, host, rail);
            RingPorts { enters: terminal, leaves: terminal }
        };
        Rings { channels: (0..2).map(|rail| hosts.map(|h| stop(h, rail)).to_vec()).collect() }
    }

    /// In order two connections of each ring cross the spine, each on a separate cable: 2 x 50 GB/s. With hosts of the units in turn
    /// four do, two on each cable: half of that, and a better order repairs it.
    #[test]
    fn hosts_in_turn_share_cables_and_order_mends_it() {
        let (topology, routes) = machine();
        let fabric = &topology.fabric;
        let bus = |rings: &Rings| {
            let traffic = RingTraffic::of(fabric, &routes, std::slice::from_ref(rings));
            (traffic.bus(fabric, 0, 2).expect("flows").0 / 1e9, traffic.hops())
        };
        let (good, bad) = (rings(fabric, [0, 1, 2, 3]), rings(fabric, [0, 2, 1, 3]));
        assert_eq!((bus(&good), bus(&bad)), ((100.0, 8), (50.0, 16)));
        let order = bad.better_order(fabric, &routes, 1000, false).expect("a better one");
        assert_eq!(bus(&bad.reordered(&order, false)), bus(&good));
        assert_eq!(good.better_order(fabric, &routes, 1000, false), None);
    }

    /// Two jobs on the same cables get half each; a channel that enters by another rail crosses the spine, and one NIC repairs
    /// that.
    #[test]
    fn jobs_share_and_rails_are_left() {
        let (topology, routes) = machine();
        let fabric = &topology.fabric;
        let job = rings(fabric, [0, 1, 2, 3]);
        let both = RingTraffic::of(fabric, &routes, &[job.clone(), job.clone()]);
        assert!((both.bus(fabric, 1, 2).expect("flows").0 / 1e9 - 50.0).abs() < 1e-9);
        let mut crossed =
            Rings { channels: job.channels.iter().map(|s| s[..2].to_vec()).collect() };
        let alone =
            |rings: &Rings| RingTraffic::of(fabric, &routes, std::slice::from_ref(rings)).hops();
        assert_eq!(alone(&crossed), 0);
        let other = crossed.channels[1][1].enters;
        crossed.channels[0][1].enters = other;
        assert!(alone(&crossed) > 0);
        let nics = nics(fabric);
        let of_host = |t: TerminalId| &nics.iter().find(|of| of.contains(&t)).expect("a host")[..];
        assert_eq!(alone(&crossed.on_one_nic(of_host)), 0);
        // NICs are exchanged where hosts change between even and odd, if rings alternate.
        assert_eq!(crossed.reordered(&[1, 0], true).channels[0][0].leaves, other);
        assert_eq!(crossed.reordered(&[1, 0], false).channels[0][0], crossed.channels[0][1]);
    }

    /// NCCL's own way on rails (`crossNic` 2) stays on them: it alternates, and one NIC for each channel crosses no more than it.
    /// With `crossNic` 1 every host leaves by the other rail, in any order.
    #[test]
    fn rings_that_alternate_stay_on_their_rails() {
        let (topology, routes) = machine();
        let fabric = &topology.fabric;
        let stop = |host: usize, [enters, leaves]: [usize; 2]| RingPorts {
            enters: nic(fabric, host, enters),
            leaves: nic(fabric, host, leaves),
        };
        let nics = nics(fabric);
        let of_host = |t: TerminalId| &nics.iter().find(|of| of.contains(&t)).expect("a host")[..];
        let mut rails = vec![0; fabric.terminal_count()];
        for of in &nics {
            rails[of[1].index()] = 1;
        }
        let left = |rings: &Rings| {
            let pairs = rings.connections().into_iter().flatten();
            pairs.filter(|(a, b)| rails[a.index()] != rails[b.index()]).count()
        };
        let ring = |first: usize, changes: usize| {
            let at = |host: usize| {
                let enters = (first + changes * host) % 2;
                stop(host, [enters, 1 - enters])
            };
            (0..4).map(at).collect::<Vec<_>>()
        };
        let alternating = Rings { channels: vec![ring(0, 1), ring(1, 1)] };
        assert!(alternating.alternate(&rails));
        assert_eq!([left(&alternating), left(&alternating.on_one_nic(of_host))], [0, 0]);
        assert_eq!(left(&alternating.reordered(&[1, 0, 3, 2], true)), 0);
        let crossing = Rings { channels: vec![ring(0, 0), ring(1, 0)] };
        assert!(!crossing.alternate(&rails));
        assert_eq!([left(&crossing), left(&crossing.on_one_nic(of_host))], [8, 0]);
        assert_eq!(crossing.better_order(fabric, &routes, 100, false), None);
    }
}

//! A scenario packet by packet.

use darkfiber_fabric::{ChannelId, Fabric, SwitchId, TerminalId};
use darkfiber_flowsim::Grid;
use darkfiber_packetsim::routing::{self, Adaptive, Given, Kind, With};
use darkfiber_packetsim::{
    Buffer, Impossible, Micro, Net, Packets, PacketsState, Peer, read, unlike, write,
};
use darkfiber_workload::play::{Player, PlayerState, Record, UnderWay, step};
use serde::{Deserialize, Serialize};

use crate::curve::parts;

use super::pairs::Received;
use super::{LidsPart, Setup, Simulated, Trouble, Until};

/// What is asked of packets.
#[derive(Clone)]
pub struct Inside {
    /// What switches are like.
    pub micro: Micro,
    /// Virtual lanes; as many as the routing needs without.
    pub lanes: Option<u8>,
    /// Where packets go.
    pub routing: &'static Kind,
    /// Bytes of a packet at most.
    pub bytes: u32,
    /// What of the routing's comparison of ways is to be different.
    pub adaptive: Adaptive,
    /// By job, the traffic classes of its messages: of those of at most so many bytes, by rising bytes, the number of a class.
    pub classes: Vec<Vec<(u64, u8)>>,
    /// In how many parts the network is simulated side by side, which nothing that comes out depends on; as many as suit the
    /// threads without.
    pub parts: Option<usize>,
}

impl Inside {
    /// Packets of so many bytes, by a routing with as many lanes as it needs, all alike.
    pub fn new(micro: Micro, routing: &'static Kind, bytes: u32) -> Self {
        let adaptive = Adaptive::default();
        Self { micro, lanes: None, routing, bytes, adaptive, classes: Vec::new(), parts: None }
    }

    /// The same for one job only.
    #[must_use]
    pub fn of_job(&self, job: usize) -> Self {
        let classes = self.classes.get(job).cloned().into_iter().collect();
        Self { classes, ..self.clone() }
    }
}

/// See [`super::simulate`].
pub(super) fn simulate(
    setup: &Setup<'_>,
    inside: &Inside,
    each: &mut dyn FnMut(&Record),
    until: Option<Until<'_>>,
) -> Result<Simulated, Trouble> {
    let (topology, host) = (setup.topology, setup.host);
    let fabric = &topology.fabric;
    let micro = Micro {
        // Frames count their own headers.
        payload: if inside.micro.framing.headers.is_empty() { host.efficiency } else { 1.0 },
        adapter: host.adapter_bytes_per_second,
        cable_rate: setup.link_rate,
        ..inside.micro.clone()
    };
    let net = Net::new(fabric, &micro);
    let given = Given {
        net: &net,
        fabric,
        shape: topology.shape.as_ref(),
        routes: Some(setup.routes),
        bytes: inside.bytes,
        adaptive: inside.adaptive,
    };
    let made = routing::make(inside.routing, &given).map_err(Trouble::Impossible)?;
    let lanes = inside.lanes.unwrap_or(made.lanes().max(1));
    let micro = Micro { lanes, ..micro };
    made.with(Play { setup, net: &net, micro: &micro, inside, each, until })
}

/// Runs the jobs of a set-up over packets.
struct Play<'a, 's, 'u> {
    setup: &'a Setup<'s>,
    net: &'a Net,
    micro: &'a Micro,
    inside: &'a Inside,
    each: &'a mut dyn FnMut(&Record),
    until: Option<Until<'u>>,
}

impl With for Play<'_, '_, '_> {
    type Out = Result<Simulated, Trouble>;

    fn with<R: routing::Routing>(self, routing: &R) -> Self::Out {
        play(self, routing)
    }
}

/// What is kept of a run.
#[derive(Default, Serialize, Deserialize)]
struct Kept {
    parts: usize,
    player: PlayerState,
    wire: PacketsState,
    received: Received,
}

/// Steps from one look at the clock to the next.
const STEPS: u64 = 1 << 10;

fn play<R: routing::Routing>(play: Play<'_, '_, '_>, routing: &R) -> Result<Simulated, Trouble> {
    let Play { setup, net, micro, inside, each, mut until } = play;
    let Setup { topology, routes, host, jobs, seed, .. } = *setup;
    let fabric = &topology.fabric;
    let table = routes.choice.as_ref();
    let paths = routes.paths() as u32;
    // A number for each message that says nothing of its neighbours.
    let lot = |message: u32| {
        (message.wrapping_mul(0x9e37_79b9) ^ seed as u32).wrapping_mul(0x85eb_ca6b) >> 8
    };
    let path = |from: TerminalId, to: TerminalId, bytes: u64, message: u32| -> u8 {
        let path = match (setup.lids, &table) {
            (LidsPart::Engine, Some(t)) => t.path(from, to, bytes, lot(message).into()) as u32,
            (LidsPart::Turns, _) => message % paths,
            (LidsPart::Random, _) => lot(message) % paths,
            _ => 0,
        };
        path as u8
    };
    if matches!(setup.lids, LidsPart::Split | LidsPart::Adaptive) {
        return Err(Trouble::Impossible(Impossible(
            "lids: split and adaptive are for flows; packets adapt by a routing, such as minimal, ugal or dal".to_owned(),
        )));
    }
    let kept: Option<Kept> = match setup.follow {
        Some(follow) => read(follow).map_err(Trouble::Impossible)?,
        None => None,
    };
    // A run goes on in the parts in which it began: nothing that comes out depends on them.
    let parts =
        kept.as_ref().map_or_else(|| inside.parts.unwrap_or_else(|| parts(net)), |k| k.parts);
    let class = |job: u32, bytes: u64| -> u8 {
        let of = inside.classes.get(job as usize).map_or(&[][..], Vec::as_slice);
        of.iter().find(|(most, _)| bytes <= *most).map_or(0, |c| c.1)
    };
    let mut wire = Packets::new(net, micro, routing, fabric, host, inside.bytes, parts, seed)
        .map_err(Trouble::Impossible)?
        .with_paths(&path)
        .with_classes(&class);
    if let Some(interval) = setup.interval {
        wire = wire.with_series(interval);
    }
    let mut player = Player::new(jobs, host).with_seed(seed);
    if let Some(until) = &until {
        player = player.with_laps(until.job);
    }
    let mut received = Received::new(jobs, setup.messages);
    if let Some(mut kept) = kept {
        if !(player.fits(&kept.player) && wire.fits(&kept.wire)) {
            return Err(Trouble::Impossible(unlike()));
        }
        player.swap(&mut kept.player);
        wire.restore(kept.wire);
        received = kept.received;
    }
    let mut under_way = UnderWay::default();
    let mut is_enough = false;
    for steps in 1u64.. {
        let more = step(&mut player, &mut wire, &mut under_way, &mut |record| {
            received.add(record);
            each(record);
        });
        if let Some(follow) = setup.follow
            && (!more || steps.is_multiple_of(STEPS) && follow.is_due())
        {
            let mut kept = Kept { parts, wire: wire.take(), received, ..Kept::default() };
            player.swap(&mut kept.player);
            follow.keep(&|out| write(&kept, out));
            player.swap(&mut kept.player);
            wire.restore(kept.wire);
            received = kept.received;
        }
        is_enough = more && until.as_mut().is_some_and(|until| (until.enough)(&player));
        if !more || is_enough {
            break;
        }
    }
    let ended = if is_enough { Ok(()) } else { player.finished() };
    if let Some(stalled) = wire.stalled() {
        return Err(Trouble::Deadlock(channels(net, fabric, &stalled.cycle)));
    }
    ended.map_err(Trouble::Stuck)?;
    let runs: Vec<_> = (0..jobs.len()).map(|j| player.runs(j).to_vec()).collect();
    let end = runs.iter().flatten().map(|r| r.end).max().unwrap_or(0);
    let (carried, packets) = (wire.carried(), wire.by_job(jobs.len()));
    let port = |c: usize| {
        let s = fabric.tail(ChannelId::new(c));
        net.base(s.0) + (c - fabric.channels_from(s).start) as u32
    };
    let ports: Vec<u32> = (0..fabric.channel_count()).map(port).collect();
    let capacity: Vec<f64> = ports.iter().map(|&p| 65536.0 / net.port(p).pace as f64).collect();
    let (grid, held) = match wire.series(end) {
        None => (None, None),
        Some(series) => {
            let grid = |of: &dyn Fn(usize, usize, usize) -> f64| {
                let cells = (0..series.len()).flat_map(|i| {
                    ports.iter().enumerate().map(move |(c, &p)| of(i, c, p as usize))
                });
                Grid::of(ports.len(), series.interval, cells.collect())
            };
            let sent = |i: usize, _, p: usize| f64::from(series.at(&series.bytes, i)[p]);
            // What a channel could have carried while it waited for room behind it.
            let lacking = |i: usize, c: usize, p: usize| {
                f64::from(series.at(&series.stalled, i)[p]) * 1000.0 * capacity[c]
            };
            (Some(grid(&sent)), Some(grid(&lacking)))
        }
    };
    Ok(Simulated {
        end,
        runs,
        pairs: received.pairs,
        messages: received.messages,
        carried: ports.iter().map(|&p| carried[p as usize]).collect(),
        capacity,
        grid,
        held,
        flows: packets.iter().map(|p| p.packets).sum(),
        solves: wire.crossed(),
        events: player.events() + wire.events(),
        packets,
    })
}

/// The channels whose buffers packets of a cycle are in, and their lanes.
pub fn channels(net: &Net, fabric: &Fabric, cycle: &[Buffer]) -> Vec<(ChannelId, u8)> {
    let one = |&(port, lane): &Buffer| {
        let Peer::Port(from) = net.port(port).peer() else { return None };
        let sender = net.port(from);
        let first = fabric.channels_from(SwitchId(sender.switch)).start;
        Some((ChannelId::new(first + sender.local as usize), lane))
    };
    cycle.iter().filter_map(one).collect()
}

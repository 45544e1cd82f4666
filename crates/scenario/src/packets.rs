//! A scenario packet by packet.

use darkfiber_fabric::{ChannelId, Fabric, SwitchId};
use darkfiber_flowsim::Grid;
use darkfiber_packetsim::routing::{self, AnyRouting, RoutingContext};
use darkfiber_packetsim::{
    Buffer, ConfigError, Net, PacketsFor, Parts, Peer, Processes, Series, SwitchModel, several,
};
use darkfiber_workload::play::{Job, Record, Repeat};

use crate::class_totals::{PacketGroups, by_class};
use crate::drive::{self, DrivenRun};
use crate::kept_state::Divided;
use crate::path_choice::{by_table, path_choice};
use crate::skipped::{Skipped, Totals};
use crate::{Effort, LidsPart, PacketOptions, Setup, SimError, Simulated, Until};

/// Simulates at the packet depth; see [`crate::simulate`].
pub(super) fn simulate(
    setup: &Setup<'_>,
    options: &PacketOptions,
    each: &mut dyn FnMut(&Record),
    until: Option<Until<'_>>,
) -> Result<Simulated, SimError> {
    let topology = setup.topology;
    let fabric = &topology.fabric;
    let micro = model(setup, options);
    let net = Net::new(fabric, &micro);
    let given = RoutingContext {
        net: &net,
        fabric,
        shape: topology.shape.as_ref(),
        routes: Some(setup.routes),
        bytes: options.bytes,
        adaptive: options.adaptive,
    };
    let made = routing::make(options.routing, &given).map_err(SimError::Config)?;
    let lanes = options.lanes.unwrap_or(made.lanes().max(1));
    let micro = SwitchModel { lanes, ..micro };
    play(setup, &net, &micro, &made, options, each, until)
}

/// The switches of a set-up, with the rates of its hosts.
pub(crate) fn model(setup: &Setup<'_>, options: &PacketOptions) -> SwitchModel {
    let host = setup.host;
    SwitchModel {
        // Frames count their own headers.
        payload: if options.micro.framing.headers.is_empty() { host.efficiency } else { 1.0 },
        adapter: host.adapter_bytes_per_second,
        cable_rate: setup.link_rate,
        ..options.micro.clone()
    }
}

/// Runs the jobs of a set-up over packets.
fn play(
    setup: &Setup<'_>,
    net: &Net,
    micro: &SwitchModel,
    routing: &AnyRouting<'_>,
    options: &PacketOptions,
    each: &mut dyn FnMut(&Record),
    until: Option<Until<'_>>,
) -> Result<Simulated, SimError> {
    let Setup { topology, routes, host, seed, .. } = *setup;
    let jobs = &setup.jobs;
    let fabric = &topology.fabric;
    let by_table = by_table(routes);
    if matches!(setup.lids, LidsPart::Split | LidsPart::Adaptive) {
        return Err(SimError::Config(ConfigError(
            "lids: split and adaptive are for flows; packets adapt by a routing, such as minimal, ugal or dal".to_owned(),
        )));
    }
    let groups = PacketGroups::new(jobs);
    let class = |job: u32, bytes: u64| {
        let job = job as usize;
        let classes = &jobs[job].classes;
        let place = classes.iter().position(|class| bytes <= class.up_to).unwrap_or(0);
        let group = u16::try_from(groups.of(job, place)).unwrap_or(u16::MAX);
        (classes.get(place).map_or(0, |class| class.number), group)
    };
    // What happens at times of its own would be missed, or counted twice.
    let skips = options.precision.is_some()
        && setup.interval.is_none()
        && micro.storms.is_empty()
        && micro.lane_faults.is_empty();
    let make = |began: Option<Divided>| {
        // A run is resumed with the parts it was started with: no result depends on them.
        let processes = several(setup.processes);
        let count = || options.parts.unwrap_or_else(|| net.parts_in(processes));
        let size = processes.map_or(1, Processes::size);
        let (count, blocks) = began.unwrap_or_else(|| (count(), size));
        let what = PacketsFor {
            net,
            micro,
            fabric,
            host,
            bytes: options.bytes,
            parts: Parts { count, blocks, processes },
            seed,
            choice: path_choice(setup, &by_table),
            paths: routes.paths(),
            class: Some(&class),
        };
        let mut wire = routing.packets(what).map_err(SimError::Config)?;
        if let Some(interval) = setup.interval {
            wire.keep_series(interval);
        }
        Ok((Skipped::new(wire, groups.count(), skips), (count, blocks)))
    };
    let (driven, mut wire) = drive::drive_over_planes(setup, make, each, until)?;
    if let Some(stalled) = wire.simulated().stalled() {
        return Err(SimError::Deadlock(channels(net, fabric, &stalled.cycle)));
    }
    driven.ended.clone().map_err(SimError::Stuck)?;
    let end = driven.end;
    if let [job] = &jobs[..]
        && wire.repeated() > 0
        && job.play.repeat == Repeat::Once
    {
        wire.correct(between_hosts(&job.play, fabric));
    }
    let (totals, repeated) = (wire.totals(end), wire.repeated());
    let driven = DrivenRun { repeated: driven.repeated.saturating_add(repeated), ..driven };
    let series = wire.simulated().series(end);
    Ok(simulated(setup, net, driven, totals, series))
}

/// Bytes that the ranks of a job that is run once send to ranks on other hosts.
fn between_hosts(job: &Job, fabric: &Fabric) -> u64 {
    let host = |rank: u32| fabric.host_of(job.terminals[rank as usize]);
    let mut all = 0u64;
    for (block, times) in job.program.counts() {
        job.program.blocks()[block].each_message(|from, to, bytes, alike| {
            if host(from) != host(to) {
                all = all.saturating_add(bytes.saturating_mul(alike).saturating_mul(times));
            }
        });
    }
    all
}

/// The result, in channels of the fabric; packets are counted by the groups of the jobs' classes.
pub(crate) fn simulated(
    setup: &Setup<'_>,
    net: &Net,
    driven: DrivenRun,
    totals: Totals,
    series: Option<&Series>,
) -> Simulated {
    let fabric = &setup.topology.fabric;
    let groups = PacketGroups::new(&setup.jobs);
    let Totals { carried, packets, crossed, dropped, events, pauses } = totals;
    let port = |c: usize| {
        let s = fabric.tail(ChannelId::new(c));
        net.base(s.0) + (c - fabric.channels_from(s).start) as u32
    };
    let ports: Vec<u32> = (0..fabric.channel_count()).map(port).collect();
    let capacity: Vec<f64> = ports.iter().map(|&p| net.mean_rate(p, driven.end)).collect();
    let (grid, held) = match series {
        None => (None, None),
        Some(series) => {
            let grid = |of: &dyn Fn(usize, usize, usize) -> f64| {
                let cells = (0..series.len()).flat_map(|i| {
                    ports.iter().enumerate().map(move |(c, &p)| of(i, c, p as usize))
                });
                Grid::of(ports.len(), series.interval, cells.collect())
            };
            let sent = |i: usize, _, p: usize| f64::from(series.at(&series.bytes, i)[p]);
            // Bytes that a channel could have carried while it waited for credits.
            let lacking = |i: usize, c: usize, p: usize| {
                f64::from(series.at(&series.stalled, i)[p]) * 1000.0 * capacity[c]
            };
            (Some(grid(&sent)), Some(grid(&lacking)))
        }
    };
    Simulated {
        classes: by_class(&setup.jobs, &driven.received, Some((&groups, &packets))),
        end: driven.end,
        runs: driven.runs,
        pairs: driven.received.pairs,
        messages: driven.received.messages,
        carried: ports.iter().map(|&p| carried[p as usize]).collect(),
        capacity,
        grid,
        held,
        effort: Effort::Packet {
            packets: packets.iter().map(|p| p.packets).sum(),
            hops: crossed,
            dropped,
            events: driven.events + events,
            repeated: driven.repeated,
            error: if driven.error > 0.0 { driven.error / driven.end as f64 } else { 0.0 },
        },
        packets: groups.by_job(&packets),
        pauses: pauses.map(|p| (p.adapters, ports.iter().map(|&c| p.ports[c as usize]).collect())),
        update: None,
    }
}

/// The channels in whose buffers the packets of a cycle are, and their lanes.
pub fn channels(net: &Net, fabric: &Fabric, cycle: &[Buffer]) -> Vec<(ChannelId, u8)> {
    let one = |&(port, lane): &Buffer| {
        let Peer::Port(from) = net.port(port).peer() else { return None };
        let sender = net.port(from);
        let first = fabric.channels_from(SwitchId(sender.switch)).start;
        Some((ChannelId::new(first + sender.local as usize), lane))
    };
    cycle.iter().filter_map(one).collect()
}

//! The rings of jobs, from logs or from the graphs of their hosts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use darkfiber_analysis::rings::{Connections, RingPorts, Rings};
use darkfiber_fabric::TerminalId;
use darkfiber_formats::input;
use darkfiber_traces::nccl::{Direction, Graphs, NcclLog, NetConnection, RingGraph};

use super::nics::{NicFinder, hosts_and_file};
use crate::failure::Failure;
use crate::options::Common;
use crate::out;

/// A job on GPUs.
pub(super) struct GpuJob {
    pub(super) name: String,
    pub(super) ranks: u32,
    /// Its hosts, in the order of the first ring.
    pub(super) hosts: Vec<String>,
    /// By host its ranks.
    pub(super) ranks_of: Vec<u32>,
    pub(super) rings: Rings,
    /// Whether hosts at odd positions exchange the NICs of channels, where the graphs say so; logs show it.
    pub(super) alternates: Option<bool>,
    /// Connections of its trees, up and down, if they were asked for.
    pub(super) trees: Option<Connections>,
    /// Whether all channels visit hosts in one order.
    pub(super) is_one_order: bool,
}

/// Puts together what graphs of hosts become when NCCL joins them (`connect.cc`): the last GPU of a host sends to the first of the
/// next one; if a host of an odd number has found pairs of channels that exchange their NICs, and channels are even in number, it
/// exchanges the channels of a pair; then all channels are doubled. So since release 2.28; before, all hosts of odd numbers did as
/// soon as one host had found such pairs.
pub(super) fn of_graphs(texts: &[String], finder: &NicFinder<'_>) -> Result<GpuJob, Failure> {
    let mut hosts = Vec::new();
    let mut graphs = Vec::new();
    for text in texts {
        let (names, file) = hosts_and_file(text, "--graph")?;
        let found = Graphs::read(&input::read_text(file)?, file).map_err(Failure::input)?.ring;
        if let Some(channel) = found.nics.iter().position(Option::is_none) {
            return Err(Failure::input(format!(
                "{}: channel {channel} has no NIC: the ranks were all on one host",
                file.display()
            ))
            .hint("dump the graph of a run on several hosts"));
        }
        for name in names {
            if hosts.contains(&name) {
                return Err(Failure::usage(format!("--graph: host {name} is given twice")));
            }
            hosts.push(name);
            graphs.push((file, found.clone()));
        }
    }
    if hosts.len() < 2 {
        return Err(Failure::usage("--graph: one host has no ring over the network")
            .hint("name all hosts in the order of their ranks: cn[0001-0004]=graph.xml"));
    }
    let count = graphs.iter().map(|(_, g)| g.nics.len()).min().unwrap_or(0);
    let has_pairs = |graph: &RingGraph| graph.cross_nic == 2 && count.is_multiple_of(2);
    let pairs = graphs.iter().filter(|(_, g)| has_pairs(g)).count();
    let mut channels = Vec::new();
    for c in 0..count {
        let mut stops = Vec::new();
        for (i, (host, (file, graph))) in hosts.iter().zip(&graphs).enumerate() {
            let partner = if has_pairs(graph) && i % 2 == 1 { c ^ 1 } else { c };
            let [enters, leaves] = graph.nics[partner].unwrap_or_default();
            let from = file.display().to_string();
            let terminal = |device| finder.terminal(host, device, &NcclLog::default(), &from);
            stops.push(RingPorts { enters: terminal(enters)?, leaves: terminal(leaves)? });
        }
        channels.push(stops);
    }
    let doubled: Vec<Vec<RingPorts>> = channels.iter().chain(&channels).cloned().collect();
    let ranks_of: Vec<u32> =
        graphs.iter().map(|(_, g)| g.gpus.first().map_or(0, Vec::len) as u32).collect();
    Ok(GpuJob {
        name: "job".to_owned(),
        ranks: ranks_of.iter().sum(),
        hosts,
        ranks_of,
        rings: Rings { channels: doubled },
        alternates: Some(pairs > 0),
        trees: None,
        // In another order other hosts would be at odd places: known only where all do alike.
        is_one_order: pairs == 0 || pairs == graphs.len(),
    })
}

/// Reads `FILE` or `NAME=FILE`; those of one name are of one job.
pub(super) fn of_logs(
    texts: &[String],
    with_trees: bool,
    finder: &NicFinder<'_>,
    common: &Common,
) -> Result<Vec<GpuJob>, Failure> {
    let mut logs: Vec<(String, NcclLog, String)> = Vec::new();
    for text in texts {
        let (name, file) = match text.split_once('=') {
            Some((name, file)) if !name.is_empty() && !name.contains('/') => (name, file),
            _ => ("job", &text[..]),
        };
        let at = logs.iter().position(|l| l.0 == name).unwrap_or_else(|| {
            logs.push((name.to_owned(), NcclLog::default(), file.to_owned()));
            logs.len() - 1
        });
        let path = Path::new(file);
        let remarks = logs[at].1.read(&input::read_text(path)?, path).map_err(Failure::input)?;
        out::diagnostics(file, &remarks, common);
    }
    for (_, log, file) in &logs {
        out::diagnostics(file, &finder.remarks(log), common);
    }
    logs.iter().map(|(name, log, file)| job(name, log, file, with_trees, finder)).collect()
}

/// The rings of one communicator.
fn job(
    name: &str,
    log: &NcclLog,
    file: &str,
    with_trees: bool,
    finder: &NicFinder<'_>,
) -> Result<GpuJob, Failure> {
    let bad = |why: String| Failure::input(format!("{file}: {why}"));
    if let Some(at) = log.socket {
        return Err(Failure::input(format!(
            "{}: ranks talk by NET/Socket (TCP), not by InfiniBand",
            log.place(at)
        ))
            .hint("NCCL found no NIC of InfiniBand that it may use: see NET/IB lines, NCCL_IB_DISABLE, NCCL_IB_HCA"));
    }
    if with_trees {
        return of_trees(name, log, file, finder);
    }
    if log.next.is_empty() {
        return Err(bad("no line says how ranks follow each other in rings".to_owned())
            .hint("set NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,GRAPH,NET"));
    }
    if let Some(why) = log.broken_ring() {
        return Err(bad(format!("this is no ring: {why}")).hint(
            "give the logs of all hosts: large rings are in the `Ring` lines of all ranks only",
        ));
    }
    let ranks = log.next.values().map(BTreeMap::len).max().unwrap_or(0) as u32;
    for rank in 0..ranks {
        if !log.hosts.contains_key(&rank) {
            return Err(bad(format!("no line says on which host rank {rank} is"))
                .hint("give the logs of all hosts, with NCCL_DEBUG_SUBSYS=INIT,GRAPH,NET"));
        }
    }
    let mut orders: Vec<Vec<&str>> = Vec::new();
    let mut channels = Vec::new();
    for (&channel, next) in &log.next {
        // From rank 0 on, wherever the host changes: who leaves and who enters, by which NICs.
        let mut crossings = Vec::new();
        let mut at = 0;
        for _ in 0..ranks {
            let after = next[&at];
            if log.hosts[&at] != log.hosts[&after] {
                let nic = |direction| nic(log, file, finder, (channel, at, after), direction);
                crossings.push((at, nic(Direction::Send)?, after, nic(Direction::Receive)?));
            }
            at = after;
        }
        if crossings.is_empty() {
            return Err(bad("all ranks are on one host: nothing goes over the network".to_owned()));
        }
        let order: Vec<&str> = crossings.iter().map(|c| log.hosts[&c.0].as_str()).collect();
        let mut once = order.clone();
        once.sort_unstable();
        once.dedup();
        if once.len() != order.len() {
            return Err(bad(format!(
                "channel {channel} comes to a host twice: this is no ring of NCCL"
            )));
        }
        let last = crossings.len() - 1;
        let stop = |i: usize| {
            let before = if i == 0 { last } else { i - 1 };
            RingPorts { enters: crossings[before].3, leaves: crossings[i].1 }
        };
        channels.push((0..=last).map(stop).collect());
        orders.push(order);
    }
    let hosts: Vec<String> = orders[0].iter().map(|h| (*h).to_owned()).collect();
    let of_host = |host: &String| log.hosts.values().filter(|h| *h == host).count() as u32;
    Ok(GpuJob {
        name: name.to_owned(),
        ranks,
        ranks_of: hosts.iter().map(of_host).collect(),
        is_one_order: orders.iter().all(|o| *o == orders[0]),
        hosts,
        rings: Rings { channels },
        alternates: None,
        trees: None,
    })
}

/// The trees of one communicator. Its log may have no connections of rings: NCCL makes them when it uses them.
fn of_trees(
    name: &str,
    log: &NcclLog,
    file: &str,
    finder: &NicFinder<'_>,
) -> Result<GpuJob, Failure> {
    let trees = trees(log, file, finder)?;
    let mut hosts: Vec<String> = Vec::new();
    for host in log.hosts.values() {
        if !hosts.contains(host) {
            hosts.push(host.clone());
        }
    }
    let of_host = |host: &String| log.hosts.values().filter(|h| *h == host).count() as u32;
    Ok(GpuJob {
        name: name.to_owned(),
        ranks: log.hosts.len() as u32,
        ranks_of: hosts.iter().map(of_host).collect(),
        is_one_order: false,
        hosts,
        rings: Rings::default(),
        alternates: None,
        trees: Some(trees),
    })
}

/// The NIC of one end of a connection in a channel from a rank to another.
fn nic(
    log: &NcclLog,
    file: &str,
    finder: &NicFinder<'_>,
    (channel, from, to): (u32, u32, u32),
    direction: Direction,
) -> Result<TerminalId, Failure> {
    let is_it = |c: &&NetConnection| {
        (c.channel, c.from, c.to, c.direction) == (channel, from, to, direction)
    };
    let Some(end) = log.connections.iter().find(is_it) else {
        let (rank, word) = match direction {
            Direction::Send => (from, "send"),
            Direction::Receive => (to, "receive"),
        };
        return Err(Failure::input(format!(
            "{file}: channel {channel}: rank {rank} on {} has no NIC: there is no line `{from} -> {to} [{word}] via NET/...`",
            log.hosts[&rank]
        ))
        .hint("give the logs of all hosts, with NCCL_DEBUG_SUBSYS=INIT,GRAPH,NET"));
    };
    finder.terminal(&end.host, end.nic, log, &log.place(end.at))
}

/// The connections of trees between hosts: what goes up to be reduced, and down again.
fn trees(log: &NcclLog, file: &str, finder: &NicFinder<'_>) -> Result<Connections, Failure> {
    let bad = |why: String| {
        Failure::input(format!("{file}: {why}"))
            .hint("give the logs of all hosts, with NCCL_DEBUG_SUBSYS=INIT,GRAPH,NET")
    };
    if log.above.is_empty() {
        return Err(bad("no line says who is above whom in trees".to_owned()));
    }
    if let Some(rank) = (0..log.ranks.unwrap_or(0)).find(|rank| !log.hosts.contains_key(rank)) {
        return Err(bad(format!("no line says on which host rank {rank} is")));
    }
    let mut channels = Vec::new();
    for (&channel, above) in &log.above {
        let here: BTreeSet<&String> = above.keys().filter_map(|r| log.hosts.get(r)).collect();
        if let Some(host) = log.hosts.values().find(|host| !here.contains(host)) {
            return Err(bad(format!("no line says who is above {host} in channel {channel}")));
        }
        let mut connections = Vec::new();
        for (&rank, up) in above {
            let Some(up) = *up else { continue };
            let (Some(here), Some(there)) = (log.hosts.get(&rank), log.hosts.get(&up)) else {
                return Err(bad(format!("no line says on which hosts ranks {rank} and {up} are")));
            };
            if here == there {
                continue;
            }
            for (from, to) in [(rank, up), (up, rank)] {
                let end = |direction| nic(log, file, finder, (channel, from, to), direction);
                connections.push((end(Direction::Send)?, end(Direction::Receive)?));
            }
        }
        channels.push(connections);
    }
    if channels.iter().all(Vec::is_empty) {
        return Err(bad("all ranks are on one host: nothing goes over the network".to_owned()));
    }
    Ok(channels)
}

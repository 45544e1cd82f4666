//! `darkfiber nccl`: which real cables carry which channels of GPU jobs.

mod nics;
mod rings;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::Args;
use darkfiber_analysis::Names;
use darkfiber_analysis::rings::{Connections, RingTraffic, Rings, speed};
use darkfiber_fabric::{ChannelId, Fabric, TerminalId};
use darkfiber_report::nccl::{NcclFlow, NcclJob, NcclResult, SharedCable};
use darkfiber_routing::ecmp::Ecmp;
use darkfiber_routing::{Request, Routes};
use darkfiber_scenario::Hashing;

use self::nics::{NicFinder, numbers_in_hosts};
use self::rings::GpuJob;
use super::{metrics, route};
use crate::damage;
use crate::failure::{Exit, Failure};
use crate::load::{self, Loaded};
use crate::options::{BesideTables, Common, FabricArgs};
use crate::{out, provenance, save};

#[derive(Args, Debug)]
pub(crate) struct NcclCommand {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// Logs of NCCL of one communicator, with NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,GRAPH,NET; NAME=FILE for several
    /// jobs: logs of one name are of one job
    #[arg(long, value_name = "FILE", num_args = 1.., required_unless_present = "graph")]
    pub(crate) log: Vec<String>,
    /// Instead: what NCCL_GRAPH_DUMP_FILE wrote, as HOSTS=FILE, hosts in the order of their ranks (cn[0001-0004]=graph.xml)
    #[arg(long, value_name = "HOSTS=FILE", num_args = 1.., conflicts_with = "log")]
    pub(crate) graph: Vec<String>,
    /// What NCCL_TOPO_DUMP_FILE wrote: NICs are then found by their GUIDs, not by their names
    #[arg(long, value_name = "HOSTS=FILE", num_args = 1..)]
    pub(crate) topo: Vec<String>,
    /// Tables: a file, or a directory written by `darkfiber route -o`
    #[arg(long, value_name = "PATH", required_unless_present_any = ["engine", "ecmp"], conflicts_with_all = ["engine", "ecmp"])]
    pub(crate) routes: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) beside: BesideTables,
    /// Follow the double binary trees of the logs instead of their rings
    #[arg(long, conflicts_with = "graph")]
    pub(crate) trees: bool,
    /// Instead: the tables of this engine; ftree+updn falls back on updn
    #[arg(short, long = "engine", value_name = "ENGINE", conflicts_with = "ecmp")]
    pub(crate) engine: Option<String>,
    /// Instead: hashes of Ethernet switches (`darkfiber list hashes`), where every channel has queue pairs of its own
    #[arg(long, value_name = "ECMP")]
    pub(crate) ecmp: Option<String>,
    /// Write the better order of the hosts of the first job that has one as a rank file of Open MPI
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Lines of each table; -v shows all
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
Rings are read from logs, or put together from the graphs of hosts as NCCL 2.30.7 joins them. NICs are found on
the fabric by GUID (system image, node, port) if --topo has them, else by the host's name and the NIC's
(`cn0001 mlx5_3`, `cn0001 HCA-4`), else by their order.

Examples:
  darkfiber nccl ibnetdiscover.out --routes lfts.dump --log job.*.log
  darkfiber nccl ibnetdiscover.out --routes lfts.dump --log train=a.log eval=b.log --top 30
  darkfiber nccl ibnetdiscover.out --routes lfts.dump --log job.*.log --trees
  darkfiber nccl fabric.csv --ecmp crc32:seed=switch --log job.*.log
  darkfiber nccl ibnetdiscover.out -e ftree --graph 'cn[0001-0032]=graph.xml' -o rankfile

Exit code 1 if a connection leaves its rail or has no route.";

/// Orders of hosts that are tried for each job.
const TRIES: usize = 500;

pub(crate) fn run(args: &NcclCommand, common: &Common) -> Result<Exit, Failure> {
    save::expect(args.output.as_ref())?;
    let loaded = load::fabric(&args.fabric, common)?;
    damage::note(&loaded);
    if let Some(note) = loaded.unknown_speeds() {
        darkfiber_scenario::Listener::note(&mut out::Teller::new(common), &note);
    }
    if args.routes.is_some() || args.ecmp.is_some() {
        load::refuse_planes(&loaded.topology.fabric, "nccl with --routes or --ecmp")?;
    }
    let (tables, routes) = tables(args, &loaded, common)?;
    let Loaded { topology, structure, .. } = loaded;
    let fabric = &topology.fabric;
    let finder = NicFinder::new(fabric, &args.topo)?;
    let jobs = if args.log.is_empty() {
        vec![rings::of_graphs(&args.graph, &finder)?]
    } else {
        rings::of_logs(&args.log, args.trees, &finder, common)?
    };
    let all: Vec<Connections> = jobs.iter().map(connections).collect();
    let traffic = RingTraffic::over(fabric, &routes, &all);
    let names = Names::new(fabric);
    let rails = numbers_in_hosts(fabric);
    let found: Vec<(NcclJob, Vec<usize>)> = jobs
        .iter()
        .enumerate()
        .map(|(j, job)| {
            if !args.trees {
                return expected(fabric, &routes, &names, &traffic, (&finder, &rails), (j, job));
            }
            let alone = RingTraffic::over(fabric, &routes, &all[j..=j]);
            (of_trees(fabric, &names, (&traffic, &alone), &rails, (j, job)), Vec::new())
        })
        .collect();
    let flows: Vec<NcclFlow> = traffic
        .flows
        .iter()
        .map(|f| {
            let cables = f.path.iter().filter(|c| (**c as usize) < fabric.channel_count());
            NcclFlow {
                job: jobs[f.job].name.clone(),
                channel: f.channel,
                from: nic(fabric, f.from),
                to: nic(fabric, f.to),
                leaves_rail: rails[f.from.index()] != rails[f.to.index()],
                path: cables.map(|c| cable(fabric, &names, *c)).collect(),
                rate: traffic.rate(fabric, f),
            }
        })
        .collect();
    let shared = shared(fabric, &names, &traffic, &jobs);
    let rows: Vec<NcclJob> = found.iter().map(|(job, _)| job.clone()).collect();
    let facts = metrics::facts(fabric, topology.shape.as_ref(), structure.as_ref(), false);
    let provenance = provenance::of(fabric, common);
    let result = NcclResult {
        tables: &tables,
        algorithm: if args.trees { "trees" } else { "rings" },
        jobs: &rows,
        shared: &shared,
        flows: &flows,
        fabric: &facts,
        provenance: &provenance,
    };
    common.show_lines(&result, args.top)?;
    if let Some(path) = &args.output {
        write_order(path, &jobs, &found, common)?;
    }
    let is_found = flows.iter().any(|f| f.leaves_rail || f.rate <= 0.0);
    Ok(if is_found { Exit::Finding } else { Exit::Fine })
}

/// The tables that are asked about, and whose they are.
fn tables(
    args: &NcclCommand,
    loaded: &Loaded,
    common: &Common,
) -> Result<(String, Routes), Failure> {
    if let Some(text) = &args.ecmp {
        let spec = Hashing::parse(text)?.0;
        if spec.queue_pairs > 1 {
            return Err(Failure::usage(format!(
                "--ecmp {text}: qps is NCCL_IB_QPS_PER_CONNECTION, of which one is followed"
            ))
            .hint("leave out qps; `darkfiber ecmp` and simulate have several"));
        }
        let fabric = &loaded.topology.fabric;
        let routes = Routes::by_hash(fabric, Ecmp::new(fabric, &spec, common.seed()));
        return Ok((routes.engine.clone(), routes));
    }
    if let Some(path) = &args.routes {
        let tables = args.beside.of(path);
        let read = load::tables_in_lanes(&tables, args.fabric.name(), loaded, common)?;
        load::counts_by_sources(&read.routes, &args.beside, common)?;
        return Ok((path.display().to_string(), read.routes));
    }
    let chain = route::chain(args.engine.as_deref().unwrap_or_default())?;
    let shape = loaded.topology.shape.as_ref();
    let request = Request { shape, seed: common.seed(), ..Request::default() };
    route::tables(&chain, &loaded.topology.fabric, &request)
}

/// What of a job is followed: its trees, if they were asked for, or its rings.
fn connections(job: &GpuJob) -> Connections {
    job.trees.clone().unwrap_or_else(|| job.rings.connections())
}

/// Where a flow has the least share.
fn tightest(
    fabric: &Fabric,
    names: &Names<'_>,
    traffic: &RingTraffic,
    flow: usize,
) -> Option<String> {
    let share = |c: &u32| speed(fabric, *c) / traffic.on[c].len() as f64;
    let path = &traffic.flows.get(flow)?.path;
    let found = path.iter().copied().min_by(|a, b| share(a).total_cmp(&share(b)))?;
    Some(cable(fabric, names, found))
}

/// What a job can expect of its trees, beside the others and alone: each channel sends its part of the vector up and down every
/// connection once.
fn of_trees(
    fabric: &Fabric,
    names: &Names<'_>,
    (traffic, alone): (&RingTraffic, &RingTraffic),
    rails: &[usize],
    (j, job): (usize, &GpuJob),
) -> NcclJob {
    let channels = connections(job).len();
    let ranks = f64::from(job.ranks.max(1));
    let factor = 2.0 * (ranks - 1.0) / ranks;
    let (rate, slowest) = traffic.bus(fabric, j, channels).unwrap_or((0.0, 0));
    let of_job = traffic.flows.iter().filter(|f| f.job == j);
    NcclJob {
        name: job.name.clone(),
        ranks: job.ranks,
        hosts: job.hosts.len(),
        channels,
        bus_bandwidth: factor * rate,
        bound_by: tightest(fabric, names, traffic, slowest).unwrap_or("no route".to_owned()),
        rails_left: of_job.filter(|f| rails[f.from.index()] != rails[f.to.index()]).count(),
        alone: factor * alone.bus(fabric, 0, channels).map_or(0.0, |b| b.0),
        on_one_nic: None,
        reordered: None,
        order: Vec::new(),
    }
}

/// What a job can expect, and a better order of its hosts, if there is one.
fn expected(
    fabric: &Fabric,
    routes: &Routes,
    names: &Names<'_>,
    traffic: &RingTraffic,
    (finder, rails): (&NicFinder<'_>, &[usize]),
    (j, job): (usize, &GpuJob),
) -> (NcclJob, Vec<usize>) {
    let channels = job.rings.channels.len();
    let alone = |rings: &Rings| {
        let traffic = RingTraffic::of(fabric, routes, std::slice::from_ref(rings));
        traffic.bus(fabric, 0, channels).map_or(0.0, |b| b.0)
    };
    let (bus_bandwidth, slowest) = traffic.bus(fabric, j, channels).unwrap_or((0.0, 0));
    let alternate = job.alternates.unwrap_or_else(|| job.rings.alternate(rails));
    let order = if job.is_one_order {
        job.rings.better_order(fabric, routes, TRIES, alternate).unwrap_or_default()
    } else {
        Vec::new()
    };
    let of_job = traffic.flows.iter().filter(|f| f.job == j);
    let row = NcclJob {
        name: job.name.clone(),
        ranks: job.ranks,
        hosts: job.hosts.len(),
        channels,
        bus_bandwidth,
        bound_by: tightest(fabric, names, traffic, slowest).unwrap_or("no route".to_owned()),
        rails_left: of_job.filter(|f| rails[f.from.index()] != rails[f.to.index()]).count(),
        alone: alone(&job.rings),
        on_one_nic: Some(alone(&job.rings.on_one_nic(|t| finder.of_host(t)))),
        reordered: (!order.is_empty()).then(|| alone(&job.rings.reordered(&order, alternate))),
        order: order.iter().map(|&h| job.hosts[h].clone()).collect(),
    };
    (row, order)
}

/// A NIC as its node description names it, with the port where it has several.
fn nic(fabric: &Fabric, terminal: TerminalId) -> String {
    let at = fabric.terminal(terminal);
    let adapter = fabric.adapter(at.adapter);
    let name = if adapter.description.is_empty() {
        at.guid.to_string()
    } else {
        adapter.description.clone()
    };
    if adapter.ports > 1 { format!("{name} port {}", at.port) } else { name }
}

/// A channel of the fabric by its ends.
fn cable(fabric: &Fabric, names: &Names<'_>, channel: u32) -> String {
    let (m, t) = (fabric.channel_count(), fabric.terminal_count());
    let c = channel as usize;
    if c < m {
        return names.channel(ChannelId::new(c)).to_string();
    }
    let terminal = TerminalId::new((c - m) % t);
    let (nic, at) = (nic(fabric, terminal), fabric.terminal(terminal));
    let switch = format!("{} port {}", names.switch(at.switch), at.switch_port);
    if c < m + t { format!("{switch} -> {nic}") } else { format!("{nic} -> {switch}") }
}

/// Cables that several flows use, those with the least for each first.
fn shared(
    fabric: &Fabric,
    names: &Names<'_>,
    traffic: &RingTraffic,
    jobs: &[GpuJob],
) -> Vec<SharedCable> {
    let several = traffic.on.iter().filter(|(_, on)| on.len() > 1);
    let mut all: Vec<SharedCable> = several
        .map(|(&c, on)| {
            let flows = on.iter().map(|&f| &traffic.flows[f]);
            let whose: BTreeSet<(usize, usize)> = flows.map(|f| (f.job, f.channel)).collect();
            let name = |(job, channel): (usize, usize)| format!("{}:{channel}", jobs[job].name);
            SharedCable {
                cable: cable(fabric, names, c),
                flows: on.len(),
                whose: whose.into_iter().map(name).collect(),
                each: speed(fabric, c) / on.len() as f64,
            }
        })
        .collect();
    all.sort_by(|a, b| a.each.total_cmp(&b.each));
    all
}

/// The first job that has a better order, as a rank file.
fn write_order(
    path: &Path,
    jobs: &[GpuJob],
    found: &[(NcclJob, Vec<usize>)],
    common: &Common,
) -> Result<(), Failure> {
    let Some((job, (_, order))) = jobs.iter().zip(found).find(|(_, f)| !f.1.is_empty()) else {
        if !common.quiet {
            out::eprint_line(&format!(
                "no better order was found; {} is not written",
                path.display()
            ));
        }
        return Ok(());
    };
    let hosts = order.iter().map(|&h| &job.hosts[h]);
    let slots: BTreeMap<&String, u32> =
        job.hosts.iter().zip(job.ranks_of.iter().copied()).collect();
    let seats = hosts.flat_map(|host| (0..slots[host]).map(move |slot| (host, slot)));
    save::file(path, |out| {
        (0..).zip(seats).try_for_each(|(rank, (host, slot)): (u32, _)| {
            writeln!(out, "rank {rank}={host} slot={slot}")
        })
    })?;
    if !common.quiet {
        out::eprint_line(&format!("wrote {}", path.display()));
    }
    Ok(())
}

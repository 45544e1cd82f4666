//! `darkfiber survive`: every single cable and switch, mended in advance.

use std::time::Instant;

use clap::{Args, ValueEnum};
use darkfiber_analysis::{Names, finding};
use darkfiber_fabric::Fabric;
use darkfiber_report::survive::{BookFacts, FaultRow, SurviveResult};
use darkfiber_routing::reroute::{Book, Fault, Page, Prepared, Repair, Rung};
use darkfiber_routing::{Request, Routes};

use super::{metrics, route};
use crate::failure::{Exit, Failure};
use crate::load::{self, Loaded};
use crate::options::{Common, FabricArgs, TablesOrEngine};
use crate::progress::Progress;
use crate::provenance;

#[derive(Args, Debug)]
pub(crate) struct SurviveCommand {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    #[command(flatten)]
    pub(crate) tables: TablesOrEngine,
    /// Root switches for updn, ftree and their kin: GUIDs (a file, or separated by commas)
    #[arg(long, value_name = "GUIDS", requires = "engine")]
    pub(crate) roots: Option<String>,
    /// Data virtual lanes that may be used (InfiniBand has at most 15)
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=15))]
    pub(crate) lanes: u8,
    /// Use the --lanes to make faults repairable, as `darkfiber route --protect` does
    #[arg(long, requires = "engine", conflicts_with = "routes")]
    pub(crate) protect: bool,
    /// What fails, one at a time
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT,..", default_values_t = [FaultKind::Cables, FaultKind::Switches])]
    pub(crate) faults: Vec<FaultKind>,
    /// Faults that are listed, the gravest first; -v lists all
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
}

/// What fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FaultKind {
    /// Every cable between switches
    Cables,
    /// Every switch
    Switches,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
The fault book of tables: the failure of each single cable and each single switch is repaired in advance.
Repairs keep the service levels of running connections as long as such tables are found. They are
counted by how the new tables may be put in place, the first of these that holds:

  any order   switches may be updated in any order while connections run
  steps       so do those of each step, one step after the other
  drop-drain  entries that change are set to no route and, one packet lifetime later, to the new port
  reconnect   paths move to other service levels, and connections that run must be re-established
  anew        paths fit into none of the lanes; the fabric must be re-routed from scratch
  splits      the fabric falls apart

'untouched' is the share of the first two, of all faults that leave the fabric in one piece.

Examples:
  darkfiber survive my-fabric.topo --routes my-routes
  darkfiber survive dragonfly:p=2,a=4,h=2 -e dfsssp --faults cables
  darkfiber survive jellyfish:n=24,d=5,p=2 -e dfsssp --protect
  darkfiber survive my-fabric.topo -e nue --lanes 4 --format csv > book.csv

Exit code 1 if after some fault connections must be re-established, or the fabric re-routed from scratch.";

pub(crate) fn run(args: &SurviveCommand, common: &Common) -> Result<Exit, Failure> {
    let loaded = load::one_plane(&args.fabric, common)?;
    let (name, routes) = tables(args, &loaded, common)?;
    let Loaded { topology, structure, .. } = loaded;
    let fabric = &topology.fabric;
    let faults: Vec<Fault> = [
        (FaultKind::Cables, Fault::cables(fabric)),
        (FaultKind::Switches, Fault::switches(fabric)),
    ]
    .into_iter()
    .filter(|(kind, _)| args.faults.contains(kind))
    .flat_map(|(_, faults)| faults)
    .collect();

    let progress = Progress::new(1 + faults.len() as u64, common.quiet);
    progress.at("checking the tables");
    let before = metrics::measure(fabric, &routes, None);
    let lost = before.unreachable + before.loops;
    if lost > 0 {
        let lost = finding::of_pairs(lost, before.pairs, before.paths);
        return Err(Failure::new(Exit::Finding, format!("{name}: {lost} do not reach"))
            .hint("`darkfiber check` says which; `darkfiber reroute` without --fail mends tables that have all switches"));
    }
    progress.step();
    progress.at("mending every fault");
    let start = Instant::now();
    let prepared = Prepared::new(fabric, &routes, args.lanes)?;
    let seconds_prepare = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let pages = prepared.book(&faults, || progress.step());
    let seconds_compute = start.elapsed().as_secs_f64();
    drop(progress);

    let is_cable = |page: &&Page| matches!(page.fault, Fault::Cable(_));
    let book = |of: &dyn Fn(&&Page) -> bool| facts_of(&Book::of(pages.iter().filter(of)));
    let (cables, switches) = (book(&is_cable), book(&|page| !is_cable(page)));
    let asked = |kind: FaultKind, book: BookFacts| args.faults.contains(&kind).then_some(book);
    let names = Names::new(fabric);
    let rows: Vec<FaultRow> = pages.iter().map(|page| row(fabric, &names, page)).collect();
    let facts = metrics::facts(fabric, topology.shape.as_ref(), structure.as_ref(), false);
    let provenance = provenance::of(fabric, common);
    let result = SurviveResult {
        tables: &name,
        layers: before.layers,
        deadlock_free: before.deadlock_free,
        efi_max: before.efi.max,
        cables: asked(FaultKind::Cables, cables),
        switches: asked(FaultKind::Switches, switches),
        faults: &rows,
        seconds_prepare,
        seconds_compute,
        fabric: &facts,
        provenance: &provenance,
    };
    common.show_lines(&result, args.top)?;
    let disturbs = cables.reconnect + cables.anew + switches.reconnect + switches.anew > 0;
    Ok(if disturbs { Exit::Finding } else { Exit::Fine })
}

/// The tables that are asked about, and whose they are.
fn tables(
    args: &SurviveCommand,
    loaded: &Loaded,
    common: &Common,
) -> Result<(String, Routes), Failure> {
    let topology = &loaded.topology;
    if let Some(path) = &args.tables.routes {
        if args.roots.is_some() {
            return Err(Failure::usage("--roots is for engines, and --routes are tables")
                .hint("leave --roots out, or give -e ENGINE in place of --routes"));
        }
        let tables = args.tables.beside.of(path);
        let read = load::tables_in_lanes(&tables, args.fabric.name(), loaded, common)?;
        return Ok((path.display().to_string(), read.routes));
    }
    args.tables.beside.refuse_without_tables(args.tables.routes.as_ref())?;
    let chain = route::chain(args.tables.engine.as_deref().unwrap_or_default())?;
    let roots = match &args.roots {
        Some(text) => load::roots(&topology.fabric, text, common)?,
        None => Vec::new(),
    };
    let request = Request {
        shape: topology.shape.as_ref(),
        roots: &roots,
        lanes: args.lanes,
        seed: common.seed(),
        ..Request::default()
    };
    let (engine, routes) = route::tables(&chain, &topology.fabric, &request)?;
    if args.protect {
        let routes = route::protected(&topology.fabric, &routes, args.lanes, common)?;
        return Ok((format!("{engine}, protected"), routes));
    }
    Ok((engine, routes))
}

fn facts_of(book: &Book) -> BookFacts {
    BookFacts {
        faults: book.faults,
        any_order: book.any_order,
        steps: book.steps,
        drop_drain: book.drop_drain,
        reconnect: book.reconnect,
        anew: book.anew,
        splits: book.splits,
        untouched_percent: book.untouched_percent(),
        efi_max_after: book.load,
    }
}

fn row(fabric: &Fabric, names: &Names<'_>, page: &Page) -> FaultRow {
    let (kind, name, id) = match page.fault {
        Fault::Cable(c) => {
            let channel = names.channel(c);
            let guid = fabric.switch(fabric.tail(c)).guid;
            let ends = format!(
                "{}[{}] - {}[{}]",
                channel.from, channel.from_port, channel.to, channel.to_port
            );
            ("cable", ends, format!("{guid}:{}", channel.from_port))
        }
        Fault::Switch(s) => ("switch", names.switch(s), fabric.switch(s).guid.to_string()),
    };
    let empty = FaultRow {
        kind,
        name,
        id,
        rung: "splits",
        steps: None,
        switches: None,
        entries: None,
        paths_moved: None,
        efi_max: None,
    };
    match page.repair {
        Repair::Splits => empty,
        Repair::Anew => FaultRow { rung: "anew", ..empty },
        Repair::Mended { rung, switches, entries, moved, load } => FaultRow {
            rung: rung.name(),
            steps: if let Rung::Steps(steps) = rung { Some(steps) } else { None },
            switches: Some(switches),
            entries: Some(entries),
            paths_moved: Some(moved),
            efi_max: Some(load),
            ..empty
        },
    }
}

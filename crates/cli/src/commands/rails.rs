//! `darkfiber rails`: what crosses the rails of a GPU cluster, over which switches and cables.

use clap::Args;
use darkfiber_analysis::Names;
use darkfiber_analysis::rail_crossing::RailCrossing;
use darkfiber_fabric::rails::rails;
use darkfiber_fabric::{ChannelId, SwitchId};
use darkfiber_report::rails::{RailCable, RailSwitch, RailsResult};
use darkfiber_routing::check::{check, check_groups};
use darkfiber_routing::{Request, Routes};

use super::{metrics, route};
use crate::failure::{Exit, Failure};
use crate::load::{self, Loaded};
use crate::options::{Common, FabricArgs, TablesOrEngine};
use crate::progress::Progress;
use crate::provenance;

#[derive(Args, Debug)]
pub(crate) struct RailsCommand {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    #[command(flatten)]
    pub(crate) tables: TablesOrEngine,
    /// Lines of each list; -v shows all
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
Rails are found on the fabric, whatever names say: NIC i of every host of a unit is on leaf i. Every ordered pair of
NICs of different hosts is followed through the tables. A NIC is of the rail of its leaf.

Where no cable joins the rails (rail-only), or planes, their pairs have no path by design, which is no finding.

Examples:
  darkfiber rails rails:hosts_per_unit=32,units=4,nics=8,spines=16,trunk=2 -e rails
  darkfiber rails ibnetdiscover.out --routes lfts.dump --top 30
  darkfiber rails ibnetdiscover.out -e rails --fail dead-cables.txt

Exit code 1 if packets between NICs of one rail cross a leaf of another one, pairs are lost, or tables can deadlock.";

pub(crate) fn run(args: &RailsCommand, common: &Common) -> Result<Exit, Failure> {
    let loaded = load::fabric(&args.fabric, common)?;
    let fabric = &loaded.topology.fabric;
    let Some(map) = rails(fabric) else {
        return Err(Failure::input(format!("{}: there are no rails", fabric.name()))
            .hint("rails are: NIC i of every host of a unit on leaf i, on nine of ten leaves"));
    };
    let progress = Progress::new(2, common.quiet);
    progress.at("routing");
    let (tables, routes) = tables(args, &loaded, common)?;
    progress.step();
    progress.at("counting");
    let mut found = RailCrossing::of(fabric, &routes, &map);
    // What was one network before the faults has no pairs without a path by design.
    if loaded.torn == Some(1) {
        let pairs = &mut found.pairs;
        pairs.lost += std::mem::take(&mut pairs.apart) + std::mem::take(&mut pairs.between_planes);
    }
    let groups = check_groups(fabric, &routes).map(|found| found.sets);
    let deadlock_free = check(fabric, &routes).deadlock_free()
        && groups.is_none_or(|sets| sets.deadlock_free() && sets.loops == 0);
    drop(progress);

    // What rails share, the most first.
    let names = Names::new(fabric);
    let most_first = |of: &[u64]| {
        let mut order: Vec<usize> = (0..of.len()).filter(|&i| of[i] > 0).collect();
        order.sort_by_key(|&i| (std::cmp::Reverse(of[i]), i));
        order
    };
    let switches: Vec<RailSwitch> = most_first(&found.through)
        .into_iter()
        .map(|s| RailSwitch { switch: names.switch(SwitchId::new(s)), crossing: found.through[s] })
        .collect();
    let cables: Vec<RailCable> = most_first(&found.load)
        .into_iter()
        .map(|c| RailCable {
            channel: names.channel(ChannelId::new(c)),
            crossing: found.load[c],
            kept: found.kept_load[c],
        })
        .collect();
    let facts = metrics::of_loaded(&loaded);
    let provenance = provenance::of(fabric, common);
    let result = RailsResult {
        tables: &tables,
        rails: &metrics::rail_facts(fabric, &map),
        pairs: found.pairs,
        deadlock_free,
        switches: &switches,
        cables: &cables,
        fabric: &facts,
        provenance: &provenance,
    };
    common.show_lines(&result, args.top)?;
    let is_found =
        found.pairs.left + found.pairs.lost > 0 || loaded.torn.is_some() || !deadlock_free;
    Ok(if is_found { Exit::Finding } else { Exit::Fine })
}

/// The tables that are asked about, and whose they are; of all planes.
fn tables(
    args: &RailsCommand,
    loaded: &Loaded,
    common: &Common,
) -> Result<(String, Routes), Failure> {
    if let Some(path) = &args.tables.routes {
        let files = args.tables.beside.of(path);
        let read = load::tables_in_lanes(&files, args.fabric.name(), loaded, common)?;
        return Ok((path.display().to_string(), read.routes));
    }
    args.tables.beside.refuse_without_tables(args.tables.routes.as_ref())?;
    let chain = route::chain(args.tables.engine.as_deref().unwrap_or_default())?;
    let shape = loaded.topology.shape.as_ref();
    let request = Request { shape, seed: common.seed(), ..Request::default() };
    let (engine, mut routes) = route::tables(&chain, &loaded.topology.fabric, &request)?;
    let notes = std::mem::take(&mut routes.notes);
    for note in notes.iter().filter(|_| !common.quiet) {
        crate::out::eprint_line(&format!("note: {note}"));
    }
    Ok((engine, routes))
}

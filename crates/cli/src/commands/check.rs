//! `darkfiber check`: prove or refute anybody's routes, and the way from one set of tables to another.

mod transition;

use std::path::PathBuf;

use clap::Args;
use darkfiber_analysis::{FindingKind, Severity, finding};
use darkfiber_page::{Page, Unit, View};
use darkfiber_report::RouteOutcome;
use darkfiber_report::engines::{Engines, Findings};

use super::metrics;
use crate::damage;
use crate::failure::{Exit, Failure};
use crate::load;
use crate::options::{BesideFrom, Common, FabricArgs, JobsArgs, PageArgs, TableArgs};
use crate::progress::Progress;
use crate::{page, provenance, save};

#[derive(Args, Debug)]
pub(crate) struct CheckCommand {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    #[command(flatten)]
    pub(crate) jobs: JobsArgs,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    /// Tables in place: prove the transition from them to --routes. If repeated, the last are in place, and
    /// connections may use the service levels of all
    #[arg(long, value_name = "PATH")]
    pub(crate) from: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) beside: BesideFrom,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
PATH is a forwarding table dump (OpenSM's lfts dump, `dump_lfts.sh`, `ibroute`, osm.fdbs, ibdiagnet2.far), a
netloc paths file (FABRIC being its nodes file), a directory that `darkfiber route -o` wrote, or OpenSM's dump directory.

Examples:
  darkfiber check my-fabric.topo --routes /var/log/opensm-lfts.dump
  darkfiber check new-routes/fabric.topo --routes new-routes
  darkfiber check my-fabric.topo --routes osm.fdbs --guid2lid /var/cache/opensm/guid2lid
  darkfiber check my-fabric.topo --routes ibdiagnet2.far                     any port of a group
  darkfiber check my-fabric.topo --routes lfts.dump --html map.html          look at it
  darkfiber check my-fabric.topo --routes lfts.dump --sl path-sl --format json
  darkfiber check my-fabric.topo --routes lfts.dump --fail dead-cables.txt   what if these fail?
  ibqueryerrors --details > errors.txt; darkfiber check my-fabric.topo --routes lfts.dump --fail errors.txt
  darkfiber check my-fabric.topo --from in-place --routes new-routes         can they be written under traffic?

Exit code 1 if pairs are unreachable, packets loop, or channels can deadlock; with --from, if no transition is
proved.";

pub(crate) fn run(args: &CheckCommand, common: &Common) -> Result<Exit, Failure> {
    if !args.from.is_empty() && args.page.is_asked() {
        return Err(Failure::usage("--html draws one set of tables: without --from"));
    }
    args.page.expect()?;
    let loaded = load::fabric(&args.fabric, common)?;
    let fabric = &loaded.topology.fabric;
    let read = load::tables(&args.tables, args.fabric.name(), &loaded, common)?;
    let jobs = args.jobs.load(fabric, common)?;
    if !args.from.is_empty() {
        let (to, new) = (args.tables.routes.as_path(), &read);
        let request = transition::TransitionInput {
            fabric: args.fabric.name(),
            from: &args.from,
            beside: &args.beside,
            to,
            new,
        };
        return transition::run(&request, &loaded, jobs.as_deref(), common);
    }
    let progress = Progress::new(1, common.quiet);
    progress.at("checking");
    let mut row = metrics::measure_lids(fabric, &read.routes, jobs.as_deref(), read.lids.as_ref());
    progress.step();
    drop(progress);

    // A fabric in pieces explains pairs that do not reach.
    let mut found = finding::of_fabric(fabric);
    found.extend(metrics::of_input(&loaded.diagnostics));
    found.retain(|f| f.severity == Severity::Error || f.kind == FindingKind::Input);
    found.extend(damage::of_levels(&read.remarks_of_levels));
    found.append(&mut row.findings);
    if !row.deadlock_free && !read.has_levels {
        found.push(finding::of_assumed_lane());
    }
    if let Some(lids) = &read.lids {
        found.extend(finding::of_lids(fabric, lids, read.are_lids_planned));
    }
    row.findings = found;
    let exit = if row.findings.iter().any(|f| f.severity == Severity::Error) {
        Exit::Finding
    } else {
        Exit::Fine
    };
    let facts =
        metrics::facts(fabric, loaded.topology.shape.as_ref(), loaded.structure.as_ref(), false);
    let provenance = provenance::of(fabric, common);
    let mut problems = save::Unwritten::default();
    problems.note(args.page.write(|| {
        let routes = &read.routes;
        let load = page::view(&routes.engine, Unit::Routes, &row.load, row.channels, |x| x as f64);
        let jobs = jobs.as_deref().unwrap_or_default();
        Page {
            subtitle: format!("routes of {}", routes.engine),
            views: vec![View { lanes: page::lanes(fabric, routes), ..load }],
            jobs: page::jobs_by_routes(fabric, routes, jobs, |j| format!("job {}", j + 1)),
            findings: page::Notes::new(fabric).of(&row.findings),
            routes: Some(routes),
            ..page::of(fabric.name(), &loaded.topology, &provenance)
        }
    }));
    let outcome = RouteOutcome::Routed(Box::new(row));
    let rows = std::slice::from_ref(&outcome);
    let findings = Findings::All;
    common.show(&Engines { rows, findings, fabric: &facts, provenance: &provenance })?;
    problems.end(exit)
}

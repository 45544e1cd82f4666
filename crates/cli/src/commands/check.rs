//! `darkfiber check`: prove or refute anybody's routes.

use darkfiber_analysis::{Severity, finding};
use darkfiber_report::RouteOutcome;
use darkfiber_report::engines::{Engines, Findings};

use super::metrics;
use crate::args::{CheckCommand, Common};
use crate::failure::{Exit, Failure};
use crate::load;
use crate::progress::Progress;
use crate::provenance;

pub(crate) fn run(args: &CheckCommand, common: &Common) -> Result<Exit, Failure> {
    let loaded = load::fabric(&args.fabric, common)?;
    let fabric = &loaded.topology.fabric;
    let read = load::tables(&args.tables, &args.fabric.fabric, &loaded, common)?;
    let routes = read.routes;

    let jobs = args.jobs.load(fabric, common)?;
    let progress = Progress::new(1, common.quiet);
    progress.at("checking");
    let mut row = metrics::measure(fabric, &routes, jobs.as_deref());
    progress.step();
    drop(progress);

    // A fabric in pieces explains pairs that do not reach.
    let mut found = finding::of_fabric(fabric);
    found.extend(metrics::of_input(&loaded.diagnostics));
    found.retain(|f| f.severity == Severity::Error);
    found.append(&mut row.findings);
    if !row.deadlock_free && !read.has_levels {
        found.push(finding::of_assumed_lane());
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
    let outcome = RouteOutcome::Routed(Box::new(row));
    let rows = std::slice::from_ref(&outcome);
    let findings = Findings::All;
    common.show(&Engines { rows, findings, fabric: &facts, provenance: &provenance })?;
    Ok(exit)
}

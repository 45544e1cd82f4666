//! Fabrics, tables and scenarios that the command line names.

use std::path::Path;

use darkfiber_analysis::{FindingKind, finding};
use darkfiber_fabric::{Fabric, Planes, SwitchId};
use darkfiber_routing::Routes;
use darkfiber_scenario::fabric;
use darkfiber_scenario::tables::{self, Read};
use darkfiber_scenario::{Case, Error, Folder, Listener, Scenario, ScenarioFile};

use crate::damage;
use crate::failure::Failure;
use crate::options::{BesideTables, Common, FabricArgs, NamesArgs, TableArgs};
use crate::out::{self, Teller};

pub(crate) use darkfiber_scenario::fabric::{Loaded, Structure, structure};

/// The fabric that the arguments name; shows the diagnostics of the readers.
pub(crate) fn fabric(args: &FabricArgs, common: &Common) -> Result<Loaded, Failure> {
    Ok(args.scenario(common).load(&Folder::default(), &mut Teller::new(common))?)
}

/// The case of the options, for commands about one network: all but tables; refuses a fabric of several planes.
pub(crate) fn open(scenario: &Scenario, common: &Common) -> Result<Case<()>, Failure> {
    let opened = scenario.open(&Folder::default(), &mut Teller::new(common));
    // A user of options knows the keys of packets as options.
    let case = opened.map_err(|error| {
        let error = error.of_options();
        let is_option = error.at.len() > 1 && error.at[0] == "packets";
        let at = error.at.last().filter(|_| is_option).map(|key| format!("--{key}"));
        Error { at: at.into_iter().collect(), ..error }
    })?;
    damage::note(&case.loaded);
    refuse_planes(case.fabric(), "this command")?;
    Ok(case)
}

/// As [`fabric()`], for commands about one network: refuses a fabric of several planes.
pub(crate) fn one_plane(args: &FabricArgs, common: &Common) -> Result<Loaded, Failure> {
    let loaded = fabric(args, common)?;
    damage::note(&loaded);
    refuse_planes(&loaded.topology.fabric, "this command")?;
    Ok(loaded)
}

/// Refuses a fabric of several planes for commands about one network.
pub(crate) fn refuse_planes(fabric: &Fabric, what: &str) -> Result<(), Failure> {
    match Planes::of(fabric).count() {
        1 => Ok(()),
        planes => Err(Failure::usage(format!(
            "{what} takes one plane, and {} has {planes}",
            fabric.name()
        ))
        .hint("--plane N, or `plane = N` in a scenario, takes one of them, from 1; each is a subnet of its own")),
    }
}

/// The switches that `--roots` names.
pub(crate) fn roots(
    fabric: &Fabric,
    text: &str,
    common: &Common,
) -> Result<Vec<SwitchId>, Failure> {
    Ok(fabric::roots(fabric, text, &mut Teller::new(common))?)
}

/// Reads the tables that the arguments name, for a fabric that was loaded as `name`.
pub(crate) fn tables(
    args: &TableArgs,
    name: &str,
    loaded: &Loaded,
    common: &Common,
) -> Result<Read, Failure> {
    let files = args.beside.files(&args.routes);
    Ok(tables::read(&files, name, loaded, &mut Teller::new(common))?)
}

/// Refuses a fabric without hosts for commands whose answer about it would mean nothing.
pub(crate) fn refuse_no_hosts(fabric: &Fabric) -> Result<(), Failure> {
    let found = finding::of_fabric(fabric);
    match found.into_iter().find(|found| found.kind == FindingKind::NoHosts) {
        Some(found) => Err(Failure::input(found.message).hint(found.hint)),
        None => Ok(()),
    }
}

/// As [`tables()`]; refuses a fabric without hosts, and reports that lane 0 was assumed for all routes, where that matters.
pub(crate) fn tables_in_lanes(
    args: &TableArgs,
    name: &str,
    loaded: &Loaded,
    common: &Common,
) -> Result<Read, Failure> {
    refuse_no_hosts(&loaded.topology.fabric)?;
    let read = tables(args, name, loaded, common)?;
    read.report_assumed_lane(&loaded.topology.fabric, &mut Teller::new(common));
    read.report_static_ports(&mut Teller::new(common));
    Ok(read)
}

/// Says that what is counted does not follow a choice of LIDs by the size of messages, or refuses that if it was asked for.
pub(crate) fn counts_by_sources(
    routes: &Routes,
    beside: &BesideTables,
    common: &Common,
) -> Result<(), Failure> {
    if routes.choice.is_none() {
        return Ok(());
    }
    let what = "which LID a message takes depends on its size, and routes are counted by the LID of the source";
    let instead = "hot, place and simulate follow the choice";
    if beside.lid_choice.is_some() {
        return Err(Failure::usage(format!("--lid-choice: {what}")).hint(instead));
    }
    if !common.quiet {
        out::eprint_line(&format!("warning: lid-choice: {what} ({instead})"));
    }
    Ok(())
}

/// A scenario as the command line wants it: its seed and names come before those of the file.
pub(crate) fn scenario(
    path: &Path,
    names: &NamesArgs,
    common: &Common,
) -> Result<ScenarioFile, Failure> {
    let mut file = ScenarioFile::read(path)?;
    file.scenario.seed = common.seed.or(file.scenario.seed);
    override_names(&mut file, names);
    Ok(file)
}

/// Gives a scenario the names of the command line.
pub(crate) fn override_names(file: &mut ScenarioFile, names: &NamesArgs) {
    if let Some(map) = &names.node_name_map {
        // The file is not next to the scenario, but in the working directory of the command.
        let map = std::path::absolute(map).unwrap_or_else(|_| map.clone());
        file.scenario.node_name_map = Some(map.display().to_string());
    }
}

/// The scenario of a file, with the files that it names, which are in the same folder.
pub(crate) fn case(file: &ScenarioFile, listener: &mut dyn Listener) -> Result<Case, Failure> {
    let case = file.resolve(&Folder::of(Path::new(&file.name)), listener)?;
    damage::note(&case.loaded);
    Ok(case)
}

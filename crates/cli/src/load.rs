//! Fabrics, tables and scenarios that the command line names.

use std::path::Path;

use darkfiber_fabric::{Fabric, Planes, SwitchId};
use darkfiber_scenario::fabric::{self, FabricSource};
use darkfiber_scenario::tables::{self, Read, TableFiles};
use darkfiber_scenario::{Case, Folder, Listener, ScenarioFile};

use crate::failure::Failure;
use crate::options::{Common, FabricArgs, NamesArgs, TableArgs};
use crate::out::Teller;

pub(crate) use darkfiber_scenario::fabric::{Loaded, Structure, structure};

/// Reads or makes the fabric, recognises what it is if nobody says so, takes one plane of it, sets roles,
/// takes faults away; shows what the readers had to say.
pub(crate) fn fabric(args: &FabricArgs, common: &Common) -> Result<Loaded, Failure> {
    let (options, faults) = (args.options.clone(), args.faults.clone());
    let source = FabricSource {
        name: args.name().to_owned(),
        node_name_map: options.names.node_name_map,
        compute: options.compute,
        storage: options.storage,
        plane: options.plane,
        fail_links: faults.fail_links,
        fail: faults.fail,
        symbol_errors: faults.symbol_errors,
        hosts_per_switch: options.hosts_per_switch,
        seed: common.seed(),
    };
    Ok(fabric::load(&source, &mut Teller::new(common))?)
}

/// As [`fabric()`], for what looks at one network: refuses a fabric of several planes.
pub(crate) fn one_plane(args: &FabricArgs, common: &Common) -> Result<Loaded, Failure> {
    let loaded = fabric(args, common)?;
    refuse_planes(&loaded.topology.fabric, "this command")?;
    Ok(loaded)
}

/// Refuses a fabric of several planes for what looks at one network.
pub(crate) fn refuse_planes(fabric: &Fabric, what: &str) -> Result<(), Failure> {
    match Planes::of(fabric).count() {
        1 => Ok(()),
        planes => Err(Failure::usage(format!(
            "{what} takes one plane, and {} has {planes}",
            fabric.name()
        ))
        .hint("--plane N takes one of them, from 1; each is a subnet of its own")),
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
    let beside = args.beside.clone();
    let files = TableFiles {
        tables: args.routes.clone(),
        form: beside.routes_format.into(),
        guid2lid: beside.guid2lid,
        sl: beside.sl,
        sl2vl: beside.sl2vl,
        path_bits: beside.path_bits,
        lid_choice: beside.lid_choice,
    };
    Ok(tables::read(&files, name, loaded, &mut Teller::new(common))?)
}

/// As [`tables()`]; says that lane 0 was assumed for all routes, where that matters.
pub(crate) fn tables_in_lanes(
    args: &TableArgs,
    name: &str,
    loaded: &Loaded,
    common: &Common,
) -> Result<Read, Failure> {
    let read = tables(args, name, loaded, common)?;
    read.tell_assumed_lane(&loaded.topology.fabric, &mut Teller::new(common));
    Ok(read)
}

/// A scenario as the command line wants it: its seed and names come before those of the file.
pub(crate) fn scenario(
    path: &Path,
    names: &NamesArgs,
    common: &Common,
) -> Result<ScenarioFile, Failure> {
    let mut file = ScenarioFile::read(path)?;
    let scenario = &mut file.scenario;
    scenario.seed = common.seed.or(scenario.seed);
    if let Some(map) = &names.node_name_map {
        // It is not beside the scenario, but where the command runs.
        let map = std::path::absolute(map).unwrap_or_else(|_| map.clone());
        scenario.node_name_map = Some(map.display().to_string());
    }
    Ok(file)
}

/// The scenario of a file with all that it names, which lies beside it.
pub(crate) fn case(file: &ScenarioFile, listener: &mut dyn Listener) -> Result<Case, Failure> {
    Ok(file.resolve(&Folder::of(Path::new(&file.name)), listener)?)
}

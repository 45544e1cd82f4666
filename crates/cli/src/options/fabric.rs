//! The fabric, modifications of it, and its faults.

use std::path::PathBuf;

use clap::Args;
use darkfiber_scenario::Scenario;

use super::Common;

/// Heading of these options.
const HEADING: &str = "Fabric options";

/// A fabric, what is taken of it, and what of it has failed.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct FabricArgs {
    /// A file, @preset or family:key=value,...
    #[arg(value_name = "FABRIC", required_unless_present = "fabric")]
    positional: Option<String>,
    /// The FABRIC argument, given as an option
    #[arg(long, value_name = "FABRIC", conflicts_with = "positional", help_heading = HEADING)]
    fabric: Option<String>,
    #[command(flatten)]
    pub(crate) options: FabricOptions,
    #[command(flatten)]
    pub(crate) faults: FaultArgs,
}

/// What is taken of a fabric.
#[derive(Args, Clone, Debug)]
pub(crate) struct FabricOptions {
    #[command(flatten)]
    pub(crate) names: NamesArgs,
    /// GUIDs (a file, or separated by commas) of the ports or nodes that run jobs; all others do not
    #[arg(long, value_name = "GUIDS", help_heading = HEADING)]
    pub(crate) compute: Option<String>,
    /// GUIDs of storage ports or nodes
    #[arg(long, value_name = "GUIDS", help_heading = HEADING)]
    pub(crate) storage: Option<String>,
    /// Take plane N alone of a fabric of several planes, counted from 1
    #[arg(long, value_name = "N", help_heading = HEADING)]
    pub(crate) plane: Option<usize>,
    /// Hosts on every switch of a file that has none (edge list, list of cables, netbench, anynet, CODES)
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = HEADING)]
    pub(crate) hosts_per_switch: u8,
}

impl Default for FabricOptions {
    fn default() -> Self {
        let names = NamesArgs::default();
        Self { names, compute: None, storage: None, plane: None, hosts_per_switch: 1 }
    }
}

/// What nodes are called.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct NamesArgs {
    /// Names of switches and hosts: `0xGUID "name"` on each line, as infiniband-diags and OpenSM take them
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pub(crate) node_name_map: Option<PathBuf>,
}

/// What of a fabric has failed.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct FaultArgs {
    /// What failed: `GUID:PORT` or `NAME[PORT]` (a cable), GUID or NAME (a switch), a file with `GUID PORT` or `GUID`
    /// on each line, or what ibqueryerrors or perfquery printed: cables with too many symbol errors
    #[arg(long, value_name = "LINK", help_heading = HEADING)]
    pub(crate) fail: Vec<String>,
    /// Take cables with more than N symbol errors at either end as failed [default: 10000]
    #[arg(long, value_name = "N", requires = "fail", help_heading = HEADING)]
    pub(crate) symbol_errors: Option<u64>,
    /// Fail N random cables between switches as well; the fabric stays connected (see --seed)
    #[arg(long, value_name = "N", help_heading = HEADING)]
    pub(crate) fail_links: Option<usize>,
}

impl FabricArgs {
    /// The fabric of that name: all of it, without faults.
    pub(crate) fn whole(name: &str, names: &NamesArgs) -> Self {
        let names = names.clone();
        Self {
            positional: Some(name.to_owned()),
            options: FabricOptions { names, ..FabricOptions::default() },
            ..Self::default()
        }
    }

    /// The fabric of that name with these options.
    pub(crate) fn of(name: &str, options: &FabricOptions, faults: &FaultArgs) -> Self {
        let positional = Some(name.to_owned());
        Self { positional, fabric: None, options: options.clone(), faults: faults.clone() }
    }

    /// The file, preset or generator spec.
    pub(crate) fn name(&self) -> &str {
        self.positional.as_deref().or(self.fabric.as_deref()).unwrap_or_default()
    }

    /// A scenario on this fabric, with files relative to the working directory; without routes and jobs.
    pub(crate) fn scenario(&self, common: &Common) -> Scenario {
        let (options, faults) = (&self.options, &self.faults);
        let map = options.names.node_name_map.as_ref();
        Scenario {
            seed: common.seed,
            fabric: self.name().to_owned(),
            node_name_map: map.map(|path| path.display().to_string()),
            compute: options.compute.clone(),
            storage: options.storage.clone(),
            plane: options.plane,
            hosts_per_switch: Some(options.hosts_per_switch),
            fail_links: faults.fail_links,
            fail: faults.fail.clone(),
            symbol_errors: faults.symbol_errors,
            ..Scenario::default()
        }
    }

    /// The same from before the faults.
    pub(crate) fn without_faults(&self) -> Self {
        Self { faults: FaultArgs::default(), ..self.clone() }
    }
}

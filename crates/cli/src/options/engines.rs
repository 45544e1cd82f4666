//! Engines, and their requests.

use clap::{Args, ValueEnum};
use darkfiber_scenario::value::Count;
use darkfiber_scenario::{Chain, RoutesPart};

use crate::failure::Failure;

/// Engines to compare.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct EngineArgs {
    /// Engines to compare, separated by commas or given several times; ftree+updn falls back on updn, and
    /// ftree/dfsssp routes each plane of a fabric with an engine of its own
    /// (`darkfiber list engines`)
    #[arg(short, long = "engine", value_name = "ENGINE,..", value_delimiter = ',')]
    pub(crate) engines: Vec<String>,
}

/// What engines are asked for.
#[derive(Args, Clone, Debug)]
pub(crate) struct RequestArgs {
    /// Root switches for updn, ftree and their kin: GUIDs (a file, or separated by commas)
    #[arg(long, value_name = "GUIDS")]
    pub(crate) roots: Option<String>,
    /// LID mask control: 2^N LIDs for every terminal; engines whose paths depend on the source raise it as needed
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=7))]
    pub(crate) lmc: u8,
    /// Data virtual lanes that engines may use (InfiniBand has at most 15)
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=15))]
    pub(crate) lanes: u8,
}

impl RequestArgs {
    /// The corresponding part of a scenario.
    pub(crate) fn routes(&self) -> RoutesPart {
        RoutesPart {
            roots: self.roots.clone(),
            lmc: Count(self.lmc.into()),
            lanes: Some(Count(self.lanes.into())),
            ..RoutesPart::default()
        }
    }
}

impl EngineArgs {
    /// The engines and fallback chains, each once; none if none was given.
    pub(crate) fn chains(&self) -> Result<Vec<Chain>, Failure> {
        let chains: Vec<Chain> =
            self.engines.iter().map(|text| Chain::parse(text)).collect::<Result<_, _>>()?;
        super::values::distinct("engine", chains.iter().map(|c| c.name.as_str()))?;
        Ok(chains)
    }

    /// As [`chains`](Self::chains); those of `usual` if none was given.
    pub(crate) fn or(&self, usual: &[&str]) -> Result<Vec<Chain>, Failure> {
        let given = self.chains()?;
        let chains = usual.iter().map(|text| Ok(Chain::parse(text)?));
        if given.is_empty() { chains.collect() } else { Ok(given) }
    }
}

/// What a virtual layer may depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LayerBy {
    /// Source and destination: fewest layers
    #[default]
    Pair,
    /// The destination LID alone (a QoS policy of OpenSM)
    Destination,
    /// The source alone: one service level a host (UCX_IB_SL)
    Source,
    /// Nothing: switches choose the lane of each hop by input and output port (sl2vl), and nobody needs a service level
    Hop,
}

//! The parts of a page.

use darkfiber_fabric::{ChannelId, Fabric, Shape, SwitchId, TerminalId};
use darkfiber_routing::Routes;
use serde::Serialize;

use crate::chart::{Chart, Sheet};
use crate::series::Series;

/// The data of a command about a fabric.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    /// Text above the map.
    pub title: String,
    /// Text below the title: how it was made.
    pub subtitle: String,
    /// Fabric of the map.
    pub fabric: &'a Fabric,
    /// Shape of the fabric, which decides how it is drawn.
    pub shape: Option<&'a Shape>,
    /// Loads of channels, one view for each compared item; the first is shown initially.
    pub views: Vec<View>,
    /// Jobs on the map.
    pub jobs: Vec<JobOnMap>,
    /// Findings on the map.
    pub findings: Vec<PageFinding>,
    /// Charts, below one another.
    pub charts: Vec<Chart>,
    /// Tables with results.
    pub sheets: Vec<Sheet>,
    /// Forwarding tables, for the path from one host to another.
    pub routes: Option<&'a Routes>,
    /// Numbers for people, by name.
    pub facts: Vec<(String, String)>,
    /// Provenance of the page.
    pub origin: Origin,
}

/// Provenance of a page.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Origin {
    /// Text of the command line.
    pub command: String,
    /// Version of the program.
    pub version: String,
    /// Seed of the run.
    pub seed: u64,
    /// Digest of the fabric.
    pub digest: String,
}

/// The unit of numbers on channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Routes that cross it.
    Routes,
    /// Flows of a pattern, on average.
    Flows,
    /// Share of the capacity; 1 is full.
    Share,
    /// Number of bytes.
    Bytes,
    /// Symbol errors that the ports at either end counted.
    Errors,
    /// Cost of the failure of its cable, as defined by the view: a share, 0.2 for 20 %.
    Failure,
}

/// A channel that no route crosses is in no lane.
pub const NO_LANE: u8 = u8::MAX;

/// Loads of channels.
#[derive(Clone, Debug)]
pub struct View {
    /// The compared item: an engine, a pattern, a run.
    pub name: String,
    /// Unit of the numbers.
    pub unit: Unit,
    /// By channel between switches.
    pub load: Vec<f64>,
    /// The same by interval of time.
    pub series: Option<Series>,
    /// By channel between switches the virtual lane of most of its routes; [`NO_LANE`] where there is none. Empty if lanes are
    /// unknown, or all use one lane.
    pub lanes: Vec<u8>,
}

/// A job on the map.
#[derive(Clone, Debug, Default)]
pub struct JobOnMap {
    /// Name of the job.
    pub name: String,
    /// Terminals of the job.
    pub terminals: Vec<TerminalId>,
    /// Start and end of its runs, in seconds; empty if unknown.
    pub runs: Vec<(f64, f64)>,
    /// Numbers of the views that it is in; empty if it is in all.
    pub views: Vec<usize>,
    /// Its load on channels between switches, rising by channel.
    pub load: Vec<(u32, f64)>,
    /// A fact about it in a word: its slowdown, for example.
    pub fact: String,
}

/// A finding, and its place.
#[derive(Clone, Debug, Default)]
pub struct PageFinding {
    /// `note`, `warning` or `error`.
    pub severity: &'static str,
    /// Text of the finding.
    pub message: String,
    /// Suggestion for the reader.
    pub hint: String,
    /// Channels to look at; those of a cycle in its order.
    pub channels: Vec<ChannelId>,
    /// Switches to look at.
    pub switches: Vec<SwitchId>,
    /// Pairs to look at.
    pub pairs: Vec<(TerminalId, TerminalId)>,
}

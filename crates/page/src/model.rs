//! What a page is made of.

use darkfiber_fabric::{ChannelId, Fabric, Shape, SwitchId, TerminalId};
use darkfiber_routing::Routes;
use serde::Serialize;

use crate::chart::{Chart, Sheet};
use crate::series::Series;

/// What a command knows of a fabric.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    /// Above the map.
    pub title: String,
    /// Below that: what it was made with.
    pub subtitle: String,
    /// The network.
    pub fabric: &'a Fabric,
    /// What it is, which decides how it is drawn.
    pub shape: Option<&'a Shape>,
    /// What channels carry, one for each thing that is compared; the first is shown at first.
    pub views: Vec<View>,
    /// Jobs.
    pub jobs: Vec<JobOnMap>,
    /// What was found.
    pub findings: Vec<Note>,
    /// Charts, below one another.
    pub charts: Vec<Chart>,
    /// Tables of results.
    pub sheets: Vec<Sheet>,
    /// Forwarding tables, for the way from one host to another.
    pub routes: Option<&'a Routes>,
    /// Numbers for people, by what they are.
    pub facts: Vec<(String, String)>,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a page comes from.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Origin {
    /// The command line.
    pub command: String,
    /// Version of darkfiber.
    pub version: String,
    /// Seed.
    pub seed: u64,
    /// Digest of the fabric.
    pub digest: String,
}

/// What a number on a channel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Routes that cross it.
    Routes,
    /// Flows of a pattern, on average.
    Flows,
    /// Share of what it can carry; 1 is all.
    Share,
    /// Bytes.
    Bytes,
    /// Symbol errors that the ports at either end counted.
    Errors,
    /// What it costs if its cable fails, as the view says: a share, 0.2 for 20 %.
    Failure,
}

/// A channel that no route crosses is in no lane.
pub const NO_LANE: u8 = u8::MAX;

/// What channels carry.
#[derive(Clone, Debug)]
pub struct View {
    /// What is compared: an engine, a pattern, a run.
    pub name: String,
    /// What numbers are.
    pub unit: Unit,
    /// By channel between switches.
    pub load: Vec<f64>,
    /// The same by interval of time.
    pub series: Option<Series>,
    /// By channel between switches the virtual lane of most of its routes; [`NO_LANE`] where there is none. Empty where nobody
    /// knows, or all use one lane.
    pub lanes: Vec<u8>,
}

/// A job.
#[derive(Clone, Debug, Default)]
pub struct JobOnMap {
    /// Its name.
    pub name: String,
    /// Where it runs.
    pub terminals: Vec<TerminalId>,
    /// From when to when, in seconds; empty if nobody knows.
    pub runs: Vec<(f64, f64)>,
    /// What it puts on channels between switches, rising.
    pub load: Vec<(u32, f64)>,
    /// What is to be said of it in a word: how much longer it took, for example.
    pub fact: String,
}

/// What was found, and where.
#[derive(Clone, Debug, Default)]
pub struct Note {
    /// `note`, `warning` or `error`.
    pub severity: &'static str,
    /// What.
    pub message: String,
    /// What to do about it.
    pub hint: String,
    /// Channels to look at; those of a cycle in its order.
    pub channels: Vec<ChannelId>,
    /// Switches to look at.
    pub switches: Vec<SwitchId>,
    /// Pairs to look at.
    pub pairs: Vec<(TerminalId, TerminalId)>,
}

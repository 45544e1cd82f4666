//! Values that were read, in the form that the program uses.

use std::collections::BTreeSet;

use darkfiber_fabric::{AtPort, ChannelId, Digest as Words, Fabric, SwitchId, TerminalId};
use darkfiber_operate::Digest;
use darkfiber_routing::{DestId, Lids, Routes};
use darkfiber_scenario::Loaded;

/// A fabric with its LIDs.
pub(crate) struct FabricValue {
    pub(crate) loaded: Loaded,
    pub(crate) digest: Digest,
}

impl FabricValue {
    pub(crate) fn fabric(&self) -> &Fabric {
        &self.loaded.topology.fabric
    }
}

/// The tables in place.
#[derive(Clone)]
pub(crate) struct TablesValue {
    pub(crate) routes: Routes,
    pub(crate) lids: Lids,
    pub(crate) has_levels: bool,
    /// All pairs of terminals reach.
    pub(crate) is_whole: bool,
    pub(crate) digest: Digest,
    /// The fabric that they were read for.
    pub(crate) fabric: Digest,
}

/// The jobs that run.
#[derive(Default)]
pub(crate) struct JobsValue {
    /// The terminals of each.
    pub(crate) places: Vec<Vec<TerminalId>>,
    pub(crate) ids: BTreeSet<String>,
    /// The id of each place.
    pub(crate) names: Vec<String>,
    pub(crate) digest: Digest,
    /// The fabric that they were read for.
    pub(crate) fabric: Digest,
    /// The text that they were read from.
    pub(crate) text: Vec<u8>,
    /// Nodes of theirs that are not in the fabric.
    pub(crate) unknown: Unknown,
}

/// Nodes of jobs that are not in the fabric, which nothing is decided about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unknown {
    pub(crate) nodes: usize,
    /// One of them.
    pub(crate) example: String,
    /// Jobs that have no others.
    pub(crate) jobs: usize,
}

impl Unknown {
    /// In words, if there are any.
    pub(crate) fn words(&self) -> Option<String> {
        let (nodes, are) = match self.nodes {
            0 => return None,
            1 => ("1 node".to_owned(), "is"),
            n => (format!("{n} nodes"), "are"),
        };
        let jobs = match self.jobs {
            0 => String::new(),
            1 => ", and all of 1 job".to_owned(),
            n => format!(", and all of {n} jobs"),
        };
        Some(format!("{nodes} of jobs {are} not in the fabric, such as {}{jobs}", self.example))
    }
}

impl JobsValue {
    /// Jobs with the terminals of each, in any order.
    pub(crate) fn new(
        mut all: Vec<(Vec<TerminalId>, String)>,
        fabric: Digest,
        text: Vec<u8>,
    ) -> Self {
        all.sort();
        let mut words = Words::default();
        for (terminals, id) in &all {
            words.add(terminals.len() as u64);
            for t in terminals {
                words.add(u64::from(t.0));
            }
            id.bytes().for_each(|b| words.add(u64::from(b)));
        }
        let ids = all.iter().map(|(_, id)| id.clone()).collect();
        let (places, names) = all.into_iter().unzip();
        let unknown = Unknown::default();
        Self { places, ids, names, digest: Digest(words.value()), fabric, text, unknown }
    }

    /// These and others that are not among them.
    pub(crate) fn with(&self, more: &Self) -> Self {
        let of = |jobs: &Self| jobs.places.clone().into_iter().zip(jobs.names.clone());
        let new = of(more).filter(|(_, id)| !self.ids.contains(id));
        let mut text = self.text.clone();
        text.extend_from_slice(&more.text);
        Self::new(of(self).chain(new.collect::<Vec<_>>()).collect(), self.fabric, text)
    }
}

/// Traffic of channels between two readings of counters.
pub(crate) struct CountersValue {
    /// Bytes, as [`darkfiber_formats::counters::Window`] has them.
    pub(crate) carried: Vec<Option<u64>>,
    /// Time between the two.
    pub(crate) seconds: f64,
    /// Share of its bandwidth that the fullest channel between switches carried.
    pub(crate) fullest: f64,
    pub(crate) digest: Digest,
    /// The fabric that they were read for.
    pub(crate) fabric: Digest,
}

/// An entry as far as it leads somewhere: into a port without a cable is as good as no route.
pub(crate) fn entry(
    fabric: &Fabric,
    routes: &Routes,
    s: SwitchId,
    (d, path): (DestId, usize),
) -> Option<u8> {
    let port = routes.lft_entry(fabric, s, d, path)?;
    (port == 0 || fabric.at_port(s, port) != AtPort::Nothing).then_some(port)
}

impl CountersValue {
    /// By channel between switches the share of its rate that it carried.
    pub(crate) fn shares(&self, fabric: &Fabric) -> Vec<f64> {
        let share = |c: usize| {
            let class = fabric.class_of(ChannelId::new(c));
            let bytes = self.carried.get(c).copied().flatten().unwrap_or(0);
            bytes as f64 / self.seconds / class.bytes_per_second.max(1) as f64
        };
        (0..fabric.channel_count()).map(share).collect()
    }
}

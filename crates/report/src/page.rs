//! What a page with a map says of any result: facts of its fabric, and findings with the places that they name.

use std::collections::BTreeMap;

use darkfiber_analysis::finding::{BrokenPair, Finding, Places};
use darkfiber_analysis::{ChannelName, Names, Severity};
use darkfiber_fabric::{AtPort, ChannelId, Fabric, Shape, SwitchId, TerminalId, Topology};
use darkfiber_page::PageFinding;

use crate::number;

/// The shape, where it says something: two switches are anything.
pub fn shape_of(topology: &Topology) -> Option<&Shape> {
    topology.shape.as_ref().filter(|_| topology.fabric.switch_count() > 2)
}

/// Name, shape and size of a fabric.
pub fn facts(topology: &Topology) -> Vec<(String, String)> {
    let fabric = &topology.fabric;
    let mut facts = vec![("name".to_owned(), fabric.name().to_owned())];
    if let Some(shape) = shape_of(topology) {
        facts.push(("shape".to_owned(), shape.summary()));
    }
    facts.push(("hosts".to_owned(), number::group(fabric.host_count() as u64)));
    facts.push(("cables".to_owned(), number::group(fabric.link_count() as u64)));
    facts
}

/// Finds the elements that findings name, so that the map can go there.
pub struct Notes<'a> {
    fabric: &'a Fabric,
    by_guid: BTreeMap<u64, SwitchId>,
    switches: BTreeMap<String, SwitchId>,
    terminals: BTreeMap<String, TerminalId>,
}

impl<'a> Notes<'a> {
    /// Those of a fabric.
    pub fn new(fabric: &'a Fabric) -> Self {
        let names = Names::new(fabric);
        let switches = || (0..fabric.switch_count()).map(SwitchId::new);
        Self {
            fabric,
            by_guid: switches().map(|s| (fabric.switch(s).guid.0, s)).collect(),
            switches: switches().map(|s| (names.switch(s), s)).collect(),
            terminals: (0..fabric.terminal_count())
                .map(TerminalId::new)
                .map(|t| (names.terminal(t), t))
                .collect(),
        }
    }

    fn channel(&self, name: &ChannelName) -> Option<ChannelId> {
        let s = *self.by_guid.get(&name.from_guid.0.0)?;
        match self.fabric.at_port(s, name.from_port) {
            AtPort::Switch(c, _) => Some(c),
            _ => None,
        }
    }

    /// Findings with the places that they name.
    pub fn of(&self, findings: &[Finding]) -> Vec<PageFinding> {
        findings.iter().map(|f| self.one(f)).collect()
    }

    fn one(&self, finding: &Finding) -> PageFinding {
        let severity = match finding.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let mut note = PageFinding {
            severity,
            message: finding.message.clone(),
            hint: finding.hint.to_owned(),
            ..PageFinding::default()
        };
        match &finding.places {
            Places::Pairs { examples, .. } => {
                let end = |name: &String| self.terminals.get(name).copied();
                let pair = |b: &BrokenPair| Some((end(&b.pair.source)?, end(&b.pair.destination)?));
                note.pairs = examples.iter().filter_map(pair).collect();
                note.switches =
                    examples.iter().filter_map(|b| self.switches.get(&b.at).copied()).collect();
            }
            Places::Cycle { cycle, .. } => {
                note.channels = cycle.iter().filter_map(|d| self.channel(&d.channel)).collect();
            }
            Places::Channels { channels } => {
                note.channels = channels.iter().filter_map(|c| self.channel(&c.channel)).collect();
            }
            Places::Components { examples, .. } => {
                note.switches =
                    examples.iter().filter_map(|name| self.switches.get(name).copied()).collect();
            }
            // Names of switches may occur inside a description.
            Places::Nodes { examples, .. } => {
                note.switches = examples
                    .iter()
                    .flat_map(|text| {
                        let words = text.split([' ', ',']);
                        words.filter_map(|word| self.switches.get(word).copied())
                    })
                    .collect();
                note.switches.dedup();
            }
        }
        note
    }
}

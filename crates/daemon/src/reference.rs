//! The whole fabric, of which the rest after faults is a part: every source of a part, a command or OpenSM itself by the
//! plugin, gets the same value for the same cables.
//!
//! OpenSM names its sweep by cables alone. Names, speeds and LIDs are those of the last reading of the whole.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use darkfiber_fabric::{ChannelId, Fabric, Faults, SwitchId, TerminalId};
use darkfiber_formats::Diagnostics;
use darkfiber_operate::Digest;
use darkfiber_scenario::Loaded;

use crate::cables::{Cables, End};
use crate::value::FabricValue;

/// Parts that are kept in memory.
const KEPT: usize = 8;

/// The missing parts of the whole fabric.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Missing {
    /// Cables between switches that are there, each by the lower of its channels.
    pub(crate) links: Vec<u32>,
    pub(crate) switches: Vec<u32>,
    /// Terminals of switches that are there.
    pub(crate) terminals: Vec<u32>,
}

impl Missing {
    /// The same as faults.
    pub(crate) fn faults(&self) -> Faults {
        Faults {
            links: self.links.iter().map(|&c| ChannelId(c)).collect(),
            switches: self.switches.iter().map(|&s| SwitchId(s)).collect(),
            terminals: self.terminals.iter().map(|&t| TerminalId(t)).collect(),
        }
    }

    /// Faults, each once and only where no larger element has failed.
    pub(crate) fn of(fabric: &Fabric, faults: &Faults) -> Self {
        let switches: BTreeSet<u32> = faults.switches.iter().map(|s| s.0).collect();
        let stays = |c: ChannelId| {
            !switches.contains(&fabric.tail(c).0) && !switches.contains(&fabric.head(c).0)
        };
        let links = faults.links.iter().filter(|&&c| stays(c));
        let links: BTreeSet<u32> = links.map(|&c| c.min(fabric.reverse(c)).0).collect();
        let hangs = |t: &&TerminalId| !switches.contains(&fabric.terminal(**t).switch.0);
        let terminals: BTreeSet<u32> = faults.terminals.iter().filter(hangs).map(|t| t.0).collect();
        Self {
            links: links.into_iter().collect(),
            switches: switches.into_iter().collect(),
            terminals: terminals.into_iter().collect(),
        }
    }
}

/// The whole fabric, shared by readers and the question handler.
#[derive(Clone, Default)]
pub(crate) struct Reference(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    whole: Option<Arc<FabricValue>>,
    /// The cables of the whole.
    cables: Cables,
    parts: VecDeque<(Missing, Arc<FabricValue>)>,
}

impl Reference {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a fabric that was read: as a part of the whole, or as a new whole, if it is not a part.
    pub(crate) fn take(&self, value: FabricValue) -> Arc<FabricValue> {
        let mut known = self.known();
        let whole = known.whole.as_ref();
        if let Some(missing) = whole.and_then(|whole| part_of(whole.fabric(), value.fabric()))
            && let Some(part) = known.part(&missing)
        {
            return part;
        }
        let value = Arc::new(value);
        let cables = Cables::of(value.fabric());
        *known = Known { whole: Some(value.clone()), cables, parts: VecDeque::new() };
        value
    }

    /// The fabric with the cables that OpenSM has swept; `None` if there are unknown ones among them.
    pub(crate) fn of_cables(&self, cables: &Cables) -> Option<(Missing, Arc<FabricValue>)> {
        let mut known = self.known();
        let whole = known.whole.as_ref()?;
        let missing = without(whole.fabric(), &known.cables, cables)?;
        let part = known.part(&missing)?;
        Some((missing, part))
    }

    /// The whole fabric, once known.
    pub(crate) fn whole(&self) -> Option<Arc<FabricValue>> {
        self.known().whole.clone()
    }

    /// The missing parts of the whole if only this fabric is there.
    pub(crate) fn missing_of(&self, digest: Digest) -> Option<Missing> {
        let known = self.known();
        if known.whole.as_ref()?.digest == digest {
            return Some(Missing::default());
        }
        known.parts.iter().find(|(_, part)| part.digest == digest).map(|(m, _)| m.clone())
    }
}

impl Known {
    fn part(&mut self, missing: &Missing) -> Option<Arc<FabricValue>> {
        let whole = self.whole.clone()?;
        if *missing == Missing::default() {
            return Some(whole);
        }
        if let Some(i) = self.parts.iter().position(|(m, _)| m == missing) {
            let kept = self.parts.remove(i)?;
            self.parts.push_back(kept.clone());
            return Some(kept.1);
        }
        let part = Arc::new(left(&whole, missing));
        if part.fabric().terminal_count() < 2 {
            return None;
        }
        self.parts.push_back((missing.clone(), part.clone()));
        if self.parts.len() > KEPT {
            self.parts.pop_front();
        }
        Some(part)
    }
}

/// The remaining part of a whole.
pub(crate) fn left(whole: &FabricValue, missing: &Missing) -> FabricValue {
    let (topology, _) = whole.loaded.topology.with_faults(&missing.faults());
    let digest = Digest(topology.fabric.digest());
    let loaded = Loaded {
        topology,
        diagnostics: Diagnostics::default(),
        text: whole.loaded.text.clone(),
        degraded: false,
        torn: None,
        structure: None,
        shared: whole.loaded.shared.clone(),
    };
    FabricValue { loaded, digest }
}

/// The missing parts if only these cables are there; `None` if one of them is of a node that the whole, with cables `known`, does
/// not have, or leads elsewhere. An unknown cable between known nodes changes nothing.
fn without(whole: &Fabric, known: &Cables, cables: &Cables) -> Option<Missing> {
    for &(from, to) in cables.iter() {
        if !known.has_node(from.0) || known.get(from).is_some_and(|other| other != to) {
            return None;
        }
    }
    let mut faults = Faults::default();
    for (i, switch) in whole.switches().iter().enumerate() {
        if !cables.has_node(switch.guid.0) {
            faults.switches.push(SwitchId::new(i));
        }
    }
    let guid = |s: SwitchId| whole.switch(s).guid.0;
    for c in (0..whole.channel_count()).map(ChannelId::new).filter(|&c| c < whole.reverse(c)) {
        if cables.get((guid(whole.tail(c)), whole.tail_port(c))).is_none() {
            faults.links.push(c);
        }
    }
    for (i, t) in whole.terminals().iter().enumerate() {
        if cables.get((guid(t.switch), t.switch_port)).is_none() {
            faults.terminals.push(TerminalId::new(i));
        }
    }
    Some(Missing::of(whole, &faults))
}

/// The missing parts of the whole if the fabric that was read is a part of it, with the same names, speeds and LIDs.
fn part_of(whole: &Fabric, part: &Fabric) -> Option<Missing> {
    let (known, cables) = (Cables::of(whole), Cables::of(part));
    let missing = without(whole, &known, &cables)?;
    if cables.iter().any(|&(end, _)| known.get(end).is_none()) {
        return None;
    }
    let switches: BTreeMap<u64, usize> =
        whole.switches().iter().enumerate().map(|(i, s)| (s.guid.0, i)).collect();
    for s in part.switches() {
        let known = &whole.switches()[*switches.get(&s.guid.0)?];
        if (known.ports, known.lid, &known.description) != (s.ports, s.lid, &s.description) {
            return None;
        }
    }
    let terminals: BTreeMap<u64, TerminalId> =
        whole.terminals().iter().enumerate().map(|(i, t)| (t.guid.0, TerminalId::new(i))).collect();
    for (i, t) in part.terminals().iter().enumerate() {
        let of = *terminals.get(&t.guid.0)?;
        let k = whole.terminal(of);
        let names = whole.adapter(k.adapter).description == part.adapter(t.adapter).description;
        let speed = whole.terminal_class(of).bytes_per_second
            == part.terminal_class(TerminalId::new(i)).bytes_per_second;
        if (k.lid, k.lmc, k.role) != (t.lid, t.lmc, t.role) || !names || !speed {
            return None;
        }
    }
    let speeds = |fabric: &Fabric| -> BTreeMap<End, u64> {
        let end = |c: ChannelId| (fabric.switch(fabric.tail(c)).guid.0, fabric.tail_port(c));
        let all = (0..fabric.channel_count()).map(ChannelId::new);
        all.map(|c| (end(c), fabric.class_of(c).bytes_per_second)).collect()
    };
    let known = speeds(whole);
    speeds(part).iter().all(|(end, speed)| known.get(end) == Some(speed)).then_some(missing)
}

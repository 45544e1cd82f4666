//! Pairing of the devices of one cabling with those of another.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use darkfiber_fabric::{Cabling, Device, Guid};
use schemars::JsonSchema;
use serde::Serialize;

use super::entry::{Difference, DifferenceKind};
use crate::GuidText;

/// Pairs of devices, and by what they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Pairing {
    /// By expected device the found one.
    #[serde(skip)]
    pub of_expected: Vec<Option<usize>>,
    /// By found device the expected one.
    #[serde(skip)]
    pub of_found: Vec<Option<usize>>,
    /// Pairs with one GUID.
    pub by_guid: usize,
    /// Pairs with one name.
    pub by_name: usize,
    /// Pairs with one set of neighbors: replaced devices.
    pub by_cables: usize,
}

impl Pairing {
    fn join(&mut self, expected: usize, found: usize) {
        self.of_expected[expected] = Some(found);
        self.of_found[found] = Some(expected);
    }

    /// Number of paired devices.
    pub fn count(&self) -> usize {
        self.by_guid + self.by_name + self.by_cables
    }
}

/// Pairs the devices of two cablings.
pub(super) fn pair(expected: &Cabling, found: &Cabling) -> Pairing {
    let mut pairing = Pairing {
        of_expected: vec![None; expected.devices.len()],
        of_found: vec![None; found.devices.len()],
        ..Pairing::default()
    };
    // By the GUIDs of nodes, then of ports: one port may have the GUID of another node.
    for of_ports in [false, true] {
        let guids = |d: &Device| -> Vec<Guid> {
            if of_ports { d.guids().collect() } else { d.guid.into_iter().collect() }
        };
        let devices = found.devices.iter().enumerate();
        let of_guid: HashMap<Guid, usize> = devices
            .filter(|(i, _)| pairing.of_found[*i].is_none())
            .flat_map(|(i, d)| guids(d).into_iter().map(move |guid| (guid, i)))
            .collect();
        for (e, device) in expected.devices.iter().enumerate() {
            if pairing.of_expected[e].is_some() {
                continue;
            }
            let same = guids(device).into_iter().find_map(|guid| {
                let f = *of_guid.get(&guid)?;
                let is_free = pairing.of_found[f].is_none();
                (is_free && found.devices[f].in_host == device.in_host).then_some(f)
            });
            if let Some(f) = same {
                pairing.join(e, f);
                pairing.by_guid += 1;
            }
        }
    }
    // A name that two unpaired devices of one side share is not used. Plans may write names in capital letters.
    for (with_aliases, folded) in [(false, false), (true, false), (false, true), (true, true)] {
        let left = by_name(expected, &pairing.of_expected, with_aliases, folded);
        let right = by_name(found, &pairing.of_found, with_aliases, folded);
        for (name, e) in left {
            let (Some(e), Some(Some(f))) = (e, right.get(&name)) else { continue };
            if pairing.of_expected[e].is_none() && pairing.of_found[*f].is_none() {
                pairing.join(e, *f);
                pairing.by_name += 1;
            }
        }
    }
    by_cables(expected, found, &mut pairing);
    pairing
}

/// Unpaired devices by name, in small letters if `folded`; `None` for a name that several have.
fn by_name<'a>(
    cabling: &'a Cabling,
    paired: &[Option<usize>],
    with_aliases: bool,
    folded: bool,
) -> BTreeMap<Cow<'a, str>, Option<usize>> {
    let mut found: BTreeMap<Cow<'_, str>, Option<usize>> = BTreeMap::new();
    let unpaired = cabling.devices.iter().enumerate().filter(|&(i, _)| paired[i].is_none());
    for (i, device) in unpaired {
        let aliases = device.aliases.iter().filter(|_| with_aliases);
        for name in std::iter::once(&device.name).chain(aliases).filter(|n| !n.is_empty()) {
            let name = if folded { name.to_lowercase().into() } else { name.as_str().into() };
            found
                .entry(name)
                .and_modify(|other| *other = other.filter(|&other| other == i))
                .or_insert(Some(i));
        }
    }
    found
}

/// A paired neighbor at a port of it, as the found cabling numbers them.
type Place = (usize, Option<u8>);

/// Pairs devices whose cables lead to the same ports, most of them.
fn by_cables(expected: &Cabling, found: &Cabling, pairing: &mut Pairing) {
    let mut at: HashMap<Place, usize> = HashMap::new();
    for (f, places) in neighbors(found, |f| pairing.of_found[f].map(|_| f)) {
        if pairing.of_found[f].is_none() {
            at.extend(places.into_iter().map(|place| (place, f)));
        }
    }
    let mut pairs = Vec::new();
    for (e, places) in neighbors(expected, |e| pairing.of_expected[e]) {
        if pairing.of_expected[e].is_some() || places.is_empty() {
            continue;
        }
        // A plan does not number ports of adapters: they do not identify the device.
        let known = places.iter().filter(|(_, port)| port.is_some()).count();
        let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
        for f in places.iter().filter_map(|place| at.get(place)) {
            *votes.entry(*f).or_default() += 1;
        }
        let best = votes.into_iter().max_by_key(|&(f, n)| (n, std::cmp::Reverse(f)));
        let alike = |f: usize| found.devices[f].in_host == expected.devices[e].in_host;
        pairs.extend(best.filter(|&(f, n)| 2 * n > known && alike(f)).map(|(f, _)| (e, f)));
    }
    for (e, f) in pairs {
        if pairing.of_found[f].is_none() {
            pairing.join(e, f);
            pairing.by_cables += 1;
        }
    }
}

/// By device the places of the paired devices that it is cabled to.
fn neighbors(
    cabling: &Cabling,
    paired: impl Fn(usize) -> Option<usize>,
) -> BTreeMap<usize, Vec<Place>> {
    let mut places: BTreeMap<usize, Vec<Place>> = BTreeMap::new();
    for cable in &cabling.cables {
        let [a, b] = cable.ends;
        for (this, other) in [(a, b), (b, a)] {
            let place = paired(other.device).map(|device| (device, other.port));
            places.entry(this.device).or_default().extend(place);
        }
    }
    places
}

/// The differences in devices.
pub(super) fn list(expected: &Cabling, found: &Cabling, pairing: &mut Pairing) -> Vec<Difference> {
    let mut list = Vec::new();
    let cables = |cabling: &Cabling, device: usize| {
        let all = cabling.cables.iter().filter(|c| c.ends.iter().any(|end| end.device == device));
        match all.count() {
            1 => "1 cable".to_owned(),
            n => format!("{n} cables"),
        }
    };
    let unknown = [false, true].map(|in_host| are_made_up(expected, found, in_host));
    for (e, device) in expected.devices.iter().enumerate() {
        let Some(f) = pairing.of_expected[e] else {
            list.push(Difference {
                kind: DifferenceKind::DeviceMissing,
                at: device.name.clone(),
                expected: Some(cables(expected, e)),
                found: None,
                action: "is it powered, and its firmware up? Its cables are not listed one by one"
                    .to_owned(),
            });
            continue;
        };
        let there = &found.devices[f];
        let are_unknown = unknown[usize::from(device.in_host)];
        let has_guids = !are_unknown && device.guid.is_some() && there.guid.is_some();
        let is_another = has_guids && !device.guids().any(|a| there.guids().any(|b| a == b));
        let is_renamed = !is_called_alike(device, there);
        if is_another {
            let guid = |g: Option<_>| g.map(|g| GuidText(g).0.to_string());
            let name = if is_renamed { format!(" ({})", there.name) } else { String::new() };
            list.push(Difference {
                kind: DifferenceKind::DeviceReplaced,
                at: device.name.clone(),
                expected: guid(device.guid),
                found: guid(there.guid).map(|guid| guid + &name),
                action: "update what names the old GUID: node-name maps, guid2lid, partitions"
                    .to_owned(),
            });
        } else if is_renamed {
            list.push(Difference {
                kind: DifferenceKind::DeviceRenamed,
                at: device.name.clone(),
                expected: Some(device.name.clone()),
                found: Some(there.name.clone()),
                action: "set its node description, or correct the plan".to_owned(),
            });
        }
    }
    for (f, device) in found.devices.iter().enumerate() {
        if pairing.of_found[f].is_none() {
            list.push(Difference {
                kind: DifferenceKind::DeviceExtra,
                at: device.name.clone(),
                expected: None,
                found: Some(cables(found, f)),
                action: "add it to the plan, or take it out; its cables are not listed one by one"
                    .to_owned(),
            });
        }
    }
    list
}

/// Whether two devices of a pair go by one name. A plan, which has no GUIDs, may write it in other letters, and name a part of it;
/// of what both sides have by GUID the names count as they are written.
fn is_called_alike(a: &Device, b: &Device) -> bool {
    if a.guid.is_some() && b.guid.is_some() {
        // Some tools cut blanks off the end of descriptions.
        let is = |name: &str, other: &str| name.trim() == other.trim();
        return is(&a.name, &b.name)
            || a.aliases.iter().any(|name| is(name, &b.name))
            || b.aliases.iter().any(|name| is(name, &a.name));
    }
    let names = |of: &Device| -> Vec<String> {
        std::iter::once(&of.name).chain(&of.aliases).map(|name| name.to_lowercase()).collect()
    };
    let others = names(b);
    names(a).iter().any(|name| others.contains(name))
}

/// Whether one of two cablings has GUIDs of switches (or of adapters in hosts) that a reader made up, since the list has none, and the
/// other one real ones: then they do not compare.
fn are_made_up(expected: &Cabling, found: &Cabling, in_host: bool) -> bool {
    let made_up = |of: &Cabling| {
        let devices = of.devices.iter().filter(|d| d.in_host == in_host);
        let guids: Vec<bool> = devices.filter_map(|d| Some(d.guid?.is_made_up())).collect();
        (guids.iter().all(|&is| is), guids.iter().any(|&is| is))
    };
    match (made_up(expected), made_up(found)) {
        ((all, _), (_, false)) | ((_, false), (all, _)) => all,
        _ => false,
    }
}

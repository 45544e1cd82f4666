//! Cables of two cablings whose devices are paired.

use std::collections::{BTreeMap, BTreeSet};

use darkfiber_fabric::{CableEnd, Cabling, LinkClass};

use super::entry::{Difference, DifferenceKind, name};
use super::pairing::Pairing;

/// The result of comparing cables.
#[derive(Debug, Default)]
pub(super) struct Compared {
    /// Differences that were found.
    pub(super) list: Vec<Difference>,
    /// Cables that are where they should be.
    pub(super) common: usize,
}

/// A cable by its two ends in the numbers of the found cabling, the lower first.
type Ends = [CableEnd; 2];

/// Cables that are on one side only, by end. Ports are distinct, so each end has one cable; where ports are
/// unknown any of those at the device.
struct Rest {
    cables: BTreeSet<(Ends, usize)>,
    by_end: BTreeSet<(CableEnd, CableEnd, usize)>,
}

impl Rest {
    fn new(cables: Vec<(Ends, usize)>) -> Self {
        let mut rest = Self { cables: BTreeSet::new(), by_end: BTreeSet::new() };
        for (ends, id) in cables {
            rest.cables.insert((ends, id));
            for [at, other] in [ends, [ends[1], ends[0]]] {
                rest.by_end.insert((at, other, id));
            }
        }
        rest
    }

    /// A cable at `end`, and its other end.
    fn at(&self, end: CableEnd) -> Option<(CableEnd, usize)> {
        let low = CableEnd { device: 0, port: None };
        self.by_end
            .range((end, low, 0)..)
            .next()
            .filter(|(at, ..)| *at == end)
            .map(|&(_, other, id)| (other, id))
    }

    /// Whether a cable joins these two ends, and which.
    fn between(&self, a: CableEnd, b: CableEnd) -> Option<usize> {
        self.by_end
            .range((a, b, 0)..)
            .next()
            .filter(|&&(x, y, _)| (x, y) == (a, b))
            .map(|&(.., id)| id)
    }

    fn remove(&mut self, ends: Ends, id: usize) {
        self.cables.remove(&(sorted(ends), id));
        for [at, other] in [ends, [ends[1], ends[0]]] {
            self.by_end.remove(&(at, other, id));
        }
    }
}

fn sorted(mut ends: Ends) -> Ends {
    ends.sort_unstable();
    ends
}

/// Cables of paired devices: which are in both, moved, missing, extra, slower.
pub(super) fn compare(
    expected: &Cabling,
    found: &Cabling,
    pairing: &Pairing,
    by_port: bool,
) -> Compared {
    let mut out = Compared::default();
    let numbered = numbered(expected, found, pairing, by_port);
    let there = |end: CableEnd| CableEnd {
        device: end.device,
        port: end.port.filter(|_| numbered[end.device]),
    };
    let here = |end: CableEnd| {
        pairing.of_expected[end.device].map(|device| there(CableEnd { device, port: end.port }))
    };

    // Cables of devices that are missing or extra are reported with these.
    let mut wanted: Vec<(Ends, usize)> = Vec::new();
    for (id, cable) in expected.cables.iter().enumerate() {
        if let (Some(a), Some(b)) = (here(cable.ends[0]), here(cable.ends[1])) {
            wanted.push((sorted([a, b]), id));
        }
    }
    let mut present: BTreeMap<Ends, Vec<usize>> = BTreeMap::new();
    for (id, cable) in found.cables.iter().enumerate().rev() {
        if cable.ends.iter().all(|end| pairing.of_found[end.device].is_some()) {
            present.entry(sorted(cable.ends.map(there))).or_default().push(id);
        }
    }

    // The same ends in both.
    wanted.retain(|(ends, id)| {
        let Some(other) = present.get_mut(ends).and_then(Vec::pop) else { return true };
        out.common += 1;
        let classes = (&expected.cables[*id].class, &found.cables[other].class);
        out.list.extend(speed(found, found.cables[other].ends, classes));
        false
    });
    let left: Vec<(Ends, usize)> = present
        .into_iter()
        .flat_map(|(ends, ids)| ids.into_iter().map(move |id| (ends, id)))
        .collect();
    let (mut wanted, mut left) = (Rest::new(wanted), Rest::new(left));
    let both = (expected, found);
    swapped(both, &mut wanted, &mut left, &mut out.list);
    moved(both, &mut wanted, &mut left, &mut out.list);

    for &(ends, _) in &wanted.cables {
        out.list.push(Difference {
            kind: DifferenceKind::CableMissing,
            at: name(found, ends[0]),
            expected: Some(name(found, ends[1])),
            found: None,
            action: "plug it in at both ends, or replace it".to_owned(),
        });
    }
    for &(ends, _) in &left.cables {
        out.list.push(Difference {
            kind: DifferenceKind::CableExtra,
            at: name(found, ends[0]),
            expected: None,
            found: Some(name(found, ends[1])),
            action: "take it out, or add it to the plan".to_owned(),
        });
    }
    out
}

/// By found device whether both sides number its ports, as far as it has cables there.
fn numbered(expected: &Cabling, found: &Cabling, pairing: &Pairing, by_port: bool) -> Vec<bool> {
    let mut numbered = vec![by_port; found.devices.len()];
    for end in found.cables.iter().flat_map(|c| c.ends).filter(|end| end.port.is_none()) {
        numbered[end.device] = false;
    }
    for end in expected.cables.iter().flat_map(|c| c.ends).filter(|end| end.port.is_none()) {
        if let Some(device) = pairing.of_expected[end.device] {
            numbered[device] = false;
        }
    }
    numbered
}

/// Two cables that exchanged an end.
fn swapped(
    (expected, found): (&Cabling, &Cabling),
    wanted: &mut Rest,
    left: &mut Rest,
    list: &mut Vec<Difference>,
) {
    let all: Vec<(Ends, usize)> = wanted.cables.iter().copied().collect();
    for (ends, id) in all {
        if !wanted.cables.contains(&(ends, id)) {
            continue;
        }
        // a-b and c-d are expected, a-d and c-b found; either end of the first may be a.
        let swap = [ends, [ends[1], ends[0]]].into_iter().find_map(|[a, b]| {
            let (d, first) = left.at(a)?;
            let (c, second) = left.at(b)?;
            let other = wanted.between(c, d)?;
            Some((a, b, c, d, first, second, other))
        });
        let Some((a, b, c, d, first, second, other)) = swap else { continue };
        wanted.remove([a, b], id);
        wanted.remove([c, d], other);
        left.remove([a, d], first);
        left.remove([c, b], second);
        list.push(Difference {
            kind: DifferenceKind::CablesSwapped,
            at: name(found, a),
            expected: Some(name(found, b)),
            found: Some(name(found, d)),
            action: format!(
                "exchange the ends at {} and {} (the other cable is that of {})",
                name(found, b),
                name(found, d),
                name(found, c)
            ),
        });
        // Either of the two is the cable that was meant; one that explains both speeds is.
        let speeds = |[of_first, of_second]: [usize; 2]| -> Vec<Difference> {
            let one = |id: usize, at: usize| {
                let classes = (&expected.cables[id].class, &found.cables[at].class);
                speed(found, found.cables[at].ends, classes)
            };
            [one(of_first, first), one(of_second, second)].into_iter().flatten().collect()
        };
        let ways = [speeds([id, other]), speeds([other, id])];
        list.extend(ways.into_iter().min_by_key(Vec::len).unwrap_or_default());
    }
}

/// Cables with one end as expected.
fn moved(
    (expected, found): (&Cabling, &Cabling),
    wanted: &mut Rest,
    left: &mut Rest,
    list: &mut Vec<Difference>,
) {
    let all: Vec<(Ends, usize)> = wanted.cables.iter().copied().collect();
    for (ends, id) in all {
        let there =
            [ends, [ends[1], ends[0]]].into_iter().find_map(|[a, b]| Some((a, b, left.at(a)?)));
        let Some((a, b, (other, cable))) = there else { continue };
        wanted.remove([a, b], id);
        left.remove([a, other], cable);
        list.push(Difference {
            kind: DifferenceKind::CableMoved,
            at: name(found, a),
            expected: Some(name(found, b)),
            found: Some(name(found, other)),
            action: format!("move the end at {} to {}", name(found, other), name(found, b)),
        });
        let classes = (&expected.cables[id].class, &found.cables[cable].class);
        list.extend(speed(found, found.cables[cable].ends, classes));
    }
}

fn speed(
    found: &Cabling,
    ends: Ends,
    classes: (&Option<LinkClass>, &Option<LinkClass>),
) -> Option<Difference> {
    let (Some(expected), Some(is)) = classes else { return None };
    if expected.label == is.label || expected.label.is_empty() || is.label.is_empty() {
        return None;
    }
    // Another width or generation of the same rate, however it was rounded, is no slower cable.
    let rates = [expected, is].map(|class| class.bytes_per_second);
    if rates[0].abs_diff(rates[1]) <= rates[0] / 100 {
        return None;
    }
    let slower = is.bytes_per_second < expected.bytes_per_second;
    let action = if slower {
        "reseat or replace the cable; look at the port's supported and enabled speeds"
    } else {
        "correct the plan: it is faster than expected"
    };
    Some(Difference {
        kind: DifferenceKind::CableSpeed,
        at: format!("{} to {}", name(found, ends[0]), name(found, ends[1])),
        expected: Some(expected.label.clone()),
        found: Some(is.label.clone()),
        action: action.to_owned(),
    })
}

/// Whether ports are numbered differently: of the cables between devices that both sides cable to each other most
/// have other ports.
pub(super) fn are_renumbered(
    expected: &Cabling,
    found: &Cabling,
    pairing: &Pairing,
    compared: &Compared,
) -> bool {
    let without = compare(expected, found, pairing, false);
    without.common > 2 * compared.common
}

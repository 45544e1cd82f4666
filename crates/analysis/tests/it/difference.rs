//! Differences between cablings, tested by known edits.

use std::collections::{BTreeMap, BTreeSet};

use darkfiber_analysis::difference::{DifferenceKind, differences};
use darkfiber_fabric::{Cable, CableEnd, Cabling, Guid, LinkClass, open};
use proptest::prelude::*;

const SPECS: [&str; 6] = [
    "kary:k=4,n=3",
    "fattree2:n=6,m=3,r=6",
    "hyperx:dims=4x4,t=2",
    "dragonfly:p=2,a=4,h=2",
    "torus:dims=4x4,t=1",
    "jellyfish:n=24,d=5,p=2",
];

fn cabling(spec: &str) -> Cabling {
    Cabling::of(&open(spec).expect("a spec").fabric)
}

/// Edits a cabling, each cable and device at most once, and counts its edits.
struct Editor {
    cabling: Cabling,
    touched: BTreeSet<usize>,
    gone: BTreeSet<usize>,
    done: BTreeMap<DifferenceKind, usize>,
    next_port: u8,
}

impl Editor {
    fn new(cabling: Cabling) -> Self {
        Self {
            cabling,
            touched: BTreeSet::new(),
            gone: BTreeSet::new(),
            done: BTreeMap::new(),
            next_port: 200,
        }
    }

    /// A cable of devices that were not touched, nor was it.
    fn free(&self, cable: usize) -> bool {
        let ends = self.cabling.cables[cable].ends;
        !self.gone.contains(&cable) && ends.iter().all(|end| !self.touched.contains(&end.device))
    }

    fn take(&mut self, cable: usize) {
        let ends = self.cabling.cables[cable].ends;
        self.touched.extend(ends.iter().map(|end| end.device));
    }

    fn port(&mut self) -> u8 {
        self.next_port += 1;
        self.next_port
    }

    fn apply(&mut self, edit: u8, index: usize) {
        let cables = self.cabling.cables.len();
        let (i, j) = (index % cables, (index / cables) % cables);
        if !self.free(i) {
            return;
        }
        let kind = match edit {
            0 => {
                self.take(i);
                self.gone.insert(i);
                DifferenceKind::CableMissing
            }
            1 => {
                let (a, b) = (self.cabling.cables[i].ends, self.cabling.cables[j].ends);
                let devices: BTreeSet<usize> = a.iter().chain(&b).map(|end| end.device).collect();
                if !self.free(j) || devices.len() < 4 {
                    return;
                }
                self.take(i);
                self.take(j);
                self.cabling.cables[i].ends[1] = b[1];
                self.cabling.cables[j].ends[1] = a[1];
                self.slow(i);
                DifferenceKind::CablesSwapped
            }
            2 => {
                let other = self.cabling.cables[j].ends[0].device;
                if self.touched.contains(&other) {
                    return;
                }
                self.take(i);
                self.touched.insert(other);
                let port = Some(self.port());
                self.cabling.cables[i].ends[1] = CableEnd { device: other, port };
                self.slow(i);
                DifferenceKind::CableMoved
            }
            3 => {
                let ends = self.cabling.cables[i].ends;
                self.take(i);
                let (a, b) = (Some(self.port()), Some(self.port()));
                let ends = [
                    CableEnd { device: ends[0].device, port: a },
                    CableEnd { device: ends[1].device, port: b },
                ];
                self.cabling.cables.push(Cable { ends, class: None });
                DifferenceKind::CableExtra
            }
            4 => {
                self.take(i);
                self.cabling.cables[i].class = LinkClass::infiniband("1xSDR");
                DifferenceKind::CableSpeed
            }
            5 => {
                let device = self.cabling.cables[i].ends[0].device;
                self.take(i);
                self.cabling.devices[device].guid = Some(Guid(0xdead_0000 + device as u64));
                DifferenceKind::DeviceReplaced
            }
            _ => {
                let device = self.cabling.cables[i].ends[0].device;
                self.take(i);
                self.cabling.devices[device].name = format!("elsewhere {device}");
                DifferenceKind::DeviceRenamed
            }
        };
        *self.done.entry(kind).or_default() += 1;
    }

    /// Has every second cable that is elsewhere run at another speed, too.
    fn slow(&mut self, i: usize) {
        if i.is_multiple_of(2) {
            self.cabling.cables[i].class = LinkClass::infiniband("1xSDR");
            *self.done.entry(DifferenceKind::CableSpeed).or_default() += 1;
        }
    }

    fn finish(mut self) -> (Cabling, BTreeMap<DifferenceKind, usize>) {
        let gone = &self.gone;
        let mut i = 0;
        self.cabling.cables.retain(|_| {
            i += 1;
            !gone.contains(&(i - 1))
        });
        (self.cabling, self.done)
    }
}

fn counts(expected: &Cabling, found: &Cabling) -> BTreeMap<DifferenceKind, usize> {
    let mut counts = BTreeMap::new();
    for difference in differences(expected, found, false).list {
        *counts.entry(difference.kind).or_default() += 1;
    }
    counts
}

proptest! {
    /// Each edit is found with its kind, and nothing else.
    #[test]
    fn edits_are_found(
        spec in 0..SPECS.len(),
        edits in prop::collection::vec((0u8..7, any::<usize>()), 0..5),
    ) {
        let before = cabling(SPECS[spec]);
        let mut editor = Editor::new(before.clone());
        for (edit, index) in edits {
            editor.apply(edit, index);
        }
        let (after, done) = editor.finish();
        prop_assert_eq!(counts(&before, &after), done);
    }
}

#[test]
fn a_cabling_does_not_differ_from_itself() {
    for spec in SPECS.into_iter().chain(["@t2hx", "@shandy", "@cab"]) {
        let all = cabling(spec);
        let same = differences(&all, &all, false);
        assert!(same.list.is_empty(), "{spec}: {:?}", same.list);
        assert_eq!(same.common_cables, all.cables.len(), "{spec}");
    }
}

/// Devices without GUIDs and with other names are identified by their cables.
#[test]
fn a_replaced_switch_is_found_by_its_cables() {
    let before = cabling("kary:k=4,n=2");
    let mut after = before.clone();
    after.devices[3].guid = Some(Guid(0xabc));
    after.devices[3].name = "factory default".to_owned();
    after.devices[3].aliases.clear();
    let found = differences(&before, &after, false);
    assert_eq!(found.pairing.by_cables, 1);
    let kinds: Vec<DifferenceKind> = found.list.iter().map(|d| d.kind).collect();
    assert_eq!(kinds, [DifferenceKind::DeviceReplaced]);
}

#[test]
fn a_switch_that_is_gone_is_one_difference() {
    let before = cabling("hyperx:dims=4x4,t=2");
    let mut after = before.clone();
    let gone = 5;
    after.cables.retain(|c| c.ends.iter().all(|end| end.device != gone));
    after.devices.remove(gone);
    for end in after.cables.iter_mut().flat_map(|c| c.ends.iter_mut()) {
        end.device -= usize::from(end.device > gone);
    }
    let found = differences(&before, &after, false);
    let kinds: Vec<DifferenceKind> = found.list.iter().map(|d| d.kind).collect();
    assert_eq!(kinds, [DifferenceKind::DeviceMissing]);
    assert_eq!(found.list[0].expected.as_deref(), Some("8 cables"));
    // And in the opposite direction.
    let kinds: Vec<DifferenceKind> =
        differences(&after, &before, false).list.iter().map(|d| d.kind).collect();
    assert_eq!(kinds, [DifferenceKind::DeviceExtra]);
}

/// Where one side numbers ports differently, cables between two devices are counted.
#[test]
fn ports_that_are_numbered_differently_are_not_compared() {
    let before = cabling("dragonfly:p=2,a=4,h=2");
    let mut after = before.clone();
    for end in after.cables.iter_mut().flat_map(|c| c.ends.iter_mut()) {
        end.port = end.port.map(|p| p + 100);
    }
    let moved = after.cables.pop().expect("a cable");
    let found = differences(&before, &after, false);
    assert!(!found.by_port);
    let kinds: Vec<DifferenceKind> = found.list.iter().map(|d| d.kind).collect();
    assert_eq!(kinds, [DifferenceKind::CableMissing], "{moved:?}: {:?}", found.list);
}

//! Differences between two cablings: a plan and a dump, or two dumps.
//!
//! Devices are paired first ([`Pairing`]), then cables are compared port by port. Each difference is one thing that a
//! technician can walk to.

mod cables;
mod entry;
mod pairing;

use darkfiber_fabric::{Cabling, natural_order};

pub use entry::{Difference, DifferenceKind};
pub use pairing::Pairing;

/// All that differs, and how it was found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Differences {
    /// Devices first, then cables, each by the name of the device.
    pub list: Vec<Difference>,
    /// Method by which devices were paired.
    pub pairing: Pairing,
    /// Whether port numbers were compared.
    pub by_port: bool,
    /// Cables that are in both as expected.
    pub common_cables: usize,
}

/// The parts of one cabling that are missing in another, and the reverse.
///
/// Devices are paired by GUID, by name where it is unique in both, by other names, and last by their cables: an
/// unpaired device whose cables lead where those of an expected one should has replaced it. Port numbers are not
/// compared if `ignore_ports` is set, or if most cables between two paired devices have others: then they are
/// numbered differently.
///
/// Complexity: O(n log n) in devices and cables.
pub fn differences(expected: &Cabling, found: &Cabling, ignore_ports: bool) -> Differences {
    let mut pairing = pairing::pair(expected, found);
    let mut by_port = !ignore_ports;
    let mut cables = cables::compare(expected, found, &pairing, by_port);
    if by_port && cables::are_renumbered(expected, found, &pairing, &cables) {
        by_port = false;
        cables = cables::compare(expected, found, &pairing, by_port);
    }
    let mut list = pairing::list(expected, found, &mut pairing);
    list.append(&mut cables.list);
    list.sort_by(|a, b| {
        let device_first = (a.kind >= DifferenceKind::CablesSwapped)
            .cmp(&(b.kind >= DifferenceKind::CablesSwapped));
        device_first.then_with(|| natural_order(&a.at, &b.at)).then_with(|| a.kind.cmp(&b.kind))
    });
    Differences { list, pairing, by_port, common_cables: cables.common }
}

//! Topology files of ibdm (`.topo`): systems, and the cables that leave their ports.
//!
//! ```text
//! MTS14400 SL1-1
//!    L1/P1 -4X-10G-> MT23108 H-1 P1
//!    L1/P2 -> MTS14400 SL2-1 L3/P7
//! ```
//!
//! `L1/P2` is port 2 of board `L1`; such a board is the device `SL1-1/L1`. Cables between the boards of a system are
//! in the `.ibnl` file of its type and are not read: a plan is of cables outside.

use std::collections::HashSet;
use std::path::Path;

use darkfiber_fabric::{Cabling, LinkClass};

use super::build::{FabricPlan, PlanEnd};
use crate::diagnostic::excerpt;
use crate::format::{Format, Reading};
use crate::input::said;
use crate::known_by::KnownBy;
use crate::{Diagnostics, ReadError};

/// The entry of this format.
pub const FORMAT: Format = Format {
    name: "ibdm.topo",
    what: "an ibdm topology file (.topo)",
    summary: "plan of the cabling as ibutils read it: systems and the cables between them",
    hint: "it names systems, not switches: `darkfiber diff PLAN FABRIC` compares a fabric with it; to route, dump the \
           fabric with ibnetdiscover",
    known_by: &[KnownBy::Line(|line| cable(line).is_some())],
    read: Reading::By("diff"),
    ..Format::NONE
};

/// Expected content, for errors.
const EXPECTED: &str = "an ibdm topology file (`TYPE NAME`, then `PORT -4X-10G-> TYPE NAME PORT`)";

/// Words of `L1/P1 -4X-10G-> MT23108 H-1 P1`: port, arrow, name and port of the other end.
fn cable(line: &str) -> Option<[&str; 4]> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match *words.as_slice() {
        [port, arrow, _, name, other, ..] if arrow.starts_with('-') && arrow.ends_with("->") => {
            Some([port, arrow, name, other])
        }
        _ => None,
    }
}

/// Reads a topology file. Lines that cannot be read are left out and reported.
///
/// # Errors
/// [`ReadError::NotSuchAFile`] if no line can be read.
pub fn read(text: &str, path: &Path) -> Result<(Cabling, Diagnostics), ReadError> {
    let mut d = Diagnostics::default();
    let mut plan = FabricPlan::default();
    // Systems that have their own list of cables are switches.
    let systems: HashSet<&str> = said(text)
        .filter(|(_, line)| cable(line).is_none())
        .filter_map(|(_, line)| line.split_whitespace().nth(1))
        .collect();
    let mut system = None;
    for (number, line) in said(text) {
        if let Some([port, arrow, name, other]) = cable(line) {
            let Some(system) = system else {
                d.error(number, "a cable before any system", "the line is left out");
                continue;
            };
            match (end(system, port, false), end(name, other, !systems.contains(name))) {
                (Ok(a), Ok(b)) => plan.cable(number, [a, b], class(arrow), &mut d),
                (Err(what), _) | (_, Err(what)) => d.error(number, what, "the line is left out"),
            }
        } else {
            system = line.split_whitespace().nth(1);
            if system.is_none() {
                let what = format!("neither a system nor a cable: {}", excerpt(line));
                d.error(number, what, "the line is left out");
            }
        }
    }
    let cabling = plan.finish();
    if cabling.cables.is_empty() {
        return Err(ReadError::not_such(path, "no line describes a cable", EXPECTED, ""));
    }
    Ok((cabling, d))
}

/// Parses one end; the error names a port that is not one of a switch. Ports named by letters have no number.
fn end(system: &str, label: &str, in_host: bool) -> Result<PlanEnd, String> {
    let (device, port) = match label.rsplit_once('/') {
        Some((board, port)) => (format!("{system}/{board}"), port),
        None => (system.to_owned(), label),
    };
    let digits = port.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    let number = digits.parse().ok().filter(|number| (1..=254).contains(number));
    if is_number && number.is_none() {
        return Err(format!("no port from 1 to 254: {}", excerpt(label)));
    }
    Ok(PlanEnd { device, alias: None, port: number, in_host })
}

/// The class of `-4X-10G->`; `None` where width or speed is missing.
fn class(arrow: &str) -> Option<LinkClass> {
    let mut words = arrow.trim_start_matches('-').trim_end_matches("->").split('-');
    let (width, speed) = (words.next()?, words.next()?);
    let speed = match speed {
        "2.5G" => "SDR",
        "5G" => "DDR",
        "10G" => "QDR",
        "14G" => "FDR",
        "25G" => "EDR",
        "50G" => "HDR",
        "100G" => "NDR",
        "200G" => "XDR",
        _ => return None,
    };
    LinkClass::infiniband(&format!("{}{speed}", width.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_hosts_and_speeds() -> Result<(), ReadError> {
        let text = "# two\nMTS S1\n  L1/P1 -4X-10G-> HCA H-1 P1\n  P9 -> MTS S2 P4\nMTS S2\n  P4 -> MTS S1 P9\n";
        let (plan, d) = read(text, Path::new("f.topo"))?;
        assert!(d.0.is_empty(), "{:?}", d.0);
        let names: Vec<(&str, bool)> =
            plan.devices.iter().map(|d| (d.name.as_str(), d.in_host)).collect();
        assert_eq!(names, [("S1/L1", false), ("H-1", true), ("S1", false), ("S2", false)]);
        assert_eq!(plan.cables.len(), 2, "the second is listed from both ends");
        assert_eq!(plan.cables[0].class.as_ref().map(|c| c.label.as_str()), Some("4xQDR"));
        assert_eq!(plan.cables[1].class, None);
        Ok(())
    }
}

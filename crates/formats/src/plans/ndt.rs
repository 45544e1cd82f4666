//! UFM's network description (`.ndt`): a line for each cable.
//!
//! ```text
//! #StartDevice,StartPort,EndDevice,EndPort,LinkType
//! rack1-IB0,Port 21,core1,Blade 16_Port 2/20,Data
//! node0001,node0001 ibp11s0f0,rack1-IB0,Port 1,Data
//! ```
//!
//! A port is `Port N` of a switch, `Blade B_Port P/N` of a director, or the name of an adapter. A blade is the
//! device `core1/LB`, as its boards are described in dumps (`MF0;core1:CS7500/L16/U1`); how its ports are numbered
//! on its chips is not published, so they are not compared. Ports of adapters have no number, either.

use std::path::Path;

use darkfiber_fabric::Cabling;

use super::build::{FabricPlan, PlanEnd};
use crate::diagnostic::excerpt;
use crate::format::{Format, Reading};
use crate::input::said;
use crate::known_by::KnownBy;
use crate::{Diagnostics, ReadError};

/// The entry of this format.
pub const FORMAT: Format = Format {
    name: "ndt",
    what: "a network description of UFM (.ndt)",
    summary: "UFM's plan of the cabling: a device and a port at both ends of each cable",
    hint: "a plan names no GUIDs and cannot be routed; `darkfiber diff PLAN FABRIC` compares a fabric with it",
    known_by: &[KnownBy::Line(is_heading)],
    read: Reading::By("diff"),
    ..Format::NONE
};

/// Expected content, for errors.
const EXPECTED: &str = "a network description of UFM (device,port,device,port,type on each line)";

fn is_heading(line: &str) -> bool {
    let line = line.trim_start_matches('#').to_ascii_lowercase();
    let mut columns = line.split(',').map(str::trim);
    ["startdevice", "startport", "enddevice", "endport"].iter().all(|c| columns.next() == Some(*c))
}

/// Reads a network description. Lines that cannot be read are left out and reported.
///
/// # Errors
/// [`ReadError::NotSuchAFile`] if no line can be read.
pub fn read(text: &str, path: &Path) -> Result<(Cabling, Diagnostics), ReadError> {
    let mut d = Diagnostics::default();
    let mut plan = FabricPlan::default();
    for (number, line) in said(text).filter(|(_, line)| !is_heading(line)) {
        let columns: Vec<&str> =
            line.split(',').map(|word| word.trim().trim_matches('"').trim()).collect();
        let [from, from_port, to, to_port, ..] = columns.as_slice() else {
            let what = format!("{} columns in {}", columns.len(), excerpt(line));
            d.error(number, what, "expected device,port,device,port,type; the line is left out");
            continue;
        };
        if from.is_empty() || to.is_empty() {
            d.error(number, "a device without a name", "the line is left out");
            continue;
        }
        match (end(from, from_port), end(to, to_port)) {
            (Ok(a), Ok(b)) => plan.cable(number, [a, b], None, &mut d),
            (Err(what), _) | (_, Err(what)) => d.error(number, what, "the line is left out"),
        }
    }
    let cabling = plan.finish();
    if cabling.cables.is_empty() {
        let what = d.0.first().map_or_else(
            || "no line describes a cable".to_owned(),
            |first| format!("line {}: {}", first.line, first.what),
        );
        return Err(ReadError::not_such(path, what, EXPECTED, ""));
    }
    Ok((cabling, d))
}

/// Parses one end; the error names a port that is not one of a switch.
fn end(device: &str, port: &str) -> Result<PlanEnd, String> {
    let whole = |port| PlanEnd { device: device.to_owned(), alias: None, port, in_host: false };
    let is_port = port.get(..5).is_some_and(|word| word.eq_ignore_ascii_case("port "));
    if is_port {
        let number = port[5..].trim().parse().ok().filter(|number| (1..=254).contains(number));
        let what = || format!("no port from 1 to 254: {}", excerpt(port));
        return number.map(|number| whole(Some(number))).ok_or_else(what);
    }
    let blade = port.strip_prefix("Blade ").and_then(|rest| rest.split_once("_Port"));
    if let Some((blade, _)) = blade.filter(|(b, _)| b.parse::<u16>().is_ok()) {
        let device = format!("{device}/L{blade}");
        return Ok(PlanEnd { device, alias: None, port: None, in_host: false });
    }
    if port.is_empty() {
        return Ok(whole(None));
    }
    let device_name =
        if port.starts_with(device) { port.to_owned() } else { format!("{device} {port}") };
    let alias = Some(device.to_owned());
    Ok(PlanEnd { device: device_name, alias, port: None, in_host: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "#StartDevice,StartPort,EndDevice,EndPort,LinkType\r
leaf1,Port 21,core1,Blade 16_Port 2/20,Data\r
node1,node1 ibp11s0f0,leaf1,Port 1, Data\r
leaf1,Port 1,leaf2,Port 3,Data\r
leaf1,Port x\r
leaf1,port 300,leaf2,Port 4,Data\r
\"leaf2\",\"Port 9\",\"leaf1\",\"port 8\",Data\r
";

    #[test]
    fn ends_of_cables() -> Result<(), ReadError> {
        let (plan, d) = read(FILE, Path::new("f.ndt"))?;
        let names: Vec<&str> = plan.devices.iter().map(|d| d.name.as_str()).collect();
        // The host of a line that is left out is no device.
        assert_eq!(names, ["leaf1", "core1/L16", "node1 ibp11s0f0", "leaf2"]);
        assert_eq!(plan.cables.len(), 3);
        let ports: Vec<Option<u8>> =
            plan.cables.iter().flat_map(|c| c.ends.map(|e| e.port)).collect();
        assert_eq!(ports, [Some(21), None, None, Some(1), Some(9), Some(8)]);
        assert!(plan.devices[2].in_host && plan.devices[2].aliases == ["node1"]);
        let said: Vec<String> = d.0.iter().map(ToString::to_string).collect();
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said[0].contains("leaf1 port 1 has a cable already, by line 3"), "{said:?}");
        assert!(said[1].contains("line 5") && said[1].contains("2 columns"), "{said:?}");
        assert!(said[2].contains("line 6") && said[2].contains("no port from 1"), "{said:?}");
        Ok(())
    }

    #[test]
    fn a_heading_alone_is_no_plan() {
        let error = read("#StartDevice,StartPort,EndDevice,EndPort,LinkType\n", Path::new("f.ndt"));
        assert!(error.is_err_and(|e| e.to_string().contains("no line describes a cable")));
    }
}

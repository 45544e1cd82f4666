//! UFM's network description (`.ndt`): a line for each cable.
//!
//! ```text
//! #StartDevice,StartPort,EndDevice,EndPort,LinkType
//! rack1-IB0,Port 21,core1,Blade 16_Port 2/20,Data
//! node0001,node0001 ibp11s0f0,rack1-IB0,Port 1,Data
//! ```
//!
//! A port is `Port N` of a switch, `Blade B_Port U/P` of a director, or the name of an adapter. Port `P` of the chip `U`
//! of a blade is that of the device `core1/LB/UU`, as its boards are described in dumps (`MF0;core1:MCS8500/L16/U2`): so it
//! is in all 3,195 cables of the plan and the dump that UFM's NDT plugin is tested with (Mellanox/ufm_sdk_3.0). Ports of
//! adapters have no number.
//!
//! Other columns may stand between those (`,rack #,U height,#Fields:StartDevice,StartPort,..`): the heading says where.

use std::path::Path;

use darkfiber_fabric::Cabling;

use super::build::{FabricPlan, PlanEnd};
use crate::diagnostic::excerpt;
use crate::format::{Format, Reading};
use crate::input::said;
use crate::known_by::{KnownBy, begins_with};
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

/// The columns that are read: a device and a port, twice.
type Columns = [usize; 4];

fn is_heading(line: &str) -> bool {
    columns(line).is_some()
}

/// Where a heading has the columns.
fn columns(line: &str) -> Option<Columns> {
    let name = |word: &str| {
        let word = word.trim().trim_matches('"').trim_start_matches('#').to_ascii_lowercase();
        word.strip_prefix("fields:").map_or(word.clone(), str::to_owned)
    };
    let names: Vec<String> = line.split(',').map(name).collect();
    let at = |wanted: &str| names.iter().position(|name| name == wanted);
    Some([at("startdevice")?, at("startport")?, at("enddevice")?, at("endport")?])
}

/// Reads a network description. Lines that cannot be read are left out and reported.
///
/// # Errors
/// [`ReadError::NotSuchAFile`] if no line can be read.
pub fn read(text: &str, path: &Path) -> Result<(Cabling, Diagnostics), ReadError> {
    let mut d = Diagnostics::default();
    let mut plan = FabricPlan::default();
    let at = text.lines().find_map(columns).unwrap_or([0, 1, 2, 3]);
    for (number, line) in said(text).filter(|(_, line)| !is_heading(line)) {
        let words: Vec<&str> =
            line.split(',').map(|word| word.trim().trim_matches('"').trim()).collect();
        let [Some(from), Some(from_port), Some(to), Some(to_port)] = at.map(|i| words.get(i))
        else {
            let what = format!("{} columns in {}", words.len(), excerpt(line));
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
    let port_number = |text: &str| {
        let number = text.trim().parse().ok().filter(|number| (1..=254).contains(number));
        number.ok_or_else(|| format!("no port from 1 to 254: {}", excerpt(port)))
    };
    if begins_with(port, "port ") {
        return Ok(whole(Some(port_number(&port[5..])?)));
    }
    let blade = port.strip_prefix("Blade ").and_then(|rest| rest.split_once("_Port"));
    if let Some((blade, place)) = blade.filter(|(b, _)| b.parse::<u16>().is_ok()) {
        let board = format!("{device}/L{blade}");
        let chip = place.trim().split_once('/').filter(|(chip, _)| chip.parse::<u8>().is_ok());
        let Some((chip, of_chip)) = chip else {
            return Ok(PlanEnd { device: board, alias: None, port: None, in_host: false });
        };
        let port = Some(port_number(of_chip)?);
        // A board with one chip goes by its own name.
        let alias = (chip == "1").then(|| board.clone());
        return Ok(PlanEnd { device: format!("{board}/U{chip}"), alias, port, in_host: false });
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
        assert_eq!(names, ["leaf1", "core1/L16/U2", "node1 ibp11s0f0", "leaf2"]);
        assert_eq!(plan.cables.len(), 3);
        let ports: Vec<Option<u8>> =
            plan.cables.iter().flat_map(|c| c.ends.map(|e| e.port)).collect();
        assert_eq!(ports, [Some(21), Some(20), None, Some(1), Some(9), Some(8)]);
        assert!(plan.devices[2].in_host && plan.devices[2].aliases == ["node1"]);
        let said: Vec<String> = d.0.iter().map(ToString::to_string).collect();
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said[0].contains("leaf1 port 1 has a cable already, by line 3"), "{said:?}");
        assert!(said[1].contains("line 5") && said[1].contains("2 columns"), "{said:?}");
        assert!(said[2].contains("line 6") && said[2].contains("no port from 1"), "{said:?}");
        Ok(())
    }

    #[test]
    fn the_heading_says_where_columns_are() -> Result<(), ReadError> {
        let text = ",rack #,U,#Fields:StartDevice,StartPort,Location,EndDevice,EndPort,LinkType\n\
                    ,r1,U41,leaf1,Port 21,F01,core1,Blade 1_Port 1/3,Data\n,r1,U41,leaf1\n";
        let (plan, d) = read(text, Path::new("f.csv"))?;
        let names: Vec<&str> = plan.devices.iter().map(|d| d.name.as_str()).collect();
        assert_eq!(names, ["leaf1", "core1/L1/U1"]);
        assert_eq!(plan.devices[1].aliases, ["core1/L1"]);
        assert_eq!(plan.cables[0].ends.map(|end| end.port), [Some(21), Some(3)]);
        assert!(d.0.len() == 1 && d.0[0].line == 3, "{d:?}");
        Ok(())
    }

    #[test]
    fn a_heading_alone_is_no_plan() {
        let error = read("#StartDevice,StartPort,EndDevice,EndPort,LinkType\n", Path::new("f.ndt"));
        assert!(error.is_err_and(|e| e.to_string().contains("no line describes a cable")));
    }
}

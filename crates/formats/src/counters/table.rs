//! Tables with a heading: a line for each port and time, or for each host and time with a column group for each port
//! (LDMS).

use std::path::Path;

use super::reading::{CounterForm, Device, Reading, WORDS, Width, not_counters, number};
use crate::foreign::nothing_to_read;
use crate::guids::parse_guid;
use crate::{Diagnostics, ReadError, sheet};

/// Bytes, 64 bits of them.
const BYTES: Width = Width { unit: 1, bits: 64 };

/// The content of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Guid,
    Lid,
    Name,
    Port,
    Time,
    Sent(Width),
    Received(Width),
}

/// Known headings, reduced to letters and digits, the best first.
const KNOWN: [(&[&str], Column); 9] = [
    (&["nodeguid", "guid", "switchguid", "portguid"], Column::Guid),
    (&["lid", "nodelid", "baselid"], Column::Lid),
    (&["nodename", "name", "node", "switch", "hostname", "host", "producername"], Column::Name),
    (&["port", "portnumber", "portnum", "portselect"], Column::Port),
    (&["time", "timestamp", "unixtime", "seconds"], Column::Time),
    (&["xmitbytes", "sentbytes", "txbytes", "portxmitbytes", "transmitbytes"], Column::Sent(BYTES)),
    (
        &["rcvbytes", "receivedbytes", "rxbytes", "portrcvbytes", "receivebytes"],
        Column::Received(BYTES),
    ),
    (&["portxmitdataextended", "portxmitdata", "xmitdata"], Column::Sent(WORDS)),
    (&["portrcvdataextended", "portrcvdata", "rcvdata"], Column::Received(WORDS)),
];

/// An adapter of a host, and its port.
type Adapter = (usize, u8);

/// A recognised heading.
#[derive(Clone, Copy)]
struct Heading {
    holds: Column,
    /// Its place among those that hold the same: less is better.
    rank: usize,
    /// The adapter that it belongs to, if it is given (`port_xmit_data#mlx5_0.1`).
    of: Option<Adapter>,
}

fn known(heading: &str) -> Option<Heading> {
    let (base, of) = match heading.split_once('#') {
        // "#Time" is a comment and a heading.
        Some(("", rest)) => (rest, None),
        Some((base, of)) => (base, adapter(of)),
        None => (heading, None),
    };
    let base = base.rsplit('.').next().unwrap_or(base);
    let plain = sheet::plain(base);
    KNOWN.iter().find_map(|(names, column)| {
        let rank = names.iter().position(|n| *n == plain)?;
        Some(Heading { holds: *column, rank, of })
    })
}

/// `mlx5_0.1`: which adapter of the host, and its port.
fn adapter(of: &str) -> Option<Adapter> {
    let (name, port) = of.rsplit_once(['.', ':', '/'])?;
    let index = name.rsplit('_').next().and_then(|i| i.parse().ok()).unwrap_or(0);
    Some((index, port.parse().ok()?))
}

/// Any other table with a heading.
pub(super) const FORM: CounterForm =
    CounterForm { is_such: |_| true, read: |text, path, found| of_section(text, 0, path, found) };

/// A table that begins behind this many lines of a file.
pub(super) fn of_section(
    text: &str,
    before: usize,
    path: &Path,
    found: &mut Diagnostics,
) -> Result<Vec<Reading>, ReadError> {
    let mut reader = sheet::reader(text).from_reader(text.as_bytes());
    if let Some(what) = nothing_to_read(text, path) {
        return Err(not_counters(path, what));
    }
    let heading: Vec<String> = match reader.headers() {
        Ok(heading) => heading.iter().map(str::to_owned).collect(),
        Err(e) => return Err(not_counters(path, e.to_string())),
    };
    let table = Table::of(&heading)
        .map_err(|missing| not_counters(path, format!("no column of it is {missing}")))?;
    let mut readings = Vec::new();
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(e) => {
                let line = e.position().map_or(0, |p| p.line() as usize);
                found.warn(before + line, "no line of a table", e.to_string());
                continue;
            }
        };
        let line = before + record.position().map_or(0, |p| p.line() as usize);
        table.line(&record, line, &mut readings, found);
    }
    Ok(readings)
}

/// The columns that are used.
struct Table {
    device: Vec<(usize, Column)>,
    port: Option<usize>,
    time: Option<usize>,
    /// By adapter: the columns of sent and received data.
    data: Vec<Data>,
}

#[derive(Clone, Copy)]
struct Data {
    of: Option<Adapter>,
    sent: Option<usize>,
    received: Option<usize>,
    width: Width,
}

impl Table {
    fn of(heading: &[String]) -> Result<Self, &'static str> {
        let all: Vec<(usize, Heading)> =
            heading.iter().enumerate().filter_map(|(i, h)| Some((i, known(h)?))).collect();
        let best = |is: &dyn Fn(Column) -> bool, of: Option<Adapter>| {
            let fit = all.iter().filter(|(_, h)| is(h.holds) && h.of == of);
            fit.min_by_key(|(i, h)| (h.rank, *i)).map(|(i, _)| *i)
        };
        let mut device = Vec::new();
        for kind in [Column::Guid, Column::Lid, Column::Name] {
            device.extend(best(&|c| c == kind, None).map(|i| (i, kind)));
        }
        let mut adapters: Vec<Option<Adapter>> = all
            .iter()
            .filter(|(_, h)| matches!(h.holds, Column::Sent(_) | Column::Received(_)))
            .map(|(_, h)| h.of)
            .collect();
        adapters.sort_unstable();
        adapters.dedup();
        let mut data = Vec::new();
        for of in adapters {
            // Bytes where there are any, else words.
            for width in [BYTES, WORDS] {
                let sent = best(&|c| c == Column::Sent(width), of);
                let received = best(&|c| c == Column::Received(width), of);
                if sent.is_some() || received.is_some() {
                    data.push(Data { of, sent, received, width });
                    break;
                }
            }
        }
        let port = best(&|c| c == Column::Port, None);
        let needs_port = data.iter().any(|d| d.of.is_none());
        match () {
            () if device.is_empty() => Err("the GUID, LID or name of who has a port"),
            () if data.is_empty() => Err("what a port sent or received"),
            () if needs_port && port.is_none() => Err("the number of a port"),
            () => Ok(Self { device, port, time: best(&|c| c == Column::Time, None), data }),
        }
    }

    /// Reads a line. Cells that are no numbers are named, and not used; empty ones are counters that a port does not have.
    fn line(
        &self,
        record: &csv::StringRecord,
        line: usize,
        readings: &mut Vec<Reading>,
        found: &mut Diagnostics,
    ) {
        let cell = |i: usize| record.get(i).filter(|c| !c.is_empty());
        let device = self.device.iter().find_map(|&(i, kind)| {
            let text = cell(i)?;
            match kind {
                // Hexadecimal without `0x`, too; decimal if it has more digits than that.
                Column::Guid => {
                    parse_guid(text).map(|g| g.0).or_else(|| number(text)).map(Device::Guid)
                }
                Column::Lid => number(text).and_then(|l| l.try_into().ok()).map(Device::Lid),
                _ => Some(Device::Name(text.to_owned())),
            }
        });
        let Some(device) = device else {
            found.warn(line, "no node has this port", "expected a GUID, LID or name; left out");
            return;
        };
        let time = match self.time.and_then(cell).map(|t| (t, t.parse::<f64>())) {
            Some((_, Ok(time))) if time.is_finite() => Some(time),
            Some((text, _)) => {
                let what = format!("\"{text}\" is no time");
                found.warn(line, what, "expected seconds; the line is left out");
                return;
            }
            None => None,
        };
        for data in &self.data {
            let port = match data.of {
                Some((_, port)) => Some(port),
                None => self.port.and_then(cell).and_then(number).and_then(|p| p.try_into().ok()),
            };
            let Some(port) = port else {
                found.warn(line, "no number of a port", "expected 0 to 254; left out");
                continue;
            };
            let mut value = |i: Option<usize>| {
                let text = i.and_then(cell)?;
                let value = number(text);
                if value.is_none() {
                    let what = format!("\"{text}\" is no count");
                    found.warn(line, what, "expected a whole number from 0; not used");
                }
                value
            };
            let (sent, received) = (value(data.sent), value(data.received));
            if sent.is_none() && received.is_none() {
                found.warn(line, "no counter is a number", "the line is left out");
                continue;
            }
            let device = match (&device, data.of) {
                // The second adapter of a host has no name in such a table: it is identified by its index.
                (Device::Name(name), Some((index, _))) if index > 0 => {
                    Device::Name(format!("{name}/{index}"))
                }
                _ => device.clone(),
            };
            readings.push(Reading { device, port, time, sent, received, width: data.width, line });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_many_tools() {
        let sent = |h: &str| known(h).is_some_and(|k| matches!(k.holds, Column::Sent(_)));
        assert!(
            ["PortXmitData", "port_xmit_data", "xmit_bytes", "ib.port_xmit_data#mlx5_0.1"]
                .iter()
                .all(|h| sent(h))
        );
        assert_eq!(known("#Time").map(|k| k.holds), Some(Column::Time));
        assert_eq!(known("port_xmit_data#mlx5_1.2").and_then(|k| k.of), Some((1, 2)));
        assert_eq!(known("PortXmitPkts").map(|k| k.holds), None);
    }

    fn read(text: &str) -> (Vec<Reading>, Vec<String>) {
        let mut found = Diagnostics::default();
        let readings = of_section(text, 0, Path::new("c.csv"), &mut found).expect("a table");
        (readings, found.0.into_iter().map(|d| format!("{}: {}", d.line, d.what)).collect())
    }

    /// A GUID of decimal digits alone is hexadecimal as the others are.
    #[test]
    fn guids_need_no_prefix() {
        for (text, guid) in [
            ("00005000000100ab", 0x5000_0001_00ab),
            ("0000500000010003", 0x5000_0001_0003),
            ("0x500000010003", 0x5000_0001_0003),
            ("18446744073709551615", u64::MAX),
        ] {
            let (readings, found) = read(&format!("guid,port,xmit_bytes\n{text},9,1000\n"));
            assert!(matches!(readings[..], [Reading { device: Device::Guid(g), .. }] if g == guid));
            assert!(found.is_empty(), "{found:?}");
        }
    }

    #[test]
    fn cells_that_are_no_numbers_are_named() {
        let head = "guid,port,xmit_bytes,rcv_bytes,time\n";
        for cell in ["nan", "-5", "abc", "5e3", "99999999999999999999999"] {
            let (readings, found) = read(&format!("{head}0x1,9,{cell},7000,10\n"));
            assert!(matches!(readings[..], [Reading { sent: None, received: Some(7000), .. }]));
            assert_eq!(found, [format!("2: \"{cell}\" is no count")]);
        }
        assert!(
            read(&format!("{head}0x1,9,,7000,10\n")).1.is_empty(),
            "a counter it does not have"
        );
        let (readings, found) = read(&format!("{head}0x1,9,1,2,nan\n0x1,9,1,2,20\n"));
        assert_eq!((readings.len(), found), (1, vec!["2: \"nan\" is no time".to_owned()]));
    }
}

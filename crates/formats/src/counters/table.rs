//! Tables with a heading: a line for each port and time, or for each host and time with a column group for each port
//! (LDMS).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

use super::reading::{
    CounterForm, Device, Reading, SymbolErrors, WORDS, Width, not_counters, number,
};
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
    SymbolErrors,
}

/// Known headings, reduced to letters and digits, the best first.
const KNOWN: [(&[&str], Column); 10] = [
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
    (
        &["symbolerrorcounter", "symbolerrors", "symbolerror", "symbolerrcnt", "symbolerrs"],
        Column::SymbolErrors,
    ),
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
        let line = before + sheet::line(text, &record);
        table.line(&record, line, &mut readings, found);
    }
    Ok(readings)
}

/// The symbol errors of ports in a table with such a column: of the lines of a port the last in time. What cannot be read is named.
pub(super) fn symbol_errors(text: &str, found: &mut Diagnostics) -> Vec<SymbolErrors> {
    let head = sheet::heading(text);
    let counts = |heading: &str| known(heading).is_some_and(|h| h.holds == Column::SymbolErrors);
    if !head.split(sheet::delimiter(head) as char).any(|cell| counts(cell.trim())) {
        return Vec::new();
    }
    let mut reader = sheet::reader(text).from_reader(text.as_bytes());
    let heading: Vec<String> = match reader.headers() {
        Ok(heading) => heading.iter().map(str::to_owned).collect(),
        Err(_) => return Vec::new(),
    };
    let columns = Columns::of(&heading);
    let ports = Ports::of(&columns);
    let adapters = columns.adapters(|holds| holds == Column::SymbolErrors);
    let counters: Vec<(Option<Adapter>, usize)> = (adapters.into_iter())
        .filter_map(|of| Some((of, columns.best(|c| c == Column::SymbolErrors, of)?)))
        .collect();
    let mut latest: BTreeMap<(Device, u8), (f64, SymbolErrors)> = BTreeMap::new();
    // Lines without a port: of a table that has traffic, too, they are named where that is read.
    let is_told = Table::of(&heading).is_ok();
    let mut without = Diagnostics::default();
    for record in reader.records().flatten() {
        let line = sheet::line(text, &record);
        let Some((device, time)) = ports.owner(&record, line, &mut without) else { continue };
        for &(of, i) in &counters {
            let Some(cell) = record.get(i).filter(|cell| !cell.is_empty()) else { continue };
            let Some(port) = ports.port(&record, of) else {
                without.warn(line, "no number of a port", "expected 0 to 254; left out");
                continue;
            };
            let Some(errors) = number(cell) else {
                let what = format!("\"{cell}\" is no number of symbol errors");
                found.warn(line, what, "expected a whole number from 0; not used");
                continue;
            };
            let (device, time) = (of_adapter(&device, of), time.unwrap_or(f64::NEG_INFINITY));
            let now = SymbolErrors { device: device.clone(), port, errors, line };
            match latest.entry((device, port)) {
                Entry::Vacant(entry) => {
                    entry.insert((time, now));
                }
                Entry::Occupied(mut entry) if entry.get().0 <= time => {
                    entry.insert((time, now));
                }
                Entry::Occupied(_) => {}
            }
        }
    }
    if !is_told {
        found.0.extend(without.0);
        found.0.sort_by_key(|d| d.line);
    }
    let mut all: Vec<SymbolErrors> = latest.into_values().map(|(_, errors)| errors).collect();
    all.sort_by_key(|of| of.line);
    all
}

/// The headings that say something, and their places.
struct Columns(Vec<(usize, Heading)>);

impl Columns {
    fn of(heading: &[String]) -> Self {
        Self(heading.iter().enumerate().filter_map(|(i, h)| Some((i, known(h)?))).collect())
    }

    /// The best column of an adapter, or of none, that holds this.
    fn best(&self, is: impl Fn(Column) -> bool, of: Option<Adapter>) -> Option<usize> {
        let fit = self.0.iter().filter(|(_, h)| is(h.holds) && h.of == of);
        fit.min_by_key(|(i, h)| (h.rank, *i)).map(|(i, _)| *i)
    }

    /// The adapters that have such columns.
    fn adapters(&self, is: impl Fn(Column) -> bool) -> Vec<Option<Adapter>> {
        let mut all: Vec<_> =
            self.0.iter().filter(|(_, h)| is(h.holds)).map(|(_, h)| h.of).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Whose counters a line has, and of when.
struct Ports {
    device: Vec<(usize, Column)>,
    port: Option<usize>,
    time: Option<usize>,
}

impl Ports {
    fn of(columns: &Columns) -> Self {
        let kinds = [Column::Guid, Column::Lid, Column::Name];
        let device = kinds.map(|kind| columns.best(|c| c == kind, None).map(|i| (i, kind)));
        Self {
            device: device.into_iter().flatten().collect(),
            port: columns.best(|c| c == Column::Port, None),
            time: columns.best(|c| c == Column::Time, None),
        }
    }

    /// The device of a line, and its time if the table has any. Lines without a device, or with a time that is none, are named.
    fn owner(
        &self,
        record: &csv::StringRecord,
        line: usize,
        found: &mut Diagnostics,
    ) -> Option<(Device, Option<f64>)> {
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
            return None;
        };
        let time = match self.time.and_then(cell).map(|t| (t, t.parse::<f64>())) {
            Some((_, Ok(time))) if time.is_finite() => Some(time),
            Some((text, _)) => {
                let what = format!("\"{text}\" is no time");
                found.warn(line, what, "expected seconds; the line is left out");
                return None;
            }
            None => None,
        };
        Some((device, time))
    }

    /// The port of an adapter, or that of the line.
    fn port(&self, record: &csv::StringRecord, of: Option<Adapter>) -> Option<u8> {
        match of {
            Some((_, port)) => Some(port),
            None => record.get(self.port?).and_then(number)?.try_into().ok(),
        }
    }
}

/// The device of an adapter: the second one of a host has no name in such a table, and is identified by its index.
fn of_adapter(device: &Device, of: Option<Adapter>) -> Device {
    match (device, of) {
        (Device::Name(name), Some((index, _))) if index > 0 => {
            Device::Name(format!("{name}/{index}"))
        }
        _ => device.clone(),
    }
}

/// The columns that are used.
struct Table {
    ports: Ports,
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
        let columns = Columns::of(heading);
        let ports = Ports::of(&columns);
        let mut data = Vec::new();
        for of in columns.adapters(|c| matches!(c, Column::Sent(_) | Column::Received(_))) {
            // Bytes where there are any, else words.
            for width in [BYTES, WORDS] {
                let sent = columns.best(|c| c == Column::Sent(width), of);
                let received = columns.best(|c| c == Column::Received(width), of);
                if sent.is_some() || received.is_some() {
                    data.push(Data { of, sent, received, width });
                    break;
                }
            }
        }
        let needs_port = data.iter().any(|d| d.of.is_none());
        match () {
            () if ports.device.is_empty() => Err("the GUID, LID or name of who has a port"),
            () if data.is_empty() => Err("what a port sent or received"),
            () if needs_port && ports.port.is_none() => Err("the number of a port"),
            () => Ok(Self { ports, data }),
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
        let Some((device, time)) = self.ports.owner(record, line, found) else { return };
        let cell = |i: usize| record.get(i).filter(|c| !c.is_empty());
        for data in &self.data {
            let Some(port) = self.ports.port(record, data.of) else {
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
            let (device, width) = (of_adapter(&device, data.of), data.width);
            readings.push(Reading { device, port, time, sent, received, width, line });
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
    fn symbol_errors_of_a_table_are_those_that_ports_have_now() {
        let all = |text: &str| {
            let mut found = Diagnostics::default();
            let errors = symbol_errors(text, &mut found);
            let told = found.0.into_iter().map(|d| format!("{}: {}", d.line, d.what));
            (errors, told.collect::<Vec<_>>())
        };
        let table =
            "time;guid;port;SymbolErrorCounter\n2;0x1;3;7\n1;0x1;3;20000\n2;0x2;1;x\n2;0x2;4;5\n";
        let found: Vec<_> = all(table).0.into_iter().map(|s| (s.port, s.errors, s.line)).collect();
        assert_eq!(found, [(3, 7, 2), (4, 5, 5)]);
        assert_eq!(all(table).1, ["4: \"x\" is no number of symbol errors"]);
        let odd = "guid,port,SymbolErrorCounter,time\r\n0x1,5,70000.0,1\r\n0x1,x,3,1\r\n0x1,6,3,noon\r\n0x1,7,3,1\r\n";
        let (found, told) = all(odd);
        assert_eq!((found.len(), found[0].line), (1, 5));
        let lines: Vec<&str> = told.iter().map(|t| &t[..2]).collect();
        assert_eq!(lines, ["2:", "3:", "4:"], "{told:?}");
        let ldms = "#Time,ProducerName,ib.symbol_error#mlx5_1.1\n1,cn7,9\n";
        let found = all(ldms).0;
        assert!(
            matches!(&found[..], [SymbolErrors { device: Device::Name(name), port: 1, errors: 9, .. }] if name == "cn7/1")
        );
        assert!(all("guid,port,xmit_bytes\n0x1,1,5\n").0.is_empty());
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

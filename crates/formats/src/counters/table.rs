//! Tables with a heading: a line for each port and time, or for each host and time with a column group for each port
//! (LDMS).

use std::path::Path;

use super::reading::{CounterForm, Device, Reading, WORDS, Width, not_counters, number};
use crate::foreign::nothing_to_read;
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
                Column::Guid => {
                    number(text).or_else(|| u64::from_str_radix(text, 16).ok()).map(Device::Guid)
                }
                Column::Lid => number(text).and_then(|l| l.try_into().ok()).map(Device::Lid),
                _ => Some(Device::Name(text.to_owned())),
            }
        });
        let Some(device) = device else {
            found.warn(line, "no node has this port", "expected a GUID, LID or name; left out");
            return;
        };
        let time = self.time.and_then(cell).and_then(|t| t.parse().ok());
        for data in &self.data {
            let port = match data.of {
                Some((_, port)) => Some(port),
                None => self.port.and_then(cell).and_then(number).and_then(|p| p.try_into().ok()),
            };
            let Some(port) = port else {
                found.warn(line, "no number of a port", "expected 0 to 254; left out");
                continue;
            };
            let value = |i: Option<usize>| i.and_then(cell).and_then(number);
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
}

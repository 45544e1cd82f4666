//! Metrics of exporters of InfiniBand counters for Prometheus, in the text exposition format.
//!
//! Three families of names are common: those of exporters next to `ibqueryerrors` and `perfquery`
//! (`infiniband_switch_port_transmit_data_bytes_total{guid,port,switch}`, `infiniband_hca_port_...{guid,hca,port,switch}`), those of
//! node_exporter (`node_infiniband_port_data_transmitted_bytes_total{device,port}`, which has the host in the label `instance` once
//! Prometheus has scraped it), which both count bytes, and the counters of `ibqueryerrors` by their own names
//! (`infiniband_portxmitdata_total{local_guid,local_port}`), in words of four bytes.

use std::collections::BTreeMap;

use super::reading::{CounterForm, Device, Reading, SymbolErrors, WORDS, Width, number};
use crate::Diagnostics;

/// Bytes, 64 bits of them.
const BYTES: Width = Width { unit: 1, bits: 64 };

/// What a metric counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counts {
    Sent(Width),
    Received(Width),
    SymbolErrors,
}

/// Metrics by name.
const METRICS: [(&str, Counts); 12] = [
    ("infiniband_switch_port_transmit_data_bytes_total", Counts::Sent(BYTES)),
    ("infiniband_switch_port_receive_data_bytes_total", Counts::Received(BYTES)),
    ("infiniband_switch_port_symbol_error_total", Counts::SymbolErrors),
    ("infiniband_hca_port_transmit_data_bytes_total", Counts::Sent(BYTES)),
    ("infiniband_hca_port_receive_data_bytes_total", Counts::Received(BYTES)),
    ("infiniband_hca_port_symbol_error_total", Counts::SymbolErrors),
    ("node_infiniband_port_data_transmitted_bytes_total", Counts::Sent(BYTES)),
    ("node_infiniband_port_data_received_bytes_total", Counts::Received(BYTES)),
    ("node_infiniband_symbol_error_total", Counts::SymbolErrors),
    ("infiniband_portxmitdata_total", Counts::Sent(WORDS)),
    ("infiniband_portrcvdata_total", Counts::Received(WORDS)),
    ("infiniband_symbolerrorcounter_total", Counts::SymbolErrors),
];

pub(super) const FORM: CounterForm = CounterForm {
    is_such: |text| samples(text).any(|(_, _, counts)| counts != Counts::SymbolErrors),
    read: |text, _, found| Ok(read(text, found)),
};

/// The samples of such metrics: the number of the line, labels with what follows them, and what is counted.
fn samples(text: &str) -> impl Iterator<Item = (usize, &str, Counts)> {
    (1..).zip(text.lines()).filter_map(|(n, line)| {
        METRICS.iter().find_map(|(name, counts)| {
            let rest = line.trim_start().strip_prefix(name)?.trim_start().strip_prefix('{')?;
            Some((n, rest, *counts))
        })
    })
}

/// Whether a text has symbol errors of ports.
pub(super) fn has_symbol_errors(text: &str) -> bool {
    samples(text).any(|(_, _, counts)| counts == Counts::SymbolErrors)
}

/// The symbol errors of ports, in the order of the file.
pub(super) fn symbol_errors(text: &str, found: &mut Diagnostics) -> Vec<SymbolErrors> {
    let of_errors = samples(text).filter(|(_, _, counts)| *counts == Counts::SymbolErrors);
    of_errors
        .filter_map(|(line, rest, _)| {
            let sample = parts(rest);
            if sample.is_none() {
                warn(line, found);
            }
            let (device, port, errors, _) = sample?;
            Some(SymbolErrors { device, port, errors, line })
        })
        .collect()
}

fn warn(line: usize, found: &mut Diagnostics) {
    found.warn(
        line,
        "no sample of a port counter",
        "left out; expected labels guid (or instance and device) and port, and a number",
    );
}

fn read(text: &str, found: &mut Diagnostics) -> Vec<Reading> {
    let mut readings: Vec<Reading> = Vec::new();
    // By port, its readings: several if the file has several scrapes.
    let mut known: BTreeMap<(Device, u8), Vec<usize>> = BTreeMap::new();
    for (n, rest, counts) in samples(text) {
        let (width, sent) = match counts {
            Counts::Sent(width) => (width, true),
            Counts::Received(width) => (width, false),
            Counts::SymbolErrors => continue,
        };
        let Some((device, port, count, time)) = parts(rest) else {
            warn(n, found);
            continue;
        };
        let of_port = known.entry((device.clone(), port)).or_default();
        // Two exporters may count the same: the first one's metrics are taken.
        if of_port.iter().any(|&at| readings[at].width != width) {
            continue;
        }
        let is_open = |r: &Reading| {
            r.time == time && if sent { r.sent.is_none() } else { r.received.is_none() }
        };
        let at = of_port.iter().copied().find(|&at| is_open(&readings[at])).unwrap_or_else(|| {
            let (sent, received) = (None, None);
            readings.push(Reading { device, port, time, sent, received, width, line: n });
            of_port.push(readings.len() - 1);
            readings.len() - 1
        });
        let of = &mut readings[at];
        *(if sent { &mut of.sent } else { &mut of.received }) = Some(count);
    }
    readings
}

/// The device of the port, its number, the count, and the time in seconds.
fn parts(rest: &str) -> Option<(Device, u8, u64, Option<f64>)> {
    let mut labels: BTreeMap<&str, String> = BTreeMap::new();
    let mut rest = rest;
    loop {
        rest = rest.trim_start_matches([',', ' ']);
        if let Some(behind) = rest.strip_prefix('}') {
            rest = behind;
            break;
        }
        let (name, behind) = rest.split_once('=')?;
        let mut value = String::new();
        let mut chars = behind.trim_start().strip_prefix('"')?.char_indices();
        let quoted = behind.trim_start().get(1..)?;
        let end = loop {
            match chars.next()? {
                (at, '"') => break at,
                (_, '\\') => value.push(chars.next()?.1),
                (_, c) => value.push(c),
            }
        };
        labels.insert(name.trim(), value);
        rest = quoted.get(end + 1..)?;
    }
    let label = |name: &str, other: &str| labels.get(name).or_else(|| labels.get(other));
    let port = label("port", "local_port")?.parse().ok()?;
    let device = match (label("guid", "local_guid"), labels.get("instance")) {
        (Some(guid), _) => {
            let guid = if guid.starts_with("0x") { guid.clone() } else { format!("0x{guid}") };
            Device::Guid(number(&guid)?)
        }
        (None, Some(host)) => {
            let host = host.rsplit_once(':').map_or(host.as_str(), |(host, _)| host);
            let index =
                labels.get("device").and_then(|d| d.rsplit('_').next()?.parse::<u32>().ok());
            Device::Name(index.map_or_else(|| host.to_owned(), |i| format!("{host}/{i}")))
        }
        (None, None) => return None,
    };
    let mut words = rest.split_whitespace();
    let value = words.next()?;
    let count = value.parse().ok().or_else(|| whole(value.parse().ok()?))?;
    let time = words.next().and_then(|ms| ms.parse::<f64>().ok()).map(|ms| ms / 1e3);
    Some((device, port, count, time))
}

/// A count that is written as a number with a point or an exponent.
fn whole(value: f64) -> Option<u64> {
    #[expect(clippy::cast_sign_loss, reason = "the range has no sign")]
    (0.0..1.8e19).contains(&value).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_by_the_names_of_ibqueryerrors() {
        let labels = "component=\"switch\",local_guid=\"0x506b4b03005d3101\",local_name=\"s\",local_port=\"2\"";
        let text = format!(
            "infiniband_portrcvdata_total{{{labels}}} 5.1e+012\n\
             infiniband_symbolerrorcounter_total{{{labels}}} 7.0\n"
        );
        let mut found = Diagnostics::default();
        let all = read(&text, &mut found);
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].received, all[0].width.unit), (Some(5_100_000_000_000), 4));
        assert!(has_symbol_errors(&text) && (FORM.is_such)(&text));
        let errors = symbol_errors(&text, &mut found);
        let first = &errors[0];
        assert_eq!((errors.len(), first.port, first.errors, first.line), (1, 2, 7, 2));
        assert_eq!(first.device, Device::Guid(0x506b_4b03_005d_3101));
        assert!(found.0.is_empty());
    }

    #[test]
    fn families_of_names_are_read() {
        let text = "# HELP infiniband_switch_port_transmit_data_bytes_total x\n\
            # TYPE infiniband_switch_port_transmit_data_bytes_total counter\n\
            infiniband_switch_port_transmit_data_bytes_total{guid=\"0x0002c903000a1b2c\",port=\"7\",switch=\"leaf \\\"1\\\", {a}\"} 1.5e+09\n\
            infiniband_switch_port_receive_data_bytes_total{guid=\"0x0002c903000a1b2c\",port=\"7\",switch=\"leaf\"} 12\n\
            infiniband_switch_port_transmit_data_bytes_total{port=\"7\"} 1\n\
            infiniband_switch_port_transmit_packets_total{guid=\"0x1\",port=\"7\"} 9\n\
            node_infiniband_port_data_received_bytes_total{device=\"mlx5_1\",instance=\"cn0001:9100\",port=\"1\"} 44 1700000000123\n\
            infiniband_hca_port_transmit_data_bytes_total{guid=\"0x5\",port=\"1\"} NaN\n";
        let mut found = Diagnostics::default();
        assert!((FORM.is_such)(text) && !(FORM.is_such)("guid,port,xmit_data\n"));
        let all = read(text, &mut found);
        assert_eq!(all.len(), 2);
        assert_eq!((&all[0].device, all[0].port), (&Device::Guid(0x0002_c903_000a_1b2c), 7));
        assert_eq!((all[0].sent, all[0].received), (Some(1_500_000_000), Some(12)));
        assert_eq!(all[1].device, Device::Name("cn0001/1".to_owned()));
        assert_eq!((all[1].received, all[1].time), (Some(44), Some(1_700_000_000.123)));
        assert_eq!(found.0.iter().map(|d| d.line).collect::<Vec<_>>(), [5, 8]);
    }
}

//! Metrics of exporters of InfiniBand counters for Prometheus, in the text exposition format.
//!
//! Two families of names are common: those of exporters next to `ibqueryerrors` and `perfquery`
//! (`infiniband_switch_port_transmit_data_bytes_total{guid,port,switch}`, `infiniband_hca_port_...{guid,hca,port,switch}`), and those of
//! node_exporter (`node_infiniband_port_data_transmitted_bytes_total{device,port}`, which has the host in the label `instance` once
//! Prometheus has scraped it). Both count bytes.

use std::collections::BTreeMap;

use super::reading::{CounterForm, Device, Reading, Width, number};
use crate::Diagnostics;

/// Bytes, 64 bits of them.
const BYTES: Width = Width { unit: 1, bits: 64 };

/// Names of metrics, and whether they count sent bytes.
const METRICS: [(&str, bool); 6] = [
    ("infiniband_switch_port_transmit_data_bytes_total", true),
    ("infiniband_switch_port_receive_data_bytes_total", false),
    ("infiniband_hca_port_transmit_data_bytes_total", true),
    ("infiniband_hca_port_receive_data_bytes_total", false),
    ("node_infiniband_port_data_transmitted_bytes_total", true),
    ("node_infiniband_port_data_received_bytes_total", false),
];

pub(super) const FORM: CounterForm = CounterForm {
    is_such: |text| text.lines().any(|line| sample(line).is_some()),
    read: |text, _, found| Ok(read(text, found)),
};

/// The labels and the rest of a line that is a sample of such a metric, and whether it counts sent bytes.
fn sample(line: &str) -> Option<(&str, bool)> {
    METRICS.iter().find_map(|(name, sent)| {
        let rest = line.trim_start().strip_prefix(name)?.trim_start().strip_prefix('{')?;
        Some((rest, *sent))
    })
}

fn read(text: &str, found: &mut Diagnostics) -> Vec<Reading> {
    let mut readings: Vec<Reading> = Vec::new();
    let mut known: BTreeMap<(Device, u8), usize> = BTreeMap::new();
    for (line, n) in text.lines().zip(1..) {
        let Some((rest, sent)) = sample(line) else { continue };
        let Some((device, port, count, time)) = parts(rest) else {
            found.warn(
                n,
                "no sample of a port counter",
                "left out; expected labels guid (or instance and device) and port, and a number",
            );
            continue;
        };
        let at = *known.entry((device.clone(), port)).or_insert_with(|| {
            let (sent, received) = (None, None);
            readings.push(Reading { device, port, time, sent, received, width: BYTES, line: n });
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
    let port = labels.get("port")?.parse().ok()?;
    let device = match (labels.get("guid"), labels.get("instance")) {
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
    fn both_families_of_names_are_read() {
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

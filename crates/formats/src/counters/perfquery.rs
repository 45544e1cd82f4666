//! Output of `perfquery`: a comment that names the port, then a counter on each line.

use super::reading::{CounterForm, Device, FEW_WORDS, Reading, WORDS, number};
use crate::Diagnostics;

/// Start of the comment before the counters of a port: those of 64 bits, those of 32.
const HEADS: [&str; 2] = ["# Port extended counters:", "# Port counters:"];

/// The form of `perfquery` output.
pub(super) const FORM: CounterForm = CounterForm {
    is_such: |text| text.lines().any(|l| HEADS.iter().any(|head| l.trim_start().starts_with(head))),
    read: |text, _, found| Ok(read(text, found)),
};

fn read(text: &str, found: &mut Diagnostics) -> Vec<Reading> {
    let mut readings: Vec<Reading> = Vec::new();
    let mut all_ports = 0;
    let mut skipping = false;
    for (i, line) in text.lines().enumerate() {
        let line = line.trim();
        let extended = line.strip_prefix(HEADS[0]);
        if let Some(head) = extended.or_else(|| line.strip_prefix(HEADS[1])) {
            let width = if extended.is_some() { WORDS } else { FEW_WORDS };
            // "Lid 2052 port 1 (CapMask: 0x5300 ...)"
            let words: Vec<&str> = head.split_whitespace().collect();
            let after = |name: &str| {
                let at = words.iter().position(|w| w.eq_ignore_ascii_case(name))?;
                words.get(at + 1).and_then(|w| number(w))
            };
            let (lid, port) = (after("lid"), after("port"));
            skipping = true;
            match (lid.and_then(|l| u16::try_from(l).ok()), port.and_then(|p| u8::try_from(p).ok()))
            {
                (_, Some(u8::MAX)) => all_ports += 1,
                (Some(lid), Some(port)) => {
                    skipping = false;
                    let (sent, received) = (None, None);
                    let device = Device::Lid(lid);
                    readings.push(Reading {
                        device,
                        port,
                        time: None,
                        sent,
                        received,
                        width,
                        line: i + 1,
                    });
                }
                _ => found.warn(
                    i + 1,
                    format!("no port in '{line}'"),
                    "expected 'Lid N port N'; its counters are left out",
                ),
            }
            continue;
        }
        let (Some(reading), Some((name, value))) = (readings.last_mut(), line.split_once(':'))
        else {
            continue;
        };
        if skipping {
            continue;
        }
        let slot = match name {
            // The other names are those of older versions.
            "PortXmitData" | "XmtData" | "XmtBytes" => &mut reading.sent,
            "PortRcvData" | "RcvData" | "RcvBytes" => &mut reading.received,
            _ => continue,
        };
        *slot = number(value.trim_start_matches('.'));
        if slot.is_none() {
            found.warn(i + 1, format!("no number in '{line}'"), "the counter is left out");
        }
    }
    // Without data they say nothing of what channels carried.
    readings.retain(|reading| reading.sent.is_some() || reading.received.is_some());
    if all_ports > 0 {
        found.note(
            0,
            format!("{all_ports} sums over all ports of a device"),
            "they say nothing about a channel, and are left out; perfquery -l tells ports apart",
        );
    }
    readings
}

//! ibdiagnet's counters for people (`ibdiagnet2.pm`): a head for each port, then a counter a line.
//!
//! ```text
//! Port=1 Lid=0x00b4 GUID=0xb0cf0e0300d33fc0 Device=54002 Port Name=ib-switch-sequoia/U1/P1/1/1
//! -------------------------------------------------------
//! symbol_error_counter=0x00000000
//! port_xmit_data_extended=0x00000045a9712343
//! port_looping_errors=NA
//! ```
//!
//! Data are in words of four bytes; where a device lacks the counters of 64 bits, those of 32 count.

use super::reading::{CounterForm, Device, FEW_WORDS, Reading, SymbolErrors, WORDS, number};
use crate::guids::parse_guid;

/// The form of these files.
pub(super) const FORM: CounterForm = CounterForm {
    is_such: |text| text.lines().any(|line| head(line).is_some()),
    read: |text, _, _| Ok(ports(text).iter().map(PortCounters::reading).collect()),
};

/// What is read of a port.
struct PortCounters {
    guid: u64,
    port: u8,
    line: usize,
    /// Data sent and received, of 64 bits and of 32.
    data: [Option<u64>; 2],
    few_data: [Option<u64>; 2],
    /// Symbol errors, of 64 bits and of 16. Devices that do not count in the first have 0 there.
    errors: Option<u64>,
    few_errors: Option<u64>,
}

impl PortCounters {
    fn reading(&self) -> Reading {
        let is_wide = self.data.iter().any(Option::is_some);
        let [sent, received] = if is_wide { self.data } else { self.few_data };
        let width = if is_wide { WORDS } else { FEW_WORDS };
        let (device, port, line) = (Device::Guid(self.guid), self.port, self.line);
        Reading { device, port, time: None, sent, received, width, line }
    }
}

/// `Port=1 Lid=0x00b4 GUID=0xb0cf0e0300d33fc0 ...`: the GUID and the port.
fn head(line: &str) -> Option<(u64, u8)> {
    let mut words = line.trim_start().strip_prefix("Port=")?.split_whitespace();
    let port = words.next()?.parse().ok()?;
    let guid = words.find_map(|word| word.strip_prefix("GUID="))?;
    Some((parse_guid(guid)?.0, port))
}

/// All ports, in the order of the file.
fn ports(text: &str) -> Vec<PortCounters> {
    let mut all: Vec<PortCounters> = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        if let Some((guid, port)) = head(text) {
            let (data, few_data) = ([None; 2], [None; 2]);
            let (errors, few_errors) = (None, None);
            all.push(PortCounters { guid, port, line, data, few_data, errors, few_errors });
            continue;
        }
        let (Some(of), Some((name, value))) = (all.last_mut(), text.split_once('=')) else {
            continue;
        };
        let slot = match name.trim() {
            "port_xmit_data_extended" => &mut of.data[0],
            "port_rcv_data_extended" => &mut of.data[1],
            "port_xmit_data" => &mut of.few_data[0],
            "port_rcv_data" => &mut of.few_data[1],
            "symbol_error_counter_extended" => &mut of.errors,
            "symbol_error_counter" => &mut of.few_errors,
            _ => continue,
        };
        // What a device does not have is `NA`.
        *slot = number(value);
    }
    all
}

/// The symbol errors of ports, in the order of the file.
pub(super) fn symbol_errors(text: &str) -> Vec<SymbolErrors> {
    let of = |port: PortCounters| {
        let PortCounters { guid, port, line, errors, few_errors, .. } = port;
        Some(SymbolErrors {
            device: Device::Guid(guid),
            port,
            errors: errors.max(few_errors)?,
            line,
        })
    };
    ports(text).into_iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_counters_go_before_narrow_ones() {
        let text = "---\nPort=1 Lid=0x00b4 GUID=0xb0cf0e0300d33fc0 Device=54002 Port Name=a/U1/P1/1/1\n---\n\
                    symbol_error_counter=0x0000ffff\nport_xmit_data=0xffffffff\nport_rcv_data=0xffffffff\n\
                    port_xmit_data_extended=0x00000045a9712343\nport_rcv_data_extended=0x10\n\
                    symbol_error_counter_extended=0x0000000000012345\nport_looping_errors=NA\n\
                    ---\nPort=2 Lid=0x00b4 GUID=0xb0cf0e0300d33fc0 Device=54002 Port Name=a/U1/P1/1/2\n---\n\
                    symbol_error_counter=0x7\nsymbol_error_counter_extended=0x0\nport_xmit_data=0x20\nport_rcv_data=0x21\nport_xmit_data_extended=NA\n";
        assert!((FORM.is_such)(text));
        let found: Vec<Reading> = ports(text).iter().map(PortCounters::reading).collect();
        let of = |r: &Reading| (r.port, r.sent, r.received, r.width.bits);
        assert_eq!(of(&found[0]), (1, Some(0x45_a971_2343), Some(16), 64));
        assert_eq!(of(&found[1]), (2, Some(32), Some(33), 32));
        let errors: Vec<(u8, u64)> =
            symbol_errors(text).iter().map(|e| (e.port, e.errors)).collect();
        assert_eq!(errors, [(1, 0x1_2345), (2, 7)]);
    }
}

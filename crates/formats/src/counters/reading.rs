//! A reading of a port, and the interface of a form of such files.

use std::fmt;
use std::path::Path;

use crate::{Diagnostics, ReadError};

/// A form of files with counters.
pub(super) struct CounterForm {
    /// Whether a text is of this form.
    pub(super) is_such: fn(&str) -> bool,
    /// Reads it, in the order of the file.
    pub(super) read: fn(&str, &Path, &mut Diagnostics) -> Result<Vec<Reading>, ReadError>,
}

/// Device that has a port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Device {
    /// Any LID of it.
    Lid(u16),
    /// GUID of the node or of the port.
    Guid(u64),
    /// Name of a switch or host.
    Name(String),
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lid(lid) => write!(f, "LID {lid}"),
            Self::Guid(guid) => write!(f, "{guid:#x}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

/// Symbol errors of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolErrors {
    /// Device that has the port.
    pub device: Device,
    /// Number of the port on its device.
    pub port: u8,
    /// Symbols that were no symbols.
    pub errors: u64,
    /// Line in the file, from 1.
    pub line: usize,
}

/// The unit of a counter, and its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    /// Bytes that one count stands for: 4 where the standard counts words.
    pub unit: u64,
    /// Bits, 32 or 64.
    pub bits: u8,
}

/// A reading of a port at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The device that has the port.
    pub device: Device,
    /// Number of the port on its device.
    pub port: u8,
    /// Time in seconds since an arbitrary origin, if it is given.
    pub time: Option<f64>,
    /// Data that it sent, in counts.
    pub sent: Option<u64>,
    /// Data that it received, in counts.
    pub received: Option<u64>,
    /// Unit and width of the counts.
    pub width: Width,
    /// Line in the file, from 1.
    pub line: usize,
}

/// The standard's extended counters: 64 bits of four bytes (InfiniBand Architecture Specification, volume 1, 16.1.4.11).
pub(super) const WORDS: Width = Width { unit: 4, bits: 64 };
/// The standard's first counters: 32 bits of four bytes, which stop at their end (16.1.3.5).
pub(super) const FEW_WORDS: Width = Width { unit: 4, bits: 32 };

/// The error for a file without counters.
pub(super) fn not_counters(path: &Path, what: String) -> ReadError {
    let expected = "port counters: perfquery -x, OpenSM's perfmgr dump, ibdiagnet's db_csv or .pm, Prometheus text, or a table with a heading";
    ReadError::not_such(
        path,
        what,
        expected,
        "a table has columns guid, lid or name; port; xmit_data and rcv_data (words) or xmit_bytes and rcv_bytes; time",
    )
}

/// A whole number, decimal or hexadecimal with `0x`.
pub(super) fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

//! The interface of a format: how its files are recognised, its reader and its writer.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use darkfiber_fabric::{HostId, LinkClass, Role, Topology};

use crate::known_by::{KnownBy, Recognizable};
use crate::{Diagnostics, ReadError};

/// A format, as its own file defines it and [`FORMATS`](crate::FORMATS) lists it.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// The name that users write.
    pub name: &'static str,
    /// Description of such a file, for messages: `line 3 looks like ...`.
    pub what: &'static str,
    /// Its content, for lists; empty for formats that are recognised only to be refused.
    pub summary: &'static str,
    /// Suggestion for such a file where a fabric was wanted, or empty.
    pub hint: &'static str,
    /// Its marks, any of which is enough.
    pub known_by: &'static [KnownBy],
    /// Reader of the format.
    pub read: Reading,
    /// Writer of the format.
    pub write: Writing,
}

/// Reader of a format.
#[derive(Clone, Copy, Debug)]
pub enum Reading {
    /// It holds a fabric, and this reads it.
    Fabric(fn(&Content<'_>) -> Result<(Topology, Diagnostics), ReadError>),
    /// It is related to a fabric: what is wrong with giving such a file, and what to give instead.
    Refused(fn(&str) -> (String, String)),
    /// It is read by this command or option.
    By(&'static str),
    /// There is no reader.
    Never,
}

/// Writer of a format.
#[derive(Clone, Copy, Debug)]
pub enum Writing {
    /// It can hold a fabric.
    Fabric(Writer),
    /// It is written by this command or option.
    By(&'static str),
    /// There is no writer.
    Never,
}

/// Writer of a fabric.
#[derive(Clone, Copy, Debug)]
pub struct Writer {
    /// Writes it, or fails as `out` does.
    pub write: fn(&mut dyn Write, &ToWrite<'_>) -> io::Result<()>,
    /// Endings of file names that select it.
    pub endings: &'static [&'static str],
    /// Properties of a fabric that the format cannot hold, each in a few words.
    pub omits: fn(&Topology) -> Vec<String>,
    /// Whether SLURM reads it, and with it [`ToWrite::nodes`].
    pub for_slurm: bool,
}

/// A file that a fabric is read from.
#[derive(Clone, Copy, Debug)]
pub struct Content<'a> {
    /// All of it, compression undone.
    pub bytes: &'a [u8],
    /// The same; bytes that are not UTF-8 are U+FFFD.
    pub text: &'a str,
    /// The name of the file.
    pub path: &'a Path,
    /// Options for information that is missing in the file.
    pub options: &'a Options,
}

/// A fabric that is to be written.
#[derive(Clone, Copy, Debug)]
pub struct ToWrite<'a> {
    /// The fabric and its shape.
    pub topology: &'a Topology,
    /// By host its name in SLURM, if only hosts known to SLURM are to be written.
    pub nodes: Option<&'a HashMap<HostId, String>>,
}

/// Information that lists of links do not contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Hosts on every switch, if the list has no hosts.
    pub hosts_per_switch: u8,
    /// Class of cables without a label.
    pub class: LinkClass,
}

impl Default for Options {
    fn default() -> Self {
        Self { hosts_per_switch: 1, class: LinkClass::unknown() }
    }
}

impl Format {
    /// A format without signatures, readers and writers; entries add the rest.
    pub const NONE: Self = Self {
        name: "",
        what: "",
        summary: "",
        hint: "",
        known_by: &[],
        read: Reading::Never,
        write: Writing::Never,
    };

    /// Writer of fabrics in it, if it has one.
    pub fn writer(&self) -> Option<&Writer> {
        match &self.write {
            Writing::Fabric(writer) => Some(writer),
            _ => None,
        }
    }

    /// Whether it can be used: some formats are recognised only for better messages.
    pub fn is_used(&self) -> bool {
        !self.summary.is_empty()
    }

    /// Name of its reader, in one word or two: `yes` if it holds a fabric.
    pub fn reader_label(&self) -> &'static str {
        match self.read {
            Reading::Fabric(_) => "yes",
            Reading::By(command) => command,
            Reading::Refused(_) | Reading::Never => "no",
        }
    }

    /// Name of its writer, in one word or two: `yes` if `fabric --to` does.
    pub fn writer_label(&self) -> &'static str {
        match self.write {
            Writing::Fabric(_) => "yes",
            Writing::By(command) => command,
            Writing::Never => "no",
        }
    }
}

darkfiber_fabric::named!(Format, eq);

impl Recognizable for Format {
    fn known_by(&self) -> &[KnownBy] {
        self.known_by
    }
}

/// Losses of formats that have names for the speeds of cables and no other labels.
pub(crate) fn unlabelled(topology: &Topology) -> Vec<String> {
    let fabric = &topology.fabric;
    let mut lost = Vec::new();
    if fabric.classes().iter().any(|class| class.latency_ps > 0) {
        lost.push("latencies of cables".to_owned());
    }
    if fabric.terminals().iter().any(|t| matches!(t.role, Role::Storage | Role::Other)) {
        lost.push("what hosts are for".to_owned());
    }
    lost
}

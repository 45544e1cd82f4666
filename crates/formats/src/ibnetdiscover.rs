//! `ibnetdiscover` topology files, read and written, and the `ibnetdiscover -p` port list.
//!
//! A file is a list of records: `key=value` lines, a node line, and one line for each linked port.
//!
//! ```text
//! vendid=0x2c9
//! devid=0xd2f0
//! sysimgguid=0xb8599f0300fc6de4
//! switchguid=0xb8599f0300fc6de4(b8599f0300fc6de4)
//! Switch  41 "S-b8599f0300fc6de4"   # "MF0;sw95:MQM8700/U1" enhanced port 0 lid 13 lmc 0
//! [3]     "S-0002c903007b78b0"[1]   # "MF0;sw226:SX6036/U1" lid 19 4xFDR
//! [23]    "H-ec0d9a03007d7d0a"[1](ec0d9a03007d7d0a)   # "dcs96 HCA-1" lid 9 4xEDR
//! ```
//!
//! The reader is one pass over the lines and one over the cables, linear in the size of the file. It accepts real
//! files: captured from terminals, with lost tabs and carriage returns, with messages of the tool in between,
//! truncated, and with ends of cables that contradict each other. The input files of the simulator `ibsim`, where
//! nodes have free names, are the same format.
//!
//! Source: the manual page ibnetdiscover(8) and `ibnetdiscover.c` of infiniband-diags.

mod line;
mod ports;
mod read;
mod write;

pub use ports::read_ports;
pub use read::read;
pub use write::write;

use crate::format::{Format, Reading, Writer, Writing, unlabelled};
use crate::known_by::KnownBy;

/// The entry of this format.
pub const FORMAT: Format = Format {
    name: "ibnetdiscover",
    what: "an ibnetdiscover file",
    summary: "output of ibnetdiscover; ibsim net files",
    known_by: &[KnownBy::Line(|l| matches!(line::parse(l), line::Line::Node(_)))],
    read: Reading::Fabric(|c| read(c.text, c.path)),
    write: Writing::Fabric(Writer {
        write: |out, w| write(out, &w.topology.fabric, None),
        endings: &["topo", "net"],
        omits: unlabelled,
        for_slurm: false,
    }),
    ..Format::NONE
};

/// The entry of the port list.
pub const PORT_LIST: Format = Format {
    name: "ibnetdiscover-p",
    what: "a port list of `ibnetdiscover -p`",
    summary: "port list of ibnetdiscover",
    known_by: &[KnownBy::Line(ports::is_port_line)],
    read: Reading::Fabric(|c| read_ports(c.text, c.path)),
    ..Format::NONE
};

//! Readers and writers of text and binary formats.
//!
//! Readers return what they could read plus [`Diagnostic`]s (line, finding, expectation, what to do); they fail only on "this
//! is not such a file". Writers go through [`output::replace`]: a file is written next to its target and renamed, so no reader
//! ever sees a partial one; a set of tables is one [`sets::TableSet`]. Both make each of their steps on a [`disk::Disk`].

pub mod anonymise;
pub mod anynet;
pub mod cables;
pub mod calendar;
pub mod checked;
mod claim;
pub mod codes;
pub mod counters;
pub mod cray;
pub mod db_csv;
pub mod demands;
pub mod detect;
mod diagnostic;
pub mod disk;
pub mod dot;
pub mod edges;
pub mod far;
pub mod fdbs;
mod foreign;
pub mod format;
mod graph_golf;
pub mod guid2lid;
mod guid_word;
pub mod guids;
pub mod hostlist;
pub mod hosts;
mod ibdiagnet;
pub mod iblinkinfo;
pub mod ibnetdiscover;
pub mod input;
pub mod json;
pub mod known_by;
pub mod lft;
pub mod lid_choice;
pub mod manifest;
pub mod named;
pub mod netbench;
pub mod netloc;
pub mod node_names;
pub mod numbers;
pub mod output;
pub mod path_bits;
pub mod places;
pub mod plans;
pub mod qos_policy;
mod records;
pub mod sent;
pub mod sets;
mod sheet;
pub mod sl;
pub mod sl2vl;
pub mod slurm_nodes;
pub mod slurm_topology;
mod speeds;
pub mod subnet_lst;
pub mod tables;
pub mod topology_conf;
pub mod ufm_links;
mod wiring;

pub use detect::{FORMATS, detect, explained, read_fabric};
pub use diagnostic::{Diagnostic, Diagnostics, ReadError, Severity, counted, excerpt};
pub use foreign::nothing_to_read;
pub use format::Format;

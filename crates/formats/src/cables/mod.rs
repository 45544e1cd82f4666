//! Fabrics of Ethernet, of whatever says which port is joined to which: lists of cables, and what neighbours tell each other (LLDP).

mod build;
mod lldp;
pub mod lldp_json;
pub mod lldp_table;
pub mod netbox;
mod ports;
mod sheet;
pub mod sonic;

//! Ethernet fabrics from lists of joined ports: lists of cables, and LLDP neighbours.

mod build;
mod lldp;
pub mod lldp_json;
pub mod lldp_table;
pub mod netbox;
mod ports;
mod sheet;
pub mod sonic;

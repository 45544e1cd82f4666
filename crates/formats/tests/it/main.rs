//! Tests of the readers and writers on real files, on odd ones and on random fabrics.

mod anonymise;
mod corpus;
mod detect;
mod faulty_disk;
mod ibsim;
mod links;
mod port_lists;
mod qos_policy;
mod quirks;
mod real;
mod robust;
mod roundtrip;
mod support;
mod topology_conf;

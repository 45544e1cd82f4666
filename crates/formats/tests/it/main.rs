//! Tests of the readers and writers on real files, on odd ones and on random fabrics.

mod anonymise;
mod chakra;
mod corpus;
mod detect;
mod faulty_disk;
mod ibsim;
mod jobs;
mod links;
mod qos_policy;
mod quirks;
mod real;
mod robust;
mod roundtrip;
mod schedules;
mod spoilt_schedules;
mod support;
mod topology_conf;
mod torch;

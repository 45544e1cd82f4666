//! Lists of jobs, hostlists, topology.conf: no panic, and what is written is read again.
#![no_main]

use std::io::BufReader;
use std::path::Path;

use darkfiber_traces::jobs::{self, LOGS};
use darkfiber_formats::{hostlist, topology_conf};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let path = Path::new("fuzz");
    let _ = jobs::detect(&text);
    for log in &LOGS {
        let mut nodes = 0;
        let _ = log.jobs(&mut BufReader::new(data), path, &mut |record| {
            nodes += record.nodes.map_or(0, |names| names.len());
        });
    }
    if let Ok(names) = hostlist::expand(&text) {
        let again = hostlist::expand(&hostlist::compress(&names)).expect("what was written");
        assert_eq!(again.len(), names.len());
    }
    let _ = topology_conf::read(&text, path);
});

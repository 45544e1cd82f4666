//! Schedules, traces and matrices: no panic, and schedules are written and read again.
#![no_main]

use std::path::{Path, PathBuf};

use darkfiber_traces::schedules::{self, FORMS, File, Options, Read, detect, goal};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let path = Path::new("fuzz");
    let _ = detect(data);
    for kind in &FORMS {
        let file = File { path: PathBuf::from("fuzz-0"), bytes: data.to_vec() };
        match schedules::read(vec![(kind, file)], path, &Options::default()) {
            Ok((Read::Schedule(schedule), _)) => {
                let mut out = Vec::new();
                goal::write(&mut out, &schedule).expect("memory");
                let (again, _) = goal::read(&out, path).expect("what was written");
                assert_eq!(again.len(), schedule.len());
            }
            Ok((Read::Trace(trace), _)) => {
                let _ = trace.schedule(&mut |_, _| {});
            }
            _ => {}
        }
    }
});

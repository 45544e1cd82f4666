//! Edge lists: no panic, and what is read can be written.
#![no_main]

use std::path::Path;

use darkfiber_formats::edges::{self, Options};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let options = Options::default();
    if let Ok((topology, _)) = edges::read(&text, Path::new("fuzz"), &options) {
        let mut out = Vec::new();
        edges::write(&mut out, &topology.fabric).expect("memory");
    }
});

//! The native format: no panic, and what is read is written and read back equal.
#![no_main]

use std::path::Path;

use darkfiber_formats::json;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    if let Ok(topology) = json::read(&text, Path::new("fuzz")) {
        let mut out = Vec::new();
        json::write(&mut out, &topology).expect("memory");
        let again = String::from_utf8(out).expect("text");
        let again = json::read(&again, Path::new("fuzz")).expect("what was written");
        assert_eq!(again, topology);
    }
});

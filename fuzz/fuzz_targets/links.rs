//! Link lists of simulators and of Cray: no panic. Binary networks are cut in the middle.
#![no_main]

use std::path::Path;

use darkfiber_formats::edges::Options;
use darkfiber_formats::{codes, cray, netbench};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let path = Path::new("fuzz");
    let options = Options::default();
    let text = String::from_utf8_lossy(data);
    let _ = cray::read(&text, path);
    let _ = netbench::read(&text, path, &options);
    let (inter, intra) = data.split_at(data.len() / 2);
    let _ = codes::assemble((inter, path), (intra, path), &options);
});

//! Port counters, records of what was sent, columns of numbers: no panic, and totals of what is read twice.
#![no_main]

use std::path::Path;

use darkfiber_fabric::{Fabric, open};
use darkfiber_formats::places::{Aliases, Places};
use darkfiber_formats::{counters, numbers, sent};
use libfuzzer_sys::fuzz_target;

thread_local! {
    static FABRIC: Fabric = open("kary:k=2,n=2").expect("a spec").fabric;
}

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let path = Path::new("fuzz");
    FABRIC.with(|fabric| {
        let places = Places::new(fabric, Aliases::new());
        if let Ok((readings, _)) = counters::read(&text, path) {
            let files = [(path, readings.as_slice()), (path, readings.as_slice())];
            let _ = counters::window(fabric, None, &places, &files);
        }
        let _ = sent::read(&text, path, &places);
        let _ = numbers::columns(&text, path, &["port", "time"]);
    });
});

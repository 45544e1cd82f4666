//! See `bodies.rs`; with a limit that is met soon.
#![no_main]

#[path = "../bodies.rs"]
#[allow(dead_code, reason = "other targets use the rest")]
mod bodies;

libfuzzer_sys::fuzz_target!(
    init: darkfiber_formats::input::set_limit(1 << 20),
    |data: &[u8]| bodies::packed(data)
);

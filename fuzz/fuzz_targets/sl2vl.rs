//! See `bodies.rs`.
#![no_main]

#[path = "../bodies.rs"]
#[allow(dead_code, reason = "other targets use the rest")]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::sl2vl(data));

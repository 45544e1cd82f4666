//! Sizes, times and shares in specs.

use darkfiber_fabric::{Params, SpecError};

use crate::quantity;

/// The most bytes of a message or vector: a tebibyte.
const MOST_BYTES: u64 = 1 << 40;

/// The longest time, in picoseconds: a hundred hours leave headroom to add many of them up.
const MOST_TIME: u64 = 360_000_000_000_000_000;

/// Bytes: `64`, `64KiB`, `1MB`, `0.5GiB`.
pub(super) fn size(params: &Params, key: &'static str, default: u64) -> Result<u64, SpecError> {
    let Some(text) = params.raw(key) else {
        return Ok(default);
    };
    let bytes = quantity::bytes(text).ok().filter(|&bytes| bytes <= MOST_BYTES);
    bytes.ok_or_else(|| params.bad(key, "bytes, at most 1TiB, e.g. 64, 64KiB, 1MiB, 0.5GiB"))
}

/// Picoseconds: `1us`, `100ms`, `0.1s`.
pub(super) fn time(params: &Params, key: &'static str, default: u64) -> Result<u64, SpecError> {
    let Some(text) = params.raw(key) else {
        return Ok(default);
    };
    let time = quantity::time(text).ok().filter(|&time| time <= MOST_TIME);
    time.ok_or_else(|| {
        params.bad(key, "a time of at most 100h with its unit, e.g. 1us, 100ms, 0.1s")
    })
}

/// Maximum number of repeats: beyond, 64-bit clocks overflow, and the run would not end in reasonable time.
pub(super) const MOST_TIMES: u32 = 10_000_000;

/// Number of repetitions, at least one.
pub(super) fn count(params: &Params, key: &'static str, default: u32) -> Result<u32, SpecError> {
    Ok(params.get(key, 1..=MOST_TIMES)?.unwrap_or(default))
}

/// A share, above 0 and below 1.
pub(super) fn share(params: &Params, key: &'static str, default: f64) -> Result<f64, SpecError> {
    let Some(text) = params.raw(key) else {
        return Ok(default);
    };
    match text.parse::<f64>() {
        Ok(value) if (0.001..=0.999).contains(&value) => Ok(value),
        _ => Err(params.bad(key, "a share from 0.001 to 0.999")),
    }
}

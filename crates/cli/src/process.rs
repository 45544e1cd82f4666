//! Resources used by this process so far, where the system reports them.

use std::fs;

use darkfiber_scenario::memory;

/// Processor time in seconds.
pub(crate) fn processor_seconds() -> Option<f64> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    // Behind the name, which may have blanks: user and system time are the 14th and 15th of all fields, in hundredths.
    let behind = text.rsplit_once(')')?.1;
    let mut fields = behind.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<f64>().ok()? + fields.next()?.parse::<f64>().ok()?;
    Some(ticks / 100.0)
}

/// Has the system count the most memory from now on.
pub(crate) fn forget_most_memory() {
    let _not_everywhere = fs::write("/proc/self/clear_refs", "5");
}

/// The most memory since then, in bytes.
pub(crate) fn most_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    memory::amount(&text, "VmHWM:")
}

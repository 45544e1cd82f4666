//! Memory that is free.

use std::fs;

use thiserror::Error;

/// More memory than is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{} of memory, and {} are free", size(*bytes as f64), size(*free as f64))]
pub struct Shortage {
    /// Bytes that are needed.
    pub bytes: u128,
    /// Bytes that are free.
    pub free: u64,
}

fn size(bytes: f64) -> String {
    match bytes {
        b if b >= 1e9 => format!("{:.1} GB", b / 1e9),
        b => format!("{:.0} MB", (b / 1e6).ceil()),
    }
}

/// Whether this many bytes are free, as far as that is known.
///
/// # Errors
/// If fewer are.
pub fn expect(bytes: u128) -> Result<(), Shortage> {
    match free() {
        Some(free) if bytes > u128::from(free) => Err(Shortage { bytes, free }),
        _ => Ok(()),
    }
}

/// Bytes of memory that this process can still allocate: those that the system reports as available, or the rest of its
/// control group (version 2) or half the rest of its address space (`ulimit -v`), if that is less; `None` where none is known.
pub fn free() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok();
    let system = text.as_deref().and_then(|text| amount(text, "MemAvailable:"));
    let number = |name: &str| {
        let text = fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?;
        text.trim().parse::<u64>().ok()
    };
    let group = number("memory.max")
        .zip(number("memory.current"))
        .map(|(most, now)| most.saturating_sub(now));
    let limits = fs::read_to_string("/proc/self/limits").ok();
    let status = fs::read_to_string("/proc/self/status").ok();
    let now = status.as_deref().and_then(|text| amount(text, "VmSize:"));
    let space = limits
        .as_deref()
        .and_then(address_space)
        .zip(now)
        // Lists that grow by doubling take up to twice as much of it as of memory.
        .map(|(most, now)| most.saturating_sub(now) / 2);
    [system, group, space].into_iter().flatten().min()
}

/// The limit of the address space in `/proc/self/limits`, in bytes; `None` if there is none.
fn address_space(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// An amount of memory as files below `/proc` have it (`MemAvailable:  20971520 kB`), in bytes.
pub fn amount(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortage_has_both_numbers() {
        let shortage = Shortage { bytes: 43_000_000_000, free: 20 << 30 };
        assert_eq!(shortage.to_string(), "43.0 GB of memory, and 21.5 GB are free");
        assert!(expect(1).is_ok());
        assert!(free().is_none() || expect(u128::MAX).is_err());
    }

    #[test]
    fn amounts_are_read_from_lines_in_kibibytes() {
        let text = "MemTotal:       25165824 kB\nMemFree: 1 kB\nMemAvailable:   20971520 kB\n";
        assert_eq!(amount(text, "MemAvailable:"), Some(20 << 30));
        assert_eq!(amount("MemTotal: 1 kB\n", "MemAvailable:"), None);
    }

    #[test]
    fn limits_of_the_address_space_are_read() {
        let line = |limit: &str| {
            format!(
                "Max stack size  8388608  unlimited  bytes\nMax address space  {limit}  bytes\n"
            )
        };
        assert_eq!(address_space(&line("5120000000  unlimited")), Some(5_120_000_000));
        assert_eq!(address_space(&line("unlimited   unlimited")), None);
    }
}

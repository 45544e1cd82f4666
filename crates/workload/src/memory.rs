//! Memory that is free.

use std::fs;

/// Bytes of memory that this process can still allocate: those that the system reports as available, or the rest of its
/// control group (version 2), if that is less; `None` where neither is known.
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
    [system, group].into_iter().flatten().min()
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
    fn amounts_are_read_from_lines_in_kibibytes() {
        let text = "MemTotal:       25165824 kB\nMemFree: 1 kB\nMemAvailable:   20971520 kB\n";
        assert_eq!(amount(text, "MemAvailable:"), Some(20 << 30));
        assert_eq!(amount("MemTotal: 1 kB\n", "MemAvailable:"), None);
    }
}

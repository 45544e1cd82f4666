//! Whether the machine has the memory that something takes.

use std::fs;

use darkfiber_fabric::Fabric;

use crate::Error;

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

/// Refuses an operation that does not fit into memory, before it starts; `what` describes it.
///
/// # Errors
/// If less memory is free.
pub fn expect(bytes: u128, what: impl FnOnce() -> String) -> Result<(), Error> {
    match free() {
        Some(free) if bytes > u128::from(free) => Err(does_not_fit(bytes, free, &what())),
        _ => Ok(()),
    }
}

fn does_not_fit(bytes: u128, free: u64, what: &str) -> Error {
    let gb = |bytes: f64| format!("{:.1} GB", bytes / 1e9);
    Error::infeasible(format!(
        "{what} take {} of memory, and {} are free",
        gb(bytes as f64),
        gb(free as f64)
    ))
}

/// Bytes of the tables of a fabric: an entry for each switch and destination. Rows of several LIDs a port may be shared, so that
/// these do not count.
pub fn of_tables(fabric: &Fabric) -> u128 {
    let (terminals, switches) = (fabric.terminal_count() as u128, fabric.switch_count() as u128);
    (terminals + switches) * switches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_both_numbers() {
        let text = "MemTotal:       25165824 kB\nMemFree: 1 kB\nMemAvailable:   20971520 kB\n";
        assert_eq!(amount(text, "MemAvailable:"), Some(20 << 30));
        assert_eq!(amount("MemTotal: 1 kB\n", "MemAvailable:"), None);
        let error = does_not_fit(43_000_000_000, 20 << 30, "tables of 9 switches");
        let text = "tables of 9 switches take 43.0 GB of memory, and 21.5 GB are free";
        assert_eq!(error.to_string(), text);
        assert!(expect(1, String::new).is_ok());
        if free().is_some() {
            assert!(expect(u128::MAX, || "all".to_owned()).is_err());
        }
    }

    #[test]
    fn tables_have_an_entry_for_each_switch_and_destination() {
        let fabric = darkfiber_fabric::open("fattree2:n=4,m=4,r=4").expect("a spec").fabric;
        assert_eq!(of_tables(&fabric), (16 + 8) * 8);
    }
}

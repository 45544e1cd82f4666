//! Whether the machine has the memory that something takes.

use darkfiber_fabric::Fabric;
pub use darkfiber_workload::memory::{amount, free};

use crate::Error;

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
    let size = |bytes: f64| match bytes {
        b if b >= 1e9 => format!("{:.1} GB", b / 1e9),
        b => format!("{:.0} MB", (b / 1e6).ceil()),
    };
    Error::infeasible(format!(
        "{what} take {} of memory, and {} are free",
        size(bytes as f64),
        size(free as f64)
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

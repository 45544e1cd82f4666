//! Symbol errors of ports: the output of tools, and the cables that are bad by it.

use std::fs;
use std::path::{Path, PathBuf};

use darkfiber_fabric::{Fabric, Faults, SYMBOL_ERRORS_OF_A_BAD_CABLE};
use darkfiber_formats::counters::symbol_errors::{bad, is_such, read};
use darkfiber_formats::{Diagnostics, Severity, ibnetdiscover};
use proptest::prelude::*;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/counters").join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(data(name)).expect("it is there")
}

fn fabric() -> Fabric {
    ibnetdiscover::read(&text("fabric.topo"), &data("fabric.topo")).expect("of its form").0.fabric
}

fn found(fabric: &Fabric, text: &str, most: u64) -> Result<(Faults, Diagnostics), String> {
    let path = Path::new("counters");
    let (counted, mut all) = read(text, path).map_err(|e| e.to_string())?;
    let (faults, more) = bad(fabric, None, &counted, most, path).map_err(|e| e.to_string())?;
    all.0.extend(more.0);
    Ok((faults, all))
}

/// Cables by the names of their switches, and hosts.
fn names(fabric: &Fabric, faults: &Faults) -> Vec<String> {
    let name = |s| fabric.switch(s).description.clone();
    let cable = |&c: &_| format!("{} {}", name(fabric.tail(c)), name(fabric.head(c)));
    let host = |&t: &_| fabric.host(fabric.host_of(t)).name.clone();
    faults.links.iter().map(cable).chain(faults.terminals.iter().map(host)).collect()
}

#[test]
fn what_tools_print() {
    let fabric = fabric();
    let report = text("ibqueryerrors.txt");
    assert!(is_such(&report) && is_such(&text("perfquery-errors.txt")));
    assert!(!is_such("0x500000010001 5\n# a cable\n0x500000010002\n"));
    let (faults, said) = found(&fabric, &report, SYMBOL_ERRORS_OF_A_BAD_CABLE).expect("a report");
    // 10,000 are not more than 10,000.
    assert_eq!(names(&fabric, &faults), ["leaf001 spine001", "cn0007"]);
    let said: Vec<String> = said.0.iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].starts_with("note: 2 sums over all ports"), "{said:?}");
    assert!(said[1].starts_with("line 4: note: 2 cables with more than 10000"), "{said:?}");
    let (faults, _) = found(&fabric, &report, 9_999).expect("a report");
    assert_eq!(names(&fabric, &faults), ["leaf001 spine001", "leaf002 spine002", "cn0007"]);
    // The 16-bit counter is at its maximum: the true value is unknown.
    let (faults, said) = found(&fabric, &report, 70_000).expect("a report");
    assert!(faults.is_empty());
    assert!(said.0.iter().any(|d| d.line == 4 && d.severity == Severity::Warning), "{said:?}");
    // By LID, from either end; a good port at the other one.
    let query = text("perfquery-errors.txt");
    let (faults, _) = found(&fabric, &query, SYMBOL_ERRORS_OF_A_BAD_CABLE).expect("ports");
    assert_eq!(names(&fabric, &faults), ["leaf001 spine001", "cn0003"]);
}

#[test]
fn what_is_odd_is_said_with_its_line() {
    let fabric = fabric();
    let text = "Errors for 0x1 \"x\"\n\
                \x20  GUID 0x500000010001 port 5: [SymbolErrorCounter == many]\n\
                \x20  GUID 0x77 port 1: [SymbolErrorCounter == 20000]\n\
                \x20  GUID 0x500000010002 port 5: [SymbolErrorCounter == 20000]\n";
    let (faults, said) = found(&fabric, text, SYMBOL_ERRORS_OF_A_BAD_CABLE).expect("a report");
    assert_eq!(names(&fabric, &faults), ["leaf002 spine001"]);
    let lines: Vec<usize> = said.0.iter().map(|d| d.line).collect();
    assert_eq!(lines, [2, 3, 4], "{said:?}");
    let other = "   GUID 0x77 port 1: [SymbolErrorCounter == 20000]\n";
    let error = found(&fabric, other, 1).expect_err("of another fabric");
    assert!(error.contains("1 of 1 ports are not in the fabric, the first on line 1"), "{error}");
    // The output of -x has none of them.
    let without = fs::read_to_string(data("perfquery-before.txt")).expect("it is there");
    let error = found(&fabric, &without, 1).expect_err("other counters");
    assert!(error.contains("none of 24 ports has SymbolErrorCounter"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// No text panics, and a line reports only cables that are in it.
    #[test]
    fn any_text_is_read_or_refused(
        lines in prop::collection::vec("(GUID 0x50000001000[12] port [0-9]{1,3}: )?(\\[SymbolErrorCounter ?== ?[0-9x]{0,22}\\]?)?.{0,8}", 0..12),
        most in any::<u64>(),
    ) {
        let fabric = fabric();
        if let Ok((faults, _)) = found(&fabric, &lines.join("\n"), most) {
            prop_assert!(faults.switches.is_empty());
            prop_assert!(faults.links.len() + faults.terminals.len() <= lines.len());
        }
    }
}

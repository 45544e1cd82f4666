//! The corpus of the fuzz target runs through the code of the target.

use std::path::Path;

#[path = "../../../../fuzz/scenario.rs"]
mod scenario;

#[test]
fn corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/scenario");
    let entries = std::fs::read_dir(folder).expect("a corpus");
    let files = entries.map(|entry| entry.expect("an entry").path());
    let count = files.map(|path| scenario::scenario(&std::fs::read(path).expect("a file"))).count();
    assert!(count >= 8, "{count}");
}

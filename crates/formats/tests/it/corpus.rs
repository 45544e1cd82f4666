//! The corpora of the fuzz targets run through the code of the targets.

use std::path::Path;

use crate::robust::try_all;

#[path = "../../../../fuzz/bodies.rs"]
mod bodies;

/// Calls `body` with every input of a corpus; how many there are.
fn each(target: &str, body: impl Fn(&[u8])) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = std::fs::read_dir(folder).expect("a corpus");
    entries
        .map(|entry| body(&std::fs::read(entry.expect("an entry").path()).expect("a file")))
        .count()
}

#[test]
fn fabrics() {
    let targets = ["ibnetdiscover", "edges", "json", "links"];
    let read = |bytes: &[u8]| try_all(&String::from_utf8_lossy(bytes));
    let files: usize = targets.into_iter().map(|target| each(target, read)).sum();
    assert!(files >= 44, "{files}");
}

#[test]
fn all_else() {
    for (target, body) in bodies::BODIES {
        assert!(each(target, body) >= 3, "{target}");
    }
}

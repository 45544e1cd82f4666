//! The corpora of the fuzz targets go through the readers.

use std::path::Path;

use crate::robust::try_all;

#[test]
fn replay() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut files = 0;
    for target in ["ibnetdiscover", "edges", "json", "links"] {
        let entries = std::fs::read_dir(folder.join(target)).expect("a corpus");
        for entry in entries {
            let path = entry.expect("an entry").path();
            let bytes = std::fs::read(&path).expect("a file");
            try_all(&String::from_utf8_lossy(&bytes));
            files += 1;
        }
    }
    assert!(files >= 44, "{files}");
}

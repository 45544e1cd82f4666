//! The wheel of the Python package, by maturin.

use std::fs;
use std::path::{Path, PathBuf};

use super::programs::{has, output};

/// Maximum size of the wheel, in bytes.
const MOST_BYTES: u64 = 10_000_000;

/// Builds the wheel, and prints its size; returns whether that is within bounds. None where maturin is missing.
pub(super) fn build(root: &Path, out: &Path) -> Result<Option<(PathBuf, bool)>, String> {
    if !has("maturin") {
        println!("skipped: the wheel for Python (maturin is missing: pip install maturin)");
        return Ok(None);
    }
    let folder = out.join("wheels");
    let _none_is_there = fs::remove_dir_all(&folder);
    let to = folder.display().to_string();
    let _said =
        output("maturin", &["build", "--locked", "--out", &to], Some(&root.join("crates/py")))?;
    let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let built = entries.flatten().map(|e| e.path()).next();
    let built = built.ok_or("maturin built no wheel")?;
    let wheel = out.join(built.file_name().unwrap_or_default());
    fs::rename(&built, &wheel).map_err(|e| format!("{}: {e}", wheel.display()))?;
    fs::remove_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let bytes = fs::metadata(&wheel).map_err(|e| e.to_string())?.len();
    if bytes > MOST_BYTES {
        println!("the wheel is too large: {bytes} bytes, and {MOST_BYTES} at most");
    }
    Ok(Some((wheel, bytes <= MOST_BYTES)))
}

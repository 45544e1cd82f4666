//! Files that appear whole or not at all.

use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes a file beside its target and renames it into place. A target that ends in `.gz` or `.zst` is
/// compressed.
///
/// # Errors
/// Whatever the operating system or `write` says; then the target is as it was.
pub fn replace(
    target: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".darkfiber-").tempfile_in(folder)?;
    match target.extension().and_then(|e| e.to_str()) {
        Some("gz") => {
            let level = flate2::Compression::default();
            let mut out = flate2::write::GzEncoder::new(BufWriter::new(file.as_file_mut()), level);
            write(&mut out)?;
            out.finish()?.flush()?;
        }
        Some("zst") => {
            let mut out = zstd::stream::write::Encoder::new(BufWriter::new(file.as_file_mut()), 3)?;
            write(&mut out)?;
            out.finish()?.flush()?;
        }
        _ => {
            let mut out = BufWriter::new(file.as_file_mut());
            write(&mut out)?;
            out.flush()?;
        }
    }
    // Temporary files are private; the result should have the permissions of any new file.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(target).map_or(0o644, |m| m.permissions().mode());
        file.as_file().set_permissions(std::fs::Permissions::from_mode(mode))?;
    }
    file.persist(target).map_err(|e| e.error)?;
    Ok(())
}

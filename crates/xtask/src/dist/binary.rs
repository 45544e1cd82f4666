//! The program for one platform: built, stripped of debug information, and checked: its size, and its requirements on
//! glibc.

use std::fs;
use std::path::{Path, PathBuf};

use super::programs::{output, succeed};

/// Defined for the C code of zstandard: without the ways to compress that only levels above ours take (`lib/README.md` of zstandard,
/// "Modular build"). All levels are read, and the missing ones would be written with the next one that is there.
const ZSTD_DEFINES: [&str; 6] = ["GREEDY", "LAZY", "LAZY2", "BTLAZY2", "BTOPT", "BTULTRA"];

/// The platform of a build.
pub(super) struct Platform {
    /// The target, as rustc calls it.
    pub(super) target: String,
    /// Whether the C library is linked into it, so that it needs only the kernel of the system.
    pub(super) is_static: bool,
}

impl Platform {
    /// Name of the platform in file names. All static programs run anywhere, whichever C library they hold.
    pub(super) fn name(&self) -> String {
        let architecture = self.target.split('-').next().unwrap_or_default();
        if self.is_static { format!("{architecture}-linux-static") } else { self.target.clone() }
    }

    /// The folder that cargo builds in. Different linker flags would invalidate existing builds.
    fn folder(&self, root: &Path) -> PathBuf {
        root.join(if self.is_static { "target/static" } else { "target" })
    }
}

/// A program that was built.
pub(super) struct Binary {
    /// Platform that it runs on.
    pub(super) platform: Platform,
    /// The file, without debug information.
    pub(super) program: PathBuf,
    debug: PathBuf,
}

impl Binary {
    /// Builds it with profile `dist`.
    pub(super) fn build(root: &Path, platform: Platform) -> Result<Self, String> {
        let target = &platform.target;
        let folder = platform.folder(root);
        let target_folder = folder.display().to_string();
        // Whoever holds all that it needs can stand at one place, and is smaller so.
        let linked = format!(
            "target.{target}.rustflags=[\"-C\", \"target-feature=+crt-static\", \"-C\", \"relocation-model=static\"]"
        );
        let mut args = vec!["rustc", "--profile", "dist", "--locked", "-p", "darkfiber"];
        args.extend(["--bin", "darkfiber", "--target", target, "--target-dir", &target_folder]);
        if platform.is_static {
            args.extend(["--config", &linked]);
        }
        let defines = ZSTD_DEFINES.map(|way| format!("-DZSTD_EXCLUDE_{way}_BLOCK_COMPRESSOR"));
        let defines = format!("env.CFLAGS=\"{}\"", defines.join(" "));
        args.extend(["--config", &defines]);
        // Functions with the same instructions are kept once, as nothing compares their addresses. Rust links by LLD here.
        if target.starts_with("x86_64-") {
            args.extend(["--", "-C", "link-arg=-Wl,--icf=all"]);
        }
        succeed(env!("CARGO"), &args, Some(root))?;
        let folder = folder.join(target).join("dist");
        Self::apart(&folder.join("darkfiber"), &folder, platform)
    }

    /// Moves its debug information into a file next to it.
    pub(super) fn apart(built: &Path, folder: &Path, platform: Platform) -> Result<Self, String> {
        let built = built.display().to_string();
        let debug = folder.join("darkfiber.debug");
        let program = folder.join("stripped/darkfiber");
        fs::create_dir_all(folder.join("stripped")).map_err(|e| e.to_string())?;
        let (debug_name, program_name) =
            (debug.display().to_string(), program.display().to_string());
        let _none_is_there = fs::remove_file(&debug);
        succeed(
            "objcopy",
            &["--only-keep-debug", "--compress-debug-sections", &built, &debug_name],
            None,
        )?;
        // A debugger finds one by the name and checksum in the other.
        succeed(
            "objcopy",
            &["--strip-all", &format!("--add-gnu-debuglink={debug_name}"), &built, &program_name],
            None,
        )?;
        Ok(Self { platform, program, debug })
    }

    /// Prints its size and requirements; returns whether they are within bounds.
    pub(super) fn judge(&self, most: u64, newest: (u32, u32)) -> Result<bool, String> {
        let bytes = fs::metadata(&self.program).map_err(|e| e.to_string())?.len();
        let needs = self.glibc()?;
        let text = needs.map_or_else(
            || "no shared library".to_owned(),
            |(major, minor)| format!("glibc {major}.{minor}"),
        );
        println!("{}: {bytes} bytes, needs {text}", self.platform.name());
        let is_small = bytes <= most;
        let is_old = needs.is_none_or(|needs| needs <= newest);
        if !is_small {
            println!("too large: {most} bytes at most");
        }
        if !is_old {
            println!("needs a newer glibc than {}.{}", newest.0, newest.1);
        }
        Ok(is_small && is_old)
    }

    /// The newest version of glibc whose symbols it uses; none where it uses no shared library.
    pub(super) fn glibc(&self) -> Result<Option<(u32, u32)>, String> {
        let path = self.program.display().to_string();
        let text = output("objdump", &["-p", &path], None)?;
        Ok(newest_glibc(&text))
    }

    /// The debug information, in `out`.
    pub(super) fn debug_file(&self, out: &Path) -> Result<PathBuf, String> {
        let to = out.join(format!("darkfiber-{}.debug", self.platform.name()));
        fs::copy(&self.debug, &to).map_err(|e| format!("{}: {e}", to.display()))?;
        Ok(to)
    }
}

/// The newest version in the list of required ones of `objdump -p`.
fn newest_glibc(text: &str) -> Option<(u32, u32)> {
    let versions = text.split_whitespace().filter_map(|word| word.strip_prefix("GLIBC_"));
    let number = |version: &str| {
        let mut parts = version.split('.').map(str::parse);
        Some((parts.next()?.ok()?, parts.next()?.ok()?))
    };
    versions.filter_map(number).max()
}

#[cfg(test)]
mod tests {
    use super::newest_glibc;

    #[test]
    fn versions_are_numbers_and_not_words() {
        let text = "  required from libc.so.6:\n    0x069691b4 0x00 10 GLIBC_2.34\n    0x0 0x00 09 GLIBC_2.9\n";
        assert_eq!(newest_glibc(text), Some((2, 34)));
        assert_eq!(newest_glibc("Program Header:"), None);
    }
}

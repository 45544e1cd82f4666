//! Paths of the tools, or the name of a missing one.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The simulator, the subnet manager and the program that reads tables back.
pub(crate) struct Tools {
    pub(crate) ibsim: PathBuf,
    pub(crate) opensm: PathBuf,
    pub(crate) dump_fts: PathBuf,
    /// Preloaded, it connects programs that speak to a host adapter with ibsim.
    pub(crate) umad2sim: PathBuf,
}

impl Tools {
    /// All tools, or `None` after reporting the missing ones.
    pub(crate) fn find() -> Option<Self> {
        Some(Self {
            ibsim: program("ibsim")?,
            opensm: program("opensm")?,
            dump_fts: program("dump_fts")?,
            umad2sim: umad2sim()?,
        })
    }
}

/// The plugin of OpenSM, built into a folder; `None` after reporting its requirements.
pub(crate) fn plugin(dir: &Path) -> Option<PathBuf> {
    make("plugin", &dir.join("libdfosm.so"), &["opensm/osm_opensm.h", "umad.h"])?;
    Some(dir.to_owned())
}

/// The program that writes blocks into switches, built into a folder; `None` after reporting its requirements.
pub(crate) fn blocks(dir: &Path) -> Option<PathBuf> {
    make("plugin/blocks", &dir.join("darkfiber-blocks"), &["umad.h"])
}

/// Runs `make` in a folder of the project; the file that it makes.
fn make(folder: &str, out: &Path, headers: &[&str]) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    for needed in headers.iter().map(|header| format!("/usr/include/infiniband/{header}")) {
        if !Path::new(&needed).is_file() {
            skipped(&needed);
            return None;
        }
    }
    let (make, _cc) = (program("make")?, program("cc")?);
    let built = Command::new(make)
        .arg("-C")
        .arg(source)
        .arg(format!("OUT={}", out.display()))
        .output()
        .expect("make starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Some(out.to_owned())
}

/// A program, also from where users without privileges do not look.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path)
        .chain(["/usr/sbin", "/usr/local/sbin", "/sbin"].map(PathBuf::from))
        .map(|dir| dir.join(name))
        .find(|file| file.is_file());
    if found.is_none() {
        skipped(name);
    }
    found
}

/// `libumad2sim.so`, in the directory of any architecture.
fn umad2sim() -> Option<PathBuf> {
    let inside = |dir: PathBuf| Some(dir.join("umad2sim/libumad2sim.so")).filter(|p| p.is_file());
    let found = ["/usr/lib", "/usr/lib64", "/usr/local/lib"].iter().find_map(|root| {
        inside(PathBuf::from(root)).or_else(|| {
            let entries = Path::new(root).read_dir().ok()?;
            entries.flatten().find_map(|entry| inside(entry.path()))
        })
    });
    if found.is_none() {
        skipped("libumad2sim.so");
    }
    found
}

pub(crate) fn skipped(what: &str) {
    darkfiber_testkit::skipped(&format!("{what} is not installed"));
}

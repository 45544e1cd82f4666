//! All that is given away, made in one go: programs with their debug information apart, packages of Debian, a wheel for Python, source
//! packages, a bill of materials, checksums.

mod archive;
mod binary;
mod materials;
mod programs;
mod wheel;

use std::fs;
use std::path::{Path, PathBuf};

use binary::{Binary, Platform};
use programs::{has, output, succeed};

/// Maximum size of the program, in bytes.
const MOST_BYTES: u64 = 20_000_000;
/// The newest glibc that a dynamically linked program may need: that of RHEL 9. Ubuntu 22.04 and Debian 12 have newer ones.
const NEWEST_GLIBC: (u32, u32) = (2, 34);
/// The target that static programs are made for where rustc has it; else it is that of this machine.
const MUSL: &str = "x86_64-unknown-linux-musl";

/// Crates that are for work on the project, and that no registry has.
const UNPUBLISHED: [&str; 3] = ["xtask", "darkfiber-testkit", "darkfiber-py"];

/// Makes everything in `out`, and prints the size of each part; parts that cannot be made here are reported as
/// skipped.
pub(crate) fn run(root: &Path, out: &Path) -> Result<bool, String> {
    let root = &fs::canonicalize(root).map_err(|e| e.to_string())?;
    fs::create_dir_all(out).map_err(|e| format!("{}: {e}", out.display()))?;
    let out = &fs::canonicalize(out).map_err(|e| e.to_string())?;
    let host = host()?;
    let mut parts: Vec<PathBuf> = Vec::new();
    let mut is_fine = true;

    let own = Platform { target: host.clone(), is_static: false };
    let own = Binary::build(root, own)?;
    is_fine &= own.judge(MOST_BYTES, NEWEST_GLIBC)?;
    parts.push(own.debug_file(out)?);
    parts.push(archive::of(root, out, &own)?);
    parts.extend(debian(root, out, &own)?);

    let has_musl = targets()?.iter().any(|t| t == MUSL) && has("musl-gcc");
    let target = if has_musl { MUSL.to_owned() } else { host.clone() };
    println!("the static program is built for {target}");
    let anywhere = Binary::build(root, Platform { target, is_static: true })?;
    is_fine &= anywhere.judge(MOST_BYTES, NEWEST_GLIBC)?;
    parts.push(archive::of(root, out, &anywhere)?);
    parts.extend(rpm(root, out)?);

    if let Some((wheel, is_small)) = wheel::build(root, out)? {
        is_fine &= is_small;
        parts.push(wheel);
    }
    parts.push(materials::write(root, out, &host)?);
    parts.extend(sources(root, out)?);
    checksums(out, &parts)?;
    for part in &parts {
        let size = fs::metadata(part).map_or(0, |m| m.len());
        println!("{:>12} {}", size, part.file_name().unwrap_or_default().display());
    }
    Ok(is_fine)
}

/// The native target of this machine.
fn host() -> Result<String, String> {
    let text = output("rustc", &["-vV"], None)?;
    let line = text.lines().find_map(|l| l.strip_prefix("host: "));
    line.map(str::to_owned).ok_or_else(|| "rustc names no host".to_owned())
}

/// The installed targets of the compiler.
fn targets() -> Result<Vec<String>, String> {
    let sysroot = output("rustc", &["--print", "sysroot"], None)?;
    let libraries = Path::new(sysroot.trim()).join("lib/rustlib");
    let entries = fs::read_dir(&libraries).map_err(|e| format!("{}: {e}", libraries.display()))?;
    let has_library = |entry: &fs::DirEntry| entry.path().join("lib").is_dir();
    let names = entries.flatten().filter(has_library);
    Ok(names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
}

/// The packages of Debian.
fn debian(root: &Path, out: &Path, own: &Binary) -> Result<Vec<PathBuf>, String> {
    if !has("dpkg-deb") {
        println!("skipped: packages of Debian (dpkg-deb is missing)");
        return Ok(Vec::new());
    }
    let script = root.join("packaging/deb.sh");
    let program = own.program.display().to_string();
    let folder = out.display().to_string();
    let made = output("sh", &[&script.display().to_string(), &program, &folder], Some(root))?;
    Ok(made.lines().map(PathBuf::from).collect())
}

/// The package for systems with RPM, of the static program.
fn rpm(root: &Path, out: &Path) -> Result<Option<PathBuf>, String> {
    if !has("rpmbuild") {
        println!("skipped: the RPM package (rpmbuild is missing)");
        return Ok(None);
    }
    let spec = root.join("packaging/darkfiber.spec").display().to_string();
    let folder = out.join("rpm");
    let define = |name: &str, value: &Path| format!("{name} {}", value.display());
    let (from, to) = (define("_sourcedir", out), define("_rpmdir", &folder));
    let work = define("_topdir", &root.join("target/rpm"));
    let args = ["-bb", "--quiet", &spec];
    let args = [&args[..], &["--define", &from, "--define", &to, "--define", &work]].concat();
    succeed("rpmbuild", &args, None)?;
    let architecture = folder.join(std::env::consts::ARCH);
    let entries =
        fs::read_dir(&architecture).map_err(|e| format!("{}: {e}", architecture.display()))?;
    let built = entries.flatten().map(|e| e.path()).next().ok_or("rpmbuild built no package")?;
    let package = out.join(built.file_name().unwrap_or_default());
    fs::rename(&built, &package).map_err(|e| format!("{}: {e}", package.display()))?;
    fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    Ok(Some(package))
}

/// The source packages of all crates, as a registry would have them.
fn sources(root: &Path, out: &Path) -> Result<Vec<PathBuf>, String> {
    let target = root.join("target/package");
    let mut args = vec!["package", "--workspace", "--no-verify", "--locked", "--quiet"];
    for private in UNPUBLISHED {
        args.extend(["--exclude", private]);
    }
    succeed(env!("CARGO"), &args, Some(root))?;
    let version = env!("CARGO_PKG_VERSION");
    let ending = format!("-{version}.crate");
    let entries = fs::read_dir(&target).map_err(|e| format!("{}: {e}", target.display()))?;
    let mut parts = Vec::new();
    for path in entries.flatten().map(|e| e.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("darkfiber") && name.ends_with(&ending) {
            let to = out.join(name);
            fs::copy(&path, &to).map_err(|e| format!("{}: {e}", to.display()))?;
            parts.push(to);
        }
    }
    parts.sort();
    Ok(parts)
}

/// Digests of all parts, as `sha256sum -c` reads them.
fn checksums(out: &Path, parts: &[PathBuf]) -> Result<(), String> {
    let names: Vec<String> =
        parts.iter().filter_map(|p| Some(p.file_name()?.to_string_lossy().into_owned())).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let sums = output("sha256sum", &names, Some(out))?;
    fs::write(out.join("SHA256SUMS"), sums).map_err(|e| format!("SHA256SUMS: {e}"))
}

//! The module in Python: imported, compared with the command line, interrupted; and as a wheel.
//!
//! The tests themselves are in `tests/*.py`. NumPy comes from Python's package index, into an environment in `target/python`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use darkfiber_testkit::skipped;

/// Most bytes of a wheel.
const MOST_BYTES: u64 = 10_000_000;

fn project() -> PathBuf {
    fs::canonicalize(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).expect("the project")
}

/// The folder of this test's build, which contains the other products of the build.
fn built() -> PathBuf {
    let own = env::current_exe().expect("this test");
    own.parent().and_then(Path::parent).expect("a folder above deps").to_owned()
}

/// Whether a command succeeds; otherwise its output.
fn run(command: &mut Command) -> Result<String, String> {
    let done = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&done.stdout), text(&done.stderr));
    if done.status.success() { Ok(out) } else { Err(format!("{command:?}:\n{out}{err}")) }
}

/// An environment with Python packages; otherwise why there is none. It is made once, and missing packages are added.
fn environment(name: &str, packages: &[&str]) -> Result<PathBuf, String> {
    let folder = project().join("target/python").join(name);
    let python = folder.join("bin/python");
    if !python.exists() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    }
    let modules: Vec<String> = packages.iter().map(|package| format!("import {package}")).collect();
    let has_all = run(Command::new(&python).args(["-c", &modules.join("\n")])).is_ok();
    if !has_all {
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        run(install.args(packages))?;
    }
    Ok(python)
}

/// Runs the tests of the Python folder with a module that is on this path, or installed.
fn test(python: &Path, module: Option<&Path>, program: &Path) {
    let tests = project().join("crates/py/tests");
    let mut command = Command::new(python);
    command.args(["-m", "unittest", "discover", "--start-directory"]).arg(tests);
    command.env("DARKFIBER_PROGRAM", program).env("PYTHONDONTWRITEBYTECODE", "1");
    match module {
        Some(folder) => command.env("PYTHONPATH", folder),
        None => command.env_remove("PYTHONPATH"),
    };
    if let Err(failed) = run(&mut command) {
        panic!("{failed}");
    }
}

#[test]
fn tests_in_python_pass() {
    let program = built().join("darkfiber");
    if !program.exists() {
        return skipped("the program is not built: cargo test --workspace");
    }
    let python = match environment("tests", &["numpy", "nanoarrow"]) {
        Ok(python) => python,
        Err(why) => return skipped(&format!("no Python with NumPy: {}", first_lines(&why))),
    };
    let name = format!("{}darkfiber_py{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    let module = built().join("deps").join(&name);
    assert!(module.exists(), "{} was built with this test", module.display());
    let folder = tempfile::tempdir().expect("a folder");
    let importable = folder.path().join("darkfiber.abi3.so");
    if fs::hard_link(&module, &importable).is_err() {
        fs::copy(&module, &importable).expect("copied");
    }
    test(&python, Some(folder.path()), &program);
}

fn first_lines(text: &str) -> String {
    text.lines().take(3).collect::<Vec<_>>().join(" ")
}

#[test]
#[ignore = "builds a wheel of a release, which takes minutes"]
fn a_wheel_is_installed_into_a_bare_environment() {
    let program = built().join("darkfiber");
    if !program.exists() {
        return skipped("the program is not built: cargo test --workspace");
    }
    let tools = match environment("wheel", &["maturin", "numpy", "nanoarrow"]) {
        Ok(python) => python,
        Err(why) => return skipped(&format!("no maturin: {}", first_lines(&why))),
    };
    let folder = tempfile::tempdir().expect("a folder");
    let wheels = folder.path().join("wheels");
    let mut build = Command::new(tools.with_file_name("maturin"));
    build.args(["build", "--locked", "--out"]).arg(&wheels);
    run(build.current_dir(project().join("crates/py"))).unwrap_or_else(|e| panic!("{e}"));
    let wheel = fs::read_dir(&wheels).expect("wheels").flatten().next().expect("a wheel").path();
    let bytes = fs::metadata(&wheel).expect("a file").len();
    assert!(bytes < MOST_BYTES, "{} has {bytes} bytes", wheel.display());

    // Dependencies, fetched before: our own wheel is installed without a network.
    let pip = |python: &Path, args: &[&str]| {
        let mut pip = Command::new(python);
        pip.args(["-m", "pip", "--quiet", "--disable-pip-version-check"]).args(args);
        pip.current_dir(&wheels).env_remove("PYTHONPATH");
        run(&mut pip).unwrap_or_else(|e| panic!("{e}"))
    };
    pip(&tools, &["download", "--dest", ".", "numpy", "nanoarrow"]);
    let bare = folder.path().join("bare");
    run(Command::new("python3").args(["-m", "venv"]).arg(&bare)).unwrap_or_else(|e| panic!("{e}"));
    let bare = bare.join("bin/python");
    pip(&bare, &["install", "--no-index", "--find-links", ".", "darkfiber", "nanoarrow"]);
    test(&bare, None, &program);
    pip(&bare, &["uninstall", "--yes", "darkfiber"]);
    let import = run(Command::new(&bare).args(["-c", "import darkfiber"]).current_dir("/"));
    assert!(import.is_err(), "nothing is left of it");
}

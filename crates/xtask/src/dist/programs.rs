//! Other programs, run to their ends.

use std::path::Path;
use std::process::Command;

/// Whether a program is installed.
pub(super) fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// The output of a program; its standard error is shown.
pub(super) fn output(program: &str, args: &[&str], at: Option<&Path>) -> Result<String, String> {
    let mut command = Command::new(program);
    command.args(args).stderr(std::process::Stdio::inherit());
    if let Some(at) = at {
        command.current_dir(at);
    }
    let out = command.output().map_err(|e| format!("{program}: {e}"))?;
    if !out.status.success() {
        return Err(format!("{program} {} failed", args.join(" ")));
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// Runs a program without output.
pub(super) fn succeed(program: &str, args: &[&str], at: Option<&Path>) -> Result<(), String> {
    output(program, args, at).map(|_| ())
}

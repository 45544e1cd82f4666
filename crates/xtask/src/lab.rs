//! Real parts on a simulated fabric: ibsim, OpenSM with the plugin, and `darkfiber operate`.

use std::path::Path;
use std::process::Command;

/// Injects faults, and appends the outcomes to the log of soaks; returns whether all of them were good. `each` makes one fault of each
/// class instead, and appends nothing.
pub(crate) fn soak(root: &Path, seed: u64, faults: u32, each: bool) -> Result<bool, String> {
    let run = |words: &[&str]| {
        let (program, rest) = words.split_first().ok_or("no command")?;
        let status = Command::new(program).args(rest).current_dir(root).status();
        status.map_err(|e| format!("{program}: {e}")).map(|status| status.success())
    };
    for words in [&["make", "-C", "plugin"][..], &["cargo", "build", "--quiet", "-p", "darkfiber"]]
    {
        if !run(words)? {
            return Err(format!("{} failed", words.join(" ")));
        }
    }
    let work = root.join(format!("target/soak/{seed}"));
    let (work, seed, faults) = (work.display().to_string(), seed.to_string(), faults.to_string());
    let mut words = vec!["python3", "benches/opensm/soak.py", &work, "--seed", &seed];
    words.extend(["--faults", &faults]);
    words.extend(each.then_some("--each"));
    run(&words)
}

//! The output of `darkfiber` without arguments: the fabric data on this machine, and the commands to start with.

use std::fmt::Write as _;
use std::path::Path;

/// Path where OpenSM writes its tables by default (`opensm -D 0x43`).
const TABLES: &str = "/var/log/opensm-lfts.dump";

/// The first steps on this machine.
pub(crate) fn here() -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has = |name: &str| std::env::split_paths(&path).any(|dir| dir.join(name).is_file());
    text(&has, Path::new(TABLES).is_file())
}

/// The first steps where these programs are, and OpenSM's tables or not.
fn text(has: &dyn Fn(&str) -> bool, has_tables: bool) -> String {
    let mut out = String::from(
        "darkfiber computes, proves and simulates routes of InfiniBand and HPC networks\n\n\
         Usage: darkfiber COMMAND ...\n\nThis machine\n",
    );
    let mut line = |name: &str, what: &str| {
        let _infallible = writeln!(out, "  {name:<14} {what}");
    };
    if has("ibnetdiscover") {
        line("ibnetdiscover", "is here: as root, ibnetdiscover > my-fabric.topo");
    } else {
        line("ibnetdiscover", "is not here: run it on a host of the fabric");
    }
    if has_tables {
        line("OpenSM", &format!("has its tables in {TABLES}"));
    } else if has("dump_fts") {
        line("dump_fts", "is here: dump_fts > in-use.lfts reads the tables in use");
    } else {
        line("tables in use", "dump_fts > in-use.lfts, or opensm-lfts.dump (-D 0x43)");
    }
    if has("squeue") {
        line("SLURM", "is here: squeue -a -r -t R,CF > jobs says who runs where");
    }
    out.push_str(
        "\nFirst steps\n\
         \x20 darkfiber doctor my-fabric.topo --routes in-use.lfts    what is wrong?\n\
         \x20 darkfiber route my-fabric.topo -e updn,ftree,dfsssp     compare engines\n\
         \x20 darkfiber route my-fabric.topo -e updn -o new           tables for OpenSM\n\
         \x20 darkfiber route @slimfly-eth -e updn,dfsssp             without any dump\n\n\
         More\n\
         \x20 darkfiber --help            all commands; darkfiber help COMMAND has one\n\
         \x20 darkfiber help glossary     the words; help scenario has keys of scenarios\n\
         \x20 darkfiber list presets      machines of the literature; list has all lists",
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_steps_are_those_of_the_machine() {
        let bare = text(&|_| false, false);
        assert!(bare.contains("ibnetdiscover  is not here"), "{bare}");
        assert!(bare.contains("tables in use"), "{bare}");
        assert!(!bare.contains("SLURM"), "{bare}");
        let full = text(&|_| true, true);
        assert!(full.contains("ibnetdiscover  is here"), "{full}");
        assert!(full.contains("OpenSM         has its tables in /var/log"), "{full}");
        assert!(full.contains("squeue -a -r"), "{full}");
        for line in bare.lines().chain(full.lines()) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

//! Provenance of a result.

use darkfiber_fabric::Fabric;
use darkfiber_report::Provenance;

use crate::options::Common;

/// The provenance of a result about `fabric`.
pub(crate) fn of(fabric: &Fabric, common: &Common) -> Provenance {
    of_all(std::iter::once(fabric), common)
}

/// The provenance of a result about several fabrics.
pub(crate) fn of_all<'a>(fabrics: impl Iterator<Item = &'a Fabric>, common: &Common) -> Provenance {
    let digests: Vec<String> = fabrics.map(|f| format!("0x{:016x}", f.digest())).collect();
    Provenance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: command(std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned())),
        seed: common.seed(),
        fabric_digest: digests.join(" "),
    }
}

/// The command line as it could be typed again, without threads and processes, on which no result depends.
fn command(args: impl Iterator<Item = String>) -> String {
    let mut words = vec!["darkfiber".to_owned()];
    let mut args = args;
    while let Some(arg) = args.next() {
        if arg == "--threads" {
            args.next();
        } else if !arg.starts_with("--threads=") && arg != "--mpi" {
            words.push(quoted(&arg));
        }
    }
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=+./:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn commands_can_be_typed_again() {
        let args = ["route", "my fabric", "--threads", "2", "-e", "it's", "--threads=3", "--mpi"];
        let text = super::command(args.into_iter().map(str::to_owned));
        assert_eq!(text, r"darkfiber route 'my fabric' -e 'it'\''s'");
    }
}

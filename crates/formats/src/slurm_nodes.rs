//! The nodes of SLURM: `scontrol show node`, `sinfo`, the `NodeName=` lines of slurm.conf, or a plain list.
//!
//! Of lines with `NodeName=` all such words are taken, except `DEFAULT`; of a table with a heading the column
//! `NODELIST` (`HOSTNAMES`); otherwise a line is a hostlist.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use darkfiber_fabric::{Fabric, HostId, Role};

use crate::ReadError;
use crate::hostlist::expand;
use crate::places::{Aliases, Places};

/// Description of such a file.
const EXPECTED: &str = "nodes of SLURM: `scontrol show node`, `sinfo`, or a hostlist on each line";
/// Headings of the column of nodes.
const COLUMNS: &[&str] = &["NODELIST", "HOSTNAMES", "NODE_LIST", "NODEHOST"];

/// Reads the names of nodes in the order of the file, each once.
///
/// # Errors
/// If a line has none of these forms, or no node is named.
///
/// ```
/// use std::path::Path;
///
/// use darkfiber_formats::slurm_nodes::read;
///
/// let sinfo = "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\nall*  up  infinite  3  idle cn[1-2,7]\n";
/// assert_eq!(read(sinfo, Path::new("sinfo")).unwrap(), ["cn1", "cn2", "cn7"]);
/// assert_eq!(read("NodeName=cn1 Arch=x86_64 CPUTot=4\n   OS=Linux\n", Path::new("-")).unwrap(), ["cn1"]);
/// ```
pub fn read(text: &str, path: &Path) -> Result<Vec<String>, ReadError> {
    let mut names = Vec::new();
    let mut seen = HashSet::new();
    let has_keys = text.lines().any(|l| l.split_whitespace().any(|w| node_name(w).is_some()));
    let mut column = None;
    let mut is_first = true;
    for (i, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        let heading = |w: &&str| COLUMNS.iter().any(|c| c.eq_ignore_ascii_case(w));
        if std::mem::take(&mut is_first) && !has_keys {
            column = words.iter().position(heading);
            if column.is_some() {
                continue;
            }
        }
        let refused = |what: String| {
            let hint = "`sinfo -h -N -o %N` prints what is needed";
            ReadError::not_such(path, format!("line {}: {what}", i + 1), EXPECTED, hint)
        };
        let lists: Vec<&str> = match (has_keys, column) {
            (true, _) => words.iter().filter_map(|w| node_name(w)).collect(),
            (_, Some(column)) => words.get(column).copied().into_iter().collect(),
            _ if words.len() == 1 => words,
            _ => return Err(refused(format!("{} words", words.len()))),
        };
        for list in lists {
            for name in expand(list).map_err(|e| refused(e.to_string()))? {
                if name != "DEFAULT" && seen.insert(name.clone()) {
                    names.push(name);
                }
            }
        }
    }
    if names.is_empty() {
        return Err(ReadError::not_such(path, "no node is named", EXPECTED, ""));
    }
    Ok(names)
}

fn node_name(word: &str) -> Option<&str> {
    let (key, value) = word.split_once('=')?;
    key.eq_ignore_ascii_case("NodeName").then_some(value)
}

/// Names that SLURM uses for the hosts of a fabric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlurmNames {
    /// By host its name in SLURM.
    pub of_host: HashMap<HostId, String>,
    /// Names that are no host's that runs jobs.
    pub strange: Vec<String>,
}

/// Finds nodes of SLURM in a fabric, by name as [`Places`] does.
pub fn find(fabric: &Fabric, names: &[String]) -> SlurmNames {
    let places = Places::new(fabric, Aliases::new());
    let mut known = SlurmNames::default();
    for name in names {
        let computes =
            |t: &&darkfiber_fabric::TerminalId| fabric.terminal(**t).role == Role::Compute;
        match places.of(name).iter().find(computes) {
            Some(&t) => {
                known.of_host.entry(fabric.host_of(t)).or_insert_with(|| name.clone());
            }
            None => known.strange.push(name.clone()),
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(text: &str) -> String {
        read(text, Path::new("nodes")).map_or_else(|e| e.to_string(), |names| names.join(" "))
    }

    #[test]
    fn outputs_of_slurm() {
        for (text, names) in [
            (
                "NODELIST   NODES PARTITION STATE\ncn1  1 all* idle\ncn2  1 all* mix\ncn2 1 b idle\n",
                "cn1 cn2",
            ),
            ("cn[1-3]\r\n# more\nlogin1,login2\n", "cn1 cn2 cn3 login1 login2"),
            (
                "NodeName=DEFAULT CPUs=4\nNodeName=cn[08-09] State=UNKNOWN\nPartitionName=all Nodes=ALL\n",
                "cn08 cn09",
            ),
            ("NodeName=a NodeHostName=b x=1 NodeName=c\n", "a c"),
        ] {
            assert_eq!(said(text), names);
        }
        assert!(
            said("all* up 3 idle cn1\n").starts_with("nodes: line 1: 5 words"),
            "{}",
            said("a b")
        );
        assert!(said("a\ncn[1-\n").starts_with("nodes: line 2: '[' without ']'"));
        assert!(said("\n# x\n").starts_with("nodes: no node is named"));
        assert!(said("NodeName=n[1-4000000000]\n").contains("more than 1000000 hosts"));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(NodeName=|NODELIST|[a-c]|\\[1-3\\]|\\[| |#|,|\n){0,30}") {
            let _ = said(&text);
        }
    }
}

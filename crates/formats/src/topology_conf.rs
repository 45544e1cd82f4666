//! SLURM's `topology.conf` for the plugin `topology/tree`: the nodes of each switch.
//!
//! A line is `SwitchName=leaf1 Nodes=cn[1-18]` or `SwitchName=top Switches=leaf[1-4]`, optionally with `LinkSpeed=`.
//! Keys ignore case; `#` starts a comment; a line that ends in `\` continues. There may be several roots.
//!
//! `scontrol show topology` prints the same with `Level=`, and all nodes below a switch in its `Nodes=`, too.
//!
//! Written by [`slurm_topology`].
//!
//! Source: SLURM's manual page topology.conf(5).

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::diagnostic::counted;
use crate::format::{Format, Reading};
use crate::hostlist::{compress, expand};
use crate::known_by::{KnownBy, begins_with};
use crate::slurm_topology::{self, Form, SlurmTopology};
use crate::{Diagnostics, ReadError};

/// The entry of this format; [`slurm_topology`] writes it.
pub const FORMAT: Format = Format {
    name: "topology.conf",
    what: "a SLURM topology.conf",
    summary: "SLURM's tree of switches and nodes",
    hint: "it has no ports and no parallel cables: give the output of ibnetdiscover",
    known_by: &[KnownBy::Line(|l| begins_with(l, "SwitchName="))],
    read: Reading::By("jobs filter"),
    write: slurm_topology::writing(|out, w| SlurmTopology::of(w).write(out, Form::Tree), &["conf"]),
};

/// The content of such a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopologyConf {
    /// Its switches in the order of the file, names unique.
    pub switches: Vec<ConfSwitch>,
}

/// One line of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfSwitch {
    /// Name of the switch.
    pub name: String,
    /// Names of the switches below, in the order of the file; empty for a leaf.
    pub switches: Vec<String>,
    /// Names of its nodes, in the order of the file; a leaf may have none.
    pub nodes: Vec<String>,
    /// `LinkSpeed`, which SLURM reads and does not use; without unit.
    pub link_speed: Option<u64>,
    /// Number of the line.
    pub line: usize,
}

impl TopologyConf {
    /// Switches that are below no other, as positions in the list.
    pub fn roots(&self) -> Vec<usize> {
        let below: HashSet<&String> = self.switches.iter().flat_map(|s| &s.switches).collect();
        (0..self.switches.len()).filter(|&s| !below.contains(&self.switches[s].name)).collect()
    }

    /// By position the level: 1 = no switch below, otherwise one more than the highest below. 0 for
    /// switches on or above a cycle.
    pub fn levels(&self) -> Vec<u8> {
        let at: HashMap<&str, usize> =
            self.switches.iter().enumerate().map(|(i, s)| (s.name.as_str(), i)).collect();
        let mut above = vec![Vec::new(); self.switches.len()];
        let mut missing = vec![0usize; self.switches.len()];
        for (i, s) in self.switches.iter().enumerate() {
            for &child in s.switches.iter().filter_map(|c| at.get(c.as_str())) {
                above[child].push(i);
                missing[i] += 1;
            }
        }
        let mut level = vec![0u8; self.switches.len()];
        let mut highest = vec![0u8; self.switches.len()];
        let mut ready: Vec<usize> = (0..missing.len()).filter(|&i| missing[i] == 0).collect();
        while let Some(i) = ready.pop() {
            level[i] = highest[i].saturating_add(1);
            for &a in &above[i] {
                highest[a] = highest[a].max(level[i]);
                missing[a] -= 1;
                if missing[a] == 0 {
                    ready.push(a);
                }
            }
        }
        level
    }
}

/// Reads a `topology.conf`. Switches named twice, child switches without a line, nodes or switches with two parents,
/// and cycles are reported.
///
/// # Errors
/// If no line names a switch, or it is of another plugin (`BlockName=`).
pub fn read(text: &str, path: &Path) -> Result<(TopologyConf, Diagnostics), ReadError> {
    let mut conf = TopologyConf::default();
    let mut found = Diagnostics::default();
    let mut names: HashMap<String, usize> = HashMap::new();
    let body = text.trim_start_matches('\u{feff}');
    for (number, line) in logical_lines(body) {
        let line = line.split('#').next().unwrap_or("").trim();
        if line.is_empty() {
            continue;
        }
        match switch(line, number, &mut found) {
            Ok(s) => {
                if let Some(first) = names.get(&s.name) {
                    let what = format!("switch {} is already named in line {first}", s.name);
                    found.warn(number, what, "left out");
                } else {
                    names.insert(s.name.clone(), number);
                    conf.switches.push(s);
                }
            }
            Err(what) => found.warn(
                number,
                what,
                "expected SwitchName=... Nodes=... or SwitchName=... Switches=...; left out",
            ),
        }
    }
    if conf.switches.is_empty() {
        let expected = "a topology.conf of SLURM's topology/tree";
        let of_blocks = |l: &str| l.trim_start().to_ascii_lowercase().starts_with("blockname=");
        let Some(i) = body.lines().position(of_blocks) else {
            return Err(ReadError::wrong_format(path, "no line names a switch", expected));
        };
        let what = format!("line {} names a block: it is of topology/block", i + 1);
        return Err(ReadError::not_such(path, what, expected, ""));
    }
    judge(&conf, &names, &mut found);
    found.0.sort_by_key(|d| d.line);
    Ok((conf, found))
}

/// Lines with those behind a `\` put together, and the numbers of their first.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (i, line) in text.lines().enumerate() {
        let line = line.trim_end();
        let (body, more) = line.strip_suffix('\\').map_or((line, false), |body| (body, true));
        match lines.last_mut().filter(|_| goes_on) {
            Some((_, last)) => last.push_str(body),
            None => lines.push((i + 1, body.to_owned())),
        }
        goes_on = more;
    }
    lines
}

fn switch(line: &str, number: usize, found: &mut Diagnostics) -> Result<ConfSwitch, String> {
    let mut s = ConfSwitch { line: number, ..ConfSwitch::default() };
    let mut is_shown = false;
    for word in line.split_whitespace() {
        let Some((key, value)) = word.split_once('=') else {
            return Err(format!("'{}' is not Key=value", short(word)));
        };
        let value = value.trim_matches('"');
        let list = || expand(value).map_err(|e| e.to_string());
        match key.to_ascii_lowercase().as_str() {
            "switchname" => value.clone_into(&mut s.name),
            "switches" => s.switches.extend(list()?),
            "nodes" => s.nodes.extend(list()?),
            // As `scontrol show topology` prints it.
            "level" => is_shown = true,
            "linkspeed" => match value.parse() {
                Ok(speed) => s.link_speed = Some(speed),
                Err(_) => found.warn(
                    number,
                    format!("LinkSpeed '{}' is not a number", short(value)),
                    "left out; SLURM does not use it either",
                ),
            },
            _ => found.warn(number, format!("unheard-of key '{}'", short(key)), "passed over"),
        }
    }
    if s.name.is_empty() {
        return Err(format!("no name of a switch in '{}'", short(line)));
    }
    if is_shown && !s.switches.is_empty() {
        // Those are all nodes of the switches below.
        s.nodes.clear();
    }
    if !s.switches.is_empty() && !s.nodes.is_empty() {
        let what = format!("switch {} has both nodes and switches below", s.name);
        found.warn(number, what, "SLURM takes only one of the two; both are kept");
    }
    Ok(s)
}

fn short(text: &str) -> String {
    text.chars().take(60).collect()
}

/// Reports deviations from a tree.
fn judge(conf: &TopologyConf, names: &HashMap<String, usize>, found: &mut Diagnostics) {
    let mut parent: HashMap<&str, &str> = HashMap::new();
    let mut leaf: HashMap<&str, &str> = HashMap::new();
    for s in &conf.switches {
        let unknown: Vec<&String> = s.switches.iter().filter(|c| !names.contains_key(*c)).collect();
        if !unknown.is_empty() {
            let what = format!(
                "{} below {} named by no line: {}",
                counted(unknown.len(), "switch", "switches"),
                s.name,
                short(&compress(&unknown))
            );
            found.warn(s.line, what, "kept as names");
        }
        for (of, things, kind) in
            [(&mut parent, &s.switches, "switches"), (&mut leaf, &s.nodes, "nodes")]
        {
            let mut twice = Vec::new();
            for thing in things {
                if of.insert(thing, &s.name).is_some() {
                    twice.push(thing);
                }
            }
            if !twice.is_empty() {
                let list = short(&compress(&twice));
                found.warn(
                    s.line,
                    format!("{kind} of {} given before: {list}", s.name),
                    "a tree has them once",
                );
            }
        }
    }
    let level = conf.levels();
    if let Some(i) = level.iter().position(|&l| l == 0) {
        let what =
            format!("switch {} is above itself, or above one that is", conf.switches[i].name);
        found.error(conf.switches[i].line, what, "it is no tree");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> (TopologyConf, String) {
        match read(text, Path::new("topology.conf")) {
            Ok((conf, found)) => {
                (conf, found.0.iter().fold(String::new(), |t, d| t + &d.to_string() + "\n"))
            }
            Err(e) => (TopologyConf::default(), e.to_string()),
        }
    }

    #[test]
    fn keys_in_any_case_and_several_roots() {
        let (conf, found) = messages(
            "# made by hand\nSWITCHNAME=s0\tnodes=a[1-2],b LinkSpeed=100 # leaf\n\nSwitchName=s1\n\
             SwitchName=s2 Switches=s0,\\\ns1\nSwitchName=0x0002c90300abcdef Nodes=c",
        );
        assert_eq!(found, "");
        assert_eq!(conf.switches[0].nodes, ["a1", "a2", "b"]);
        assert_eq!(conf.switches[0].link_speed, Some(100));
        assert_eq!(conf.switches[2].switches, ["s0", "s1"]);
        assert_eq!((conf.levels(), conf.roots()), (vec![1, 1, 2, 1], vec![2, 3]));
        assert_eq!(conf.switches[3].line, 7);
    }

    #[test]
    fn what_scontrol_shows() {
        let (conf, found) = messages(
            "SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[1-4]\nSwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=n[5-6]\n\
             SwitchName=root Level=1 LinkSpeed=1 Nodes=n[1-6] Switches=leaf[1-2]\n",
        );
        assert_eq!(found, "");
        let nodes: Vec<usize> = conf.switches.iter().map(|s| s.nodes.len()).collect();
        assert_eq!(nodes, [4, 2, 0]);
    }

    #[test]
    fn what_is_no_tree_is_reported() {
        insta::assert_snapshot!(messages(
            "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[2-3] LinkSpeed=fast Color=red\nSwitchName=a Nodes=x\n\
             SwitchName=c Switches=a,z\nSwitchName=d Switches=a,e Nodes=y\nSwitchName=e Switches=d\nNodes=n9\nhello\n\
             SwitchName=f Nodes=n[9-1]\n").1, @r"
        line 2: warning: LinkSpeed 'fast' is not a number (left out; SLURM does not use it either)
        line 2: warning: unheard-of key 'Color' (passed over)
        line 2: warning: nodes of b given before: n2 (a tree has them once)
        line 3: warning: switch a is already named in line 1 (left out)
        line 4: warning: 1 switch below c named by no line: z (kept as names)
        line 5: warning: switch d has both nodes and switches below (SLURM takes only one of the two; both are kept)
        line 5: warning: switches of d given before: a (a tree has them once)
        line 5: error: switch d is above itself, or above one that is (it is no tree)
        line 7: warning: no name of a switch in 'Nodes=n9' (expected SwitchName=... Nodes=... or SwitchName=... Switches=...; left out)
        line 8: warning: 'hello' is not Key=value (expected SwitchName=... Nodes=... or SwitchName=... Switches=...; left out)
        line 9: warning: range '9-1' runs backward (expected SwitchName=... Nodes=... or SwitchName=... Switches=...; left out)
        ");
        insta::assert_snapshot!(messages("# nothing\n").1, @"topology.conf: no line names a switch; expected a topology.conf of SLURM's topology/tree");
        insta::assert_snapshot!(messages("BlockName=b1 Nodes=n[1-4]\nBlockSizes=4\n").1, @"topology.conf: line 1 names a block: it is of topology/block; expected a topology.conf of SLURM's topology/tree");
    }

    #[test]
    fn no_text_panics() {
        for text in ["", "\\", "=", "SwitchName==", "SwitchName=a Switches=a", "SwitchName=a\\"] {
            let _ = messages(text);
        }
    }
}

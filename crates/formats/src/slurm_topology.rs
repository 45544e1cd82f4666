//! A fabric in SLURM's description of networks: `topology.conf` for the plugins topology/tree and topology/block, and
//! `topology.yaml` of SLURM 25.05.
//!
//! It contains only hosts that run jobs, under folded names: SLURM places no jobs on storage, login nodes and
//! aggregation nodes, and a node that it does not know stops its controller.
//!
//! The tree: a fat-tree is expressed by giving switches that reach each other without going further up a common name,
//! that of the first of their highest level. Blocks: the nodes of a switch are a block; the base block size is that of
//! the smallest, which all can hold, and higher sizes double it as far as there are blocks, in the order of the tree,
//! so that neighbours in it are joined first.
//!
//! Source: SLURM's manual pages topology.conf(5) and topology.yaml(5).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};

use darkfiber_fabric::{ChannelId, Fabric, HostId, Role, Shape, SwitchId, TerminalId, Topology};
use darkfiber_workload::Machine;

use crate::diagnostic::counted;
use crate::format::{Format, Reading, ToWrite, Writer, Writing};
use crate::hostlist::compress;
use crate::known_by::{KnownBy, begins_with};

/// The entry of `topology.conf` for topology/block.
pub const BLOCKS: Format = Format {
    name: "topology/block",
    what: "a SLURM topology.conf of topology/block",
    summary: "topology.conf of SLURM's topology/block",
    known_by: &[KnownBy::Line(|l| begins_with(l, "BlockName="))],
    read: Reading::Refused(|_| {
        (
            "a topology.conf of topology/block, which does not say how nodes are cabled".to_owned(),
            "give the output of ibnetdiscover".to_owned(),
        )
    }),
    write: writing(|out, w| SlurmTopology::of(w).write(out, Form::Block), &[]),
    ..Format::NONE
};

/// The entry of `topology.yaml`.
pub const YAML: Format = Format {
    name: "topology.yaml",
    summary: "SLURM's tree in YAML, from SLURM 25.05 on",
    write: writing(|out, w| SlurmTopology::of(w).write(out, Form::Yaml), &["yaml", "yml"]),
    ..Format::NONE
};

/// Writer of a form for SLURM.
pub(crate) const fn writing(
    write: fn(&mut dyn Write, &ToWrite<'_>) -> io::Result<()>,
    endings: &'static [&'static str],
) -> Writing {
    Writing::Fabric(Writer { write, endings, omits, for_slurm: true })
}

/// Only hosts that run jobs are written.
fn omits(topology: &Topology) -> Vec<String> {
    let other = topology.fabric.host_count() - Machine::new(topology, 1).len();
    let hosts = counted(other, "host that runs", "hosts that run");
    if other > 0 { vec![format!("{hosts} no jobs")] } else { Vec::new() }
}

/// Forms of the description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The file `topology.conf` of topology/tree.
    Tree,
    /// The file `topology.conf` of topology/block.
    Block,
    /// `topology.yaml` with the tree, the cluster's default.
    Yaml,
}

/// A fabric as a tree of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlurmTopology {
    fabric: String,
    /// From the leaves up.
    lines: Vec<Line>,
}

/// A switch and its children: nodes or other switches.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    name: String,
    nodes: Vec<String>,
    switches: Vec<String>,
}

impl SlurmTopology {
    /// The tree of a fabric's shape; of any other shape, all switches are next to each other.
    pub fn of(what: &ToWrite<'_>) -> Self {
        let fabric = &what.topology.fabric;
        let level = match &what.topology.shape {
            Some(Shape::Tree(tree)) => tree.level.clone(),
            _ => vec![1; fabric.switch_count()],
        };
        Self::new(fabric, &level, |host| match what.nodes {
            Some(names) => names.get(&host).cloned(),
            None => Some(fabric.host(host).name.clone()),
        })
    }

    /// A line for each switch with hosts that run jobs, then, level by level, a line for each group of switches that
    /// reach each other without going higher and hold together more than one group of the level below.
    ///
    /// `level` has the level of each switch, 1 = leaf. `node` gives the SLURM name of a host; hosts without one are
    /// left out. Blanks and other marks in names become `_`; duplicate names get their GUID. A host with several
    /// ports is put on the switch of its first.
    ///
    /// # Panics
    /// If `level` is not as long as there are switches.
    pub fn new(
        fabric: &Fabric,
        level: &[u8],
        mut node: impl FnMut(HostId) -> Option<String>,
    ) -> Self {
        assert_eq!(level.len(), fabric.switch_count(), "a level for each switch");
        let mut names = Names::default();
        let mut groups = Groups::new(fabric.switch_count());
        let mut lines = Vec::new();
        // The label of a group in the file so far, by the group's first switch.
        let mut label: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        let mut done = vec![false; fabric.hosts().len()];
        for s in 0..fabric.switch_count() {
            let mut nodes = Vec::new();
            for t in fabric.terminals_on(SwitchId::new(s)).map(TerminalId::new) {
                let host = fabric.host_of(t);
                if fabric.terminal(t).role == Role::Compute
                    && !std::mem::replace(&mut done[host.index()], true)
                    && let Some(name) = node(host)
                {
                    nodes.push(names.node(&name, &fabric.terminal(t).guid.to_string()));
                }
            }
            if !nodes.is_empty() {
                let switch = fabric.switch(SwitchId::new(s));
                let name = names.switch(&switch.description, &switch.guid.to_string());
                label.insert(s, vec![name.clone()]);
                lines.push(Line { name, nodes: in_order(nodes), switches: Vec::new() });
            }
        }
        let highest = level.iter().copied().max().unwrap_or(0);
        for l in 1..=highest {
            for c in (0..fabric.channel_count()).map(ChannelId::new) {
                let (a, b) = (fabric.tail(c).index(), fabric.head(c).index());
                if level[a].max(level[b]) == l {
                    groups.join(a, b);
                }
            }
            let mut joined: BTreeMap<usize, Vec<String>> = BTreeMap::new();
            for (s, labels) in label {
                joined.entry(groups.of(s)).or_default().extend(labels);
            }
            label = joined;
            // The name of a group is that of its first switch of this level that has no line yet.
            let mut first: BTreeMap<usize, usize> = BTreeMap::new();
            for s in (0..level.len()).filter(|&s| level[s] == l) {
                let group = groups.of(s);
                let best = first.entry(group).or_insert(s);
                let leaf = |s: usize| !fabric.terminals_on(SwitchId::new(s)).is_empty();
                if leaf(*best) && !leaf(s) {
                    *best = s;
                }
            }
            for (group, labels) in &mut label {
                if labels.len() < 2 {
                    continue;
                }
                let s = first.get(group).copied().unwrap_or(*group);
                let switch = fabric.switch(SwitchId::new(s));
                let name = names.switch(&switch.description, &switch.guid.to_string());
                let switches = in_order(std::mem::replace(labels, vec![name.clone()]));
                lines.push(Line { name, nodes: Vec::new(), switches });
            }
        }
        Self { fabric: fabric.name().replace(|c: char| c.is_control(), " "), lines }
    }

    /// Number of nodes in it.
    pub fn node_count(&self) -> usize {
        self.lines.iter().map(|line| line.nodes.len()).sum()
    }

    /// Writes the description in a form.
    ///
    /// # Errors
    /// Any error of `out`.
    pub fn write(&self, out: &mut dyn Write, form: Form) -> io::Result<()> {
        match form {
            Form::Tree => self.tree(out),
            Form::Block => self.blocks(out),
            Form::Yaml => self.yaml(out),
        }
    }

    fn tree(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "# topology/tree of {}", self.fabric)?;
        for line in &self.lines {
            if line.switches.is_empty() {
                writeln!(out, "SwitchName={} Nodes={}", line.name, compress(&line.nodes))?;
            } else {
                writeln!(out, "SwitchName={} Switches={}", line.name, compress(&line.switches))?;
            }
        }
        Ok(())
    }

    fn blocks(&self, out: &mut dyn Write) -> io::Result<()> {
        let blocks = self.leaves();
        writeln!(out, "# topology/block of {}", self.fabric)?;
        for line in &blocks {
            writeln!(out, "BlockName={} Nodes={}", line.name, compress(&line.nodes))?;
        }
        let sizes: Vec<String> = block_sizes(&blocks).iter().map(ToString::to_string).collect();
        if sizes.is_empty() { Ok(()) } else { writeln!(out, "BlockSizes={}", sizes.join(",")) }
    }

    fn yaml(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "# topology.yaml of {}\n---\n- topology: fabric", self.fabric)?;
        writeln!(out, "  cluster_default: true\n  tree:\n    switches:")?;
        // Names go in quotes: `0x..` and `17` would be numbers.
        for line in &self.lines {
            writeln!(out, "      - switch: \"{}\"", line.name)?;
            if line.switches.is_empty() {
                writeln!(out, "        nodes: \"{}\"", compress(&line.nodes))?;
            } else {
                writeln!(out, "        children: \"{}\"", compress(&line.switches))?;
            }
        }
        Ok(())
    }

    /// Lines with nodes in the order of the tree, so that those below one switch follow each other.
    fn leaves(&self) -> Vec<&Line> {
        let at: HashMap<&str, usize> =
            (0..).zip(&self.lines).map(|(i, l)| (l.name.as_str(), i)).collect();
        let below: HashSet<&str> =
            self.lines.iter().flat_map(|l| &l.switches).map(String::as_str).collect();
        let is_root = |i: &usize| !below.contains(self.lines[*i].name.as_str());
        let mut stack: Vec<usize> = (0..self.lines.len()).rev().filter(is_root).collect();
        let mut leaves = Vec::new();
        while let Some(i) = stack.pop() {
            let line = &self.lines[i];
            if !line.nodes.is_empty() {
                leaves.push(line);
            }
            stack.extend(line.switches.iter().rev().filter_map(|name| at.get(name.as_str())));
        }
        leaves
    }
}

/// The size that every block can hold, and its doubles up to all blocks.
fn block_sizes(blocks: &[&Line]) -> Vec<usize> {
    let Some(base) = blocks.iter().map(|b| b.nodes.len()).min() else { return Vec::new() };
    let doubled = |size: &usize| Some(size * 2);
    std::iter::successors(Some(base), doubled).take_while(|&n| n <= base * blocks.len()).collect()
}

/// Sorts names by the text before their last number, then by that number: as they fold best.
fn in_order(mut names: Vec<String>) -> Vec<String> {
    let key = |name: &String| {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number: Option<u128> = name[stem.len()..].parse().ok();
        (stem.to_owned(), name.len() - stem.len() == 0, number, name.len(), name.clone())
    };
    names.sort_by_cached_key(key);
    names
}

/// Names that SLURM takes, each once.
#[derive(Default)]
struct Names {
    switches: HashSet<String>,
    nodes: HashSet<String>,
}

impl Names {
    fn switch(&mut self, name: &str, guid: &str) -> String {
        Self::take(&mut self.switches, name, guid)
    }

    fn node(&mut self, name: &str, guid: &str) -> String {
        Self::take(&mut self.nodes, name, guid)
    }

    fn take(taken: &mut HashSet<String>, name: &str, guid: &str) -> String {
        let sound = |c: char| if c.is_alphanumeric() || "-._".contains(c) { c } else { '_' };
        let plain: String = name.trim().chars().map(sound).collect();
        let plain = if plain.is_empty() { guid.to_owned() } else { plain };
        let mut name = plain.clone();
        let mut times = 0;
        while !taken.insert(name.clone()) {
            times += 1;
            name = if times == 1 {
                format!("{plain}-{guid}")
            } else {
                format!("{plain}-{guid}-{times}")
            };
        }
        name
    }
}

/// Sets that grow together.
struct Groups {
    parent: Vec<usize>,
}

impl Groups {
    fn new(count: usize) -> Self {
        Self { parent: (0..count).collect() }
    }

    fn of(&mut self, mut s: usize) -> usize {
        while self.parent[s] != s {
            self.parent[s] = self.parent[self.parent[s]];
            s = self.parent[s];
        }
        s
    }

    /// Joins two sets; the smaller number stands for both.
    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.of(a), self.of(b));
        self.parent[a.max(b)] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fold_in_the_order_of_their_numbers() {
        let names = ["n10", "n9", "m", "n1", "m2"].map(str::to_owned).to_vec();
        assert_eq!(compress(&in_order(names)), "m2,m,n[1,9-10]");
    }

    #[test]
    fn sizes_of_blocks_double() {
        let line =
            |n: usize| Line { name: "b".into(), nodes: vec!["n".into(); n], switches: vec![] };
        let lines: Vec<Line> = [18, 20, 18, 18, 19].map(line).into();
        assert_eq!(block_sizes(&lines.iter().collect::<Vec<_>>()), [18, 36, 72]);
        assert_eq!(block_sizes(&[&line(3)]), [3]);
        assert!(block_sizes(&[]).is_empty());
    }
}

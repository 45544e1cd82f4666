//! Process groups: all NPUs, those of a file, and those that are only named.

use std::collections::{BTreeMap, BTreeSet};

use super::expected::not_such;
use super::json;
use super::node::Node;
use crate::schedules::run::File;
use darkfiber_formats::ReadError;

/// Process groups by number; group 0 is that of all, or as given in a file.
pub(super) struct Groups {
    numbers: BTreeMap<String, u32>,
    /// Members of each, in the order of their places.
    pub(super) members: Vec<Vec<u32>>,
    /// Number of groups that are all or in a file.
    known: usize,
}

impl Groups {
    /// The group of all `ranks` NPUs, and those of a file.
    ///
    /// # Errors
    /// If it names an NPU that does not exist, or one twice in a group.
    pub(super) fn read(ranks: u32, file: Option<&File>) -> Result<Self, ReadError> {
        let mut groups = Self {
            numbers: BTreeMap::from([(String::new(), 0)]),
            members: vec![(0..ranks).collect()],
            known: 1,
        };
        let Some(file) = file else { return Ok(groups) };
        for (name, list) in json::groups(&file.bytes).into_iter().flatten() {
            let fail = |what: String, hint: &str| {
                not_such(&file.path, format!("group `{name}` has {what}"), hint)
            };
            let members = json::members(&list).map_err(|member| {
                fail(format!("the member {member}, which is no NPU"), "for example {\"1\": [0, 2]}")
            })?;
            if let Some(member) = members.iter().find(|&&m| m >= ranks) {
                let what = format!("NPU {member}, but there are files of {ranks}");
                return Err(fail(what, "give all of them"));
            }
            if members.iter().collect::<BTreeSet<_>>().len() < members.len() {
                return Err(fail("an NPU twice".to_owned(), "name each once"));
            }
            let number = groups.named(&name);
            groups.members[number as usize] = members;
        }
        groups.known = groups.members.len();
        Ok(groups)
    }

    /// The number of the group of this name, a new one if need be.
    fn named(&mut self, name: &str) -> u32 {
        let next = self.members.len() as u32;
        let number = *self.numbers.entry(of_all(name).to_owned()).or_insert(next);
        if number == next {
            self.members.push(Vec::new());
        }
        number
    }

    /// An NPU takes part in a collective of a group: it becomes a member if no file lists them. NPUs come in their
    /// order.
    pub(super) fn add(&mut self, node: &Node, rank: u32) {
        let number = self.named(&node.group) as usize;
        let members = &mut self.members[number];
        if number >= self.known && members.last() != Some(&rank) {
            members.push(rank);
        }
    }

    /// The number of a node's group.
    pub(super) fn number(&self, node: &Node) -> u32 {
        self.numbers.get(of_all(&node.group)).copied().unwrap_or(0)
    }

    /// Names of groups whose members are not listed.
    pub(super) fn unknown(&self) -> Vec<&str> {
        let is_unknown = |(_, number): &(&String, &u32)| **number as usize >= self.known;
        self.numbers.iter().filter(is_unknown).map(|(name, _)| name.as_str()).collect()
    }
}

/// Group `0` is that without a name: all, unless a file gives its members.
fn of_all(name: &str) -> &str {
    if name == "0" { "" } else { name }
}

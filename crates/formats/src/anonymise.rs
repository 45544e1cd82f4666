//! Fabrics without the names of their owners.
//!
//! An [`Anonymiser`] gives every switch, host and GUID another name, in the fabric and in any text that goes with it
//! (routing tables, GUID lists, job lists). Structure, ids, ports, LIDs, roles, speeds and host grouping stay, so
//! every metric does: nothing in this project depends on names or GUIDs.
//!
//! The new names reveal nothing about the old ones, but a network can still be recognised by its shape. Without the
//! seed GUIDs cannot be mapped back; a seed that can be guessed is no secret.

use std::collections::{HashMap, HashSet};

use darkfiber_fabric::{
    Adapter, Cabling, Fabric, FabricBuilder, Guid, Role, Switch, SwitchId, Terminal,
};

use crate::guid_word::GuidWord;
use crate::hosts::role_of;

/// A consistent renaming of one fabric.
#[derive(Clone, Debug)]
pub struct Anonymiser {
    fabric: Fabric,
    guids: HashMap<Guid, Guid>,
    /// New name of a host; `None`: several hosts have that name.
    hosts: HashMap<String, Option<String>>,
    switches: HashMap<String, Option<String>>,
    /// New names of hosts by old ones in small letters.
    folded: HashMap<String, Option<String>>,
    descriptions: HashMap<String, Option<String>>,
    /// New names of what switches and boards of directors are parts of, as batch systems name them.
    systems: HashMap<String, String>,
    /// The vendors' identifiers in GUIDs of the fabric.
    vendors: HashSet<u64>,
    seed: u64,
}

impl Anonymiser {
    /// Draws new names and GUIDs. Equal fabrics and seeds give equal names.
    ///
    /// Switches become `sw0001`, hosts `cn00001`, adapters `cn00001 HCA-1`, all in the order of ids;
    /// aggregation pseudo-adapters keep their factory description. GUIDs become random ones.
    ///
    /// # Panics
    /// Never: a renamed fabric is as valid as the original.
    pub fn new(fabric: &Fabric, seed: u64) -> Self {
        let guids = draw_guids(fabric, seed);
        let vendors = guids.keys().map(|guid| guid.0 >> 40).filter(|&vendor| vendor != 0).collect();
        let mut this = Self {
            fabric: fabric.clone(),
            guids,
            hosts: HashMap::new(),
            switches: HashMap::new(),
            folded: HashMap::new(),
            descriptions: HashMap::new(),
            systems: systems(fabric),
            vendors,
            seed,
        };
        this.fabric = this.rename(fabric);
        this
    }

    fn rename(&mut self, fabric: &Fabric) -> Fabric {
        let mut b = FabricBuilder::new("anonymous");
        for class in fabric.classes() {
            b.class(class.clone());
        }
        b.reserve_lids(fabric.reserved_lids().iter().copied());
        let guids = self.guids.clone();
        let guid = |old: Guid| guids.get(&old).copied().unwrap_or(old);
        for (i, s) in fabric.switches().iter().enumerate() {
            let name = format!("sw{:04}", i + 1);
            learn(&mut self.switches, s.description.trim(), &name);
            learn(&mut self.descriptions, s.description.trim(), &name);
            b.add_switch(Switch {
                guid: guid(s.guid),
                system_guid: guid(s.system_guid),
                description: name,
                ..s.clone()
            });
        }
        // Hosts of aggregation pseudo-adapters carry a factory text; it stays, since readers recognise the role by
        // it.
        let mut factory = vec![false; fabric.hosts().len()];
        for a in fabric.adapters() {
            factory[a.host.index()] |= role_of(&a.description) == Role::Aggregation;
        }
        let mut names = Vec::with_capacity(factory.len());
        let mut count = 0;
        for (host, factory) in fabric.hosts().iter().zip(&factory) {
            let name = if *factory {
                "Mellanox Technologies Aggregation Node".to_owned()
            } else {
                count += 1;
                let name = format!("cn{count:05}");
                learn(&mut self.hosts, host.name.trim(), &name);
                learn(&mut self.folded, &host.name.trim().to_lowercase(), &name);
                name
            };
            b.add_host(name.clone());
            names.push((name, 0u32));
        }
        for a in fabric.adapters() {
            let (name, number) = &mut names[a.host.index()];
            let description = if factory[a.host.index()] {
                name.clone()
            } else {
                *number += 1;
                let new = format!("{name} HCA-{number}");
                learn(&mut self.descriptions, a.description.trim(), &new);
                new
            };
            b.add_adapter(Adapter {
                guid: guid(a.guid),
                system_guid: guid(a.system_guid),
                description,
                ..a.clone()
            });
        }
        let valid = "a renamed fabric is as valid as the original";
        for t in fabric.terminals() {
            b.link_terminal(Terminal { guid: guid(t.guid), ..t.clone() }).expect(valid);
        }
        let class = |c: &darkfiber_fabric::LinkClass| {
            fabric.classes().iter().position(|x| x == c).unwrap_or(0) as u8
        };
        for c in (0..fabric.channel_count()).map(darkfiber_fabric::ChannelId::new) {
            if c < fabric.reverse(c) {
                let near = (fabric.tail(c), fabric.tail_port(c));
                let far = (fabric.head(c), fabric.head_port(c));
                b.link_switches(near, far, class(fabric.class_of(c))).expect(valid);
            }
        }
        for l in fabric.loopbacks() {
            b.link_switches((l.switch, l.ports.0), (l.switch, l.ports.1), l.class).expect(valid);
        }
        b.finish().expect(valid)
    }

    /// The fabric with its new names.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// The new GUID of a node, port or system of the fabric.
    pub fn guid(&self, old: Guid) -> Option<Guid> {
        self.guids.get(&old).copied()
    }

    /// The new name of a host, if one and only one host has the old name.
    pub fn host_name(&self, old: &str) -> Option<&str> {
        self.hosts.get(old.trim())?.as_deref()
    }

    /// The new name of a switch, if one and only one switch has the old description.
    pub fn switch_name(&self, old: &str) -> Option<&str> {
        self.switches.get(old.trim())?.as_deref()
    }

    /// The new description of a switch by id.
    pub fn switch(&self, s: SwitchId) -> &str {
        &self.fabric.switch(s).description
    }

    /// Rewrites a text that goes with the fabric: replaces descriptions, and whole words that are host names in capital or small
    /// letters, names of switches and of the systems that they are parts of, GUIDs (`0x0002c903004e938`, `2c9030004e938`,
    /// `S-0002c9030004e938`, `0002:c903:0004:e938`) or GIDs (`fe80::2:c903:4:e938`), at any position; GUIDs of nodes that the
    /// fabric does not have, too, if they have all digits and are of a vendor of the fabric's. Everything else stays, including
    /// names of such nodes, and names inside host lists such as `cn[01-17]`: expand those first (`scontrol show hostnames`).
    pub fn rewrite_text(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            self.rewrite_line(line, &mut out);
        }
        out
    }

    fn rewrite_line(&self, line: &str, out: &mut String) {
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            if matches!(c, '\'' | '"' | '{')
                && let Some((all, new)) = self.description(rest, c)
            {
                out.push(c);
                out.push_str(new);
                out.push(if c == '{' { '}' } else { c });
                rest = &rest[all..];
            } else if is_separator(c) {
                out.push(c);
                rest = &rest[c.len_utf8()..];
            } else if let Some((all, new)) = self.unquoted(rest) {
                out.push_str(new);
                rest = &rest[all..];
            } else {
                let end = rest.find(is_separator).unwrap_or(rest.len());
                // Dots lead from a label to its value: `NodeDescription....cn1 HCA-1`.
                let value = rest[..end].rfind("..").map(|at| at + 2).filter(|&at| at < end);
                let end = value.unwrap_or(end);
                self.rewrite_word(&rest[..end], out);
                rest = &rest[end..];
            }
        }
    }

    /// The known description in quotes at the start of `rest`: its length with quotes, and the new one.
    fn description(&self, rest: &str, open: char) -> Option<(usize, &str)> {
        let close = if open == '{' { '}' } else { open };
        // A description may hold quotes itself, so more than one end is tried.
        rest[1..].match_indices(close).take(4).find_map(|(end, _)| {
            let new = self.descriptions.get(rest[1..=end].trim())?.as_deref()?;
            Some((end + 2, new))
        })
    }

    /// A known description of several words, without quotes, that goes to the end of the line: its length, and the new one.
    fn unquoted(&self, rest: &str) -> Option<(usize, &str)> {
        // Tables have long lines, and no names.
        if rest.len() > MOST_OF_A_NAME {
            return None;
        }
        let core = rest.trim_end().trim_end_matches(':').trim_end();
        let new = self.descriptions.get(core).filter(|_| core.contains(' '))?.as_deref()?;
        Some((core.len(), new))
    }

    fn rewrite_word(&self, word: &str, out: &mut String) {
        if let Some(new) = self.word(word) {
            out.push_str(&new);
            return;
        }
        // `cn1;` `cn1:4` `H-...:3`: names may hold these characters, so the whole word went first.
        let core = word.trim_matches(is_mark);
        if core.len() < word.len()
            && let Some(new) = self.word(core)
        {
            let start = word.len() - word.trim_start_matches(is_mark).len();
            out.push_str(&word[..start]);
            out.push_str(&new);
            out.push_str(&word[start + core.len()..]);
            return;
        }
        // GIDs and GUIDs in groups hold colons, names of hosts with their domain dots: all other marks come before these.
        let is_first = |c: char| !matches!(c, ':' | '.') && is_mark(c);
        split(word, is_first, out, &mut |part, out| self.rewrite_part(part, out));
    }

    /// Rewrites a part of a word that holds no mark but colons and dots.
    fn rewrite_part(&self, part: &str, out: &mut String) {
        if let Some(new) = self.word(part) {
            return out.push_str(&new);
        }
        // What is behind a colon may be a GID: `gid:fe80::..`.
        let behind = part.match_indices(':').find_map(|(at, _)| {
            let gid = part[at + 1..].trim_end_matches(':');
            let is_gid = gid.contains(':');
            Some((at + 1, gid, self.guid_word(gid).filter(|_| is_gid)?))
        });
        if let Some((at, gid, new)) = behind {
            self.rewrite_part(&part[..at - 1], out);
            out.push(':');
            out.push_str(&new);
            out.push_str(&part[at + gid.len()..]);
            return;
        }
        split(part, |c| c == ':', out, &mut |name, out| match self.dashed(name) {
            Some(new) => out.push_str(&new),
            None => split(name, |c| c == '.', out, &mut |name, out| {
                out.push_str(&self.dashed(name).unwrap_or_else(|| name.to_owned()));
            }),
        });
    }

    /// A word, or one with a hyphen: `cn1-` is a host in maintenance, `guid-0x..` and `0x..-1` are names of files and ports.
    fn dashed(&self, name: &str) -> Option<String> {
        self.word(name).or_else(|| {
            let (before, last) = name.rsplit_once('-')?;
            let first = self.word(before).map(|new| format!("{new}-{last}"));
            first.or_else(|| Some(format!("{before}-{}", self.guid_word(last)?)))
        })
    }

    fn word(&self, word: &str) -> Option<String> {
        self.host_name(word)
            .or_else(|| self.switch_name(word))
            // Batch systems write names of hosts in small letters.
            .or_else(|| self.folded.get(&word.to_lowercase())?.as_deref())
            .or_else(|| self.systems.get(word).map(String::as_str))
            .map(str::to_owned)
            .or_else(|| self.guid_word(word))
    }

    fn guid_word(&self, word: &str) -> Option<String> {
        let found = GuidWord::parse(word)?;
        let new = self.guid(found.guid).or_else(|| self.foreign(&found))?;
        Some(found.with(new))
    }

    /// The new GUID of a port or node that the fabric does not have, such as a router: one of a vendor of the fabric's, by its
    /// identifier (OUI).
    fn foreign(&self, found: &GuidWord<'_>) -> Option<Guid> {
        let is_such = found.is_whole && self.vendors.contains(&(found.guid.0 >> 40));
        let mut state = self.seed ^ found.guid.0;
        is_such.then(|| Guid(split_mix(&mut state) | 1 << 63))
    }
}

/// Longest description that is looked for without quotes, with what follows it.
const MOST_OF_A_NAME: usize = 200;

/// Characters around and between names in a word, which names may have, too.
fn is_mark(c: char) -> bool {
    ":;/|.@+*~$^!%&".contains(c)
}

/// Gives each part of a text between marks to `each`, and copies the marks.
fn split(
    text: &str,
    is_mark: impl Fn(char) -> bool,
    out: &mut String,
    each: &mut dyn FnMut(&str, &mut String),
) {
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(&is_mark).unwrap_or(rest.len());
        each(&rest[..end], out);
        rest = &rest[end..];
        if let Some(mark) = rest.chars().next() {
            out.push(mark);
            rest = &rest[mark.len_utf8()..];
        }
    }
}

/// New names of systems, numbered in the order of their first switches: of a switch that is described as `MF0;NAME:MODEL/U1` it is `NAME`.
fn systems(fabric: &Fabric) -> HashMap<String, String> {
    let mut found = HashMap::new();
    let devices = Cabling::of(fabric).devices;
    for alias in devices.iter().filter(|d| !d.in_host).flat_map(|d| &d.aliases) {
        let name = alias.split('/').next().unwrap_or(alias);
        let number = found.len() + 1;
        found.entry(name.to_owned()).or_insert_with(|| format!("system{number:03}"));
    }
    found
}

/// Adds a name, or marks it as ambiguous.
fn learn(map: &mut HashMap<String, Option<String>>, old: &str, new: &str) {
    if !old.is_empty() {
        map.entry(old.to_owned()).and_modify(|n| *n = None).or_insert_with(|| Some(new.to_owned()));
    }
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || ",=\"'()[]{}<>#".contains(c)
}

/// New GUIDs in order of ids, none of them equal to an old one.
fn draw_guids(fabric: &Fabric, seed: u64) -> HashMap<Guid, Guid> {
    let switches = fabric.switches().iter().flat_map(|s| [s.guid, s.system_guid]);
    let adapters = fabric.adapters().iter().flat_map(|a| [a.guid, a.system_guid]);
    let ports = fabric.terminals().iter().map(|t| t.guid);
    let old: Vec<Guid> = switches.chain(adapters).chain(ports).collect();
    let mut taken: HashSet<Guid> = old.iter().copied().collect();
    let mut map = HashMap::with_capacity(taken.len());
    let mut state = seed;
    for guid in old {
        map.entry(guid).or_insert_with(|| {
            loop {
                // The top bit keeps all sixteen digits in use, in formats that do not pad.
                let new = Guid(split_mix(&mut state) | 1 << 63);
                if taken.insert(new) {
                    return new;
                }
            }
        });
    }
    map
}

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

//! Fabrics without the names of their owners.
//!
//! An [`Anonymiser`] gives every switch, host and GUID another name, in the fabric and in any text that goes with it
//! (routing tables, GUID lists, job lists). Structure, ids, ports, LIDs, roles, speeds and host grouping stay, so
//! every metric does: nothing in this project depends on names or GUIDs.
//!
//! The new names reveal nothing about the old ones, but a network can still be recognised by its shape. Without the
//! seed GUIDs cannot be mapped back; a seed that can be guessed is no secret.

use std::collections::{HashMap, HashSet};
use std::net::Ipv6Addr;

use darkfiber_fabric::{Adapter, Fabric, FabricBuilder, Guid, Role, Switch, SwitchId, Terminal};

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
        let mut this = Self {
            fabric: fabric.clone(),
            guids,
            hosts: HashMap::new(),
            switches: HashMap::new(),
            folded: HashMap::new(),
            descriptions: HashMap::new(),
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

    /// Rewrites a text that goes with the fabric: replaces descriptions in quotes, and whole words that are host
    /// names in capital or small letters, switch names, GUIDs (`0x0002c903004e938`, `2c9030004e938`,
    /// `S-0002c9030004e938`, `0002:c903:0004:e938`) or GIDs (`fe80::2:c903:4:e938`), at any position. Everything else
    /// stays, including names of nodes that the fabric does not have, and names inside host lists such as `cn[01-17]`:
    /// expand those first (`scontrol show hostnames`).
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
            } else {
                let end = rest.find(is_separator).unwrap_or(rest.len());
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

    fn rewrite_word(&self, word: &str, out: &mut String) {
        if let Some(new) = self.word(word) {
            out.push_str(&new);
            return;
        }
        // `cn1;` `cn1:4` `H-...:3`: names may hold these characters, so the whole word went first.
        let is_mark = |c: char| matches!(c, ':' | ';' | '/' | '|' | '.' | '@');
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
        // GIDs and GUIDs in groups hold colons: all other marks come before these.
        split(word, |c| c != ':' && is_mark(c), out, &mut |part, out| {
            if let Some(new) = self.word(part).or_else(|| self.gid_word(part)) {
                return out.push_str(&new);
            }
            split(part, |c| c == ':', out, &mut |name, out| {
                out.push_str(&self.word(name).unwrap_or_else(|| name.to_owned()));
            });
        });
    }

    /// A GID, whose last half is a GUID: `fe80::2c9:300:4e:938`, in any form of an IPv6 address.
    fn gid_word(&self, word: &str) -> Option<String> {
        let address = word.parse::<Ipv6Addr>().ok()?;
        let new = self.guid(Guid(u64::try_from(address.to_bits() & u128::from(u64::MAX)).ok()?))?;
        let prefix = address.to_bits() >> 64 << 64;
        Some(Ipv6Addr::from_bits(prefix | u128::from(new.0)).to_string())
    }

    fn word(&self, word: &str) -> Option<String> {
        self.host_name(word)
            .or_else(|| self.switch_name(word))
            // Batch systems write names of hosts in small letters.
            .or_else(|| self.folded.get(&word.to_lowercase())?.as_deref())
            .map(str::to_owned)
            .or_else(|| self.guid_word(word))
    }

    fn guid_word(&self, word: &str) -> Option<String> {
        let groups = || word.split(':');
        // Zeros in front may be left out.
        if (2..=4).contains(&groups().count()) && groups().all(|group| group.len() == 4) {
            let digits: String = groups().collect();
            let new = format!("{:016x}", self.lookup(&digits)?.0);
            return Some(format!("{}:{}:{}:{}", &new[..4], &new[4..8], &new[8..12], &new[12..]));
        }
        let digits = ["0x", "0X", "S-", "H-", "R-"]
            .iter()
            .find_map(|p| word.strip_prefix(p))
            .unwrap_or(word);
        // Shorter numbers are LIDs, ports or counts.
        if digits.len() < 8 {
            return None;
        }
        let new = self.lookup(digits)?;
        let prefix = &word[..word.len() - digits.len()];
        Some(if digits.len() == 16 {
            format!("{prefix}{:016x}", new.0)
        } else {
            format!("{prefix}{:x}", new.0)
        })
    }

    fn lookup(&self, digits: &str) -> Option<Guid> {
        let hex = digits.len() <= 16 && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let old = hex.then(|| u64::from_str_radix(digits, 16).ok())??;
        self.guid(Guid(old))
    }
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

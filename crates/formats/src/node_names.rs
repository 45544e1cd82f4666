//! Node name maps, as used by infiniband-diags and OpenSM with `--node-name-map`: names of nodes.
//!
//! ```text
//! # comment
//! 0x0002c902400abcde "leaf 07, rack 3"
//! 0x0002c903000a1b2c "cn0017 HCA-1"
//! ```
//!
//! A GUID is that of a switch, an adapter, or a port of an adapter, as `0x..`, sixteen hexadecimal digits, or the
//! `S-..` and `H-..` of ibnetdiscover. A name without quotes goes to the end of its line. Hosts are derived from the
//! new names as from descriptions of a dump ([`hosts::named_host`](crate::hosts::named_host)): `cn0017 HCA-1` and
//! `cn0017 HCA-2` are two adapters of `cn0017`. A name that two nodes would have is refused, since it identifies
//! neither.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use darkfiber_fabric::{AdapterId, AdapterName, Fabric, Guid, HostId, NewNames, SwitchId};

use crate::diagnostic::counted;
use crate::format::{Format, Reading};
use crate::guids::node_guid;
use crate::hosts::named_host;
use crate::input::said;
use crate::known_by::KnownBy;
use crate::{Diagnostics, ReadError};

/// The entry of this format.
pub const FORMAT: Format = Format {
    name: "node-name-map",
    what: "a node name map",
    summary: "names of nodes by GUID, as infiniband-diags and OpenSM take them",
    hint: "give the output of ibnetdiscover, and this file with --node-name-map",
    known_by: &[KnownBy::Line(is_line)],
    read: Reading::By("--node-name-map"),
    ..Format::NONE
};

/// Expected content of a file.
const EXPECTED: &str = "a node name map, `0xGUID \"name\"` on each line";

/// Names by GUID, each with its line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeNames(Vec<Entry>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    guid: Guid,
    name: String,
    line: usize,
}

/// Whether a line is typical of such a file: a GUID and a name in quotes.
fn is_line(line: &str) -> bool {
    let Some((guid, rest)) = line.split_once(char::is_whitespace) else { return false };
    let rest = rest.trim_start();
    guid.starts_with("0x") && node_guid(guid).is_some() && rest.len() > 1 && rest.starts_with('"')
}

/// Reads a node name map; its line ends may be those of Windows.
///
/// # Errors
/// If a line is not a GUID and a name, quotes are left open, or a GUID has two names. Half a map would name some
/// hosts and leave out others, so the first such line is refused by its number.
pub fn read(text: &str, path: &Path) -> Result<(NodeNames, Diagnostics), ReadError> {
    let mut names = NodeNames::default();
    let mut found = Diagnostics::default();
    let mut lines: HashMap<Guid, usize> = HashMap::new();
    for (number, line) in said(text.trim_start_matches('\u{feff}')) {
        let refused = |what: String, hint: &str| {
            Err(ReadError::not_such(path, format!("line {number}: {what}"), EXPECTED, hint))
        };
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let Some(guid) = node_guid(word) else {
            return refused(format!("'{}' is not a GUID", shown(word)), "");
        };
        let name = match name(rest.trim()) {
            Ok(name) => name,
            Err(what) => return refused(what, ""),
        };
        if let Some(&first) = lines.get(&guid) {
            let before = names.0.iter().find(|e| e.guid == guid).map_or("", |e| e.name.as_str());
            if before == name {
                found.note(number, format!("{guid} is named in line {first}, too"), "by one name");
                continue;
            }
            return refused(
                format!(
                    "{guid} is called '{}', but '{}' in line {first}",
                    shown(&name),
                    shown(before)
                ),
                "leave one of the lines out",
            );
        }
        lines.insert(guid, number);
        names.0.push(Entry { guid, name, line: number });
    }
    if names.0.is_empty() {
        return Err(ReadError::not_such(path, "no line names a node", EXPECTED, ""));
    }
    Ok((names, found))
}

/// The name at the end of a line.
fn name(rest: &str) -> Result<String, String> {
    let name = match rest.strip_prefix('"') {
        Some(quoted) => {
            let (name, behind) = quoted
                .split_once('"')
                .ok_or_else(|| format!("the quotes of '{}' are left open", shown(quoted)))?;
            let behind = behind.trim();
            if !behind.is_empty() && !behind.starts_with('#') {
                return Err(format!("'{}' stands behind the name", shown(behind)));
            }
            name
        }
        None => rest.split_once(" #").map_or(rest, |(name, _)| name),
    };
    let name = name.trim();
    if name.is_empty() || name.starts_with('#') {
        return Err("there is a GUID without a name".to_owned());
    }
    if name.contains('"') {
        return Err(format!("the quotes of '{}' are left open", shown(name)));
    }
    Ok(name.to_owned())
}

fn shown(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(60).collect()
}

impl NodeNames {
    /// The fabric with these names. GUIDs that it does not have are reported in one remark, by line: maps often cover
    /// more than one fabric.
    ///
    /// # Errors
    /// If the fabric has none of the GUIDs, or two nodes would have the same name.
    pub fn apply(&self, fabric: Fabric, path: &Path) -> Result<(Fabric, Diagnostics), ReadError> {
        let mut found = Diagnostics::default();
        let switches: HashMap<Guid, SwitchId> = (0..fabric.switch_count())
            .map(SwitchId::new)
            .map(|s| (fabric.switch(s).guid, s))
            .collect();
        // The GUID of a port names its adapter where no adapter has it.
        let mut adapters: HashMap<Guid, AdapterId> =
            fabric.terminals().iter().map(|t| (t.guid, t.adapter)).collect();
        adapters.extend(
            (0..fabric.adapters().len()).map(AdapterId::new).map(|a| (fabric.adapter(a).guid, a)),
        );
        let mut of_switch: BTreeMap<SwitchId, &Entry> = BTreeMap::new();
        let mut of_adapter: BTreeMap<AdapterId, &Entry> = BTreeMap::new();
        let mut strange: Vec<&Entry> = Vec::new();
        for entry in &self.0 {
            if let Some(&s) = switches.get(&entry.guid) {
                of_switch.insert(s, entry);
            } else if let Some(&a) = adapters.get(&entry.guid) {
                if let Some(first) = of_adapter.get(&a).filter(|e| e.name != entry.name) {
                    return Err(twice(path, entry, "its adapter", &first.name, first.line));
                }
                of_adapter.entry(a).or_insert(entry);
            } else {
                strange.push(entry);
            }
        }
        if of_switch.is_empty() && of_adapter.is_empty() {
            return Err(ReadError::not_such(
                path,
                format!(
                    "line {}: no node of the fabric has GUID {}, nor any other GUID of the file",
                    self.0[0].line, self.0[0].guid
                ),
                "a node name map of this fabric",
                "GUIDs are those of nodes or ports, as `ibnetdiscover` prints them",
            ));
        }
        if let Some(first) = strange.first() {
            let more = match strange.len() - 1 {
                0 => String::new(),
                n => format!(", nor {} of other lines", counted(n, "GUID", "GUIDs")),
            };
            let what = format!("no node of the fabric has GUID {}{more}", first.guid);
            found.warn(first.line, what, "what such lines name is not here");
        }
        self.distinct_switches(&fabric, &of_switch, path)?;
        let names = NewNames {
            switches: of_switch.iter().map(|(&s, e)| (s, e.name.clone())).collect(),
            adapters: adapter_names(&fabric, &of_adapter, path)?,
        };
        Ok((fabric.with_names(&names), found))
    }

    /// Refuses a name that two switches would have.
    fn distinct_switches(
        &self,
        fabric: &Fabric,
        named: &BTreeMap<SwitchId, &Entry>,
        path: &Path,
    ) -> Result<(), ReadError> {
        let mut taken: HashMap<&str, String> = HashMap::new();
        for (s, switch) in fabric.switches().iter().enumerate() {
            if !named.contains_key(&SwitchId::new(s)) {
                taken.insert(
                    switch.description.trim(),
                    format!("switch {} of the fabric", switch.guid),
                );
            }
        }
        // In the order of the file, so that the later line is the one that is refused.
        for entry in &self.0 {
            if named.values().any(|e| e.line == entry.line)
                && let Some(other) =
                    taken.insert(&entry.name, format!("{} in line {}", entry.guid, entry.line))
            {
                return Err(alike(path, entry, &other, "each switch needs a name of its own"));
            }
        }
        Ok(())
    }
}

/// Names of adapters and their hosts.
fn adapter_names(
    fabric: &Fabric,
    named: &BTreeMap<AdapterId, &Entry>,
    path: &Path,
) -> Result<Vec<(AdapterId, AdapterName)>, ReadError> {
    const HINT: &str = "adapters of one host are called `host HCA-1`, `host HCA-2`";
    let mut of_host: HashMap<HostId, &Entry> = HashMap::new();
    for (&a, entry) in named {
        of_host.entry(fabric.adapter(a).host).or_insert(entry);
    }
    // Descriptions, and names of hosts without a device behind them, each of one host of the fabric.
    let mut descriptions: HashMap<&str, (HostId, String)> = HashMap::new();
    let mut hosts: HashMap<&str, (HostId, String)> = HashMap::new();
    for adapter in fabric.adapters() {
        if !of_host.contains_key(&adapter.host) {
            let owner = || format!("adapter {} of the fabric", adapter.guid);
            let description = adapter.description.trim();
            descriptions.insert(description, (adapter.host, owner()));
            hosts.insert(fabric.host(adapter.host).name.as_str(), (adapter.host, owner()));
        }
    }
    let mut by_line: Vec<(AdapterId, &Entry)> = named.iter().map(|(&a, &e)| (a, e)).collect();
    by_line.sort_by_key(|(_, e)| e.line);
    let mut new = BTreeMap::new();
    for (a, entry) in by_line {
        let here = fabric.adapter(a).host;
        let owner = || format!("{} in line {}", entry.guid, entry.line);
        let of_another = |before: Option<&(HostId, String)>| {
            before.filter(|(host, _)| *host != here).map(|(_, other)| other.clone())
        };
        let host = named_host(&entry.name);
        // A name without a device is that of the whole host.
        let other = of_another(descriptions.get(entry.name.as_str()))
            .or_else(|| of_another(hosts.get(entry.name.as_str()).filter(|_| host.is_none())));
        if let Some(other) = other {
            return Err(alike(path, entry, &other, HINT));
        }
        descriptions.insert(&entry.name, (here, owner()));
        let host = host.unwrap_or(&entry.name);
        hosts.insert(host, (here, owner()));
        new.insert(a, AdapterName { description: entry.name.clone(), host: host.to_owned() });
    }
    // The other function of a card follows the one that has a name.
    for (a, adapter) in (0..).map(AdapterId).zip(fabric.adapters()) {
        if let (Some(entry), false) = (of_host.get(&adapter.host), new.contains_key(&a)) {
            let host = named_host(&entry.name).unwrap_or(&entry.name).to_owned();
            new.insert(a, AdapterName { description: adapter.description.clone(), host });
        }
    }
    Ok(new.into_iter().collect())
}

fn alike(path: &Path, entry: &Entry, other: &str, hint: &str) -> ReadError {
    let what = format!(
        "line {}: {} is called '{}' as is {other}",
        entry.line,
        entry.guid,
        shown(&entry.name)
    );
    ReadError::not_such(path, what, "names that each one node has", hint)
}

fn twice(path: &Path, entry: &Entry, what: &str, name: &str, line: usize) -> ReadError {
    ReadError::not_such(
        path,
        format!(
            "line {}: {} is called '{}', but {what} '{}' in line {line}",
            entry.line,
            entry.guid,
            shown(&entry.name),
            shown(name)
        ),
        EXPECTED,
        "leave one of the lines out",
    )
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::{FabricBuilder, LinkClass, Switch};
    use proptest::prelude::*;

    use super::*;

    /// Two switches and four hosts, two of which are indistinguishable.
    fn fabric() -> Fabric {
        let mut b = FabricBuilder::new("map");
        let class = b.class(LinkClass::unknown());
        let switch = |guid, text: &str| Switch {
            guid: Guid(guid),
            ports: 8,
            description: text.into(),
            ..Switch::default()
        };
        let s = b.add_switch(switch(0x51, "SwitchX"));
        let r = b.add_switch(switch(0x52, "other"));
        b.link_switches((s, 8), (r, 8), class).expect("free");
        for (port, name) in (1..).zip(["MT4129", "MT4129", "cn3", "cn4"]) {
            b.add_host_on(s, port, name, class).expect("free");
        }
        b.finish().expect("sound")
    }

    fn said(text: &str) -> String {
        let path = Path::new("map");
        let result = read(text, path)
            .and_then(|(names, found)| Ok((names.apply(fabric(), path)?, found)))
            .map(|((fabric, more), found)| {
                let hosts: Vec<&str> = fabric.hosts().iter().map(|h| h.name.as_str()).collect();
                let switches: Vec<&str> =
                    fabric.switches().iter().map(|s| s.description.as_str()).collect();
                let remarks =
                    found.0.iter().chain(&more.0).fold(String::new(), |t, d| format!("{t}\n{d}"));
                format!("{} | {}{remarks}", switches.join(" "), hosts.join(" "))
            });
        result.unwrap_or_else(|e| e.to_string())
    }

    #[test]
    fn names_of_switches_and_hosts() {
        let guid = |a: u32| fabric().adapter(AdapterId(a)).guid;
        let port = fabric().terminals()[1].guid;
        let text = format!(
            "\u{feff}# all\r\n{} \"cn1 HCA-1\" # first\r\n\r\nH-{:016x} cn2 HCA-1\r\n0x51\t\"leaf 1\"\r\n0x99 \"gone\"\n0x98 x\n0x51 leaf 1",
            guid(0),
            port.0
        );
        assert_eq!(
            said(&text),
            "leaf 1 other | cn1 cn2 cn3 cn4\nline 8: note: 0x51 is named in line 5, too (by one name)\n\
             line 6: warning: no node of the fabric has GUID 0x99, nor 1 GUID of other lines (what such lines name is not here)"
                .replace("0x51 is", &format!("{} is", Guid(0x51)))
                .replace("0x99", &Guid(0x99).to_string())
        );
        // A second adapter joins the host of that name.
        assert_eq!(said(&format!("{} \"cn3 HCA-2\"\n", guid(1))), "SwitchX other | MT4129 cn3 cn4");
    }

    #[test]
    fn what_is_wrong_is_reported_by_its_line() {
        let guid = |a: u32| fabric().adapter(AdapterId(a)).guid;
        for (text, expected) in [
            ("0x51 \"a\"\n\n0x51 \"b\"\n".to_owned(), "map: line 3: 0x"),
            ("0x51 \"a\n".to_owned(), "map: line 1: the quotes of 'a' are left open"),
            ("0x51 a\"\n".to_owned(), "map: line 1: the quotes of 'a\"' are left open"),
            ("0x51 \"a\" b\n".to_owned(), "map: line 1: 'b' stands behind the name"),
            ("0x51\n".to_owned(), "map: line 1: there is a GUID without a name"),
            ("0x51 # none\n".to_owned(), "map: line 1: there is a GUID without a name"),
            ("leaf 0x51\n".to_owned(), "map: line 1: 'leaf' is not a GUID"),
            ("# only\n".to_owned(), "map: no line names a node"),
            ("0x77 \"a\"\n".to_owned(), "map: line 1: no node of the fabric has GUID"),
            (
                "0x51 \"a\"\n0x52 \"a\"\n".to_owned(),
                "map: line 2: 0x0000000000000052 is called 'a' as is 0x0000000000000051 in line 1",
            ),
            (
                "0x51 \"other\"\n".to_owned(),
                "map: line 1: 0x0000000000000051 is called 'other' as is switch",
            ),
            (format!("{} n\n{} n\n", guid(0), guid(1)), "map: line 2: 0x"),
            (format!("{} cn3\n", guid(0)), "map: line 1: 0x"),
            (format!("{} \"cn3 HCA-1\"\n", guid(0)), "map: line 1: 0x"),
        ] {
            assert!(said(&text).starts_with(expected), "{text:?}: {}", said(&text));
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(0x5[0-3]|0x|H-|[a-c]| |\"|#|\n|\r){0,30}") {
            let _ = said(&text);
        }
    }
}

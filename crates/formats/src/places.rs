//! Mapping of names to terminals.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use darkfiber_fabric::{Fabric, Guid, HostId, Role, TerminalId};

use crate::diagnostic::counted;
use crate::guids::node_guid;
use crate::hostlist::{Groups, expand_with};
use crate::hosts::described;
use crate::{Diagnostics, ReadError};

/// Other names of hosts, and names of groups of hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aliases {
    /// Name of each alias.
    names: BTreeMap<String, String>,
    groups: Groups,
}

impl Aliases {
    /// An empty set of aliases.
    pub fn new() -> Self {
        Self::default()
    }

    /// Node sets of the groups.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }
}

/// The terminals of a fabric by the names that schedulers and people use for their hosts: the name in the fabric, the
/// same without its domain (`cn01.site.org`) or in other capitals where that is unique, the GUID of a port or an
/// adapter (`0x..`, eight to sixteen hexadecimal digits, or `H-..`), an alias, or a group (`@rack7`). A host with
/// several rails stands for all of its terminals; aggregation nodes have no names. A description that several hosts
/// share names none of them ([`Fabric::with_distinct_hosts`]); [`shared`](Self::shared) counts them.
pub struct Places {
    names: HashMap<String, Vec<TerminalId>>,
    /// By short name in small letters; empty where several hosts share it.
    short: HashMap<String, Vec<TerminalId>>,
    guids: HashMap<Guid, Vec<TerminalId>>,
    /// By description the hosts that are called otherwise, since they share it.
    shared: HashMap<String, BTreeSet<HostId>>,
    aliases: Aliases,
    groups: HashMap<String, Vec<TerminalId>>,
}

impl Places {
    /// The terminals of a fabric, and other names of its hosts.
    pub fn new(fabric: &Fabric, aliases: Aliases) -> Self {
        let mut names: HashMap<String, Vec<TerminalId>> = HashMap::new();
        let mut guids: HashMap<Guid, Vec<TerminalId>> = HashMap::new();
        let mut shared: HashMap<String, BTreeSet<HostId>> = HashMap::new();
        let mut order: Vec<String> = Vec::new();
        for (i, terminal) in fabric.terminals().iter().enumerate() {
            let t = TerminalId::new(i);
            let host = fabric.host_of(t);
            let name = &fabric.host(host).name;
            let adapter = fabric.adapter(terminal.adapter);
            if terminal.role != Role::Aggregation && !name.is_empty() {
                let all = names.entry(name.clone()).or_default();
                if all.is_empty() {
                    order.push(name.clone());
                }
                all.push(t);
                let description = described(&adapter.description);
                if name.starts_with("0x") && name != description && !description.is_empty() {
                    shared.entry(description.to_owned()).or_default().insert(host);
                }
            }
            let node = adapter.guid;
            guids.entry(node).or_default().push(t);
            if terminal.guid != node {
                guids.entry(terminal.guid).or_default().push(t);
            }
        }
        let mut short: HashMap<String, Vec<TerminalId>> = HashMap::new();
        for name in order {
            let all = names[&name].clone();
            // Ambiguous names map to nothing.
            short.entry(shortened(&name)).and_modify(Vec::clear).or_insert(all);
        }
        let mut places = Self { names, short, guids, shared, aliases, groups: HashMap::new() };
        for name in places.aliases.groups.keys() {
            let name = format!("@{name}");
            // Failed expansions were reported when the file was read.
            let members = expand_with(&name, &places.aliases.groups).unwrap_or_default();
            let mut all: Vec<TerminalId> =
                members.iter().flat_map(|n| places.of(n)).copied().collect();
            all.sort_unstable();
            all.dedup();
            places.groups.insert(name, all);
        }
        places
    }

    /// The terminals of an adapter or a port with this GUID; empty if there is none.
    pub fn of_guid(&self, guid: u64) -> &[TerminalId] {
        self.guids.get(&Guid(guid)).map_or(&[], Vec::as_slice)
    }

    /// The terminals of a name; empty if the name is unknown.
    pub fn of(&self, name: &str) -> &[TerminalId] {
        let name = self.aliases.names.get(name).map_or(name, String::as_str);
        self.names
            .get(name)
            .or_else(|| self.guids.get(&node_guid(name)?))
            .or_else(|| self.groups.get(name))
            .or_else(|| self.short.get(&shortened(name)))
            .map_or(&[], Vec::as_slice)
    }

    /// The number of hosts that share this description, or one of several words that starts with this one, so that it
    /// names none of them; 0 if it is no such description. Lists of nodes cut names at blanks.
    pub fn shared(&self, name: &str) -> usize {
        let name = name.trim();
        self.shared.get(name).map_or_else(
            || {
                let begins = |d: &&String| d.split_whitespace().next() == Some(name);
                let all = self.shared.keys().filter(begins).map(|d| &self.shared[d]);
                all.flatten().collect::<BTreeSet<_>>().len()
            },
            BTreeSet::len,
        )
    }

    /// Why a name maps to no terminal, for messages: it is unknown, or ambiguous.
    pub fn why_unknown(&self, name: &str) -> String {
        match self.shared(name) {
            0 => format!("there is no host '{name}'"),
            n => format!(
                "'{name}' {} the description of {}, and {}the name of none",
                if self.shared.contains_key(name.trim()) { "is" } else { "begins" },
                counted(n, "host", "hosts"),
                if self.shared.contains_key(name.trim()) { "" } else { "is " },
            ),
        }
    }
}

/// A name without its domain, in small letters.
fn shortened(name: &str) -> String {
    // An address is no name with a domain.
    let is_address = name.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let first = if is_address { name } else { name.split('.').next().unwrap_or(name) };
    first.to_lowercase()
}

/// Reads a file of aliases for a fabric: an alias and the host's name or GUID on each line, in either order; names
/// with blanks are in double quotes, `#` starts a comment. `@rack7 cn[1-18]`, or `rack7: cn[1-18]` as in the files of
/// ClusterShell, is a group. Lines of switches are skipped, so that a node name map is a file of aliases, too.
///
/// # Errors
/// If quotes are left open, there are lines but none has two words, or an alias is given to a description that
/// several hosts share.
pub fn read_aliases(
    text: &str,
    path: &Path,
    fabric: &Fabric,
) -> Result<(Aliases, Diagnostics), ReadError> {
    let places = Places::new(fabric, Aliases::new());
    let switches: BTreeSet<Guid> = fabric.switches().iter().map(|s| s.guid).collect();
    let is_switch = |word: &str| node_guid(word).is_some_and(|guid| switches.contains(&guid));
    let mut aliases = Aliases::new();
    let mut found = Diagnostics::default();
    let mut lines_of_groups = Vec::new();
    let (mut understood, mut strange) = (0, Vec::<(usize, String)>::new());
    for (i, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let number = i + 1;
        let refused = |what: &str, hint: &str| {
            ReadError::not_such(path, format!("line {number}: {what}"), "aliases of hosts", hint)
        };
        let words = words(line).map_err(|what| refused(&what, ""))?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if let Some((name, list)) = group(line) {
            understood += 1;
            lines_of_groups.push((number, name.to_owned()));
            if aliases.groups.insert(name.to_owned(), list.to_owned()).is_some() {
                found.warn(
                    number,
                    format!("group '@{name}' is given twice"),
                    "the last one counts",
                );
            }
            continue;
        }
        let &[a, b] = words.as_slice() else {
            if !words.is_empty() {
                let what = format!("{} words", words.len());
                found.warn(number, what, "expected an alias and a name; left out");
            }
            continue;
        };
        understood += 1;
        let is_host = |word: &str| !places.of(word).is_empty();
        let (alias, name) = match (is_host(a), is_host(b)) {
            (_, true) => (a, b),
            (true, false) => (b, a),
            (false, false) if is_switch(a) || is_switch(b) => continue,
            (false, false) => {
                if let Some(word) = [a, b].into_iter().find(|w| places.shared(w) > 0) {
                    let hint = "give the GUID of the one that is meant";
                    return Err(refused(&places.why_unknown(word), hint));
                }
                strange.push((number, format!("neither '{}' nor '{}'", shown(a), shown(b))));
                continue;
            }
        };
        let before = aliases.names.insert(alias.to_owned(), name.to_owned());
        if before.is_some_and(|before| places.of(&before) != places.of(name)) {
            found.warn(number, format!("alias '{alias}' is given twice"), "the last one counts");
        }
    }
    if understood == 0 && !found.is_empty() {
        return Err(ReadError::not_such(path, "no line has two words", "aliases of hosts", ""));
    }
    if let Some((line, neither)) = strange.first() {
        let more = match strange.len() - 1 {
            0 => String::new(),
            n => format!(", nor do {}", counted(n, "other line", "other lines")),
        };
        let what = format!("{neither} is a host of the fabric{more}");
        found.warn(*line, what, "left out");
    }
    let named = Places::new(fabric, aliases.clone());
    for (line, name) in lines_of_groups {
        match expand_with(&format!("@{name}"), &aliases.groups) {
            Err(error) => found.error(line, error.to_string(), "the group is empty"),
            Ok(members) => {
                let unknown: Vec<&String> =
                    members.iter().filter(|m| named.of(m).is_empty()).collect();
                if let Some(first) = unknown.first() {
                    let hosts = counted(unknown.len(), "member", "members");
                    let what = format!(
                        "{hosts} of group '@{name}' not in the fabric, the first is '{}'",
                        shown(first)
                    );
                    found.warn(line, what, "left out");
                }
            }
        }
    }
    found.0.sort_by_key(|d| d.line);
    Ok((aliases, found))
}

/// The name of a group, and the node set that it is.
fn group(line: &str) -> Option<(&str, &str)> {
    let line = line.split('#').next().unwrap_or_default().trim();
    let (name, list) = line.split_once(char::is_whitespace)?;
    let name = name
        .strip_prefix('@')
        .map(|n| n.strip_suffix(':').unwrap_or(n))
        .or_else(|| name.strip_suffix(':'))?;
    (!name.is_empty()).then(|| (name, list.trim()))
}

/// The words of a line: between blanks and commas, or in quotes.
fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words: Vec<String> = Vec::new();
    let mut rest = line.trim_start_matches(separates);
    while let Some(first) = rest.chars().next().filter(|&c| c != '#') {
        if first == '"' {
            let (word, behind) = rest[1..]
                .split_once('"')
                .ok_or_else(|| format!("the quotes of '{}' are left open", shown(&rest[1..])))?;
            words.push(word.trim().to_owned());
            rest = behind;
        } else {
            let end = rest.find(|c| separates(c) || c == '#').unwrap_or(rest.len());
            words.push(rest[..end].to_owned());
            rest = &rest[end..];
        }
        rest = rest.trim_start_matches(separates);
    }
    words.retain(|w| !w.is_empty());
    Ok(words)
}

fn separates(c: char) -> bool {
    c.is_whitespace() || c == ','
}

fn shown(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(60).collect()
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::{FabricBuilder, LinkClass, Switch, SwitchId};

    use super::*;

    fn fabric(names: &[&str]) -> Fabric {
        let mut b = FabricBuilder::new("names");
        let class = b.class(LinkClass::unknown());
        let s: SwitchId = b.add_switch(Switch { ports: 8, ..Switch::default() });
        for (port, name) in (1..).zip(names) {
            b.add_host_on(s, port, name, class).expect("a free port");
        }
        b.finish().expect("sound")
    }

    fn of(places: &Places, name: &str) -> Vec<u32> {
        places.of(name).iter().map(|t| t.0).collect()
    }

    #[test]
    fn names_in_many_forms() {
        let fabric = fabric(&["cn01", "CN02.site.org", "x.one", "X.two"]);
        let guid = |t: u32| fabric.terminal(TerminalId(t)).guid.0;
        let (aliases, found) = read_aliases(
            &format!(
                "login cn01 # the old name\r\n\nlogin cn02\nlogin cn01\nthree words here\n0x{:x} third\n\"H-{:016x}\",\"the fourth\"\n\
                 @some cn01,x.one\nrest: @some!cn01,nobody\nghost spirit\nS-{:016x} \"leaf 1\"\n@bad cn[1-\n",
                guid(2), guid(3), fabric.switch(SwitchId(0)).guid.0
            ),
            Path::new("x"),
            &fabric,
        )
        .expect("one is good");
        let lines: Vec<usize> = found.0.iter().map(|d| d.line).collect();
        assert_eq!(lines, [3, 4, 5, 9, 10, 12], "{found:?}");
        let places = Places::new(&fabric, aliases);
        for (name, terminals) in [
            ("cn01", vec![0]),
            ("cn01.site.org", vec![0]),
            ("CN01", vec![0]),
            ("cn02", vec![1]),
            ("CN02.site.org", vec![1]),
            ("login", vec![0]),
            ("third", vec![2]),
            ("the fourth", vec![3]),
            ("@some", vec![0, 2]),
            ("@rest", vec![2]),
            ("@bad", vec![]),
            ("x.one", vec![2]),
            ("X.two", vec![3]),
            ("x", vec![]),
            ("10.0.0.1", vec![]),
            ("nobody", vec![]),
            ("0xnothing", vec![]),
        ] {
            assert_eq!(of(&places, name), terminals, "{name}");
        }
        let guid = fabric.terminal(TerminalId(2)).guid.to_string();
        assert_eq!(of(&places, &guid), [2]);
        assert_eq!(of(&places, &guid[2..]), [2]);
        assert_eq!(of(&places, &format!("H-{}", &guid[2..])), [2]);
        let refused = |text: &str| {
            read_aliases(text, Path::new("x"), &fabric).map(|_| ()).expect_err("refused")
        };
        assert!(refused("one\ntwo\n").to_string().contains("no line has two words"));
        let open = refused("a cn01\nb \"cn01\n").to_string();
        assert!(open.starts_with("x: line 2: the quotes of 'cn01' are left open"), "{open}");
    }

    #[test]
    fn descriptions_that_hosts_share_are_no_names() {
        let (fabric, shared) = fabric(&["MT4129", "cn1", "MT4129"]).with_distinct_hosts();
        assert_eq!(shared.len(), 1);
        let places = Places::new(&fabric, Aliases::new());
        assert_eq!(
            (of(&places, "MT4129"), places.shared("MT4129"), places.shared("cn1")),
            (vec![], 2, 0)
        );
        assert_eq!(
            places.why_unknown("MT4129"),
            "'MT4129' is the description of 2 hosts, and the name of none"
        );
        let guid = fabric.host(fabric.host_of(TerminalId(2))).name.clone();
        assert_eq!(of(&places, &guid), [2]);
        let error =
            read_aliases("n1 MT4129\n", Path::new("x"), &fabric).map(|_| ()).expect_err("no name");
        assert!(
            error.to_string().contains("line 1: 'MT4129' is the description of 2 hosts"),
            "{error}"
        );
    }
}

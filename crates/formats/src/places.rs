//! Which terminals a name stands for.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use darkfiber_fabric::{Fabric, Guid, Role, TerminalId};

use crate::guids::parse_guid;
use crate::{Diagnostics, ReadError};

/// Other names of hosts: alias to name.
pub type Aliases = BTreeMap<String, String>;

/// The terminals of a fabric by what schedulers and people call their hosts: the name in the fabric, the same
/// without its domain (`cn01.site.org`) or in other capitals where that is unique, the GUID of a port or an
/// adapter, or an alias. A host with several rails stands for all of its terminals; aggregation nodes have no
/// names.
pub struct Places {
    names: HashMap<String, Vec<TerminalId>>,
    /// By short name in small letters; empty where several hosts share it.
    short: HashMap<String, Vec<TerminalId>>,
    guids: HashMap<Guid, Vec<TerminalId>>,
    aliases: Aliases,
}

impl Places {
    /// The terminals of a fabric, and other names of its hosts.
    pub fn new(fabric: &Fabric, aliases: Aliases) -> Self {
        let mut names: HashMap<String, Vec<TerminalId>> = HashMap::new();
        let mut guids: HashMap<Guid, Vec<TerminalId>> = HashMap::new();
        let mut order: Vec<String> = Vec::new();
        for (i, terminal) in fabric.terminals().iter().enumerate() {
            let t = TerminalId::new(i);
            let name = &fabric.host(fabric.host_of(t)).name;
            if terminal.role != Role::Aggregation && !name.is_empty() {
                let all = names.entry(name.clone()).or_default();
                if all.is_empty() {
                    order.push(name.clone());
                }
                all.push(t);
            }
            let node = fabric.adapter(terminal.adapter).guid;
            guids.entry(node).or_default().push(t);
            if terminal.guid != node {
                guids.entry(terminal.guid).or_default().push(t);
            }
        }
        let mut short: HashMap<String, Vec<TerminalId>> = HashMap::new();
        for name in order {
            let all = names[&name].clone();
            // Ambiguous names stand for nothing.
            short.entry(shortened(&name)).and_modify(Vec::clear).or_insert(all);
        }
        Self { names, short, guids, aliases }
    }

    /// The terminals of an adapter or a port with this GUID; none if none has it.
    pub fn of_guid(&self, guid: u64) -> &[TerminalId] {
        self.guids.get(&Guid(guid)).map_or(&[], Vec::as_slice)
    }

    /// The terminals that a name stands for; none if nothing is called so.
    pub fn of(&self, name: &str) -> &[TerminalId] {
        let name = self.aliases.get(name).map_or(name, String::as_str);
        let guid = || {
            let digits = name.strip_prefix("0x")?;
            self.guids.get(&parse_guid(digits)?)
        };
        self.names
            .get(name)
            .or_else(guid)
            .or_else(|| self.short.get(&shortened(name)))
            .map_or(&[], Vec::as_slice)
    }
}

/// A name without its domain, in small letters.
fn shortened(name: &str) -> String {
    // An address is no name with a domain.
    let is_address = name.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let first = if is_address { name } else { name.split('.').next().unwrap_or(name) };
    first.to_lowercase()
}

/// Reads a file of aliases: an alias and the host's name in the fabric on each line, `#` begins a comment.
///
/// # Errors
/// If there are lines but none has two words.
pub fn read_aliases(text: &str, path: &Path) -> Result<(Aliases, Diagnostics), ReadError> {
    let mut aliases = Aliases::new();
    let mut found = Diagnostics::default();
    for (i, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [] => {}
            &[alias, name] => {
                if aliases.insert(alias.to_owned(), name.to_owned()).is_some() {
                    found.warn(
                        i + 1,
                        format!("alias '{alias}' is given twice"),
                        "the last one counts",
                    );
                }
            }
            other => found.warn(
                i + 1,
                format!("{} words", other.len()),
                "expected an alias and a name; left out",
            ),
        }
    }
    if aliases.is_empty() && !found.is_empty() {
        return Err(ReadError::not_such(path, "no line has two words", "aliases of hosts", ""));
    }
    Ok((aliases, found))
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
        let (aliases, found) = read_aliases(
            "login cn01 # the old name\n\nlogin cn01\nthree words here\n",
            Path::new("x"),
        )
        .expect("one is good");
        assert_eq!(found.0.len(), 2, "{found:?}");
        let places = Places::new(&fabric, aliases);
        for (name, terminals) in [
            ("cn01", vec![0]),
            ("cn01.site.org", vec![0]),
            ("CN01", vec![0]),
            ("cn02", vec![1]),
            ("CN02.site.org", vec![1]),
            ("login", vec![0]),
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
        assert!(read_aliases("one\ntwo\n", Path::new("x")).is_err());
    }
}

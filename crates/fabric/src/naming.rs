//! Names of nodes: replacements for those of a dump, and removal of ambiguous host names.

use std::collections::{BTreeMap, HashMap};

use crate::{AdapterId, Fabric, Host, HostId, Role, SwitchId};

/// New names for some nodes of a fabric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewNames {
    /// New descriptions of switches.
    pub switches: Vec<(SwitchId, String)>,
    /// Descriptions of adapters, and the names of the hosts that they sit in.
    pub adapters: Vec<(AdapterId, AdapterName)>,
}

/// New name of an adapter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdapterName {
    /// Node description of the adapter.
    pub description: String,
    /// The name of its host: adapters with the same host name are in one host.
    pub host: String,
}

/// A name that several hosts have, so that it identifies none of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SharedName {
    /// The shared name.
    pub name: String,
    /// Number of hosts that have it.
    pub hosts: usize,
}

impl Fabric {
    /// The same fabric with new names. Adapters that are given one host name are put in one host; an adapter
    /// that `names` passes over stays with the first of its host's adapters that has a new name. Ids of hosts
    /// may change, all others stay.
    #[must_use]
    pub fn with_names(mut self, names: &NewNames) -> Self {
        for (s, name) in &names.switches {
            self.switches[s.index()].description.clone_from(name);
        }
        // Hosts none of whose adapters has a new name keep theirs, and adapters may join them.
        let mut keeps = vec![true; self.hosts.len()];
        for (a, _) in &names.adapters {
            keeps[self.adapters[a.index()].host.index()] = false;
        }
        let mut by_name: HashMap<String, HostId> = HashMap::new();
        for h in (0..keeps.len()).filter(|&h| keeps[h]) {
            by_name.entry(self.hosts[h].name.clone()).or_insert(HostId::new(h));
        }
        let mut renamed = vec![false; self.hosts.len()];
        for (a, name) in &names.adapters {
            let old = self.adapters[a.index()].host;
            let host = *by_name.entry(name.host.clone()).or_insert_with(|| {
                if std::mem::replace(&mut renamed[old.index()], true) {
                    self.hosts.push(Host::default());
                    HostId::new(self.hosts.len() - 1)
                } else {
                    old
                }
            });
            self.hosts[host.index()].name.clone_from(&name.host);
            let adapter = &mut self.adapters[a.index()];
            adapter.description.clone_from(&name.description);
            adapter.host = host;
        }
        self.without_empty_hosts()
    }

    /// Leaves out hosts that have lost their adapters to others.
    fn without_empty_hosts(mut self) -> Self {
        let mut used = vec![false; self.hosts.len()];
        for adapter in &self.adapters {
            used[adapter.host.index()] = true;
        }
        if used.iter().all(|&u| u) {
            return self;
        }
        let mut new_id = vec![HostId::default(); used.len()];
        let mut hosts = Vec::new();
        for (h, host) in std::mem::take(&mut self.hosts).into_iter().enumerate() {
            if used[h] {
                new_id[h] = HostId::new(hosts.len());
                hosts.push(host);
            }
        }
        self.hosts = hosts;
        for adapter in &mut self.adapters {
            adapter.host = new_id[adapter.host.index()];
        }
        self
    }

    /// The same fabric with hosts that share a name, or have none, renamed to the node GUID of their first adapter;
    /// and the names that were shared. Aggregation nodes keep theirs: users do not address them.
    #[must_use]
    pub fn with_distinct_hosts(mut self) -> (Self, Vec<SharedName>) {
        let mut first = vec![None; self.hosts.len()];
        for (a, adapter) in self.adapters.iter().enumerate().rev() {
            first[adapter.host.index()] = Some(a);
        }
        let mut aggregates = vec![false; self.hosts.len()];
        for t in &self.terminals {
            let host = self.adapters[t.adapter.index()].host;
            aggregates[host.index()] |= t.role == Role::Aggregation;
        }
        let mut count: BTreeMap<&str, usize> = BTreeMap::new();
        for (host, _) in self.hosts.iter().zip(&aggregates).filter(|(_, aggregates)| !**aggregates)
        {
            *count.entry(&host.name).or_default() += 1;
        }
        let shared: Vec<SharedName> = count
            .into_iter()
            .filter(|&(name, hosts)| hosts > 1 && !name.is_empty())
            .map(|(name, hosts)| SharedName { name: name.to_owned(), hosts })
            .collect();
        for (h, host) in self.hosts.iter_mut().enumerate() {
            let no_name = host.name.is_empty()
                || shared.binary_search_by(|s| s.name.as_str().cmp(&host.name)).is_ok();
            if let Some(a) = first[h].filter(|_| no_name && !aggregates[h]) {
                host.name = self.adapters[a].guid.to_string();
            }
        }
        (self, shared)
    }
}

#[cfg(test)]
mod tests {
    use crate::{FabricBuilder, LinkClass, Switch};

    use super::*;

    /// Hosts of these names on one switch.
    fn fabric(names: &[&str]) -> Fabric {
        let mut b = FabricBuilder::new("names");
        let class = b.class(LinkClass::unknown());
        let s = b.add_switch(Switch { ports: 8, description: "old".into(), ..Switch::default() });
        for (port, name) in (1..).zip(names) {
            b.add_host_on(s, port, name, class).expect("a free port");
        }
        b.finish().expect("sound")
    }

    fn called(fabric: &Fabric) -> Vec<&str> {
        fabric.adapters().iter().map(|a| fabric.host(a.host).name.as_str()).collect()
    }

    fn adapter(a: u32, description: &str, host: &str) -> (AdapterId, AdapterName) {
        (AdapterId(a), AdapterName { description: description.into(), host: host.into() })
    }

    #[test]
    fn shared_names_are_no_names() {
        let (distinct, shared) = fabric(&["x", "y", "x", "", "x"]).with_distinct_hosts();
        assert_eq!(shared, [SharedName { name: "x".into(), hosts: 3 }]);
        let guid = |a: u32| distinct.adapter(AdapterId(a)).guid.to_string();
        assert_eq!(called(&distinct), [&guid(0), "y", &guid(2), &guid(3), &guid(4)]);
        let again = distinct.clone().with_distinct_hosts();
        assert_eq!(again, (distinct, Vec::new()));
    }

    #[test]
    fn new_names_join_the_adapters_of_a_host() {
        let names = NewNames {
            switches: vec![(SwitchId(0), "leaf".into())],
            adapters: vec![
                adapter(0, "n1 HCA-1", "n1"),
                adapter(2, "n1 HCA-2", "n1"),
                adapter(3, "b HCA-2", "b"),
            ],
        };
        let old = fabric(&["x", "b", "x", "x"]);
        let digest = old.digest();
        let new = old.with_names(&names);
        assert_eq!(called(&new), ["n1", "b", "n1", "b"]);
        assert_eq!((new.hosts().len(), new.host_count()), (2, 2));
        assert_eq!(new.switch(SwitchId(0)).description, "leaf");
        assert_eq!(new.adapter(AdapterId(2)).description, "n1 HCA-2");
        assert_eq!(new.digest(), digest, "names are nothing that routing sees");
    }

    #[test]
    fn names_may_change_places() {
        let names = NewNames {
            adapters: vec![adapter(0, "b", "b"), adapter(1, "a", "a")],
            ..NewNames::default()
        };
        // Hosts may be renamed in a cycle only if none is confused with the previous owner of the name.
        let new = fabric(&["a", "b"]).with_names(&names);
        assert_eq!(called(&new), ["b", "a"]);
        assert_eq!(new.hosts().len(), 2);
    }
}

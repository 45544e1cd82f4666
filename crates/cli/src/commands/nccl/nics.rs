//! The NICs of NCCL on a fabric: by GUID, by name, by order.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use darkfiber_fabric::{Fabric, Guid, HostId, TerminalId, Unknown, natural_order};
use darkfiber_formats::Diagnostics;
use darkfiber_formats::hostlist;
use darkfiber_formats::input;
use darkfiber_traces::nccl::{HostTopology, LogNic, NcclLog};

use crate::failure::Failure;

/// Finds terminals.
pub(super) struct NicFinder<'a> {
    fabric: &'a Fabric,
    hosts: HashMap<&'a str, HostId>,
    /// By host its terminals, in order.
    terminals: Vec<Vec<TerminalId>>,
    /// By name of a host what NCCL says of its NICs.
    topologies: BTreeMap<String, HostTopology>,
}

/// By host its terminals, in the order in which people count the names of their adapters.
fn by_host(fabric: &Fabric) -> Vec<Vec<TerminalId>> {
    let mut all = vec![Vec::new(); fabric.hosts().len()];
    for t in (0..fabric.terminal_count()).map(TerminalId::new) {
        all[fabric.host_of(t).index()].push(t);
    }
    let name = |t: &TerminalId| &fabric.adapter(fabric.terminal(*t).adapter).description;
    for of in &mut all {
        of.sort_by(|a, b| {
            let port = |t: &TerminalId| fabric.terminal(*t).port;
            natural_order(name(a), name(b)).then(port(a).cmp(&port(b))).then(a.cmp(b))
        });
    }
    all
}

/// By terminal, which of those of its host it is: its rail.
pub(super) fn numbers_in_hosts(fabric: &Fabric) -> Vec<usize> {
    let mut numbers = vec![0; fabric.terminal_count()];
    for of in by_host(fabric) {
        of.iter().enumerate().for_each(|(i, t)| numbers[t.index()] = i);
    }
    numbers
}

/// `HOSTS=FILE` as the names and the file.
pub(super) fn hosts_and_file<'a>(
    text: &'a str,
    option: &str,
) -> Result<(Vec<String>, &'a Path), Failure> {
    let split = text.rsplit_once('=').filter(|(hosts, file)| !hosts.is_empty() && !file.is_empty());
    let Some((hosts, file)) = split else {
        return Err(Failure::usage(format!("{option} {text}: expected HOSTS=FILE"))
            .hint("such as cn[0001-0004]=graph.xml: NCCL writes no name of the host into it"));
    };
    let hosts = hostlist::expand(hosts).map_err(|e| Failure::usage(format!("{option}: {e}")))?;
    Ok((hosts, Path::new(file)))
}

impl<'a> NicFinder<'a> {
    /// For this fabric, with these `HOSTS=FILE` of topologies.
    pub(super) fn new(fabric: &'a Fabric, topologies: &[String]) -> Result<Self, Failure> {
        let terminals = by_host(fabric);
        let named =
            |(i, host): (usize, &'a darkfiber_fabric::Host)| (&host.name[..], HostId::new(i));
        let hosts = fabric.hosts().iter().enumerate().map(named).collect();
        let mut found = Self { fabric, hosts, terminals, topologies: BTreeMap::new() };
        for text in topologies {
            let (hosts, file) = hosts_and_file(text, "--topo")?;
            let topology =
                HostTopology::read(&input::read_text(file)?, file).map_err(Failure::input)?;
            if topology.nics.is_empty() {
                return Err(Failure::input(format!("{}: this host has no NIC", file.display()))
                    .hint("its ranks talk to no other host by NICs that NCCL knows"));
            }
            for host in hosts {
                found.topologies.insert(host, topology.clone());
            }
        }
        Ok(found)
    }

    /// The host of that name, or of its first part.
    pub(super) fn host(&self, name: &str, from: &str) -> Result<HostId, Failure> {
        let short = name.split('.').next().unwrap_or(name);
        let by_first_part = || {
            let is_it = |(host, _): &(&&str, &HostId)| host.split('.').next() == Some(short);
            self.hosts.iter().filter(is_it).map(|(_, id)| *id).min()
        };
        // DNS does not distinguish capital letters.
        let by_letters = || {
            let is_it = |(host, _): &(&&str, &HostId)| host.eq_ignore_ascii_case(short);
            self.hosts.iter().filter(is_it).map(|(_, id)| *id).min()
        };
        self.hosts
            .get(name)
            .or_else(|| self.hosts.get(short))
            .copied()
            .or_else(by_first_part)
            .or_else(by_letters)
            .ok_or_else(|| {
                let known = self.fabric.hosts().iter().map(|host| &*host.name);
                let near = Unknown::new("host", name, known).nearest;
                let other = "is this of another cluster? --node-name-map gives hosts other names";
                let hint = match &near[..] {
                    [] => other.to_owned(),
                    near => format!("closest: {}; {other}", near.join(", ")),
                };
                let fabric = self.fabric.name();
                Failure::input(format!("{from}: host {name} is not on {fabric}")).hint(hint)
            })
    }

    /// All terminals of the terminal's host, by rail.
    pub(super) fn of_host(&self, t: TerminalId) -> &[TerminalId] {
        &self.terminals[self.fabric.host_of(t).index()]
    }

    /// The terminal of a NIC of a host, by its device number and what a log says of all NICs.
    pub(super) fn terminal(
        &self,
        host: &str,
        device: u32,
        log: &NcclLog,
        from: &str,
    ) -> Result<TerminalId, Failure> {
        let id = self.host(host, from)?;
        let own = &self.terminals[id.index()];
        let described = self.topologies.get(host);
        let nic = described.and_then(|t| t.nics.iter().find(|nic| nic.device == device));
        if let (Some(_), None) = (described, nic) {
            return Err(Failure::input(format!(
                "{from}: NIC {device} of {host} is not in its topology (--topo)"
            )));
        }
        if let Some(nic) = nic {
            let of_port = |guid: Guid| {
                let mut with: Vec<TerminalId> =
                    own.iter().copied().filter(|t| self.has_guid(*t, guid)).collect();
                if with.len() > 1 {
                    let by_name: Vec<TerminalId> =
                        with.iter().copied().filter(|t| self.is_called(*t, &nic.name)).collect();
                    with = if by_name.is_empty() { with } else { by_name };
                }
                let right = with.iter().find(|t| self.fabric.terminal(**t).port == nic.port);
                right.or(with.first()).copied()
            };
            let found = of_port(nic.guid).or_else(|| of_port(nic.guid_as_printed));
            return found.ok_or_else(|| {
                Failure::input(format!(
                    "{from}: NIC {} of {host} has GUID {}, which no adapter of that host has on {}",
                    nic.name,
                    nic.guid,
                    self.fabric.name()
                ))
                .hint("is the topology of another host or cluster? Without --topo names are taken")
            });
        }
        let listed = listed(log, host);
        let by_name = self.by_name(own, &listed);
        let named = by_name.and_then(|all| all.into_iter().find(|(of, _)| *of == device));
        let found = named.map(|(_, t)| t).or_else(|| own.get(place(&listed, device)).copied());
        found.ok_or_else(|| {
            let nic = listed.iter().find(|(of, _)| *of == device);
            let name = nic.map_or(String::new(), |(_, nic)| format!(" ({})", nic.name));
            Failure::input(format!(
                "{from}: host {host} has {} on {}, and NCCL uses NIC {device}{name}",
                darkfiber_report::number::counted(own.len(), "adapter port", "adapter ports"),
                self.fabric.name()
            ))
            .hint("give --topo HOSTS=FILE, so that NICs are found by their GUIDs")
        })
    }

    /// The terminals of all NICs that a log lists of a host, by their names; none unless each has one of its own, as a name that
    /// fits by chance (`mlx5_5` is the fourth of eight in some machines) would put two NICs on one port.
    fn by_name(
        &self,
        own: &[TerminalId],
        listed: &[(u32, &LogNic)],
    ) -> Option<Vec<(u32, TerminalId)>> {
        let mut found: Vec<(u32, TerminalId)> = Vec::new();
        for &(device, nic) in listed {
            let called = || own.iter().copied().filter(|t| self.is_called(*t, &nic.name));
            let right = called().find(|t| self.fabric.terminal(*t).port == nic.port);
            let t = right.or_else(|| called().next())?;
            if found.iter().any(|(_, of)| *of == t) {
                return None;
            }
            found.push((device, t));
        }
        (!found.is_empty()).then_some(found)
    }

    /// A warning if NICs of a log cannot be found by GUID or name, so that their order has to do.
    pub(super) fn remarks(&self, log: &NcclLog) -> Diagnostics {
        let mut found = Diagnostics::default();
        let mut hosts: Vec<&String> = log.nics.keys().map(|(host, _)| host).collect();
        hosts.dedup();
        let is_guessed = |host: &&&String| {
            let Ok(id) = self.host(host, "") else { return false };
            !self.topologies.contains_key(&host[..])
                && self.by_name(&self.terminals[id.index()], &listed(log, host)).is_none()
        };
        if let Some(host) = hosts.iter().find(is_guessed) {
            let of_log: Vec<&str> =
                listed(log, host).iter().map(|(_, nic)| &nic.name[..]).collect();
            found.warn(
                0,
                format!(
                    "the NICs of {host} ({}) are not called as its adapters are",
                    of_log.join(", ")
                ),
                "taken in the order of their names; --topo HOSTS=FILE finds them by their GUIDs",
            );
        }
        found
    }

    fn has_guid(&self, t: TerminalId, guid: Guid) -> bool {
        let terminal = self.fabric.terminal(t);
        let adapter = self.fabric.adapter(terminal.adapter);
        [adapter.system_guid, adapter.guid, terminal.guid].contains(&guid)
    }

    /// Whether a node description ends in this name, or in the `HCA-N` of `mlx5_(N-1)`.
    fn is_called(&self, t: TerminalId, name: &str) -> bool {
        let description = &self.fabric.adapter(self.fabric.terminal(t).adapter).description;
        let Some(last) = description.split_whitespace().last() else { return false };
        let hca = name.strip_prefix("mlx5_").and_then(|n| n.parse::<u32>().ok());
        last == name || hca.is_some_and(|n| last == format!("HCA-{}", n + 1))
    }
}

/// The NICs of a host as a log lists them, by device.
fn listed<'l>(log: &'l NcclLog, host: &str) -> Vec<(u32, &'l LogNic)> {
    let all = log.nics.range((host.to_owned(), 0)..);
    all.take_while(|(key, _)| key.0 == host).map(|(key, nic)| (key.1, nic)).collect()
}

/// The position of a device among those that a log lists, by name; its number where it is not listed.
fn place(listed: &[(u32, &LogNic)], device: u32) -> usize {
    let Some((_, nic)) = listed.iter().find(|(of, _)| *of == device) else {
        return device as usize;
    };
    let is_before = |other: &LogNic| {
        natural_order(&other.name, &nic.name).then(other.port.cmp(&nic.port)).is_lt()
    };
    listed.iter().filter(|(_, other)| is_before(other)).count()
}

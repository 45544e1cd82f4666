//! The NICs of NCCL on a fabric: by GUID, by name, by order.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use darkfiber_fabric::{Fabric, Guid, HostId, TerminalId, Unknown, natural_order};
use darkfiber_formats::hostlist;
use darkfiber_formats::input;
use darkfiber_traces::nccl::{HostTopology, LogNic};

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
        self.hosts
            .get(name)
            .or_else(|| self.hosts.get(short))
            .copied()
            .or_else(by_first_part)
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

    /// The terminal of a NIC of a host, by its device number and what a log says of it.
    pub(super) fn terminal(
        &self,
        host: &str,
        device: u32,
        logged: Option<&LogNic>,
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
        let by_name = logged.and_then(|nic| {
            let called: Vec<TerminalId> =
                own.iter().copied().filter(|t| self.is_called(*t, &nic.name)).collect();
            let right = called.iter().find(|t| self.fabric.terminal(**t).port == nic.port);
            right.or(called.first()).copied()
        });
        by_name.or_else(|| own.get(device as usize).copied()).ok_or_else(|| {
            let name = logged.map_or(String::new(), |nic| format!(" ({})", nic.name));
            Failure::input(format!(
                "{from}: host {host} has {} on {}, and NCCL uses NIC {device}{name}",
                darkfiber_report::number::counted(own.len(), "adapter port", "adapter ports"),
                self.fabric.name()
            ))
            .hint("give --topo HOSTS=FILE, so that NICs are found by their GUIDs")
        })
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

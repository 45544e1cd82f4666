//! Networks without port numbers: switches, cables, hosts; and the fabric they make.

use std::borrow::Cow;
use std::collections::HashMap;

use darkfiber_fabric::{BuildError, Fabric, FabricBuilder, HostId, LinkClass, Switch, SwitchId};

use crate::Diagnostics;

/// Ports that a switch can have: the numbers of an InfiniBand switch end here.
pub(crate) const MOST_PORTS: u32 = 254;

/// Cables between two switches, which may be one.
pub(crate) struct Edge {
    /// Line where they are listed, 0 for a file without lines.
    pub(crate) line: usize,
    pub(crate) ends: (usize, usize),
    pub(crate) count: u32,
    /// Class of the cable; `None` = [`Wiring::class`].
    pub(crate) class: Option<LinkClass>,
}

/// A host that the file names. Several with one name are adapters of one host.
pub(crate) struct NamedHost<'a> {
    pub(crate) line: usize,
    pub(crate) name: Cow<'a, str>,
    pub(crate) switch: usize,
    pub(crate) class: Option<LinkClass>,
}

/// A network without port numbers.
pub(crate) struct Wiring<'a> {
    /// Names of the switches.
    pub(crate) names: Vec<Cow<'a, str>>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) hosts: Vec<NamedHost<'a>>,
    /// Hosts without a name on each switch, called after it.
    pub(crate) unnamed: Vec<u8>,
    /// Class of cables without an own class.
    pub(crate) class: LinkClass,
}

impl<'a> Wiring<'a> {
    /// No switch yet; cables are of `class`.
    pub(crate) fn new(class: LinkClass) -> Self {
        Self { names: Vec::new(), edges: Vec::new(), hosts: Vec::new(), unnamed: Vec::new(), class }
    }

    /// Numbers the ports of each switch from 1: unnamed hosts, named hosts, then cables, each in the order of the
    /// file. Cables that would need a 255th port are left out and reported.
    ///
    /// # Errors
    /// As [`FabricBuilder::finish`].
    pub(crate) fn build(&self, name: String, d: &mut Diagnostics) -> Result<Fabric, BuildError> {
        let (ports, hosts, edges) = self.fit(d);
        let mut b = FabricBuilder::new(name);
        for (name, ports) in self.names.iter().zip(&ports) {
            b.add_switch(Switch {
                description: name.clone().into_owned(),
                ports: *ports,
                ..Switch::default()
            });
        }
        let default = b.class(self.class.clone());
        let mut next = vec![1u8; self.names.len()];
        let mut port = |s: usize| {
            let p = next[s];
            next[s] = p.wrapping_add(1);
            (SwitchId::new(s), p)
        };
        for (s, &count) in self.unnamed.iter().enumerate() {
            for k in 1..=u32::from(count).min(MOST_PORTS) {
                let (switch, p) = port(s);
                b.add_host_on(switch, p, &format!("{}-n{k}", self.names[s]), default)?;
            }
        }
        let mut known: HashMap<&str, (HostId, u32)> = HashMap::new();
        for NamedHost { name, switch, class, .. } in hosts {
            let class = class.clone().map_or(default, |c| b.class(c));
            let (host, adapters) =
                known.entry(name).or_insert_with(|| (b.add_host(name.clone()), 0));
            *adapters += 1;
            let (switch, p) = port(*switch);
            b.add_adapter_on(*host, switch, p, &format!("{name} HCA-{adapters}"), class)?;
        }
        for e in edges {
            let class = e.class.clone().map_or(default, |c| b.class(c));
            let (near, far) = (port(e.ends.0), port(e.ends.1));
            b.link_switches(near, far, class)?;
        }
        b.finish()
    }

    /// Ports that each switch needs, and the hosts and cables that find one.
    fn fit(&self, d: &mut Diagnostics) -> (Vec<u8>, Vec<&NamedHost<'a>>, Vec<&Edge>) {
        let mut used: Vec<u32> = vec![0; self.names.len()];
        for (used, &count) in used.iter_mut().zip(&self.unnamed) {
            *used = u32::from(count).min(MOST_PORTS);
        }
        let mut room = |switch: usize| {
            let fits = used[switch] < MOST_PORTS;
            used[switch] += u32::from(fits);
            fits
        };
        let mut full = |line: usize, switch: usize| {
            d.error(
                line,
                format!("switch \"{}\" would have more than 254 ports", self.names[switch]),
                "the cable is left out",
            );
        };
        let mut hosts = Vec::with_capacity(self.hosts.len());
        for host in &self.hosts {
            if room(host.switch) {
                hosts.push(host);
            } else {
                full(host.line, host.switch);
            }
        }
        let mut edges = Vec::with_capacity(self.edges.len());
        for e in &self.edges {
            for _ in 0..e.count {
                let (a, b) = e.ends;
                if !room(a) {
                    full(e.line, a);
                } else if room(b) {
                    edges.push(e);
                } else {
                    // The port at `a` stays empty.
                    full(e.line, b);
                }
            }
        }
        (used.into_iter().map(|n| n as u8).collect(), hosts, edges)
    }
}

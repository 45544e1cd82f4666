//! Building a [`Fabric`]: add nodes, connect ports, finish.

use std::collections::HashMap;

use thiserror::Error;

use crate::fabric::{LOOPBACK, NO_CHANNEL};
use crate::{
    Adapter, AdapterId, Fabric, Guid, Host, HostId, LinkClass, Loopback, Role, Switch, SwitchId,
    Terminal,
};

/// Why nodes and cables do not make a fabric.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A port number that the node does not have.
    #[error("switch {guid} \"{name}\" has {ports} ports, port {port} does not exist")]
    NoSuchPort {
        /// GUID of the node.
        guid: Guid,
        /// Description of the node.
        name: String,
        /// Ports that it has.
        ports: u8,
        /// Port that was requested.
        port: u8,
    },
    /// Two cables at one port.
    #[error("port {port} of \"{name}\" ({guid}) already has a cable")]
    PortTaken {
        /// GUID of the node.
        guid: Guid,
        /// Description of the node.
        name: String,
        /// Port that is taken.
        port: u8,
    },
    /// Two nodes or ports with one GUID.
    #[error("GUID {guid} belongs to both \"{first}\" and \"{second}\"")]
    DuplicateGuid {
        /// GUID that is duplicate.
        guid: Guid,
        /// Description of the first node.
        first: String,
        /// Description of the second node.
        second: String,
    },
    /// More link classes than an index can name.
    #[error("more than 255 different link speeds")]
    TooManyClasses,
}

struct SwitchLink {
    a: (SwitchId, u8),
    b: (SwitchId, u8),
    class: u8,
}

/// Collects nodes and cables and makes a [`Fabric`] of them.
///
/// ```
/// use darkfiber_fabric::{FabricBuilder, LinkClass, Switch};
///
/// let mut b = FabricBuilder::new("pair");
/// let class = b.class(LinkClass::infiniband("4xHDR").unwrap());
/// let s0 = b.add_switch(Switch { ports: 8, description: "left".into(), ..Switch::default() });
/// let s1 = b.add_switch(Switch { ports: 8, description: "right".into(), ..Switch::default() });
/// b.link_switches((s0, 8), (s1, 8), class)?;
/// b.add_host_on(s0, 1, "cn1", class)?;
/// b.add_host_on(s1, 1, "cn2", class)?;
/// let fabric = b.finish()?;
/// assert_eq!((fabric.switch_count(), fabric.terminal_count()), (2, 2));
/// assert_eq!(fabric.link_count(), 3);
/// # Ok::<(), darkfiber_fabric::BuildError>(())
/// ```
#[derive(Default)]
pub struct FabricBuilder {
    name: String,
    switches: Vec<Switch>,
    adapters: Vec<Adapter>,
    hosts: Vec<Host>,
    terminals: Vec<Terminal>,
    links: Vec<SwitchLink>,
    loopbacks: Vec<Loopback>,
    classes: Vec<LinkClass>,
    reserved_lids: Vec<u16>,
    taken: Vec<[u64; 4]>,
}

impl FabricBuilder {
    /// An empty fabric of that name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// The index of a link class, added if new. At most 255 classes are distinguished; further ones are reported by
    /// [`finish`](Self::finish).
    pub fn class(&mut self, class: LinkClass) -> u8 {
        if let Some(i) = self.classes.iter().position(|c| *c == class) {
            return i as u8;
        }
        self.classes.push(class);
        (self.classes.len() - 1).min(255) as u8
    }

    /// Reserves LIDs for ports that are left out.
    pub fn reserve_lids(&mut self, lids: impl IntoIterator<Item = u16>) {
        self.reserved_lids.extend(lids);
    }

    /// Adds a switch. A zero GUID is replaced by one derived from its number, and an unset system
    /// GUID by the node GUID.
    pub fn add_switch(&mut self, mut switch: Switch) -> SwitchId {
        let id = SwitchId::new(self.switches.len());
        if switch.guid.0 == 0 {
            switch.guid = Guid(0x0000_5000_0000_0001 + u64::from(id.0));
        }
        if switch.system_guid.0 == 0 {
            switch.system_guid = switch.guid;
        }
        self.switches.push(switch);
        self.taken.push([0; 4]);
        id
    }

    /// Adds a host.
    pub fn add_host(&mut self, name: impl Into<String>) -> HostId {
        self.hosts.push(Host { name: name.into() });
        HostId::new(self.hosts.len() - 1)
    }

    /// Adds an adapter. A zero GUID is replaced by one derived from its number.
    pub fn add_adapter(&mut self, mut adapter: Adapter) -> AdapterId {
        let id = AdapterId::new(self.adapters.len());
        if adapter.guid.0 == 0 {
            adapter.guid = Guid(0x0000_2000_0000_0010 + (u64::from(id.0) << 4));
        }
        if adapter.system_guid.0 == 0 {
            adapter.system_guid = adapter.guid;
        }
        self.adapters.push(adapter);
        id
    }

    /// Switches added so far.
    pub fn switches(&self) -> &[Switch] {
        &self.switches
    }

    /// Adapters added so far.
    pub fn adapters(&self) -> &[Adapter] {
        &self.adapters
    }

    /// Whether port `port` of `s` already has a cable.
    pub fn is_taken(&self, s: SwitchId, port: u8) -> bool {
        self.taken[s.index()][usize::from(port >> 6)] & (1 << (port & 63)) != 0
    }

    /// Whether a cable could go to port `port` of `s`.
    fn check_free(&self, s: SwitchId, port: u8) -> Result<(), BuildError> {
        let switch = &self.switches[s.index()];
        if port == 0 || port > switch.ports {
            return Err(BuildError::NoSuchPort {
                guid: switch.guid,
                name: switch.description.clone(),
                ports: switch.ports,
                port,
            });
        }
        if self.is_taken(s, port) {
            return Err(BuildError::PortTaken {
                guid: switch.guid,
                name: switch.description.clone(),
                port,
            });
        }
        Ok(())
    }

    fn take(&mut self, s: SwitchId, port: u8) -> Result<(), BuildError> {
        self.check_free(s, port)?;
        self.taken[s.index()][usize::from(port >> 6)] |= 1 << (port & 63);
        Ok(())
    }

    /// Connects two switch ports; both may be of one switch.
    ///
    /// # Errors
    /// If a port does not exist or has a cable.
    pub fn link_switches(
        &mut self,
        a: (SwitchId, u8),
        b: (SwitchId, u8),
        class: u8,
    ) -> Result<(), BuildError> {
        // A refused cable must leave both ports as they were.
        self.check_free(b.0, b.1)?;
        self.take(a.0, a.1)?;
        self.take(b.0, b.1)?;
        if a.0 == b.0 {
            let ports = (a.1.min(b.1), a.1.max(b.1));
            self.loopbacks.push(Loopback { switch: a.0, ports, class });
        } else {
            self.links.push(SwitchLink { a, b, class });
        }
        Ok(())
    }

    /// Connects an adapter port to a switch port: this makes a terminal. All fields of `terminal`
    /// are the caller's; a zero port GUID becomes the adapter's GUID plus the port number.
    ///
    /// # Errors
    /// If the switch port does not exist or has a cable.
    pub fn link_terminal(&mut self, mut terminal: Terminal) -> Result<(), BuildError> {
        self.take(terminal.switch, terminal.switch_port)?;
        if terminal.guid.0 == 0 {
            let adapter = &self.adapters[terminal.adapter.index()];
            terminal.guid = Guid(adapter.guid.0.wrapping_add(u64::from(terminal.port)));
        }
        self.terminals.push(terminal);
        Ok(())
    }

    /// Adds a host with one single-port adapter, `"<name> HCA-1"`, at a switch port.
    ///
    /// # Errors
    /// If the switch port does not exist or has a cable.
    pub fn add_host_on(
        &mut self,
        switch: SwitchId,
        port: u8,
        name: &str,
        class: u8,
    ) -> Result<HostId, BuildError> {
        let host = self.add_host(name);
        self.add_adapter_on(host, switch, port, &format!("{name} HCA-1"), class)?;
        Ok(host)
    }

    /// Adds a single-port adapter to a host and connects it to a switch port.
    ///
    /// # Errors
    /// If the switch port does not exist or has a cable.
    pub fn add_adapter_on(
        &mut self,
        host: HostId,
        switch: SwitchId,
        port: u8,
        description: &str,
        class: u8,
    ) -> Result<AdapterId, BuildError> {
        let adapter = self.add_adapter(Adapter {
            description: description.to_owned(),
            ports: 1,
            host,
            vendor: 0x2c9,
            device: 0x1017,
            ..Adapter::default()
        });
        self.link_terminal(Terminal {
            adapter,
            port: 1,
            guid: Guid(0),
            switch,
            switch_port: port,
            lid: None,
            lmc: 0,
            role: Role::Compute,
            class,
        })?;
        Ok(adapter)
    }

    /// Lays the fabric out.
    ///
    /// # Errors
    /// If two switches, two adapters or two terminals share a GUID, or there are too many classes.
    pub fn finish(self) -> Result<Fabric, BuildError> {
        if self.classes.len() > 255 {
            return Err(BuildError::TooManyClasses);
        }
        self.check_guids()?;
        let Self {
            name,
            switches,
            adapters,
            hosts,
            mut terminals,
            links,
            loopbacks,
            classes,
            mut reserved_lids,
            ..
        } = self;
        reserved_lids.sort_unstable();
        reserved_lids.dedup();
        let n = switches.len();

        let mut ends: Vec<(u32, u8, u32, u8)> = Vec::with_capacity(links.len() * 2);
        for (i, link) in links.iter().enumerate() {
            ends.push((link.a.0.0, link.a.1, i as u32, link.class));
            ends.push((link.b.0.0, link.b.1, i as u32, link.class));
        }
        ends.sort_unstable();
        let m = ends.len();
        let mut channel_start = vec![0u32; n + 1];
        let (mut tail, mut head) = (vec![0u32; m], vec![0u32; m]);
        let (mut tail_port, mut class) = (vec![0u8; m], vec![0u8; m]);
        let mut reverse = vec![0u32; m];
        let mut first_end = vec![u32::MAX; links.len()];
        for (c, &(s, port, link, cl)) in ends.iter().enumerate() {
            channel_start[s as usize + 1] += 1;
            tail[c] = s;
            tail_port[c] = port;
            class[c] = cl;
            let first = &mut first_end[link as usize];
            if *first == u32::MAX {
                *first = c as u32;
            } else {
                reverse[c] = *first;
                reverse[*first as usize] = c as u32;
            }
        }
        for c in 0..m {
            head[c] = tail[reverse[c] as usize];
        }
        for s in 0..n {
            channel_start[s + 1] += channel_start[s];
        }

        terminals.sort_by_key(|t| (t.switch, t.switch_port));
        let mut terminal_start = vec![0u32; n + 1];
        for t in &terminals {
            terminal_start[t.switch.index() + 1] += 1;
        }
        for s in 0..n {
            terminal_start[s + 1] += terminal_start[s];
        }

        let mut port_start = Vec::with_capacity(n + 1);
        let mut slots = 0u32;
        for s in &switches {
            port_start.push(slots);
            slots += u32::from(s.ports) + 1;
        }
        port_start.push(slots);
        let mut channel_at = vec![NO_CHANNEL; slots as usize];
        let slot = |s: usize, port: u8| port_start[s] as usize + port as usize;
        for c in 0..m {
            channel_at[slot(tail[c] as usize, tail_port[c])] = c as u32;
        }
        for (t, terminal) in terminals.iter().enumerate() {
            channel_at[slot(terminal.switch.index(), terminal.switch_port)] = (m + t) as u32;
        }
        for l in &loopbacks {
            channel_at[slot(l.switch.index(), l.ports.0)] = LOOPBACK;
            channel_at[slot(l.switch.index(), l.ports.1)] = LOOPBACK;
        }

        Ok(Fabric {
            name,
            switches,
            adapters,
            hosts,
            terminals,
            loopbacks,
            classes,
            reserved_lids,
            channel_start,
            tail,
            head,
            tail_port,
            reverse,
            class,
            terminal_start,
            port_start,
            channel_at,
        })
    }

    fn check_guids(&self) -> Result<(), BuildError> {
        let nodes = (self.switches.iter().map(|s| (s.guid, s.description.as_str())))
            .chain(self.adapters.iter().map(|a| (a.guid, a.description.as_str())));
        unique(nodes)?;
        unique(self.terminals.iter().map(|t| {
            let a = &self.adapters[t.adapter.index()];
            (t.guid, a.description.as_str())
        }))
    }
}

fn unique<'a>(items: impl Iterator<Item = (Guid, &'a str)>) -> Result<(), BuildError> {
    let mut seen: HashMap<Guid, &str> = HashMap::new();
    for (guid, name) in items {
        if let Some(first) = seen.insert(guid, name) {
            return Err(BuildError::DuplicateGuid {
                guid,
                first: first.to_owned(),
                second: name.to_owned(),
            });
        }
    }
    Ok(())
}

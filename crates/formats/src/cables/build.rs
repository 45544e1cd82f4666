//! Cables between named ports, and the fabric that they make.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use darkfiber_fabric::{
    BuildError, Fabric, FabricBuilder, LinkClass, Switch, SwitchId, natural_order,
};

use super::ports;
use crate::Diagnostics;
use crate::diagnostic::counted;
use crate::format::Options;
use crate::wiring::MOST_PORTS;

/// One end of a cable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CableEnd {
    /// Name of the device.
    pub(super) device: String,
    /// Name of its port.
    pub(super) port: String,
}

/// A cable of the list.
struct Cable {
    line: usize,
    /// By device, by number, and the port.
    ends: [(usize, String); 2],
    gbps: Option<f64>,
}

/// A list of cables while it is read.
#[derive(Default)]
pub(super) struct CableList {
    names: Vec<String>,
    number: HashMap<String, usize>,
    /// Whether a device is a switch, if that is known from elsewhere than the names of ports.
    is_switch: Vec<Option<bool>>,
    cables: Vec<Cable>,
    /// By port of a device, the line of its cable.
    taken: HashMap<(usize, String), usize>,
}

impl CableList {
    fn device(&mut self, name: &str) -> usize {
        if let Some(&known) = self.number.get(name) {
            return known;
        }
        self.number.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        self.is_switch.push(None);
        self.names.len() - 1
    }

    /// Notes that a device is a switch, or a host.
    pub(super) fn set_is_switch(&mut self, device: &str, is_switch: bool) {
        let number = self.device(device);
        // A device that bridges is a switch, whatever else is stated about it.
        let known = &mut self.is_switch[number];
        *known = Some(is_switch || known.unwrap_or(false));
    }

    /// Adds a cable; one at a port that has one already is left out, with a warning.
    pub(super) fn cable(
        &mut self,
        line: usize,
        ends: [CableEnd; 2],
        gbps: Option<f64>,
        d: &mut Diagnostics,
    ) {
        let ends = ends.map(|end| (self.device(&end.device), end.port));
        if ends[0] == ends[1] {
            d.error(
                line,
                format!("a cable from {} {} to itself", self.names[ends[0].0], ends[0].1),
                "the line is left out",
            );
            return;
        }
        for (device, port) in &ends {
            if let Some(before) = self.taken.get(&(*device, port.clone())) {
                d.error(
                    line,
                    format!("{} {port} has a cable already, by line {before}", self.names[*device]),
                    "the line is left out",
                );
                return;
            }
        }
        for end in &ends {
            self.taken.insert(end.clone(), line);
        }
        self.cables.push(Cable { line, ends, gbps });
    }

    /// Whether there is no cable.
    pub(super) fn is_empty(&self) -> bool {
        self.cables.is_empty()
    }

    /// Builds the fabric. Devices of unknown kind are hosts if all of their ports have names like those of hosts. The ports of a
    /// switch are numbered from 1 in the natural order of their names.
    ///
    /// # Errors
    /// As [`FabricBuilder::finish`].
    pub(super) fn build(
        &self,
        name: String,
        options: &Options,
        d: &mut Diagnostics,
    ) -> Result<Fabric, BuildError> {
        let n = self.names.len();
        let mut ports: Vec<BTreeSet<&str>> = vec![BTreeSet::new(); n];
        for (device, port) in self.cables.iter().flat_map(|c| &c.ends) {
            ports[*device].insert(port);
        }
        // A device whose lines were all left out does not exist.
        let is_used = |i: usize| !ports[i].is_empty();
        let is_host: Vec<bool> = (0..n)
            .map(|i| match self.is_switch[i] {
                Some(is_switch) => !is_switch,
                None => ports[i].iter().all(|port| ports::is_of_host(port)),
            })
            .collect();
        let guess = |&i: &usize| is_used(i) && is_host[i] && self.is_switch[i].is_none();
        let guessed = (0..n).filter(guess).count();
        if guessed > 0 {
            let hosts = counted(guessed, "device counts as a host", "devices count as hosts");
            d.note(0, format!("{hosts} by the names of ports (eth0, ens1f0, mlx5_0)"), "");
        }
        let has_hosts = (0..n).any(|i| is_used(i) && is_host[i]);
        let unnamed = if has_hosts { 0 } else { u32::from(options.hosts_per_switch) };
        if unnamed > 0 {
            let hosts = counted(unnamed as usize, "host", "hosts");
            d.note(
                0,
                "no device is a host",
                format!("every switch gets {hosts}: --hosts-per-switch"),
            );
        }

        // Switches, and the numbers of their ports.
        let mut b = FabricBuilder::new(name);
        let mut switch = vec![None; n];
        let mut number: HashMap<(usize, &str), u8> = HashMap::new();
        for i in (0..n).filter(|&i| is_used(i) && !is_host[i]) {
            let mut in_order: Vec<&str> = ports[i].iter().copied().collect();
            in_order.sort_by(|a, b| natural_order(a, b).then(a.cmp(b)));
            let most = (MOST_PORTS - unnamed) as usize;
            if in_order.len() > most {
                d.error(
                    0,
                    format!("switch \"{}\" would have more than 254 ports", self.names[i]),
                    "the last cables are left out",
                );
            }
            let count = in_order.len().min(most) as u32 + unnamed;
            switch[i] = Some(b.add_switch(Switch {
                description: self.names[i].clone(),
                ports: count as u8,
                ..Switch::default()
            }));
            for (place, port) in (unnamed + 1..=count).zip(in_order) {
                number.insert((i, port), place as u8);
            }
        }
        let default = b.class(options.class.clone());
        for (i, s) in switch.iter().enumerate().filter_map(|(i, s)| Some((i, (*s)?))) {
            for k in 1..=unnamed {
                b.add_host_on(s, k as u8, &format!("{}-n{k}", self.names[i]), default)?;
            }
        }
        self.link(&mut b, &switch, &number, default, d)?;
        b.finish()
    }

    /// Puts the cables in, in the order of their lines.
    fn link(
        &self,
        b: &mut FabricBuilder,
        switch: &[Option<SwitchId>],
        number: &HashMap<(usize, &str), u8>,
        default: u8,
        d: &mut Diagnostics,
    ) -> Result<(), BuildError> {
        let mut hosts = BTreeMap::new();
        for cable in &self.cables {
            let [(a, a_port), (z, z_port)] = &cable.ends;
            let class = cable.gbps.map_or(default, |gbps| b.class(ethernet(gbps)));
            let at = |device: usize, port: &String| {
                Some((switch[device]?, *number.get(&(device, port.as_str()))?))
            };
            let (near, far) = (at(*a, a_port), at(*z, z_port));
            match (switch[*a], switch[*z]) {
                (Some(_), Some(_)) => {
                    if let (Some(near), Some(far)) = (near, far) {
                        b.link_switches(near, far, class)?;
                    }
                }
                (None, None) => d.error(
                    cable.line,
                    format!("a cable between two hosts, {} and {}", self.names[*a], self.names[*z]),
                    "it is left out",
                ),
                (of_a, _) => {
                    let (host, nic, end) =
                        if of_a.is_none() { (a, a_port, far) } else { (z, z_port, near) };
                    let Some((s, port)) = end else { continue };
                    let name = &self.names[*host];
                    let id = *hosts.entry(*host).or_insert_with(|| b.add_host(name.clone()));
                    b.add_adapter_on(id, s, port, &format!("{name} {nic}"), class)?;
                }
            }
        }
        Ok(())
    }
}

/// Links of Ethernet of a data rate, in Gbit/s.
fn ethernet(gbps: f64) -> LinkClass {
    #[expect(clippy::cast_sign_loss, reason = "rates are above zero")]
    LinkClass::other(&format!("{gbps}G"), (gbps * 1e9 / 8.0).round() as u64)
}

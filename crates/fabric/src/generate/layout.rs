//! Shared parts of all generators: size limits, GUIDs and names, link classes, hosts in order.

use crate::{
    Adapter, Fabric, FabricBuilder, Guid, LinkClass, Role, Shape, SpecError, Switch, SwitchId,
    Terminal, Topology,
};

use super::Params;
use super::planes::{MAX_PLANES, together};

/// Most ports of a generated switch: 255 is "no path" in a forwarding table.
pub const MAX_PORTS: u64 = 254;
/// Most switches, hosts or terminals of a generated fabric.
pub const MAX_NODES: u64 = 1 << 24;
/// Most cables between switches of a generated fabric. Ids would allow for more, but these already take
/// several gigabytes.
pub const MAX_CABLES: u64 = 1 << 26;

/// Size of a plane that a generator is about to make, computed with saturation so that it cannot overflow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) switches: u64,
    /// Host places; the key `hosts` may leave the last of them empty.
    pub(super) hosts: u64,
    /// Terminals of one host.
    pub(super) rails: u64,
    /// The most ports that any switch uses.
    pub(super) ports: u64,
    /// Number of cables between switches.
    pub(super) cables: u64,
}

/// The product of small numbers, `u64::MAX` if it does not fit.
pub(super) fn product<'a>(factors: impl IntoIterator<Item = &'a u32>) -> u64 {
    (factors.into_iter()).fold(1, |product: u64, &f| product.saturating_mul(f.into()))
}

impl Size {
    fn check(&self, family: &'static str, planes: u32) -> Result<(), SpecError> {
        let all = |of_a_plane: u64| of_a_plane.saturating_mul(planes.into());
        let terminals = self.hosts.saturating_mul(self.rails);
        for (what, count, limit) in [
            ("ports a switch", self.ports, MAX_PORTS),
            ("switches", all(self.switches), MAX_NODES),
            ("terminals", all(terminals), MAX_NODES),
            ("cables", all(self.cables), MAX_CABLES),
        ] {
            if count > limit {
                return Err(SpecError::TooLarge { family, what, count, limit });
            }
        }
        Ok(())
    }
}

/// A fabric in the making.
pub(super) struct Layout {
    builder: FabricBuilder,
    /// Class of switch-to-switch cables.
    pub(super) link: u8,
    host_link: u8,
    radix: u8,
    planes: u32,
    hosts: usize,
    added: usize,
}

impl Layout {
    /// Checks the size and reads the keys that all families have.
    pub(super) fn new(
        params: &Params,
        size: Size,
        link: LinkClass,
        host_link: LinkClass,
    ) -> Result<Self, SpecError> {
        let planes = params.get("planes", 1..=MAX_PLANES)?.unwrap_or(1);
        size.check(params.family(), planes)?;
        let ports = size.ports.max(1) as u32;
        let radix = params.get("radix", ports..=MAX_PORTS as u32)?;
        let hosts = params.get("hosts", 0..=size.hosts as u32)?;
        let stated = params.class("link", "gbps")?;
        // A rate for all cables is one for the hosts' too, unless they have their own.
        let host_link = (params.class("host_link", "host_gbps")?)
            .or_else(|| stated.clone())
            .unwrap_or(host_link);
        let mut builder = FabricBuilder::new(params.text());
        Ok(Self {
            link: builder.class(stated.unwrap_or(link)),
            host_link: builder.class(host_link),
            builder,
            radix: radix.unwrap_or(ports) as u8,
            planes,
            hosts: hosts.map_or(size.hosts as usize, |h| h as usize),
            added: 0,
        })
    }

    /// The index of a further class, or that of `link` where the spec states one for all cables.
    pub(super) fn class(&mut self, params: &Params, class: LinkClass) -> u8 {
        if params.raw("link").is_some() || params.raw("gbps").is_some() {
            return self.link;
        }
        self.builder.class(class)
    }

    /// Adds switch `n` (from 0) of the kind `tag`.
    pub(super) fn switch(&mut self, tag: u64, n: usize, name: String) -> SwitchId {
        self.builder.add_switch(Switch {
            guid: switch_guid(tag, n),
            description: name,
            ports: self.radix,
            vendor: 0x2c9,
            device: 0xcb20,
            ..Switch::default()
        })
    }

    /// Connects two switch ports with a cable of class `class`.
    pub(super) fn cable(
        &mut self,
        a: (SwitchId, u32),
        b: (SwitchId, u32),
        class: u8,
    ) -> Result<(), SpecError> {
        let (a, b) = ((a.0, a.1 as u8), (b.0, b.1 as u8));
        Ok(self.builder.link_switches(a, b, class)?)
    }

    /// Adds the next host with one adapter that has a port for each of `ends`.
    pub(super) fn host(&mut self, ends: &[(SwitchId, u32)]) -> Result<(), SpecError> {
        let Some((host, name)) = self.next_host() else {
            return Ok(());
        };
        let adapter = self.builder.add_adapter(Adapter {
            description: format!("{name} HCA-1"),
            ports: ends.len() as u8,
            host,
            vendor: 0x2c9,
            device: 0x1017,
            ..Adapter::default()
        });
        for (port, &(switch, switch_port)) in (1..).zip(ends) {
            self.builder.link_terminal(Terminal {
                adapter,
                port,
                guid: Guid(0),
                switch,
                switch_port: switch_port as u8,
                lid: None,
                lmc: 0,
                role: Role::Compute,
                class: self.host_link,
            })?;
        }
        Ok(())
    }

    /// Adds the next host with a single-port adapter for each of `ends`.
    pub(super) fn railed_host(&mut self, ends: &[(SwitchId, u32)]) -> Result<(), SpecError> {
        let Some((host, name)) = self.next_host() else {
            return Ok(());
        };
        for (rail, &(switch, port)) in (1..).zip(ends) {
            let name: String = format!("{name} HCA-{rail}");
            (self.builder).add_adapter_on(host, switch, port as u8, &name, self.host_link)?;
        }
        Ok(())
    }

    /// The next host and its name, `None` when all hosts are made.
    fn next_host(&mut self) -> Option<(crate::HostId, String)> {
        if self.added == self.hosts {
            return None;
        }
        self.added += 1;
        let name = host_name(self.added);
        Some((self.builder.add_host(name.clone()), name))
    }

    /// Lays the fabric out, records its `shape` (of one plane), and copies it if the spec requests more planes.
    pub(super) fn finish(
        self,
        shape: impl FnOnce(&Fabric) -> Shape,
    ) -> Result<Topology, SpecError> {
        let fabric = self.builder.finish()?;
        let shape = Some(shape(&fabric));
        let one = Topology { fabric, shape };
        let planes = vec![&one; self.planes as usize];
        Ok(if planes.len() > 1 { together(&planes)? } else { one })
    }
}

/// Name of the `n`-th host, from 1.
pub(crate) fn host_name(n: usize) -> String {
    format!("cn{n:04}")
}

/// GUID of switch `n` (from 0) of a kind (tree level, or another small number): `0x5000_00KK_NNNN` with the number
/// counted from 1. Numbers beyond 16 bits continue above the kind.
pub(crate) fn switch_guid(tag: u64, n: usize) -> Guid {
    debug_assert!(tag < 256);
    let number = n as u64 + 1;
    Guid(0x0000_5000_0000_0000 | number >> 16 << 24 | tag << 16 | number & 0xffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switch_guids_differ_also_beyond_sixteen_bits() {
        assert_eq!(switch_guid(1, 0), Guid(0x5000_0001_0001));
        assert_eq!(switch_guid(0x20, 65_534), Guid(0x5000_0020_ffff));
        let mut seen: Vec<Guid> =
            (1..4).flat_map(|tag| (0..200_000).map(move |n| switch_guid(tag, n))).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 600_000);
    }

    #[test]
    fn products_saturate() {
        assert_eq!(product(&[]), 1);
        assert_eq!(product(&[254; 3]), 254 * 254 * 254);
        assert_eq!(product(&[254; 15]), u64::MAX);
    }
}

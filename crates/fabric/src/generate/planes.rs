//! Planes: copies of a switch network that share the hosts.

use crate::{
    Adapter, AdapterId, BuildError, ChannelId, FabricBuilder, Guid, PlanesShape, Renumbering,
    Shape, Switch, SwitchId, Terminal, TerminalId, Topology,
};

/// Most planes of a generated fabric: more than any host has network ports.
pub const MAX_PLANES: u32 = 64;

/// `planes` copies of the switches of `one`, each with a copy of every host's adapters.
///
/// Switches and terminals come plane by plane, so that those of plane `i` are `i` times the number of
/// one plane further. A host's adapters are numbered through, first those of the first plane.
pub(super) fn replicate(one: &Topology, planes: u32) -> Result<Topology, BuildError> {
    let f = &one.fabric;
    let (switches, terminals) = (f.switch_count(), f.terminal_count());
    let copies = planes as usize;
    let mut b = FabricBuilder::new(f.name());
    for class in f.classes() {
        b.class(class.clone());
    }
    for plane in 0..copies {
        // Bits 32 to 43 of a generated switch GUID are free.
        let guid = |g: Guid| Guid(g.0 | (plane as u64) << 32);
        for s in f.switches() {
            b.add_switch(Switch {
                guid: guid(s.guid),
                system_guid: guid(s.system_guid),
                description: format!("pl{}-{}", plane + 1, s.description),
                ..s.clone()
            });
        }
    }
    let mut of_host = vec![Vec::new(); f.hosts().len()];
    for (i, adapter) in f.adapters().iter().enumerate() {
        of_host[adapter.host.index()].push(i);
    }
    // Place of each adapter of the first plane among the new ones; its copies follow at `stride`.
    let mut first = vec![(0, 0); f.adapters().len()];
    for (host, own) in f.hosts().iter().zip(&of_host) {
        let id = b.add_host(host.name.clone());
        for (i, &adapter) in own.iter().enumerate() {
            first[adapter] = (b.adapters().len() + i, own.len());
        }
        for (i, &adapter) in (1..).zip(own.iter().cycle().take(own.len() * copies)) {
            b.add_adapter(Adapter {
                guid: Guid(0),
                system_guid: Guid(0),
                description: format!("{} HCA-{i}", host.name),
                host: id,
                ..f.adapters()[adapter].clone()
            });
        }
    }
    for plane in 0..copies {
        let switch = |s: SwitchId| SwitchId::new(plane * switches + s.index());
        for t in f.terminals() {
            let (first, stride) = first[t.adapter.index()];
            b.link_terminal(Terminal {
                adapter: AdapterId::new(first + plane * stride),
                guid: Guid(0),
                switch: switch(t.switch),
                ..t.clone()
            })?;
        }
        for c in (0..f.channel_count()).map(ChannelId::new).filter(|&c| c < f.reverse(c)) {
            let (a, z) = (switch(f.tail(c)), switch(f.head(c)));
            b.link_switches((a, f.tail_port(c)), (z, f.head_port(c)), f.class[c.index()])?;
        }
    }
    // Where each came from; here several come from one.
    let map = Renumbering {
        switch: Vec::new(),
        terminal: Vec::new(),
        old_switch: (0..switches * copies).map(|s| SwitchId::new(s % switches)).collect(),
        old_terminal: (0..terminals * copies).map(|t| TerminalId::new(t % terminals)).collect(),
    };
    let shape = one.shape.as_ref().map(|each| {
        Shape::Planes(PlanesShape {
            plane: (0..switches * copies).map(|s| (s / switches) as u8).collect(),
            each: Box::new(each.restricted(&map)),
        })
    });
    Ok(Topology { fabric: b.finish()?, shape })
}

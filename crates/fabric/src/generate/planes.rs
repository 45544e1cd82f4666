//! Planes: switch networks that share the hosts.

use std::collections::BTreeMap;

use crate::{
    Adapter, AdapterId, BuildError, ChannelId, FabricBuilder, Guid, HostId, PlanesShape, Shape,
    Switch, SwitchId, Terminal, Topology,
};

/// Most planes of a generated fabric: more than any host has network ports.
pub const MAX_PLANES: u32 = 64;

/// One fabric of several planes, which share only the hosts of the same name.
///
/// Switches and terminals come plane by plane. A host's adapters are numbered through, first those of the first plane.
pub(crate) fn together(planes: &[&Topology]) -> Result<Topology, BuildError> {
    let mut b = FabricBuilder::new(planes.first().map_or("", |first| first.fabric.name()));
    let mut shape = PlanesShape { plane: Vec::new(), terminal: Vec::new(), each: Vec::new() };
    let mut first_switch = Vec::with_capacity(planes.len());
    for (plane, of) in planes.iter().enumerate() {
        // Bits 32 to 43 of a generated switch GUID are free.
        let guid = |g: Guid| Guid(g.0 | (plane as u64) << 32);
        first_switch.push(shape.plane.len());
        for s in of.fabric.switches() {
            b.add_switch(Switch {
                guid: guid(s.guid),
                system_guid: guid(s.system_guid),
                description: format!("pl{}-{}", plane + 1, s.description),
                ..s.clone()
            });
        }
        shape.plane.extend(of.fabric.switches().iter().map(|_| plane as u8));
        shape.terminal.extend(of.fabric.terminals().iter().map(|_| plane as u8));
        shape.each.push(of.shape.clone());
    }
    let adapters = hosts(planes, &mut b);
    for ((of, &first), adapters) in planes.iter().zip(&first_switch).zip(&adapters) {
        let f = &of.fabric;
        let switch = |s: SwitchId| SwitchId::new(first + s.index());
        let classes: Vec<u8> = f.classes().iter().map(|class| b.class(class.clone())).collect();
        for t in f.terminals() {
            b.link_terminal(Terminal {
                adapter: adapters[t.adapter.index()],
                guid: Guid(0),
                switch: switch(t.switch),
                class: classes[usize::from(t.class)],
                ..t.clone()
            })?;
        }
        for c in (0..f.channel_count()).map(ChannelId::new).filter(|&c| c < f.reverse(c)) {
            let (a, z) = (switch(f.tail(c)), switch(f.head(c)));
            let class = classes[usize::from(f.class[c.index()])];
            b.link_switches((a, f.tail_port(c)), (z, f.head_port(c)), class)?;
        }
    }
    Ok(Topology { fabric: b.finish()?, shape: Some(Shape::Planes(shape)) })
}

/// Adds the hosts of all planes with their adapters; returns by plane the new ids of its adapters.
fn hosts(planes: &[&Topology], b: &mut FabricBuilder) -> Vec<Vec<AdapterId>> {
    // By host, in the order in which planes name them, the plane and number of each adapter.
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    let mut hosts: Vec<(&str, Vec<(usize, usize)>)> = Vec::new();
    for (plane, of) in planes.iter().enumerate() {
        let here: Vec<usize> = (of.fabric.hosts().iter())
            .map(|host| {
                *known.entry(&host.name).or_insert_with(|| {
                    hosts.push((&host.name, Vec::new()));
                    hosts.len() - 1
                })
            })
            .collect();
        for (i, adapter) in of.fabric.adapters().iter().enumerate() {
            hosts[here[adapter.host.index()]].1.push((plane, i));
        }
    }
    let mut made: Vec<Vec<AdapterId>> =
        planes.iter().map(|of| vec![AdapterId(0); of.fabric.adapters().len()]).collect();
    for (name, own) in hosts {
        let host: HostId = b.add_host(name);
        for ((plane, i), number) in own.into_iter().zip(1..) {
            made[plane][i] = b.add_adapter(Adapter {
                guid: Guid(0),
                system_guid: Guid(0),
                description: format!("{name} HCA-{number}"),
                host,
                ..planes[plane].fabric.adapters()[i].clone()
            });
        }
    }
    made
}

//! Records to a fabric.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use darkfiber_fabric::{
    Adapter, AdapterId, Fabric, FabricBuilder, Guid, LinkClass, Switch, SwitchId, Terminal,
    Topology,
};

use super::cables::{Cable, Matcher};
use super::{CableEnd, Key, Node, NodeKind, Records};
use crate::hosts::{HostTable, role_of};
use crate::{Diagnostics, ReadError};

impl Records<'_> {
    /// Builds the fabric from the records.
    pub(crate) fn assemble(
        mut self,
        name: &str,
        path: &Path,
        d: &mut Diagnostics,
    ) -> Result<Topology, ReadError> {
        self.add_undescribed(d);
        let mut matcher = Matcher::new(&self);
        matcher.run(d);
        let cables = matcher.cables;
        let fabric = Assembly::new(&self, name).finish(&cables, d).map_err(|e| {
            ReadError::not_such(
                path,
                e.to_string(),
                "a fabric",
                "the file contradicts itself; make a new dump",
            )
        })?;
        // In the order of the input, remarks about the whole file last.
        d.0.sort_by_key(|x| if x.line == 0 { usize::MAX } else { x.line });
        Ok(Topology { fabric, shape: None })
    }

    /// Makes nodes of those that are referred to but never described: a dump that was cut short has
    /// lost records at its end, but their neighbours name them with port, LID and description.
    fn add_undescribed(&mut self, d: &mut Diagnostics) {
        let mut guids: HashSet<Guid> = self.nodes.iter().filter_map(|n| n.guid).collect();
        for i in 0..self.ports.len() {
            let p = self.ports[i];
            let far = self.index.get(&p.far).copied();
            let Key::Guid(kind, guid) = p.far else {
                if far.is_none() {
                    d.warn(
                        p.line,
                        format!("\"{}\" is never described; the cable is left out", p.far_id),
                        "the dump was cut short or damaged; make a new one",
                    );
                }
                continue;
            };
            if let Some(far) = far {
                let node = &mut self.nodes[far as usize];
                if node.line == 0 {
                    node.ports = node.ports.max(p.far_port.min(254) as u8);
                }
                continue;
            }
            if !guids.insert(guid) {
                d.error(
                    p.line,
                    format!("\"{}\" is described as a node of another type", p.far_id),
                    "the cable is left out; make a new dump",
                );
                continue;
            }
            let description = p.far_description.unwrap_or(p.far_id);
            let (what, made) = match kind {
                NodeKind::Switch => ("switch", "it is made of what its neighbours say"),
                NodeKind::Adapter => ("adapter", "it is made of what its neighbour says"),
                NodeKind::Router => ("router", "it is left out with its cables"),
            };
            d.warn(
                p.line,
                format!("{what} \"{}\" \"{description}\" is never described; {made}", p.far_id),
                "the dump was cut short or damaged; make a new one",
            );
            self.index.insert(p.far, self.nodes.len() as u32);
            self.nodes.push(Node {
                line: 0,
                kind,
                id: p.far_id,
                guid: Some(guid),
                system: guid,
                vendor: 0,
                device: 0,
                ports: p.far_port.min(254) as u8,
                description,
                lid: p.far_lid,
                enhanced_port0: false,
            });
        }
    }
}

/// State while the builder is filled.
struct Assembly<'r, 'a> {
    records: &'r Records<'a>,
    builder: FabricBuilder,
    switch: Vec<Option<SwitchId>>,
    adapter: Vec<Option<AdapterId>>,
    guids: HashSet<Guid>,
    /// Classes by label, `None` for an unknown label.
    labels: HashMap<&'a str, Option<LinkClass>>,
}

impl<'r, 'a> Assembly<'r, 'a> {
    fn new(records: &'r Records<'a>, name: &str) -> Self {
        let mut this = Self {
            records,
            builder: FabricBuilder::new(name),
            switch: vec![None; records.nodes.len()],
            adapter: vec![None; records.nodes.len()],
            guids: records.nodes.iter().filter_map(|n| n.guid).collect(),
            labels: HashMap::new(),
        };
        let mut hosts = HostTable::default();
        for (i, node) in records.nodes.iter().enumerate() {
            let guid = this.guid(node, i);
            let system_guid = if node.system.0 == 0 { guid } else { node.system };
            match node.kind {
                NodeKind::Router => {}
                NodeKind::Switch => {
                    this.switch[i] = Some(this.builder.add_switch(Switch {
                        guid,
                        system_guid,
                        description: node.description.to_owned(),
                        ports: node.ports,
                        lid: node.lid,
                        enhanced_port0: node.enhanced_port0,
                        vendor: node.vendor,
                        device: node.device,
                    }));
                }
                NodeKind::Adapter => {
                    let host = hosts.host(&mut this.builder, node.description, system_guid, guid);
                    this.adapter[i] = Some(this.builder.add_adapter(Adapter {
                        guid,
                        system_guid,
                        description: node.description.to_owned(),
                        ports: node.ports,
                        host,
                        vendor: node.vendor,
                        device: node.device,
                    }));
                }
            }
        }
        this
    }

    /// A node without a GUID (in files for ibsim) gets a unique one.
    fn guid(&mut self, node: &Node, i: usize) -> Guid {
        node.guid.unwrap_or_else(|| {
            let base = match node.kind {
                NodeKind::Switch => 0x0000_5000_0000_0000,
                NodeKind::Adapter | NodeKind::Router => 0x0000_2000_0000_0000,
            };
            let mut guid = Guid(base + ((i as u64 + 1) << 8));
            while !self.guids.insert(guid) {
                guid.0 += 1 << 40;
            }
            guid
        })
    }

    fn finish(
        mut self,
        cables: &[Cable],
        d: &mut Diagnostics,
    ) -> Result<Fabric, darkfiber_fabric::BuildError> {
        let records = self.records;
        self.left_out(cables, d);
        // Link classes are numbered in the order of switches and ports, so that a written fabric has
        // the same numbers when it is read again.
        let mut order: Vec<(SwitchId, u8, usize, CableEnd, CableEnd)> =
            Vec::with_capacity(cables.len());
        for (i, cable) in cables.iter().enumerate() {
            let (a, b) = (cable.a, cable.b);
            match (self.switch[a.0 as usize], self.switch[b.0 as usize]) {
                (Some(s), Some(t)) if (t, b.1) < (s, a.1) => order.push((t, b.1, i, b, a)),
                (Some(s), Some(_)) => order.push((s, a.1, i, a, b)),
                (Some(s), None) if self.adapter[b.0 as usize].is_some() => {
                    order.push((s, a.1, i, a, b));
                }
                (None, Some(t)) if self.adapter[a.0 as usize].is_some() => {
                    order.push((t, b.1, i, b, a));
                }
                _ => {}
            }
        }
        order.sort_unstable_by_key(|o| (o.0, o.1));
        let mut port_guids = HashSet::new();
        let of_switches = records.nodes.iter().filter(|n| n.kind == NodeKind::Switch);
        let mut own: HashSet<u16> = of_switches.filter_map(|n| n.lid).collect();
        let mut linked = vec![false; records.nodes.len()];
        let mut bundles: HashMap<(SwitchId, SwitchId), Vec<(LinkClass, usize)>> = HashMap::new();
        let mut unstated = 0;
        for (switch, switch_port, i, near, far) in order {
            let cable = &cables[i];
            let class = self.class(cable, &mut unstated, d);
            let index = self.builder.class(class.clone());
            if let Some(t) = self.switch[far.0 as usize] {
                if switch != t {
                    let line = records.ports[cable.lines.0 as usize].line;
                    bundles.entry((switch, t)).or_default().push((class, line));
                }
                self.builder.link_switches((switch, switch_port), (t, far.1), index)?;
            } else if let Some(adapter) = self.adapter[far.0 as usize] {
                linked[far.0 as usize] = true;
                let terminal = Terminal {
                    adapter,
                    port: far.1,
                    guid: Guid(0),
                    switch,
                    switch_port,
                    lid: None,
                    lmc: 0,
                    role: role_of(records.nodes[far.0 as usize].description),
                    class: index,
                };
                let terminal = self.terminal(terminal, cable, near, &mut port_guids, d);
                own.extend(terminal.lid);
                self.builder.link_terminal(terminal)?;
            }
        }
        // Ports that are left out keep their LIDs, and those of routers are theirs even if others have them, too.
        for p in &records.ports {
            let kind = |node: u32| records.nodes[node as usize].kind;
            let far = records.index.get(&p.far).map(|&far| kind(far));
            let last = |lid: u16| lid.saturating_add((1 << p.lmc.min(7)) - 1);
            let near = p.lid.map(|lid| (lid..=last(lid), kind(p.node) == NodeKind::Router));
            let far = p.far_lid.map(|lid| (lid..=lid, far == Some(NodeKind::Router)));
            for (lids, is_router) in near.into_iter().chain(far) {
                let is_own = own.contains(lids.start());
                self.builder.reserve_lids(lids.filter(|_| is_router || !is_own));
            }
        }
        slow_in_bundles(bundles, d);
        match unstated {
            0 => {}
            1 => d.note(0, "1 cable states no speed".to_owned(), "it counts as 4xQDR"),
            n => d.note(0, format!("{n} cables state no speed"), "they count as 4xQDR"),
        }
        for (node, _) in records
            .nodes
            .iter()
            .zip(&linked)
            .filter(|(n, linked)| n.kind == NodeKind::Adapter && n.line > 0 && !**linked)
        {
            d.note(
                node.line,
                format!("adapter \"{}\" has no link to a switch", node.description),
                "it stays, without a terminal",
            );
        }
        self.builder.finish()
    }

    /// Completes a terminal: its GUID, LID and LMC are in the adapter's own line, the first two also in that of the
    /// switch.
    fn terminal(
        &self,
        mut terminal: Terminal,
        cable: &Cable,
        near: CableEnd,
        seen: &mut HashSet<Guid>,
        d: &mut Diagnostics,
    ) -> Terminal {
        let records = self.records;
        let line = |i: u32| &records.ports[i as usize];
        let (of_switch, of_adapter) = if cable.a == near {
            (Some(line(cable.lines.0)), cable.lines.1.map(line))
        } else {
            (cable.lines.1.map(line), Some(line(cable.lines.0)))
        };
        terminal.lid = of_adapter.and_then(|p| p.lid).or(of_switch.and_then(|p| p.far_lid));
        terminal.lmc = of_adapter.map_or(0, |p| p.lmc);
        let node = &self.builder.adapters()[terminal.adapter.index()];
        let guid = of_adapter
            .and_then(|p| p.guid)
            .or(of_switch.and_then(|p| p.far_guid))
            .unwrap_or(Guid(node.guid.0.wrapping_add(u64::from(terminal.port))));
        terminal.guid = guid;
        if guid.0 == 0 || !seen.insert(guid) {
            let mut fresh = Guid(node.guid.0.wrapping_add(u64::from(terminal.port)));
            while fresh.0 == 0 || !seen.insert(fresh) {
                fresh.0 = fresh.0.wrapping_add(1 << 40);
            }
            // 0 comes of a node GUID so large that adding the port number overflows.
            if guid.0 != 0 {
                d.error(
                    line(cable.lines.0).line,
                    format!("port GUID {guid} belongs to two ports"),
                    format!("port {} of \"{}\" gets {fresh}", terminal.port, node.description),
                );
            }
            terminal.guid = fresh;
        }
        terminal
    }

    /// Says which cables do not get into the fabric.
    fn left_out(&self, cables: &[Cable], d: &mut Diagnostics) {
        let records = self.records;
        let mut of_router = vec![0usize; records.nodes.len()];
        for cable in cables {
            let kinds = [cable.a, cable.b].map(|e| records.nodes[e.0 as usize].kind);
            if kinds == [NodeKind::Adapter, NodeKind::Adapter] {
                d.warn(
                    records.ports[cable.lines.0 as usize].line,
                    format!(
                        "cable between two adapters: {} and {}",
                        records.end(cable.a),
                        records.end(cable.b)
                    ),
                    "it carries no traffic of the fabric and is left out",
                );
            }
            for end in [cable.a, cable.b] {
                of_router[end.0 as usize] +=
                    usize::from(records.nodes[end.0 as usize].kind == NodeKind::Router);
            }
        }
        for (node, count) in records.nodes.iter().zip(of_router) {
            if node.kind == NodeKind::Router && node.line > 0 {
                d.warn(
                    node.line,
                    format!(
                        "router \"{}\" is left out, and so are its cables: {count}",
                        node.description
                    ),
                    "routes between subnets are not modelled; tables for this fabric have no entry for its LID",
                );
            }
        }
    }

    /// The class of a cable: the slower one if its ends differ.
    fn class(&mut self, cable: &Cable, unstated: &mut usize, d: &mut Diagnostics) -> LinkClass {
        let records = self.records;
        let lines = [Some(cable.lines.0), cable.lines.1];
        let mut class: Option<LinkClass> = None;
        for i in lines.into_iter().flatten() {
            let p = &records.ports[i as usize];
            let Some(label) = p.label else { continue };
            let known = self.labels.entry(label).or_insert_with(|| {
                let known = LinkClass::of_word(&label.replace(' ', ""));
                if known.is_none() {
                    d.warn(
                        p.line,
                        format!("unknown link width and speed \"{label}\""),
                        "it counts as 4xQDR; expected one like 4xHDR",
                    );
                }
                known
            });
            let this = known.clone().unwrap_or_else(LinkClass::unknown);
            match &class {
                None => class = Some(this),
                Some(other) if *other == this => {}
                Some(other) => {
                    let slower = if this.bytes_per_second < other.bytes_per_second {
                        this.clone()
                    } else {
                        other.clone()
                    };
                    d.warn(
                        p.line,
                        format!(
                            "the ends of a cable differ: {} says {}, {} says {}",
                            records.end(cable.a),
                            other.label,
                            records.end(cable.b),
                            this.label
                        ),
                        format!("{} is taken; look at the cable", slower.label),
                    );
                    class = Some(slower);
                }
            }
        }
        let Some(class) = class else {
            *unstated += 1;
            return LinkClass::unknown();
        };
        if class.label.starts_with("1x") {
            d.warn_of_fabric(
                records.ports[cable.lines.0 as usize].line,
                format!(
                    "cable from {} to {} runs at {}",
                    records.end(cable.a),
                    records.end(cable.b),
                    class.label
                ),
                "most likely a bad cable or connector",
            );
        }
        class
    }
}

/// Warns of cables that are slower than others between the same two switches.
fn slow_in_bundles(
    bundles: HashMap<(SwitchId, SwitchId), Vec<(LinkClass, usize)>>,
    d: &mut Diagnostics,
) {
    let mut bundles: Vec<_> = bundles.into_values().filter(|b| b.len() > 1).collect();
    bundles.sort_unstable_by_key(|b| b[0].1);
    for bundle in bundles {
        let best = bundle.iter().max_by_key(|c| c.0.bytes_per_second);
        let Some((best, _)) = best else { continue };
        for (class, line) in &bundle {
            if class.bytes_per_second < best.bytes_per_second {
                d.warn_of_fabric(
                    *line,
                    format!(
                        "cable runs at {}, another between the same switches at {}",
                        class.label, best.label
                    ),
                    "look at the cable",
                );
            }
        }
    }
}

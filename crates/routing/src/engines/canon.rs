//! Routing a lattice in the order of its coordinates, whatever the order of its records and ports.
//!
//! Frugal trees become dimension order on lattices if ties are broken alike everywhere. Ids do that in a
//! generated fabric; in a dump they follow the order of the records, and ports follow the cabling. Where
//! coordinates are known, the fabric is renumbered by them and routed, and the routes are translated back
//! to the old numbers.

use darkfiber_fabric::{
    AtPort, Fabric, FabricBuilder, GridKind, GridShape, LinkClass, Renumbering, Shape, Switch,
    SwitchId, TerminalId,
};

use crate::{DELIVER, Demand, DestId, Layers, NO_ROUTE, Refusal, Request, Routes};

/// Calls `route`, on a lattice in the order of its coordinates.
pub(super) fn in_order(
    fabric: &Fabric,
    request: &Request<'_>,
    route: impl Fn(&Fabric, &Request<'_>) -> Result<Routes, Refusal>,
) -> Result<Routes, Refusal> {
    let Some(Shape::Grid(grid)) = request.shape else { return route(fabric, request) };
    let order = Order::new(fabric, grid);
    let canon = if order.is_kept(fabric) { None } else { order.fabric(fabric) };
    let Some(canon) = canon else { return route(fabric, request) };
    let map = Renumbering {
        switch: Vec::new(),
        terminal: Vec::new(),
        old_switch: order.switches.clone(),
        old_terminal: order.terminals.clone(),
    };
    let shape = request.shape.map(|shape| shape.restricted(&map));
    let roots: Vec<SwitchId> =
        request.roots.iter().map(|s| SwitchId(order.place[s.index()])).collect();
    let demands = order.demands(request.demands);
    let asked =
        Request { shape: shape.as_ref(), roots: &roots, demands: &demands, ..request.clone() };
    let routes = route(&canon, &asked)?;
    Ok(order.back(fabric, &canon, &routes))
}

/// Switches by coordinates, their channels by dimension and direction.
struct Order {
    /// Old switches in the new order.
    switches: Vec<SwitchId>,
    /// New place of each old switch.
    place: Vec<u32>,
    /// Old channels of each new switch in the new order; the new port is one more than the index.
    channels: Vec<Vec<u32>>,
    /// New port of each old channel.
    port: Vec<u8>,
    /// Old terminals in the new order.
    terminals: Vec<TerminalId>,
}

impl Order {
    fn new(fabric: &Fabric, grid: &GridShape) -> Self {
        let n = fabric.switch_count();
        let mut switches: Vec<SwitchId> = (0..n).map(SwitchId::new).collect();
        switches.sort_by(|&a, &b| grid.at(a).cmp(grid.at(b)));
        let mut place = vec![0; n];
        for (i, s) in switches.iter().enumerate() {
            place[s.index()] = i as u32;
        }
        let mut port = vec![0; fabric.channel_count()];
        let channels = switches
            .iter()
            .map(|&s| {
                let mut all: Vec<u32> = fabric.channels_from(s).map(|c| c as u32).collect();
                all.sort_by_key(|&c| step(grid, s, SwitchId(fabric.heads()[c as usize])));
                for (i, &c) in all.iter().enumerate() {
                    port[c as usize] = i as u8 + 1;
                }
                all
            })
            .collect();
        let terminals =
            switches.iter().flat_map(|&s| fabric.terminals_on(s)).map(TerminalId::new).collect();
        Self { switches, place, channels, port, terminals }
    }

    /// Whether it is the order that the fabric has.
    fn is_kept(&self, fabric: &Fabric) -> bool {
        let switches = self.place.iter().enumerate().all(|(i, &p)| i == p as usize);
        switches && (0..fabric.channel_count() as u32).eq(self.channels.iter().flatten().copied())
    }

    /// The fabric in this order; `None` if it has more ports than a switch can have.
    fn fabric(&self, old: &Fabric) -> Option<Fabric> {
        let mut b = FabricBuilder::new(old.name());
        let class = b.class(LinkClass::unknown());
        for _ in &self.switches {
            b.add_switch(Switch { ports: 254, ..Switch::default() });
        }
        for (s, channels) in (0..).map(SwitchId).zip(&self.channels) {
            for &c in channels {
                let back = old.reverses()[c as usize];
                let v = SwitchId(self.place[old.heads()[c as usize] as usize]);
                if c < back {
                    let ends = ((s, self.port[c as usize]), (v, self.port[back as usize]));
                    b.link_switches(ends.0, ends.1, class).ok()?;
                }
            }
        }
        for (i, &s) in self.switches.iter().enumerate() {
            let first = self.channels[i].len() + 1;
            for (k, t) in old.terminals_on(s).enumerate() {
                let port = u8::try_from(first + k).ok()?;
                b.add_host_on(SwitchId::new(i), port, &t.to_string(), class).ok()?;
            }
        }
        let made = b.finish().ok()?;
        Some(made.with_roles(|t, _| old.terminal(self.terminals[t.index()]).role))
    }

    /// Routes of the ordered fabric in the numbers of the old one.
    fn back(&self, old: &Fabric, canon: &Fabric, made: &Routes) -> Routes {
        let n = old.switch_count();
        let mut routes = Routes::empty(&made.engine, old, made.paths());
        // New row of each old one.
        let mut row_of = vec![0; routes.row_count()];
        for (new, &t) in self.terminals.iter().enumerate() {
            for path in 0..made.paths() {
                row_of[routes.row(DestId(t.0), path)] = made.row(DestId::new(new), path);
            }
        }
        for (new, &s) in self.switches.iter().enumerate() {
            let new = DestId::switch(canon, SwitchId::new(new));
            row_of[routes.row(DestId::switch(old, s), 0)] = made.row(new, 0);
        }
        for (row, &new) in row_of.iter().enumerate() {
            let ports = routes.ports_mut(row);
            for (i, s) in self.switches.iter().enumerate() {
                ports[s.index()] = match made.ports(new)[i] {
                    port @ (DELIVER | NO_ROUTE) => port,
                    port => match canon.at_port(SwitchId::new(i), port) {
                        AtPort::Switch(..) => {
                            let c = self.channels[i][usize::from(port) - 1];
                            old.tail_ports()[c as usize]
                        }
                        _ => NO_ROUTE,
                    },
                };
            }
        }
        routes.layers = match &made.layers {
            Layers::One => Layers::One,
            Layers::ByRow(l) => Layers::ByRow(row_of.iter().map(|&new| l[new]).collect()),
            Layers::BySourceSwitch(l) => {
                let mut layer = vec![0; routes.row_count() * n];
                for (row, &new) in row_of.iter().enumerate() {
                    for (i, s) in self.switches.iter().enumerate() {
                        layer[row * n + s.index()] = l[new * n + i];
                    }
                }
                Layers::BySourceSwitch(layer)
            }
            Layers::BySource(_) | Layers::ByHop(_) => {
                unreachable!("engines tell layers by switch")
            }
        };
        routes.notes.clone_from(&made.notes);
        routes
    }

    /// Demands between terminals in the new order.
    fn demands(&self, old: &[Demand]) -> Vec<Demand> {
        if old.is_empty() {
            return Vec::new();
        }
        let mut place = vec![TerminalId(0); self.terminals.len()];
        for (new, t) in self.terminals.iter().enumerate() {
            place[t.index()] = TerminalId::new(new);
        }
        let renamed = |d: &Demand| Demand {
            from: place[d.from.index()],
            to: place[d.to.index()],
            weight: d.weight,
        };
        old.iter().map(renamed).collect()
    }
}

/// Dimension, then direction (or, on a HyperX, place), then the neighbour of a hop.
fn step(grid: &GridShape, from: SwitchId, to: SwitchId) -> (usize, u16) {
    let (a, b) = (grid.at(from), grid.at(to));
    let dimension = a.iter().zip(b).position(|(x, y)| x != y).unwrap_or(a.len());
    let Some(&size) = grid.dims.get(dimension) else {
        return (dimension, 0);
    };
    let place = match grid.kind {
        GridKind::HyperX => b[dimension],
        GridKind::Torus | GridKind::Mesh => (b[dimension] + size - a[dimension]) % size,
    };
    (dimension, place)
}

//! Pairs of tables that look random, the same each time: of several engines, row by row.

use darkfiber_fabric::{Fabric, SwitchId, TerminalId};
use darkfiber_routing::{DestId, Layers, Request, Routes, find_engine};

/// Engines that such tables are of.
pub const ENGINES: &[&str] = &["minhop", "updn", "dfsssp", "nue", "sssp", "lash", "dor"];

/// Numbers that look random; the same each time.
pub struct Dice(pub u64);

impl Dice {
    /// One of `n` numbers from 0.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n as u64) as usize
    }
}

/// Tables of an engine with separate rows and service levels; `None` if it refuses the fabric.
pub fn routed(fabric: &Fabric, engine: &str, lmc: u8) -> Option<Routes> {
    let engine = find_engine(engine).ok()?;
    let routes = engine.route(fabric, &Request { lmc, ..Request::default() }).ok()?;
    // Separate rows, so that those of several engines can be combined.
    let mut own = Routes::empty(&routes.engine, fabric, routes.paths());
    let mut levels = vec![0; own.row_count() * fabric.terminal_count()];
    for d in (0..routes.dest_count()).map(DestId::new) {
        let paths = if d.as_terminal(fabric).is_some() { routes.paths() } else { 1 };
        for path in 0..paths {
            for s in (0..fabric.switch_count()).map(SwitchId::new) {
                if let Some(port) = routes.lft_entry(fabric, s, d, path) {
                    own.set_lft_entry(fabric, s, d, path, port);
                }
            }
            let (from, to) = (routes.row(d, path), own.row(d, path));
            for t in 0..fabric.terminal_count() {
                levels[to * fabric.terminal_count() + t] =
                    routes.layer_on(fabric, TerminalId::new(t), from);
            }
        }
    }
    own.layers = Layers::BySource(levels);
    Some(own)
}

/// The first tables with some rows, and their levels, of others.
pub fn mixed(fabric: &Fabric, mut a: Routes, b: &Routes, dice: &mut Dice) -> Routes {
    let share = 1 + dice.below(4);
    for row in 0..a.row_count() {
        if dice.below(4) < share {
            let ports = b.ports(row).to_vec();
            a.ports_mut(row).copy_from_slice(&ports);
        }
        let n = fabric.terminal_count();
        if dice.below(2) == 0
            && let (Layers::BySource(mine), Layers::BySource(other)) = (&mut a.layers, &b.layers)
        {
            mine[row * n..(row + 1) * n].copy_from_slice(&other[row * n..(row + 1) * n]);
        }
    }
    a
}

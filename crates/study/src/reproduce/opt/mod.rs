//! Nienaber, Mahapatra, Yuan, "Improving Performance of Deterministic Single-path Routing on 2-Level
//! Generalized Fat-trees".

pub(super) mod averages;
pub(super) mod orcs;
mod printed;
pub(super) mod text;
pub(super) mod theorems;
pub(super) mod worst;

use darkfiber_analysis::count::{Paths, worst as most};
use darkfiber_fabric::{TerminalId, Topology, parse_spec};
use darkfiber_routing::{Request, Routes, find_engine};

/// The tree T(n+m,r), routed.
struct Tree {
    topology: Topology,
    routes: Routes,
    who: Vec<TerminalId>,
}

impl Tree {
    fn new((n, m, r): (u32, u32, u32), engine: &str) -> Self {
        let spec = format!("fattree2:n={n},m={m},r={r}");
        let topology = parse_spec(&spec).expect("parameters of printed trees are in range");
        let request = Request { shape: topology.shape.as_ref(), ..Request::default() };
        let engine = find_engine(engine).expect("a registered engine");
        let routes = engine.route(&topology.fabric, &request).expect("any two-level tree");
        let who = (0..topology.fabric.terminal_count()).map(TerminalId::new).collect();
        Self { topology, routes, who }
    }

    fn paths(&self) -> Paths<'_> {
        Paths::new(&self.topology.fabric, &self.routes, &self.who).expect("engines reach all")
    }

    fn worst(&self) -> u32 {
        most(&self.paths(), None).expect("printed trees are small").load
    }
}

/// As the paper names trees.
fn name((n, m, r): (u32, u32, u32)) -> String {
    format!("T({n}+{m},{r})")
}

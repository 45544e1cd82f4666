//! The path of a flow, whatever says it: forwarding tables, or hashes.

use std::sync::Arc;

use darkfiber_fabric::{Fabric, TerminalId};

use crate::ecmp::Ecmp;
use crate::{DestId, Routes, follow};

impl Routes {
    /// Routes by ECMP: the path of a flow is what the switches' hashes pick, number `i` being that of queue pair `i`. There are no
    /// forwarding tables by destination: whoever looks for one finds no route.
    pub fn by_hash(fabric: &Fabric, ecmp: Ecmp) -> Self {
        let paths = ecmp.queue_pairs();
        let slots = fabric.terminal_count() * paths + fabric.switch_count();
        let name = format!("ecmp {}", ecmp.spec());
        let mut routes = Self::with_shared_rows(&name, fabric, paths, vec![0; slots], 1);
        routes.hashed = Some(Arc::new(ecmp));
        routes
    }

    /// Adds to `way` the channels between switches that a flow crosses from one terminal to another, by one of the LIDs or queue
    /// pairs between them; whether it arrives.
    pub fn flow_path(
        &self,
        fabric: &Fabric,
        from: TerminalId,
        to: TerminalId,
        number: usize,
        way: &mut Vec<u32>,
    ) -> bool {
        if let Some(ecmp) = &self.hashed {
            return ecmp.follow(fabric, from, to, number, way);
        }
        let row = self.row(DestId::terminal(to), number);
        follow(fabric, self.ports(row), to, fabric.terminal(from).switch, way)
    }
}

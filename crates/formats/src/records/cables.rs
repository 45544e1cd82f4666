//! Matching the two ends of every cable.

use super::{CableEnd, NodeKind, Records};
use crate::Diagnostics;

const NONE: u32 = u32::MAX;

pub(super) struct Cable {
    pub(super) a: CableEnd,
    pub(super) b: CableEnd,
    /// The port line of end `a`, and that of end `b` if there is one.
    pub(super) lines: (u32, Option<u32>),
}

/// Matches port lines to cables.
pub(super) struct Matcher<'r, 'a> {
    records: &'r Records<'a>,
    /// `start[node] + port - 1`: slot of a port.
    start: Vec<usize>,
    /// Per slot the port line that lists it.
    listed: Vec<u32>,
    /// Per slot its cable.
    cable: Vec<u32>,
    pub(super) cables: Vec<Cable>,
}

impl<'r, 'a> Matcher<'r, 'a> {
    pub(super) fn new(records: &'r Records<'a>) -> Self {
        let mut start = Vec::with_capacity(records.nodes.len());
        let mut slots = 0;
        for node in &records.nodes {
            start.push(slots);
            slots += usize::from(node.ports);
        }
        Self {
            records,
            start,
            listed: vec![NONE; slots],
            cable: vec![NONE; slots],
            cables: Vec::with_capacity(records.ports.len() / 2 + 1),
        }
    }

    fn slot(&self, (node, port): CableEnd) -> usize {
        self.start[node as usize] + usize::from(port) - 1
    }

    pub(super) fn run(&mut self, d: &mut Diagnostics) {
        let records = self.records;
        let usable: Vec<Option<(CableEnd, CableEnd)>> =
            (0..records.ports.len()).map(|i| self.ends(i, d)).collect();
        // First the cables whose two nodes are described: a damaged line that names a node which
        // does not exist must not take the place of a good one.
        for both_described in [true, false] {
            for (i, ends) in usable.iter().enumerate() {
                if let &Some((a, b)) = ends
                    && (records.nodes[b.0 as usize].line > 0) == both_described
                {
                    self.connect(i, a, b, d);
                }
            }
        }
        for cable in &self.cables {
            let far = self.slot(cable.b);
            if cable.lines.1.is_none()
                && self.listed[far] == NONE
                && records.nodes[cable.b.0 as usize].line > 0
                && records.nodes[cable.a.0 as usize].kind != NodeKind::Router
            {
                let line = records.ports[cable.lines.0 as usize].line;
                d.warn(
                    line,
                    format!(
                        "only one end is listed: {} leads to {}, which has no line",
                        records.end(cable.a),
                        records.end(cable.b)
                    ),
                    "the cable is made; make a new dump if it should not be there",
                );
            }
        }
    }

    /// The two ends that port line `i` names, if both exist.
    fn ends(&mut self, i: usize, d: &mut Diagnostics) -> Option<(CableEnd, CableEnd)> {
        let records = self.records;
        let p = &records.ports[i];
        let far = *records.index.get(&p.far)?;
        for (node, port) in [(p.node, p.port), (far, p.far_port)] {
            let n = &records.nodes[node as usize];
            if port == 0 || port > u32::from(n.ports) {
                d.error(
                    p.line,
                    format!(
                        "\"{}\" has {} ports, port {port} does not exist",
                        n.description, n.ports
                    ),
                    "the line is left out",
                );
                return None;
            }
        }
        let (a, b) = ((p.node, p.port as u8), (far, p.far_port as u8));
        let slot = self.slot(a);
        if self.listed[slot] == NONE {
            self.listed[slot] = i as u32;
            return Some((a, b));
        }
        let first = &records.ports[self.listed[slot] as usize];
        let what = format!("{} is already listed in line {}", records.end(a), first.line);
        if (first.far, first.far_port) == (p.far, p.far_port) {
            d.note(p.line, what, "the line is left out");
        } else {
            d.error(
                p.line,
                format!("{what}, with another cable"),
                "the first is kept; make a new dump",
            );
        }
        None
    }

    fn connect(&mut self, i: usize, a: CableEnd, b: CableEnd, d: &mut Diagnostics) {
        let records = self.records;
        let line = records.ports[i].line;
        if a == b {
            d.warn(
                line,
                format!("{} is cabled to itself", records.end(a)),
                "a loopback plug carries no traffic; it is left out",
            );
            return;
        }
        let (slot_a, slot_b) = (self.slot(a), self.slot(b));
        let taken = [self.cable[slot_a], self.cable[slot_b]].into_iter().find(|&c| c != NONE);
        let Some(taken) = taken else {
            let cable = self.cables.len() as u32;
            self.cable[slot_a] = cable;
            self.cable[slot_b] = cable;
            self.cables.push(Cable { a, b, lines: (i as u32, None) });
            return;
        };
        let cable = &mut self.cables[taken as usize];
        if (cable.a, cable.b) == (b, a) {
            cable.lines.1 = Some(i as u32);
            return;
        }
        d.error(
            line,
            format!(
                "{} leads to {} here, but line {} joins {} and {}",
                records.end(a),
                records.end(b),
                records.ports[cable.lines.0 as usize].line,
                records.end(cable.a),
                records.end(cable.b),
            ),
            "the other line is kept; cables may have been moved during the dump, make a new one",
        );
    }
}

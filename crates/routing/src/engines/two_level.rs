//! Two-level trees: which top switch, or which of its cables, a path takes.

use darkfiber_fabric::{Fabric, Pgft, Shape, SwitchId, TerminalId};

use super::dag::Dag;
use super::order::{UpDown, tree_levels};
use super::updn::legal_rows;
use crate::{DELIVER, Engine, Refusal, Request, Routes};

/// A two-level tree whose **slots** are its up paths: the first cable from a leaf to each top switch, then
/// the second to each, and so on. On `T(n+m, r)` of Nienaber, Mahapatra, Yuan there are `m` slots, the top
/// switches.
pub(super) struct TwoLevel {
    updown: UpDown,
    /// Number of each top switch.
    top: Vec<u32>,
    tops: u32,
    /// Number of up paths.
    pub(super) slots: u32,
    /// Per terminal its number in the tree: neighbours hang on one leaf.
    pub(super) number: Vec<u32>,
    /// Per terminal its place among those of its leaf.
    pub(super) place: Vec<u32>,
    /// Terminals of each switch.
    pub(super) size: Vec<u32>,
}

impl TwoLevel {
    /// The two-level tree of a fabric, or why it is none.
    pub(super) fn of(
        engine: &dyn Engine,
        fabric: &Fabric,
        request: &Request<'_>,
    ) -> Result<Self, Refusal> {
        let refuse = |reason: String| Refusal::wrong_fabric(engine, reason);
        let level = tree_levels(fabric, request.shape, request.roots).map_err(refuse)?;
        let levels = level.iter().copied().max().unwrap_or(0);
        if levels != 2 {
            return Err(refuse(format!("this one has {levels} levels")));
        }
        let on_top =
            |s: &usize| level[*s] == 2 && !fabric.terminals_on(SwitchId::new(*s)).is_empty();
        if let Some(s) = (0..level.len()).find(on_top) {
            let name = &fabric.switch(SwitchId::new(s)).description;
            return Err(refuse(format!("there are hosts on top switch \"{name}\"")));
        }
        let pgft = match request.shape {
            Some(Shape::Tree(tree)) => tree.pgft.as_ref(),
            _ => None,
        };
        let top = top_numbers(&level, pgft);
        let tops = level.iter().filter(|&&l| l == 2).count() as u32;
        let of = |t: usize| fabric.terminal(TerminalId::new(t)).switch;
        let terminals = fabric.terminal_count();
        let mut number: Vec<u32> = (0..terminals as u32).collect();
        if let Some(pgft) = pgft {
            number.clone_from(&pgft.index);
        }
        let mut place = vec![0; terminals];
        for s in (0..fabric.switch_count()).map(SwitchId::new) {
            let mut here: Vec<usize> = fabric.terminals_on(s).collect();
            here.sort_by_key(|&t| (number[t], t));
            here.iter().enumerate().for_each(|(i, &t)| place[t] = i as u32);
        }
        // Several terminals of one host share its number.
        let mut order: Vec<usize> = (0..terminals).collect();
        order.sort_by_key(|&t| (number[t], of(t), place[t]));
        order.iter().enumerate().for_each(|(i, &t)| number[t] = i as u32);
        let parallel =
            (0..fabric.switch_count()).map(|s| most_parallel(fabric, s)).max().unwrap_or(1);
        Ok(Self {
            updown: UpDown::from_levels(fabric, &level),
            slots: tops * parallel,
            size: (0..fabric.switch_count())
                .map(|s| fabric.terminals_on(SwitchId::new(s)).len() as u32)
                .collect(),
            top,
            tops,
            number,
            place,
        })
    }

    /// Terminals of the leaf that `t` hangs on.
    pub(super) fn leaf_size(&self, fabric: &Fabric, t: TerminalId) -> u32 {
        self.size[fabric.terminal(t).switch.index()]
    }

    /// Routes in which the sources of class `i` use LID `i` of every destination, and climb to the slot that
    /// `wanted` names for their leaf, their class and the destination. Where a cable is missing the next slot
    /// takes over.
    pub(super) fn route(
        &self,
        engine: &'static str,
        fabric: &Fabric,
        request: &Request<'_>,
        class_of: Vec<u16>,
        wanted: impl Fn(SwitchId, usize, TerminalId) -> u32 + Sync,
    ) -> Result<Routes, Refusal> {
        let paths = class_of.iter().max().map_or(1, |&c| usize::from(c) + 1);
        let mut routes = Routes::empty(engine, fabric, paths.max(request.paths()));
        if paths > 1 {
            routes.set_select(class_of);
        }
        legal_rows(engine, fabric, request, routes, &self.updown, |dag, dest, path, ports| {
            let class = path % paths;
            match dest.as_terminal(fabric) {
                Some(t) => self.send(fabric, dag, |s| wanted(s, class, t), ports),
                None => self.send(fabric, dag, |_| dest.home(fabric).0, ports),
            }
        })
    }

    /// Sends from every switch by the slot that is wanted from there.
    fn send(&self, fabric: &Fabric, dag: &Dag, wanted: impl Fn(SwitchId) -> u32, ports: &mut [u8]) {
        ports[dag.order[0] as usize] = DELIVER;
        for i in 1..dag.order.len() {
            let s = dag.order[i] as usize;
            let candidates = dag.candidates(i);
            let slot = wanted(SwitchId::new(s)) % self.slots;
            let far = |place: usize| {
                let c = candidates[place];
                let before = candidates[..place].iter().filter(|x| x.head == c.head).count() as u32;
                // Down from the top only the cable is open.
                let top = self.top[if self.top[s] == LEAF { c.head as usize } else { s }];
                let here = before * self.tops + if top == LEAF { 0 } else { top };
                (here + self.slots - slot) % self.slots
            };
            let best = (0..candidates.len()).min_by_key(|&place| (far(place), place));
            let c = candidates[best.expect("a switch at a distance has a way")].channel;
            ports[s] = fabric.tail_ports()[c as usize];
        }
    }
}

/// Instead of the number of a top switch.
const LEAF: u32 = u32::MAX;

/// Numbers of the top switches: as parents where the tree is regular, else in order.
fn top_numbers(level: &[u32], pgft: Option<&Pgft>) -> Vec<u32> {
    let mut order: Vec<usize> = (0..level.len()).filter(|&s| level[s] == 2).collect();
    order.sort_by_key(|&s| (pgft.map(|p| p.label(SwitchId::new(s)).to_vec()), s));
    let mut number = vec![LEAF; level.len()];
    order.iter().enumerate().for_each(|(i, &s)| number[s] = i as u32);
    number
}

/// Most cables between a switch and one neighbour.
fn most_parallel(fabric: &Fabric, s: usize) -> u32 {
    let mut heads: Vec<u32> =
        fabric.channels_from(SwitchId::new(s)).map(|c| fabric.heads()[c]).collect();
    heads.sort_unstable();
    heads.chunk_by(|a, b| a == b).map(|same| same.len() as u32).max().unwrap_or(1)
}

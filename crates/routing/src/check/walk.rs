//! Following one table row from every switch.

use darkfiber_fabric::{AtPort, Fabric, SwitchId, TerminalId};

use crate::routes::{DELIVER, NO_ROUTE};

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WalkOutcome {
    /// Delivered after crossing that many switches.
    Reaches(usize),
    /// Ends nowhere, or at a wrong terminal.
    Ends,
    /// Comes back to a switch that it has been to.
    Loops,
}

const UNSEEN: u32 = 0;
const ON_STACK: u32 = u32::MAX;
const ENDS: u32 = u32::MAX - 1;
const LOOPS: u32 = u32::MAX - 2;
const NONE: u32 = u32::MAX;

/// The in-tree of one destination: where each switch sends, and how far it is.
pub(super) struct Walk<'a> {
    fabric: &'a Fabric,
    /// Switches that were visited, downstream before upstream.
    pub(super) order: Vec<u32>,
    /// Pairs that pass each visited switch; the caller's.
    pub(super) weight: Vec<u64>,
    /// Layers of the pairs that pass each visited switch; the caller's.
    pub(super) mask: Vec<u32>,
    /// Hops to the destination, or one of the marks above.
    state: Vec<u32>,
    /// Inter-switch channel that each visited switch sends on.
    next: Vec<u32>,
    stack: Vec<u32>,
    /// Whether all that was visited delivers, and no entry names the port of one terminal: then the
    /// row does the same for every terminal of the destination's switch.
    pub(super) common: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(fabric: &'a Fabric) -> Self {
        let n = fabric.switch_count();
        Self {
            fabric,
            order: Vec::with_capacity(n),
            weight: vec![0; n],
            mask: vec![0; n],
            state: vec![UNSEEN; n],
            next: vec![NONE; n],
            stack: Vec::with_capacity(n),
            common: true,
        }
    }

    /// Follows `ports` towards `dest` from every switch that `sends`.
    pub(super) fn to(&mut self, ports: &[u8], dest: TerminalId, sends: impl Fn(usize) -> bool) {
        for &s in &self.order {
            let s = s as usize;
            self.state[s] = UNSEEN;
            self.weight[s] = 0;
            self.mask[s] = 0;
            self.next[s] = NONE;
        }
        self.order.clear();
        self.common = true;
        for start in 0..ports.len() {
            if self.state[start] == UNSEEN && sends(start) {
                self.follow(ports, dest, start);
            }
        }
    }

    fn follow(&mut self, ports: &[u8], dest: TerminalId, start: usize) {
        let mut s = start;
        let end = loop {
            match self.state[s] {
                UNSEEN => {}
                ON_STACK => break LOOPS,
                known => break known,
            }
            self.state[s] = ON_STACK;
            self.stack.push(s as u32);
            match ports[s] {
                NO_ROUTE => break ENDS,
                DELIVER => {
                    let here = self.fabric.terminal(dest).switch.index() == s;
                    break if here { 0 } else { ENDS };
                }
                port => match self.fabric.at_port(SwitchId::new(s), port) {
                    AtPort::Switch(channel, v) => {
                        self.next[s] = channel.0;
                        s = v.index();
                    }
                    AtPort::Terminal(t) => {
                        self.common = false;
                        break if t == dest { 0 } else { ENDS };
                    }
                    AtPort::Nothing => break ENDS,
                    AtPort::Loopback => break LOOPS,
                },
            }
        };
        self.common &= end < LOOPS;
        let mut hops = end;
        while let Some(v) = self.stack.pop() {
            if hops < LOOPS {
                hops += 1;
            }
            self.state[v as usize] = hops;
            self.order.push(v);
        }
    }

    /// The fate of a packet that enters at visited switch `s`.
    pub(super) fn outcome(&self, s: usize) -> WalkOutcome {
        match self.state[s] {
            LOOPS => WalkOutcome::Loops,
            ENDS => WalkOutcome::Ends,
            hops => WalkOutcome::Reaches(hops as usize),
        }
    }

    /// The inter-switch channel that `s` sends on, if it was visited and has one.
    #[inline]
    pub(super) fn channel(&self, s: usize) -> Option<usize> {
        (self.next[s] != NONE).then_some(self.next[s] as usize)
    }

    /// The last switch of a walk from `s` that does not reach: where it ends, or the first one that
    /// it comes back to.
    pub(super) fn end(&self, s: usize) -> SwitchId {
        let mut seen = vec![false; self.state.len()];
        let mut at = s;
        while let Some(c) = self.channel(at).filter(|_| !seen[at]) {
            seen[at] = true;
            at = self.fabric.heads()[c] as usize;
        }
        SwitchId::new(at)
    }

    /// Whether a packet that enters at `from` passes `through`.
    pub(super) fn passes(&self, from: usize, through: usize) -> bool {
        if self.state[from] == UNSEEN {
            return false;
        }
        let mut at = from;
        // Some go round and round.
        for _ in 0..=self.state.len() {
            if at == through {
                return true;
            }
            match self.channel(at) {
                Some(c) => at = self.fabric.heads()[c] as usize,
                None => return false,
            }
        }
        false
    }
}

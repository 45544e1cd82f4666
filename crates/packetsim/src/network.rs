//! A network in parts that are simulated side by side.
//!
//! Whatever goes from one part to another takes a cable and a switch: so parts need not wait for each other for as long as the
//! quickest of the cables between them takes. They run for such a window each, then exchange what goes from one to another, and
//! go on. What a switch or terminal does in a tick depends on nothing but what reached it before that tick ended, so that what
//! comes out is the same for any parts.

use rayon::prelude::*;

use crate::away::{Away, Mail};
use crate::board::Board;
use crate::cut::cut;
use crate::deadlock::{Look, Watch};
use crate::part::{Arrived, Lengths, Message, Part, Sent};
use crate::routing::Routing;
use crate::{Impossible, Micro, Net};

/// What terminals of a part do.
pub(crate) trait Agent: Send {
    /// A terminal was reminded at a time: what it sends, if anything, and in which tick it will be reminded again.
    fn remind(&mut self, terminal: u32, now: u64) -> (Option<Message>, u64);

    /// A packet is, or will be, at its destination.
    fn arrived(&mut self, arrived: &Arrived);
}

/// A part and what its terminals do.
pub(crate) struct Worker<'n, R, A> {
    pub(crate) part: Part<'n, R>,
    pub(crate) agent: A,
    /// What came from others.
    mail: Vec<Mail>,
    reminded: Vec<u32>,
    sent: Vec<Sent>,
    arrived: Vec<Arrived>,
}

/// All parts.
pub(crate) struct Network<'n, R, A> {
    pub(crate) workers: Vec<Worker<'n, R, A>>,
    /// Ticks that parts need not wait for each other.
    window: u64,
    board: Board,
    watch: Watch,
}

impl<'n, R: Routing, A: Agent> Network<'n, R, A> {
    /// In so many parts, if it has as many switches, with packets of so many bytes, all of them; `agent` is what terminals do, part by part.
    pub(crate) fn new(
        net: &'n Net,
        micro: &'n Micro,
        routing: &'n R,
        bytes: u32,
        seed: u64,
        parts: usize,
        agent: impl Fn(&Part<'n, &'n R>) -> A,
    ) -> Result<Network<'n, &'n R, A>, Impossible> {
        let lengths = Lengths::new(net, micro, routing.lanes(), bytes)?;
        let (firsts, quickest) = cut(net, parts.max(1));
        let ports: Vec<u32> = firsts[..firsts.len() - 1].iter().map(|&s| net.base(s)).collect();
        let worker = |switches: &[u32]| {
            let away = Away::new(ports.clone());
            let switches = switches[0]..switches[1];
            let part = Part::new(net, micro, routing, lengths, switches, away, seed);
            Worker {
                agent: agent(&part),
                part,
                mail: vec![Mail::default(); ports.len()],
                reminded: Vec::new(),
                sent: Vec::new(),
                arrived: Vec::new(),
            }
        };
        // A head takes the pipeline and a cable; room is given back when a packet is through, and a cable later.
        let through = net.quickest(bytes) / u64::from(micro.speedup) + micro.credit;
        let ahead = quickest + micro.pipeline.min(through);
        Ok(Network {
            workers: firsts.windows(2).map(worker).collect(),
            window: (ahead / micro.tick).max(1),
            board: Board::new(if routing.news().is_some() { net.port_count() } else { 0 }),
            watch: Watch::new(net, micro, bytes),
        })
    }
}

impl<R: Routing, A: Agent> Network<'_, R, A> {
    /// Goes on to a tick, which is not begun. Whether anything will happen then or later.
    pub(crate) fn run(&mut self, until: u64) -> bool {
        loop {
            let Some(first) = self.workers.iter().filter_map(Worker::upcoming).min() else {
                return false;
            };
            if first >= until {
                return true;
            }
            if let [worker] = &mut self.workers[..] {
                worker.run(until, &self.board);
                continue;
            }
            let end = until.min(first + self.window);
            let board = &self.board;
            self.workers.par_iter_mut().with_max_len(1).for_each(|w| w.run(end, board));
            self.exchange();
        }
    }

    /// What parts have for each other changes hands.
    fn exchange(&mut self) {
        for to in 0..self.workers.len() {
            for from in 0..self.workers.len() {
                if from != to {
                    let mail = std::mem::take(&mut self.workers[to].mail[from]);
                    let other = &mut self.workers[from].part.away.to[to];
                    self.workers[to].mail[from] = std::mem::replace(other, mail);
                }
            }
        }
    }

    /// All switches tell of their outputs. Between two runs.
    pub(crate) fn tell(&self) {
        self.workers.iter().for_each(|w| w.part.tell(&self.board));
    }

    /// How long to wait between two looks for deadlock.
    pub(crate) fn patience(&self) -> u64 {
        self.watch.patience()
    }

    /// Whether packets wait for each other for ever. Between two runs, at a time.
    pub(crate) fn look_for_deadlock(&mut self, now: u64) -> Look {
        let mut waits = Vec::new();
        self.workers.iter().for_each(|w| w.part.waits(&mut waits));
        self.watch.look(now, self.packets(), &waits)
    }

    /// Packets in the network.
    pub(crate) fn packets(&self) -> usize {
        let under_way =
            |w: &Worker<'_, R, A>| w.mail.iter().map(|m| m.packets.len()).sum::<usize>();
        self.workers.iter().map(|w| w.part.packets() + under_way(w)).sum()
    }

    /// Events so far.
    pub(crate) fn event_count(&self) -> u64 {
        self.workers.iter().map(|w| w.part.event_count()).sum()
    }

    /// Packets times switches that they crossed.
    pub(crate) fn crossed(&self) -> u64 {
        self.workers.iter().map(|w| w.part.switches().crossed).sum()
    }

    /// Packets that were sent again because of wrong bits.
    pub(crate) fn again(&self) -> u64 {
        self.workers.iter().map(|w| w.part.switches().again).sum()
    }
}

impl<R: Routing, A: Agent> Worker<'_, R, A> {
    /// The next tick in which something happens.
    fn upcoming(&self) -> Option<u64> {
        self.part.upcoming().into_iter().chain(self.mail.iter().filter_map(Mail::first)).min()
    }

    /// Goes on to a tick, which is not begun.
    fn run(&mut self, until: u64, board: &Board) {
        for mail in &mut self.mail {
            self.part.take(mail);
        }
        while let Some(tick) = self.part.upcoming().filter(|t| *t < until) {
            self.part.begin(tick, &mut self.reminded, &mut self.sent);
            let now = self.part.now();
            for terminal in self.reminded.drain(..) {
                let (message, again) = self.agent.remind(terminal, now);
                self.part.remind(again, terminal);
                if let Some(message) = message {
                    self.part.send(terminal, message, now, &mut self.sent);
                }
            }
            self.sent.clear();
            self.part.finish(board, &mut self.arrived);
            for arrived in self.arrived.drain(..) {
                self.agent.arrived(&arrived);
            }
        }
    }
}

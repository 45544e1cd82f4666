//! A network in parts that are simulated in parallel.
//!
//! Everything that passes from one part to another takes a cable and a switch: so parts are independent for as long as the
//! quickest of the cables between them takes. They run for one such window each, then exchange packets and credits, and resume.
//! The actions of a switch or terminal in a tick depend only on what reached it before that tick ended, so the results are the
//! same for any partition.

use std::sync::Arc;

use darkfiber_workload::state;
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::cut::cut;
use crate::deadlock::{Look, Watch, WatchState};
use crate::message::{Arrived, Message};
use crate::outbound::{Batch, Outbound};
use crate::partition::{Lengths, Partition, PartitionState};
use crate::queue_board::QueueBoard;
use crate::routing::{Distances, Routing};
use crate::series::Series;
use crate::{ConfigError, Congestion, Net, SwitchModel};

/// The terminals of a part.
pub(crate) trait Agent: Send {
    /// The state that changes during simulation.
    type State: Default + Serialize + DeserializeOwned;

    /// Changes places with another state of it.
    fn swap(&mut self, state: &mut Self::State);

    /// Whether a state is of as many terminals, and all that it names is there.
    fn fits(&self, state: &Self::State) -> bool;

    /// Called for a terminal with a reminder in the tick that begins at `now`: adds the messages it sends and their times,
    /// all in this tick, and returns the tick of its next reminder, if any.
    fn remind(&mut self, terminal: u32, now: u64, sends: &mut Vec<(u64, Message)>) -> Option<u64>;

    /// A packet is, or will be, at its destination.
    fn arrived(&mut self, arrived: &Arrived);
}

/// A part and its terminals.
pub(crate) struct Worker<'n, R, A> {
    pub(crate) part: Partition<'n, R>,
    pub(crate) agent: A,
    /// Batches from other parts.
    mail: Vec<Batch>,
    reminded: Vec<u32>,
    sends: Vec<(u64, Message)>,
    arrived: Vec<Arrived>,
}

/// All parts of a network.
pub(crate) struct Network<'n, R, A> {
    pub(crate) workers: Vec<Worker<'n, R, A>>,
    /// The first switch of each part.
    firsts: Vec<u32>,
    net: &'n Net,
    /// Bytes of a packet at least.
    shortest: u32,
    /// Picoseconds of a tick.
    tick: u64,
    /// Ticks that parts need not wait for each other, and events of the last such time.
    window: u64,
    busy: u64,
    board: QueueBoard,
    /// Interval at which switches report their queues, and the time of the next report.
    news: Option<u64>,
    tells: u64,
    /// The series of port counters, and when its current interval is over.
    series: Option<Series>,
    keeps: u64,
    watch: Watch,
}

state! {
    pub(crate) struct OwnState of(R, A) Network<'_, R, A> {
        board: QueueBoard,
        tells: u64,
        series: Option<Series>,
        keeps: u64,
        ;
        watch: WatchState,
    }
}

/// The state of a network that changes during simulation, between two runs.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct NetworkState<S> {
    own: OwnState,
    /// By part, the state of the partition, of its terminals, and the batches from others.
    workers: Vec<(PartitionState, S, Vec<Batch>)>,
}

/// Beyond the end of all runs.
pub(crate) const NEVER: u64 = u64::MAX / 2;
/// Parts with fewer events together are not worth waking other threads for.
const FEW: u64 = 200;

impl<'n, R: Routing, A: Agent> Network<'n, R, A> {
    /// A network in this number of parts, if it has as many switches, with packets of at most this number of bytes, the shortest of this;
    /// `agent` makes the terminals of each part.
    pub(crate) fn new(
        net: &'n Net,
        micro: &'n SwitchModel,
        routing: &'n R,
        [shortest, bytes]: [u32; 2],
        seed: u64,
        parts: usize,
        agent: impl Fn(&Partition<'n, &'n R>) -> A,
    ) -> Result<Network<'n, &'n R, A>, ConfigError> {
        let lengths = Lengths::new(net, micro, routing.lanes(), bytes)?;
        let (firsts, quickest) = cut(net, parts.max(1));
        let ports: Vec<u32> = firsts[..firsts.len() - 1].iter().map(|&s| net.base(s)).collect();
        let priced = micro.congestion != Congestion::None && micro.tuning.notes.are_priced();
        let note_paths = priced.then(|| Arc::new(Distances::new(net)));
        let worker = |switches: &[u32]| {
            let note_paths = note_paths.clone();
            let away = Outbound::new(ports.clone());
            let switches = switches[0]..switches[1];
            let part =
                Partition::new(net, micro, routing, lengths, switches, (away, note_paths), seed);
            Worker {
                agent: agent(&part),
                part,
                mail: vec![Batch::default(); ports.len()],
                reminded: Vec::new(),
                sends: Vec::new(),
                arrived: Vec::new(),
            }
        };
        let shortest = micro.framing.frame(shortest).max(lengths.least).min(lengths.piece);
        // A head takes the pipeline and a cable; credits are returned when a packet is through, and a cable later.
        let through = net.quickest(shortest) / u64::from(micro.speedup) + micro.credit;
        let ahead = quickest + micro.pipeline.min(through);
        let news = routing.news().map(|n| n.max(micro.tick));
        Ok(Network {
            net,
            shortest,
            tick: micro.tick,
            busy: 0,
            news,
            tells: news.unwrap_or(NEVER),
            series: None,
            keeps: NEVER,
            workers: firsts.windows(2).map(worker).collect(),
            window: (ahead / micro.tick).max(1),
            board: QueueBoard::new(
                if news.is_some() { net.port_count() } else { 0 },
                micro.class_count(),
            ),
            watch: Watch::new(net, micro, micro.framing.frame(bytes)),
            firsts,
        })
    }
}

impl<'n, R: Routing, A: Agent> Network<'n, R, A> {
    /// Takes the changing state out: the network is unusable until [`Network::restore`].
    pub(crate) fn take(&mut self) -> NetworkState<A::State> {
        let mut state = NetworkState { own: OwnState::default(), workers: Vec::new() };
        self.swap(&mut state.own);
        for w in &mut self.workers {
            let mut part =
                (PartitionState::default(), A::State::default(), std::mem::take(&mut w.mail));
            w.part.swap(&mut part.0);
            w.agent.swap(&mut part.1);
            state.workers.push(part);
        }
        state
    }

    /// Whether a state is of this network: as many parts and ports, and all that it names is there.
    pub(crate) fn fits(&self, state: &NetworkState<A::State>) -> bool {
        let (ports, terminals) = (self.net.port_count() as u32, self.net.terminal_count() as u32);
        let is_mail = |m: &Batch| {
            m.packets.iter().all(|(_, port, p)| *port < ports && p.from.max(p.to) < terminals)
                && m.events.iter().all(|(_, e)| e.place() < ports.max(terminals))
                && m.notes.iter().all(|(_, stop, n)| {
                    n.source.max(n.endpoint) < terminals && stop.is_among(terminals, ports)
                })
        };
        state.workers.len() == self.workers.len()
            && state.own.board.is_like(&self.board)
            && self.workers.iter().zip(&state.workers).all(|(w, (part, agent, mail))| {
                w.part.fits(part)
                    && w.agent.fits(agent)
                    && mail.len() == w.mail.len()
                    && mail.iter().all(is_mail)
            })
    }

    /// Restores the state of this network, or of another one of the same fabric, switches, routing and parts.
    pub(crate) fn restore(&mut self, state: NetworkState<A::State>) {
        let NetworkState { mut own, workers } = state;
        self.swap(&mut own);
        for (w, (mut part, mut agent, mail)) in self.workers.iter_mut().zip(workers) {
            w.part.swap(&mut part);
            w.agent.swap(&mut agent);
            w.mail = mail;
        }
    }

    /// The part of a terminal.
    pub(crate) fn worker_of(&mut self, terminal: u32) -> &mut Worker<'n, R, A> {
        let s = self.net.switch_of(terminal);
        &mut self.workers[self.firsts.partition_point(|first| *first <= s) - 1]
    }

    /// Bytes of a packet at least.
    pub(crate) fn shortest(&self) -> u32 {
        self.shortest
    }

    /// Records counters of ports, by intervals of this number of picoseconds, or a tick.
    pub(crate) fn keep_series(&mut self, interval: u64) {
        let interval = interval.max(self.tick);
        self.series = Some(Series::new(self.net, interval));
        self.keeps = interval;
    }

    /// The recorded series.
    pub(crate) fn series(&mut self) -> &mut Option<Series> {
        &mut self.series
    }

    /// The next tick in which something happens.
    pub(crate) fn upcoming(&self) -> Option<u64> {
        self.workers.iter().filter_map(Worker::upcoming).min()
    }

    /// Runs up to a tick, exclusive. Returns whether any event is left then or later.
    pub(crate) fn run(&mut self, until: u64) -> bool {
        loop {
            // Intervals end, and switches report their queues, between ticks.
            let now = self.keeps.min(self.tells);
            let stop = now.div_ceil(self.tick);
            let more = self.go(until.min(stop));
            // If no interval ends and no report is due (`NEVER`), no tick stops the run, not even the last one.
            if stop > until || now == NEVER {
                return more;
            }
            if now >= self.keeps {
                self.keep(now);
            }
            if now >= self.tells {
                self.workers.iter().for_each(|w| w.part.tell(&self.board));
                // While there are no events the queues do not change.
                let next = self.upcoming().map_or(until, |t| t.min(until)) * self.tick;
                let news = self.news.unwrap_or(NEVER);
                self.tells += news * (next.saturating_sub(self.tells) / news).max(1);
            }
        }
    }

    /// An interval of the series is over.
    pub(crate) fn keep(&mut self, now: u64) {
        let packets = self.packets() as u64;
        let Some(series) = &mut self.series else { return };
        for w in &mut self.workers {
            w.part.keep(now, series);
        }
        series.packets.push(packets);
        series.halve();
        self.keeps = now + series.interval;
    }

    fn go(&mut self, until: u64) -> bool {
        loop {
            let Some(first) = self.upcoming() else { return false };
            if first >= until {
                return true;
            }
            if let [worker] = &mut self.workers[..] {
                worker.run(until, &self.board);
                continue;
            }
            let end = until.min(first + self.window);
            let board = &self.board;
            let before = self.event_count();
            if self.busy < FEW {
                self.workers.iter_mut().for_each(|w| w.run(end, board));
            } else {
                self.workers.par_iter_mut().with_max_len(1).for_each(|w| w.run(end, board));
            }
            self.busy = self.event_count() - before;
            self.exchange();
        }
    }

    /// Exchanges the batches between parts.
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

    /// Time between two checks for deadlock.
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
        let under_way = |w: &Worker<'_, R, A>| {
            let mail = if w.part.counts_between() { &w.mail[..] } else { &[] };
            mail.iter().map(|m| m.packets.len().cast_signed()).sum::<isize>()
        };
        let all: isize = self.workers.iter().map(|w| w.part.packets() + under_way(w)).sum();
        usize::try_from(all).unwrap_or(0)
    }

    /// Number of events so far.
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
        self.part.upcoming().into_iter().chain(self.mail.iter().filter_map(Batch::first)).min()
    }

    /// Runs up to a tick, exclusive.
    fn run(&mut self, until: u64, board: &QueueBoard) {
        for mail in &mut self.mail {
            self.part.take(mail);
        }
        while let Some(tick) = self.part.upcoming().filter(|t| *t < until) {
            self.part.begin(tick, &mut self.reminded);
            let now = self.part.now();
            for terminal in self.reminded.drain(..) {
                if let Some(again) = self.agent.remind(terminal, now, &mut self.sends) {
                    self.part.remind(again, terminal);
                }
                for (when, message) in self.sends.drain(..) {
                    self.part.send(terminal, message, when);
                }
            }
            self.part.finish(board, &mut self.arrived);
            for arrived in self.arrived.drain(..) {
                self.agent.arrived(&arrived);
            }
        }
    }
}

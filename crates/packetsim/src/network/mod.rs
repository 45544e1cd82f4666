//! A network in parts that are simulated in parallel.
//!
//! Everything that passes from one part to another takes a cable and a switch: so parts are independent for as long as the
//! quickest of the cables between them takes. They run for one such window each, then exchange packets and credits, and resume.
//! The actions of a switch or terminal in a tick depend only on what reached it before that tick ended, so the results are the
//! same for any partition.
//!
//! What is asked rarely and asks no routing is not inlined: its copies for all routings have the same instructions, of which
//! linkers keep one.
//!
//! Several processes may share the parts: each runs its own, and what is decided for all is decided from sums that all know.

mod checkpoint;
mod division;
mod totals;

use std::ops::Range;

use darkfiber_workload::state;
use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) use self::checkpoint::{NetworkState, read_share};
use crate::deadlock::{Watch, WatchState};
use crate::message::{Arrived, Message};
use crate::outbound::{Batch, Outbound};
use crate::partition::Partition;
use crate::processes::Parts;
use crate::queue_board::QueueBoard;
use crate::remote::Remote;
use crate::routing::Routing;
use crate::series::Series;
use crate::{ConfigError, Interleave, Net, SwitchModel};
use division::Division;

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

/// All parts of a network, or those of this process.
pub(crate) struct Network<'n, R, A> {
    pub(crate) workers: Vec<Worker<'n, R, A>>,
    /// Number of the first of them.
    first: usize,
    /// The first switch of each part, those of other processes included.
    firsts: Vec<u32>,
    /// The other processes, if there are any.
    remote: Option<Remote<'n>>,
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

/// Beyond the end of all runs.
pub(crate) const NEVER: u64 = u64::MAX / 2;
/// The next tick of a process without events.
const NOTHING: u64 = u64::MAX;
/// Parts with fewer events together are not worth waking other threads for.
const FEW: u64 = 200;

impl<'n, R: Routing, A: Agent> Network<'n, R, A> {
    /// A network in this number of parts, if it has as many switches, with packets of at most this number of bytes, the shortest of this;
    /// `agent` makes the terminals of each part. Of several processes each has some parts.
    // Once a run, and once for each routing in the program: small rather than fast.
    #[cold]
    #[inline(never)]
    pub(crate) fn new(
        net: &'n Net,
        micro: &'n SwitchModel,
        routing: &'n R,
        [shortest, bytes]: [u32; 2],
        seed: u64,
        parts: Parts<'n>,
        agent: impl Fn(&Partition<'n, &'n R>) -> A,
    ) -> Result<Network<'n, &'n R, A>, ConfigError> {
        let notes = micro.acknowledges(R::STEADY);
        let division = Division::new(net, micro, routing.lanes(), [shortest, bytes], parts, notes)?;
        if notes && micro.interleave == Interleave::Flits {
            return Err(ConfigError(
                "packets that are cut into flits take no order and no acknowledgement: ordered = false (--ordered no), or tables"
                    .to_owned(),
            ));
        }
        let Division { lengths, firsts, mine, ports, note_paths, shortest, window, remote } =
            division;
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
            workers: firsts[mine.start..=mine.end].windows(2).map(worker).collect(),
            window,
            first: mine.start,
            remote,
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
    /// The part of a terminal, if it is of this process.
    pub(crate) fn worker_of(&mut self, terminal: u32) -> Option<&mut Worker<'n, R, A>> {
        let s = self.net.switch_of(terminal);
        let part = self.firsts.partition_point(|first| *first <= s) - 1;
        self.workers.get_mut(part.checked_sub(self.first)?)
    }

    /// Bytes of a packet at least.
    pub(crate) fn shortest(&self) -> u32 {
        self.shortest
    }

    /// Records counters of ports, by intervals of this number of picoseconds, or a tick.
    #[inline(never)]
    pub(crate) fn keep_series(&mut self, interval: u64) {
        let interval = interval.max(self.tick);
        self.series = Some(Series::new(self.net, interval));
        self.keeps = interval;
        self.workers.iter_mut().for_each(|w| w.part.begin_interval(interval));
    }

    /// The recorded series.
    pub(crate) fn series(&mut self) -> &mut Option<Series> {
        &mut self.series
    }

    /// The next tick in which something happens.
    pub(crate) fn upcoming(&self) -> Option<u64> {
        let here = self.upcoming_here();
        let Some(remote) = &self.remote else { return here };
        Some(remote.processes().min(here.unwrap_or(NOTHING))).filter(|next| *next != NOTHING)
    }

    /// The next tick in which something happens in this process.
    pub(crate) fn upcoming_here(&self) -> Option<u64> {
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
                self.tell();
                // While there are no events the queues do not change.
                let next = self.upcoming().map_or(until, |t| t.min(until)) * self.tick;
                let news = self.news.unwrap_or(NEVER);
                self.tells += news * (next.saturating_sub(self.tells) / news).max(1);
            }
        }
    }

    /// An interval of the series is over.
    #[inline(never)]
    pub(crate) fn keep(&mut self, now: u64) {
        let (packets, ports_here) = (self.packets() as u64, self.ports());
        let Some(series) = &mut self.series else { return };
        let before = series.cell_count();
        for w in &mut self.workers {
            w.part.keep(now, series);
        }
        if let Some(remote) = &self.remote {
            let ports = remote.ports();
            let all = remote.gather(&series.cut_off(before, ports_here));
            all.into_iter().zip(ports).for_each(|(rest, &first)| series.append(first, rest));
        }
        series.packets.push(packets);
        series.halve();
        self.keeps = now + series.interval;
    }

    /// Switches report their queues.
    #[inline(never)]
    fn tell(&mut self) {
        self.workers.iter().for_each(|w| w.part.tell(&self.board));
        let Some(remote) = &self.remote else { return };
        let all = remote.processes().gather(self.board.bytes(self.ports()));
        for (bytes, &first) in all.iter().zip(remote.ports()) {
            self.board.take(first, bytes);
        }
    }

    /// Ports of the parts of this process.
    fn ports(&self) -> Range<u32> {
        let (first, end) = (self.first, self.first + self.workers.len());
        self.net.base(self.firsts[first])..self.net.base(self.firsts[end])
    }

    /// Runs up to a tick, exclusive, that is not after the next report or end of an interval.
    fn go(&mut self, until: u64) -> bool {
        let Some(remote) = self.remote.take() else { return self.go_here(until) };
        let mut next = remote.processes().min(self.upcoming_here().unwrap_or(NOTHING));
        while next < until {
            self.go_here(until.min(next + remote.window()));
            next = self.exchange_with_others(&remote);
        }
        self.remote = Some(remote);
        next != NOTHING
    }

    /// As [`Network::go`], for the parts of this process: nothing of others arrives before `until`.
    fn go_here(&mut self, until: u64) -> bool {
        loop {
            let Some(first) = self.upcoming_here() else { return false };
            if first >= until {
                return true;
            }
            if let [worker] = &mut self.workers[..] {
                worker.run(until, &self.board);
                continue;
            }
            let end = until.min(first + self.window);
            let board = &self.board;
            let before = self.event_count_here();
            if self.busy < FEW {
                self.workers.iter_mut().for_each(|w| w.run(end, board));
            } else {
                self.workers.par_iter_mut().with_max_len(1).for_each(|w| w.run(end, board));
            }
            self.busy = self.event_count_here() - before;
            self.exchange();
        }
    }

    /// Exchanges the batches between parts of this process.
    fn exchange(&mut self) {
        let first = self.first;
        for to in 0..self.workers.len() {
            for from in 0..self.workers.len() {
                if from != to {
                    let mail = std::mem::take(&mut self.workers[to].mail[first + from]);
                    let other = &mut self.workers[from].part.away.to[first + to];
                    self.workers[to].mail[first + from] = std::mem::replace(other, mail);
                }
            }
        }
    }

    /// Exchanges batches with other processes; returns the next tick of all.
    #[inline(never)]
    fn exchange_with_others(&mut self, remote: &Remote<'n>) -> u64 {
        let (first, mine) = (self.first, remote.parts());
        let next = self.upcoming_here().unwrap_or(NOTHING);
        let mut mail = Vec::new();
        let batches = self.workers.iter_mut().enumerate().flat_map(|(from, worker)| {
            let all = worker.part.away.to.iter_mut().enumerate();
            let others = all.filter(|(to, _)| !mine.contains(to));
            others.map(move |(to, batch)| (first + from, to, batch))
        });
        let next = remote.exchange(next, batches, |from, to, batch| mail.push((from, to, batch)));
        for (from, to, batch) in mail {
            self.workers[to - first].mail[from].add(batch);
        }
        next
    }

    /// Number of events of this process so far.
    fn event_count_here(&self) -> u64 {
        self.workers.iter().map(|w| w.part.event_count()).sum()
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

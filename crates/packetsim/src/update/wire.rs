//! Messages of programs over reliable connections whose tables change.

use darkfiber_fabric::{Fabric, TerminalId};
use darkfiber_workload::play::{Delivery, Departure, Host, NetworkModel};

use super::UpdateOutcome;
use super::adapters::Adapters;
use super::manager::Manager;
use super::prepared::PreparedUpdate;
use super::queue_pair::PendingMessage;
use super::tables::LiveTables;
use crate::attached::Attached;
use crate::deadlock::{Look, Stalled, Watch};
use crate::measure::{Measured, Measuring};
use crate::message::Arrived;
use crate::outbound::Outbound;
use crate::partition::{Lengths, Partition};
use crate::queue_board::QueueBoard;
use crate::routing::Routing;
use crate::series::Series;
use crate::{ConfigError, Congestion, Interleave, Net, Pauses, SwitchModel};

/// A [`NetworkModel`] whose messages go over reliable connections, one for each pair of terminals, while tables are updated.
///
/// Every message is cut into packets, each acknowledged by a separate packet; it has arrived when all of it has, in order. The
/// network is one partition: the manager and all hosts act between its ticks and within them in a fixed order, so equal seeds
/// give equal runs for any number of threads.
pub struct Connected<'a> {
    net: &'a Net,
    attached: Attached<'a>,
    tick: u64,
    part: Partition<'a, &'a LiveTables>,
    adapters: Adapters<'a>,
    manager: Manager<'a>,
    board: QueueBoard,
    watch: Watch,
    /// When to look for deadlock next.
    looks: u64,
    /// Minimum delay from a packet's departure at a last switch until any terminal is notified.
    ahead: u64,
    /// The first tick that is not simulated.
    next: u64,
    ready: Vec<u64>,
    /// Number of messages in flight.
    open: u64,
    measured: Vec<Measured>,
    series: Option<(Series, u64)>,
    reminded: Vec<u32>,
    arrived: Vec<Arrived>,
    stalled: Option<Stalled>,
}

/// All packets count.
const ALL: Measuring = Measuring { from: 0, to: u64::MAX };

impl<'a> Connected<'a> {
    /// Connections over a network whose tables are updated, in packets of at most `bytes` bytes of data.
    ///
    /// # Errors
    /// If switches and packets do not go together, or there is congestion control, a traffic class, or flits that are interleaved: none
    /// is simulated together with updates.
    pub fn new(
        net: &'a Net,
        micro: &'a SwitchModel,
        prepared: &'a PreparedUpdate<'a>,
        fabric: &Fabric,
        host: &'a Host,
        bytes: u32,
        seed: u64,
    ) -> Result<Self, ConfigError> {
        if micro.congestion != Congestion::None || !micro.classes.is_empty() {
            return Err(ConfigError(
                "updates under traffic are simulated without congestion control and traffic classes: remove them from [packets]"
                    .to_owned(),
            ));
        }
        if micro.reorder.is_some() {
            return Err(ConfigError(
                "updates under traffic have queue pairs of their own: remove reorder-window from [packets]"
                    .to_owned(),
            ));
        }
        if micro.flowlet.is_some() {
            return Err(ConfigError(
                "updates under traffic are of tables, which send a pair one way only: remove flowlet from [packets]"
                    .to_owned(),
            ));
        }
        let datagram = prepared.update.hosts.datagrams.map_or(0, |d| d.bytes);
        if datagram > bytes {
            return Err(ConfigError(format!(
                "a datagram is one packet, of {bytes} bytes at most, and datagram-bytes of [update] is {datagram}"
            )));
        }
        if micro.interleave == Interleave::Flits {
            return Err(ConfigError(
                "updates under traffic are simulated with whole packets: remove interleave from [packets]"
                    .to_owned(),
            ));
        }
        let update = prepared.update;
        let lengths = Lengths::new(net, micro, prepared.tables.lanes(), bytes)?;
        let overhead = micro.framing.frame(0);
        let part = Partition::new(
            net,
            micro,
            &prepared.tables,
            lengths,
            0..net.switch_count() as u32,
            (Outbound::new(vec![0]), None),
            seed,
        );
        let adapters = Adapters::new(
            net,
            &update.hosts,
            prepared.generations.clone(),
            [bytes, overhead],
            micro.tick,
            update.seed,
        );
        let manager = Manager::new(
            net,
            &update.hosts,
            update.delays,
            (&prepared.images, &prepared.blocks, &prepared.tables),
            update.at,
            &prepared.steps,
            prepared.dying.clone(),
            update.seed,
        );
        let shortest = micro.framing.frame(0).max(lengths.least);
        let attached = Attached::new(net, micro, fabric, host);
        let ahead = attached.ahead(shortest).unwrap_or(0).max(micro.tick) + host.adapters;
        let n = net.terminal_count();
        let watch = Watch::new(net, micro, lengths.wire);
        let mut wire = Self {
            net,
            attached,
            tick: micro.tick,
            looks: watch.patience(),
            board: QueueBoard::new(0, micro.class_count()),
            watch,
            ahead,
            next: 0,
            ready: vec![0; n],
            open: 0,
            measured: Vec::new(),
            series: None,
            reminded: Vec::new(),
            arrived: Vec::new(),
            stalled: None,
            part,
            adapters,
            manager,
        };
        wire.adapters.outcome.begin("before", 0);
        wire.wake();
        Ok(wire)
    }

    /// Records counters of ports, by intervals of this number of picoseconds.
    #[must_use]
    pub fn with_series(mut self, interval: u64) -> Self {
        let interval = interval.max(self.tick);
        self.series = Some((Series::new(self.net, interval), interval));
        self.part.begin_interval(interval);
        self
    }

    /// Counters of ports up to `end`, if recorded: the last interval may be shorter.
    pub fn series(&mut self, end: u64) -> Option<&Series> {
        if self.stalled.is_none() {
            self.run(end.div_ceil(self.tick));
        }
        if self.series.as_ref().is_some_and(|(s, _)| (s.len() as u64) * s.interval < end) {
            self.keep(end);
        }
        self.series.as_ref().map(|s| &s.0)
    }

    /// Bytes that each port of the network has sent.
    pub fn carried(&self) -> Vec<u64> {
        self.part.switches().outputs().iter().map(|o| o.carried).collect()
    }

    /// Results of the data packets of each job.
    pub fn by_job(&self, jobs: usize) -> Vec<Measured> {
        let of = |j: usize| self.measured.get(j).cloned().unwrap_or_default();
        (0..jobs).map(of).collect()
    }

    /// Pauses of priority flow control up to a time, in picoseconds; `None` if switches have none.
    pub fn pauses(&self, end: u64) -> Option<Pauses> {
        let (adapters, ports) = self.part.pauses(end);
        (!ports.is_empty()).then_some(Pauses { adapters, ports })
    }

    /// Packets times switches that they crossed.
    pub fn crossed(&self) -> u64 {
        self.part.switches().crossed
    }

    /// Events of the network.
    pub fn events(&self) -> u64 {
        self.part.event_count()
    }

    /// Up to when it was simulated, in picoseconds.
    pub fn now(&self) -> u64 {
        self.next * self.tick
    }

    /// Packets wait for each other for ever. Look at this after a run.
    pub fn stalled(&self) -> Option<&Stalled> {
        self.stalled.as_ref()
    }

    /// Effects on the traffic up to a time, at which the run is over.
    pub fn outcome(&mut self, end: u64) -> UpdateOutcome {
        let mut outcome = self.adapters.outcome.clone();
        let end = end.max(outcome.phases.last().map_or(0, |p| p.begin));
        if let Some(last) = outcome.phases.last_mut() {
            last.end = end;
        }
        outcome.end = end;
        outcome.deadlock.clone_from(&self.stalled);
        outcome
    }

    /// Wakes the terminals that requested it.
    fn wake(&mut self) {
        for (when, host) in self.adapters.wakes.drain(..) {
            self.part.remind((when / self.tick).max(self.next), host);
        }
    }

    /// Runs up to a tick, exclusive.
    fn run(&mut self, until: u64) {
        loop {
            let tick = self.part.upcoming().unwrap_or(u64::MAX);
            // The manager acts, intervals end, and deadlock is looked for between ticks.
            let acts = self.manager.upcoming().unwrap_or(u64::MAX).div_ceil(self.tick);
            let keeps = self.series.as_ref().map_or(u64::MAX, |s| s.1.div_ceil(self.tick));
            let looks = self.looks.div_ceil(self.tick);
            let first = tick.min(acts).min(keeps);
            if first >= until || self.stalled.is_some() {
                break;
            }
            if keeps <= first {
                self.keep(keeps * self.tick);
                continue;
            }
            if acts <= first {
                self.next = self.next.max(acts);
                self.manager.act(acts * self.tick, &mut self.adapters);
                self.wake();
                continue;
            }
            if looks <= tick {
                self.look(tick * self.tick);
                continue;
            }
            self.step(tick);
        }
        self.next = self.next.max(until.min(self.part.upcoming().unwrap_or(until)));
    }

    /// Runs one tick of the network.
    fn step(&mut self, tick: u64) {
        let mut reminded = std::mem::take(&mut self.reminded);
        self.part.begin(tick, &mut reminded);
        self.next = tick + 1;
        // One host may have several reminders; the order of events within a tick is undefined.
        reminded.sort_unstable();
        reminded.dedup();
        let now = self.part.now();
        for host in reminded.drain(..) {
            self.adapters.act(host, now, &mut self.part);
        }
        self.reminded = reminded;
        let mut arrived = std::mem::take(&mut self.arrived);
        self.part.finish(&self.board, &mut arrived);
        for a in arrived.drain(..) {
            let group = usize::from(a.packet.group);
            // Acknowledgements and datagrams are of no job.
            if a.packet.group != u16::MAX {
                if self.measured.len() <= group {
                    self.measured.resize_with(group + 1, Measured::new);
                }
                self.measured[group].arrived(&a, &ALL);
            }
            self.adapters.arrived(&a);
        }
        self.arrived = arrived;
        for packet in self.part.take_lost() {
            self.adapters.lost(&packet, now);
        }
        if !self.adapters.followed.is_empty() {
            let mut followed = std::mem::take(&mut self.adapters.followed);
            self.manager.hear(&mut followed);
            self.adapters.followed = followed;
        }
        self.wake();
    }

    fn look(&mut self, now: u64) {
        let mut waits = Vec::new();
        self.part.waits(&mut waits);
        match self.watch.look(now, self.part.packets().unsigned_abs(), &waits) {
            Look::Locked(stalled) => self.stalled = Some(stalled),
            Look::Stuck => self.looks = now + self.watch.patience(),
            Look::Moves => self.looks = now + 4 * self.watch.patience(),
        }
    }

    /// An interval of the series is over.
    fn keep(&mut self, now: u64) {
        let packets = self.part.packets().unsigned_abs() as u64;
        if let Some((series, keeps)) = &mut self.series {
            self.part.keep(now, series);
            series.packets.push(packets);
            series.halve();
            *keeps = now + series.interval;
        }
    }
}

impl NetworkModel for Connected<'_> {
    fn latency(&self, from: TerminalId, to: TerminalId) -> u64 {
        self.attached.latency(from, to)
    }

    fn is_within_host(&self, from: TerminalId, to: TerminalId) -> bool {
        self.attached.share_a_host(from, to)
    }

    fn depart(&mut self, now: u64, departures: &[Departure], delivered: &mut Vec<Delivery>) {
        for d in departures {
            if let Some(delivery) = self.attached.through_memory(now, d) {
                delivered.push(delivery);
                continue;
            }
            self.open += 1;
            let job = u16::try_from(d.job).unwrap_or(u16::MAX - 1);
            let ready = &mut self.ready[d.from.index()];
            let begin = now.max(*ready);
            *ready = begin + self.attached.host.gap;
            let work = PendingMessage { message: d.message, job, left: d.bytes, started: false };
            self.adapters.post(d.from.0, d.to.0, begin, work);
        }
        self.wake();
    }

    fn upcoming(&mut self) -> Option<u64> {
        // Where no message is in flight the network is not waited for: the rest of an update, or of datagrams, does not delay
        // the result.
        if self.open == 0 || self.stalled.is_some() {
            return None;
        }
        let acts = self.manager.upcoming().map(|at| at.div_ceil(self.tick));
        let Some(next) = self.part.upcoming().into_iter().chain(acts).min() else {
            // Nothing moves: packets that wait now wait for ever.
            for _ in 0..2 {
                if self.stalled.is_none() && self.part.packets() > 0 {
                    self.look(self.next * self.tick);
                }
            }
            return None;
        };
        Some(next * self.tick + self.ahead)
    }

    fn advance(&mut self, now: u64, delivered: &mut Vec<Delivery>) {
        self.run(now / self.tick);
        let first = delivered.len();
        for (message, when) in self.adapters.delivered.drain(..) {
            self.open -= 1;
            let at = when + self.attached.host.adapters;
            delivered.push(Delivery { message, left: at, arrives: at });
        }
        delivered[first..].sort_unstable_by_key(|d| (d.arrives, d.message));
    }
}

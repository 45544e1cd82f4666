//! Messages of programs, packet by packet.

use darkfiber_fabric::{Fabric, TerminalId};
use darkfiber_workload::play::{Delivery, Departure, Host, Wire};

use crate::board::Board;
use crate::deadlock::{Look, Stalled, Watch};
use crate::part::{Arrived, Lengths, Message, Part, Sent};
use crate::routing::{Distances, Routing};
use crate::series::Series;
use crate::{Impossible, Micro, Net};

/// Which of several ways tables have for a message: by source, destination, bytes, and its number.
pub type PathOf<'a> = &'a dyn Fn(TerminalId, TerminalId, u64, u32) -> u8;

/// A [`Wire`] whose messages are packets in switches.
///
/// Messages of a terminal take turns, a packet each. A message has arrived when the last byte of its last packet has, and the
/// latency of the adapters of both ends later. Messages between terminals of one host go through its memory.
pub struct Packets<'a, R> {
    net: &'a Net,
    host: &'a Host,
    tick: u64,
    pipeline: u64,
    part: Part<'a, R>,
    watch: Watch,
    board: Board,
    /// How often switches tell of themselves, and when they do so next.
    news: Option<u64>,
    tells: u64,
    /// What ports do, and when an interval of that is over.
    series: Option<Series>,
    keeps: u64,
    distances: Distances,
    path: Option<PathOf<'a>>,
    /// By terminal, the host that it is of, and when it may send the next message.
    host_of: Vec<u32>,
    ready: Vec<u64>,
    /// By message, bytes that have not arrived, when its last byte left, and when the last that is there arrived.
    under_way: Vec<(u64, u64, u64)>,
    /// Messages that wait for their adapter, by terminal that was reminded.
    waiting: Vec<Vec<(u64, Message)>>,
    reminded: Vec<u32>,
    sent: Vec<Sent>,
    arrived: Vec<Arrived>,
    delivered: Vec<Delivery>,
    count: u64,
    stalled: Option<Stalled>,
}

impl<'a, R: Routing> Packets<'a, R> {
    /// Messages over a network, in packets of at most so many bytes.
    ///
    /// # Errors
    /// If switches, packets and routing do not go together.
    pub fn new(
        net: &'a Net,
        micro: &'a Micro,
        routing: R,
        fabric: &Fabric,
        host: &'a Host,
        bytes: u32,
        seed: u64,
    ) -> Result<Self, Impossible> {
        let n = net.terminal_count();
        let lengths = Lengths::new(net, micro, routing.lanes(), bytes)?;
        let news = routing.news().map(|n| n.max(micro.tick));
        Ok(Self {
            net,
            host,
            tick: micro.tick,
            pipeline: micro.pipeline,
            part: Part::whole(net, micro, routing, lengths, seed),
            watch: Watch::new(net, micro, bytes),
            board: Board::new(if news.is_some() { net.port_count() } else { 0 }),
            news,
            tells: news.unwrap_or(u64::MAX),
            series: None,
            keeps: u64::MAX,
            distances: Distances::new(net),
            path: None,
            host_of: (0..n).map(|t| fabric.host_of(TerminalId::new(t)).0).collect(),
            ready: vec![0; n],
            under_way: Vec::new(),
            waiting: vec![Vec::new(); n],
            reminded: Vec::new(),
            sent: Vec::new(),
            arrived: Vec::new(),
            delivered: Vec::new(),
            count: 0,
            stalled: None,
        })
    }

    /// Which of several ways tables have messages take.
    #[must_use]
    pub fn with_paths(mut self, path: PathOf<'a>) -> Self {
        self.path = Some(path);
        self
    }

    /// Keeps what ports do, by intervals of so many picoseconds.
    #[must_use]
    pub fn with_series(mut self, interval: u64) -> Self {
        self.series = Some(Series::new(self.net, interval));
        self.keeps = interval;
        self
    }

    /// What ports did up to `end`, if it was kept: the last interval may be shorter.
    pub fn series(&mut self, end: u64) -> Option<&Series> {
        self.keep(end);
        if let Some(series) = &mut self.series
            && series.len() as u64 * series.interval < end
        {
            self.part.keep(end, series);
            series.packets.push(self.part.packets() as u64);
        }
        self.series.as_ref()
    }

    /// Ends intervals up to a time.
    fn keep(&mut self, now: u64) {
        while self.keeps <= now {
            let Some(series) = &mut self.series else { return };
            self.part.keep(self.keeps, series);
            series.packets.push(self.part.packets() as u64);
            series.halve();
            self.keeps += series.interval;
        }
    }

    /// Bytes that each port of the network has sent.
    pub fn carried(&self) -> Vec<u64> {
        self.part.switches().outputs().iter().map(|o| o.carried).collect()
    }

    /// Packets that arrived.
    pub fn packets(&self) -> u64 {
        self.count
    }

    /// Packets times switches that they crossed.
    pub fn crossed(&self) -> u64 {
        self.part.switches().crossed
    }

    /// Events of the network.
    pub fn events(&self) -> u64 {
        self.part.event_count()
    }

    /// Packets wait for each other for ever. Look at this after a run.
    pub fn stalled(&self) -> Option<&Stalled> {
        self.stalled.as_ref()
    }

    fn look(&mut self) -> Option<Stalled> {
        let mut waits = Vec::new();
        self.part.waits(&mut waits);
        match self.watch.look(self.part.now(), self.part.packets(), &waits) {
            Look::Locked(stalled) => Some(stalled),
            Look::Moves | Look::Stuck => None,
        }
    }

    /// What is known of arrivals and departures goes to who waits for it. That a message has left is told when it arrives, and
    /// so not before now.
    fn note(&mut self, now: u64) {
        for s in self.sent.drain(..) {
            self.under_way[s.message as usize].1 = s.when;
        }
        for a in self.arrived.drain(..) {
            self.count += 1;
            let (open, left, last) = &mut self.under_way[a.packet.message as usize];
            // An empty message is a packet all the same.
            *open -= u64::from(a.packet.payload.max(1));
            *last = a.when.max(*last);
            if *open == 0 {
                let arrives = now.max(*last + self.host.adapters);
                let left = now.max(*left);
                self.delivered.push(Delivery { message: a.packet.message, left, arrives });
            }
        }
    }
}

impl<R: Routing> Wire for Packets<'_, R> {
    fn latency(&self, from: TerminalId, to: TerminalId) -> u64 {
        if self.host_of[from.index()] == self.host_of[to.index()] {
            return self.host.memory_latency;
        }
        let home = |t: TerminalId| self.net.port(self.net.home(t.0));
        let mut s = home(from).switch;
        let last = home(to).switch;
        let pipeline = self.pipeline;
        let mut sum =
            self.host.adapters + u64::from(home(from).latency + home(to).latency) + pipeline;
        while s != last {
            let near = self.distances.first(s, last);
            let port = self.net.base(s) + near;
            sum += u64::from(self.net.port(port).latency) + pipeline;
            let Some(next) = self.net.next(port) else { break };
            s = next;
        }
        sum
    }

    fn depart(&mut self, now: u64, departures: &[Departure], delivered: &mut Vec<Delivery>) {
        for d in departures {
            if self.host_of[d.from.index()] == self.host_of[d.to.index()] {
                #[expect(clippy::cast_sign_loss, reason = "neither is below zero")]
                let long =
                    (d.bytes as f64 / (self.host.memory_bytes_per_second * 1e-12)).ceil() as u64;
                let left = now + long;
                let arrives = left + self.host.memory_latency;
                delivered.push(Delivery { message: d.message, left, arrives });
                continue;
            }
            let i = d.message as usize;
            if self.under_way.len() <= i {
                self.under_way.resize(i + 1, (0, 0, 0));
            }
            self.under_way[i] = (d.bytes.max(1), 0, 0);
            let path = self.path.map_or(0, |path| path(d.from, d.to, d.bytes, d.message));
            let to = d.to.0;
            let message = Message { number: d.message, to, bytes: d.bytes, path, born: now };
            let ready = &mut self.ready[d.from.index()];
            let begin = now.max(*ready);
            *ready = begin + self.host.gap;
            if begin == now {
                self.part.send(d.from.0, message, now, &mut self.sent);
            } else {
                self.waiting[d.from.index()].push((begin, message));
                self.part.remind(begin.div_ceil(self.tick), d.from.0);
            }
        }
        self.note(now);
        delivered.append(&mut self.delivered);
    }

    fn upcoming(&mut self) -> Option<u64> {
        let upcoming = self.part.upcoming().map(|tick| tick * self.tick);
        if upcoming.is_none() && self.stalled.is_none() {
            // Nothing is under way: what waits now waits for ever.
            self.stalled = self.look().or_else(|| self.look());
        }
        upcoming
    }

    fn advance(&mut self, now: u64, delivered: &mut Vec<Delivery>) {
        while let Some(tick) = self.part.upcoming().filter(|tick| tick * self.tick <= now) {
            let begin = tick * self.tick;
            self.keep(begin);
            while self.tells <= begin {
                self.part.tell(&self.board);
                self.tells += self.news.unwrap_or(u64::MAX);
            }
            let mut reminded = std::mem::take(&mut self.reminded);
            self.part.begin(tick, &mut reminded, &mut self.sent);
            for t in reminded.drain(..) {
                let waiting = &mut self.waiting[t as usize];
                // In the order in which they came.
                let due = waiting.iter().take_while(|(when, _)| *when <= begin).count();
                for (_, message) in waiting.drain(..due) {
                    self.part.send(t, message, begin, &mut self.sent);
                }
            }
            self.reminded = reminded;
            self.part.finish(&self.board, &mut self.arrived);
            self.note(now);
        }
        delivered.append(&mut self.delivered);
    }
}

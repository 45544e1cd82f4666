//! Messages of programs, packet by packet.

use std::collections::VecDeque;

use darkfiber_fabric::{Fabric, TerminalId};
use darkfiber_workload::play::{
    ChooserState, Delivery, Departure, Host, NetworkModel, PathChoice, PathChooser,
};
use darkfiber_workload::state;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::attached::Attached;
use crate::deadlock::{Look, Stalled};
use crate::measure::{Measured, Measuring};
use crate::message::{Arrived, Message};
use crate::network::{Agent, Network, NetworkState, read_share};
use crate::observer::Observer;
use crate::pause::Pauses;
use crate::processes::{Parts, Processes};
use crate::routing::Routing;
use crate::series::Series;
use crate::{ConfigError, Net, SwitchModel};

/// Function that returns the traffic class of a message, and the group that its packets are counted in, from its job and bytes.
pub type ClassOf<'a> = &'a dyn Fn(u32, u64) -> (u8, u16);

/// A [`NetworkModel`] that simulates messages as packets in switches.
///
/// Connections of a terminal are served round robin, a packet each, and send one message after the other. A message has
/// arrived when the last byte of its last packet has, plus the latency of the adapters of both ends; its sender, where it waits
/// for that, is notified at the same time, as by an acknowledgement. Messages between terminals of one host go through its memory.
///
/// Departures are determined ahead of the network: a packet that leaves a last switch in a tick arrives only after its cable,
/// its length and the adapters have taken their time, so no terminal can react to it before. For that time the network runs
/// independently, in parallel parts.
pub struct Packets<'a, R> {
    attached: Attached<'a>,
    tick: u64,
    network: Network<'a, &'a R, Mailbox<'a>>,
    /// Minimum delay from a packet's departure at a last switch until any terminal is notified.
    ahead: u64,
    now: u64,
    /// The next tick in which anything happens.
    next: Option<u64>,
    routing: &'a R,
    chooser: PathChooser<'a>,
    class: Option<ClassOf<'a>>,
    /// By terminal, when it may send the next message.
    ready: Vec<u64>,
    /// By message, bytes that have not arrived, and when the last that is there did.
    under_way: Vec<(u64, u64)>,
    stalled: Option<Stalled>,
}

/// Messages of the terminals of a part: to send, and received.
struct Mailbox<'a> {
    net: &'a Net,
    tick: u64,
    /// The first terminal's seat.
    first: u32,
    /// By terminal of the part, messages and when their adapter takes them.
    waiting: Vec<VecDeque<(u64, Message)>>,
    /// Packets that arrived: message, payload, and when.
    parcels: Vec<(u32, u32, u64)>,
    /// By group of messages, the results of its packets.
    groups: Vec<Measured>,
}

state! {
    pub(crate) struct PostState of() Mailbox<'_> {
        waiting: Vec<VecDeque<(u64, Message)>>,
        parcels: Vec<(u32, u32, u64)>,
        groups: Vec<Measured>,
    }
}

/// All packets count.
const ALL: Measuring = Measuring { from: 0, to: u64::MAX };

impl Mailbox<'_> {
    fn waiting(&mut self, t: u32) -> &mut VecDeque<(u64, Message)> {
        &mut self.waiting[(self.net.seat(t) - self.first) as usize]
    }
}

impl Agent for Mailbox<'_> {
    type State = PostState;

    fn swap(&mut self, state: &mut PostState) {
        Mailbox::swap(self, state);
    }

    fn fits(&self, state: &PostState) -> bool {
        let terminals = self.net.terminal_count() as u32;
        state.waiting.len() == self.waiting.len()
            && state.waiting.iter().flatten().all(|(_, m)| m.to < terminals)
    }

    fn remind(&mut self, t: u32, now: u64, sends: &mut Vec<(u64, Message)>) -> Option<u64> {
        let end = now + self.tick;
        let waiting = self.waiting(t);
        let due = waiting.iter().take_while(|(when, _)| *when < end).count();
        sends.extend(waiting.drain(..due));
        None
    }

    fn arrived(&mut self, a: &Arrived) {
        self.parcels.push((a.packet.message, a.packet.payload(), a.when));
        let group = usize::from(a.packet.group);
        if self.groups.len() <= group {
            self.groups.resize_with(group + 1, Measured::new);
        }
        self.groups[group].arrived(a, &ALL);
    }
}

state! {
    struct OwnState of(R) Packets<'_, R> {
        now: u64,
        next: Option<u64>,
        ready: Vec<u64>,
        under_way: Vec<(u64, u64)>,
        ;
        chooser: ChooserState,
    }
}

/// The state of messages and their network that changes during simulation.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct PacketsState {
    own: OwnState,
    network: NetworkState<PostState>,
}

impl PacketsState {
    /// Has the first process save a network that several processes share, behind `head`.
    pub fn keep_shared(
        &self,
        head: &impl Serialize,
        processes: &dyn Processes,
        how: (&dyn Observer, bool),
    ) {
        self.network.keep_shared(&(head, &self.own), processes, how);
    }

    /// Reads what was kept of a network in any number of processes: what stands in front, and the network with the parts of this
    /// process. All of them read the same file.
    ///
    /// # Errors
    /// In all processes, if in one of them it is damaged or another one, or there are fewer parts than processes.
    pub fn read_share<H: Serialize + DeserializeOwned>(
        processes: &dyn Processes,
        follow: &dyn Observer,
    ) -> Result<Option<(H, Self)>, ConfigError> {
        let shared = read_share::<(H, OwnState), PostState>(processes, follow)?;
        Ok(shared.map(|((head, own), network)| (head, Self { own, network })))
    }
}

/// The network and options for which messages are simulated.
#[derive(Clone, Copy)]
pub struct PacketsFor<'a> {
    /// Network that carries them.
    pub net: &'a Net,
    /// Model of its switches.
    pub micro: &'a SwitchModel,
    /// Fabric of the network.
    pub fabric: &'a Fabric,
    /// Overheads of the hosts.
    pub host: &'a Host,
    /// Bytes of a packet at most.
    pub bytes: u32,
    /// Parts in which it is simulated, and the processes that share them; no result depends on them. Messages of all
    /// processes depart, and arrive, in each of them.
    pub parts: Parts<'a>,
    /// Seed of all random choices.
    pub seed: u64,
    /// Chooses the path of messages among this number that tables have.
    pub choice: PathChoice<'a>,
    /// Paths that tables have to each terminal.
    pub paths: usize,
    /// Traffic class and group of messages; the first class, and a group for each job, if `None`.
    pub class: Option<ClassOf<'a>>,
}

/// [`Packets`] with any routing. With several processes all calls are collective: each process makes them, in the same order, and
/// gets the same results.
pub trait PacketNetwork<'a>: NetworkModel {
    /// Takes the changing state out: the wire is unusable until [`PacketNetwork::restore`].
    fn take(&mut self) -> PacketsState;

    /// Whether a state is of the same network, and all that it names exists: a saved run is checked with this before it is
    /// resumed.
    fn fits(&self, state: &PacketsState) -> bool;

    /// Restores the state of this wire, or of another of the same fabric, switches, routing, hosts and parts.
    fn restore(&mut self, state: PacketsState);

    /// Records counters of ports, by intervals of this number of picoseconds.
    fn keep_series(&mut self, interval: u64);

    /// Counters of ports up to `end`, if recorded: the last interval may be shorter.
    fn series(&mut self, end: u64) -> Option<&Series>;

    /// The time up to which it was simulated, in picoseconds.
    fn now(&self) -> u64;

    /// Whether all packets for one LID take the same path.
    fn has_fixed_paths(&self) -> bool;

    /// Simulates up to `now`, which is before [`NetworkModel::upcoming`]: counts are of that time then. What arrives is delivered later.
    fn catch_up(&mut self, now: u64);

    /// Bytes that each port of the network has sent.
    fn carried(&self) -> Vec<u64>;

    /// Pauses of priority flow control up to a time, in picoseconds; `None` if switches have none.
    fn pauses(&self, end: u64) -> Option<Pauses>;

    /// Results of the packets of each group, from when they left their terminals: empty, if it sent none over the network.
    fn by_group(&self, groups: usize) -> Vec<Measured>;

    /// Packets times switches that they crossed.
    fn crossed(&self) -> u64;

    /// Packets that switches dropped, and that were sent again.
    fn dropped(&self) -> u64;

    /// Events of the network.
    fn events(&self) -> u64;

    /// Packets wait for each other for ever. Look at this after a run.
    fn stalled(&self) -> Option<&Stalled>;
}

impl<'a, R: Routing> Packets<'a, R> {
    /// Messages over a network.
    ///
    /// # Errors
    /// If switches, packets and routing do not go together.
    // Once a run, and once for each routing in the program: small rather than fast.
    #[cold]
    #[inline(never)]
    pub fn new(routing: &'a R, what: PacketsFor<'a>) -> Result<Self, ConfigError> {
        let PacketsFor { net, micro, fabric, host, bytes, parts, seed, choice, paths, class } =
            what;
        if R::STEADY && micro.flowlet.is_some() {
            let why = "this routing sends a pair one way only: flowlets need one that chooses, such as minimal or adaptive";
            return Err(ConfigError(why.to_owned()));
        }
        let n = net.terminal_count();
        let network = Network::new(net, micro, routing, [0, bytes], seed, parts, |part| Mailbox {
            net,
            tick: micro.tick,
            first: part.span().seats.start,
            waiting: vec![VecDeque::new(); part.span().seats.len()],
            parcels: Vec::new(),
            groups: Vec::new(),
        })?;
        let shortest = network.shortest();
        let attached = Attached::new(net, micro, fabric, host);
        let ahead = attached.ahead(shortest).unwrap_or(micro.tick) + host.adapters;
        Ok(Self {
            attached,
            tick: micro.tick,
            network,
            ahead,
            now: 0,
            next: None,
            routing,
            chooser: PathChooser::new(choice, n, paths, seed),
            class,
            ready: vec![0; n],
            under_way: Vec::new(),
            stalled: None,
        })
    }

    fn look(&mut self) -> Option<Stalled> {
        match self.network.look_for_deadlock(self.now) {
            Look::Locked(stalled) => Some(stalled),
            Look::Moves | Look::Stuck => None,
        }
    }

    /// Delivers arrivals to the waiting ranks, in an order that does not depend on parts, and looks when something happens next.
    fn deliver(&mut self, delivered: &mut Vec<Delivery>) {
        let mut whole = Vec::new();
        for worker in &mut self.network.workers {
            for (message, payload, when) in worker.agent.parcels.drain(..) {
                let (open, last) = &mut self.under_way[message as usize];
                // An empty message is a packet all the same.
                *open -= u64::from(payload.max(1));
                *last = when.max(*last);
                if *open == 0 {
                    whole.push(message);
                }
            }
        }
        // All packets of a message arrive in one process.
        let arrived = |message: u32| {
            (self.under_way[message as usize].1 + self.attached.host.adapters, message)
        };
        let whole: Vec<(u64, u32)> = whole.into_iter().map(arrived).collect();
        let first = delivered.len();
        self.next = None;
        for (next, whole) in self.network.by_process((self.network.upcoming_here(), whole)) {
            self.next = self.next.into_iter().chain(next).min();
            let delivery = |(arrives, message)| Delivery { message, left: arrives, arrives };
            delivered.extend(whole.into_iter().map(delivery));
        }
        delivered[first..].sort_unstable_by_key(|d| (d.arrives, d.message));
    }
}

impl<'a, R: Routing> PacketNetwork<'a> for Packets<'a, R> {
    fn take(&mut self) -> PacketsState {
        let mut own = OwnState::default();
        self.swap(&mut own);
        // Messages are counted down where they arrive only.
        let mut others = self.network.by_process(own.under_way).into_iter();
        own.under_way = others.next().unwrap_or_default();
        for other in others {
            for ((open, last), there) in own.under_way.iter_mut().zip(other) {
                *open = there.0.min(*open);
                *last = there.1.max(*last);
            }
        }
        PacketsState { own, network: self.network.take() }
    }

    fn fits(&self, state: &PacketsState) -> bool {
        state.own.ready.len() == self.ready.len()
            && self.chooser.fits(&state.own.chooser)
            && self.network.fits(&state.network)
    }

    fn restore(&mut self, state: PacketsState) {
        let PacketsState { mut own, network } = state;
        self.swap(&mut own);
        self.network.restore(network);
    }

    fn series(&mut self, end: u64) -> Option<&Series> {
        self.network.run(end.div_ceil(self.tick));
        let kept = self.network.series().as_ref()?;
        if kept.len() as u64 * kept.interval < end {
            self.network.keep(end);
        }
        self.network.series().as_ref()
    }

    fn now(&self) -> u64 {
        self.now
    }

    fn has_fixed_paths(&self) -> bool {
        R::STEADY
    }

    fn catch_up(&mut self, now: u64) {
        if now > self.now {
            self.network.run(now / self.tick);
            self.now = now;
        }
    }

    fn carried(&self) -> Vec<u64> {
        let outputs = self.network.workers.iter().flat_map(|w| w.part.switches().outputs());
        self.network.all_of(outputs.map(|o| o.carried).collect())
    }

    fn pauses(&self, end: u64) -> Option<Pauses> {
        let here = self.network.workers.iter().map(|w| w.part.pauses(end)).collect();
        let mut all = Pauses::default();
        for (adapters, ports) in self.network.all_of(here) {
            all.adapters.add(adapters);
            all.ports.extend(ports);
        }
        (!all.ports.is_empty()).then_some(all)
    }

    fn by_group(&self, groups: usize) -> Vec<Measured> {
        let mut all: Vec<Measured> = (0..groups).map(|_| Measured::new()).collect();
        for group in self.network.workers.iter().flat_map(|w| w.agent.groups.iter().enumerate()) {
            if let Some(sum) = all.get_mut(group.0) {
                sum.add(group.1);
            }
        }
        let mut others = self.network.by_process(all).into_iter();
        let mut all = others.next().unwrap_or_default();
        for other in others {
            all.iter_mut().zip(&other).for_each(|(sum, group)| sum.add(group));
        }
        all
    }

    fn crossed(&self) -> u64 {
        self.network.crossed()
    }

    fn dropped(&self) -> u64 {
        self.network.dropped()
    }

    fn events(&self) -> u64 {
        self.network.event_count()
    }

    fn stalled(&self) -> Option<&Stalled> {
        self.stalled.as_ref()
    }

    fn keep_series(&mut self, interval: u64) {
        self.network.keep_series(interval);
    }
}

impl NetworkModel for Box<dyn PacketNetwork<'_> + '_> {
    fn latency(&self, from: TerminalId, to: TerminalId) -> u64 {
        (**self).latency(from, to)
    }

    fn is_within_host(&self, from: TerminalId, to: TerminalId) -> bool {
        (**self).is_within_host(from, to)
    }

    fn depart(&mut self, now: u64, departures: &[Departure], delivered: &mut Vec<Delivery>) {
        (**self).depart(now, departures, delivered);
    }

    fn upcoming(&mut self) -> Option<u64> {
        (**self).upcoming()
    }

    fn advance(&mut self, now: u64, delivered: &mut Vec<Delivery>) {
        (**self).advance(now, delivered);
    }
}

impl<R: Routing> NetworkModel for Packets<'_, R> {
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
            let i = d.message as usize;
            if self.under_way.len() <= i {
                self.under_way.resize(i + 1, (0, 0));
            }
            self.under_way[i] = (d.bytes.max(1), 0);
            let own = usize::from(self.routing.path_of(d.from.0));
            let path = Some(self.chooser.path(d.from, d.to, d.of, own) as u8);
            let of_job = || (0, u16::try_from(d.job).unwrap_or(u16::MAX));
            let (class, group) = self.class.map_or_else(of_job, |class| class(d.job, d.of));
            let message = Message {
                number: d.message,
                to: d.to.0,
                bytes: d.bytes,
                group,
                path,
                class,
                connection: Some(d.connection(path.map_or(0, u32::from))),
                born: None,
            };
            let ready = &mut self.ready[d.from.index()];
            let begin = now.max(*ready);
            *ready = begin + self.attached.host.gap;
            let tick = begin / self.tick;
            if let Some(worker) = self.network.worker_of(d.from.0) {
                worker.agent.waiting(d.from.0).push_back((begin, message));
                worker.part.remind(tick, d.from.0);
            }
            self.next = Some(self.next.map_or(tick, |next| next.min(tick)));
        }
    }

    fn upcoming(&mut self) -> Option<u64> {
        if self.next.is_none() && self.stalled.is_none() && self.network.packets() > 0 {
            // Nothing moves: packets that wait now wait for ever.
            self.stalled = self.look().or_else(|| self.look());
        }
        self.next.map(|tick| tick * self.tick + self.ahead)
    }

    fn advance(&mut self, now: u64, delivered: &mut Vec<Delivery>) {
        if self.next.is_some_and(|tick| tick * self.tick + self.ahead <= now) {
            self.network.run(now / self.tick);
            self.now = now;
            self.deliver(delivered);
        }
    }
}

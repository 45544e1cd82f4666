//! Switches and terminals together, tick after tick.

use std::collections::VecDeque;
use std::hint::black_box;

use crate::deadlock::{Stalled, Watch};
use crate::packet::{NOBODY, Packet, Slab};
use crate::routing::Routing;
use crate::switch::{Hands, Left, Switches};
use crate::wheel::{Event, What, Wheel};
use crate::{Impossible, Micro, Net, Peer};

/// What a terminal has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// What its sender calls it.
    pub(crate) number: u32,
    /// Terminal that it goes to.
    pub(crate) to: u32,
    /// Bytes that are not sent yet.
    pub(crate) bytes: u64,
    /// Which of several ways tables have for it.
    pub(crate) path: u8,
    /// When it was created, in picoseconds.
    pub(crate) born: u64,
}

/// A packet that is at its destination.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    pub(crate) packet: Packet,
    /// When its last byte is.
    pub(crate) when: u64,
}

/// A message that has left its terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) message: u32,
    /// When its last byte has.
    pub(crate) when: u64,
}

/// A terminal.
#[derive(Clone, Debug, Default)]
struct Terminal {
    /// What it has to send; messages by turns, a packet each.
    queue: VecDeque<Message>,
    /// When its channel is free.
    channel: u64,
    /// The lane of its next packet.
    lane: u8,
    /// Whether it will be woken.
    woken: bool,
}

/// The network. Of each tick, first [`Network::begin`] it, then let terminals send, then [`Network::finish`] it.
pub(crate) struct Network<'n, R> {
    net: &'n Net,
    micro: &'n Micro,
    routing: R,
    switches: Switches<'n>,
    terminals: Vec<Terminal>,
    /// By terminal and lane, room in its switch.
    credits: Vec<u32>,
    packets: Slab,
    wheel: Wheel,
    /// Bytes of a packet, at most and at least.
    most: u32,
    least: u32,
    now: u64,
    events: Vec<Event>,
    left: Vec<Left>,
    event_count: u64,
    /// Who looks for deadlock, when, and how often: nothing that is under way takes longer.
    watch: Watch,
    looks: u64,
    patience: u64,
}

impl<'n, R: Routing> Network<'n, R> {
    /// One whose packets have at most so many bytes; what is shorter than a tick allows takes a tick.
    pub(crate) fn new(
        net: &'n Net,
        micro: &'n Micro,
        routing: R,
        bytes: u32,
        seed: u64,
    ) -> Result<Self, Impossible> {
        micro.check(bytes)?;
        if routing.lanes() > micro.lanes {
            return Err(Impossible(format!(
                "this routing needs {} virtual lanes to be free of deadlock, and there are {}: give as many, or take another \
                 routing",
                routing.lanes(),
                micro.lanes
            )));
        }
        if net.quickest(bytes) < micro.tick {
            return Err(Impossible(format!(
                "a packet of {bytes} B passes a channel in less than a tick of {} ps: make it longer",
                micro.tick
            )));
        }
        let (mut below, mut least) = (0, bytes);
        while least - below > 1 {
            let middle = below + (least - below) / 2;
            if net.quickest(middle) < micro.tick { below = middle } else { least = middle }
        }
        let n = net.terminal_count();
        Ok(Self {
            net,
            micro,
            switches: Switches::new(net, micro, seed),
            terminals: vec![Terminal::default(); n],
            credits: vec![micro.buffer; n * usize::from(micro.lanes)],
            packets: Slab::default(),
            wheel: Wheel::new(micro.tick),
            most: bytes,
            least,
            now: 0,
            events: Vec::new(),
            left: Vec::new(),
            event_count: 0,
            watch: Watch::default(),
            looks: 0,
            patience: net.slowest(bytes) * 4 + 4 * (micro.pipeline + micro.credit),
            routing,
        })
    }

    /// The next tick in which something happens.
    pub(crate) fn upcoming(&self) -> Option<u64> {
        self.wheel.upcoming()
    }

    /// Has [`Network::begin`] tell of a terminal at a tick.
    pub(crate) fn remind(&mut self, tick: u64, terminal: u32) {
        self.wheel.push(tick, Event::new(What::Birth, terminal, 0));
    }

    /// Notes what happens in a tick, and tells which terminals asked for it.
    pub(crate) fn begin(&mut self, tick: u64, reminded: &mut Vec<u32>, sent: &mut Vec<Sent>) {
        self.now = tick * self.micro.tick;
        let mut events = std::mem::take(&mut self.events);
        self.wheel.take(tick, &mut events);
        self.event_count += events.len() as u64;
        self.approach(&events);
        for event in &events {
            let (place, with) = (event.place(), event.with());
            match event.what() {
                What::Arrival => self.switches.arrive(place, with),
                What::Credit => self.switches.credit(place, (with >> 24) as u8, with & 0xff_ffff),
                What::Output => self.switches.wake_output(place),
                What::Input => self.switches.wake_input(place),
                What::TerminalCredit => {
                    let lanes = usize::from(self.micro.lanes);
                    self.credits[place as usize * lanes + (with >> 24) as usize] +=
                        with & 0xff_ffff;
                    self.go_on(place, self.now, sent);
                }
                What::Terminal => {
                    self.terminals[place as usize].woken = false;
                    self.go_on(place, self.now, sent);
                }
                What::Birth => reminded.push(place),
            }
        }
        self.events = events;
    }

    /// Has the cache fetch packets that arrive, many at once: they are far from each other, and nobody looked at them since
    /// they left.
    #[inline]
    fn approach(&self, events: &[Event]) {
        let arrivals = events.iter().filter(|e| e.what() == What::Arrival);
        black_box(arrivals.fold(0, |all, e| all ^ self.packets.of(e.with()).to));
    }

    /// A terminal has a message to send, at a time in this tick or before the next one in which anything happens.
    pub(crate) fn send(&mut self, from: u32, message: Message, now: u64, sent: &mut Vec<Sent>) {
        self.terminals[from as usize].queue.push_back(message);
        self.go_on(from, now, sent);
    }

    /// A terminal sends what it can in this tick.
    fn go_on(&mut self, from: u32, now: u64, sent: &mut Vec<Sent>) {
        let (micro, lanes) = (self.micro, usize::from(self.micro.lanes));
        let home = self.net.home(from);
        let port = self.net.port(home);
        debug_assert_eq!(port.peer(), Peer::Terminal(from));
        let terminal = &mut self.terminals[from as usize];
        while let Some(message) = terminal.queue.front_mut() {
            if terminal.channel >= now + micro.tick {
                if !std::mem::replace(&mut terminal.woken, true) {
                    self.wheel.within(terminal.channel, Event::new(What::Terminal, from, 0));
                }
                return;
            }
            let payload = message.bytes.min(self.most.into()) as u32;
            let bytes = payload.max(self.least);
            // Lanes into the first switch are all alike: nothing waits behind them.
            let credits = &mut self.credits[from as usize * lanes..(from as usize + 1) * lanes];
            let by_turns = (0..lanes).map(|i| (usize::from(terminal.lane) + i) % lanes);
            let Some(lane) = by_turns.into_iter().find(|&l| credits[l] >= bytes) else { return };
            credits[lane] -= bytes;
            terminal.lane = ((lane + 1) % lanes) as u8;
            let departs = terminal.channel.max(now);
            terminal.channel = departs + port.long(bytes);
            let at = departs + u64::from(port.latency);
            let packet = Packet {
                born: message.born,
                at,
                from,
                to: message.to,
                message: message.number,
                via: NOBODY,
                bytes,
                payload,
                next: NOBODY,
                port: 0,
                out: 0,
                path: message.path,
                lane: lane as u8,
                next_lane: 0,
                hops: 0,
                phase: 0,
                round: false,
            };
            message.bytes -= u64::from(payload);
            let message = *message;
            terminal.queue.pop_front();
            if message.bytes > 0 {
                terminal.queue.push_back(message);
            } else {
                sent.push(Sent { message: message.number, when: terminal.channel });
            }
            let id = self.packets.add(packet);
            self.wheel.after(at, Event::new(What::Arrival, home, id));
        }
    }

    /// Switches act; packets that leave the last one are told.
    pub(crate) fn finish(&mut self, arrived: &mut Vec<Arrived>) {
        let Self { packets, wheel, left, .. } = self;
        self.switches.act(self.now, &self.routing, &mut Hands { packets, wheel, left });
        for Left { packet, when } in self.left.drain(..) {
            arrived.push(Arrived { packet: self.packets.remove(packet), when });
        }
    }

    /// Whether packets wait for each other for ever; looked at now and then.
    pub(crate) fn look_for_deadlock(&mut self) -> Option<Stalled> {
        if self.now < self.looks {
            return None;
        }
        self.looks = self.now + self.patience;
        self.deadlock()
    }

    /// The same at once: only if nothing is under way any more, or was looked at before.
    fn deadlock(&mut self) -> Option<Stalled> {
        let cycle = self.watch.look(&self.switches.waits(&self.packets))?;
        Some(Stalled { when: self.now, packets: self.packets.count(), cycle })
    }

    /// Nothing happens any more, and packets are in the network: why.
    pub(crate) fn why_still(&mut self) -> Option<Stalled> {
        self.deadlock().or_else(|| self.deadlock())
    }

    /// What a switch takes, in picoseconds.
    pub(crate) fn pipeline(&self) -> u64 {
        self.micro.pipeline
    }

    /// Bytes that each port has sent.
    pub(crate) fn carried(&self) -> &[u64] {
        self.switches.carried()
    }

    /// Packets times switches that they crossed.
    pub(crate) fn crossed(&self) -> u64 {
        self.switches.crossed
    }

    /// Events so far.
    pub(crate) fn event_count(&self) -> u64 {
        self.event_count
    }

    /// Packets that were in the network at most.
    pub(crate) fn most_packets(&self) -> usize {
        self.packets.most()
    }
}

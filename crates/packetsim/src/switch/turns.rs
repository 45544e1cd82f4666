//! The arbitration of outputs: which packet is granted next.

use super::features::{Features, Whole};
use super::offer::{Choice, Offer};
use super::ports::{Lane, MOVES, OutPort};
use super::{SwitchContext, Switches};
use crate::class::Next;
use crate::packet::{NOBODY, Packet};
use crate::pause::Pause;
use crate::tiles::{after, behind};
use crate::wheel::{Event, What, Wheel};
use crate::{Arbitration, Peer, Queues};

impl Switches<'_> {
    /// Outputs that may have something to do send what they can, one after the other.
    pub(super) fn by_turns<F: Features>(
        &mut self,
        now: u64,
        s: u32,
        context: &mut SwitchContext<'_>,
    ) {
        let first = self.set(s);
        // Outputs of queues whose first packet left may be before the one that it left by.
        loop {
            let mut any = false;
            for w in 0..self.net.words() {
                let mut set = std::mem::take(&mut self.dirty[first + w]);
                any |= set != 0;
                while set != 0 {
                    let out = w as u32 * 64 + set.trailing_zeros();
                    set &= set - 1;
                    if F::FLITS {
                        self.take_lanes(s, out, context.packets);
                    }
                    while let Some(choice) = self.next::<F>(now, s, out, context) {
                        self.grant::<F>(now, s, out, choice, context);
                        if F::FLITS {
                            self.take_lanes(s, out, context.packets);
                        }
                    }
                }
            }
            if !any {
                break;
            }
        }
    }

    /// Outputs offer, inputs take, until there is no offer any more.
    pub(super) fn match_up(&mut self, now: u64, s: u32, context: &mut SwitchContext<'_>) {
        let first = self.set(s);
        let radix = self.net.radix(s);
        let base = self.at(self.net.base(s));
        let mut offers = std::mem::take(&mut self.offers);
        let mut is_first = true;
        loop {
            for w in 0..self.net.words() {
                let mut set = std::mem::take(&mut self.dirty[first + w]);
                while set != 0 {
                    let out = w as u32 * 64 + set.trailing_zeros();
                    set &= set - 1;
                    if let Some(choice) = self.next::<Whole>(now, s, out, context) {
                        let input = match self.micro.queues {
                            Queues::Memory => out,
                            _ => context.packets.of(choice.packet).input.into(),
                        };
                        let turn = u32::from(self.inputs[base + input as usize].turn);
                        let class = context.packets.of(choice.packet).next_lane >> self.class_bits;
                        let key = self.in_shares.key(base + input as usize, class, now);
                        let rank = (key, (out + radix - turn) % radix);
                        offers.push(Offer { input, rank, out, choice });
                    }
                }
            }
            if offers.is_empty() {
                break;
            }
            offers.sort_unstable_by_key(|o| (o.input, o.rank));
            let mut taken = None;
            for o in offers.drain(..) {
                if taken != Some(o.input) {
                    taken = Some(o.input);
                    if is_first {
                        let next = if o.out + 1 == radix { 0 } else { o.out + 1 };
                        self.inputs[base + o.input as usize].turn = next as u16;
                        if self.micro.arbitration == Arbitration::Islip {
                            let slot = self.slot(context.packets.of(o.choice.packet));
                            self.outputs[base + o.out as usize].turn = slot as u16 + 1;
                        }
                    }
                    self.grant::<Whole>(now, s, o.out, o.choice, context);
                }
                // An output that was not accepted offers again, and one that was may have more.
                self.dirty[first + o.out as usize / 64] |= 1 << (o.out % 64);
            }
            is_first = false;
        }
        self.offers = offers;
    }

    /// The packet that an output may take in the tick that begins at `now`; the resource that it waits for will wake
    /// it.
    #[inline]
    fn next<F: Features>(
        &mut self,
        now: u64,
        s: u32,
        out: u32,
        context: &mut SwitchContext<'_>,
    ) -> Option<Choice> {
        let port = self.net.base(s) + out;
        let at = self.at(port);
        let o = &self.outputs[at];
        if o.lanes == 0 {
            return None;
        }
        let mut ready = o.crossbar;
        if let Some(room) = self.micro.output_buffer {
            // What a packet takes longer than others in the switch is no byte that waits: on fast channels it is longer than all of them.
            let waits = if F::PLAIN {
                self.net.port(port).long(room)
            } else {
                self.net.long_at(port, room, now)
            };
            let waits = waits.max(self.micro.spread);
            let drained = waits + self.micro.pipeline;
            ready = ready.max(o.channel.saturating_sub(drained));
        }
        if ready >= now + self.micro.tick {
            if !o.woken {
                self.outputs[at].woken = true;
                context.wheel.within(ready, Event::new(What::Output, port, 0));
            }
            return None;
        }
        if F::PLAIN {
            return self.choose_by_turns(now, port, out, context);
        }
        if self.shares.is_plain() {
            return self.choose(now, s, out, o.lanes, context);
        }
        self.choose_class(now, s, out, context)
    }

    /// The next packet of the class that is granted next; of another class, if that has none that may go.
    fn choose_class(
        &mut self,
        now: u64,
        s: u32,
        out: u32,
        context: &mut SwitchContext<'_>,
    ) -> Option<Choice> {
        let port = self.net.base(s) + out;
        let at = self.at(port);
        let lanes = self.outputs[at].lanes;
        let long = 1u32 << self.class_bits;
        let of = |class: u32| (((1u128 << long) - 1) << (class * long)) as u64;
        let mut set = (0..self.micro.classes.len() as u32)
            .filter(|&class| lanes & of(class) != 0)
            .fold(0, |set, class| set | 1 << class);
        while set != 0 {
            match self.shares.next(at, set, now) {
                Next::Class(class) => {
                    if let Some(choice) = self.choose(now, s, out, lanes & of(class), context) {
                        return Some(choice);
                    }
                    set &= !(1 << class);
                }
                Next::Later(when) => {
                    // It may be woken more often than needed, since others may wake it before.
                    context
                        .wheel
                        .within(when.max(now + self.micro.tick), Event::new(What::Output, port, 0));
                    return None;
                }
            }
        }
        None
    }

    /// The next packet for an output, from the round-robin pointer on, of those that have credits and whose input is free: as
    /// [`Switches::choose`] does it, where nothing else counts.
    #[inline]
    fn choose_by_turns(
        &mut self,
        now: u64,
        port: u32,
        out: u32,
        context: &mut SwitchContext<'_>,
    ) -> Option<Choice> {
        let (base, port) = (port - out, self.at(port));
        let OutPort { turn, pool, lanes, .. } = self.outputs[port];
        // Lanes from the pointer on come first, in the order of their numbers.
        let turn = u32::from(turn) % 64;
        let mut lanes = lanes.rotate_right(turn);
        let mut full = false;
        while lanes != 0 {
            let lane = (lanes.trailing_zeros() + turn) % 64;
            lanes &= lanes - 1;
            let Lane { room, first, .. } = self.lanes[port << self.bits | lane as usize];
            // Terminals return no credits: what a lane to one has space for is any packet.
            let room = room + pool;
            // Credits go to the packets that came first: no short one overtakes a long one for ever.
            if room < context.packets.of(first).bytes {
                full = true;
                continue;
            }
            let (mut id, mut before) = (first, NOBODY);
            while id != NOBODY {
                let packet = context.packets.of(id);
                let (beside, bytes) = (packet.beside, packet.bytes);
                let input = base + u32::from(packet.input);
                if self.inputs[self.at(input)].crossbar >= now + self.micro.tick {
                    self.wait_for_input(input, out, context.wheel);
                } else if room >= bytes {
                    self.outputs[port].turn = lane as u16 + 1;
                    return Some(Choice { packet: id, before });
                }
                (id, before) = (beside, id);
            }
        }
        if full && self.outputs[port].stuck == MOVES {
            self.outputs[port].stuck = now;
        }
        None
    }

    /// The next packet among those that wait for some lanes of an output and have credits.
    fn choose(
        &mut self,
        now: u64,
        s: u32,
        out: u32,
        waiting: u64,
        context: &mut SwitchContext<'_>,
    ) -> Option<Choice> {
        let port = self.at(self.net.base(s) + out);
        let to_terminal = matches!(self.net.port(self.net.base(s) + out).peer(), Peer::Terminal(_));
        let OutPort { turn, pool, .. } = self.outputs[port];
        let turn = u32::from(turn);
        let (mut best, mut full): (Option<(u64, Choice)>, bool) = (None, false);
        // From the round-robin pointer on, and then from the beginning.
        let before = (1u64 << (turn % 64)) - 1;
        for mut lanes in [waiting & !before, waiting & before] {
            while lanes != 0 {
                let lane = lanes.trailing_zeros();
                lanes &= lanes - 1;
                let Lane { room, first, .. } = self.lanes[port << self.bits | lane as usize];
                let is_paused =
                    self.pauses.get(port << self.bits | lane as usize).is_some_and(Pause::is_on);
                let room = if is_paused { 0 } else { room + pool };
                // Credits go to the packets that came first: no short one overtakes a long one for ever.
                if !to_terminal && room < context.packets.of(first).bytes {
                    full = true;
                    continue;
                }
                let (mut id, mut before) = (first, NOBODY);
                while id != NOBODY {
                    let packet = context.packets.of(id);
                    let choice = Choice { packet: id, before };
                    (id, before) = (packet.beside, id);
                    let input = self.net.base(s) + u32::from(packet.input);
                    if self.micro.queues != Queues::Memory
                        && self.inputs[self.at(input)].crossbar >= now + self.micro.tick
                    {
                        self.wait_for_input(input, out, context.wheel);
                        continue;
                    }
                    if !to_terminal && room < packet.bytes {
                        continue;
                    }
                    let key = match self.micro.arbitration {
                        Arbitration::RoundRobin => {
                            self.outputs[port].turn = lane as u16 + 1;
                            return Some(choice);
                        }
                        Arbitration::Age => packet.born,
                        // From the round-robin pointer on, and then from the beginning.
                        Arbitration::Islip => self.slot(packet).wrapping_sub(turn).into(),
                        // Lanes come in the order of their turns.
                        Arbitration::Tiles => {
                            behind(self.outputs[port].row, self.place(s, packet)).into()
                        }
                    };
                    if best.is_none_or(|b| key < b.0) {
                        best = Some((key, choice));
                    }
                }
            }
        }
        if full && best.is_none() && self.outputs[port].stuck == MOVES {
            self.outputs[port].stuck = now;
        }
        let best = best.map(|b| b.1);
        if let (Arbitration::Tiles, Some(choice)) = (self.micro.arbitration, best) {
            let packet = context.packets.of(choice.packet);
            self.outputs[port].row = after(self.place(s, packet));
            self.outputs[port].turn = u16::from(packet.next_lane) + 1;
        }
        best
    }

    /// The port that a packet waits at, among those of tiles.
    fn place(&self, s: u32, packet: &Packet) -> u8 {
        self.net.port(self.net.base(s) + u32::from(packet.input)).number.saturating_sub(1)
    }

    /// An output waits for an input's crossbar.
    fn wait_for_input(&mut self, port: u32, out: u32, wheel: &mut Wheel) {
        let words = self.net.words();
        let at = self.at(port);
        self.blocked[at * words + out as usize / 64] |= 1 << (out % 64);
        let input = &mut self.inputs[at];
        if !std::mem::replace(&mut input.woken, true) {
            wheel.within(input.crossbar, Event::new(What::Input, port, 0));
        }
    }
}

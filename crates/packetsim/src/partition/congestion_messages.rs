//! Messages between sources and endpoints.

use super::Partition;
use crate::congestion::{ArrivingPacket, CongestionMessage, CongestionParams, Notification};
use crate::packet::Packet;
use crate::routing::Routing;
use crate::stop::Stop;

impl<R: Routing> Partition<'_, R> {
    /// Sources hear of their packets, and endpoints of sources, those of one tick in an order that does not depend on parts.
    pub(super) fn hear(&mut self) {
        let mut heard = std::mem::take(&mut self.heard);
        heard.sort_unstable();
        for note in heard.drain(..) {
            let (seat, pace) = (self.seat(note.to()), self.net.port(self.net.home(note.to())).pace);
            let at = seat * self.micro.class_count() + usize::from(note.class);
            let Some(terms) = self.terms else { continue };
            if note.to_endpoint {
                let mut grants = std::mem::take(&mut self.grants);
                let bytes = [note.says, note.bytes.into()];
                self.ends[at].asked(terms, note.source, bytes, pace, &mut grants);
                self.grant(terms, &note, &mut grants);
                self.grants = grants;
            } else {
                let says = self.outboxes[at].hear(terms, &note, self.now, pace);
                let lost = note
                    .lost
                    .filter(|lost| terms.congestion.reports_lost(lost.mark))
                    .map_or(0, |lost| lost.message.bytes as u32);
                if says > 0 || lost > 0 {
                    self.ask(
                        terms,
                        CongestionMessage {
                            to_endpoint: true,
                            bytes: lost,
                            says,
                            lost: None,
                            in_order: None,
                            ..note
                        },
                        self.now,
                    );
                }
                self.touch(note.source);
            }
        }
        self.heard = heard;
    }

    /// A source requests bytes from an endpoint, by a note.
    pub(super) fn ask(&mut self, terms: CongestionParams<'_>, note: CongestionMessage, now: u64) {
        let from = Stop::Sent(if note.to_endpoint { note.source } else { note.endpoint });
        self.send_note(from, note, now, now + terms.one_way);
    }

    /// An endpoint has granted bytes to sources; `of` is a note of it.
    fn grant(
        &mut self,
        terms: CongestionParams<'_>,
        of: &CongestionMessage,
        grants: &mut Vec<(u32, u64)>,
    ) {
        for (source, says) in grants.drain(..) {
            let note = CongestionMessage {
                source,
                to_endpoint: false,
                bytes: 0,
                says,
                lost: None,
                in_order: None,
                ..*of
            };
            let (from, now) = (Stop::Sent(note.endpoint), self.now);
            self.send_note(from, note, now, now + terms.one_way);
        }
    }

    /// A switch notifies a source: if an unsolicited packet was dropped, with its turn.
    pub(super) fn tell_dropped(&mut self, notification: Notification) {
        let Notification { when, mut note, waits, port } = notification;
        if let (Some(terms), Some(waits), Some(lost)) = (self.terms, waits, note.lost) {
            let at = self.seat(note.endpoint) * self.micro.class_count() + usize::from(note.class);
            let home = self.net.home(note.endpoint);
            let arriving = ArrivingPacket {
                now: self.now,
                source: note.source,
                bytes: note.bytes,
                payload: lost.message.bytes as u32,
                waits,
                carried: self.switches.carried(home),
                round: 2 * (when - self.now),
                pace: self.net.port(home).pace,
                mark: 0,
                is_dropped: true,
            };
            note.says = self.ends[at].arrived(terms, &arriving, &mut self.grants);
        }
        if note.lost.is_some() && waits.is_none() {
            // No switch notifies it: its source detects the loss.
            return self.note_at(when, Stop::Heard(note.to()), note);
        }
        self.send_note(Stop::Passes(port), note, self.now, when);
    }

    /// A packet is acknowledged, by a message that does not wait, or waits for channels.
    pub(super) fn tell_source(
        &mut self,
        terms: CongestionParams<'_>,
        packet: &Packet,
        when: u64,
        (waits, carried, in_order): (u32, u64, Option<u8>),
    ) {
        let class = packet.lane >> self.micro.lane_bits();
        let at = self.seat(packet.to) * self.micro.class_count() + usize::from(class);
        let arriving = ArrivingPacket {
            now: self.now,
            source: packet.from,
            bytes: packet.bytes,
            payload: packet.payload(),
            waits,
            carried,
            round: when - self.now + 2 * u64::from(packet.back),
            pace: self.net.port(self.net.home(packet.to)).pace,
            mark: packet.mark,
            is_dropped: false,
        };
        let mut grants = std::mem::take(&mut self.grants);
        let says = self.ends[at].arrived(terms, &arriving, &mut grants);
        let (source, endpoint, bytes) = (packet.from, packet.to, packet.bytes);
        let note = CongestionMessage {
            source,
            endpoint,
            class,
            to_endpoint: false,
            bytes,
            says,
            lost: None,
            in_order,
        };
        self.grant(terms, &note, &mut grants);
        self.grants = grants;
        self.send_note(Stop::Sent(endpoint), note, when, when + u64::from(packet.back));
    }
}

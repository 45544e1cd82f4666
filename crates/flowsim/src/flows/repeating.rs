//! Flows as something that comes to the same state again and again.

use darkfiber_workload::play::{Connections, Repeating, Snapshot};

use super::{Event, Flows, Marked};
use crate::FlowId;

impl Repeating for Flows<'_> {
    fn mark(&mut self) {
        let carried = self.carried.clone();
        self.marked.push(Marked { carried, count: self.count, solves: self.solves });
    }

    fn skip(&mut self, times: u64, time: u64) {
        let Some(marked) = self.marked.pop() else { return };
        if times == 0 {
            return;
        }
        for (now, before) in self.carried.iter_mut().zip(&marked.carried) {
            *now = now.saturating_add(times.saturating_mul(*now - before));
        }
        self.count = self.count.saturating_add(times.saturating_mul(self.count - marked.count));
        self.solves = self.solves.saturating_add(times.saturating_mul(self.solves - marked.solves));
        let put_off = |moment: &mut u64| *moment = moment.saturating_add(time);
        for a in &mut self.active {
            [&mut a.begin, &mut a.since, &mut a.end, &mut a.booked].into_iter().for_each(put_off);
        }
        self.ready.iter_mut().for_each(put_off);
        self.waiting.iter_mut().for_each(|pending| put_off(&mut pending.begin));
        self.parts.iter_mut().for_each(|(_, latest)| put_off(latest));
        self.agenda.put_off(time);
        self.now += time;
    }

    fn describe(&mut self, message: &dyn Fn(u32, &mut Snapshot), snapshot: &mut Snapshot) {
        if std::mem::take(&mut self.changes) {
            self.share();
        }
        self.chooser.turns().for_each(|turn| snapshot.word(turn as u64));
        for &ready in &self.ready {
            snapshot.time(ready.max(self.now));
        }
        let mut flows = Vec::with_capacity(self.shares.len());
        for (time, event) in self.agenda.ordered() {
            match event {
                Event::Begin { message: waits } => snapshot.item(|snapshot| {
                    message(waits, snapshot);
                    snapshot.time(time);
                }),
                Event::End { flow } => flows.push(flow),
            }
        }
        // A flow is on the agenda as often as its end came nearer. In the order of their start, since those that end together end
        // in it. The rest of a flow is its rate, which the others decide, times the time to its end.
        flows.sort_unstable();
        flows.dedup();
        flows.retain(|&flow| self.active[flow as usize].booked < u64::MAX);
        flows.sort_unstable_by_key(|&flow| self.active[flow as usize].number);
        for flow in flows {
            let a = self.active[flow as usize];
            snapshot.item(|snapshot| {
                message(a.message, snapshot);
                snapshot.word(a.bytes);
                snapshot.word(a.latency);
                snapshot.time(a.begin);
                snapshot.time(a.end);
                self.shares.path(FlowId(flow)).for_each(|c| snapshot.word(c.into()));
                if let Some(&(parts, latest)) = self.parts.get(a.message as usize) {
                    snapshot.word(parts.into());
                    snapshot.time(latest.max(self.now));
                }
            });
        }
        for (_, behind) in self.connections.iter().flat_map(Connections::waiting) {
            for (place, pending) in behind.iter().enumerate() {
                snapshot.item(|snapshot| {
                    message(pending.departure.message, snapshot);
                    snapshot.word(place as u64);
                });
            }
        }
        snapshot.end_set();
        snapshot.rounded(self.coarsest.saturating_sub(1));
        snapshot.waited(self.waits);
        // Who goes first decides on the next LID.
        if self.chooser.takes_turns() {
            snapshot.keep_order();
        }
    }
}

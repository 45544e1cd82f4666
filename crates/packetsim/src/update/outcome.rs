//! Effects of a table update on traffic.

use crate::Stalled;

/// Counts for one job. Times are in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobPause {
    /// Maximum time for which a connection with something to send was held only because its path was changed.
    pub longest: u64,
    /// Sum of these times over all its connections.
    pub held: u64,
    /// Maximum time for which a connection with packets in flight received no acknowledgement.
    pub silence: u64,
    /// Bytes of its messages that arrived in order.
    pub bytes: u64,
}

/// A part of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Action of the manager in this phase.
    pub name: String,
    /// When it began, and ended, in picoseconds.
    pub begin: u64,
    /// See `begin`; the end of the run for the last one.
    pub end: u64,
    /// Bytes of reliable connections that arrived in order in it.
    pub bytes: u64,
}

/// Why a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LossReason {
    /// It was sent over a cable that was dead.
    DeadCable,
    /// A switch had no route for it.
    NoRoute,
    /// It crossed more switches than any path has.
    Loop,
}

/// A packet that was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostPacket {
    /// Terminal that sent it.
    pub from: u32,
    /// Terminal that it was for.
    pub to: u32,
    /// Index of the destination's LID that it was sent to.
    pub plane: u8,
    /// Reason of the loss.
    pub why: LossReason,
    /// Time of the loss, in picoseconds.
    pub when: u64,
}

/// Counts for the packets of one transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransportCounts {
    /// Packets that were sent, again included; acknowledgements are not counted.
    pub sent: u64,
    /// Packets that were lost.
    pub lost: u64,
    /// Packets that arrived after one that was sent later on the same connection.
    pub out_of_order: u64,
    /// Packets that followed an entry of the old tables and one of the new that differ.
    pub met_both: u64,
}

/// Effects of a table update on traffic.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpdateOutcome {
    /// Counts of reliable connections.
    pub reliable: TransportCounts,
    /// Counts of unreliable datagrams.
    pub datagrams: TransportCounts,
    /// Acknowledgements that were lost.
    pub acknowledgements_lost: u64,
    /// Acknowledgements that followed entries of both tables.
    pub acknowledgements_met_both: u64,
    /// Messages of reliable connections some of whose packets followed entries of the old tables only, and others of the new.
    pub messages_met_both: u64,
    /// Packets that were sent again.
    pub sent_again: u64,
    /// Number of times that receivers requested packets again.
    pub asked_again: u64,
    /// Number of times that timers expired.
    pub timeouts: u64,
    /// Connections that went back more often in a row than the seven times that InfiniBand allows: they would be in error.
    pub broken: u64,
    /// Ends of connections that changed their path, each time.
    pub migrations: u64,
    /// Number of ends of connections.
    pub ends: u64,
    /// Blocks of tables that were written.
    pub blocks: u64,
    /// Hosts that had not replied when the manager stopped waiting for them.
    pub silent_hosts: u64,
    /// Counts by job.
    pub jobs: Vec<JobPause>,
    /// Actions of the manager by time: the first phase is before the update, the last one after it.
    pub phases: Vec<Phase>,
    /// Bytes that arrived in order by intervals of `interval` picoseconds.
    pub arrived: Vec<u64>,
    /// Picoseconds of an interval of `arrived`.
    pub interval: u64,
    /// The first packets that were lost, at most [`LOST_KEPT`].
    pub lost: Vec<LostPacket>,
    /// Packets that wait for each other for ever, if it came to that.
    pub deadlock: Option<Stalled>,
    /// Packets and acknowledgements that were lost on dead cables, without a route, and in loops.
    pub lost_on_cable: u64,
    /// See there.
    pub lost_without_route: u64,
    /// See there.
    pub lost_in_loops: u64,
    /// Whether the update was abandoned: the old tables stay.
    pub aborted: bool,
    /// Whether tables were repaired, after the update or in its place, for a cable that died.
    pub mended: bool,
    /// Whether the update came to its end.
    pub finished: bool,
    /// When the last thing happened, in picoseconds.
    pub end: u64,
}

/// Lost packets that are kept one by one.
pub const LOST_KEPT: usize = 100_000;

/// Intervals of [`UpdateOutcome::arrived`]; when there would be more they become twice as long.
const INTERVALS: usize = 2048;

impl UpdateOutcome {
    /// Bytes a second of reliable connections before, during and after the update; 0 where that took no time.
    pub fn throughput(&self) -> [f64; 3] {
        let count = self.phases.len();
        let rate = |phases: &[Phase]| {
            let (time, bytes) =
                phases.iter().fold((0u64, 0u64), |(t, b), p| (t + (p.end - p.begin), b + p.bytes));
            if time == 0 { 0.0 } else { bytes as f64 * 1e12 / time as f64 }
        };
        if count == 0 {
            return [0.0; 3];
        }
        let last = if self.finished && count > 1 { count - 1 } else { count };
        [
            rate(&self.phases[..1]),
            rate(&self.phases[1.min(count)..last]),
            rate(&self.phases[last..]),
        ]
    }

    /// The counts of a job's connections.
    pub(crate) fn job(&mut self, job: u16) -> &mut JobPause {
        let job = usize::from(job);
        if self.jobs.len() <= job {
            self.jobs.resize(job + 1, JobPause::default());
        }
        &mut self.jobs[job]
    }

    /// Bytes have arrived in order at a time.
    pub(crate) fn delivered(&mut self, job: u16, bytes: u32, when: u64) {
        self.job(job).bytes += u64::from(bytes);
        if let Some(phase) = self.phases.last_mut() {
            phase.bytes += u64::from(bytes);
        }
        let mut at = (when / self.interval) as usize;
        while at >= INTERVALS {
            self.interval *= 2;
            self.arrived = self.arrived.chunks(2).map(|pair| pair.iter().sum()).collect();
            at /= 2;
        }
        if self.arrived.len() <= at {
            self.arrived.resize(at + 1, 0);
        }
        self.arrived[at] += u64::from(bytes);
    }

    /// The manager begins something.
    pub(crate) fn begin(&mut self, name: &str, now: u64) {
        if let Some(last) = self.phases.last_mut() {
            last.end = now;
        }
        self.phases.push(Phase { name: name.to_owned(), begin: now, end: now, bytes: 0 });
    }
}

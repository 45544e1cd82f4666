//! The state machine of every rank.

mod skip;

use serde::{Deserialize, Serialize};

use super::level::Watch;
use super::state::{ASKED, DONE, HELD, Rank, RankPosition, Running, UNASKED};
use super::{
    Agenda, BlockedRanks, Delivery, Departure, Host, Job, JobRun, Lap, NetworkModel, Record, Repeat,
};
use crate::schedule::{Op, Steps};
use crate::state;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum EventKind {
    /// A job starts.
    Begin,
    /// An operation has started: operations that wait for its start are released.
    Begun,
    /// An operation is done.
    Done,
    /// A processor has passed a message to its adapter.
    Sent,
    /// A request to send has reached the receiver.
    Request,
    /// The reply to it has reached the sender.
    Answer,
    /// A message is all there.
    Arrived,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Event {
    job: u32,
    /// Of an operation; not used by messages.
    rank: u32,
    /// An operation, or a message.
    what: u32,
    kind: EventKind,
}

/// The receive of a put, which no rank receives.
const NOBODY: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Message {
    epoch: u64,
    /// Of the block of that epoch, in which it is received.
    round: u32,
    departed: u64,
    job: u32,
    from: u32,
    to: u32,
    send: u32,
    recv: u32,
    bytes: u64,
    /// It requests permission before it departs, and has not departed.
    asks: bool,
    /// Its sender waits until it has left.
    holds: bool,
}

/// Runs jobs: the operations of their ranks, with their times, except for those of messages.
///
/// A processor does one thing at a time, in the order in which operations became ready. Those ready in the same
/// picosecond are served in the order of the events that led there, which is the same in every run.
#[derive(Debug)]
pub struct Player<'a> {
    jobs: &'a [Job],
    host: &'a Host,
    running: Vec<Running>,
    runs: Vec<Vec<JobRun>>,
    laps: Vec<Lap>,
    /// The job whose laps are recorded.
    lapped: Option<u32>,
    agenda: Agenda<Event>,
    messages: Vec<Message>,
    unused: Vec<u32>,
    ready: Vec<(u32, u32)>,
    events: u64,
    now: u64,
    seed: u64,
    /// By job, the number by which its noise is drawn.
    numbers: Vec<u32>,
    /// Number of times that an operation found its processor busy: served first come, first served.
    waits: u64,
    /// Loops of the first job whose iterations are timed.
    pub(super) watches: Vec<Watch>,
}

state! {
    pub struct PlayerState of() Player<'_> {
        running: Vec<Running>,
        runs: Vec<Vec<JobRun>>,
        laps: Vec<Lap>,
        agenda: Agenda<Event>,
        messages: Vec<Message>,
        unused: Vec<u32>,
        ready: Vec<(u32, u32)>,
        events: u64,
        now: u64,
    }
}

impl<'a> Player<'a> {
    /// A player of jobs on hosts.
    ///
    /// # Panics
    /// If a job has not as many terminals as its program has ranks.
    pub fn new(jobs: &'a [Job], host: &'a Host) -> Self {
        let mut agenda = Agenda::default();
        for (i, job) in jobs.iter().enumerate() {
            assert_eq!(
                job.terminals.len(),
                job.program.ranks() as usize,
                "a terminal for each rank"
            );
            agenda
                .push(job.start, Event { job: i as u32, rank: 0, what: 0, kind: EventKind::Begin });
        }
        Self {
            jobs,
            host,
            running: jobs.iter().map(Running::new).collect(),
            runs: vec![Vec::new(); jobs.len()],
            laps: Vec::new(),
            lapped: None,
            agenda,
            messages: Vec::new(),
            unused: Vec::new(),
            ready: Vec::new(),
            events: 0,
            now: 0,
            seed: 1,
            numbers: (0..jobs.len() as u32).collect(),
            waits: 0,
            watches: Vec::new(),
        }
    }

    /// Whether a state is of these jobs, and all that it refers to exists: a saved run is checked with this before it is
    /// resumed. To be called before anything was played.
    pub fn fits(&self, state: &PlayerState) -> bool {
        let (jobs, messages) = (self.jobs.len() as u32, state.messages.len() as u32);
        let ranks = |job: u32| self.jobs[job as usize].program.ranks();
        let is_message = |m: &Message| m.job < jobs && m.from < ranks(m.job) && m.to < ranks(m.job);
        let is_there = |e: &Event| {
            e.job < jobs
                && match e.kind {
                    EventKind::Begin => true,
                    EventKind::Begun | EventKind::Done => e.rank < ranks(e.job),
                    EventKind::Sent
                    | EventKind::Request
                    | EventKind::Answer
                    | EventKind::Arrived => e.what < messages,
                }
        };
        state.running.len() == self.running.len()
            && state.runs.len() == self.runs.len()
            && (self.running.iter().zip(&state.running).zip(self.jobs))
                .all(|((a, b), job)| a.is_like(b, job.program.blocks()))
            && state.messages.iter().all(is_message)
            && state.unused.iter().all(|&m| m < messages)
            && state.agenda.fits(is_there)
    }

    /// The same, but the noise of hosts is drawn by this seed.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The same, but the noise of each job is drawn by this number instead of its place among the jobs, so that it is the same whoever
    /// runs beside it.
    #[must_use]
    pub fn with_numbers(mut self, numbers: Vec<u32>) -> Self {
        self.numbers = numbers;
        self
    }

    /// The same, but the laps of a job are kept.
    #[must_use]
    pub fn with_laps(mut self, job: u32) -> Self {
        self.lapped = Some(job);
        self
    }

    /// Time of the next event.
    pub fn upcoming(&mut self) -> Option<u64> {
        self.agenda.upcoming()
    }

    /// The moment of the last step, in picoseconds.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Number of events so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The runs of a job that are complete.
    pub fn runs(&self, job: usize) -> &[JobRun] {
        &self.runs[job]
    }

    /// The laps that are complete, in the order of their ends, if they are kept.
    pub fn laps(&self) -> &[Lap] {
        &self.laps
    }

    /// Takes note of a delivery to come.
    pub fn deliver(&mut self, delivery: Delivery) {
        let m = self.messages[delivery.message as usize];
        if m.holds {
            let done = Event { job: m.job, rank: m.from, what: m.send, kind: EventKind::Done };
            self.agenda.push(delivery.left, done);
        }
        let arrived =
            Event { job: m.job, rank: m.to, what: delivery.message, kind: EventKind::Arrived };
        self.agenda.push(delivery.arrives, arrived);
    }

    /// Processes all events at `now`. Messages that depart are added to `departures`; `each` is called for those
    /// received.
    pub fn advance(
        &mut self,
        now: u64,
        wire: &dyn NetworkModel,
        departures: &mut Vec<Departure>,
        each: &mut dyn FnMut(&Record),
    ) {
        self.now = now;
        while let Some((_, event)) = self.agenda.pop(now) {
            self.events += 1;
            let Event { job, rank, what, kind } = event;
            match kind {
                EventKind::Begin => self.begin(job, now),
                EventKind::Begun => self.release(job, rank, what, true),
                EventKind::Done => self.done(job, rank, what, now),
                EventKind::Sent => self.sent(what, now, wire, departures),
                EventKind::Request => self.match_receive(what, now, wire),
                EventKind::Answer => {
                    let m = &mut self.messages[what as usize];
                    (m.asks, m.departed) = (false, now);
                    departures.push(self.departure(what));
                }
                EventKind::Arrived => {
                    let m = self.messages[what as usize];
                    each(&Record {
                        job,
                        epoch: m.epoch,
                        op: m.send,
                        from: m.from,
                        to: m.to,
                        bytes: m.bytes,
                        departed: m.departed,
                        arrived: now,
                    });
                    if m.recv == NOBODY {
                        self.unused.push(what);
                    } else {
                        self.match_receive(what, now, wire);
                    }
                }
            }
            self.go(job, now, wire, departures);
        }
    }

    /// A processor has passed a message to its adapter.
    fn sent(
        &mut self,
        message: u32,
        now: u64,
        wire: &dyn NetworkModel,
        departures: &mut Vec<Departure>,
    ) {
        let m = &mut self.messages[message as usize];
        let (job, rank, send) = (m.job, m.from, m.send);
        if m.asks {
            let request = Event { job, rank, what: message, kind: EventKind::Request };
            self.agenda.push(now.saturating_add(self.latency(wire, message)), request);
        } else {
            m.departed = now;
            let goes_on = !m.holds;
            departures.push(self.departure(message));
            if goes_on {
                self.done(job, rank, send, now);
            }
        }
    }

    fn latency(&self, wire: &dyn NetworkModel, message: u32) -> u64 {
        let m = &self.messages[message as usize];
        let terminals = &self.jobs[m.job as usize].terminals;
        wire.latency(terminals[m.from as usize], terminals[m.to as usize])
    }

    fn departure(&self, message: u32) -> Departure {
        let m = &self.messages[message as usize];
        let terminals = &self.jobs[m.job as usize].terminals;
        let (from, to) = (terminals[m.from as usize], terminals[m.to as usize]);
        let ranks = [m.from, m.to];
        Departure { message, job: m.job, from, to, ranks, bytes: m.bytes, of: m.bytes }
    }

    fn begin(&mut self, job: u32, now: u64) {
        let running = &mut self.running[job as usize];
        (running.finished, running.begun) = (0, now);
        for rank in 0..self.jobs[job as usize].program.ranks() {
            self.running[job as usize].ranks[rank as usize].epoch = 0;
            self.enter(job, rank, now, false);
        }
        if self.jobs[job as usize].program.ranks() == 0 {
            self.complete(job, now);
        }
    }

    /// A rank enters its next schedule, or is finished.
    fn enter(&mut self, job: u32, rank: u32, now: u64, gathered: bool) {
        let running = &mut self.running[job as usize];
        let all = running.ranks.len();
        match running.enter(&self.jobs[job as usize], rank, gathered) {
            RankPosition::Begins => {}
            RankPosition::Finished => {
                running.finished += 1;
                if running.finished as usize == all {
                    self.complete(job, now);
                }
                return;
            }
            RankPosition::Waits => {
                if running.gathered as usize == all {
                    running.gathered = 0;
                    (0..all as u32).for_each(|rank| self.enter(job, rank, now, true));
                }
                return;
            }
        }
        running.ranks[rank as usize].begun = now;
        self.begin_round(job, rank);
    }

    /// A rank is at the beginning of a round: early messages for it are matched, and operations without dependencies
    /// are ready.
    fn begin_round(&mut self, job: u32, rank: u32) {
        let running = &mut self.running[job as usize];
        let r = &running.ranks[rank as usize];
        let moment = (r.epoch, r.round);
        self.watches.iter_mut().for_each(|watch| watch.enters(rank, moment, self.now));
        if let Some(first) = running.early[rank as usize].first_entry()
            && *first.key() == moment
        {
            for (recv, message) in first.remove() {
                let at = running.ranks[rank as usize].at(recv);
                running.ops[at].state = message + HELD;
            }
        }
        let steps = self.steps(job, rank);
        let running = &self.running[job as usize];
        let waits = &running.ops[running.ranks[rank as usize].base as usize..];
        let ready = steps.of(rank).zip(waits).filter(|(_, waits)| waits.left == 0);
        self.ready.extend(ready.map(|(op, _)| (rank, op)));
    }

    fn complete(&mut self, job: u32, now: u64) {
        let begin = self.running[job as usize].begun;
        self.runs[job as usize].push(JobRun { begin, end: now });
        // A run that takes no time would be repeated for ever.
        if let Repeat::Until(until) = self.jobs[job as usize].repeat
            && begin < now
            && now < until
        {
            self.agenda.push(now, Event { job, rank: 0, what: 0, kind: EventKind::Begin });
        }
    }

    /// The operations of a rank in its current round.
    #[inline]
    fn steps(&self, job: u32, rank: u32) -> Steps<'a> {
        self.running[job as usize].ranks[rank as usize].steps(&self.jobs[job as usize])
    }

    /// Begins all operations that can begin.
    fn go(&mut self, job: u32, now: u64, wire: &dyn NetworkModel, departures: &mut Vec<Departure>) {
        // First come, first served.
        let mut i = 0;
        while i < self.ready.len() {
            let (rank, op) = self.ready[i];
            i += 1;
            self.start(job, rank, op, now, wire, departures);
        }
        self.ready.clear();
    }

    fn start(
        &mut self,
        job: u32,
        rank: u32,
        op: u32,
        now: u64,
        wire: &dyn NetworkModel,
        departures: &mut Vec<Departure>,
    ) {
        let schedule = self.steps(job, rank);
        let stream = schedule.stream(op);
        let running = &mut self.running[job as usize];
        let mut begins = now;
        let what = schedule.op(op);
        match what {
            Op::Compute { picoseconds: 0 } => {
                self.release(job, rank, op, true);
                self.done(job, rank, op, now);
                return;
            }
            Op::Compute { picoseconds } => {
                let epoch = running.ranks[rank as usize].epoch;
                // Another run of the job is noisy in another way.
                let when = epoch.wrapping_add((self.runs[job as usize].len() as u64) << 40);
                let who = u64::from(self.numbers[job as usize]) << 32 | u64::from(rank);
                let seed = [self.seed, who, when, op.into()];
                let free = running.processor(rank, stream);
                self.waits += u64::from(*free > now);
                begins = now.max(*free);
                *free = begins.saturating_add(self.host.computing(picoseconds, seed));
                let at = *free;
                self.agenda.push(at, Event { job, rank, what: op, kind: EventKind::Done });
            }
            Op::Send { to, bytes, .. } | Op::Put { to, bytes } => {
                let free = running.processor(rank, stream);
                self.waits += u64::from(*free > now);
                begins = now.max(*free);
                *free = begins.saturating_add(self.host.busy(self.host.send, bytes));
                let at = *free;
                let Rank { epoch, round, .. } = running.ranks[rank as usize];
                let terminals = &self.jobs[job as usize].terminals;
                let ends = (terminals[rank as usize], terminals[to as usize]);
                let far = !wire.is_within_host(ends.0, ends.1);
                let is_put = matches!(what, Op::Put { .. });
                let large = far && bytes >= self.host.rendezvous && !is_put;
                let recv = if is_put { NOBODY } else { schedule.partner(op) };
                let (departed, from, send) = (0, rank, op);
                let message = Message {
                    epoch,
                    round: round - schedule.lag(op),
                    departed,
                    job,
                    from,
                    to,
                    send,
                    recv,
                    bytes,
                    asks: large,
                    holds: large || is_put,
                };
                let message = self.message(message);
                if at == now {
                    self.sent(message, now, wire, departures);
                } else {
                    self.agenda.push(at, Event { job, rank, what: message, kind: EventKind::Sent });
                }
            }
            Op::Recv { .. } => {
                let at = running.ranks[rank as usize].at(op);
                let state = std::mem::replace(&mut running.ops[at].state, ASKED);
                if state >= HELD {
                    let message = state - HELD;
                    let Message { epoch, round, .. } = self.messages[message as usize];
                    debug_assert!(running.ranks[rank as usize].is_at((epoch, round)));
                    self.match_receive(message, now, wire);
                }
            }
        }
        if schedule.is_waited_for_at_start(op) {
            self.agenda.push(begins, Event { job, rank, what: op, kind: EventKind::Begun });
        }
    }

    fn message(&mut self, message: Message) -> u32 {
        if let Some(i) = self.unused.pop() {
            self.messages[i as usize] = message;
            return i;
        }
        self.messages.push(message);
        self.messages.len() as u32 - 1
    }

    /// A message, or a request to send it, is at its receiver: now, or already when the receive is posted.
    fn match_receive(&mut self, message: u32, now: u64, wire: &dyn NetworkModel) {
        let m = self.messages[message as usize];
        let running = &mut self.running[m.job as usize];
        let rank = &running.ranks[m.to as usize];
        if !rank.is_at((m.epoch, m.round)) {
            let early = &mut running.early[m.to as usize];
            early.entry((m.epoch, m.round)).or_default().push((m.recv, message));
            return;
        }
        let at = rank.at(m.recv);
        if running.ops[at].state == UNASKED {
            running.ops[at].state = message + HELD;
        } else if m.asks {
            let answer = Event { job: m.job, rank: m.from, what: message, kind: EventKind::Answer };
            let at = now.saturating_add(self.latency(wire, message));
            self.agenda.push(at, answer);
        } else {
            let schedule = rank.steps(&self.jobs[m.job as usize]);
            let free = running.processor(m.to, schedule.stream(m.recv));
            let busy = self.host.busy(self.host.receive, m.bytes);
            self.waits += u64::from(*free > now);
            *free = now.max(*free).saturating_add(busy);
            let at = *free;
            self.unused.push(message);
            if at == now {
                self.done(m.job, m.to, m.recv, now);
            } else {
                let done = Event { job: m.job, rank: m.to, what: m.recv, kind: EventKind::Done };
                self.agenda.push(at, done);
            }
        }
    }

    /// Releases the operations that wait for the end, or the start, of an operation.
    fn release(&mut self, job: u32, rank: u32, op: u32, at_start: bool) {
        let steps = self.steps(job, rank);
        self.running[job as usize].release(steps, (rank, op), at_start, &mut self.ready);
    }

    fn done(&mut self, job: u32, rank: u32, op: u32, now: u64) {
        let running = &mut self.running[job as usize];
        let steps = running.ranks[rank as usize].steps(&self.jobs[job as usize]);
        running.release(steps, (rank, op), false, &mut self.ready);
        let r = &mut running.ranks[rank as usize];
        running.ops[r.at(op)].left = DONE;
        r.remaining -= 1;
        if r.remaining > 0 {
            return;
        }
        r.round += 1;
        if running.goes_on(&self.jobs[job as usize], rank) {
            self.begin_round(job, rank);
            return;
        }
        let r = &mut running.ranks[rank as usize];
        if self.lapped == Some(job) {
            self.laps.push(Lap { rank, epoch: r.epoch, begin: r.begun, end: now });
        }
        r.epoch += 1;
        self.enter(job, rank, now, false);
    }

    /// Whether all jobs came to their ends.
    ///
    /// # Errors
    /// If an operation waits for an event that never comes.
    pub fn finished(&self) -> Result<(), BlockedRanks> {
        let mut stuck = BlockedRanks { waiting: 0, examples: Vec::new() };
        for (job, running) in self.running.iter().enumerate() {
            if running.finished as usize == running.ranks.len() {
                continue;
            }
            for (rank, r) in
                running.ranks.iter().enumerate().filter(|(_, r)| r.epoch < running.epochs)
            {
                let schedule = r.steps(&self.jobs[job]);
                for op in schedule.of(rank as u32).filter(|&op| running.ops[r.at(op)].left == 0) {
                    stuck.waiting += 1;
                    if stuck.examples.len() < 4 {
                        let what = (job as u32, rank as u32, op - r.first, schedule.op(op));
                        stuck.examples.push(what);
                    }
                }
            }
        }
        if stuck.waiting == 0 { Ok(()) } else { Err(stuck) }
    }
}

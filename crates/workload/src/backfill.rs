//! A log without places becomes one with places: its jobs are put on a machine, one after the other.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::placement::{Allocator, Free};
use crate::{History, Machine, Stream};

/// A job that is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobRequest {
    /// When it began in the log, in seconds: it starts no earlier.
    pub start: i64,
    /// Run time in seconds.
    pub seconds: i64,
    /// Number of processors that it had.
    pub processors: u32,
}

/// The jobs of a machine `scale` times as large, whose hosts have `per_host` processors: jobs of that many times the
/// hosts; those smaller than a host are repeated that many times instead.
pub fn scaled(requests: &[JobRequest], per_host: u32, scale: f64) -> Vec<JobRequest> {
    let mut all = Vec::with_capacity(requests.len());
    let mut small = 0;
    for request in requests {
        if request.processors < per_host {
            small += 1;
            let times = rounded(small, scale) - rounded(small - 1, scale);
            all.extend(std::iter::repeat_n(*request, times as usize));
        } else {
            let hosts = rounded(request.processors.div_ceil(per_host), scale).max(1);
            all.push(JobRequest { processors: hosts.saturating_mul(per_host), ..*request });
        }
    }
    all
}

#[expect(clippy::cast_sign_loss, reason = "neither is below zero")]
fn rounded(n: u32, scale: f64) -> u32 {
    (f64::from(n) * scale).round() as u32
}

/// A job that begins.
#[derive(Clone, Copy, Debug)]
pub struct StartedJob<'a> {
    /// Its wish, by number.
    pub request: usize,
    /// When it begins, in seconds.
    pub start: i64,
    /// When it will end.
    pub end: i64,
    /// Its hosts, in the order of ranks.
    pub hosts: &'a [u32],
}

/// The result of running the jobs of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackfillResult {
    /// Jobs larger than the machine, which were left out.
    pub too_large: usize,
    /// Jobs that started later than in the log for want of hosts.
    pub late: usize,
    /// The longest that one had to wait, in seconds.
    pub latest: i64,
}

/// Jobs behind the first that waits which are tried, as SLURM's `bf_max_job_test`.
const TRIED: usize = 500;

/// Runs the jobs of a log on a machine.
///
/// A job starts as in the log if the allocator finds hosts for it. Otherwise it waits, in the order of the log, and
/// those behind it go ahead only if they do not delay the first one, by count of hosts, or of processors on the host that it will
/// share (EASY backfilling: Mu'alem,
/// Feitelson, "Utilization, Predictability, Workloads, and User Runtime Estimates in Scheduling the IBM SP2 with
/// Backfilling", TPDS 2001; run times are known here). Jobs get whole hosts, except those that need less than one:
/// they share hosts among each other, in the fullest with free processors.
///
/// Wishes must be ordered by start; `each` gets jobs as they start. The same seed gives the same places.
pub fn backfill(
    machine: &Machine,
    requests: &[JobRequest],
    allocator: &Allocator,
    seed: u64,
    each: &mut dyn FnMut(StartedJob<'_>),
) -> BackfillResult {
    let mut run = BackfillRun {
        machine,
        requests,
        allocator,
        seed,
        used: vec![0; machine.len()],
        is_free: vec![true; machine.len()],
        free: machine.len(),
        running: BTreeMap::new(),
        queue: Vec::new(),
        done: BackfillResult::default(),
        each,
    };
    let mut next = 0;
    loop {
        let arrival = requests.get(next).map(|w| w.start);
        let end = run.running.first_key_value().map(|e| e.0.0);
        let Some(now) = arrival.into_iter().chain(end).min() else { break };
        while let Some(first) = run.running.first_entry().filter(|e| e.key().0 <= now) {
            let ((_, request), hosts) = first.remove_entry();
            run.release(request, &hosts);
        }
        while requests.get(next).is_some_and(|w| w.start <= now) {
            if run.hosts_of(next) > machine.len() {
                run.done.too_large += 1;
            } else if requests[next].seconds > 0 && requests[next].processors > 0 {
                run.queue.push(next);
            }
            next += 1;
        }
        run.try_queue(now);
    }
    run.done
}

impl History {
    /// Nodes and times of the jobs after an allocator has placed them on a machine: see [`backfill`].
    pub fn scheduled(
        machine: &Machine,
        requests: &[JobRequest],
        allocator: &Allocator,
        seed: u64,
    ) -> (Self, BackfillResult) {
        let mut history = Self::default();
        let done = backfill(machine, requests, allocator, seed, &mut |job| {
            let terminals = job.hosts.iter().flat_map(|&h| machine.terminals(h)).copied();
            history.add(job.start, job.end, terminals.collect());
        });
        (history.sorted(), done)
    }
}

struct BackfillRun<'a> {
    machine: &'a Machine,
    requests: &'a [JobRequest],
    allocator: &'a Allocator,
    seed: u64,
    /// Processors in use on each host.
    used: Vec<u32>,
    is_free: Vec<bool>,
    free: usize,
    /// Hosts of jobs that run, by when they end and which they are.
    running: BTreeMap<(i64, usize), Vec<u32>>,
    queue: Vec<usize>,
    done: BackfillResult,
    each: &'a mut dyn FnMut(StartedJob<'_>),
}

/// What the first job that waits will get.
struct Reservation {
    /// When, in seconds.
    shadow: i64,
    /// Hosts that others may have then.
    spare: usize,
    /// The host that it will share, and the processors of it that others may have then.
    on: Option<(u32, u32)>,
}

impl Reservation {
    /// Gives hosts to a job that will not have ended by then, and takes this many processors of each; not if that delays the first.
    fn lends(&mut self, hosts: &[u32], each: u32) -> bool {
        if let Some((host, spare)) = &mut self.on
            && hosts.contains(host)
        {
            if each > *spare {
                return false;
            }
            *spare -= each;
        }
        self.spare -= hosts.len();
        true
    }
}

impl BackfillRun<'_> {
    fn hosts_of(&self, request: usize) -> usize {
        self.requests[request].processors.div_ceil(self.machine.processors()) as usize
    }

    /// Whether it may share a host with others.
    fn shares(&self, request: usize) -> bool {
        self.requests[request].processors < self.machine.processors()
    }

    fn try_queue(&mut self, now: i64) {
        // The first job that waits, and its reservation once another job could go ahead of it.
        let mut first: Option<usize> = None;
        let mut reserved: Option<Reservation> = None;
        let mut still = Vec::new();
        let queue = std::mem::take(&mut self.queue);
        // Requests that are too large now; no hosts become free while the queue is scanned.
        let (mut too_many, mut too_full) = (usize::MAX, u32::MAX);
        for (at, &request) in queue.iter().enumerate() {
            if still.len() > TRIED {
                still.extend_from_slice(&queue[at..]);
                break;
            }
            let hosts = self.hosts_of(request);
            let processors = self.requests[request].processors;
            if hosts >= too_many && (!self.shares(request) || processors >= too_full) {
                still.push(request);
                continue;
            }
            let end = now.saturating_add(self.requests[request].seconds);
            if let Some(first) = first
                && reserved.is_none()
            {
                reserved = Some(self.reserve(first));
            }
            // Who ends before that takes nothing from it.
            let reserved = reserved.as_mut().filter(|reserved| end > reserved.shadow);
            if reserved.as_ref().is_some_and(|reserved| hosts > reserved.spare) {
                still.push(request);
                continue;
            }
            if let Some(given) = self.allocate(request) {
                let each = self.taken_of_each(request);
                if reserved.is_some_and(|reserved| !reserved.lends(&given, each)) {
                    still.push(request);
                    continue;
                }
                self.begin(request, now, given);
            } else {
                if self.shares(request) {
                    too_full = too_full.min(processors);
                }
                too_many = too_many.min(hosts);
                first = first.or(Some(request));
                still.push(request);
            }
        }
        self.queue = still;
    }

    /// When there will be enough hosts for a job by count, or a host with enough processors for one that shares.
    fn reserve(&self, first: usize) -> Reservation {
        let (hosts, processors) = (self.hosts_of(first), self.requests[first].processors);
        let room = self.machine.processors().saturating_sub(processors);
        let mut used = self.used.clone();
        let mut free = self.free;
        for (&(shadow, request), taken) in &self.running {
            for &h in taken {
                let used = &mut used[h as usize];
                *used -= self.taken_of_each(request);
                free += usize::from(*used == 0);
                if self.shares(first) && *used <= room {
                    return Reservation { shadow, spare: usize::MAX, on: Some((h, room - *used)) };
                }
            }
            if !self.shares(first) && free >= hosts {
                return Reservation { shadow, spare: free - hosts, on: None };
            }
        }
        // All hosts are free by count; the allocator wants them otherwise, and will find them so at last.
        Reservation { shadow: i64::MAX, spare: 0, on: None }
    }

    /// Processors that a job takes on each of its hosts.
    fn taken_of_each(&self, request: usize) -> u32 {
        self.requests[request].processors.min(self.machine.processors())
    }

    fn allocate(&self, request: usize) -> Option<Vec<u32>> {
        let n = self.hosts_of(request);
        if self.shares(request) {
            let room = self.machine.processors() - self.requests[request].processors;
            let shared = (0..self.used.len())
                .filter(|&h| self.used[h] > 0 && self.used[h] <= room)
                .max_by_key(|&h| (self.used[h], Reverse(h)));
            if let Some(h) = shared {
                return Some(vec![h as u32]);
            }
        }
        if self.free < n {
            return None;
        }
        let free = Free { machine: self.machine, is_free: &self.is_free };
        self.allocator.allocate(&free, n, &mut Stream::new(self.seed, request as u64))
    }

    fn begin(&mut self, request: usize, now: i64, hosts: Vec<u32>) {
        let job = self.requests[request];
        let each = self.taken_of_each(request);
        for &h in &hosts {
            self.free -= usize::from(self.used[h as usize] == 0);
            self.used[h as usize] += each;
            self.is_free[h as usize] = false;
        }
        let end = now.saturating_add(job.seconds);
        (self.each)(StartedJob { request, start: now, end, hosts: &hosts });
        self.running.insert((end, request), hosts);
        self.done.late += usize::from(now > job.start);
        self.done.latest = self.done.latest.max(now - job.start);
    }

    fn release(&mut self, request: usize, hosts: &[u32]) {
        let each = self.taken_of_each(request);
        for &h in hosts {
            let used = &mut self.used[h as usize];
            *used -= each;
            if *used == 0 {
                self.is_free[h as usize] = true;
                self.free += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::parse_spec;
    use proptest::prelude::*;

    use super::*;
    use crate::placement::{ALLOCATORS, allocator};

    fn machine(processors: u32) -> Machine {
        Machine::new(&parse_spec("fattree2:n=4,m=4,r=3").expect("a spec"), processors)
    }

    fn request(start: i64, seconds: i64, processors: u32) -> JobRequest {
        JobRequest { start, seconds, processors }
    }

    /// Jobs by start, seconds and processors.
    fn requests<const N: usize>(jobs: [(i64, i64, u32); N]) -> [JobRequest; N] {
        jobs.map(|(start, seconds, processors)| request(start, seconds, processors))
    }

    /// When and where each wish began, and the rest.
    struct Done {
        start: Vec<i64>,
        hosts: Vec<Vec<u32>>,
        rest: BackfillResult,
    }

    fn run(processors: u32, requests: &[JobRequest], allocator: &Allocator, seed: u64) -> Done {
        let mut start: Vec<i64> = requests.iter().map(|w| w.start).collect();
        let mut hosts = vec![Vec::new(); requests.len()];
        let mut now = i64::MIN;
        let rest = backfill(&machine(processors), requests, allocator, seed, &mut |job| {
            assert!(job.start >= now && job.end == job.start + requests[job.request].seconds);
            now = job.start;
            start[job.request] = now;
            hosts[job.request] = job.hosts.to_vec();
        });
        Done { start, hosts, rest }
    }

    fn first_fit(processors: u32, requests: &[JobRequest]) -> Done {
        run(processors, requests, allocator("first-fit").expect("known"), 1)
    }

    #[test]
    fn jobs_wait_for_room_and_small_ones_go_ahead() {
        // 12 hosts: 8 until 100; 6 must wait; 4 until 50 go ahead, 4 until 200 do not (they would delay the 6), but 2
        // may (8 + 4 = 12 are free then, and 6 more than enough).
        let requests = requests([(0, 100, 8), (1, 10, 6), (2, 48, 2), (3, 500, 2), (4, 500, 9)]);
        let done = first_fit(1, &requests);
        assert_eq!(done.start, [0, 100, 2, 3, 110]);
        assert_eq!((done.rest.late, done.rest.latest, done.rest.too_large), (2, 106, 0));
        assert_eq!(done.hosts[1], [0, 1, 2, 3, 4, 5]);
        let blocked = first_fit(1, &[request(0, 100, 8), request(1, 10, 12), request(2, 500, 2)]);
        assert_eq!(blocked.start, [0, 100, 110]);
    }

    #[test]
    fn small_jobs_share_hosts() {
        let requests = requests([(0, 9, 3), (1, 9, 1), (2, 9, 2), (3, 9, 9), (4, 9, 100)]);
        let done = first_fit(4, &requests);
        assert_eq!(done.hosts, [vec![0], vec![0], vec![1], vec![2, 3, 4], vec![]]);
        assert_eq!(done.rest.too_large, 1);
    }

    /// A job that shares a host waits for processors of it: who goes ahead takes none of these.
    #[test]
    fn who_shares_hosts_is_not_delayed() {
        let two = Machine::new(&parse_spec("fattree2:n=1,m=1,r=2").expect("a spec"), 4);
        let requests =
            requests([(0, 100, 4), (0, 10, 1), (0, 200, 1), (1, 30, 3), (2, 98, 2), (3, 6, 2)]);
        let mut start = [0; 6];
        let first_fit = allocator("first-fit").expect("known");
        backfill(&two, &requests, first_fit, 1, &mut |job| start[job.request] = job.start);
        // The fourth has its three processors at 10; the fifth would have two of them until 100, the sixth has left by then.
        assert_eq!(start, [0, 0, 0, 10, 40, 3]);
    }

    #[test]
    fn who_wants_no_holes_waits_for_none() {
        // Hosts 0-3 and 8-11 are free at 50, all at 100.
        let requests = requests([(0, 50, 4), (0, 100, 4), (60, 10, 6)]);
        let all = |name| run(1, &requests, allocator(name).expect("known"), 1).start[2];
        assert_eq!((all("first-fit"), all("linear"), all("contiguous")), (60, 60, 100));
    }

    #[test]
    fn larger_machines_get_larger_jobs() {
        let requests = requests([(0, 9, 1), (1, 9, 2), (2, 9, 1), (3, 9, 5)]);
        let of = |scale| -> Vec<(i64, u32)> {
            scaled(&requests, 2, scale).iter().map(|w| (w.start, w.processors)).collect()
        };
        assert_eq!(of(1.0), [(0, 1), (1, 2), (2, 1), (3, 6)]);
        assert_eq!(of(1.5), [(0, 1), (0, 1), (1, 4), (2, 1), (3, 10)]);
        assert_eq!(of(0.3), [(1, 2), (2, 1), (3, 2)]);
    }

    proptest! {
        #[test]
        fn nobody_gets_what_another_has(
            wants in prop::collection::vec((0i64..20, 1i64..30, 1u32..30), 1..40),
            seed: u64,
        ) {
            let mut requests: Vec<JobRequest> = wants.iter().map(|&(a, b, c)| request(a, b, c)).collect();
            requests.sort_by_key(|w| w.start);
            for a in &ALLOCATORS {
                let done = run(2, &requests, a, seed);
                for (i, w) in requests.iter().enumerate() {
                    let large = w.processors > 24;
                    prop_assert_eq!(done.hosts[i].len(), if large { 0 } else { w.processors.div_ceil(2) as usize });
                    prop_assert!(done.start[i] >= w.start);
                }
                // At every start the processors in use on each host are those that it has at most.
                for &now in &done.start {
                    let mut used = [0; 12];
                    for (i, w) in requests.iter().enumerate() {
                        if done.start[i] <= now && now < done.start[i] + w.seconds {
                            for &h in &done.hosts[i] {
                                used[h as usize] += w.processors.min(2);
                            }
                        }
                    }
                    prop_assert!(used.iter().all(|&u| u <= 2), "{} {:?}", a.name, used);
                }
            }
        }
    }
}

//! Jobs that ran at unknown places: their requests for a machine.

use darkfiber_workload::JobRequest;

/// A job that ran somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedJob {
    /// When it began, in seconds.
    pub start: i64,
    /// When it ended; `None`: it still runs when the log ends.
    pub end: Option<i64>,
    /// Its hosts; 0: it does not say.
    pub hosts: u32,
    /// Its processors; 0: it does not say.
    pub processors: u32,
}

/// Requests of jobs for a machine whose hosts have this number of processors, by rising start. `newest` is the latest time of
/// the log.
pub fn requests(
    logged_jobs: impl IntoIterator<Item = LoggedJob>,
    processors_per_host: u32,
    newest: i64,
) -> Vec<JobRequest> {
    let mut requests: Vec<JobRequest> = logged_jobs
        .into_iter()
        .map(|job| {
            let of_hosts = job.hosts.saturating_mul(processors_per_host);
            let stated = if processors_per_host > 1 {
                [job.processors, of_hosts]
            } else {
                [job.hosts, job.processors]
            };
            let processors = stated.into_iter().find(|&n| n > 0).unwrap_or(1);
            let end = job.end.unwrap_or_else(|| newest.max(job.start.saturating_add(1)));
            JobRequest { start: job.start, seconds: end.saturating_sub(job.start), processors }
        })
        .collect();
    requests.sort_by_key(|w| w.start);
    requests
}

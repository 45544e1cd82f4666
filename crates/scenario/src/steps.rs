//! Port counters during the steps of a job.

use darkfiber_fabric::{ChannelId, Fabric};
use darkfiber_flowsim::Grid;
use darkfiber_workload::play::{self, JobRun};

use crate::Simulated;

/// Counts of a switch port during one run of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counted {
    /// Number of the run.
    pub run: usize,
    /// Duration of the run, in picoseconds.
    pub time: u64,
    /// The channel that leaves the port.
    pub channel: ChannelId,
    /// Bytes that it carried.
    pub bytes: f64,
    /// Bytes that waited for it, or for channels behind it.
    pub held: f64,
}

/// Counts of all ports of a job's switches during each of its runs, run by run, without those to hosts. `None` if the
/// simulation kept no intervals. Counts of an interval are spread evenly over it.
pub fn counted(
    simulated: &Simulated,
    fabric: &Fabric,
    jobs: &[impl AsRef<play::Job>],
    job: usize,
    each: &mut dyn FnMut(&Counted),
) {
    let (Some(grid), Some(held)) = (&simulated.grid, &simulated.held) else { return };
    let mut switches: Vec<_> =
        jobs[job].as_ref().terminals.iter().map(|&t| fabric.terminal(t).switch).collect();
    switches.sort_unstable();
    switches.dedup();
    let channels: Vec<ChannelId> =
        switches.into_iter().flat_map(|s| fabric.channels_from(s)).map(ChannelId::new).collect();
    for (number, run) in simulated.runs[job].iter().enumerate() {
        let of = |grid| during(grid, simulated.end, run, &channels);
        let (bytes, held) = (of(grid), of(held));
        for (i, &channel) in channels.iter().enumerate() {
            let (bytes, held) = (bytes[i], held[i]);
            each(&Counted { run: number, time: run.end - run.begin, channel, bytes, held });
        }
    }
}

/// Counts of some channels during a run. The last interval is as long as the simulation lasted in it.
fn during(grid: &Grid, end: u64, run: &JobRun, channels: &[ChannelId]) -> Vec<f64> {
    let mut sums = vec![0.0; channels.len()];
    let long = grid.interval();
    for i in (run.begin / long)..run.end.div_ceil(long).min(grid.len() as u64) {
        let (from, to) = (i * long, end.min((i + 1) * long));
        let common = run.end.min(to) - run.begin.max(from);
        let part = common as f64 / (to - from) as f64;
        let cells = grid.at(i as usize);
        for (sum, c) in sums.iter_mut().zip(channels) {
            *sum += part * cells[c.index()];
        }
    }
    sums
}

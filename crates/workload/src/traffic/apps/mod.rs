//! Applications: an iteration of communication, and computing in proportion.
//!
//! All of them are skeletons: the input is the published one where there is one, the messages are ours. How long a rank
//! computes follows from the share of communication: an iteration is run alone on a network without contention
//! ([`LogGp`] with the nominal bandwidth and latency), which takes t; then computing takes t (1 - share) / share.

mod amg;
mod comd;
mod fft;
mod ffvc;
mod graph500;
mod hpcg;
mod hpl;
mod lammps;
mod milc;
mod minife;
mod mvmc;
mod ntchem;
mod pf3d;
mod qbox;
mod resnet;
mod swfft;

pub(super) use amg::AMG;
pub(super) use comd::COMD;
pub(super) use fft::FFT;
pub(super) use ffvc::FFVC;
pub(super) use graph500::GRAPH500;
pub(super) use hpcg::HPCG;
pub(super) use hpl::HPL;
pub(super) use lammps::LAMMPS;
pub(super) use milc::MILC;
pub(super) use minife::MINIFE;
pub(super) use mvmc::MVMC;
pub(super) use ntchem::NTCHEM;
pub(super) use pf3d::PF3D;
pub(super) use qbox::QBOX;
pub(super) use resnet::RESNET;
pub(super) use swfft::SWFFT;

use std::sync::Arc;

use darkfiber_fabric::{Key, Params, TerminalId};

use super::body::Body;
use super::values::{count, share, size, time};
use super::{Ranks, Timed, Traffic, TrafficError, finished, several};
use crate::play::{Host, Job, LogGp, Player, Repeat, SECOND, host, run};
use crate::schedule::{Block, Program};

/// Length of a run if the spec does not give it.
enum Length {
    /// This many iterations, as published.
    Iterations(u32),
    /// As many iterations as take about this many seconds without contention.
    Seconds(u64),
}

/// An application with its parameters.
pub(super) struct Application {
    name: &'static str,
    summary: &'static str,
    doc: &'static str,
    keys: &'static [Key],
    length: Length,
    /// Function that writes an iteration.
    write: fn(&mut Body<'_>, &Params) -> Result<(), TrafficError>,
}

/// Keys of all applications.
const KEYS: &[Key] = &[
    Key::optional("share", "of the time that it communicates, without contention", "0.2"),
    Key::optional("iterations", "of a run", "the published number, or by length"),
    Key::optional("length", "of a run without contention, where iterations does not say", "90s"),
    Key::optional(
        "messages",
        "at most about this many a run: iterations are done as one, which is up to an eighth shorter",
        "200000",
    ),
    Key::optional("group", "iterations that are done as one, sizes as much larger", "by messages"),
    Key::optional("nominal", "bytes a second of a rank without contention", "2.26GiB"),
    Key::optional("latency", "of a message without contention", "2us"),
];

impl Application {
    /// One schedule of this many iterations in one.
    fn iteration(
        &self,
        params: &Params,
        job: &Ranks,
        (group, unit): (u64, f64),
    ) -> Result<(Arc<Block>, f64), TrafficError> {
        let mut body = Body::new(job, group, unit);
        (self.write)(&mut body, params)?;
        Ok((finished(self.name, body.script)?, body.weights))
    }
}

impl Traffic for Application {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn doc(&self) -> &'static str {
        self.doc
    }

    fn keys(&self) -> Vec<Key> {
        KEYS.iter().chain(self.keys).copied().collect()
    }

    fn timed(&self) -> Timed {
        Timed::Runs
    }

    #[expect(clippy::cast_sign_loss, reason = "times are not below zero")]
    fn program(&self, params: &Params, job: &Ranks) -> Result<Program, TrafficError> {
        let n = several(self.name, job)?;
        let share = share(params, "share", job.share.unwrap_or(0.2).clamp(0.001, 0.999))?;
        let nominal = size(params, "nominal", NOMINAL)?;
        if nominal < SLOWEST {
            // By less, computing would take years, which clocks of 64 bits do not hold.
            return Err(params.bad("nominal", "bytes a second, at least 1MB").into());
        }
        let alone = UncontendedNetwork {
            per_node: job.per_node.max(1),
            latency: time(params, "latency", 2_000_000)?,
            per_byte: SECOND as f64 / nominal as f64,
        };
        let (one, _) = self.iteration(params, job, (1, 0.0))?;
        let usual = match (params.raw("length"), &self.length) {
            (None, Length::Iterations(iterations)) => *iterations,
            (_, length) => {
                let seconds = if let Length::Seconds(s) = length { *s } else { 90 };
                let length = time(params, "length", seconds * SECOND)?;
                let each = alone.time(&one) as f64 / share;
                (length as f64 / each.max(1.0)).round().clamp(1.0, 1e9) as u32
            }
        };
        let iterations = u64::from(count(params, "iterations", usual)?);
        let most = u64::from(count(params, "messages", 200_000)?);
        let needed = (one.messages() as u64).saturating_mul(iterations).div_ceil(most);
        let group = params.get("group", 1..=u32::MAX)?.map_or(needed, u64::from);
        let group = group.clamp(1, iterations);
        let mut program = Program::new(n);
        for (times, of) in [(iterations / group, group), (1, iterations % group)] {
            if times > 0 && of > 0 {
                let (still, weights) = self.iteration(params, job, (of, 0.0))?;
                let compute = alone.time(&still) as f64 * (1.0 - share) / share;
                let unit = compute / weights.max(f64::MIN_POSITIVE);
                program.then(self.iteration(params, job, (of, unit))?.0, times);
            }
        }
        Ok(program)
    }
}

/// The least bytes a second of a rank without contention.
const SLOWEST: u64 = 1_000_000;
/// One adapter of QDR InfiniBand with PCIe 2.0: 2.26 GiB/s (Domke et al., SC'19, figure 1).
const NOMINAL: u64 = 2_426_656_522;

/// A network without contention.
struct UncontendedNetwork {
    per_node: u32,
    latency: u64,
    per_byte: f64,
}

impl UncontendedNetwork {
    /// Time of a block on it, in picoseconds.
    fn time(&self, block: &Arc<Block>) -> u64 {
        let ranks = block.ranks();
        let terminals: Vec<_> = (0..ranks).map(|r| TerminalId(r / self.per_node)).collect();
        let mut program = Program::new(ranks);
        program.then(Arc::clone(block), 1);
        let ideal = host("ideal").expect("it is in the registry");
        let host = Host { rendezvous: u64::MAX, ..ideal.clone() };
        let jobs = [Job { program: Arc::new(program), terminals, start: 0, repeat: Repeat::Once }];
        let mut player = Player::new(&jobs, &host);
        let mut wire = LogGp::new(ranks as usize, self.latency, 0, self.per_byte);
        // Without rendezvous only a cyclic wait could stop it; an incomplete run then counts as no time.
        match run(&mut player, &mut wire, &mut |_| ()) {
            Ok(()) => player.runs(0).last().map_or(0, |r| r.end - r.begin),
            Err(_) => 0,
        }
    }
}

/// Codes whose decomposition needs a power of two.
fn power_of_two(traffic: &'static str, body: &Body<'_>) -> Result<(), TrafficError> {
    let ranks = body.n();
    if ranks.is_power_of_two() {
        return Ok(());
    }
    Err(TrafficError::Ranks {
        traffic,
        needs: "a power of two of ranks",
        ranks,
        hint: format!("take {} or {}", 1 << ranks.ilog2(), 2 << ranks.ilog2()),
    })
}

//! Estimates of the duration of a run, from its progress in a while.

use std::time::{Duration, Instant};

use darkfiber_workload::play::{Player, Repeat};
use darkfiber_workload::schedule::Program;

use crate::{
    Case, Depth, Effort, Error, Job, Medium, Simulated, Until, memory, pairs, simulate_until,
};

/// Estimate of the duration of a run, from its progress in a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Messages of one run of all jobs.
    pub messages: u64,
    /// Payload of the messages, in bytes.
    pub bytes: u64,
    /// Seconds for which the run was looked at.
    pub looked: f64,
    /// The share of it that was done then: of the messages, where enough of them had arrived, or else of the bytes; where a job
    /// is repeated until a moment, of the time until then if that is less.
    pub done: f64,
    /// Estimated seconds of the whole run at the same pace, without writing files.
    pub seconds: f64,
    /// Bytes of memory that the messages take that are kept.
    pub kept: u64,
}

/// Bytes of memory for each message that is kept until it is written: the record, a list that grows by doubling, and the columns of
/// the file (243 were measured with 3.6 million messages).
const OF_MESSAGE: u64 = 256;

/// Messages determine the progress of a run once this share of them has arrived, but for packets, which are counted themselves.
const ENOUGH: f64 = 0.005;

impl Case {
    /// Runs for this time, and estimates the duration of the whole run. The results are discarded.
    ///
    /// # Errors
    /// At the depth of counting, which has no time; those of [`Case::run`].
    pub fn estimate(&self, look: Duration) -> Result<Estimate, Error> {
        if self.medium.depth() == Depth::Count {
            return Err(Error::usage("at depth count no time passes that could be estimated")
                .hint("run it, or give another depth"));
        }
        let begin = Instant::now();
        let mut moment = 0;
        let mut enough = |player: &Player<'_>| {
            moment = player.now();
            begin.elapsed() >= look
        };
        let simulated = simulate_until(&self.setup(), Until { job: None, enough: &mut enough })
            .map_err(|e| Error::infeasible(e.describe(&self.jobs, self.topology())))?;
        let looked = begin.elapsed().as_secs_f64();
        let done = if looked < look.as_secs_f64() { 1.0 } else { self.done(&simulated, moment) };
        let sum = |of: fn(&Program) -> u128| {
            let all = self.jobs.iter().map(|job| of(&job.play.program)).sum::<u128>();
            u64::try_from(all).unwrap_or(u64::MAX)
        };
        let messages = sum(Program::messages);
        Ok(Estimate {
            messages,
            bytes: sum(Program::bytes),
            looked,
            done,
            seconds: looked / done,
            kept: self.kept_messages(),
        })
    }

    /// The share of a run that is done at a moment, at least a billionth.
    fn done(&self, simulated: &Simulated, moment: u64) -> f64 {
        let (mut messages, mut bytes, mut arrived, mut until) = (0.0, 0.0, 0.0, 1.0f64);
        for (job, pairs) in self.jobs.iter().zip(&simulated.pairs) {
            match job.play.repeat {
                Repeat::Once => {
                    let program = &job.play.program;
                    let sent = &pairs.total;
                    messages += self.medium.cost(program.messages() as f64, program.bytes() as f64);
                    bytes += program.bytes() as f64;
                    arrived += self.medium.cost(sent.messages as f64, sent.bytes as f64);
                }
                Repeat::Until(end) => until = until.min(moment as f64 / end.max(1) as f64),
            }
        }
        let once = if messages == 0.0 {
            1.0
        } else if arrived >= ENOUGH * messages && self.medium.packets().is_none() {
            arrived / messages
        } else {
            // Messages in flight are not counted yet, of which packets may be nearly all.
            self.sent(simulated, messages, bytes).max(arrived / messages)
        };
        once.min(until).clamp(1e-9, 1.0)
    }

    /// The share of the required traffic that was sent: of this many packets those that arrived, or bytes that left adapters.
    fn sent(&self, simulated: &Simulated, packets: f64, bytes: f64) -> f64 {
        if let Effort::Packet { packets: arrived, .. } = simulated.effort {
            return arrived as f64 / packets;
        }
        let first = self.fabric().channel_count() + self.fabric().terminal_count();
        let sent: f64 = simulated.carried.iter().skip(first).map(|&b| b as f64).sum();
        if bytes > 0.0 { sent / bytes } else { 0.0 }
    }

    /// Bytes of memory that all messages of one run of each job take, if they are kept.
    fn kept_messages(&self) -> u64 {
        if !self.scenario.keep.messages {
            return 0;
        }
        let all: u128 = self.jobs.iter().map(|job| job.play.program.messages()).sum();
        u64::try_from(all).unwrap_or(u64::MAX).saturating_mul(OF_MESSAGE)
    }

    /// Whether iterations of the only job may be multiplied, as soon as one is like another: then a run takes less time than it seems to
    /// at its beginning.
    pub fn may_repeat(&self) -> bool {
        let is_counted = match &self.medium {
            Medium::Packet(options) => options.precision.is_some(),
            _ => true,
        };
        let [job] = &self.jobs[..] else { return false };
        let setup = self.setup();
        // With noise no iteration is as the one before.
        is_counted && setup.multiplies && setup.host.noise <= 0.0 && job.play.repeat == Repeat::Once
    }

    /// Whether jobs are repeated until some time: nobody knows before how often.
    pub fn is_repeated(&self) -> bool {
        self.jobs.iter().any(|job| job.play.repeat != Repeat::Once)
    }

    /// Refuses a run whose messages by pair, which are part of every result, need more memory than available.
    ///
    /// # Errors
    /// If they need too much.
    pub fn expect_pairs(&self) -> Result<(), Error> {
        let of = |job: &Job| {
            let classes = 1 + job.classes.len() as u128;
            classes * pairs::memory_of(job.play.program.ranks(), job.play.program.messages())
        };
        let all = self.jobs.iter().map(of).sum();
        memory::expect(all, || "messages by pair of ranks".to_owned())
    }

    /// Refuses a run that keeps its messages and needs more memory than available.
    ///
    /// # Errors
    /// If they need too much.
    pub fn expect_memory(&self) -> Result<(), Error> {
        memory::expect(self.kept_messages().into(), || {
            "all messages, which `messages` in [keep] asks for,".to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{Folder, ScenarioFile};

    fn case(name: &str) -> Case {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
        let file = ScenarioFile::read(&path).expect("an example");
        file.resolve(&Folder::of(&path), &mut ()).expect("it resolves")
    }

    /// A run that ends while it is looked at is done, and one that is left at once is not.
    #[test]
    fn short_runs_are_told_as_they_were() {
        let case = case("allreduce-ring.toml");
        let all = case.estimate(Duration::from_mins(10)).expect("it runs");
        assert_eq!((all.done, all.messages, all.kept), (1.0, 62 * 32, 0));
        assert!((all.seconds - all.looked).abs() < 1e-12);
        let part = case.estimate(Duration::ZERO).expect("it runs");
        assert!(part.done > 0.0 && part.done < 1.0, "{part:?}");
        assert!(part.seconds > part.looked);
    }

    /// At the depth of packets, too.
    #[test]
    fn packets_are_reported_before_any_message_is_there() {
        let case = case("incast.toml");
        let part = case.estimate(Duration::ZERO).expect("it runs");
        assert!(part.done > 0.0 && part.done < 1.0, "{part:?}");
    }

    #[test]
    fn counting_has_no_time() {
        let mut case = case("allreduce-ring.toml");
        case.medium = crate::Medium::Count;
        assert!(case.estimate(Duration::ZERO).is_err());
    }
}

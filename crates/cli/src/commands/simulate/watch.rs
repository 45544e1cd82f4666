//! How far a run is, while it goes on.

use std::time::{Duration, Instant};

use darkfiber_report::quantity;
use darkfiber_scenario::{Job, Medium};
use darkfiber_workload::play::{Record, Repeat, SECOND};

use crate::out;
use crate::progress::Progress;

/// Time between two looks at the clock, in messages, once so many have arrived.
const LOOK: u64 = 1 << 8;
/// The share of a run of packets from which on it is said how much is left: before, most may be under way in messages that have not
/// arrived.
const ENOUGH: f64 = 0.05;
/// How long a run is watched before it is said how long all of it takes, and from how many seconds on that is worth saying.
const LONG: (Duration, f64) = (Duration::from_secs(5), 10.0);

/// What all of a run is.
enum RunExtent {
    /// Messages, where each job runs once; and schedules of the program of one job alone, of which many may be multiplied without
    /// a record of their messages.
    ///
    /// By their numbers or those of their packets ([`Medium::cost`]).
    Messages { all: f64, epochs: Option<f64> },
    /// The moment until which jobs repeat, in picoseconds.
    Moment(u64),
}

impl RunExtent {
    fn of(jobs: &[Job], medium: &Medium) -> Self {
        let ends = jobs.iter().filter_map(|job| match job.play.repeat {
            Repeat::Once => None,
            Repeat::Until(end) => Some(end),
        });
        let cost = |job: &Job| {
            let program = &job.play.program;
            medium.cost(program.messages() as f64, program.bytes() as f64)
        };
        let messages = || jobs.iter().map(cost).sum();
        let epochs = match jobs {
            [job] => Some(job.play.program.epochs() as f64),
            _ => None,
        };
        ends.max().map_or_else(|| Self::Messages { all: messages(), epochs }, Self::Moment)
    }

    /// The share that is done when messages of this cost have arrived and this is the last of them.
    fn done(&self, cost: f64, last: &Record) -> f64 {
        let part = match *self {
            Self::Messages { all, epochs } => {
                let epochs = epochs.map_or(0.0, |epochs| last.epoch as f64 / epochs.max(1.0));
                epochs.max(cost / all.max(1.0))
            }
            Self::Moment(end) => last.arrived as f64 / end.max(1) as f64,
        };
        part.min(1.0)
    }
}

/// Tells how far a simulation is.
pub(super) struct ProgressWatch<'a> {
    begin: Instant,
    last: Instant,
    messages: u64,
    bytes: u64,
    medium: &'a Medium,
    whole: RunExtent,
    /// Whether lines go to standard error in any case.
    plain: bool,
    /// Whether it was said how long all of it takes, or nobody wants to hear it.
    estimated: bool,
    progress: &'a Progress,
}

impl<'a> ProgressWatch<'a> {
    /// From now on.
    pub(super) fn new(
        (jobs, medium): (&[Job], &'a Medium),
        plain: bool,
        quiet: bool,
        progress: &'a Progress,
    ) -> Self {
        let begin = Instant::now();
        let whole = RunExtent::of(jobs, medium);
        Self {
            begin,
            last: begin,
            messages: 0,
            bytes: 0,
            medium,
            whole,
            plain,
            estimated: quiet,
            progress,
        }
    }

    /// A message was received.
    pub(super) fn see(&mut self, record: &Record) {
        self.messages += 1;
        self.bytes = self.bytes.saturating_add(record.bytes);
        if self.messages > LOOK && !self.messages.is_multiple_of(LOOK) {
            return;
        }
        let now = Instant::now();
        if now - self.last < Duration::from_millis(if self.plain { 2_000 } else { 200 }) {
            return;
        }
        self.last = now;
        let seconds = (now - self.begin).as_secs_f64();
        let mut text = format!(
            "{} simulated, {:.2} million messages, {:.2} million a second",
            quantity::seconds(record.arrived as f64 / SECOND as f64),
            self.messages as f64 / 1e6,
            self.messages as f64 / seconds / 1e6
        );
        let cost = self.medium.cost(self.messages as f64, self.bytes as f64);
        let done = self.whole.done(cost, record);
        let is_known = self.medium.packets().is_none() || done >= ENOUGH;
        if done > 0.0 && is_known {
            let all = seconds / done;
            if !self.estimated && now - self.begin >= LONG.0 {
                self.estimated = true;
                if all > LONG.1 {
                    self.progress.say(&format!(
                        "note: this takes about {all:.0} s if it goes on like that (--estimate says it alone)"
                    ));
                }
            }
            // First, as a narrow terminal shows the beginning.
            let (percent, left) = (100.0 * done, all - seconds);
            text = format!("about {left:.0} s left, {percent:.0} % of all, {text}");
        }
        if self.plain {
            out::eprint_line(&text);
        } else {
            self.progress.share(done, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use darkfiber_scenario::PacketOptions;

    use super::*;

    #[test]
    fn all_of_a_run_is_its_messages_or_its_time() {
        let last = |epoch, arrived| Record {
            job: 0,
            epoch,
            op: 0,
            from: 0,
            to: 1,
            bytes: 1,
            departed: 0,
            arrived,
        };
        let messages = |epochs| RunExtent::Messages { all: 200.0, epochs };
        assert!((messages(None).done(50.0, &last(9, 7)) - 0.25).abs() < 1e-12);
        // By packets, half of the messages are a tenth of the run where the others are longer.
        let micro = darkfiber_packetsim::preset("qdr").expect("known").micro();
        let minimal = darkfiber_packetsim::routing::kind("minimal").expect("known");
        let packets = Medium::Packet(Box::new(PacketOptions::new(micro, minimal, 4096)));
        let part = packets.cost(50.0, 50.0 * 4096.0) / packets.cost(100.0, 500.0 * 4096.0);
        assert!((part - 0.1).abs() < 1e-12);
        assert!((Medium::Formula.cost(50.0, 1e9) - 50.0).abs() < 1e-12);
        // Most of them were multiplied.
        assert!((messages(Some(10.0)).done(50.0, &last(9, 7)) - 0.9).abs() < 1e-12);
        assert!((RunExtent::Moment(1_000).done(50.0, &last(0, 700)) - 0.7).abs() < 1e-12);
        assert!((RunExtent::Moment(1_000).done(50.0, &last(0, 1_700)) - 1.0).abs() < 1e-12);
    }
}

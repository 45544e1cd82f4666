//! Iterations of a program that take the same time within a bound: some are run, and the rest is multiplied.

use super::level::{Entered, Level};
use super::search::{CountStep, Search};
use super::{NetworkModel, Player};

/// Iterations of the first windows: a network may alternate.
const WINDOW: u64 = 2;
/// Windows in a row that are compared without statistics, and by which part of the precision they may differ then.
const FEW: usize = 3;
const ALIKE: f64 = 0.1;
/// Windows whose means are a sample; after them windows are made twice as long.
const SAMPLE: usize = 6;
/// Quantile of Student's t with 5 degrees of freedom, for an interval of 95 %.
const T: f64 = 2.571;
/// A trend is seen where the two halves of a sample differ by more than this number of standard errors, and by more than what counts as
/// alike.
const TREND: f64 = 2.0;
/// A loop of fewer iterations is run to its end.
const WORTH: u64 = 4 * WINDOW;

/// Finds iterations that take the same time, and multiplies them: an estimate, where [`Repeats`](super::Repeats) are exact.
///
/// A program that runs alone is a closed loop: a rank can be ahead of another by what their messages allow, and no more is in the
/// network than that. So it is enough that all ranks need the same time for an iteration, in one window after the other. Iterations are
/// then left out, and the network remains as it is. What a jump may be wrong by is half the confidence interval of the mean of the
/// windows, and the largest difference of a rank from it; it is not made above the precision asked for.
#[derive(Debug)]
pub struct Steady {
    precision: f64,
    rank: u32,
    at: Option<(u64, u32)>,
    /// Loops that the rank is in, the outermost first.
    loops: Vec<Windows>,
    looks: Vec<CountStep>,
    skipped: u64,
    error: f64,
}

/// A loop whose iterations are timed.
#[derive(Debug)]
struct Windows {
    level: Level,
    /// Whether nothing more is to be found in it.
    is_over: bool,
    /// First iteration of the present window, and the number of iterations of one.
    begin: u64,
    length: u64,
    /// When ranks began iterations, at the beginning of the sample and of the present window.
    first: Vec<Entered>,
    last: Vec<Entered>,
    /// The windows that are compared.
    sample: Vec<Window>,
    /// Events and error of the run when the present window began.
    events: u64,
    error: f64,
}

/// How long iterations took.
#[derive(Clone, Copy, Debug)]
struct Window {
    /// Mean over ranks, in picoseconds.
    mean: f64,
    /// The largest difference of a rank from it, as a part of it.
    spread: f64,
}

/// A time of iterations that can be relied on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pace {
    /// Picoseconds of an iteration.
    mean: f64,
    /// How wrong that may be, as a part of it.
    error: f64,
}

impl Steady {
    /// A search in a program that runs alone; `None` if the network cannot leave anything out, or nothing is repeated.
    pub fn new(
        player: &mut Player<'_>,
        wire: &mut dyn NetworkModel,
        precision: f64,
    ) -> Option<Self> {
        wire.skipping()?;
        let program = player.lone_program()?;
        if program.epochs() < WORTH && program.blocks().iter().all(|b| b.rounds() < WORTH as u32) {
            return None;
        }
        let rank = player.busy_rank()?;
        Some(Self {
            precision,
            rank,
            at: None,
            loops: Vec::new(),
            looks: Vec::new(),
            skipped: 0,
            error: 0.0,
        })
    }

    /// Ends the windows of the loops from `i` on, the innermost first: each was run once.
    fn close(&mut self, i: usize, player: &mut Player<'_>, wire: &mut dyn NetworkModel) {
        while self.loops.len() > i {
            if self.loops.pop().is_some_and(|windows| !windows.is_over) {
                self.join(1, 0, wire);
            }
        }
        player.watches.truncate(i);
    }

    /// The last window is taken this number of times, and the others of them take this many picoseconds.
    fn join(&mut self, times: u64, time: u64, wire: &mut dyn NetworkModel) {
        self.looks.push(CountStep::Times(times));
        if let Some(wire) = wire.skipping() {
            wire.skip(times - 1, time);
        }
    }

    /// Begins a window of a loop.
    fn open(&mut self, i: usize, iteration: u64, player: &Player<'_>, wire: &mut dyn NetworkModel) {
        let w = &mut self.loops[i];
        w.begin = iteration;
        w.last.clone_from(&player.watches[i].entered);
        if w.sample.is_empty() {
            w.first.clone_from(&w.last);
        }
        (w.events, w.error) = (player.events(), self.error);
        self.looks.push(CountStep::Apart);
        if let Some(wire) = wire.skipping() {
            wire.mark();
        }
    }

    /// A window is over: it is multiplied if it is like those before, or another begins. Returns whether it was.
    fn over(
        &mut self,
        i: usize,
        iteration: u64,
        player: &mut Player<'_>,
        wire: &mut dyn NetworkModel,
    ) -> bool {
        let w = &mut self.loops[i];
        let entered = &player.watches[i].entered;
        let found = w.add(entered).and_then(|()| w.pace(entered, self.precision));
        let left = player
            .most_place()
            .map_or(0, |most| if w.level.has(most) { w.level.left(most, w.length) } else { 0 });
        let Some(pace) = found.filter(|_| left > 1) else {
            self.join(1, 0, wire);
            let w = &mut self.loops[i];
            // The rest would not be worth it.
            w.is_over = left <= FEW as u64;
            if w.sample.len() == SAMPLE {
                w.sample.clear();
                w.length *= 2;
            }
            if !w.is_over {
                self.open(i, iteration, player, wire);
            }
            return false;
        };
        // One more window is run at the end, where ranks stop one after the other. The clock ends some time.
        let most = (u64::MAX - player.now()) as f64 / 2.0 / (pace.mean * w.length as f64);
        let times = (left - 1).min(whole(most));
        let time = whole(pace.mean * w.length as f64 * times as f64);
        let inner = (self.error - w.error) * times as f64;
        let events = (player.events() - w.events).saturating_mul(times);
        let stride = w.level.stride(w.length * times);
        w.is_over = true;
        self.error += inner + pace.error * time as f64;
        self.skipped = self.skipped.saturating_add(events);
        self.join(1 + times, time, wire);
        player.skip(stride, time, events);
        self.at = Some(player.place(self.rank));
        true
    }
}

impl Search for Steady {
    fn look(&mut self, player: &mut Player<'_>, wire: &mut dyn NetworkModel) -> &[CountStep] {
        self.looks.clear();
        let place = player.place(self.rank);
        if self.at == Some(place) {
            return &self.looks;
        }
        // A repeated job starts from the beginning.
        if self.at.is_some_and(|at| place < at) {
            self.close(0, player, wire);
        }
        self.at = Some(place);
        let levels = player.levels(place, WORTH);
        let known = self.loops.iter().zip(&levels).take_while(|(w, level)| w.level == **level);
        let known = known.count();
        self.close(known, player, wire);
        for i in 0..known {
            let w = &self.loops[i];
            let iteration = w.level.iteration(place);
            if !w.is_over && iteration >= w.begin + w.length {
                // What is in it began in it.
                self.close(i + 1, player, wire);
                if self.over(i, iteration, player, wire) {
                    return &self.looks;
                }
                break;
            }
        }
        // Within a loop whose rest is run anyway others may still be found.
        for &level in &levels[self.loops.len()..] {
            let i = self.loops.len();
            self.loops.push(Windows::of(level));
            player.watch(level);
            self.open(i, level.iteration(place), player, wire);
        }
        &self.looks
    }

    fn skipped(&self) -> u64 {
        self.skipped
    }

    fn is_estimate(&self) -> bool {
        true
    }

    fn error(&self) -> f64 {
        self.error
    }
}

impl Windows {
    fn of(level: Level) -> Self {
        Self {
            level,
            is_over: false,
            begin: 0,
            length: WINDOW,
            first: Vec::new(),
            last: Vec::new(),
            sample: Vec::new(),
            events: 0,
            error: 0.0,
        }
    }

    /// Adds the window that is over, unless a rank began no iteration in it: then all begins anew.
    fn add(&mut self, entered: &[Entered]) -> Option<()> {
        let window = between(&self.last, entered);
        match window {
            Some(window) => self.sample.push(window),
            None => self.sample.clear(),
        }
        window.map(|_| ())
    }

    /// The time of an iteration, if it is known to this precision.
    fn pace(&self, entered: &[Entered], precision: f64) -> Option<Pace> {
        let enough = self.sample.len().checked_sub(FEW)?;
        let few = &self.sample[enough..];
        let (mean, _) = moments(few.iter().map(|w| w.mean));
        let off = few.iter().map(|w| (w.mean - mean).abs() / mean).fold(0.0, f64::max);
        let spread = few.iter().map(|w| w.spread).fold(0.0, f64::max);
        if off + spread <= precision * ALIKE {
            return Some(Pace { mean, error: off + spread });
        }
        if self.sample.len() < SAMPLE {
            return None;
        }
        let all = between(&self.first, entered)?;
        let (mean, deviation) = moments(self.sample.iter().map(|w| w.mean));
        let error = deviation / (SAMPLE as f64).sqrt();
        // The deviation within the halves, since that of all of them has the trend in it.
        let (before, after) = self.sample.split_at(SAMPLE / 2);
        let half = |part: &[Window]| moments(part.iter().map(|w| w.mean));
        let ((before, a), (after, b)) = (half(before), half(after));
        let deviates = ((a * a + b * b) / (SAMPLE / 2) as f64).sqrt();
        if (after - before).abs() > (TREND * deviates).max(mean * precision * ALIKE) {
            return None;
        }
        let error = T * error / mean + all.spread;
        (error <= precision).then_some(Pace { mean, error })
    }
}

/// How long iterations took between two moments; `None` if a rank began none.
fn between(before: &[Entered], after: &[Entered]) -> Option<Window> {
    let busy = before.iter().zip(after).filter(|(_, after)| !after.is_idle());
    let times: Vec<f64> = busy
        .map(|(before, after)| {
            let iterations = after.iteration().zip(before.iteration());
            let iterations = iterations.map_or(0, |(after, before)| after.saturating_sub(before));
            (iterations > 0).then(|| (after.time - before.time) as f64 / iterations as f64)
        })
        .collect::<Option<_>>()?;
    let (mean, _) = moments(times.iter().copied());
    let spread = times.iter().map(|t| (t - mean).abs() / mean).fold(0.0, f64::max);
    (mean > 0.0).then_some(Window { mean, spread })
}

/// A time or count without its fraction.
#[expect(clippy::cast_sign_loss, reason = "it is not negative")]
fn whole(value: f64) -> u64 {
    value as u64
}

/// Mean, and standard deviation of a sample.
fn moments(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let n = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / n;
    let squares: f64 = values.map(|v| (v - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(means: &[f64]) -> Windows {
        let rounds = Level::Rounds { epoch: 0, begin: 0, end: 1000 };
        let sample = means.iter().map(|&mean| Window { mean, spread: 0.0 }).collect();
        Windows { sample, first: vec![Entered::at(0, 0)], ..Windows::of(rounds) }
    }

    /// A pace is known where windows are equal, and where a sample of them has no trend.
    #[test]
    fn windows_are_alike_or_a_sample_without_a_trend() {
        let entered = [Entered::at(16, 1600)];
        let pace = |means: &[f64]| windows(means).pace(&entered, 0.01).map(|p| p.error);
        assert_eq!(pace(&[100.0, 100.0]), None);
        assert_eq!(pace(&[50.0, 100.0, 100.0, 100.0]), Some(0.0));
        assert_eq!(pace(&[100.0, 101.0, 99.0]), None);
        // Standard deviation 0.548 of 100: 2.571 x 0.548 / sqrt 6 = 0.575 %.
        let noisy = [99.5, 100.5, 100.5, 99.5, 100.5, 99.5];
        assert!((pace(&noisy).expect("no trend") - 0.00575).abs() < 1e-5);
        let rising = [99.0, 99.3, 99.6, 99.9, 100.2, 100.5];
        assert_eq!(pace(&rising), None);
        let wild = [95.0, 105.0, 105.0, 95.0, 105.0, 95.0];
        assert_eq!(pace(&wild), None);
    }

    /// A rank that is slower than another does not keep its place, whatever the mean.
    #[test]
    fn all_ranks_have_to_go_on_alike() {
        let before = [Entered::at(0, 0), Entered::at(0, 0)];
        let after = [Entered::at(4, 400), Entered::at(4, 480)];
        let window = between(&before, &after).expect("both went on");
        assert!((window.mean - 110.0).abs() < 1e-9);
        assert!((window.spread - 1.0 / 11.0).abs() < 1e-12);
        assert!(between(&before, &[Entered::at(4, 400), Entered::at(0, 0)]).is_none());
    }
}

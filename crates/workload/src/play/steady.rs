//! Iterations of a program that take the same time within a bound: some are run, and the rest is multiplied.

use super::level::{Entered, Level};
use super::search::{CountStep, Search};
use super::{NetworkModel, Player, Ratio};

/// Iterations of the shortest windows: a network may alternate.
const WINDOW: u64 = 2;
/// Windows in a row that are compared without statistics, and by which part of the precision they may differ then.
const FEW: usize = 3;
const ALIKE: f64 = 0.1;
/// The shortest windows have to be alike for one of this many iterations since the loop began: what is rare must not be taken for
/// something that never comes.
const QUIET: u64 = 4;
/// Longer windows whose means are a sample; after them windows are made twice as long.
const SAMPLE: usize = 6;
/// Quantile of Student's t with 5 degrees of freedom, for an interval of 95 %.
const T: f64 = 2.571;
/// A trend is seen where the two halves of a sample differ by more than this number of standard errors, and by more than what counts as
/// alike.
const TREND: f64 = 2.0;
/// Iterations by which a rank may leave the others behind until the end of a loop, if it goes on as it does.
const DRIFT: f64 = 0.25;
/// The same for ranks that take the same time but for rounding.
const PERIOD: f64 = 1e-6;
/// A sample is of this many iterations, and of one of so many that are left, at least: what is the same for a while only must not be taken
/// for what stays.
const LASTS: u64 = 64;
const SHARE: u64 = 16;
/// A loop of fewer iterations is run to its end.
const WORTH: u64 = 4 * WINDOW;

/// Finds iterations that take the same time, and multiplies them: an estimate, where [`Repeats`](super::Repeats) are exact.
///
/// A program that runs alone is a closed loop: a rank can be ahead of another by what their messages allow, and no more is in the
/// network than that. So it is enough that all ranks need the same time for an iteration, in one window after the other. Iterations are
/// then left out, and the network remains as it is. What a jump may be wrong by is half the confidence interval of the mean of the
/// windows, the largest difference of a rank from it, and that of the sizes of messages; it is not made above the precision asked for.
#[derive(Debug)]
pub struct Steady {
    precision: f64,
    rank: u32,
    at: Option<(u64, u32)>,
    /// Loops that the rank is in, the outermost first.
    loops: Vec<TimedLoop>,
    looks: Vec<CountStep>,
    skipped: u64,
    error: f64,
}

/// A loop whose iterations are timed.
#[derive(Debug)]
struct TimedLoop {
    level: Level,
    /// By how much messages of its iterations differ in size.
    spread: f64,
    /// Whether nothing more is to be found in it.
    is_over: bool,
    /// Iteration at which its windows began.
    origin: u64,
    /// The shortest windows, which have to be alike, within windows that are a sample.
    short: Interval,
    alike: AlikeWindows,
    /// When ranks began iterations, at the beginning of the first that was alike.
    alike_from: Vec<Entered>,
    long: Interval,
    sample: Sample,
    /// Counts of the network when the short window began, when the second of those that were alike up to now did, or of all, where
    /// iterations do not make equal counts; and when the first of the sample did.
    at_short: Option<Mark>,
    at_alike: Option<Mark>,
    at_sample: Option<Mark>,
}

/// Counts of the network at the beginning of an iteration.
#[derive(Clone, Copy, Debug)]
struct Mark {
    number: usize,
    iteration: u64,
}

/// The window under way.
#[derive(Debug)]
struct Interval {
    /// First iteration, and the number of iterations.
    begin: u64,
    length: u64,
    /// When ranks began iterations, at its beginning.
    entered: Vec<Entered>,
    /// Events and error of the run at its beginning.
    events: u64,
    error: f64,
}

/// Windows up to now that were alike.
#[derive(Clone, Copy, Debug, Default)]
struct AlikeWindows {
    count: u64,
    /// Sum, minimum and maximum of their means, and the largest spread.
    sum: f64,
    least: f64,
    most: f64,
    spread: f64,
}

/// Windows that are compared by statistics.
#[derive(Debug, Default)]
struct Sample {
    /// When ranks began iterations, at the beginning of the first one.
    entered: Vec<Entered>,
    windows: Vec<Window>,
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

    /// Begins the windows of a loop.
    fn open(
        &mut self,
        (level, spread): (Level, f64),
        player: &mut Player<'_>,
        wire: &mut dyn NetworkModel,
    ) {
        let (i, iteration) = (self.loops.len(), level.iteration(player.place(self.rank)));
        self.loops.push(TimedLoop::new(level, spread, iteration));
        player.watch(level);
        self.window(i, true, iteration, player, wire);
        self.window(i, false, iteration, player, wire);
    }

    /// Ends the loops from `i` on, the innermost first.
    fn close(&mut self, i: usize, player: &mut Player<'_>, wire: &mut dyn NetworkModel) {
        for mut timed in self.loops.drain(i..).rev() {
            if !timed.is_over {
                // The short window, and the long one about it.
                self.looks.extend([CountStep::Times(1); 2]);
            }
            for mark in [&mut timed.at_short, &mut timed.at_alike, &mut timed.at_sample] {
                forget(mark, wire);
            }
        }
        player.watches.truncate(i);
    }

    /// Begins a long window of a loop, or a short one within it.
    fn window(
        &mut self,
        i: usize,
        is_long: bool,
        iteration: u64,
        player: &Player<'_>,
        wire: &mut dyn NetworkModel,
    ) {
        let entered = &player.watches[i].entered;
        let timed = &mut self.loops[i];
        let window = if is_long { &mut timed.long } else { &mut timed.short };
        (window.begin, window.events, window.error) = (iteration, player.events(), self.error);
        window.entered.clone_from(entered);
        let starts = !is_long || timed.sample.windows.is_empty();
        if is_long && starts {
            timed.sample.entered.clone_from(entered);
        }
        if starts {
            let mark = if is_long { &mut timed.at_sample } else { &mut timed.at_short };
            forget(mark, wire);
            let number = wire.skipping().and_then(|wire| wire.mark(player.now()));
            *mark = number.map(|number| Mark { number, iteration });
        }
        self.looks.push(CountStep::Apart);
    }

    /// A short window is over: it is multiplied if it is like those before, or a long one is that ends here; or others begin.
    /// Returns whether one was multiplied.
    fn over(
        &mut self,
        i: usize,
        iteration: u64,
        player: &mut Player<'_>,
        wire: &mut dyn NetworkModel,
    ) -> bool {
        let precision = self.precision;
        let timed = &mut self.loops[i];
        let entered = &player.watches[i].entered;
        let left = timed.left(1, player);
        timed.alike.add(between(&timed.short.entered, entered), precision);
        if timed.alike.count <= 1 {
            timed.alike_from.clone_from(&timed.short.entered);
        }
        // Counts begin with the second of them, so that messages are as far then as at the end; those that differ by chance are of as many
        // iterations as there are.
        let is_chance = wire.skipping().is_some_and(|wire| !wire.repeats_counts());
        if timed.alike.count < 2 && !is_chance {
            forget(&mut timed.at_alike, wire);
        }
        let is_first = timed.short.begin == timed.origin;
        let begins = if is_chance { !is_first } else { timed.alike.count > 1 };
        if begins && timed.at_alike.is_none() {
            timed.at_alike = timed.at_short.take();
        }
        if let Some(pace) = timed.alike.pace(iteration - timed.origin)
            && drifts(&timed.alike_from, entered, left) <= DRIFT
            && self.multiply(i, false, iteration, pace, player, wire)
        {
            self.looks.push(CountStep::Times(1));
            return true;
        }
        self.looks.push(CountStep::Times(1));

        let timed = &mut self.loops[i];
        if iteration >= timed.long.end() {
            let entered = &player.watches[i].entered;
            timed.sample.add(between(&timed.long.entered, entered));
            // Where paths are chosen by chance ranks are apart by chance, too.
            let drift =
                if is_chance { DRIFT } else { drifts(&timed.sample.entered, entered, left) };
            if let Some(pace) = timed.sample.pace(entered, precision)
                && timed.sample.lasts(timed.long.length, left, drift)
                && self.multiply(i, true, iteration, pace, player, wire)
            {
                return true;
            }
            self.looks.push(CountStep::Times(1));
            let timed = &mut self.loops[i];
            // The rest would not be worth it.
            timed.is_over = timed.left(WINDOW, player) <= FEW as u64;
            if timed.is_over {
                return false;
            }
            if timed.sample.windows.len() == SAMPLE {
                timed.sample.windows.clear();
                timed.long.length *= 2;
            }
            self.window(i, true, iteration, player, wire);
        }
        self.window(i, false, iteration, player, wire);
        false
    }

    /// Multiplies the window that is over, the long one or the short one, by what is left of its loop, if anything is.
    fn multiply(
        &mut self,
        i: usize,
        is_long: bool,
        iteration: u64,
        pace: Pace,
        player: &mut Player<'_>,
        wire: &mut dyn NetworkModel,
    ) -> bool {
        let timed = &mut self.loops[i];
        let window = if is_long { &timed.long } else { &timed.short };
        let left = timed.left(window.length, player);
        let is_chance = wire.skipping().is_some_and(|wire| !wire.repeats_counts());
        let since = if is_long && !is_chance { timed.at_sample } else { timed.at_alike };
        let (Some(since), 2..) = (since, left) else { return false };
        // One more window is run at the end, where ranks stop one after the other. The clock ends some time.
        let most = (u64::MAX - player.now()) as f64 / 2.0 / (pace.mean * window.length as f64);
        let times = (left - 1).min(whole(most));
        let time = whole(pace.mean * window.length as f64 * times as f64);
        let events = (player.events() - window.events).saturating_mul(times);
        self.error +=
            (self.error - window.error) * times as f64 + (pace.error + timed.spread) * time as f64;
        self.skipped = self.skipped.saturating_add(events);
        self.looks.push(CountStep::Times(1 + times));
        if let Some(wire) = wire.skipping() {
            let more = Ratio { to: window.length * times, from: iteration - since.iteration };
            wire.skip(since.number, player.now(), more, time);
        }
        player.skip(timed.level.stride(window.length * times), time, events);
        timed.is_over = true;
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
        let levels = player.levels(place, WORTH, self.precision * ALIKE);
        let known =
            self.loops.iter().zip(&levels).take_while(|(timed, (level, _))| timed.level == *level);
        let known = known.count();
        self.close(known, player, wire);
        for i in 0..known {
            let timed = &self.loops[i];
            let iteration = timed.level.iteration(place);
            if !timed.is_over && iteration >= timed.short.end() {
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
            self.open(level, player, wire);
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

impl TimedLoop {
    fn new(level: Level, spread: f64, origin: u64) -> Self {
        Self {
            level,
            spread,
            is_over: false,
            origin,
            short: Interval::of(WINDOW),
            alike: AlikeWindows::default(),
            alike_from: Vec::new(),
            long: Interval::of(WINDOW),
            sample: Sample::default(),
            at_short: None,
            at_alike: None,
            at_sample: None,
        }
    }

    /// Number of windows of this length until the rank that is furthest comes to the end.
    fn left(&self, length: u64, player: &Player<'_>) -> u64 {
        let most = player.most_place().filter(|&most| self.level.has(most));
        most.map_or(0, |most| self.level.left(most, length))
    }
}

impl Interval {
    fn of(length: u64) -> Self {
        Self { begin: 0, length, entered: Vec::new(), events: 0, error: 0.0 }
    }

    fn end(&self) -> u64 {
        self.begin + self.length
    }
}

impl AlikeWindows {
    /// Adds a window; those before are dropped if it is not like them, or if a rank began no iteration in it.
    fn add(&mut self, window: Option<Window>, precision: f64) {
        let Some(Window { mean, spread }) = window else {
            *self = Self::default();
            return;
        };
        let alone = Self { count: 1, sum: mean, least: mean, most: mean, spread };
        let all = Self {
            count: self.count + 1,
            sum: self.sum + mean,
            least: self.least.min(mean),
            most: self.most.max(mean),
            spread: self.spread.max(spread),
        };
        *self = if self.count > 0 && all.differ() <= precision * ALIKE { all } else { alone };
    }

    /// By how much they differ, and ranks in them, as a part of their mean.
    fn differ(&self) -> f64 {
        (self.most - self.least) * self.count as f64 / self.sum + self.spread
    }

    /// The time of an iteration, if there are enough of them after this many iterations.
    fn pace(&self, iterations: u64) -> Option<Pace> {
        let mean = self.sum / self.count as f64;
        (self.count >= Self::enough(iterations)).then(|| Pace { mean, error: self.differ() })
    }

    /// Number of windows that are enough after this many iterations.
    fn enough(iterations: u64) -> u64 {
        (FEW as u64).max(iterations.div_ceil(QUIET * WINDOW))
    }
}

impl Sample {
    /// Whether windows of this length are enough for what is left: where no rank leaves another behind at all they are a period; otherwise
    /// they have to be many, and ranks must stay together until the end.
    fn lasts(&self, length: u64, left: u64, drift: f64) -> bool {
        let iterations = self.windows.len() as u64 * length;
        drift <= PERIOD || (drift <= DRIFT && iterations >= LASTS + left / SHARE)
    }

    /// Adds the window that is over, unless a rank began no iteration in it: then all begins anew.
    fn add(&mut self, window: Option<Window>) {
        match window {
            Some(window) => self.windows.push(window),
            None => self.windows.clear(),
        }
    }

    /// The time of an iteration, if it is known to this precision.
    fn pace(&self, entered: &[Entered], precision: f64) -> Option<Pace> {
        let enough = self.windows.len().checked_sub(FEW)?;
        let few = &self.windows[enough..];
        let (mean, _) = moments(few.iter().map(|w| w.mean));
        let off = few.iter().map(|w| (w.mean - mean).abs() / mean).fold(0.0, f64::max);
        let spread = few.iter().map(|w| w.spread).fold(0.0, f64::max);
        if off + spread <= precision * ALIKE {
            return Some(Pace { mean, error: off + spread });
        }
        if self.windows.len() < SAMPLE {
            return None;
        }
        let all = between(&self.entered, entered)?;
        let (mean, deviation) = moments(self.windows.iter().map(|w| w.mean));
        let error = deviation / (SAMPLE as f64).sqrt();
        // The deviation within the halves, since that of all of them has the trend in it.
        let (before, after) = self.windows.split_at(SAMPLE / 2);
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

/// Forgets counts that a mark keeps, if it does.
fn forget(mark: &mut Option<Mark>, wire: &mut dyn NetworkModel) {
    if let (Some(mark), Some(wire)) = (mark.take(), wire.skipping()) {
        wire.forget(mark.number);
    }
}

/// By how many iterations a rank would be ahead of the others, or behind, after as many more, if all went on as between two moments. Ranks
/// that wait for each other cannot leave each other behind for ever: their pace changes before.
fn drifts(before: &[Entered], after: &[Entered], left: u64) -> f64 {
    between(before, after).map_or(f64::INFINITY, |window| window.spread * left as f64)
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

    /// A pace is known where windows are equal, and where a sample of them has no trend.
    #[test]
    fn windows_are_alike_or_a_sample_without_a_trend() {
        let entered = [Entered::at(16, 1600)];
        let pace = |means: &[f64]| {
            let windows = means.iter().map(|&mean| Window { mean, spread: 0.0 }).collect();
            let sample = Sample { windows, entered: vec![Entered::at(0, 0)] };
            sample.pace(&entered, 0.01).map(|p| p.error)
        };
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

    /// The longer a loop was not steady, the longer it has to be.
    #[test]
    fn short_windows_have_to_be_alike_for_a_part_of_the_time() {
        let found = |means: &[f64]| {
            let mut alike = AlikeWindows::default();
            let found = (1..).zip(means).find(|&(n, &mean)| {
                alike.add(Some(Window { mean, spread: 0.0 }), 0.01);
                alike.pace(n * WINDOW).is_some()
            });
            found.map(|(n, _)| n)
        };
        assert_eq!(found(&[100.0; 9]), Some(3));
        assert_eq!(found(&[100.0, 103.0, 100.0, 100.05, 100.0]), Some(5));
        let late: Vec<f64> =
            (0..40).map(|n| f64::from(if n < 12 { 80 + n } else { 100 })).collect();
        assert_eq!(found(&late), Some(16));
        let rising: Vec<f64> = (0..40).map(|n| 100.0 + 0.06 * f64::from(n)).collect();
        assert_eq!(found(&rising), None);
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

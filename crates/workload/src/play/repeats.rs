//! Exact repeats of a program: it is run until it comes to the same state again, and multiplied from there.

use super::level::Level;
use super::search::{CountStep, Search};
use super::{NetworkModel, Player, Snapshot};

/// A state is compared again after as many events as it has numbers; the wait grows by that many events after each `PATIENCE`
/// failed comparisons: the cost of comparisons is small compared with that of the events.
const PATIENCE: u64 = 8;
/// A loop with fewer times to come is run to its end.
const WORTH: u64 = 4;

/// A loop that is watched.
#[derive(Debug)]
struct Watched {
    level: Level,
    /// Last iteration of the rank.
    iteration: u64,
    /// Events when it was last looked at.
    events: u64,
    /// The state with which later ones are compared, and when it was taken (Brent, "An improved Monte Carlo factorization
    /// algorithm", BIT 20, 1980): it is replaced after one, two, four ... comparisons, so that periods of any length are
    /// found.
    saved: Option<(u64, Snapshot)>,
    compared: u64,
    power: u64,
    size: u64,
    /// Number of failed comparisons.
    looks: u64,
}

/// A period that is run once more, to verify it and to count its events.
#[derive(Debug)]
struct Recording {
    level: Level,
    /// The iteration at which it began, and that of the rank now.
    begin: u64,
    at: u64,
    /// Iterations and picoseconds after which the state was the same before.
    stride: u64,
    period: u64,
    events: u64,
    snapshot: Snapshot,
}

/// Finds exact repeats of a run, and multiplies them.
///
/// A single job, on a network whose state can be described, comes to a state that it has been in before, relative to the time and to
/// the iteration; as nothing else determines the next events, the same happens again. It is run once more, compared, and multiplied.
/// Times count as equal where they differ by no more than the rounding of ends of flows: not at all unless flows last a millisecond,
/// and then by a thousand-millionth of that. The order of events in the same picosecond has to be equal unless nothing waited for a
/// processor or an adapter in between: then it had no effect.
#[derive(Debug)]
pub struct Repeats {
    rank: u32,
    at: Option<(u64, u32)>,
    /// Loops that the rank is in, the outermost first.
    watched: Vec<Watched>,
    /// Periods that are run once more, each within the one before.
    recordings: Vec<Recording>,
    looks: Vec<CountStep>,
    skipped: u64,
}

impl Repeats {
    /// A search for repeats of a player over a wire; `None` if one of the two cannot describe its state, or nothing is repeated.
    pub fn new(player: &Player<'_>, wire: &mut dyn NetworkModel) -> Option<Self> {
        wire.repeating()?;
        let program = player.lone_program()?;
        if program.epochs() < WORTH && program.blocks().iter().all(|b| b.rounds() < WORTH as u32) {
            return None;
        }
        let rank = player.busy_rank()?;
        Some(Self {
            rank,
            at: None,
            watched: Vec::new(),
            recordings: Vec::new(),
            looks: Vec::new(),
            skipped: 0,
        })
    }
}

impl Search for Repeats {
    fn skipped(&self) -> u64 {
        self.skipped
    }

    fn look(&mut self, player: &mut Player<'_>, wire: &mut dyn NetworkModel) -> &[CountStep] {
        self.looks.clear();
        let place = player.place(self.rank);
        if self.at == Some(place) {
            return &self.looks;
        }
        // A repeated job starts from the beginning.
        if self.at.is_some_and(|at| place < at) {
            self.give_up(wire);
        }
        self.at = Some(place);
        // Those that end here, from the inside.
        while let Some(recording) = self.recordings.pop() {
            match self.go_on(recording, player, wire, place) {
                Some(times) => {
                    self.looks.push(CountStep::Times(times));
                    if times > 1 {
                        return &self.looks;
                    }
                }
                None => break,
            }
        }
        self.watch(player, place);
        let outer = self.recordings.last().map(|r| r.level);
        let first = outer.map_or(0, |level| {
            1 + self.watched.iter().position(|w| w.level == level).unwrap_or(self.watched.len())
        });
        for i in first..self.watched.len() {
            if self.compare(i, player, wire, place) {
                self.looks.push(CountStep::Apart);
            }
        }
        &self.looks
    }
}

impl Repeats {
    /// Separate counts are no periods: each happened once.
    fn give_up(&mut self, wire: &mut dyn NetworkModel) {
        self.watched.clear();
        for _ in self.recordings.drain(..) {
            self.looks.push(CountStep::Times(1));
            if let Some(wire) = wire.repeating() {
                wire.skip(0, 0);
            }
        }
    }

    /// Watches the loops that a place is in, and no others.
    fn watch(&mut self, player: &Player<'_>, place: (u64, u32)) {
        let levels: Vec<Level> =
            player.levels(place, WORTH, 0.0).into_iter().map(|(level, _)| level).collect();
        let known = self.watched.iter().zip(&levels).take_while(|(w, level)| w.level == **level);
        self.watched.truncate(known.count());
        for &level in &levels[self.watched.len()..] {
            self.watched.push(Watched {
                level,
                iteration: u64::MAX,
                events: player.events(),
                saved: None,
                compared: 0,
                power: 1,
                size: 0,
                looks: 0,
            });
        }
    }

    /// Compares the state with the saved one, if it is time to; returns whether a period was found, and is recorded from here on.
    fn compare(
        &mut self,
        i: usize,
        player: &Player<'_>,
        wire: &mut dyn NetworkModel,
        place: (u64, u32),
    ) -> bool {
        let w = &mut self.watched[i];
        let iteration = w.level.iteration(place);
        if iteration == w.iteration {
            return false;
        }
        w.iteration = iteration;
        let events = player.events();
        if w.level.count() - iteration < WORTH
            || events - w.events < w.size * (1 + w.looks / PATIENCE)
        {
            return false;
        }
        let (level, snapshot) = (w.level, taken(w.level, player, wire, place));
        (w.events, w.size) = (events, snapshot.len() as u64);
        if !(level.has(snapshot.least) && level.has(snapshot.most)) {
            w.saved = None;
            return false;
        }
        let found = w.saved.as_ref().and_then(|(before, saved)| {
            let (stride, period) = (iteration - before, snapshot.now - saved.now);
            let repeats = period > 0
                && snapshot.is_after(saved, level.stride(stride))
                && snapshot.is_like(saved)
                && level.left(snapshot.most, stride) >= 2;
            repeats.then_some((stride, period))
        });
        if let Some((stride, period)) = found {
            let begin = iteration;
            let at = begin;
            self.recordings.push(Recording { level, begin, at, stride, period, events, snapshot });
            if let Some(wire) = wire.repeating() {
                wire.mark();
            }
            return true;
        }
        w.compared += 1;
        w.looks += 1;
        if w.saved.is_none() || w.compared == w.power {
            (w.compared, w.power) = (0, (2 * w.power).min(1 << 40));
            w.saved = Some((iteration, snapshot));
        }
        false
    }

    /// Examines a recording: returns its number of repeats, if that is known now. It is multiplied if it is a period: the stride that
    /// was found, or a part of it.
    fn go_on(
        &mut self,
        mut r: Recording,
        player: &mut Player<'_>,
        wire: &mut dyn NetworkModel,
        place: (u64, u32),
    ) -> Option<u64> {
        let iteration = if r.level.has(place) { r.level.iteration(place) } else { u64::MAX };
        if iteration == r.at {
            self.recordings.push(r);
            return None;
        }
        let stride = iteration.saturating_sub(r.begin);
        let mut times = 0;
        let mut period = 0;
        if stride <= r.stride {
            let snapshot = taken(r.level, player, wire, place);
            period = snapshot.now - r.snapshot.now;
            if r.is_period(&snapshot, stride) {
                times = r.level.left(snapshot.most, stride);
            } else if stride < r.stride {
                r.at = iteration;
                self.recordings.push(r);
                return None;
            }
        }
        // Inner loops are watched again from another place.
        let level = self.watched.iter().position(|w| w.level == r.level);
        self.watched.truncate(level.unwrap_or(0));
        // The clock ends some time.
        let most = (u64::MAX - player.now()) / 2 / period.max(1);
        times = times.min(most);
        let time = period * times;
        if let Some(wire) = wire.repeating() {
            wire.skip(times, time);
        }
        if times > 0 {
            let events = (player.events() - r.events).saturating_mul(times);
            self.skipped = self.skipped.saturating_add(events);
            player.skip(r.level.stride(stride * times), time, events);
            self.at = Some(player.place(self.rank));
        }
        Some(1 + times)
    }
}

impl Recording {
    /// Whether the state after this stride is that at the beginning.
    fn is_period(&self, snapshot: &Snapshot, stride: u64) -> bool {
        let period = snapshot.now - self.snapshot.now;
        let slack = snapshot.slack(&self.snapshot);
        // The time of as many iterations as were found to repeat.
        let (whole, found) = (
            u128::from(period) * u128::from(self.stride),
            u128::from(self.period) * u128::from(stride),
        );
        whole.abs_diff(found) <= u128::from(slack) * u128::from(self.stride)
            && self.level.has(snapshot.most)
            && snapshot.is_after(&self.snapshot, self.level.stride(stride))
            && snapshot.is_like(&self.snapshot)
    }
}

/// The state of a run in which a rank is at this place.
fn taken(
    level: Level,
    player: &Player<'_>,
    wire: &mut dyn NetworkModel,
    place: (u64, u32),
) -> Snapshot {
    let mut snapshot = Snapshot::new(player.now(), level.origin(place));
    player.describe(&mut snapshot);
    if let Some(wire) = wire.repeating() {
        wire.describe(
            &|message, snapshot| player.describe_message(message, snapshot),
            &mut snapshot,
        );
    }
    snapshot
}

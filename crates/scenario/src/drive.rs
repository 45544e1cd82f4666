//! The event loop of all depths with time, for any model of messages.

use darkfiber_packetsim::{ConfigError, several, unlike};
use darkfiber_workload::play::{
    self, BlockedRanks, CountStep, JobRun, NetworkModel, Player, PlayerState, Record, Repeat,
    Repeats, Search, Steady, UnderWay, step,
};

use crate::kept_state::{Divided, Head, WireState};
use crate::pairs::Received;
use crate::striped::{Striped, StripedState};
use crate::{Setup, SimError, Until};

/// A [`NetworkModel`] whose state can be saved between two steps and resumed.
pub(crate) trait Resumable: NetworkModel {
    /// All of it that changes.
    type State: WireState;

    /// Whether a state can be one of this wire.
    fn fits(&self, state: &Self::State) -> bool;

    /// Takes the state out; the wire is not to be used until it is put back.
    fn take(&mut self) -> Self::State;

    /// Puts a state in.
    fn restore(&mut self, state: Self::State);
}

impl<W: Resumable> Resumable for Striped<'_, W> {
    type State = StripedState<W::State>;

    fn fits(&self, state: &Self::State) -> bool {
        let planes = self.planes() as u32;
        self.inner.fits(&state.inner) && state.parts.iter().all(|(open, ..)| *open <= planes)
    }

    fn take(&mut self) -> Self::State {
        StripedState { inner: self.inner.take(), parts: std::mem::take(&mut self.parts) }
    }

    fn restore(&mut self, state: Self::State) {
        self.inner.restore(state.inner);
        self.parts = state.parts;
    }
}

/// The saved state of this run, if any.
fn kept<S: WireState>(setup: &Setup<'_>) -> Result<Option<(Head, S)>, SimError> {
    match setup.keeper() {
        Some(follow) => S::read(several(setup.processes), follow).map_err(SimError::Config),
        None => Ok(None),
    }
}

/// Results of the jobs, for any model of messages.
pub(crate) struct DrivenRun {
    pub(crate) runs: Vec<Vec<JobRun>>,
    pub(crate) end: u64,
    pub(crate) received: Received,
    pub(crate) events: u64,
    /// Events that were not run, but multiplied from others.
    pub(crate) repeated: u64,
    /// By how many picoseconds the end may be wrong because of that.
    pub(crate) error: f64,
    /// Whether all jobs came to their ends, or it was enough.
    pub(crate) ended: Result<(), BlockedRanks>,
}

/// The last moment of a run, in picoseconds: later events might overflow the clock.
pub(crate) const END: u64 = 1 << 63;
pub(crate) const TOO_LONG: &str = "it takes more than 106 days of simulated time, which is all that the clock has: let it compute for less, \
                        iterate less often, or send less";

/// Steps from one look at the clock to the next.
const STEPS: u64 = 1 << 10;

/// Runs the jobs over the wire that `make` makes, given how its network was divided if the run is resumed, and which says how it
/// is now; messages of striped jobs are divided over the planes of the fabric. Gives the wire back.
pub(crate) fn drive_over_planes<W: Resumable>(
    setup: &Setup<'_>,
    make: impl FnOnce(Option<Divided>) -> Result<(W, Divided), SimError>,
    each: &mut dyn FnMut(&Record),
    until: Option<Until<'_>>,
) -> Result<(DrivenRun, W), SimError> {
    let is_divided: Vec<bool> = setup.jobs.iter().map(|job| job.striped).collect();
    if is_divided.contains(&true) {
        let kept = kept::<StripedState<W::State>>(setup)?;
        let (wire, divided) = make(kept.as_ref().map(|(head, _)| head.divided))?;
        let mut wire = Striped::new(wire, &setup.topology.fabric, is_divided);
        let driven = drive(setup, &mut wire, kept, divided, each, until)?;
        return Ok((driven, wire.inner));
    }
    let kept = kept::<W::State>(setup)?;
    let (mut wire, divided) = make(kept.as_ref().map(|(head, _)| head.divided))?;
    let driven = drive(setup, &mut wire, kept, divided, each, until)?;
    Ok((driven, wire))
}

/// Runs the jobs over a wire until they are over, or the condition to stop holds; saves the run regularly, if requested.
pub(crate) fn drive<W: Resumable>(
    setup: &Setup<'_>,
    wire: &mut W,
    kept: Option<(Head, W::State)>,
    divided: Divided,
    each: &mut dyn FnMut(&Record),
    mut until: Option<Until<'_>>,
) -> Result<DrivenRun, SimError> {
    let jobs: Vec<play::Job> = setup.jobs.iter().map(|job| job.play.clone()).collect();
    let numbers = (0..).zip(&setup.jobs).map(|(i, job)| job.number.unwrap_or(i)).collect();
    let mut player = Player::new(&jobs, setup.host).with_seed(setup.seed).with_numbers(numbers);
    if let Some(job) = until.as_ref().and_then(|until| until.job) {
        player = player.with_laps(job);
    }
    let mut received = Received::new(&setup.jobs, setup.messages);
    // Where it stopped before, which may have been enough.
    let mut is_enough = false;
    if let Some((mut head, state)) = kept {
        if !(player.fits(&head.player) && wire.fits(&state)) {
            return Err(SimError::Config(unlike()));
        }
        player.swap(&mut head.player);
        wire.restore(state);
        received = head.received;
        is_enough = until.as_mut().is_some_and(|until| (until.enough)(&player));
    }
    let processes = several(setup.processes);
    let any = |here: bool| processes.map_or(here, |all| all.sum(here.into()) > 0);
    let mut under_way = UnderWay::default();
    let mut steps = 0u64;
    let multiplies = setup.multiplies && !setup.messages;
    let mut search = multiplies.then(|| search(setup, &mut player, wire)).flatten();
    // Messages received during a period that may be multiplied.
    let mut apart: Vec<Received> = Vec::new();
    while !is_enough {
        let more = step(&mut player, wire, &mut under_way, &mut |record| {
            apart.last_mut().unwrap_or(&mut received).add(record);
            each(record);
        });
        steps += 1;
        if player.now() >= END {
            return Err(SimError::Config(ConfigError(TOO_LONG.to_owned())));
        }
        if let Some(search) = &mut search {
            for &look in search.look(&mut player, wire) {
                match look {
                    CountStep::Apart => apart.push(received.apart()),
                    CountStep::Times(times) => join_last(&mut apart, &mut received, times),
                }
            }
        }
        is_enough = more && until.as_mut().is_some_and(|until| (until.enough)(&player));
        let is_over = !more || is_enough;
        if is_over {
            while !apart.is_empty() {
                join_last(&mut apart, &mut received, 1);
            }
        }
        // Between two steps the state consists only of player and wire; a period that is counted separately is finished
        // first.
        if let Some(follow) = setup.keeper()
            && (is_over || steps.is_multiple_of(STEPS) && apart.is_empty() && any(follow.is_due()))
        {
            let mut head = Head { divided, player: PlayerState::default(), received };
            player.swap(&mut head.player);
            let state = wire.take();
            // A signal reaches processes at different times: all end after this save, or none.
            let ends = any(follow.is_asked_to_end());
            state.keep(&head, processes, (follow, ends));
            follow.after_keep(ends);
            player.swap(&mut head.player);
            wire.restore(state);
            received = head.received;
        }
        if is_over {
            break;
        }
    }
    let ended = if is_enough { Ok(()) } else { player.finished() };
    let runs: Vec<_> = (0..jobs.len()).map(|j| player.runs(j).to_vec()).collect();
    let end = runs.iter().flatten().map(|r| r.end).max().unwrap_or(0);
    if let (Some(search), [job]) = (&search, &jobs[..])
        && search.is_estimate()
        && search.skipped() > 0
        && job.repeat == Repeat::Once
    {
        received.recount(&job.program);
    }
    let (repeated, error) = search.map_or((0, 0.0), |search| (search.skipped(), search.error()));
    Ok(DrivenRun { runs, end, received, events: player.events(), repeated, error, ended })
}

/// What finds parts of a run that need not be run each time: exactly, where the network can describe its state.
fn search<W: NetworkModel>(
    setup: &Setup<'_>,
    player: &mut Player<'_>,
    wire: &mut W,
) -> Option<Box<dyn Search>> {
    if let Some(repeats) = Repeats::new(player, wire) {
        return Some(Box::new(repeats));
    }
    let precision = setup.medium.packets()?.precision?;
    Some(Box::new(Steady::new(player, wire, precision)?))
}

/// Adds the last separate count `times` times.
fn join_last(apart: &mut Vec<Received>, received: &mut Received, times: u64) {
    if let Some(last) = apart.pop() {
        apart.last_mut().unwrap_or(received).join(&last, times);
    }
}

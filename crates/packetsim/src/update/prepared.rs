//! The parts of an update that are computed in advance: the tables of each step, and the steps.

use darkfiber_fabric::{Fabric, SwitchId};

use super::manager::{DyingCable, Step};
use super::tables::{Blocks, Image, LiveTables, MOST_LMC};
use super::{Generation, Update, UpdateMethod};
use crate::{ConfigError, Net};

/// An update of the tables of a network, ready to be executed.
pub struct PreparedUpdate<'a> {
    pub(super) update: &'a Update<'a>,
    pub(super) generations: Vec<Generation<'a>>,
    pub(super) images: Vec<Image>,
    pub(super) blocks: Blocks,
    pub(super) tables: LiveTables,
    pub(super) steps: Vec<(&'static str, Step)>,
    pub(super) dying: Option<DyingCable>,
    lanes: u8,
}

/// Service levels that packets have four bits for.
const LANES: usize = 16;

impl<'a> PreparedUpdate<'a> {
    /// Works out the steps of an update.
    ///
    /// # Errors
    /// If the tables are of another fabric or have LIDs that cannot be updated so, or there are not enough lanes.
    pub fn new(net: &Net, fabric: &'a Fabric, update: &'a Update<'a>) -> Result<Self, ConfigError> {
        let (from, to) = (update.from, update.to);
        let high = match &update.how {
            UpdateMethod::FivePhase(high) => Some(*high),
            _ => None,
        };
        let mended = update.fault.iter().filter_map(|f| f.mended).flatten();
        for routes in [from, to].into_iter().chain(high).chain(mended.clone()) {
            let size = (routes.switch_count(), routes.terminal_count());
            if size != (fabric.switch_count(), fabric.terminal_count()) {
                return Err(ConfigError(format!(
                    "tables of {} switches and {} hosts do not fit a fabric of {} and {}: give tables of this fabric",
                    size.0,
                    size.1,
                    fabric.switch_count(),
                    fabric.terminal_count()
                )));
            }
            if routes.layers.by_hop().is_some() {
                return Err(ConfigError(
                    "tables of which switches choose lanes by input and output port (sl2vl) cannot be updated under traffic: give \
                     tables with service levels, or of one lane"
                        .to_owned(),
                ));
            }
            if routes.choice.is_some() {
                return Err(ConfigError(
                    "tables whose senders choose a LID for each message cannot be updated under traffic: take another engine"
                        .to_owned(),
                ));
            }
            if routes.paths() != from.paths() {
                return Err(ConfigError(format!(
                    "the tables before have {} LIDs for each host and those after {}: give both the same LMC",
                    from.paths(),
                    routes.paths()
                )));
            }
        }
        let two = matches!(update.how, UpdateMethod::Flip | UpdateMethod::FivePhase(_));
        if two && from.paths() > 1 {
            return Err(ConfigError(format!(
                "flip and five phases need a second LID for each host, and the tables use {} already: give tables with LMC 0",
                from.paths()
            )));
        }
        let planes = from.paths() * if two { 2 } else { 1 };
        if planes > 1 << MOST_LMC {
            return Err(ConfigError(format!(
                "{planes} LIDs for each host are more than the {} that can be simulated: give tables with a smaller LMC",
                1 << MOST_LMC
            )));
        }
        // Lanes of the old and the new tables are shared unless each has separate LIDs.
        let generation = |routes, plane, first_lane: usize| Generation {
            fabric,
            routes,
            plane,
            first_lane: first_lane as u8,
        };
        let (before, after) = (from.layer_count(), to.layer_count());
        let repaired =
            mended.clone().map(darkfiber_routing::Routes::layer_count).max().unwrap_or(0);
        let (generations, lanes) = match &update.how {
            UpdateMethod::Flip => {
                let first = before.max(repaired);
                let both = vec![generation(from, 0, 0), generation(to, 1, first)];
                (both, first + after.max(repaired))
            }
            UpdateMethod::FivePhase(high) => {
                let first = before.max(after).max(repaired);
                let all =
                    vec![generation(from, 0, 0), generation(to, 0, 0), generation(high, 1, first)];
                (all, first + high.layer_count())
            }
            _ => {
                let both = vec![generation(from, 0, 0), generation(to, 0, 0)];
                (both, before.max(after).max(repaired))
            }
        };
        if lanes > LANES {
            return Err(ConfigError(format!(
                "this update needs {lanes} virtual lanes, and there are {LANES}: take engines with fewer layers"
            )));
        }
        let mut prepared = Self {
            update,
            generations,
            images: Vec::new(),
            blocks: Blocks::new(fabric, planes)?,
            tables: LiveTables::new(net, &Image::empty(net, planes), &Image::empty(net, planes), 1),
            steps: Vec::new(),
            dying: None,
            lanes: lanes as u8,
        };
        prepared.plan(net, fabric, planes);
        Ok(prepared)
    }

    /// Virtual lanes that all tables need together.
    pub fn lanes(&self) -> u8 {
        self.lanes
    }

    /// The tables of each step, and the steps.
    fn plan(&mut self, net: &Net, fabric: &Fabric, planes: usize) {
        let update = self.update;
        let image = |parts: &[(&darkfiber_routing::Routes, usize)]| {
            let mut image = Image::empty(net, planes);
            for (routes, first) in parts {
                image.set(net, fabric, routes, *first);
            }
            image
        };
        // Tables before the update and behind it.
        let first = match &update.how {
            UpdateMethod::FivePhase(high) => image(&[(update.from, 0), (high, 1)]),
            _ => image(&[(update.from, 0)]),
        };
        let last = match &update.how {
            UpdateMethod::Nothing => first.clone(),
            UpdateMethod::FivePhase(high) => image(&[(update.to, 0), (high, 1)]),
            UpdateMethod::Flip => image(&[(update.from, 0), (update.to, 1)]),
            _ => image(&[(update.to, 0)]),
        };
        self.images = vec![first, last];
        // The steps of the manager, with the tables between them.
        let move_to = |to, datagrams| Step::Migrate { to, datagrams, otherwise: None };
        self.steps = match &update.how {
            UpdateMethod::Nothing => Vec::new(),
            UpdateMethod::Naive => vec![("", Step::Publish(1)), ("write", Step::Write(1))],
            UpdateMethod::Stages(ranks) => {
                let mut steps = Vec::new();
                let most = ranks.iter().flatten().max().copied();
                for rank in most.map_or(0..0, |most| 0..most + 1) {
                    let takes = |s: u32| {
                        ranks.get(s as usize).copied().flatten().is_some_and(|r| r <= rank)
                    };
                    let mixed = self.images[0].with_switches(&self.images[1], takes);
                    self.images.push(mixed);
                    steps.push((rank_name(rank), Step::Write(self.images.len() - 1)));
                }
                // Switches that change without a rank come last.
                let (first, last) = (&self.images[0], &self.images[1]);
                let forgotten = |s: u32| {
                    ranks.get(s as usize).is_none_or(Option::is_none) && !first.agrees(last, s)
                };
                if (0..net.switch_count() as u32).any(forgotten) {
                    steps.push(("write the rest", Step::Write(1)));
                }
                steps.push(("", Step::Publish(1)));
                steps
            }
            UpdateMethod::Flip => vec![
                ("write idle LIDs", Step::Write(1)),
                ("", Step::Publish(1)),
                ("migrate", move_to(1, update.hosts.datagrams_migrate)),
            ],
            UpdateMethod::FivePhase(_) => {
                let both = update.hosts.datagrams_migrate;
                let back =
                    vec![("", Step::Publish(0)), ("repath, nothing written", move_to(0, both))];
                let mut steps = vec![
                    ("", Step::Publish(2)),
                    ("unpath", Step::Migrate { to: 2, datagrams: both, otherwise: Some(back) }),
                ];
                if both && update.hosts.datagrams.is_some() {
                    steps.push(("datagrams leave", Step::Wait(update.hosts.lifetime)));
                }
                if update.hosts.pause > 0 {
                    steps.push(("pause", Step::Wait(update.hosts.pause)));
                }
                steps.push(("write", Step::Write(1)));
                steps.push(("", Step::Publish(1)));
                steps.push(("repath", move_to(1, true)));
                steps
            }
            UpdateMethod::DropDrain => {
                let dropping = self.images[0].without_changes(&self.images[1]);
                self.images.push(dropping);
                self.drop_drain(self.images.len() - 1, 1)
            }
        };
        // The steps if a cable dies meanwhile.
        if let Some(fault) = &update.fault {
            let mut then = [Vec::new(), Vec::new()];
            if let Some(mended) = fault.mended {
                // The tables on the first and on the second LIDs after an update that was abandoned, and one that completed.
                let standing: [Vec<(_, usize, usize)>; 2] = match &update.how {
                    UpdateMethod::Flip => [
                        vec![(mended[0], 0, 0), (mended[1], 1, 1)],
                        vec![(mended[0], 0, 0), (mended[1], 1, 1)],
                    ],
                    UpdateMethod::FivePhase(high) => [
                        vec![(mended[0], 0, 0), (*high, 1, 0)],
                        vec![(mended[1], 0, 1), (*high, 1, 1)],
                    ],
                    _ => [vec![(mended[0], 0, 0)], vec![(mended[1], 0, 1)]],
                };
                for (k, parts) in standing.iter().enumerate() {
                    let both: Vec<_> = parts.iter().map(|p| (p.0, p.1)).collect();
                    let mended = image(&both);
                    // An abandoned flip was not written at all, or completely; everything else as it is.
                    let stands = match (&update.how, k) {
                        (
                            UpdateMethod::Flip
                            | UpdateMethod::Naive
                            | UpdateMethod::Stages(_)
                            | UpdateMethod::DropDrain,
                            _,
                        )
                        | (_, 1) => 1,
                        _ => 0,
                    };
                    let dropping = self.images[stands].without_changes(&mended);
                    self.images.push(dropping);
                    self.images.push(mended);
                    let n = self.images.len();
                    then[k] = self.drop_drain(n - 2, n - 1);
                }
            }
            let port = |c: &darkfiber_fabric::ChannelId| {
                let s = fabric.tail(*c);
                net.base(s.0) + (c.index() - fabric.channels_from(s).start) as u32
            };
            let ports = fault.cables.iter().map(port).collect();
            self.dying = Some(DyingCable { at: fault.at, ports, then });
        }
        self.tables = LiveTables::new(net, &self.images[0], &self.images[1], self.lanes);
    }

    /// The steps of drop-drain, to an image over another.
    fn drop_drain(&self, dropping: usize, last: usize) -> Vec<(&'static str, Step)> {
        vec![
            ("drop", Step::Write(dropping)),
            ("drain", Step::Wait(self.update.hosts.lifetime)),
            ("write", Step::Write(last)),
            ("", Step::Publish(1)),
        ]
    }

    /// Switches whose tables differ between before and after.
    pub fn changed_switches(&self) -> impl Iterator<Item = SwitchId> + '_ {
        let (first, last) = (&self.images[0], &self.images[1]);
        (0..first.switch_count()).filter(|&s| !first.agrees(last, s)).map(SwitchId)
    }
}

/// Phases of stages; more than eight are rare.
fn rank_name(rank: u32) -> &'static str {
    const NAMES: [&str; 8] =
        ["stage 1", "stage 2", "stage 3", "stage 4", "stage 5", "stage 6", "stage 7", "stage 8"];
    NAMES.get(rank as usize).copied().unwrap_or("stages above 8")
}

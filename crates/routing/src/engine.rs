//! The interface of engines: given a fabric and a request, an engine computes routes or refuses
//! with a reason.

use darkfiber_fabric::{Fabric, Shape, SwitchId, memory};

use crate::{Refusal, Request, Routes, lid_offsets, planes};

/// Kind of fabric that an engine routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FabricRequirement {
    /// Any fabric that is connected.
    Any,
    /// A tree of levels, faulty or not.
    Tree,
    /// A tree of two levels with hosts on the lower one.
    TwoLevels,
    /// A parallel-port generalized fat-tree whose labels are known (from a generator or by recognition).
    FatTree,
    /// A lattice (HyperX, torus, mesh), or consistently numbered ports.
    Grid,
    /// A HyperX with known coordinates.
    HyperX,
    /// A torus or mesh with known coordinates.
    Torus,
    /// A dragonfly, Cascade or dragonfly+ with known groups.
    Dragonfly,
}

impl FabricRequirement {
    /// A word or two for tables.
    pub fn label(self) -> &'static str {
        match self {
            Self::Any => "any fabric",
            Self::Tree => "a tree of levels",
            Self::TwoLevels => "a tree of two levels",
            Self::FatTree => "a fat-tree with known labels",
            Self::Grid => "HyperX, torus or mesh",
            Self::HyperX => "a HyperX with known coordinates",
            Self::Torus => "a torus or mesh with known coordinates",
            Self::Dragonfly => "a dragonfly with known groups",
        }
    }
}

/// Guarantee of an engine about deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deadlock {
    /// Free of cyclic channel dependencies with one lane, by construction.
    Free,
    /// Free by virtual layers; may need several lanes.
    Layers,
    /// Free on whole `HyperX` and meshes, not elsewhere.
    OnMeshes,
    /// Nothing is promised: the checker decides.
    NotPromised,
}

impl Deadlock {
    /// Whether routes are free of deadlock on every fabric that the engine does not refuse.
    pub fn promised(self) -> bool {
        matches!(self, Self::Free | Self::Layers)
    }

    /// The senders that its lanes reach, and how they can be made to reach others: senders that query no path record
    /// have one service level.
    pub fn reach(self) -> &'static str {
        match self {
            Self::Free => {
                "one, which reaches everybody (more where aggregation nodes sit in several roots)"
            }
            Self::Layers => {
                "by pair, for who asks; --layer-by source (a level a host) or hop (everybody) where they fit"
            }
            Self::OnMeshes => "one on whole HyperX and meshes, which reaches everybody",
            Self::NotPromised => {
                "none; --layer-by source (a level a host) or hop (everybody) where they fit"
            }
        }
    }

    /// A word or two for tables.
    pub fn label(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Layers => "free, by lanes",
            Self::OnMeshes => "free on whole HyperX and meshes",
            Self::NotPromised => "not promised",
        }
    }
}

/// A routing engine: a pure function of fabric and request.
///
/// Contract (requirements I1 to I5): a row for every LID that reaches it from every switch of a
/// connected fabric, no loop, the same bytes for the same request at any number of threads, or a
/// typed refusal. Never a partial table.
pub trait Engine: Sync {
    /// The name as used by OpenSM.
    fn name(&self) -> &'static str;
    /// One line for `darkfiber list engines`.
    fn summary(&self) -> &'static str;
    /// Paragraphs for `darkfiber list engines NAME`: the algorithm, what it is good for, decisions
    /// where the papers are silent, complexity.
    fn doc(&self) -> &'static str;
    /// The paper or program that defines it.
    fn paper(&self) -> &'static str;
    /// Kind of fabric that it routes.
    fn needs(&self) -> FabricRequirement;
    /// Its guarantee about deadlock.
    fn deadlock(&self) -> Deadlock;
    /// Whether paths depend on their source. Then every port has several LIDs, and each source must use the
    /// one of them that is its own: [`Routes::path_of`].
    fn by_source(&self) -> bool {
        false
    }
    /// Whether its tables depend on [`Request::jobs`].
    fn follows_jobs(&self) -> bool {
        false
    }
    /// Whether its tables depend on [`Request::demands`].
    fn follows_demands(&self) -> bool {
        false
    }
    /// Whether its tables depend on [`Request::roots`].
    fn takes_roots(&self) -> bool {
        false
    }
    /// Whether the LIDs of a port all serve the same end, so that any of them may be the only one in use. Not where
    /// each has its own: paths by source, or by size of message.
    fn lids_are_alike(&self) -> bool {
        !self.by_source()
    }
    /// An engine whose paths are as long as this one's, with the same promise about deadlock and layers of the same kind.
    /// Where its tables for one LID a port are more even, several LIDs a port take its paths.
    fn with_several_lids(&self) -> Option<&'static dyn Engine> {
        None
    }
    /// Computes tables and layers for exactly this request; callers that need routes call
    /// [`route`](Self::route).
    ///
    /// # Errors
    /// A [`Refusal`] if this engine cannot route this fabric as requested.
    fn compute(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal>;
    /// Routes a fabric; where it has several planes ([`Planes`](darkfiber_fabric::Planes)), each is routed as a fabric, all in
    /// one set of tables.
    ///
    /// # Errors
    /// A [`Refusal`] if this engine cannot route this fabric as requested.
    fn route(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        expect_memory(fabric)?;
        let mut routes = planes::route(self.name(), fabric, request, &|_, fabric, request| {
            self.route_plane(fabric, request)
        })?;
        let leaves_roots = !request.roots.is_empty() && !self.takes_roots();
        let leaves_demands = !request.demands.is_empty() && !self.follows_demands();
        for (what, _) in [("roots", leaves_roots), ("demands", leaves_demands)]
            .into_iter()
            .filter(|(_, is_left)| *is_left)
        {
            routes.notes.push(format!(
                "the {what} that are given are not used: tables of {} do not depend on any",
                self.name()
            ));
        }
        routes.leaves_roots |= leaves_roots;
        if self.takes_roots() {
            routes.notes.extend(tops_left_out(fabric, request));
        }
        Ok(routes)
    }
    /// Routes a fabric that is one plane. Where [LIDs are alike](Self::lids_are_alike), several LIDs a port cost no evenness:
    /// the tables of each LID offset are those for one LID a port with the terminals of a switch in another order.
    ///
    /// # Errors
    /// A [`Refusal`] if this engine cannot route this fabric as requested.
    fn route_plane(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        let told_by_pair = self.follows_demands() && !request.demands.is_empty();
        if request.lmc == 0 || !self.lids_are_alike() || told_by_pair {
            return self.compute(fabric, request);
        }
        // Neighbours are alike whatever they run, unless that is what tables are made for.
        let jobs = if self.follows_jobs() { request.jobs } else { &[] };
        let request = &Request { jobs, ..request.clone() };
        let own = |request: &Request<'_>| self.compute(fabric, request);
        let layered = self.deadlock() == Deadlock::Layers;
        let Some(other) = self.with_several_lids() else {
            return lid_offsets::route(fabric, request, &own, None, layered);
        };
        let more_even = |request: &Request<'_>| other.compute(fabric, request);
        lid_offsets::route(fabric, request, &own, Some((other.name(), &more_even)), layered)
    }
}

/// Tables of more bytes than this are held against the memory that is free, which takes a tenth of a millisecond to find out.
const LARGE: u128 = 32 << 20;

/// Refuses a fabric whose tables do not fit memory: an entry for each switch and destination. Rows of several LIDs a port may be shared, so
/// that these do not count.
fn expect_memory(fabric: &Fabric) -> Result<(), Refusal> {
    let (terminals, switches) = (fabric.terminal_count(), fabric.switch_count());
    let bytes = (terminals + switches) as u128 * switches as u128;
    if bytes <= LARGE {
        return Ok(());
    }
    memory::expect(bytes).map_err(|shortage| Refusal::Memory { terminals, switches, shortage })
}

/// What to say of roots that are not all of the switches on top of a known tree: paths go up to roots alone.
fn tops_left_out(fabric: &Fabric, request: &Request<'_>) -> Option<String> {
    let Some(Shape::Tree(tree)) = request.shape.filter(|shape| shape.fits(fabric)) else {
        return None;
    };
    let top = tree.level.iter().max().filter(|_| !request.roots.is_empty())?;
    let tops = (0..tree.level.len()).filter(|&s| tree.level[s] == *top).map(SwitchId::new);
    let (tops, left_out) = tops.fold((0, 0), |(tops, left_out), s| {
        (tops + 1, left_out + usize::from(!request.roots.contains(&s)))
    });
    (left_out > 0).then(|| {
        format!("{left_out} of the {tops} switches on top of this tree are no roots, and few paths lead over them")
    })
}

impl Refusal {
    /// The fabric is not of the family that the engine is made for.
    pub(crate) fn wrong_fabric(engine: &dyn Engine, reason: impl Into<String>) -> Self {
        Self::WrongFabric {
            engine: engine.name(),
            needs: engine.needs().label(),
            reason: reason.into(),
        }
    }
}

/// Why each engine of a chain refused, in the order of the chain.
pub type Refusals = Vec<(&'static str, Refusal)>;

/// Routes with the first engine of a fallback chain that does not refuse; also returns the reasons of
/// those before it.
///
/// # Errors
/// The refusals of all engines, if all refuse.
pub fn route_first(
    chain: &[&'static dyn Engine],
    fabric: &Fabric,
    request: &Request<'_>,
) -> Result<(Routes, Refusals), Refusals> {
    let mut refusals = Refusals::new();
    for engine in chain {
        match engine.route(fabric, request) {
            Ok(routes) => return Ok((routes, refusals)),
            Err(refusal) => refusals.push((engine.name(), refusal)),
        }
    }
    Err(refusals)
}

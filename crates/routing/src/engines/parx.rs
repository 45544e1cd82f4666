//! PARX: several LIDs a port, some with detours, for HyperX without adaptive routing.

use darkfiber_fabric::{Fabric, GridKind, GridShape, Shape};

use super::canon::in_order;
use super::dag::require_routable;
use super::dfsssp::out_of_lanes;
use super::grow::Preference;
use super::layers::{LONG, OutOfLanes, SHORT, assign_layers, only_by_pair};
use super::nue::nue;
use super::parx_trees::{AvoidedChannels, TreeContext};
use crate::{
    Deadlock, Engine, FabricRequirement, LayerBy, LidChoice, Orthants, Refusal, Request, Routes,
};

/// See [`Engine::doc`].
pub(crate) struct Parx {
    name: &'static str,
    summary: &'static str,
    doc: &'static str,
    lids: LidKind,
}

/// The purpose of its LIDs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LidKind {
    /// Detours inside halves.
    Halves,
    /// The same, and one for detours between opposite orthants.
    HalvesAndAcross,
    /// Only minimal paths.
    Minimal,
}

pub(crate) static PARX: Parx = Parx {
    name: "parx",
    summary: "HyperX: LIDs with minimal paths and LIDs with detours, balanced by demands",
    doc: "Every port has 2n LIDs on an n-dimensional HyperX (LMC is the next power of two; --lmc need not be \
          given). LID 2k is routed without the links inside the lower half of dimension k, LID 2k+1 \
          without those inside the upper half: both ends in it. In two dimensions, LID 0 avoids the left half, \
          1 the right, 2 the top, 3 the bottom. What has both ends in the half so makes a detour \
          around it, one or two hops longer, over as many different switches as the other half has; all else is as \
          short as without the rule. Which LID a message takes is decided by its sender from its size and the \
          orthants of both ends: routing::LidChoice, the paper's table 1 for any number of dimensions. Of an odd \
          size the lower half is the larger one.\n\n\
          Decisions. Removed links are avoided at the price of more hops than any way has, not deleted: with \
          what is left connected that is the same, and no LID is ever lost to a fault. LIDs beyond 2n take minimal \
          paths that add no load.\n\n\
          Destinations that occur in the demands come first (Algorithm 1): every path of a pair adds its \
          demand, 1 to 255 (larger ones are scaled down together), to the channels it passes; a path to such a destination that nobody demands adds \
          1/256, which keeps the machine as a whole from being left unbalanced. Then all others, each path \
          adding 1. Each takes the paths with the least sum so far. Without demands all paths add 1.\n\n\
          Virtual layers as in dfsssp, over the paths to all LIDs. If --lanes (8) do not suffice, first the \
          layers are searched longer, then paths that make few dependencies are taken, then the last LIDs \
          get minimal paths, as few of them as a bisection finds, at last all LIDs those of nue; a \
          note says so. It refuses no connected HyperX of up to ten dimensions.\n\n\
          Known weakness: opposite orthants (a quarter of the pairs in two dimensions) have minimal paths only; \
          see parx-opposite. Detours add load where the whole machine is busy.\n\n\
          Complexity: O(LIDs x candidates), plus the layers.",
    lids: LidKind::Halves,
};

pub(crate) static PARX_OPPOSITE: Parx = Parx {
    name: "parx-opposite",
    summary: "parx, and a LID more with detours between opposite quadrants",
    doc: "As parx, with one more LID, 2n (LMC 3 in two dimensions): on the way to it no link leads from \
          the orthant opposite to the destination to a switch that shares a coordinate with the \
          destination. What comes from there must leave its orthant unaligned first, and so makes one hop \
          more, over all the lines of the destination's halves. Other sources have \
          minimal paths to this LID, which add no load. \
          Not in the paper, which has no detour for such pairs: 25.3 % of all in a 12x8 HyperX. Where every half \
          of the destination is one switch wide, there is no such way, and paths are minimal.\n\n\
          Complexity: as parx.",
    lids: LidKind::HalvesAndAcross,
};

pub(crate) static PARX_MINIMAL: Parx = Parx {
    name: "parx-minimal",
    summary: "parx without detours, on any fabric: shortest paths balanced by demands",
    doc: "What is left of parx where there are no coordinates: destinations that occur in the demands come first, \
          every path adds what is demanded to the channels that it passes, and each takes the shortest path with \
          the least sum so far (Algorithm 1 without its rules; layers as in dfsssp). Without demands all paths \
          add 1. Any LMC. Refuses if --lanes (8) do not suffice.\n\n\
          Complexity: as sssp, plus the layers.",
    lids: LidKind::Minimal,
};

impl Engine for Parx {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn doc(&self) -> &'static str {
        self.doc
    }

    fn paper(&self) -> &'static str {
        "Domke et al.: HyperX Topology: First At-Scale Implementation and Comparison to the Fat-Tree, \
         SC'19, section 3.2 and Algorithm 1"
    }

    fn needs(&self) -> FabricRequirement {
        if self.lids == LidKind::Minimal {
            FabricRequirement::Any
        } else {
            FabricRequirement::HyperX
        }
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::Layers
    }

    fn follows_demands(&self) -> bool {
        true
    }

    fn lids_are_alike(&self) -> bool {
        self.lids == LidKind::Minimal
    }

    fn compute(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        require_routable(self.name, fabric, request)?;
        if self.lids == LidKind::Minimal {
            return in_order(fabric, request, |fabric, request| self.minimal(fabric, request));
        }
        let orthants = Orthants::new(self.grid(fabric, request)?);
        let Some(orthants) = orthants else {
            let most = Orthants::MOST_DIMENSIONS;
            return Err(self.parameter(format!("it cuts at most {most} dimensions in halves")));
        };
        let lids = orthants.halves() + usize::from(self.lids == LidKind::HalvesAndAcross);
        let lmc = lids.next_power_of_two().ilog2() as u8;
        if request.lmc != 0 && request.lmc != lmc {
            return Err(self.parameter(format!(
                "a port has {lids} kinds of paths here, so its LMC is {lmc}, not {}; leave it out",
                request.lmc
            )));
        }
        let request = Request { lmc, ..request.clone() };
        require_routable(self.name, fabric, &request)?;
        let mut routes =
            in_order(fabric, &request, |fabric, request| self.with_halves(fabric, request))?;
        let across = self.lids == LidKind::HalvesAndAcross;
        routes.choice = LidChoice::parx(fabric, self.grid(fabric, &request)?, across);
        Ok(routes)
    }
}

impl Parx {
    fn parameter(&self, problem: String) -> Refusal {
        Refusal::Parameter { engine: self.name, problem }
    }

    /// The coordinates of the fabric, if it is a HyperX.
    fn grid<'a>(&self, fabric: &Fabric, request: &Request<'a>) -> Result<&'a GridShape, Refusal> {
        match request.shape.filter(|shape| shape.fits(fabric)) {
            Some(Shape::Grid(grid)) if grid.kind == GridKind::HyperX => Ok(grid),
            other => {
                let reason = other.map_or("it has no coordinates", |_| "this fabric is none");
                Err(Refusal::wrong_fabric(self, reason))
            }
        }
    }

    fn with_halves(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        let grid = self.grid(fabric, request)?;
        let orthants = Orthants::new(grid).expect("the caller has looked");
        let mut avoid: Vec<AvoidedChannels> =
            (0..orthants.halves()).map(AvoidedChannels::Half).collect();
        if self.lids == LidKind::HalvesAndAcross {
            avoid.push(AvoidedChannels::Alignment);
        }
        let detours = avoid.len();
        avoid.resize(request.paths(), AvoidedChannels::Spare);
        let work = TreeContext::new(fabric, Some((grid, &orthants)), request.demands);
        let search = Search { engine: self.name, fabric, request, work };
        if request.layer_by == LayerBy::Destination {
            return search.in_one_layer(&avoid);
        }
        let needed = match search.with_detours(&avoid) {
            Ok(routes) => return Ok(routes),
            Err(out) => out.needed,
        };
        let (mut routes, what) = search.with_fewer(&avoid, detours);
        let lanes = request.lanes;
        routes.notes.push(format!("{needed} lanes would be needed, {lanes} may be used: {what}"));
        Ok(routes)
    }

    fn minimal(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        let work = TreeContext::new(fabric, None, request.demands);
        let search = Search { engine: self.name, fabric, request, work };
        let avoid = vec![AvoidedChannels::Nothing; request.paths()];
        if request.layer_by == LayerBy::Destination {
            return search.in_one_layer(&avoid);
        }
        search.with_detours(&avoid).map_err(|out| out_of_lanes(self.name, out.needed, request))
    }
}

/// The search for paths that the lanes allow, all detours at first.
struct Search<'a> {
    engine: &'static str,
    fabric: &'a Fabric,
    request: &'a Request<'a>,
    work: TreeContext<'a>,
}

impl Search<'_> {
    /// Layers that depend on the destination only: one for all.
    fn in_one_layer(&self, avoid: &[AvoidedChannels]) -> Result<Routes, Refusal> {
        for preference in [Preference::Balanced, Preference::Frugal] {
            let mut routes = self.work.route(self.engine, avoid, preference);
            if assign_layers(self.fabric, &mut routes, 1, SHORT).is_ok() {
                return Ok(routes);
            }
        }
        Err(only_by_pair(self.engine))
    }

    /// All paths as they should be, balanced if the lanes suffice for that, else frugal.
    fn with_detours(&self, avoid: &[AvoidedChannels]) -> Result<Routes, OutOfLanes> {
        let balanced = self.work.route(self.engine, avoid, Preference::Balanced);
        let mut fewest = OutOfLanes { needed: usize::MAX };
        for effort in [SHORT, LONG] {
            match self.layered(balanced.clone(), effort) {
                Ok(routes) => return Ok(routes),
                Err(out) => fewest = fewest.min(out),
            }
        }
        let frugal = self.work.route(self.engine, avoid, Preference::Frugal);
        self.layered(frugal, LONG).map_err(|out| fewest.min(out))
    }

    /// Minimal paths for the last LIDs instead of detours, for as few of them as a bisection finds, else nue;
    /// and words for that.
    fn with_fewer(&self, avoid: &[AvoidedChannels], detours: usize) -> (Routes, String) {
        // The numbers of LIDs known to be too few and known to suffice; one more than there are
        // stands for all.
        let (mut few, mut enough) = (0, detours + 1);
        let mut best = None;
        while few + 1 < enough {
            let minimal = few.midpoint(enough);
            let mut avoid = avoid.to_vec();
            avoid[detours - minimal..detours].fill(AvoidedChannels::Nothing);
            let preferences = [Preference::Balanced, Preference::Frugal].into_iter();
            let tries =
                preferences.map(|preference| self.work.route(self.engine, &avoid, preference));
            match tries.map(|routes| self.layered(routes, LONG)).find_map(Result::ok) {
                Some(routes) => {
                    best = Some(routes);
                    enough = minimal;
                }
                None => few = minimal,
            }
        }
        let (first, last) = (detours - enough.min(detours), detours - 1);
        match best {
            Some(routes) if first == last => {
                (routes, format!("LID {last} of every port takes minimal paths, no detours"))
            }
            Some(routes) => (
                routes,
                format!("LIDs {first} to {last} of every port take minimal paths, no detours"),
            ),
            None => {
                let paths = nue(self.engine, self.fabric, self.request);
                (paths, "all LIDs take the paths of engine nue, no detours of parx".to_owned())
            }
        }
    }

    fn layered(&self, mut routes: Routes, effort: usize) -> Result<Routes, OutOfLanes> {
        assign_layers(self.fabric, &mut routes, self.request.lanes, effort)?;
        Ok(routes)
    }
}

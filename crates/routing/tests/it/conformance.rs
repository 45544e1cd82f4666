//! The conformance matrix: every engine on every family, whole, damaged and in pieces.
//!
//! `docs/conformance.md` is the result of the matrix. After an intended change, regenerate it with
//!
//! ```text
//! DARKFIBER_UPDATE_DOCS=1 cargo test -p darkfiber-routing --test it conformance
//! ```

mod order;
mod table;

use std::sync::OnceLock;

use darkfiber_fabric::{GridKind, Planes, Shape, SwitchId, Topology};
use darkfiber_routing::check::{Report, check};
use darkfiber_routing::{
    Deadlock, ENGINES, Engine, FabricRequirement, LayerBy, Layers, Refusal, Request, Routes,
    find_engine,
};
use darkfiber_testkit::families::{
    LARGE, badly_damaged, connected, damaged, fallen_apart, small, topology,
};
use darkfiber_testkit::oracle;
use table::{Cables, Cell, Row};

/// Number of virtual lanes of InfiniBand for data, without the one for management.
const MOST_LANES: usize = 15;

/// Engines that promise shortest paths on any fabric that they route.
const SHORTEST: &[&str] = &["minhop", "sssp", "dfsssp", "dor", "lash"];

/// Engines that can assign layers by destination on any fabric.
const BY_DESTINATION: &[&str] = &["dfsssp", "lash", "nue"];

type Result = std::result::Result<(Routes, Report), Refusal>;

/// Whether a fabric of this shape is of the engine's family.
fn serves(needs: FabricRequirement, shape: Option<&Shape>) -> bool {
    let grid = match shape {
        Some(Shape::Grid(grid)) => Some(grid.kind),
        _ => None,
    };
    match needs {
        FabricRequirement::Any => true,
        FabricRequirement::Tree => matches!(shape, Some(Shape::Tree(_))),
        FabricRequirement::TwoLevels => {
            matches!(shape, Some(Shape::Tree(tree)) if tree.level.iter().max() == Some(&2))
        }
        FabricRequirement::FatTree => {
            matches!(shape, Some(Shape::Tree(tree)) if tree.pgft.is_some())
        }
        FabricRequirement::Grid => grid.is_some(),
        FabricRequirement::HyperX => grid == Some(GridKind::HyperX),
        // Complete graphs of two and three switches are rings.
        FabricRequirement::Torus => matches!(shape, Some(Shape::Grid(grid))
            if grid.kind != GridKind::HyperX || grid.dims.iter().all(|&size| size <= 3)),
        FabricRequirement::Dragonfly => matches!(shape, Some(Shape::Dragonfly(_))),
    }
}

/// Whether the engine promises that its routes on this fabric cannot deadlock.
fn promises(engine: &dyn Engine, shape: Option<&Shape>, whole: bool) -> bool {
    match engine.deadlock() {
        Deadlock::Free | Deadlock::Layers => true,
        // The rings of a torus close cycles that dimension order alone does not break.
        Deadlock::OnMeshes => {
            whole && !matches!(shape, Some(Shape::Grid(grid)) if grid.kind == GridKind::Torus)
        }
        Deadlock::NotPromised => false,
    }
}

fn with_threads<T: Send>(n: usize, f: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("a pool").install(f)
}

/// One fabric of the matrix.
struct Case<'a> {
    on: &'a Topology,
    whole: bool,
    name: String,
    /// Mean number of switches on the shortest paths of all pairs.
    hops: OnceLock<f64>,
}

impl<'a> Case<'a> {
    fn new(on: &'a Topology, whole: bool, name: impl Into<String>) -> Self {
        Self { on, whole, name: name.into(), hops: OnceLock::new() }
    }

    fn request(&self, lanes: u8, layer_by: LayerBy) -> Request<'a> {
        Request { shape: self.on.shape.as_ref(), lanes, layer_by, ..Request::default() }
    }

    /// Routes, and checks that the result is complete and proven, or a refusal that fits.
    fn judged(&self, engine: &dyn Engine, request: &Request<'_>) -> Result {
        let what = format!(
            "{} on {}, {} lanes, by {:?}",
            engine.name(),
            self.name,
            request.lanes,
            request.layer_by
        );
        let fits = serves(engine.needs(), request.shape);
        match engine.route(&self.on.fabric, request) {
            Ok(routes) => {
                assert!(connected(self.on) && fits, "{what}: should have been refused");
                let report = check(&self.on.fabric, &routes);
                assert!(report.complete(), "{what}: loses pairs");
                assert!(routes.layer_count() <= usize::from(request.lanes), "{what}: lanes");
                if request.layer_by == LayerBy::Destination {
                    let by_row = matches!(routes.layers, Layers::One | Layers::ByRow(_));
                    assert!(by_row, "{what}: layers by pair");
                }
                if promises(engine, request.shape, self.whole) {
                    assert!(report.deadlock_free(), "{what}: deadlocks");
                }
                if SHORTEST.contains(&engine.name()) {
                    let mean = self.hops.get_or_init(|| oracle::hops(&self.on.fabric));
                    assert!((report.hops().mean - mean).abs() < 1e-9, "{what}: detours");
                }
                Ok((routes, report))
            }
            Err(refusal) => {
                match &refusal {
                    Refusal::Disconnected { .. } => assert!(!connected(self.on), "{what}"),
                    Refusal::WrongFabric { .. } => assert!(connected(self.on) && !fits, "{what}"),
                    Refusal::Lanes { needed, lanes, .. } => {
                        self.lanes_are_short(engine, request, *needed, *lanes, &what);
                    }
                    Refusal::Parameter { .. } => {
                        assert_eq!(request.layer_by, LayerBy::Destination, "{what}: {refusal}");
                        assert!(!BY_DESTINATION.contains(&engine.name()), "{what}");
                        let by_pair = self.request(MOST_LANES as u8, LayerBy::Pair);
                        let one = self.judged(engine, &by_pair).map(|(r, _)| r.layer_count() == 1);
                        assert!(one != Ok(true), "{what}: one layer asks for nothing");
                    }
                    other => panic!("{what}: {other}"),
                }
                Err(refusal)
            }
        }
    }

    /// Checks that a refusal for lack of lanes names more lanes than there are, and that this number is enough.
    fn lanes_are_short(
        &self,
        engine: &dyn Engine,
        request: &Request<'_>,
        needed: usize,
        lanes: u8,
        what: &str,
    ) {
        assert_eq!(lanes, request.lanes, "{what}");
        assert!(needed > usize::from(lanes), "{what}: needs {needed}");
        assert!(promises(engine, None, false), "{what}: takes no lanes");
        assert_ne!(engine.name(), "nue", "{what}: takes the lanes there are");
        if needed <= MOST_LANES {
            let enough = Request { lanes: needed as u8, ..request.clone() };
            let taken = self.judged(engine, &enough).map(|(routes, _)| routes.layer_count());
            assert_eq!(taken, Ok(needed), "{what}");
        }
    }

    /// Runs all requests of the matrix on one engine; returns its result with eight lanes.
    fn swept(&self, engine: &dyn Engine) -> Result {
        let name = engine.name();
        for layer_by in [LayerBy::Pair, LayerBy::Destination] {
            let mut routed = false;
            for lanes in [1, 2, 8] {
                let request = self.request(lanes, layer_by);
                let result = self.judged(engine, &request);
                assert!(result.is_ok() || !routed, "{name} on {}: fewer lanes did", self.name);
                routed = result.is_ok();
                if lanes != 2 {
                    let alone = with_threads(1, || engine.route(&self.on.fabric, &request));
                    let same = alone == result.map(|(routes, _)| routes);
                    assert!(same, "{name} on {}: threads change routes", self.name);
                }
            }
            if engine.deadlock() == Deadlock::NotPromised {
                break;
            }
        }
        self.judged(engine, &self.request(8, LayerBy::Pair))
    }
}

/// The row of one spec: all engines on the whole fabric and on its damaged versions.
fn row(spec: &str, damaged: fn(&Topology) -> Vec<(String, Topology)>) -> Row {
    let whole = topology(spec);
    let left = damaged(&whole);
    assert!(left.len() >= 2, "{spec}: hardly anything can fail");
    let mut cases = vec![Case::new(&whole, true, spec)];
    cases.extend(left.iter().map(|(damage, on)| Case::new(on, false, format!("{spec} {damage}"))));
    let (cells, cables) = with_threads(2, || {
        ENGINES
            .iter()
            .map(|engine| {
                let (whole, rest) = cases.split_first().expect("the whole fabric");
                let result = whole.swept(*engine);
                let worst = rest.iter().map(|case| Cell::of(&case.swept(*engine))).max();
                let cell = (Cell::of(&result), worst.expect("damaged fabrics"));
                (cell, Cables::of(&whole.on.fabric, &result))
            })
            .unzip()
    });
    Row { spec: spec.to_owned(), cells, cables }
}

#[test]
fn conformance() {
    let rows: Vec<Row> = small().into_iter().map(|spec| row(spec, damaged)).collect();
    table::compare(&rows);
}

/// The same on fabrics of the size of real machines, which takes many minutes:
///
/// ```text
/// cargo test --release -p darkfiber-routing --test it conformance_at_size -- --ignored
/// ```
#[test]
#[ignore = "takes many minutes; see its comment"]
fn conformance_at_size() {
    for spec in LARGE {
        row(spec, badly_damaged);
    }
}

#[test]
fn what_is_in_pieces_is_refused_as_such_by_all() {
    for spec in small() {
        let whole = topology(spec);
        let pieces: Vec<Topology> = (1..=2).map(|seed| fallen_apart(&whole, seed)).collect();
        // Pieces that share most of their hosts, as rails do, are planes, and are routed as such.
        for on in pieces.iter().filter(|on| Planes::of(&on.fabric).count() == 1) {
            let case = Case::new(on, false, format!("{spec} in pieces"));
            for engine in &ENGINES {
                let result = case.judged(*engine, &case.request(8, LayerBy::Pair));
                let refused = matches!(result, Err(Refusal::Disconnected { components, .. })
                    if components == on.fabric.components().len());
                assert!(refused, "{} on {}", engine.name(), case.name);
            }
        }
    }
}

#[test]
fn a_plane_alone_is_routed_as_the_fabric_without_planes() {
    for spec in small().into_iter().filter(|spec| !spec.starts_with('@')) {
        let one = topology(spec);
        let second = topology(&format!("{spec},planes=2")).plane(1).expect("two planes");
        for engine in &ENGINES {
            let routes = [&one, &second].map(|on| {
                let case = Case::new(on, true, spec);
                // Reasons name switches, whose names include the plane.
                case.judged(*engine, &case.request(8, LayerBy::Pair)).ok().map(|(routes, _)| routes)
            });
            assert!(routes[0] == routes[1], "{} on {spec}", engine.name());
        }
    }
}

#[test]
fn without_a_shape_engines_for_one_family_refuse_and_the_others_route() {
    for spec in small() {
        let on = Topology { shape: None, ..topology(spec) };
        for engine in &ENGINES {
            let result = engine.route(&on.fabric, &Request::default());
            let wrong = matches!(result, Err(Refusal::WrongFabric { .. }));
            match engine.needs() {
                FabricRequirement::Any => assert!(result.is_ok(), "{} on {spec}", engine.name()),
                // From the switches with hosts; from the numbers of ports.
                FabricRequirement::Tree
                | FabricRequirement::TwoLevels
                | FabricRequirement::Grid => {
                    assert!(result.is_ok() || wrong, "{spec}");
                }
                _ => assert!(wrong, "{} on {spec}", engine.name()),
            }
            if let Ok(routes) = result {
                assert!(check(&on.fabric, &routes).complete(), "{} on {spec}", engine.name());
            }
        }
    }
}

#[test]
fn updn_from_one_root_takes_one_lane() {
    let updn = find_engine("updn").expect("registered");
    for spec in small() {
        let whole = topology(spec);
        for (damage, on) in std::iter::once((String::new(), whole.clone())).chain(damaged(&whole)) {
            let case = Case::new(&on, false, format!("{spec} {damage}"));
            for root in [0, on.fabric.switch_count() / 2, on.fabric.switch_count() - 1] {
                let roots = [SwitchId::new(root)];
                let request = Request { roots: &roots, ..case.request(1, LayerBy::Destination) };
                let result = case.judged(updn, &request).map(|_| ());
                assert_eq!(result, Ok(()), "{spec} {damage}, root {root}");
            }
        }
    }
}

#[test]
fn the_checker_agrees_with_the_oracle_on_every_family() {
    for spec in small() {
        let on = topology(spec);
        let case = Case::new(&on, true, spec);
        for engine in &ENGINES {
            let result = case.judged(*engine, &case.request(8, LayerBy::Pair));
            let Ok((routes, report)) = result else { continue };
            let verdict = oracle::judge(&on.fabric, &routes);
            assert_eq!(verdict.lost, 0, "{} on {spec}", engine.name());
            let free = verdict.cyclic.is_empty();
            assert_eq!(free, report.deadlock_free(), "{} on {spec}", engine.name());
        }
    }
}

//! Layers with one service level per host.

use darkfiber_fabric::TerminalId;
use darkfiber_routing::check::check;
use darkfiber_routing::{
    DestId, Layers, NoLayersBySource, Request, Routes, find_engine, layers_by_source,
};
use darkfiber_testkit::transitions::{TableMix, combined_dependencies};
use darkfiber_testkit::{connected_fabric, families};
use proptest::prelude::*;

const NAMES: [&str; 6] = ["minhop", "updn", "nue", "sssp", "dfsssp", "lash"];

/// Whether a source uses the same service level to all destinations.
fn depends_on_the_source_alone(fabric: &darkfiber_fabric::Fabric, routes: &Routes) -> bool {
    (0..fabric.terminal_count()).map(TerminalId::new).all(|s| {
        let to = |d: usize| routes.layer_on(fabric, s, routes.row(DestId::new(d), 0));
        (0..fabric.terminal_count()).all(|d| to(d) == to(0))
    })
}

proptest! {
    #[test]
    fn no_layer_deadlocks(fabric in connected_fabric(), engine in 0..NAMES.len(), lmc in 0u8..2) {
        let request = Request { lanes: 15, lmc, ..Request::default() };
        let routes = find_engine(NAMES[engine]).expect("an engine").route(&fabric, &request);
        let Ok(routes) = routes else { return Ok(()) };
        let mut by_source = routes.clone();
        if layers_by_source(&fabric, &mut by_source, 15).is_err() {
            prop_assert_eq!(routes.layers, by_source.layers);
            return Ok(());
        }
        prop_assert!(depends_on_the_source_alone(&fabric, &by_source));
        prop_assert!(check(&fabric, &by_source).deadlock_free());
        // The oracle traces pair by pair and has no notion of layers.
        let all = combined_dependencies(
            &fabric,
            [&by_source, &by_source],
            &[&by_source],
            &|_| [true, false],
            TableMix::Any,
        );
        prop_assert!(!all.is_cyclic());
        for row in 0..routes.row_count() {
            prop_assert_eq!(routes.ports(row), by_source.ports(row));
        }
    }
}

#[test]
fn trees_and_hyperx_need_one_and_rings_three_at_most() {
    for (spec, engine, layers) in [
        ("kary:k=4,n=3", "ftree", 1),
        ("torus:dims=8,t=1", "minhop", 3),
        ("hyperx:dims=4x4,t=2", "dfsssp", 1),
    ] {
        let on = families::topology(spec);
        let request = Request { shape: on.shape.as_ref(), ..Request::default() };
        let mut routes =
            find_engine(engine).expect("an engine").route(&on.fabric, &request).expect("routes");
        layers_by_source(&on.fabric, &mut routes, 15).expect("lanes");
        assert!(routes.layer_count() <= layers, "{spec}: {}", routes.layer_count());
        assert!(check(&on.fabric, &routes).deadlock_free(), "{spec}");
    }
}

#[test]
fn too_few_lanes_are_refused_with_their_number() {
    let on = families::topology("torus:dims=8x8,t=1");
    let route = find_engine("dfsssp").expect("an engine").route(&on.fabric, &Request::default());
    let mut routes = route.expect("routes");
    let before = routes.clone();
    let Err(NoLayersBySource::Lanes { needed, lanes: 1 }) =
        layers_by_source(&on.fabric, &mut routes, 1)
    else {
        panic!("rings close cycles in one lane")
    };
    assert_eq!(routes, before);
    assert!(layers_by_source(&on.fabric, &mut routes, needed as u8).is_ok());
    assert!(!matches!(routes.layers, Layers::One));
}

//! Fabrics of several planes: routed together, each as if it were alone, and judged within planes.

use darkfiber_fabric::{ChannelId, Faults, Planes, SwitchId, Topology, parse_spec};
use darkfiber_routing::check::check;
use darkfiber_routing::{ENGINES, NO_ROUTE, Refusal, Request, find_engine};

fn topology(spec: &str) -> Topology {
    parse_spec(spec).expect(spec)
}

#[test]
fn planes_together_are_the_planes_alone() {
    for spec in [
        "fattree2:n=3,m=3,r=6",
        "hyperx:dims=4x3,t=2",
        "torus:dims=3x3,t=1",
        "dragonfly:p=1,a=4,h=2",
    ] {
        let both = topology(&format!("{spec},planes=2"));
        let apart = Planes::of(&both.fabric).apart(&both.fabric, both.shape.as_ref());
        for engine in &ENGINES {
            let request = Request { shape: both.shape.as_ref(), ..Request::default() };
            let routed = engine.route(&both.fabric, &request);
            let alone: Vec<_> = apart
                .iter()
                .map(|(plane, _)| {
                    let request = Request { shape: plane.shape.as_ref(), ..Request::default() };
                    engine.route(&plane.fabric, &request)
                })
                .collect();
            let what = format!("{} on {spec}", engine.name());
            let Ok(routes) = routed else {
                assert!(matches!(routed, Err(Refusal::InPlane { plane: 1, .. })), "{what}");
                assert!(alone[0].is_err(), "{what}");
                continue;
            };
            let report = check(&both.fabric, &routes);
            let mut pairs = 0;
            let mut hops = Vec::new();
            for ((plane, map), alone) in apart.iter().zip(&alone) {
                let alone = alone.as_ref().expect("routed together");
                let own = routes.of_plane(&plane.fabric, map);
                let (a, b) = (check(&plane.fabric, &own), check(&plane.fabric, alone));
                assert_eq!(
                    (a.complete(), a.deadlock_free()),
                    (b.complete(), b.deadlock_free()),
                    "{what}"
                );
                assert_eq!(a, b, "{what}");
                pairs += b.pairs;
                hops.resize(b.hops.len().max(hops.len()), 0);
                hops.iter_mut().zip(&b.hops).for_each(|(sum, x)| *sum += x);
            }
            assert!(report.complete(), "{what}");
            assert_eq!((report.planes, report.pairs, &report.hops), (2, pairs, &hops), "{what}");
        }
    }
}

#[test]
fn what_is_lost_within_a_plane_is_found() {
    let both = topology("fattree2:n=3,m=3,r=6,planes=2");
    let request = Request { shape: both.shape.as_ref(), ..Request::default() };
    let mut routes =
        find_engine("minhop").expect("known").route(&both.fabric, &request).expect("routed");
    // Brute force: the pairs within one plane, by the number of its terminals.
    let n = both.fabric.terminal_count() as u64 / 2;
    assert_eq!(check(&both.fabric, &routes).pairs, 2 * n * (n - 1));
    // The first leaf of the second plane has no entry for the last terminal of that plane.
    let leaf = both.fabric.switch_count() / 2;
    let senders = both.fabric.terminals_on(SwitchId::new(leaf)).len() as u64;
    routes.ports_mut(both.fabric.terminal_count() - 1)[leaf] = NO_ROUTE;
    let report = check(&both.fabric, &routes);
    assert_eq!(report.unreachable, senders);
    // A disconnected plane is refused as such.
    let cut = Faults {
        links: both.fabric.channels_from(SwitchId::new(leaf)).map(ChannelId::new).collect(),
        ..Faults::default()
    };
    let (broken, _) = both.with_faults(&cut);
    let refused = find_engine("minhop").expect("known").route(&broken.fabric, &Request::default());
    let Err(Refusal::InPlane { plane: 2, refusal }) = refused else { panic!("{refused:?}") };
    assert!(matches!(*refusal, Refusal::Disconnected { components: 2, .. }), "{refusal}");
}

#[test]
fn planes_have_engines_of_their_own() {
    let both = darkfiber_fabric::open("@t2hx").expect("a preset");
    let request = Request { shape: both.shape.as_ref(), ..Request::default() };
    let routes =
        find_engine("ftree/dfsssp").expect("known").route(&both.fabric, &request).expect("routed");
    assert_eq!(routes.engine, "ftree/dfsssp");
    let report = check(&both.fabric, &routes);
    assert!(report.complete() && report.deadlock_free());
    assert_eq!((report.planes, report.pairs), (2, 2 * 672 * 671));
    let one = darkfiber_fabric::open("@t2hx-hyperx").expect("a preset");
    let refused =
        find_engine("ftree/dfsssp").expect("known").route(&one.fabric, &Request::default());
    assert_eq!(
        refused.expect_err("one plane").to_string(),
        "ftree/dfsssp: 2 engines, one for each plane, and the fabric has 1"
    );
    assert!(find_engine("ftree/nothing").is_err());
}

//! Trees of director switches that lost spine boards: some spines have cables to leaves only.

use std::fmt::Write as _;

use darkfiber_fabric::Fabric;
use darkfiber_routing::check::{Report, check};
use darkfiber_routing::{Request, find_engine};
use darkfiber_testkit::fabric;

const LEAVES: usize = 48;
const HOSTS: usize = 6;
/// Number of leaves that share the spines without up links.
const DIRECTOR: usize = 12;
const SPINES: usize = 6;
/// Number of leaves that share the spines with up links, of which there is one per plane.
const GROUP: usize = 8;
const PLANES: usize = 4;
const TOPS: usize = 4;

fn directors() -> Fabric {
    let mut text = String::new();
    let groups = LEAVES / GROUP;
    for leaf in 0..LEAVES {
        let (director, group) = (leaf / DIRECTOR, leaf % groups);
        let _ = write!(text, "h{leaf}_@leaf{leaf} x{HOSTS};");
        for spine in 0..SPINES {
            let _ = write!(text, "leaf{leaf}-low{director}_{spine};");
        }
        for plane in 0..PLANES {
            let _ = write!(text, "leaf{leaf}-high{group}_{plane};");
        }
    }
    for group in 0..groups {
        for plane in 0..PLANES {
            for top in 0..TOPS {
                let _ = write!(text, "high{group}_{plane}-top{plane}_{top} x2;");
            }
        }
    }
    fabric(&text)
}

fn routed(fabric: &Fabric, engine: &str) -> Report {
    let engine = find_engine(engine).expect("registered");
    check(fabric, &engine.route(fabric, &Request::default()).expect("a connected tree"))
}

#[test]
fn paths_up_and_down_are_as_even_as_they_can_be() {
    let fabric = directors();
    let shortest = routed(&fabric, "minhop").hops().mean;
    // Traffic from a leaf to leaves outside of its own director climbs to a top or to a spine that its group shares,
    // over the cables to those.
    let away = LEAVES - DIRECTOR;
    let bound = (HOSTS * HOSTS * away).div_ceil(PLANES) as u64;
    for engine in ["updn", "ftree"] {
        let report = routed(&fabric, engine);
        assert!(report.deadlock_free(), "{engine}");
        assert!((report.hops().mean - shortest).abs() < 1e-9, "{engine}: {}", report.hops().mean);
        let most = report.load.iter().copied().max().expect("channels");
        assert!((bound..=bound + bound / 16).contains(&most), "{engine}: {most}, at least {bound}");
    }
}

#[test]
fn lash_is_not_far_from_the_best() {
    let fabric = directors();
    let most = |engine| routed(&fabric, engine).load.into_iter().max().expect("channels");
    let best = ["updn", "ftree", "dfsssp", "nue"].into_iter().map(most).min().expect("four");
    assert!(most("lash") * 10 <= best * 13, "{} beside {best}", most("lash"));
}

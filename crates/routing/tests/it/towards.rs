//! Tables that approach others: the verdict of the checker of transitions, which shares no code with them, on each
//! approach.

use darkfiber_routing::check::check;
use darkfiber_routing::reroute::{Goal, Prepared, RerouteError};
use darkfiber_routing::transition::{self, Before, Rung};
use darkfiber_testkit::families;
use darkfiber_testkit::pairs::{Dice, ENGINES, routed};

const FABRICS: &[&str] = &[
    "torus:dims=4x4,t=1",
    "torus:dims=5,t=1",
    "hyperx:dims=3x3,t=2",
    "dragonfly:p=1,a=3,h=1",
    "jellyfish:n=9,d=4,p=1",
    "kary:k=3,n=2",
    "mesh:dims=3x3,t=1",
    "fattree2:n=3,m=2,r=4",
];

#[test]
fn the_way_is_safe_in_any_order() {
    let mut dice = Dice(5);
    let (mut pairs, mut whole, mut part, mut needed) = (0, 0, 0, 0);
    while pairs < 400 {
        let fabric = families::topology(FABRICS[dice.below(FABRICS.len())]).fabric;
        let lmc = dice.below(2) as u8;
        let mut any = || routed(&fabric, ENGINES[dice.below(ENGINES.len())], lmc);
        let (Some(old), Some(target)) = (any(), any()) else { continue };
        if !check(&fabric, &old).deadlock_free() {
            continue;
        }
        pairs += 1;
        let prepared = Prepared::new(&fabric, &old, 1).expect("its own tables");
        let (near, taken) = prepared.towards(&target).expect("one fabric");
        let load = check(&fabric, near.routes()).load;
        let mut eased = near.clone();
        let relief = eased.relieve(&Goal::default());
        // The loads of `relieve` include all LIDs of a port.
        if lmc == 0 {
            let most = load.iter().copied().max().unwrap_or(0) as f64;
            assert_eq!(relief.before.to_bits(), most.to_bits(), "loads are known");
        }
        // Tables that are eased after that stay compatible with all mixes, too.
        let eased = eased.into_routes();
        let new = near.into_routes();
        let report = check(&fabric, &eased);
        assert!(report.complete() && report.deadlock_free());
        let report = check(&fabric, &new);
        assert!(report.complete() && report.deadlock_free());
        let states = [Before { routes: &old, has_levels: true }];
        let verdict =
            |to| transition::check(&fabric, &states, to, None).expect("one fabric").verdict;
        assert!(verdict(&new) <= Rung::AnyOrder, "{taken:?}");
        // The taken entries are the differences from the old tables, the others those from the target.
        let differ = |a: &darkfiber_routing::Routes, b: &darkfiber_routing::Routes| {
            let of = |row| a.ports(row).iter().zip(b.ports(row)).filter(|(x, y)| x != y).count();
            (0..a.row_count()).map(of).sum::<usize>()
        };
        assert_eq!(differ(&old, &new), taken.taken);
        assert_eq!(differ(&new, &target), taken.entries - taken.taken);
        assert!(taken.whole + taken.in_part <= taken.rows);
        if verdict(&target) > Rung::AnyOrder {
            needed += 1;
        }
        whole += usize::from(taken.whole == taken.rows);
        part += usize::from(taken.taken < taken.entries);
    }
    assert!(whole > 50 && part > 50 && needed > 50, "{whole} {part} {needed}");
}

#[test]
fn other_lids_are_refused() {
    let fabric = families::topology("torus:dims=4,t=1").fabric;
    let [one, two] = [0, 1].map(|lmc| routed(&fabric, "updn", lmc).expect("routes"));
    let prepared = Prepared::new(&fabric, &one, 1).expect("its own tables");
    assert!(matches!(prepared.towards(&two), Err(RerouteError::OtherFabric { .. })));
}

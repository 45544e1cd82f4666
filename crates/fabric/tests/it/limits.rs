//! Fabrics that cannot be are refused, with the number that is too large, and at once.

use darkfiber_fabric::{MAX_NODES, MAX_PORTS, SpecError, parse_spec};

fn too_large(text: &str) -> (&'static str, u64, u64) {
    match parse_spec(text) {
        Err(SpecError::TooLarge { what, count, limit, .. }) => (what, count, limit),
        other => panic!("{text}: {:?}", other.map(|t| t.fabric.switch_count())),
    }
}

fn refused(text: &str) -> String {
    parse_spec(text).expect_err(text).to_string()
}

#[test]
fn ports_of_a_switch() {
    assert_eq!(too_large("fattree2:n=200,m=55,r=9"), ("ports a switch", 255, MAX_PORTS));
    assert_eq!(too_large("hyperx:dims=65535x65535").0, "ports a switch");
    assert_eq!(too_large("torus:dims=4x4,t=254").0, "ports a switch");
    assert_eq!(too_large("dragonfly:p=200,a=40,h=20").0, "ports a switch");
    assert_eq!(too_large("cascade:groups=2,black=60").0, "ports a switch");
    assert_eq!(too_large("dragonflyplus:p=1,leaves=128,spines=2,h=127").1, 255);
    assert_eq!(too_large("pgft:m=4x4,w=4x1,p=4x1"), ("ports a host", 16, 15));
    assert!(parse_spec("hyperx:dims=200,t=55").is_ok(), "254 ports are fine");
}

#[test]
fn switches_terminals_cables() {
    assert_eq!(too_large("torus:dims=257x65535,t=0"), ("switches", 257 * 65_535, MAX_NODES));
    assert_eq!(too_large("torus:dims=65535x65535x65535x65535x65535").0, "switches");
    assert_eq!(too_large("torus:dims=4096x4096,t=2"), ("terminals", 2 * MAX_NODES, MAX_NODES));
    assert_eq!(too_large("kary:k=100,n=15").1, u64::MAX);
    assert_eq!(too_large("dragonfly:p=1,a=127,h=127,g=16130").0, "cables");
    assert_eq!(too_large("cascade:groups=65535,blue=0,rows=17").0, "switches");
}

#[test]
fn values_that_do_not_fit_together() {
    for (text, expected) in [
        ("pgft:m=4x4,w=1", "pgft: w=1: expected 2 numbers, as many as m has"),
        ("pgft:m=4x4,w=1x4,p=1x1x1", "pgft: p=1x1x1: expected one number, or 2 joined by x"),
        ("clos3:k=36,pods=8", "clos3: pods=8: expected an even divisor of k: 2, 4, 6, 12, 18, 36"),
        ("clos3:k=5", "clos3: k=5: expected an even number"),
        (
            "hyperx:dims=12xa",
            "hyperx: dims=12xa: expected a whole number from 1 to 65535 each, joined by x",
        ),
        ("hyperx:dims=4,radix=3", "hyperx: radix=3: expected a whole number from 4 to 254"),
        ("hyperx:dims=4,hosts=5", "hyperx: hosts=5: expected a whole number from 0 to 4"),
        (
            "hyperx:dims=4,link=4xFOO",
            "hyperx: link=4xFOO: expected an InfiniBand width and speed, e.g. 4xHDR",
        ),
        ("hyperx:dims=4,gbps=-1", "hyperx: gbps=-1: expected a data rate in Gbit/s, e.g. 200"),
        ("hyperx:dims=4,gbps=nan", "hyperx: gbps=nan: expected a data rate in Gbit/s, e.g. 200"),
        ("hyperx:dims=4,link=4xHDR,gbps=1", "hyperx: gbps=1: expected no gbps beside link"),
        ("dragonfly:p=1,a=4,h=2,g=10", "dragonfly: g=10: expected a whole number from 1 to 9"),
        ("dragonfly:p=1,a=4,h=2,nics=3", "dragonfly: nics=3: expected a divisor of a=4"),
        (
            "dragonfly:p=1,a=4,h=2,g=5,per_pair=3",
            "dragonfly: per_pair=3: expected at most 2, as 4 switches with 2 global ports have no \
             more for 4 other groups",
        ),
        (
            "dragonflyplus:p=1,leaves=9,spines=4,h=2,g=5,per_pair=3",
            "dragonflyplus: per_pair=3: expected at most 2, as 4 spines with 2 global ports have no \
             more for 4 other groups",
        ),
        ("fullmesh:n=256", "fullmesh: n=256: expected a whole number from 1 to 255"),
        (
            "cascade:groups=242,blue=4",
            "cascade: blue=4: expected at most 0, as routers with 10 blue ports have no more for \
             241 other groups",
        ),
        (
            "cascade:groups=2,blue=6",
            "cascade: blue=6: expected a multiple of 4, the cables of a bundle",
        ),
        (
            "cascade:groups=2,cols=3",
            "cascade: cols=3: expected an even number, as bundles join pairs of routers",
        ),
    ] {
        assert_eq!(refused(text), expected);
    }
    assert!(refused("dragonfly:p=1,a=4,per_pair=3").starts_with("dragonfly needs \"g\""));
    assert!(refused("dragonfly:p=1,a=4").starts_with("dragonfly needs \"h\""));
}

//! Traffic from counters: determined parts are found, undetermined ones are reported.

use darkfiber_analysis::estimate::Pairs;
use darkfiber_analysis::heat::{Flow, Heat};
use darkfiber_fabric::{TerminalId, Topology, open};
use darkfiber_routing::{Request, Routes, find_engine};
use proptest::prelude::*;
use rayon::ThreadPoolBuilder;

fn routed(spec: &str, engine: &str) -> (Topology, Routes) {
    let topology = open(spec).expect("a spec");
    let request = Request { shape: topology.shape.as_ref(), ..Request::default() };
    let engine = find_engine(engine).expect("registered");
    let routes = engine.route(&topology.fabric, &request).expect("connected");
    (topology, routes)
}

fn flow(job: u32, from: u32, to: u32, bytes: u64) -> Flow {
    Flow { job, from: TerminalId(from), to: TerminalId(to), bytes }
}

fn ids(all: std::ops::Range<u32>) -> Vec<TerminalId> {
    all.map(TerminalId).collect()
}

/// Bytes of every channel for some flows.
fn counted(t: &Topology, r: &Routes, flows: &[Flow], jobs: usize) -> Vec<Option<u64>> {
    Heat::of(&t.fabric, r, flows, jobs).load.into_iter().map(Some).collect()
}

#[test]
fn what_counters_determine_is_found() {
    let (t, r) = routed("pgft:m=4x4,w=1x4,p=1x1", "ftree");
    // Jobs of two hosts are fully determined.
    let jobs: Vec<Vec<TerminalId>> =
        (0..8).map(|i| vec![TerminalId(i), TerminalId(15 - i)]).collect();
    let flows: Vec<Flow> = (0..8).map(|i| flow(i, i, 15 - i, 1000 * u64::from(i + 1))).collect();
    let found = Pairs::new(&t.fabric, &r, &jobs).estimate(&counted(&t, &r, &flows, 8));
    assert_eq!(found.flows, flows);
    assert!(found.residual < 1e-9 && found.undetermined < 1e-9, "{found:?}");
}

#[test]
fn what_counters_leave_open_is_reported() {
    // Each terminal sends to one other: the counters are met, but do not determine the receiver.
    let (t, r) = routed("pgft:m=4x4,w=1x4,p=1x1", "ftree");
    let flows: Vec<Flow> =
        (0..16).map(|i| flow(0, i, (i + 5) % 16, 1_000_000 * (u64::from(i) + 1))).collect();
    let pairs = Pairs::new(&t.fabric, &r, &[ids(0..16)]);
    assert_eq!((pairs.len(), pairs.lost), (16 * 15, 0));
    let found = pairs.estimate(&counted(&t, &r, &flows, 1));
    assert!(found.residual < 0.01, "{}", found.residual);
    assert!(found.undetermined > 0.3, "{}", found.undetermined);
    assert!(found.held_out.is_some());

    // Only cables between switches are counted: who on a leaf sends is open.
    let (t, r) = routed("pgft:m=4x2,w=1x1,p=1x1", "updn");
    let flows = [flow(0, 0, 4, 8_000_000)];
    let mut carried = counted(&t, &r, &flows, 1);
    for c in &mut carried[t.fabric.channel_count()..] {
        *c = None;
    }
    let found = Pairs::new(&t.fabric, &r, &[ids(0..8)]).estimate(&carried);
    assert!(found.residual < 0.01, "{found:?}");
    // All sixteen pairs from leaf to leaf get the same.
    assert_eq!(found.flows.len(), 16, "{found:?}");
    assert!(found.flows.iter().all(|f| f.bytes == 500_000), "{found:?}");
    // Nothing counted, nothing known; nothing carried, nothing sent.
    let nothing = vec![None; carried.len()];
    let found = Pairs::new(&t.fabric, &r, &[ids(0..8)]).estimate(&nothing);
    assert_eq!((found.known, found.residual, found.held_out), (0, 0.0, None));
    let idle = vec![Some(0); carried.len()];
    let found = Pairs::new(&t.fabric, &r, &[ids(0..8)]).estimate(&idle);
    assert!(found.flows.is_empty() && found.residual == 0.0, "{found:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Counters of real traffic are met, channels that carried nothing carry nothing, and threads do not matter.
    #[test]
    fn counters_are_met(sent in prop::collection::vec((0u32..16, 0u32..16, 1u64..1 << 30), 1..60)) {
        let (t, r) = routed("pgft:m=4x4,w=1x4,p=1x1", "ftree");
        let flows: Vec<Flow> =
            sent.iter().filter(|s| s.0 != s.1).map(|&(a, b, x)| flow(0, a, b, x)).collect();
        let carried = counted(&t, &r, &flows, 1);
        let estimate = |threads| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| Pairs::new(&t.fabric, &r, &[ids(0..16)]).estimate(&carried))
        };
        let found = estimate(1);
        prop_assert!(found == estimate(2));
        prop_assert!(found.residual < 0.05, "{}", found.residual);
        prop_assert!((0.0..=1.0).contains(&found.undetermined));
        let again = counted(&t, &r, &found.flows, 1);
        for (a, b) in again.iter().zip(&carried) {
            prop_assert!(*b != Some(0) || *a == Some(0));
        }
    }
}

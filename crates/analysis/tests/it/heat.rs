//! Demands of jobs for channels, and their slowdowns.

use darkfiber_analysis::heat::{Flow, Heat};
use darkfiber_fabric::{TerminalId, open};
use darkfiber_routing::{Request, find_engine};

/// Two leaves of four hosts under one spine: all traffic between leaves meets on two channels in each direction.
fn fates(sent: &[(u32, u32, u32, u64)], jobs: usize) -> Vec<(f64, Vec<u32>)> {
    let t = open("pgft:m=4x2,w=1x1,p=1x1").expect("a spec");
    let request = Request { shape: t.shape.as_ref(), ..Request::default() };
    let routes = find_engine("updn").expect("known").route(&t.fabric, &request).expect("connected");
    let flows: Vec<Flow> = sent
        .iter()
        .map(|&(job, from, to, bytes)| Flow {
            job,
            from: TerminalId(from),
            to: TerminalId(to),
            bytes,
        })
        .collect();
    let heat = Heat::of(&t.fabric, &routes, &flows, jobs);
    (0..jobs)
        .map(|j| {
            let fate = heat.fate(j);
            (fate.slowdown(), fate.by.iter().map(|&(j, _)| j).collect())
        })
        .collect()
}

#[test]
fn jobs_that_send_for_long_count_as_those_that_send_for_short() {
    for bytes in [1, 1_000, 1_000_000_000_000] {
        let fates = fates(&[(0, 0, 4, 1_000), (1, 1, 5, bytes)], 2);
        assert_eq!(fates, [(2.0, vec![1]), (2.0, vec![0])], "{bytes}");
    }
    // In isolation, and on leaves that no other job uses.
    assert_eq!(fates(&[(0, 0, 4, 7)], 1), [(1.0, vec![])]);
    assert_eq!(fates(&[(0, 0, 1, 7), (1, 4, 5, 9)], 2), [(1.0, vec![]), (1.0, vec![])]);
}

#[test]
fn a_job_takes_of_a_channel_what_its_slowest_one_lets_it() {
    // Job 0 is limited where cn 0 sends both halves, and demands a quarter of leaf 0's up channel; job 1 demands all of
    // it.
    let fates = fates(&[(0, 0, 4, 1_000), (0, 0, 1, 3_000), (1, 2, 6, 50)], 2);
    assert_eq!(fates, [(1.25, vec![1]), (1.25, vec![0])]);
}

#[test]
fn a_job_that_sends_nothing_waits_for_nobody() {
    assert_eq!(fates(&[(0, 0, 4, 0), (1, 1, 5, 8)], 2), [(1.0, vec![]), (1.0, vec![])]);
}

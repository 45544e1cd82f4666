//! Schedules, traces and matrices: real files have the counts that their data sheet states, and spoilt ones never
//! panic.

use std::path::Path;

use darkfiber_formats::Diagnostics;
use darkfiber_formats::input;
use darkfiber_traces::schedules::{self, Options, Read, goal, goal_binary};
use darkfiber_workload::CommMatrix;
use darkfiber_workload::schedule::{Schedule, Script};
use darkfiber_workload::trace::{Call, CollectiveCall, MpiTrace};

use darkfiber_testkit::{lines, shared};

fn bytes(name: &str) -> Option<Vec<u8>> {
    let path = shared(&format!("data/comm/{name}"))?;
    Some(input::read(&path).unwrap_or_else(|e| panic!("{e}")))
}

/// A schedule that is shipped with the project.
fn shipped(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/schedules").join(name);
    input::read(&path).unwrap_or_else(|e| panic!("{e}"))
}

/// Ranks, operations, messages, bytes.
fn size(s: &Schedule) -> (u32, usize, usize, u128) {
    (s.ranks(), s.len(), s.messages(), s.bytes())
}

#[test]
fn goal_files() {
    let path = Path::new("x");
    let (s, d) =
        goal::read(&shipped("binary_tree_32.goal"), path).unwrap_or_else(|e| panic!("{e}"));
    assert!(d.is_empty());
    assert_eq!(size(&s), (32, 62, 31, 31));
    let binary = shipped("perm64.bin");
    let (a, _) = goal::read(&shipped("perm64.goal"), path).unwrap_or_else(|e| panic!("{e}"));
    let (b, _) = goal_binary::read(&binary, path).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(size(&a), (64, 128, 64, 32_000_000));
    assert_eq!(a, b);
    let mut out = Vec::new();
    assert_eq!(goal_binary::write(&mut out, &a).expect("memory"), 0);
    assert!(out == binary, "it is written as it was");
    if let Some(binary) = bytes("goal-diss16.bin") {
        let (s, _) = goal_binary::read(&binary, path).unwrap_or_else(|e| panic!("{e}"));
        // Four rounds of all ranks, and the marker at the end of rank 0.
        assert_eq!(size(&s), (16, 129, 64, 6_400_000));
        let mut out = Vec::new();
        assert_eq!(goal::write(&mut out, &s).expect("memory"), 0);
        assert_eq!(goal::read(&out, path).expect("what was written").0, s);
    }
}

/// The content of a file of the shared data.
fn opened(name: &str) -> Option<(Read, Diagnostics)> {
    let path = shared(&format!("data/comm/{name}"))?;
    Some(schedules::open(&[path], &Options::default()).unwrap_or_else(|e| panic!("{e}")))
}

fn trace(name: &str) -> Option<(MpiTrace, Diagnostics)> {
    match opened(name)? {
        (Read::Trace(trace), d) => Some((trace, d)),
        (other, _) => panic!("{name}: {other:?}"),
    }
}

fn matrix(name: &str) -> Option<(CommMatrix, Diagnostics)> {
    match opened(name)? {
        (Read::Matrix(matrix), d) => Some((matrix, d)),
        (other, _) => panic!("{name}: {other:?}"),
    }
}

/// A collective as a message from each member to the next.
fn ring(script: &mut Script, call: &CollectiveCall<'_>) {
    for (i, &rank) in call.ranks.iter().enumerate() {
        script.message(rank, call.ranks[(i + 1) % call.ranks.len()], 1, call.tag);
    }
}

/// Calls that satisfy a condition.
fn calls(trace: &MpiTrace, rank: usize, wanted: impl Fn(&Call) -> bool) -> usize {
    trace.ranks[rank].iter().flatten().filter(|&c| wanted(c)).count()
}

#[test]
fn single_ranks_of_dumpi() {
    if let Some((t, d)) = trace("dumpi-BigFFT.bin.gz") {
        insta::assert_snapshot!(lines(&d.0), @"warning: the calls of 8 of 9 ranks are missing, such as those of rank 1 (what is there is read, but does not make a schedule; give the files of all ranks)");
        assert_eq!((t.counts["Alltoallv"], t.counts["Comm_create"]), (4, 6));
        assert_eq!(calls(&t, 0, |c| matches!(c, Call::Collective(c) if c.sizes.len() == 3)), 4);
        // The world, the rank alone, its column and its row.
        let made: [&[u32]; 4] = [&[0, 1, 2, 3, 4, 5, 6, 7, 8], &[0], &[0, 3, 6], &[0, 1, 2]];
        assert_eq!(t.communicators, made);
    }
    if let Some((t, d)) = trace("dumpi-CrystalRouter.bin.gz") {
        assert!(lines(&d.0).starts_with("note: the file does not say its rank"));
        for name in ["Isend", "Irecv", "Waitall"] {
            assert_eq!(t.counts[name], 16_000);
        }
        assert_eq!(calls(&t, 0, |c| matches!(c, Call::Isend(..))), 16_000);
        assert_eq!(calls(&t, 0, |c| matches!(c, Call::Irecv(..))), 16_000);
        assert_eq!(calls(&t, 0, |c| matches!(c, Call::Wait(all) if all.len() == 2)), 16_000);
        // In a communicator that was made before the recording began.
        assert_eq!(t.communicators, [vec![0], vec![0], vec![]]);
        assert_eq!(t.peers(0).iter().map(|p| p.0).collect::<Vec<u32>>(), [2; 4]);
    }
    if let Some((t, _)) = trace("dumpi-MultiGrid.bin.gz") {
        assert_eq!(t.ranks.len(), 125);
        assert_eq!((t.counts["Waitsome"], t.counts["Allreduce"]), (129, 12));
        assert_eq!(calls(&t, 0, |c| matches!(c, Call::Send(..))), 1144);
        assert_eq!(calls(&t, 0, |c| matches!(c, Call::Irecv(..))), 1144);
        let waited = |c: &Call| if let Call::Wait(all) = c { all.len() } else { 0 };
        assert_eq!(t.ranks[0].iter().flatten().map(waited).sum::<usize>(), 1144);
        assert_eq!(t.peers(0).len(), 22);
    }
}

#[test]
fn a_whole_run_of_dumpi() {
    let Some((t, d)) = trace("dumpi-naive_all_to_all-4ranks-run_0.tar.gz") else { return };
    assert_eq!(lines(&d.0), "");
    for rank in 0..4 {
        assert_eq!(calls(&t, rank, |c| matches!(c, Call::Isend(..))), 12);
        assert_eq!(calls(&t, rank, |c| matches!(c, Call::Irecv(..))), 12);
    }
    assert_eq!((t.counts["Waitall"], t.counts["Barrier"]), (32, 16));
    let s = t.schedule(&mut ring).unwrap_or_else(|e| panic!("{e}"));
    // 48 messages of four bytes, and a ring for each of four barriers.
    assert_eq!((s.ranks(), s.messages(), s.bytes()), (4, 64, 192 + 16));
}

#[test]
fn traces_of_simgrid() {
    let Some((t, d)) = trace("simgrid-ti-traces-32.tar.gz") else { return };
    let notes = lines(&d.0);
    assert_eq!(t.ranks.len(), 32);
    assert!(
        notes.contains("numbers of operations, not times") && notes.lines().count() == 1,
        "{notes}"
    );
    for (name, count) in [
        ("allreduce", 192),
        ("alltoall", 160),
        ("alltoallv", 64),
        ("barrier", 512),
        ("bcast", 288),
        ("gather", 32),
    ] {
        assert_eq!(t.counts[name], count, "{name}");
    }
    assert_eq!((t.counts["compute"], t.counts["init"], t.counts["finalize"]), (1440, 32, 32));
    let s = t.schedule(&mut ring).unwrap_or_else(|e| panic!("{e}"));
    // Collectives only, a ring of 32 for each.
    assert_eq!((s.ranks(), s.messages()), (32, 1248));
}

#[test]
fn a_ring_of_chakra() {
    let Some((read, d)) = opened("chakra-et-ring-allreduce-8npus.tar.gz") else { return };
    let Read::Graph(graph) = read else { panic!("{read:?}") };
    let s = graph.schedule(&mut |_, _| {}).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(d.0.len(), 1, "the XML is passed over: {}", lines(&d.0));
    // Seven steps twice, of an eighth of a megabyte by each; 35 nodes an NPU.
    assert_eq!(size(&s), (8, 280, 112, 112 << 17));
}

#[test]
fn matrices() {
    for (name, pairs, highest, total) in [
        ("amg2013-1000", 225_518, 999, 2.4e11),
        ("amg2013-64", 1_899, 63, 1e10),
        ("cloverleaf-1152", 3_385, 1151, 4.84e11),
        ("cloverleaf-64", 173, 63, 1e11),
        ("lulesh-1000", 11_468, 999, 7.15e12),
        ("lulesh-64", 524, 63, 1.36e11),
        ("minife-1024", 11_636, 1023, 1.43e11),
        ("minife-64", 524, 63, 1.11e10),
        ("npb-cg-1024", 4_074, 1023, 4.53e11),
        ("npb-cg-64", 184, 63, 7.35e10),
        ("npb-lu-1024", 3_005, 1023, 9.8e10),
        ("npb-lu-64", 173, 63, 2.21e10),
        ("npb-mg-1024", 5_893, 1023, 1.25e10),
        ("npb-mg-64", 261, 63, 4.53e9),
    ] {
        let Some((m, _)) = matrix(&format!("commgraph-{name}.txt.gz")) else { continue };
        let directed = m.entries().iter().filter(|e| e.0 <= e.1);
        assert_eq!((directed.count(), m.ranks()), (pairs, highest + 1), "{name}");
        // The data sheet has three digits.
        assert!((m.total() as f64 / total - 1.0).abs() < 0.005, "{name}: {}", m.total());
        // As much goes each way.
        assert_eq!(m.symmetric(), m, "{name}");
    }
    if let Some((m, d)) = matrix("supersim-halo_exchange_64.csv") {
        assert_eq!(lines(&d.0), "");
        assert_eq!((m.ranks(), m.entries().len(), m.total()), (64, 936, 31_392));
    }
}

#[test]
fn reports_of_mpip_say_who_sends_what_their_graphs_sum() {
    for (name, sites, sent_rows) in
        [("amg2013", 71, 2495), ("lulesh", 101, 1064), ("npb-cg", 33, 768)]
    {
        let Some((read, _)) = opened(&format!("mpiP-{name}-64.mpiP.gz")) else { continue };
        let Read::Report(report) = read else { panic!("{read:?}") };
        assert_eq!((report.nodes.len(), report.times.len(), report.sites.len()), (64, 64, sites));
        assert_eq!(report.sent.len(), sent_rows, "{name}");
        let sent = report.matrix.expect("a matrix");
        let Some((graph, _)) = matrix(&format!("commgraph-{name}-64.txt.gz")) else { continue };
        assert_eq!(sent.symmetric(), graph, "{name}");
    }
}

/// Three lines of three numbers may be a table of three ranks: that they are taken as pairs is said.
#[test]
fn three_lines_of_three_numbers_are_pairs() {
    let read = |text: &str| schedules::matrix::read(text, Path::new("t.csv")).expect("numbers");
    let (pairs, notes) = read("0,1,2\n1,0,50\n2,1,0\n");
    assert_eq!(pairs.total(), 52);
    assert!(lines(&notes.0).contains("taken as pairs"), "{}", lines(&notes.0));
    for text in ["0,1,2\n1,0,50\n", "0 1 2 3\n1 0 1 1\n1 1 0 1\n1 1 1 0\n"] {
        assert_eq!(lines(&read(text).1.0), "", "{text}");
    }
}

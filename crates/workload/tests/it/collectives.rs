//! Collectives against an oracle that tracks the data of ranks through the schedule, and against closed forms.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use darkfiber_fabric::TerminalId;
use darkfiber_workload::CommMatrix;
use darkfiber_workload::collective::{
    Algorithm, COLLECTIVES, Call, Collective, LIBRARIES, Library,
};
use darkfiber_workload::play::{Host, Job, LogGp, Player, Record, Repeat, host, run};
use darkfiber_workload::schedule::{Block, Op, Program, Schedule, ScheduleError, Script};
use proptest::prelude::*;

fn every() -> impl Iterator<Item = (Collective, &'static Algorithm)> {
    COLLECTIVES.iter().flat_map(|&c| c.algorithms().iter().map(move |a| (c, a)))
}

fn written(algorithm: &Algorithm, ranks: u32, call: &Call<'_>) -> Schedule {
    let mut script = Script::new(ranks);
    algorithm.write(&mut script, call);
    script.finish().unwrap_or_else(|e| panic!("{}: {e}", algorithm.name))
}

fn simple(algorithm: &Algorithm, n: u32, bytes: u64) -> Schedule {
    let all: Vec<u32> = (0..n).collect();
    written(algorithm, n, &Call { segment: 1_000, ..Call::new(&all, bytes) })
}

/// Results of following the dependencies of the operations.
struct Followed {
    /// By rank, the ranks whose data can have reached it: the maximum for any contents of the messages.
    known: Vec<u128>,
    /// Messages that must come one after the other.
    rounds: u32,
}

fn follow(schedule: &Schedule) -> Followed {
    let count = schedule.len();
    let mut left: Vec<u32> = (0..count as u32).map(|i| schedule.needs(i)).collect();
    let mut know: Vec<u128> = (0..count as u32).map(|i| 1 << schedule.rank(i)).collect();
    let mut depth = vec![0u32; count];
    // A receive also waits for its send.
    let is_recv = |i: u32| matches!(schedule.op(i), Op::Recv { .. });
    for i in (0..count as u32).filter(|&i| is_recv(i)) {
        left[i as usize] += 1;
    }
    let mut ready: Vec<u32> = (0..count as u32).filter(|&i| left[i as usize] == 0).collect();
    let mut done = 0;
    while let Some(i) = ready.pop() {
        done += 1;
        let mut next: Vec<(u32, u32)> = schedule.dependents(i).map(|(a, _)| (a, 0)).collect();
        if matches!(schedule.op(i), Op::Send { .. }) {
            next.push((schedule.partner(i), 1));
        }
        for (a, more) in next {
            know[a as usize] |= know[i as usize];
            depth[a as usize] = depth[a as usize].max(depth[i as usize] + more);
            left[a as usize] -= 1;
            if left[a as usize] == 0 {
                ready.push(a);
            }
        }
    }
    assert_eq!(done, count, "everything can be done");
    let known = (0..schedule.ranks())
        .map(|r| schedule.of(r).fold(1 << r, |k, i| k | know[i as usize]))
        .collect();
    Followed { known, rounds: depth.into_iter().max().unwrap_or(0) }
}

#[test]
fn everybody_hears_of_whom_it_must() {
    for n in 1..=33u32 {
        let all = (1u128 << n) - 1;
        for (collective, algorithm) in every() {
            for root in [0, n / 2, n - 1] {
                let comm: Vec<u32> = (0..n).collect();
                let call = Call { root, segment: 700, ..Call::new(&comm, 3_001) };
                let known = follow(&written(algorithm, n, &call)).known;
                let what = format!("{} {} n={n} root={root}", collective.name(), algorithm.name);
                for (r, &known) in known.iter().enumerate() {
                    let must = match collective {
                        Collective::Bcast | Collective::Scatter => 1 << root,
                        Collective::Gather | Collective::Reduce if r as u32 == root => all,
                        Collective::Gather | Collective::Reduce => 0,
                        Collective::Scan => all >> (n - 1 - r as u32),
                        _ => all,
                    };
                    assert_eq!(known & must, must, "{what}: rank {r} knows {known:b}");
                }
                if !collective.rooted() {
                    break;
                }
            }
        }
    }
}

/// Messages, bytes and rounds.
fn counted(collective: Collective, name: &str, n: u32, bytes: u64) -> (u64, u64, u32) {
    let algorithm = collective.algorithm(name).expect("known");
    let schedule = simple(algorithm, n, bytes);
    let rounds = follow(&schedule).rounds;
    (schedule.messages() as u64, u64::try_from(schedule.bytes()).expect("few"), rounds)
}

fn log2_up(n: u32) -> u32 {
    n.next_power_of_two().ilog2()
}

#[test]
fn closed_forms() {
    use Collective::{Allgather, Allreduce, Alltoall, Barrier, Bcast, Gather, Reduce, Scatter};
    use Collective::{ReduceScatter, Scan};
    for n in 2..=33u32 {
        let (p, ceil) = (u64::from(n), log2_up(n));
        let power = 1u64 << n.ilog2();
        let (over, log) = (p - power, u64::from(n.ilog2()));
        // Below one segment, and a multiple of all numbers of blocks that matter.
        let b = 960;
        let whole = |m| (m, m * b);
        let has = |c, name, messages: (u64, u64), rounds| {
            assert_eq!(counted(c, name, n, b), (messages.0, messages.1, rounds), "{name} n={n}");
        };
        // Few ranks are folded into nearby ones: the last round can be saved.
        let folds = |c, name, messages: (u64, u64), rounds| {
            let (m, s, r) = counted(c, name, n, b);
            assert_eq!((m, s), messages, "{name} n={n}");
            assert!(r <= rounds && r + u32::from(over > 0) >= rounds, "{name} n={n}: {r} {rounds}");
        };
        has(Barrier, "dissemination", (p * u64::from(ceil), 0), ceil);
        let folded = if over > 0 { 2 } else { 0 };
        folds(Barrier, "recursive-doubling", (power * log + 2 * over, 0), n.ilog2() + folded);
        has(Barrier, "double-ring", (2 * p, 0), 2 * n);
        has(Barrier, "linear", (2 * (p - 1), 0), 2);
        assert_eq!(counted(Barrier, "tree", n, 0).0, 2 * (p - 1));
        has(Bcast, "linear", whole(p - 1), 1);
        has(Bcast, "binomial", whole(p - 1), n.ilog2());
        has(Bcast, "pipeline", whole(p - 1), n - 1);
        has(Bcast, "chain", whole(p - 1), (n - 1).div_ceil(4));
        has(Bcast, "binary", whole(p - 1), n.ilog2());
        // Halves: both to everybody but the root.
        assert_eq!(counted(Bcast, "split-binary", n, b).1, (p - 1) * b);
        let around = |(m, s)| (m, s + (p - 1) * b);
        if b % p == 0 {
            let scattered: u64 = (1..p).map(|v| (1 << v.trailing_zeros()).min(p - v) * b / p).sum();
            has(Bcast, "scatter-ring", around((p - 1 + p * (p - 1), scattered)), n - 1 + n.ilog2());
        }
        has(Gather, "linear", whole(p - 1), 1);
        assert_eq!(counted(Gather, "linear-sync", n, b).1, (p - 1) * b);
        assert_eq!(counted(Gather, "binomial", n, b).0, p - 1);
        assert_eq!(counted(Scatter, "binomial", n, b).2, n.ilog2());
        has(Scatter, "linear", whole(p - 1), 1);
        has(Reduce, "linear", whole(p - 1), 1);
        has(Reduce, "binomial", whole(p - 1), n.ilog2());
        has(Reduce, "pipeline", whole(p - 1), n - 1);
        folds(Allreduce, "recursive-doubling", whole(power * log + 2 * over), n.ilog2() + folded);
        has(Allreduce, "reduce-bcast", whole(2 * (p - 1)), 2 * n.ilog2());
        has(Allreduce, "ring", (2 * p * (p - 1), 2 * (p - 1) * b), 2 * (n - 1));
        has(Allreduce, "double-binary-tree", (4 * (p - 1), 2 * (p - 1) * b), {
            counted(Allreduce, "double-binary-tree", n, b).2
        });
        if b % power == 0 {
            let moved = 2 * (power - 1) * b + 2 * over * b;
            let messages = 2 * power * log + 2 * over;
            folds(Allreduce, "rabenseifner", (messages, moved), 2 * n.ilog2() + folded);
        }
        let gathered = p * (p - 1) * b;
        has(Allgather, "ring", (p * (p - 1), gathered), n - 1);
        has(Allgather, "bruck", (p * u64::from(ceil), gathered), ceil);
        has(Allgather, "linear", (p * (p - 1), gathered), 1);
        if n.is_multiple_of(2) {
            has(Allgather, "neighbor-exchange", (p * p / 2, gathered), n / 2);
        }
        if over == 0 {
            has(Allgather, "recursive-doubling", (p * log, gathered), ceil);
        }
        has(Alltoall, "linear", (p * (p - 1), gathered), 1);
        has(Alltoall, "pairwise", (p * (p - 1), gathered), n - 1);
        has(Alltoall, "pairwise-xor", (p * (p - 1), gathered), n - 1);
        let bits: u64 = (1..n).map(|distance| u64::from(distance.count_ones())).sum();
        has(Alltoall, "bruck", (p * u64::from(ceil), p * bits * b), ceil);
        has(ReduceScatter, "ring", (p * (p - 1), gathered), n - 1);
        has(ReduceScatter, "pairwise", (p * (p - 1), gathered), n - 1);
        if over == 0 {
            has(ReduceScatter, "recursive-halving", (p * log, gathered), ceil);
        }
        has(Scan, "linear", whole(p - 1), n - 1);
    }
}

#[test]
fn segments_fill_the_pipe() {
    // n - 1 hops plus the number of segments minus one.
    for n in 2..=12u32 {
        for segments in [1u32, 2, 7] {
            let bytes = u64::from(segments) * 1_000 - 1;
            for (collective, name) in
                [(Collective::Bcast, "pipeline"), (Collective::Reduce, "pipeline")]
            {
                let (messages, sent, _) = counted(collective, name, n, bytes);
                assert_eq!(messages, u64::from((n - 1) * segments));
                assert_eq!(sent, u64::from(n - 1) * bytes);
                let schedule = simple(collective.algorithm(name).expect("known"), n, bytes);
                // With a second a byte and no other cost, time counts full segments.
                let time = played(schedule, &Host { ..host("ideal").expect("known").clone() }, 1.0);
                let full = u64::from(n - 2 + segments) * 999;
                assert!(time <= full && time + 2 * u64::from(n) + 1_000 >= full, "{time} {full}");
            }
        }
    }
}

fn played(schedule: Schedule, host: &Host, per_byte: f64) -> u64 {
    let terminals: Vec<TerminalId> = (0..schedule.ranks()).map(TerminalId).collect();
    let mut wire = LogGp::new(terminals.len(), 0, 0, per_byte);
    let program = Arc::new(Program::once(schedule));
    let jobs = [Job { program, terminals, start: 0, repeat: Repeat::Once }];
    let mut player = Player::new(&jobs, host);
    run(&mut player, &mut wire, &mut |_| ()).unwrap_or_else(|e| panic!("{e}"));
    player.runs(0)[0].end
}

#[test]
fn nothing_deadlocks_eager_or_rendezvous() {
    let eager = host("ideal").expect("known").clone();
    let rendezvous = Host { rendezvous: 0, ..eager.clone() };
    for n in 1..=20u32 {
        let comm: Vec<u32> = (0..n).collect();
        for (collective, algorithm) in every() {
            for (bytes, segment) in [(0, 0), (1, 0), (5_000, 0), (5_000, 640)] {
                let root = if collective.rooted() { n / 3 } else { 0 };
                let call = Call { root, segment, reduce: 2, tag: 9, ..Call::new(&comm, bytes) };
                let schedule = written(algorithm, n, &call);
                played(schedule.clone(), &eager, 1.0);
                played(schedule, &rendezvous, 1.0);
            }
        }
    }
}

#[test]
fn reductions_cost_what_they_reduce() {
    // A binomial tree reduces the vector once a round at the root.
    let comm: Vec<u32> = (0..8).collect();
    let ideal = host("ideal").expect("known");
    for (collective, name, reduced) in [
        (Collective::Reduce, "binomial", 3 * 4_000),
        (Collective::Allreduce, "recursive-doubling", 3 * 4_000),
        (Collective::Allreduce, "ring", 7 * 500),
        (Collective::Allreduce, "rabenseifner", 7 * 500),
        (Collective::Reduce, "linear", 7 * 4_000),
    ] {
        let algorithm = collective.algorithm(name).expect("known");
        let call = Call { reduce: 11 << 20, ..Call::new(&comm, 4_000) };
        assert_eq!(played(written(algorithm, 8, &call), ideal, 0.0), 11 * reduced, "{name}");
    }
}

#[test]
fn switch_overs_are_those_of_the_sources() {
    use Collective::{Allgather, Allreduce, Alltoall, Barrier, Bcast, Gather, Reduce, Scatter};
    let is = |library: Library, c, n, bytes, name: &str, segment| {
        let choice = library.choose(c, n, bytes);
        assert_eq!((choice.algorithm.name, choice.segment), (name, segment), "{n} {bytes}");
    };
    let open = Library::OpenMpi;
    is(open, Barrier, 64, 0, "recursive-doubling", 0);
    is(open, Barrier, 56, 0, "dissemination", 0);
    is(open, Bcast, 56, 2_047, "binomial", 0);
    is(open, Bcast, 56, 2_048, "split-binary", 1_024);
    is(open, Bcast, 56, 370_728, "pipeline", 8_192);
    // n < 1.6134e-6 x bytes + 2.1102 first at 33.4 MB for 56.
    is(open, Bcast, 56, 33_000_000, "pipeline", 65_536);
    is(open, Bcast, 56, 33_500_000, "pipeline", 131_072);
    is(open, Bcast, 12, 400_000, "split-binary", 8_192);
    is(open, Gather, 56, 92_161, "linear-sync", 32_768);
    is(open, Gather, 56, 6_001, "linear-sync", 1_024);
    is(open, Gather, 56, 1_024, "linear", 0);
    is(open, Gather, 61, 1_024, "binomial", 0);
    is(open, Scatter, 11, 299, "binomial", 0);
    is(open, Scatter, 11, 300, "linear", 0);
    is(open, Reduce, 7, 511, "linear", 0);
    is(open, Reduce, 56, 90_000, "binomial", 1_024);
    is(open, Reduce, 56, 100_000, "pipeline", 1_024);
    is(open, Allreduce, 56, 9_999, "recursive-doubling", 0);
    is(open, Allreduce, 56, 56 << 20, "ring", 0);
    is(open, Allreduce, 56, (56 << 20) + 1, "segmented-ring", 1 << 20);
    is(open, Allgather, 56, 892, "bruck", 0);
    is(open, Allgather, 56, 893, "neighbor-exchange", 0);
    is(open, Alltoall, 13, 199, "bruck", 0);
    is(open, Alltoall, 13, 2_999, "linear", 0);
    is(open, Alltoall, 13, 3_000, "pairwise", 0);
    let mpich = Library::Mpich;
    is(mpich, Bcast, 7, 1 << 20, "binomial", 0);
    is(mpich, Bcast, 64, 12_288, "scatter-doubling", 0);
    is(mpich, Bcast, 64, 524_288, "scatter-ring", 0);
    is(mpich, Allreduce, 56, 2_048, "recursive-doubling", 0);
    is(mpich, Allreduce, 56, 2_052, "rabenseifner", 0);
    // Fewer elements than the largest power of two that is not above the number of ranks.
    is(mpich, Allreduce, 1024, 4_092, "recursive-doubling", 0);
    is(mpich, Allreduce, 1024, 4_096, "rabenseifner", 0);
    is(mpich, Allreduce, 1023, 2_052, "rabenseifner", 0);
    is(mpich, Alltoall, 8, 256, "bruck", 0);
    is(mpich, Alltoall, 8, 32_769, "pairwise-xor", 0);
    for (_, library) in &LIBRARIES {
        assert_eq!(LIBRARIES.get(library.name()).map(|l| l.1), Ok(*library));
        for &c in &COLLECTIVES {
            assert_eq!(Collective::named(c.name()), Some(c));
            for n in 0..70 {
                for k in 0..40 {
                    assert!(!library.choose(c, n, (1 << k) - 1).algorithm.name.is_empty());
                }
            }
        }
    }
}

#[test]
fn names_and_docs() {
    for &c in &COLLECTIVES {
        for (i, a) in c.algorithms().iter().enumerate() {
            assert!(c.algorithms()[..i].iter().all(|b| b.name != a.name), "{} twice", a.name);
            assert!(!a.doc.is_empty() && !a.source.is_empty() && a.doc.len() < 240, "{}", a.name);
        }
    }
}

proptest! {
    /// Sizes that differ: each block arrives at its destination, once, over paths that do not make it larger.
    #[test]
    fn sizes_may_differ(n in 1u32..14, seed in any::<u64>(), root in 0u32..14) {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % 5_000
        };
        let sizes: Vec<u64> = (0..n).map(|_| next()).collect();
        let pairs: Vec<u64> = (0..n * n).map(|_| next()).collect();
        let root = root % n;
        // A communicator in any order within a larger job.
        let comm: Vec<u32> = (0..n).map(|i| 3 * (n - 1 - i) + 1).collect();
        let total: u64 = sizes.iter().sum();
        let others = total - sizes[root as usize];
        for (collective, algorithm) in every() {
            let sizes = match collective {
                Collective::Alltoall => &pairs,
                _ => &sizes,
            };
            let v = matches!(collective, Collective::Gather | Collective::Scatter | Collective::Allgather
                | Collective::ReduceScatter | Collective::Alltoall);
            if !v {
                continue;
            }
            let call = Call { root, sizes: Some(sizes), segment: 100, ..Call::new(&comm, 0) };
            let schedule = written(algorithm, 3 * n, &call);
            follow(&schedule);
            let sent = u64::try_from(schedule.bytes()).expect("few");
            let diagonal: u64 = (0..n as usize).map(|i| pairs[i * n as usize + i]).sum();
            let apart = pairs.iter().sum::<u64>() - diagonal;
            match (collective, algorithm.name) {
                (Collective::Gather | Collective::Scatter, "binomial") => prop_assert!(sent >= others),
                (Collective::Gather | Collective::Scatter, _) => prop_assert_eq!(sent, others),
                (Collective::Allgather, _) => prop_assert_eq!(sent, u64::from(n - 1) * total),
                (Collective::Alltoall, "bruck") => prop_assert!(sent >= apart),
                (Collective::Alltoall, _) => prop_assert_eq!(sent, apart),
                (_, "recursive-halving") => {}
                _ => prop_assert_eq!(sent, u64::from(n - 1) * total),
            }
        }
    }

    /// For any sizes, the whole vector reaches all ranks.
    #[test]
    fn nobody_gets_less_than_the_vector(n in 2u32..18, bytes in 0u64..200_000, segment in 0u64..9_000) {
        let comm: Vec<u32> = (0..n).collect();
        for (collective, algorithm) in every() {
            if !matches!(collective, Collective::Bcast | Collective::Allreduce) {
                continue;
            }
            let call = Call { segment, ..Call::new(&comm, bytes) };
            let schedule = written(algorithm, n, &call);
            for r in 1..n {
                let comes: u64 = schedule.of(r).map(|i| match schedule.op(i) {
                    Op::Recv { bytes, .. } => bytes,
                    _ => 0,
                }).sum();
                prop_assert!(comes >= bytes, "{} {}: {comes} of {bytes}", algorithm.name, r);
            }
        }
    }
}

/// All messages of a run in order, and when it ended.
fn messages(program: Program, host: &Host) -> (Vec<[u64; 5]>, u64) {
    let ranks = program.ranks();
    let terminals = (0..ranks).map(|r| TerminalId(r / 2)).collect();
    let jobs = [Job { program: Arc::new(program), terminals, start: 3, repeat: Repeat::Once }];
    let mut player = Player::new(&jobs, host);
    let mut wire = LogGp::new(ranks as usize, 700, 30, 0.7);
    let mut all = Vec::new();
    let mut each =
        |r: &Record| all.push([r.from.into(), r.to.into(), r.bytes, r.departed, r.arrived]);
    run(&mut player, &mut wire, &mut each).expect("nobody waits for ever");
    all.sort_unstable();
    (all, player.runs(0)[0].end)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Rounds by a formula run like explicit ones, message by message, whatever is before and after them.
    #[test]
    fn rounds_go_as_they_would_if_they_were_written_out(
        n in 2u32..14,
        shuffled in any::<prop::sample::Index>(),
        root in any::<prop::sample::Index>(),
        which in any::<prop::sample::Index>(),
        bytes in 0u64..5_000,
        (segment, busy, rendezvous) in (0u64..300, 0u64..200, 1u64..2_000),
        reduce in prop_oneof![Just(0u64), 1u64..200_000],
        vectors in any::<bool>(),
    ) {
        let all: Vec<_> = every().collect();
        let (collective, algorithm) = all[which.index(all.len())];
        let mut comm: Vec<u32> = (0..n).collect();
        comm.rotate_left(shuffled.index(n as usize));
        comm.swap(0, n as usize / 2);
        let sizes: Vec<u64> = (0..u64::from(n * n)).map(|i| (i * 37 + bytes) % 91).collect();
        let sizes = match collective {
            Collective::Alltoall => Some(&sizes[..]),
            Collective::ReduceScatter | Collective::Allgather => Some(&sizes[..n as usize]),
            _ => None,
        };
        let sizes = sizes.filter(|_| vectors);
        let root = root.index(n as usize) as u32;
        let call = Call { root, segment, reduce, sizes, ..Call::new(&comm, bytes) };
        let whole = |mut script: Script| {
            (0..n).for_each(|r| script.compute(r, u64::from(r % 3) * 100));
            algorithm.write(&mut script, &call);
            (0..n).for_each(|r| script.message(r, (r + 1) % n, 9, 0));
            algorithm.write(&mut script, &call);
            script.finish_block().expect("both ends")
        };
        let kept = whole(Script::new(n).keeping_rounds(0));
        let written = whole(Script::new(n));
        prop_assert!(written.written().is_some());
        let totals = |b: &Block| (b.messages(), b.bytes());
        prop_assert_eq!(totals(&kept), totals(&written));
        let counts = |block: &Block| {
            let mut all = BTreeMap::<_, u64>::new();
            block.each_message(|from, to, bytes, alike| {
                *all.entry((from, to, bytes)).or_default() += alike;
            });
            all
        };
        let all = counts(&written);
        prop_assert_eq!(&counts(&kept), &all);
        let mut pairs = BTreeSet::new();
        kept.each_pair(|from, to| {
            pairs.insert((from, to));
        });
        prop_assert_eq!(pairs, all.keys().map(|&(from, to, _)| (from, to)).collect());
        let host = Host {
            send: busy,
            receive: busy / 2,
            rendezvous,
            memory_latency: 5,
            memory_bytes_per_second: 1e9,
            ..host("ideal").expect("registered").clone()
        };
        let program = |block: Block| {
            let mut program = Program::new(n);
            program.then(Arc::new(block), 2);
            program
        };
        prop_assert_eq!(CommMatrix::of(&kept), CommMatrix::of(&written));
        prop_assert_eq!(messages(program(kept), &host), messages(program(written), &host));
    }
}

#[test]
fn long_rings_and_exchanges_are_kept_as_rounds() {
    let n = 1_200;
    let comm: Vec<u32> = (0..n).collect();
    for (collective, name, rounds) in [
        (Collective::Allreduce, "ring", 2 * (n - 1)),
        (Collective::Allreduce, "nccl-ring", 2 * (n - 1)),
        (Collective::ReduceScatter, "pairwise", n - 1),
        (Collective::Alltoall, "pairwise", n - 1),
    ] {
        let mut script = Script::of_blocks(n);
        let algorithm = collective.algorithm(name).expect("registered");
        algorithm.write(&mut script, &Call::new(&comm, 1 << 20));
        let block = script.finish_block().expect("both ends");
        assert!(block.written().is_none(), "{name}");
        assert_eq!(block.rounds(), rounds, "{name}");
        assert_eq!(block.messages(), u128::from(rounds) * u128::from(n), "{name}");
    }
}

/// What passes segments on down or up a tree is kept as one round of them: rounds are one more than segments, and all alike but for the
/// ends. Where a reduction takes time, it may outlast a round, and is written out.
#[test]
fn segments_down_and_up_a_tree_are_kept_as_rounds() {
    let comm: Vec<u32> = (0..200).collect();
    let block = |collective: Collective, name: &str, call: &Call<'_>| {
        let mut script = Script::of_blocks(200);
        collective.algorithm(name).expect("registered").write(&mut script, call);
        script.finish_block().expect("both ends")
    };
    let bytes = (1000 << 10) - 1;
    for (collective, name) in [
        (Collective::Bcast, "pipeline"),
        (Collective::Bcast, "chain"),
        (Collective::Bcast, "binary"),
        (Collective::Bcast, "binomial"),
        (Collective::Reduce, "pipeline"),
        (Collective::Reduce, "chain"),
        (Collective::Reduce, "binary"),
        (Collective::Reduce, "binomial"),
    ] {
        let call = Call { segment: 1 << 10, root: 7, ..Call::new(&comm, bytes) };
        let kept = block(collective, name, &call);
        assert_eq!(kept.rounds(), 1001, "{name}");
        assert_eq!(
            (kept.messages(), kept.bytes()),
            (199 * 1000, 199 * u128::from(bytes)),
            "{name}"
        );
        // Round 999 has the last segment, which lacks a byte.
        let alike = [0, 1, 998, 999, 1000].map(|round| kept.alike(round, 0.0).0);
        assert_eq!(alike, [0..1, 1..999, 1..999, 999..1000, 1000..1001], "{name}");
        let even = block(collective, name, &Call { bytes: bytes + 1, ..call });
        assert_eq!((even.rounds(), even.alike(999, 0.0).0), (1001, 1..1000), "{name}");
        let slow = block(collective, name, &Call { reduce: 1_000_000, ..call });
        assert_eq!(slow.written().is_some(), collective == Collective::Reduce, "{name}");
        assert_eq!(slow.messages(), kept.messages(), "{name}");
        let short = block(collective, name, &Call { segment: 0, ..call });
        assert!(short.written().is_some(), "{name}");
    }
}

/// More segments than can be under way are refused, also where rounds of several calls would be too many to number.
#[test]
fn too_many_segments_are_refused() {
    let comm: Vec<u32> = (0..16).collect();
    for (collective, name, bytes) in [
        (Collective::Allreduce, "reduce-bcast", 2_200_000_000),
        (Collective::Bcast, "pipeline", u64::from(u32::MAX) - 95),
        (Collective::Bcast, "pipeline", 1 << 40),
    ] {
        let mut script = Script::of_blocks(16);
        let call = Call { segment: 1, ..Call::new(&comm, bytes) };
        collective.algorithm(name).expect("registered").write(&mut script, &call);
        let refused = script.finish_block().expect_err("too many");
        assert!(matches!(refused, ScheduleError::TooMany { .. }), "{refused}");
    }
    // Sixteen million are kept, and a hundred and twenty-seven calls of them, whose messages are counted without looking at each.
    let mut script = Script::of_blocks(16);
    let call = Call { segment: 1, ..Call::new(&comm, 1 << 24) };
    let pipeline = Collective::Bcast.algorithm("pipeline").expect("registered");
    for _ in 0..127 {
        pipeline.write(&mut script, &call);
    }
    let block = script.finish_block().expect("both ends");
    assert_eq!(block.rounds(), 127 * ((1 << 24) + 1));
    let mut sum = 0;
    block.each_message(|_, _, bytes, alike| sum += bytes * alike);
    assert_eq!((u128::from(sum), block.bytes()), ((127 * 15) << 24, (127 * 15) << 24));
    let at = 126 * ((1 << 24) + 1);
    assert_eq!(block.alike(at + 5, 0.0).0, at + 1..at + (1 << 24));
}

/// Both halves of a ring are the same step again and again, unless one of them computes; blocks that differ by a byte
/// are alike within that.
#[test]
fn halves_of_a_ring_are_one_list_of_steps() {
    let n = 64;
    let comm: Vec<u32> = (0..n).collect();
    let half = n - 1;
    let all = 0..2 * half;
    for (bytes, reduce, within, alike) in [
        (64 << 10, 0, 0.0, (all.clone(), 0.0)),
        (64 << 10, 1_000, 0.0, (0..half, 0.0)),
        ((64 << 10) + 1, 0, 0.0, (0..1, 0.0)),
        ((64 << 10) + 1, 0, 0.001, (all, 1.0 / 1024.0)),
        ((64 << 10) + 1, 0, 0.0009, (0..1, 0.0)),
        ((64 << 10) + 1, 1_000, 0.001, (0..half, 1.0 / 1024.0)),
        (63, 0, 1.0, (0..1, 0.0)),
    ] {
        let mut script = Script::new(n).keeping_rounds(0);
        let ring = Collective::Allreduce.algorithm("ring").expect("registered");
        ring.write(&mut script, &Call { reduce, ..Call::new(&comm, bytes) });
        let block = script.finish_block().expect("both ends");
        assert_eq!((block.rounds(), block.alike(0, within)), (2 * half, alike), "{bytes} {reduce}");
    }
}

/// Saved runs are compared by their text to check that they have the same traffic.
#[test]
fn rounds_that_differ_are_told_apart() {
    let comm: Vec<u32> = (0..8).collect();
    let text = |collective: Collective, name: &str, call: &Call<'_>| {
        let mut script = Script::new(8).keeping_rounds(0);
        collective.algorithm(name).expect("registered").write(&mut script, call);
        let block = script.finish_block().expect("both ends");
        assert!(block.written().is_none());
        format!("{block:?}")
    };
    let mut texts = BTreeSet::new();
    let mut turned = comm.clone();
    turned.swap(0, 3);
    for bytes in [0, 1, 8, 1 << 20, (1 << 20) + 1] {
        for (collective, name) in [
            (Collective::Allreduce, "ring"),
            (Collective::Allgather, "ring"),
            (Collective::Alltoall, "pairwise"),
            (Collective::Alltoall, "pairwise-xor"),
            (Collective::Bcast, "pipeline"),
            (Collective::Bcast, "binary"),
            (Collective::Reduce, "pipeline"),
        ] {
            let call = Call::new(&comm, bytes);
            assert_eq!(text(collective, name, &call), text(collective, name, &call));
            assert!(texts.insert(text(collective, name, &call)), "{name} {bytes}");
            assert!(
                texts.insert(text(collective, name, &Call::new(&turned, bytes))),
                "{name} {bytes}"
            );
        }
    }
    // Every size of every pair counts.
    let plain = vec![5; 64];
    for pair in [None, Some(1), Some(20), Some(43), Some(62)] {
        let mut sizes = plain.clone();
        if let Some(pair) = pair {
            sizes[pair] = 6;
        }
        let call = Call { sizes: Some(&sizes), ..Call::new(&comm, 5) };
        assert!(texts.insert(text(Collective::Alltoall, "pairwise", &call)), "{pair:?}");
    }
}

//! Programs run over the network without sharing, against closed forms and by hand.

use std::sync::Arc;

use darkfiber_fabric::TerminalId;
use darkfiber_workload::play::{
    Host, Job, Lap, LogGp, Player, Record, Repeat, UnderWay, host, run, step,
};
use darkfiber_workload::schedule::{Builder, Op, Program, Schedule, ScheduleError, Script};
use proptest::prelude::*;

/// L, o, g in picoseconds and G in picoseconds a byte.
const L: u64 = 1_000;
const O: u64 = 100;
const GAP: u64 = 150;
const G: u64 = 2;

fn machine() -> Host {
    Host { send: O, receive: O, ..host("ideal").expect("known").clone() }
}

fn job(program: Program) -> Job {
    let terminals = (0..program.ranks()).map(TerminalId).collect();
    Job { program: Arc::new(program), terminals, start: 0, repeat: Repeat::Once }
}

/// When each message arrived, and when all was done.
fn played(jobs: &[Job], host: &Host) -> Result<(Vec<Record>, u64), String> {
    let mut player = Player::new(jobs, host);
    let terminals = jobs.iter().flat_map(|j| &j.terminals).map(|t| t.index() + 1).max();
    let mut wire = LogGp::new(terminals.unwrap_or(0), L, GAP, G as f64);
    let mut all = Vec::new();
    run(&mut player, &mut wire, &mut |r| all.push(*r)).map_err(|e| e.to_string())?;
    let end = (0..jobs.len()).flat_map(|j| player.runs(j)).map(|r| r.end).max();
    Ok((all, end.unwrap_or(0)))
}

fn alone(schedule: Schedule, host: &Host) -> u64 {
    played(&[job(Program::once(schedule))], host).expect("runs").1
}

#[test]
fn a_message_takes_two_overheads_the_latency_and_its_bytes() {
    let mut s = Script::new(2);
    s.message(0, 1, 101, 0);
    assert_eq!(alone(s.finish().expect("whole"), &machine()), O + L + 100 * G + O);
}

#[test]
fn a_large_message_asks_first() {
    let host = Host { rendezvous: 1_000, ..machine() };
    let time = |bytes, late| {
        let mut s = Script::new(2);
        s.send(0, 1, bytes, 0);
        s.compute(1, late);
        s.wait(1);
        s.recv(1, 0, bytes, 0);
        alone(s.finish().expect("whole"), &host)
    };
    assert_eq!(time(999, 0), O + L + 998 * G + O);
    // Request, reply, message.
    assert_eq!(time(1_000, 0), O + 3 * L + 999 * G + O);
    // The reply waits for the receiver, the message of an eager one does not.
    assert_eq!(time(1_000, 50_000), 50_000 + 2 * L + 999 * G + O);
    assert_eq!(time(999, 50_000), 50_000 + O);
}

#[test]
fn adapters_and_processors_do_one_thing_at_a_time() {
    let mut s = Script::new(3);
    s.message(0, 1, 1_001, 0);
    s.message(0, 2, 1, 1);
    let (records, end) =
        played(&[job(Program::once(s.finish().expect("whole")))], &machine()).expect("runs");
    assert_eq!(records[0].arrived, O + 1_000 * G + L);
    // The second leaves g after the last byte of the first.
    assert_eq!(records[1].arrived, O + 1_000 * G + GAP + L);
    assert_eq!(end, O + 1_000 * G + GAP + L + O);
    // Two receives share a processor.
    let mut s = Script::new(3);
    s.message(1, 0, 1, 0);
    s.message(2, 0, 1, 0);
    assert_eq!(alone(s.finish().expect("whole"), &machine()), O + L + 2 * O);
    // Unless they are on different streams.
    let mut b = Builder::new(3);
    for from in 1..3 {
        b.add(from, Op::Send { to: 0, bytes: 1, tag: 0 }, 0);
        b.add(0, Op::Recv { from, bytes: 1, tag: 0 }, from as u8);
    }
    assert_eq!(alone(b.finish().expect("whole"), &machine()), O + L + O);
}

#[test]
fn a_beginning_can_be_waited_for() {
    let mut b = Builder::new(1);
    let long = b.add(0, Op::Compute { picoseconds: 1_000 }, 0);
    let beside = b.add(0, Op::Compute { picoseconds: 10 }, 1);
    let behind = b.add(0, Op::Compute { picoseconds: 500 }, 1);
    b.after_start(beside, long);
    b.after(behind, beside);
    assert_eq!(alone(b.finish().expect("whole"), &machine()), 1_000);
}

#[test]
fn repeated_is_as_written_out() {
    let ring = |n: u32, tag: u32, s: &mut Script| {
        for r in 0..n {
            s.compute(r, 50 * u64::from(r));
            s.wait(r);
            s.send(r, (r + 1) % n, 64 * u64::from(r + 1), tag);
            s.recv(r, (r + n - 1) % n, 0, tag);
            s.wait(r);
        }
    };
    let n = 5;
    let mut once = Script::new(n);
    ring(n, 0, &mut once);
    let once = Arc::new(once.finish_block().expect("whole"));
    let mut inner = Program::new(n);
    inner.then(Arc::clone(&once), 3);
    let mut program = Program::new(n);
    program.then(Arc::clone(&once), 1);
    program.then_all(&inner, 4);
    program.then(once, 2);
    assert_eq!((program.epochs(), program.blocks().len()), (15, 1));
    assert_eq!(program.messages(), 15 * u128::from(n));
    let mut written = Script::new(n);
    (0..15).for_each(|tag| ring(n, tag, &mut written));
    let (a, b) = (job(program), job(Program::once(written.finish().expect("whole"))));
    let (a, b) = (played(&[a], &machine()).expect("runs"), played(&[b], &machine()).expect("runs"));
    assert_eq!(a.1, b.1);
    let times = |all: &[Record]| all.iter().map(|r| (r.arrived, r.from, r.to)).collect::<Vec<_>>();
    assert_eq!(times(&a.0), times(&b.0));
}

#[test]
fn nested_epochs_find_their_schedules() {
    let block = |bytes| {
        let mut s = Script::new(2);
        s.message(0, 1, bytes, 0);
        Arc::new(s.finish_block().expect("whole"))
    };
    let (a, b, c) = (block(1), block(2), block(3));
    let mut inner = Program::new(2);
    inner.then(a, 2);
    inner.then(b, 1);
    let mut program = Program::new(2);
    program.then(Arc::clone(&c), 1);
    program.then_all(&inner, 2);
    program.then(c, 1);
    let order: Vec<usize> = (0..program.epochs()).map(|e| program.block(e).0).collect();
    assert_eq!(order, [0, 1, 1, 2, 1, 1, 2, 0]);
    assert_eq!((program.bytes(), program.operations()), (14, 16));
}

#[test]
fn ranks_can_begin_together() {
    let mut s = Script::new(3);
    (0..3).for_each(|r| s.compute(r, 10 * u64::from(r)));
    let s = Arc::new(s.finish_block().expect("whole"));
    let mut lonely = Script::new(3);
    lonely.compute(0, 100);
    let lonely = Arc::new(lonely.finish_block().expect("whole"));
    let mut apart = Program::new(3);
    apart.then(Arc::clone(&s), 5);
    apart.then(Arc::clone(&lonely), 1);
    assert_eq!(played(&[job(apart)], &machine()).expect("runs").1, 100);
    let mut together = Program::new(3);
    together.then_together(s, 5);
    together.then_together(lonely, 2);
    assert_eq!(played(&[job(together)], &machine()).expect("runs").1, 5 * 20 + 200);
}

#[test]
fn a_job_repeats_until_its_time_is_up() {
    let mut s = Script::new(2);
    s.message(0, 1, 1, 0);
    let each = O + L + O;
    let mut one = job(Program::once(s.finish().expect("whole")));
    one.start = 7;
    one.repeat = Repeat::Until(7 + 3 * each + 1);
    let (host, jobs) = (machine(), [one]);
    let mut player = Player::new(&jobs, &host);
    run(&mut player, &mut LogGp::new(2, L, 0, 0.0), &mut |_| ()).expect("runs");
    let runs: Vec<(u64, u64)> = player.runs(0).iter().map(|r| (r.begin, r.end)).collect();
    assert_eq!(runs, (0..4).map(|i| (7 + i * each, 7 + (i + 1) * each)).collect::<Vec<_>>());
}

#[test]
fn what_nobody_sends_is_named() {
    let mut s = Script::new(3);
    s.recv(1, 2, 8, 77);
    s.send(0, 1, 8, 77);
    let fault = s.finish().expect_err("two lone ends").to_string();
    assert_eq!(
        fault,
        "a message is sent that no rank receives, and a receive waits for others: rank 1 operation 0 receives from \
         rank 2 with tag 77; rank 0 operation 0 sends 8 bytes to rank 1 with tag 77"
    );
}

#[test]
fn circles_are_named() {
    let mut b = Builder::new(2);
    let ops: Vec<u32> = (0..4).map(|_| b.add(1, Op::Compute { picoseconds: 1 }, 0)).collect();
    b.after(ops[1], ops[0]);
    for (a, z) in [(1, 2), (2, 3), (3, 1)] {
        b.after(ops[z], ops[a]);
    }
    match b.finish() {
        Err(ScheduleError::Circle { rank: 1, circle }) => assert_eq!(circle.len(), 3),
        other => panic!("{other:?}"),
    }
}

#[test]
fn ranks_that_wait_for_each_other_are_named() {
    let mut s = Script::new(2);
    for r in 0..2 {
        s.recv(r, 1 - r, 8, 3);
        s.wait(r);
        s.send(r, 1 - r, 8, 3);
    }
    let stuck =
        played(&[job(Program::once(s.finish().expect("whole")))], &machine()).expect_err("stuck");
    assert_eq!(
        stuck,
        "ranks wait for each other forever (2 operations): job 0 rank 0 operation 0 waits for rank 1 with tag 3; job 0 \
         rank 1 operation 0 waits for rank 0 with tag 3"
    );
    // Two large messages, each waiting for the other side's request.
    let mut s = Script::new(2);
    for r in 0..2 {
        s.send(r, 1 - r, 8, 3);
        s.wait(r);
        s.recv(r, 1 - r, 8, 3);
    }
    let large = Host { rendezvous: 8, ..machine() };
    let schedule = s.finish().expect("whole");
    assert!(played(&[job(Program::once(schedule.clone()))], &machine()).is_ok());
    let stuck = played(&[job(Program::once(schedule))], &large).expect_err("stuck");
    assert!(
        stuck.contains("rank 0 operation 0 sends 8 bytes to rank 1, which must ask first"),
        "{stuck}"
    );
}

#[test]
fn no_bytes_and_very_many_are_fine() {
    for bytes in [0, 1 << 40] {
        let mut s = Script::new(2);
        s.message(0, 1, bytes, 0);
        let long = bytes.saturating_sub(1) * G;
        assert_eq!(alone(s.finish().expect("whole"), &machine()), O + L + long + O);
    }
}

#[test]
fn receives_from_anybody_take_what_is_left() {
    let mut b = Builder::new(3);
    b.add(0, Op::Recv { from: u32::MAX, bytes: 1, tag: u32::MAX }, 0);
    b.add(0, Op::Recv { from: 1, bytes: 1, tag: 5 }, 0);
    b.add(1, Op::Send { to: 0, bytes: 1, tag: 5 }, 0);
    b.add(2, Op::Send { to: 0, bytes: 1, tag: 9 }, 0);
    let s = b.finish().expect("whole");
    assert_eq!((s.partner(0), s.partner(1)), (3, 2));
    assert_eq!((s.rank(3), s.rank(0)), (2, 0));
}

/// Messages among ranks: a random dag by program order, every message posted by both ends in the order of time.
fn random(ranks: u32, steps: &[(u32, u32, u16, bool)]) -> Script {
    let mut s = Script::new(ranks);
    for &(a, b, bytes, wait) in steps {
        let (a, b) = (a % ranks, b % ranks);
        if a == b {
            s.compute(a, bytes.into());
        } else {
            s.message(a, b, bytes.into(), 0);
        }
        if wait {
            s.wait(a);
            s.wait(b);
        }
    }
    s
}

proptest! {
    /// Operations posted in a sequentially possible order complete, every message once.
    #[test]
    fn every_message_arrives_once(
        ranks in 1u32..6,
        steps in prop::collection::vec((0u32..6, 0u32..6, any::<u16>(), any::<bool>()), 0..60),
        rendezvous in 0u64..40_000,
    ) {
        let schedule = random(ranks, &steps).finish().expect("both ends");
        let messages = schedule.messages();
        let bytes = schedule.bytes();
        let host = Host { rendezvous, ..machine() };
        let mut program = Program::new(ranks);
        program.then(Arc::new(schedule.into()), 3);
        let eager = Host { rendezvous: u64::MAX, ..machine() };
        let one = [job(program)];
        let (records, end) = played(&one, &eager).expect("eager messages never get stuck");
        prop_assert_eq!(records.len(), 3 * messages);
        prop_assert_eq!(records.iter().map(|r| u128::from(r.bytes)).sum::<u128>(), 3 * bytes);
        prop_assert!(records.iter().all(|r| r.departed + L <= r.arrived && r.arrived <= end));
        // Large messages may wait for receives behind other waits; those that do not still all arrive.
        if let Ok((records, _)) = played(&one, &host) {
            prop_assert_eq!(records.len(), 3 * messages);
        }
    }
}

#[test]
fn noise_makes_computing_longer_and_shorter() {
    let host = Host { noise: 0.1, ..machine() };
    let n = 10_000;
    let ends = |seed: u64| {
        let mut s = Script::new(n);
        (0..n).for_each(|rank| s.compute(rank, 1_000_000));
        let jobs: Vec<Job> = vec![job(Program::once(s.finish().expect("whole")))];
        let mut player = Player::new(&jobs, &host).with_seed(seed);
        let mut wire = LogGp::new(n as usize, L, GAP, G as f64);
        run(&mut player, &mut wire, &mut |_| {}).expect("runs");
        player.runs(0)[0].end
    };
    // The maximum of this number of uniform draws is close to the largest value: the root of three times the
    // deviation.
    let most = 1_173_205;
    assert!((most - 1_000..=most).contains(&ends(1)), "{}", ends(1));
    assert_eq!(ends(1), ends(1));
    assert_ne!(ends(1), ends(2));
    // One after the other they even out.
    let mut s = Script::new(1);
    (0..n).for_each(|_| s.compute(0, 1_000_000));
    let long = alone(s.finish().expect("whole"), &host) as f64 / 1e10;
    assert!((long - 1.0).abs() < 0.004, "{long}");
}

#[test]
fn a_put_needs_nobody_at_the_other_end() {
    // Large messages send no request first, and the next starts when the previous one has left.
    let host = Host { rendezvous: 10, ..machine() };
    let mut s = Script::new(2);
    for _ in 0..2 {
        s.put(0, 1, 101);
        s.wait(0);
    }
    let schedule = s.finish().expect("nothing is to be received");
    assert_eq!((schedule.messages(), schedule.bytes()), (2, 202));
    let (records, end) = played(&[job(Program::once(schedule))], &host).expect("runs");
    let arrived: Vec<u64> = records.iter().map(|r| r.arrived).collect();
    // The adapter has time for the second one a gap after the first, later than the processor.
    let first = O + 100 * G;
    let second = first + GAP + 100 * G;
    assert_eq!(arrived, [first + L, second + L]);
    assert_eq!(end, second, "the memory written to is no processor's business");
}

#[test]
fn who_never_does_anything_is_done_however_long_the_program() {
    let mut s = Script::new(3);
    s.put(0, 1, 1);
    let mut program = Program::new(3);
    program.then(Arc::new(s.finish_block().expect("whole")), 1 << 40);
    let jobs = [job(program)];
    let host = machine();
    let mut player = Player::new(&jobs, &host);
    let mut wire = LogGp::new(3, L, GAP, G as f64);
    let mut seen = 0;
    let mut under_way = UnderWay::default();
    while seen < 3 && step(&mut player, &mut wire, &mut under_way, &mut |_| seen += 1) {}
    assert_eq!((seen, player.runs(0).len()), (3, 0));
}

#[test]
fn laps_are_the_times_of_ranks_in_epochs() {
    // Rank 1 waits for rank 0; in the second epoch only rank 1 has work, a computation.
    let mut first = Script::new(2);
    first.compute(0, 1_000);
    first.wait(0);
    first.message(0, 1, 1, 0);
    let mut second = Script::new(2);
    second.compute(1, 50);
    let mut program = Program::new(2);
    program.then(Arc::new(first.finish_block().expect("whole")), 1);
    program.then(Arc::new(second.finish_block().expect("whole")), 1);
    let mut bystander =
        job(Program::once(program.blocks()[1].written().expect("one schedule").clone()));
    bystander.terminals = vec![TerminalId(2), TerminalId(3)];
    let jobs = [bystander, job(program)];
    let host = machine();
    let mut player = Player::new(&jobs, &host).with_laps(1);
    let mut wire = LogGp::new(4, L, GAP, G as f64);
    run(&mut player, &mut wire, &mut |_| ()).expect("runs");
    let there = 1_000 + O + L + O;
    let lap = |rank, epoch, begin, end| Lap { rank, epoch, begin, end };
    assert_eq!(
        player.laps(),
        [lap(0, 0, 0, 1_000 + O), lap(1, 0, 0, there), lap(1, 1, there, there + 50)]
    );
}

//! Calls become schedules that keep the guarantees of MPI, and those that do not agree are reported.

use super::*;
use crate::schedule::{Op, Schedule, Script};

fn to(peer: u32, bytes: u64) -> Message {
    Message { peer, bytes, tag: 3, communicator: WORLD }
}

fn compute(picoseconds: u64) -> Call {
    Call::Compute { picoseconds }
}

fn collective(kind: CollectiveKind, communicator: u32, bytes: u64) -> Call {
    let (root, sizes) = (0, Vec::new());
    Call::Collective(Box::new(Collective { kind, communicator, root, bytes, sizes }))
}

fn trace(ranks: Vec<Vec<Call>>) -> MpiTrace {
    let mut trace = MpiTrace::new(ranks.len() as u32);
    trace.ranks = ranks.into_iter().map(Some).collect();
    trace
}

/// Writes every collective as a ring of messages.
fn ring(script: &mut Script, call: &CollectiveCall<'_>) {
    let n = call.ranks.len();
    for (i, &rank) in call.ranks.iter().enumerate() {
        let bytes = match &call.volume {
            Volume::Same(bytes) => *bytes,
            Volume::Each(all) => all[i],
            Volume::Pairs(rows) => rows[i].iter().sum(),
        };
        script.message(rank, call.ranks[(i + 1) % n], bytes, call.tag);
    }
}

fn error_text(trace: &MpiTrace) -> String {
    trace.schedule(&mut ring).expect_err("they do not agree").to_string()
}

/// Whether an operation waits for another, over any number of steps.
fn waits(schedule: &Schedule, op: u32, before: u32) -> bool {
    schedule.dependents(before).any(|(next, _)| next == op || waits(schedule, op, next))
}

#[test]
fn calls_that_do_not_block_go_on_until_they_are_waited_for() {
    let calls = vec![
        compute(1),
        Call::Isend(to(1, 8), 7),
        compute(2),
        Call::Irecv(to(1, 9), 8),
        compute(3),
        Call::Wait(vec![8, 7]),
        compute(4),
    ];
    let other = vec![Call::Sendrecv(Box::new([to(0, 9), to(0, 8)]))];
    let schedule = trace(vec![calls, other]).schedule(&mut ring).expect("a schedule");
    let at = |wanted: Op| schedule.of(0).find(|&i| schedule.op(i) == wanted).expect("it is there");
    let step = |picoseconds| at(Op::Compute { picoseconds });
    let send = at(Op::Send { to: 1, bytes: 8, tag: 3 });
    let recv = at(Op::Recv { from: 1, bytes: 9, tag: 3 });
    assert!(waits(&schedule, send, step(1)) && waits(&schedule, recv, step(2)));
    assert!(waits(&schedule, step(3), step(2)));
    assert!(!waits(&schedule, step(3), send) && !waits(&schedule, step(3), recv));
    for before in [send, recv, step(3)] {
        assert!(waits(&schedule, step(4), before));
    }
    assert!(!waits(&schedule, recv, send));
}

#[test]
fn collectives_are_written_when_all_members_have_come() {
    use CollectiveKind::{Allgather, Barrier};
    let mut trace = trace(vec![
        vec![compute(5), collective(Barrier, WORLD, 0), collective(Allgather, 1, 10)],
        vec![collective(Barrier, WORLD, 0), compute(6)],
        vec![collective(Barrier, WORLD, 0), collective(Allgather, 1, 20)],
    ]);
    trace.communicators.push(vec![2, 0]);
    let mut seen = Vec::new();
    let schedule = trace
        .schedule(&mut |script, call| {
            seen.push(format!("{} {:?} {:?} {}", call.kind, call.ranks, call.volume, call.tag));
            ring(script, call);
        })
        .map_err(|e| e.to_string());
    assert_eq!(schedule.map(|s| s.messages()), Ok(5));
    assert_eq!(seen, ["MPI_Barrier [0, 1, 2] Same(0) 1", "MPI_Allgather [2, 0] Each([20, 10]) 2"]);
}

#[test]
fn tags_of_communicators_are_kept_apart() {
    let message = |communicator| Message { peer: 1 - communicator, bytes: 1, tag: 0, communicator };
    let mut trace = trace(vec![
        vec![Call::Send(message(0)), Call::Send(message(1))],
        vec![
            Call::Irecv(Message { peer: 1, ..message(1) }, 0),
            Call::Recv(Message { peer: 0, ..message(0) }),
        ],
    ]);
    trace.communicators.push(vec![1, 0]);
    let schedule = trace.schedule(&mut ring).expect("a schedule");
    let first = schedule.of(0).start;
    // The first send is of the world, and met by the second receive.
    assert_eq!(schedule.partner(first), schedule.of(1).start + 1);
    assert_eq!(trace.peers(0), [(WORLD, 1)]);
}

#[test]
fn what_does_not_agree_is_reported() {
    use CollectiveKind::{Barrier, Reduce};
    let barrier = || collective(Barrier, WORLD, 0);
    let unlike = trace(vec![vec![barrier()], vec![compute(1), collective(Reduce, WORLD, 4)]]);
    assert_eq!(
        error_text(&unlike),
        "rank 1 call 1 is MPI_Reduce with root 0, but rank 0 takes part in MPI_Barrier (its call 0) at that place of \
         communicator 0"
    );
    let alone = trace(vec![vec![barrier()], vec![compute(1)]]);
    assert_eq!(
        error_text(&alone),
        "rank 0 call 0 is MPI_Barrier of communicator 0, which rank 1 never takes part in: it is done after 1 calls"
    );
    let lone = trace(vec![vec![Call::Send(to(1, 8))], vec![]]);
    assert!(error_text(&lone).starts_with("a message is sent that no rank receives"));
    let nobody = trace(vec![vec![Call::Send(to(2, 8))], vec![]]);
    assert_eq!(
        error_text(&nobody),
        "rank 0 call 0 names rank 2 of communicator 0, which has 2 members"
    );
    let unknown = trace(vec![vec![Call::Wait(vec![4])]]);
    assert_eq!(error_text(&unknown), "rank 0 call 0 waits for request 4, which is not under way");
    let mut hidden = trace(vec![vec![collective(Barrier, 1, 0)]]);
    hidden.communicators.push(Vec::new());
    assert!(error_text(&hidden).ends_with("cannot be derived from the trace"));
    let mut half = trace(vec![vec![], vec![]]);
    half.ranks[1] = None;
    assert!(error_text(&half).starts_with("the calls of 1 of 2 ranks are missing"));
}

//! Few entries or tables made anew, and what hosts send.

use darkfiber_operate::{
    Action, Candidate, DecisionOutcome, Digest, FullRoute, Input, Level, Mode, Phase, Policy, Rung,
    Task, Verdict, WorkResult, explain,
};

use crate::cases::{TestMachine, candidate, verdict};

fn policy() -> Policy {
    let route =
        FullRoute { engine: "sar".to_owned(), beyond: 0.25, max_blocks: 1_000, max_stages: 2 };
    Policy { route: Some(route), ..Policy::default() }
}

/// Jobs have started, and few entries were found that leave this load of 100; no tables have less than 60.
fn eased(mode: Mode, leave: u64) -> TestMachine {
    let mut machine = TestMachine::with(mode, policy());
    machine.jobs(5, 2);
    machine.found(leave);
    machine
}

/// A full route that leaves this load.
fn full(proposed: u64) -> WorkResult {
    let candidate = Candidate {
        tables: Digest(12),
        stages: vec![Digest(12)],
        entries: 400,
        blocks: 90,
        ..candidate(proposed)
    };
    WorkResult::Found { candidate }
}

fn proof(rung: Rung) -> WorkResult {
    WorkResult::Proved { verdict: Verdict { to: Digest(12), ..verdict(rung) } }
}

fn task(machine: &TestMachine) -> Option<Task> {
    match machine.state.phase {
        Phase::Working { task, .. } => Some(task),
        _ => None,
    }
}

fn why(machine: &TestMachine, plan: u64) -> String {
    match &machine.state.decision(plan).expect("remembered").outcome {
        DecisionOutcome::Kept { why } => why.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_full_route_takes_the_place_of_few_entries_that_leave_much() {
    let mut machine = eased(Mode::Advise, 90);
    assert_eq!(task(&machine), Some(Task::Route { plan: 2 }));
    machine.done(full(62));
    assert_eq!(task(&machine), Some(Task::Prove { plan: 2 }));
    assert_eq!(machine.done(proof(Rung::AnyOrder)), [Action::Propose { plan: 2 }]);
    assert_eq!(why(&machine, 1), "plan 2, made anew, leaves less");
    let text = explain(machine.state.decision(2).expect("remembered"));
    assert!(text.contains("decision 1: few entries"), "{text}");
    assert!(text.contains("38.0 %: maximum effective EFI 100 -> 62"), "{text}");
}

#[test]
fn few_entries_near_the_bound_are_enough() {
    let machine = eased(Mode::Advise, 75);
    assert_eq!(task(&machine), Some(Task::Prove { plan: 1 }));
    assert_eq!(machine.state.decisions.len(), 1);
}

#[test]
fn what_is_no_better_goes_back_to_few_entries() {
    let mut machine = eased(Mode::Advise, 90);
    machine.done(full(88));
    assert_eq!(
        why(&machine, 2),
        "sar leaves 88, few entries 90: that is not less by min_gain, 5.0 %"
    );
    assert_eq!(task(&machine), Some(Task::Prove { plan: 1 }));
    assert_eq!(machine.proved(Rung::AnyOrder), [Action::Propose { plan: 1 }]);
}

#[test]
fn what_is_not_proved_goes_back_to_few_entries() {
    // Packets are not dropped for a job, either.
    for rung in [Rung::Refuse, Rung::DropDrain] {
        let mut machine = eased(Mode::Advise, 90);
        let WorkResult::Found { candidate } = full(62) else { unreachable!() };
        let stages = vec![Digest(13), Digest(12)];
        machine.done(WorkResult::Found { candidate: Candidate { stages, ..candidate } });
        machine.done(proof(rung));
        assert!(why(&machine, 2).contains("no safe way"), "{}", why(&machine, 2));
        assert_eq!(task(&machine), Some(Task::Prove { plan: 1 }));
    }
}

#[test]
fn stages_are_put_in_place_one_after_the_other() {
    let mut machine = TestMachine::with(Mode::Apply, policy());
    // The tables in place are whole.
    let nothing = Candidate { entries: 0, tables: Digest(10), ..candidate(100) };
    machine.done(WorkResult::Found { candidate: nothing });
    machine.hear(Input::Standby { has_plan: true, why: String::new() });
    machine.jobs(5, 2);
    machine.found(90);
    let WorkResult::Found { candidate } = full(62) else { unreachable!() };
    let stages = vec![Digest(13), Digest(12)];
    machine.done(WorkResult::Found { candidate: Candidate { stages, ..candidate } });
    assert_eq!(machine.done(proof(Rung::Stages)), [Action::Commit { plan: 3, stage: 0 }]);
    machine.hear(Input::Committed { plan: 3, stage: 0 });
    let next = machine.hear(Input::Tables { digest: Digest(13), between: true });
    assert_eq!(next, [Action::Commit { plan: 3, stage: 1 }]);
}

#[test]
fn an_engine_that_refuses_or_takes_too_long_leaves_few_entries() {
    let mut machine = eased(Mode::Advise, 90);
    let done = machine.done(WorkResult::Failed { why: "it is no tree".to_owned() }).to_vec();
    assert!(matches!(&done[0], Action::Alarm { level: Level::Notice, .. }), "{done:?}");
    assert_eq!(task(&machine), Some(Task::Prove { plan: 1 }));

    let mut machine = eased(Mode::Advise, 90);
    machine.at += 61_000;
    let late = machine.hear(Input::Tick).to_vec();
    assert!(matches!(&late[0], Action::Forget { .. }), "{late:?}");
    assert_eq!(task(&machine), Some(Task::Prove { plan: 1 }));
}

#[test]
fn both_may_be_too_little() {
    let mut machine = eased(Mode::Advise, 97);
    // Few entries are not worth it: the tables in place are what is compared with.
    machine.done(full(96));
    assert!(why(&machine, 2).contains("few entries 100"), "{}", why(&machine, 2));
    assert!(why(&machine, 1).contains("less than min_gain"), "{}", why(&machine, 1));
    assert_eq!(machine.state.phase, Phase::Watching);
}

#[test]
fn where_jobs_load_no_channel_nothing_is_made_anew() {
    let nothing = |tables| Candidate {
        tables: Digest(tables),
        kept: 0,
        bound: None,
        entries: 400,
        ..candidate(0)
    };
    let mut machine = TestMachine::with(Mode::Advise, policy());
    machine.jobs(5, 2);
    machine.done(WorkResult::Found { candidate: nothing(11) });
    assert_eq!((task(&machine), machine.state.decisions.len()), (None, 1));
    // Nor if an operator wants to see what there is.
    let command = darkfiber_operate::Command::Propose;
    machine.hear(Input::Operator { who: "uid 0".to_owned(), command });
    machine.done(WorkResult::Found { candidate: nothing(11) });
    machine.done(WorkResult::Found { candidate: nothing(12) });
    assert!(why(&machine, 3).contains("that is not less"), "{}", why(&machine, 3));
}

#[test]
fn limits_of_a_full_route_are_its_own() {
    let limits = FullRoute { max_blocks: 89, ..policy().route.expect("given") };
    let policy = Policy { route: Some(limits), ..policy() };
    let mut machine = TestMachine::with(Mode::Advise, policy);
    machine.jobs(5, 2);
    machine.found(90);
    machine.done(full(62));
    assert_eq!(why(&machine, 2), "90 blocks change, more than max_blocks of [policy.route], 89");
}

#[test]
fn an_operator_sees_both_and_counters_lead_to_few_entries_only() {
    let mut machine = TestMachine::with(Mode::Advise, policy());
    machine.jobs(5, 0);
    let command = darkfiber_operate::Command::Propose;
    machine.hear(Input::Operator { who: "uid 0".to_owned(), command });
    machine.found(61);
    assert_eq!(task(&machine), Some(Task::Route { plan: 2 }));
    machine.done(full(61));
    machine.proved(Rung::AnyOrder);
    assert_eq!(machine.state.decision(1).expect("it is").outcome, DecisionOutcome::Proposed);

    let mut machine = TestMachine::with(Mode::Advise, policy());
    machine.jobs(5, 0);
    let hot = || Input::Counters { digest: Digest(8), fullest: 0.9 };
    machine.hear(hot());
    machine.at += 60_000;
    machine.hear(hot());
    machine.found(90);
    assert_eq!(task(&machine), Some(Task::Prove { plan: 1 }));
}

#[test]
fn a_job_or_a_fault_meanwhile_ends_both() {
    let mut machine = eased(Mode::Advise, 90);
    machine.jobs(6, 1);
    for plan in [1, 2] {
        let outcome = &machine.state.decision(plan).expect("remembered").outcome;
        let why = "other jobs started".to_owned();
        assert_eq!(outcome, &DecisionOutcome::Dropped { why }, "{plan}");
    }
    assert_eq!(task(&machine), Some(Task::Ease { plan: 3 }));
}

#[test]
fn other_demands_are_a_reason_to_look_again_and_nothing_begins_without_them() {
    let policy = Policy { demands: true, ..Policy::default() };
    let mut machine = TestMachine::with(Mode::Advise, policy);
    assert_eq!(machine.jobs(5, 2), [], "demands are not known yet");
    let read = |digest| Input::Demands { digest: Digest(digest), pairs: 9 };
    machine.hear(read(70));
    assert_eq!(task(&machine), Some(Task::Ease { plan: 1 }));
    assert_eq!(machine.hear(read(70)), [], "the same");
    machine.hear(read(71));
    assert_eq!(task(&machine), Some(Task::Ease { plan: 2 }));
    assert_eq!(machine.state.decision(2).expect("remembered").demands, Some(Digest(71)));
}

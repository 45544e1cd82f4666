//! Behaviour of the machine, case by case.

use darkfiber_operate::{
    Action, Candidate, Command, DecisionOutcome, Digest, FreezeReason, Input, InputSource, Level,
    Measure, Mode, Phase, Policy, Ready, Rung, State, Task, Verdict, WorkResult, engines_allowed,
    explain, step,
};

/// A machine that hears one thing after the other.
pub(crate) struct TestMachine {
    pub(crate) state: State,
    pub(crate) at: u64,
    actions: Vec<Action>,
}

impl TestMachine {
    pub(crate) fn new(mode: Mode) -> Self {
        Self::with(mode, Policy::default())
    }

    pub(crate) fn with(mode: Mode, policy: Policy) -> Self {
        let mut machine = Self { state: State::default(), at: 1_000_000, actions: Vec::new() };
        let engines = ["darkfiber", "nue", "no_fallback"].map(str::to_owned).to_vec();
        machine.hear(Input::Started { mode, policy, engines });
        machine.hear(Input::Fabric { digest: Digest(1), switches: 2, terminals: 4 });
        machine.hear(Input::Tables { digest: Digest(10), between: false });
        machine
    }

    #[expect(clippy::needless_pass_by_value, reason = "cases are shorter with values")]
    pub(crate) fn hear(&mut self, input: Input) -> &[Action] {
        let (state, actions) = step(&self.state, self.at, &input);
        (self.state, self.actions) = (state, actions);
        self.at += 10;
        &self.actions
    }

    pub(crate) fn jobs(&mut self, digest: u64, started: u32) -> &[Action] {
        self.hear(Input::Jobs { digest: Digest(digest), running: 2, started, ended: 0 })
    }

    /// The last requested work returns with this result.
    pub(crate) fn done(&mut self, result: WorkResult) -> &[Action] {
        let asked = self.actions.iter().find_map(|a| match a {
            Action::Work { work, generation, .. } => Some((*work, *generation)),
            _ => None,
        });
        let (work, generation) = asked.expect("work was asked for");
        self.hear(Input::Done { work, generation, result })
    }

    pub(crate) fn found(&mut self, proposed: u64) -> &[Action] {
        self.done(WorkResult::Found { candidate: candidate(proposed) })
    }

    pub(crate) fn proved(&mut self, rung: Rung) -> &[Action] {
        self.done(WorkResult::Proved { verdict: verdict(rung) })
    }

    pub(crate) fn outcome(&self) -> &DecisionOutcome {
        &self.state.decisions.back().expect("a decision").outcome
    }
}

pub(crate) fn candidate(proposed: u64) -> Candidate {
    Candidate {
        tables: Digest(11),
        stages: vec![Digest(11)],
        measure: Measure::EffectiveEfi,
        kept: 100,
        proposed,
        bound: Some(60),
        entries: 4,
        blocks: 3,
        withheld: 0,
    }
}

/// OpenSM sends a question about a fabric that came before.
fn asks(question: u64, fabric: Digest) -> Input {
    Input::Asked { question, fabric, budget: 2_000, size: None, tables: None, ready: None }
}

pub(crate) fn verdict(rung: Rung) -> Verdict {
    Verdict {
        fabric: Digest(1),
        from: Digest(10),
        to: Digest(11),
        rung,
        obligations: vec!["O1 holds".to_owned()],
        pairs_changed: 12,
    }
}

#[test]
fn jobs_that_start_lead_to_a_proposal() {
    let mut machine = TestMachine::new(Mode::Advise);
    let asked = machine.jobs(5, 2);
    assert!(matches!(asked, [Action::Work { task: Task::Ease { plan: 1 }, .. }]), "{asked:?}");
    let asked = machine.found(70);
    assert!(matches!(asked, [Action::Work { task: Task::Prove { plan: 1 }, .. }]), "{asked:?}");
    assert_eq!(machine.proved(Rung::AnyOrder), [Action::Propose { plan: 1 }]);
    let text = explain(machine.state.decision(1).expect("remembered"));
    for words in [
        "proposed",
        "jobs started",
        "30.0 %: maximum effective EFI 100 -> 70",
        "4 entries, 3 blocks, in one sweep",
        "any-order; 12 pairs",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    // It is detected, however it was put in place.
    machine.hear(Input::Tables { digest: Digest(11), between: false });
    assert_eq!(machine.outcome(), &DecisionOutcome::Taken);
}

#[test]
fn ends_of_jobs_lead_to_nothing() {
    let mut machine = TestMachine::new(Mode::Advise);
    machine.jobs(5, 2);
    machine.found(99);
    let ended = Input::Jobs { digest: Digest(6), running: 1, started: 0, ended: 1 };
    assert_eq!(machine.hear(ended), []);
    assert!(machine.state.may_improve && machine.state.phase == Phase::Watching);
}

#[test]
fn what_gains_too_little_or_is_not_proved_is_kept_with_its_reason() {
    let why = |machine: &TestMachine| match machine.outcome() {
        DecisionOutcome::Kept { why } => why.clone(),
        other => panic!("{other:?}"),
    };
    let mut machine = TestMachine::new(Mode::Advise);
    machine.jobs(5, 2);
    machine.found(96);
    assert_eq!(why(&machine), "the gain of 4.0 % is less than min_gain, 5.0 %");
    machine.jobs(6, 1);
    machine.found(70);
    machine.proved(Rung::Refuse);
    assert_eq!(why(&machine), "no safe way is proved: refuse");
    machine.jobs(7, 1);
    machine.done(WorkResult::Failed { why: "out of memory".to_owned() });
    assert_eq!(why(&machine), "out of memory");
}

/// A candidate that was found before a fault is not deployed after it.
#[test]
fn what_changes_meanwhile_makes_work_void() {
    let mut machine = TestMachine::new(Mode::Apply);
    // At the start the tables are checked.
    machine.done(WorkResult::Found { candidate: Candidate { entries: 0, ..candidate(100) } });
    machine.jobs(5, 2);
    machine.found(70);
    let late = machine.actions.clone();
    let heard_fault =
        machine.hear(Input::Fabric { digest: Digest(2), switches: 2, terminals: 4 }).to_vec();
    assert!(
        matches!(heard_fault[..], [Action::Forget { .. }, Action::ReadBack { .. }]),
        "{heard_fault:?}"
    );
    machine.actions = late;
    assert_eq!(machine.proved(Rung::AnyOrder), []);
    assert_eq!(
        machine.outcome(),
        &DecisionOutcome::Dropped { why: "the fabric changed".to_owned() }
    );
}

/// A verdict about other tables than those in place is void (S2).
#[test]
fn a_verdict_must_be_about_what_is_there() {
    for wrong in [
        Verdict { fabric: Digest(9), ..verdict(Rung::AnyOrder) },
        Verdict { from: Digest(9), ..verdict(Rung::AnyOrder) },
        Verdict { to: Digest(9), ..verdict(Rung::AnyOrder) },
    ] {
        let mut machine = TestMachine::new(Mode::Advise);
        machine.jobs(5, 2);
        machine.found(70);
        let actions = machine.done(WorkResult::Proved { verdict: wrong });
        assert!(!actions.contains(&Action::Propose { plan: 1 }), "{actions:?}");
    }
}

#[test]
fn a_plan_is_put_in_place_and_read_back() {
    let mut machine = TestMachine::new(Mode::Apply);
    machine.done(WorkResult::Found { candidate: Candidate { entries: 0, ..candidate(100) } });
    machine.jobs(5, 2);
    machine.found(70);
    assert_eq!(machine.proved(Rung::AnyOrder), [Action::Commit { plan: 2, stage: 0 }]);
    assert_eq!(machine.hear(Input::Committed { plan: 2, stage: 0 }), [Action::Sweep]);
    let read = Action::ReadBack { expect: Some(2), whole: false };
    assert_eq!(machine.hear(Input::Routed { plan: Some(2) }), [read]);
    // That they cannot be read is no reason to go back.
    let unread = machine.hear(Input::Unread { why: "busy".to_owned() }).to_vec();
    assert!(
        matches!(&unread[..], [Action::Alarm { .. }]) && machine.state.phase.name() == "confirming"
    );
    assert_eq!(machine.hear(Input::Tables { digest: Digest(11), between: true }), []);
    assert_eq!((machine.outcome(), machine.state.in_place), (&DecisionOutcome::Confirmed, Some(2)));
}

/// One sweep writes switches in an unknown order.
#[test]
fn an_order_of_switches_is_no_proof_for_one_sweep() {
    for mode in [Mode::Advise, Mode::Apply] {
        let mut machine = TestMachine::new(mode);
        if mode == Mode::Apply {
            machine
                .done(WorkResult::Found { candidate: Candidate { entries: 0, ..candidate(100) } });
        }
        machine.jobs(5, 2);
        machine.found(70);
        assert_eq!(machine.proved(Rung::Stages), []);
        let why = "only an order of switches is proved, and a sweep has none".to_owned();
        assert_eq!(machine.outcome(), &DecisionOutcome::Kept { why });
    }
    // That the first and last tables may coexist proves nothing about those between.
    let policy = Policy { max_stages: 2, ..Policy::default() };
    let mut machine = TestMachine::with(Mode::Apply, policy);
    machine.done(WorkResult::Found { candidate: Candidate { entries: 0, ..candidate(100) } });
    machine.jobs(5, 2);
    let stages = vec![Digest(12), Digest(11)];
    machine.done(WorkResult::Found { candidate: Candidate { stages, ..candidate(70) } });
    assert_eq!(machine.proved(Rung::AnyOrder), []);
    assert!(matches!(machine.outcome(), DecisionOutcome::Kept { .. }));
}

/// A machine in which a plan was written, and is not read back yet.
fn with_a_plan_committed() -> TestMachine {
    let mut machine = TestMachine::new(Mode::Apply);
    machine.done(WorkResult::Found { candidate: Candidate { entries: 0, ..candidate(100) } });
    machine.jobs(5, 2);
    machine.found(70);
    machine.proved(Rung::AnyOrder);
    machine.hear(Input::Committed { plan: 2, stage: 0 });
    machine
}

/// A machine in which a plan is in place.
fn with_a_plan() -> TestMachine {
    let mut machine = with_a_plan_committed();
    machine.hear(Input::Tables { digest: Digest(11), between: true });
    assert_eq!(machine.state.in_place, Some(2));
    machine
}

fn say(command: Command) -> Input {
    Input::Operator { who: "uid 0".to_owned(), command }
}

#[test]
fn a_rollback_is_proved_like_any_other_plan() {
    let mut machine = with_a_plan();
    let asked = machine.hear(say(Command::Rollback)).to_vec();
    let task = Task::Recall { plan: 3, of: 2, before: true };
    assert!(matches!(&asked[..], [Action::Work { task: t, .. }] if *t == task), "{asked:?}");
    let back = Candidate { tables: Digest(10), stages: vec![Digest(10)], ..candidate(100) };
    machine.done(WorkResult::Found { candidate: back });
    let proof = Verdict { from: Digest(11), to: Digest(10), ..verdict(Rung::AnyOrder) };
    let acts = machine.done(WorkResult::Proved { verdict: proof }).to_vec();
    assert_eq!(acts, [Action::Commit { plan: 3, stage: 0 }]);
    machine.hear(Input::Committed { plan: 3, stage: 0 });
    machine.hear(Input::Tables { digest: Digest(10), between: true });
    assert_eq!(machine.state.in_place, Some(3));
    // A plan that is not proved is refused.
    machine.hear(say(Command::Deploy { plan: 2 }));
    machine.found(70);
    machine.proved(Rung::Refuse);
    assert!(matches!(machine.outcome(), DecisionOutcome::Kept { .. }));
}

/// Whatever becomes of what an operator wants meanwhile: damaged tables are still to be repaired.
#[test]
fn a_rollback_that_fails_does_not_end_a_repair() {
    for result in [
        WorkResult::Failed { why: "its tables are not kept".to_owned() },
        WorkResult::Found { candidate: candidate(100) },
    ] {
        let mut machine = with_a_plan();
        machine.hear(Input::Fabric { digest: Digest(2), switches: 2, terminals: 4 });
        let asked = machine.hear(Input::Tables { digest: Digest(11), between: false }).to_vec();
        assert!(matches!(&asked[..], [Action::Work { task: Task::Mend { .. }, .. }]), "{asked:?}");
        machine.hear(say(Command::Rollback));
        let is_found = matches!(result, WorkResult::Found { .. });
        machine.done(result);
        if is_found {
            let proof = Verdict { fabric: Digest(2), from: Digest(11), ..verdict(Rung::Refuse) };
            machine.done(WorkResult::Proved { verdict: proof });
        }
        let mends = |a: &Action| matches!(a, Action::Work { task: Task::Mend { .. }, .. });
        assert!(machine.actions.iter().any(mends), "{:?}", machine.actions);
    }
}

#[test]
fn a_proposal_is_deployed_by_hand_in_modes_that_may_change_tables() {
    let advise = TestMachine::new(Mode::Advise).state;
    let refusal = advise.refusal(Command::Deploy { plan: 1 }).expect("it changes nothing");
    assert!(refusal.contains("mode advise changes nothing"), "{refusal}");
    let mut machine = TestMachine::new(Mode::ApplyFaults);
    machine.done(WorkResult::Found { candidate: Candidate { entries: 0, ..candidate(100) } });
    machine.jobs(5, 2);
    machine.found(70);
    assert_eq!(machine.proved(Rung::AnyOrder), [Action::Propose { plan: 2 }]);
    let refusal = machine.state.refusal(Command::Deploy { plan: 9 }).expect("there is none");
    assert_eq!(refusal, "no decision 9 is remembered");
    assert!(machine.state.refusal(Command::Rollback).is_some_and(|why| why.contains("no plan")));
    let acts = machine.hear(say(Command::Deploy { plan: 2 })).to_vec();
    assert_eq!(acts, [Action::Commit { plan: 2, stage: 0 }]);
    let refusal = machine.state.refusal(Command::Rollback).expect("one plan at a time");
    assert!(refusal.contains("busy (committing)"), "{refusal}");
}

#[test]
fn a_plan_that_cannot_be_written_is_reported_and_not_tried_again_at_once() {
    let mut machine = TestMachine::new(Mode::Apply);
    machine.done(WorkResult::Found { candidate: candidate(100) });
    assert_eq!(machine.proved(Rung::AnyOrder), [Action::Commit { plan: 1, stage: 0 }]);
    let why = "permission denied".to_owned();
    let requested = machine.hear(Input::Unplaced { plan: 1, stage: 0, why: why.clone() }).to_vec();
    assert!(
        matches!(&requested[..], [Action::Alarm { level: Level::Critical, .. }]),
        "{requested:?}"
    );
    assert_eq!(machine.outcome(), &DecisionOutcome::Kept { why: why.clone() });
    assert!(machine.state.damaged, "pairs stay lost");
    assert_eq!(machine.hear(Input::Tick), []);
    // A minute later, and with no second alarm about the same.
    machine.at += 60_000;
    let again = machine.hear(Input::Tick).to_vec();
    assert!(matches!(&again[..], [Action::Work { task: Task::Mend { .. }, .. }]), "{again:?}");
    machine.done(WorkResult::Found { candidate: candidate(100) });
    assert_eq!(machine.proved(Rung::AnyOrder), [Action::Commit { plan: 2, stage: 0 }]);
    assert_eq!(machine.hear(Input::Unplaced { plan: 2, stage: 0, why }), []);
    assert!(machine.state.damaged);
}

/// Jobs that cannot be read after a change of the fabric are not taken for none.
#[test]
fn nothing_is_done_for_jobs_until_they_are_read_for_the_fabric() {
    let nothing = || Candidate { entries: 0, ..candidate(100) };
    let mut machine = TestMachine::new(Mode::ApplyFaults);
    machine.done(WorkResult::Found { candidate: nothing() });
    machine.jobs(5, 2);
    machine.done(WorkResult::Found { candidate: nothing() });
    machine.hear(Input::Fabric { digest: Digest(77), switches: 4, terminals: 8 });
    machine.hear(Input::Tables { digest: Digest(78), between: false });
    let acts = machine.done(WorkResult::Found { candidate: nothing() }).to_vec();
    assert!(!acts.iter().any(|a| matches!(a, Action::Work { .. })), "{acts:?}");
    let acts = machine.jobs(5, 0);
    assert!(
        acts.iter().any(|a| matches!(a, Action::Work { task: Task::Ease { .. }, .. })),
        "{acts:?}"
    );
}

#[test]
fn tables_that_somebody_else_writes_are_reported_and_the_second_time_freeze() {
    let mut machine = with_a_plan();
    let foreign = machine.hear(Input::Tables { digest: Digest(50), between: false }).to_vec();
    let requested =
        |a: &Action| matches!(a, Action::Alarm { text, .. } if text.contains("who else"));
    assert!(foreign.iter().any(requested), "{foreign:?}");
    // They are repaired, which confirms another plan, and changed once more.
    machine.done(WorkResult::Found { candidate: candidate(100) });
    let proof = Verdict { from: Digest(50), ..verdict(Rung::AnyOrder) };
    machine.done(WorkResult::Proved { verdict: proof });
    machine.hear(Input::Committed { plan: 3, stage: 0 });
    machine.hear(Input::Tables { digest: Digest(11), between: true });
    assert_eq!(machine.state.in_place, Some(3));
    machine.hear(Input::Tables { digest: Digest(51), between: false });
    assert_eq!(machine.state.phase, Phase::Frozen { why: FreezeReason::Mismatch });
}

#[test]
fn only_heat_that_lasts_leads_to_anything() {
    let mut machine = TestMachine::new(Mode::Advise);
    machine.jobs(5, 0);
    let hot = |fullest| Input::Counters { digest: Digest(8), fullest };
    assert_eq!(machine.hear(hot(0.9)), []);
    machine.at += 59_000;
    assert_eq!(machine.hear(hot(0.3)), [], "it cools down");
    assert_eq!(machine.hear(hot(0.9)), []);
    machine.at += 60_000;
    let asked = machine.hear(hot(0.8)).to_vec();
    assert!(
        matches!(&asked[..], [Action::Work { task: Task::Relieve { plan: 1 }, .. }]),
        "{asked:?}"
    );
    let candidate = Candidate { measure: Measure::Bytes, ..candidate(70) };
    machine.done(WorkResult::Found { candidate });
    assert_eq!(machine.proved(Rung::AnyOrder), [Action::Propose { plan: 1 }]);
    let text = explain(machine.state.decision(1).expect("remembered"));
    assert!(text.contains("bytes on the fullest channel 100 -> 70"), "{text}");
    assert_eq!(machine.state.measured, None, "that is no EFI");
}

#[test]
fn a_fabric_of_another_cluster_is_reported_once_and_changes_nothing() {
    let mut machine = TestMachine::new(Mode::Advise);
    let stranger = || Input::Stranger { digest: Digest(99), shared: 0, known: 6 };
    let requested = machine.hear(stranger()).to_vec();
    assert!(
        matches!(&requested[..], [Action::Alarm { level: Level::Critical, .. }]),
        "{requested:?}"
    );
    assert_eq!(machine.hear(stranger()), [], "said once");
    assert_eq!(machine.state.fabric, Some(Digest(1)));
    assert_eq!(machine.state.refusal(Command::Accept), None);
    machine.hear(say(Command::Accept));
    assert!(machine.state.refusal(Command::Accept).is_some());
}

/// A plan that was proved for another fabric does not proceed to its next stage.
#[test]
fn a_fabric_that_changes_ends_the_plan_under_way() {
    let policy = Policy { max_stages: 2, ..Policy::default() };
    let mut machine = TestMachine::with(Mode::Apply, policy);
    machine.done(WorkResult::Found { candidate: Candidate { entries: 0, ..candidate(100) } });
    machine.jobs(5, 2);
    let stages = vec![Digest(12), Digest(11)];
    machine.done(WorkResult::Found { candidate: Candidate { stages, ..candidate(70) } });
    assert_eq!(machine.proved(Rung::Stages), [Action::Commit { plan: 2, stage: 0 }]);
    machine.hear(Input::Committed { plan: 2, stage: 0 });
    machine.hear(Input::Routed { plan: Some(2) });
    machine.hear(Input::Fabric { digest: Digest(2), switches: 2, terminals: 4 });
    let why = "the fabric changed while it was put in place".to_owned();
    assert_eq!(machine.outcome(), &DecisionOutcome::Dropped { why });
    let then = machine.hear(Input::Tables { digest: Digest(12), between: false });
    assert!(!then.iter().any(|a| matches!(a, Action::Commit { .. })), "{then:?}");
}

#[test]
fn a_plan_that_is_twice_not_there_freezes() {
    let mut machine = with_a_plan_committed();
    let other = Input::Tables { digest: Digest(77), between: false };
    assert_eq!(machine.hear(other.clone()), [Action::Sweep], "once more");
    let actions = machine.hear(other).to_vec();
    assert!(matches!(&actions[..], [Action::Alarm { level: Level::Critical, .. }]), "{actions:?}");
    assert_eq!(machine.state.phase, Phase::Frozen { why: FreezeReason::Mismatch });
    assert_eq!(machine.jobs(6, 1), [], "nothing is done now");
    let resume = Input::Operator { who: "uid 0".to_owned(), command: Command::Resume };
    assert!(matches!(machine.hear(resume), [Action::ReadBack { .. }]));
}

/// In modes that change nothing, questions are answered and jobs released immediately.
#[test]
fn nobody_waits_for_advice() {
    let mut machine = TestMachine::new(Mode::Advise);
    let asked = asks(3, Digest(1));
    assert_eq!(machine.hear(asked), [Action::Answer { question: 3, plan: None, stage: 0 }]);
    assert_eq!(machine.hear(Input::Starting { job: 8 }), [Action::Release { job: 8 }]);
}

/// An entry of the fault book for another fabric, in stages.
fn ready(stages: &[u64], rung: Rung) -> Box<Ready> {
    let tables = Digest(*stages.last().expect("a stage"));
    let stages = stages.iter().map(|&d| Digest(d)).collect();
    let candidate = Candidate { tables, stages, ..candidate(100) };
    let verdict = Verdict { fabric: Digest(2), from: Digest(20), to: tables, ..verdict(rung) };
    Box::new(Ready { candidate, verdict })
}

fn asks_with(ready: Box<Ready>) -> Input {
    Input::Asked {
        question: 4,
        fabric: Digest(2),
        budget: 2_000,
        size: Some((2, 4)),
        tables: Some(Digest(20)),
        ready: Some(ready),
    }
}

fn whole() -> WorkResult {
    WorkResult::Found { candidate: Candidate { entries: 0, ..candidate(100) } }
}

/// A question is answered from the fault book with its first stage; the second one follows when that is read back, and OpenSM
/// sends a question.
#[test]
fn a_fault_in_the_book_is_answered_stage_by_stage() {
    let mut machine = TestMachine::new(Mode::ApplyFaults);
    machine.done(whole());
    let answer = |stage| Action::Answer { question: 4, plan: Some(2), stage };
    assert_eq!(machine.hear(asks_with(ready(&[21, 22], Rung::Stages))), [answer(0)]);
    assert!(matches!(
        machine.hear(Input::Routed { plan: Some(2) }),
        [Action::ReadBack { expect: Some(2), .. }]
    ));
    // Reading the same fabric again changes nothing.
    assert_eq!(machine.hear(Input::Fabric { digest: Digest(2), switches: 2, terminals: 4 }), []);
    let first = Input::Tables { digest: Digest(21), between: true };
    assert_eq!(machine.hear(first), [Action::Commit { plan: 2, stage: 1 }]);
    assert_eq!(machine.hear(Input::Committed { plan: 2, stage: 1 }), [Action::Sweep]);
    assert_eq!(machine.hear(asks_with(ready(&[21, 22], Rung::Stages))), [answer(1)]);
    machine.hear(Input::Tables { digest: Digest(22), between: false });
    let decision = machine.state.decisions.iter().find(|d| d.id == 2);
    assert_eq!(decision.map(|d| &d.outcome), Some(&DecisionOutcome::Confirmed));
    // It stays whenever OpenSM sends a question, with its last stage.
    let again = Input::Asked {
        question: 4,
        fabric: Digest(2),
        budget: 2_000,
        size: Some((2, 4)),
        tables: None,
        ready: None,
    };
    assert_eq!(machine.hear(again), [answer(1)]);
}

/// When OpenSM has a plan for another fabric and no longer waits, tables that faults have replaced are looked for. It need not wait for
/// them: the plan in place is its answer until they are found.
#[test]
fn what_comes_back_is_used_when_opensm_does_not_wait() {
    let mut machine = TestMachine::new(Mode::ApplyFaults);
    machine.done(whole());
    machine.hear(asks_with(ready(&[22], Rung::AnyOrder)));
    machine.hear(Input::Routed { plan: Some(2) });
    let then = machine.hear(Input::Tables { digest: Digest(22), between: false }).to_vec();
    let restores = Task::Mend { plan: 3, restores: true };
    assert!(matches!(&then[..], [Action::Work { task, .. }] if *task == restores), "{then:?}");
    let mut asks = asks_with(ready(&[22], Rung::AnyOrder));
    if let Input::Asked { ready, tables, .. } = &mut asks {
        (*ready, *tables) = (None, Some(Digest(22)));
    }
    let answer = Action::Answer { question: 4, plan: Some(2), stage: 0 };
    assert_eq!(machine.hear(asks), [answer]);
    // They are found, and put in place by a sweep of its own; nothing is looked for after that.
    let before = Candidate { tables: Digest(30), stages: vec![Digest(30)], ..candidate(100) };
    machine.actions = then;
    machine.done(WorkResult::Found { candidate: before });
    let (fabric, from, to) = (Digest(2), Digest(22), Digest(30));
    let verdict = Verdict { fabric, from, to, ..verdict(Rung::AnyOrder) };
    assert_eq!(
        machine.done(WorkResult::Proved { verdict }),
        [Action::Commit { plan: 3, stage: 0 }]
    );
    machine.hear(Input::Committed { plan: 3, stage: 0 });
    assert_eq!(machine.hear(Input::Tables { digest: Digest(30), between: false }), []);
    assert_eq!(machine.outcome(), &DecisionOutcome::Confirmed);
}

/// Entries are cleared first; the others follow when packets of the old ones are gone, though it was paused meanwhile: until then
/// pairs are lost.
#[test]
fn cleared_entries_are_drained_before_others_are_written() {
    let mut machine = TestMachine::new(Mode::ApplyFaults);
    machine.done(whole());
    let drained = || ready(&[21, 22], Rung::DropDrain);
    let answer = |stage| Action::Answer { question: 4, plan: Some(2), stage };
    assert_eq!(machine.hear(asks_with(drained())), [answer(0)]);
    machine.hear(Input::Routed { plan: Some(2) });
    let cleared = Input::Tables { digest: Digest(21), between: false };
    assert_eq!(machine.hear(cleared.clone()), []);
    assert!(matches!(machine.state.phase, Phase::Draining { .. }), "{:?}", machine.state.phase);
    // Whoever asks meanwhile gets what is there, and so it may be read again: that sweep may be the one that cleared an entry.
    machine.at += 900;
    assert_eq!(machine.hear(asks_with(drained())), [answer(0)]);
    machine.at += 300;
    assert_eq!(machine.hear(Input::Tick), []);
    assert_eq!(machine.hear(cleared), []);
    machine.hear(Input::Operator { who: "uid 0".to_owned(), command: Command::Pause });
    machine.at += 500;
    assert_eq!(machine.hear(Input::Tick), []);
    machine.at += 600;
    assert_eq!(machine.hear(Input::Tick), [Action::Commit { plan: 2, stage: 1 }]);
    machine.hear(Input::Committed { plan: 2, stage: 1 });
    machine.hear(Input::Tables { digest: Digest(22), between: false });
    assert_eq!(machine.outcome(), &DecisionOutcome::Confirmed);
}

#[test]
fn other_tables_while_packets_drain_end_the_plan() {
    let mut machine = TestMachine::new(Mode::ApplyFaults);
    machine.done(whole());
    machine.hear(asks_with(ready(&[21, 22], Rung::DropDrain)));
    machine.hear(Input::Tables { digest: Digest(21), between: false });
    machine.hear(Input::Tables { digest: Digest(30), between: false });
    let why = "other tables are in place".to_owned();
    assert_eq!(machine.outcome(), &DecisionOutcome::Dropped { why });
    machine.at += 5_000;
    let then = machine.hear(Input::Tick).to_vec();
    assert!(!then.iter().any(|a| matches!(a, Action::Commit { .. })), "{then:?}");
    // Three stages are not drained, nor is one sweep.
    for stages in [&[22][..], &[20, 21, 22]] {
        assert!(!ready(stages, Rung::DropDrain).verdict.allows(stages.len()));
    }
}

/// A proposal is put in place by whoever deploys it, not because OpenSM asks.
#[test]
fn a_question_is_no_reason_to_take_a_proposal() {
    let mut machine = TestMachine::new(Mode::ApplyFaults);
    machine.done(whole());
    machine.jobs(5, 2);
    machine.found(70);
    assert_eq!(machine.proved(Rung::AnyOrder), [Action::Propose { plan: 2 }]);
    let asked = machine.hear(asks(3, Digest(1))).to_vec();
    let mends = matches!(&asked[..], [Action::Work { task: Task::Mend { .. }, .. }]);
    assert!(mends, "{asked:?}");
}

/// What the book says about other tables or without a proof is not given.
#[test]
fn a_book_about_other_tables_is_not_believed() {
    for (mut ready, what) in [
        (ready(&[22], Rung::Stages), "an order of switches is no proof for one sweep"),
        (ready(&[22], Rung::AnyOrder), "the tables in place are others"),
    ] {
        if ready.verdict.rung == Rung::AnyOrder {
            ready.verdict.from = Digest(19);
        }
        let mut machine = TestMachine::new(Mode::ApplyFaults);
        machine.done(whole());
        let asked = machine.hear(asks_with(ready)).to_vec();
        let mends = matches!(&asked[..], [Action::Work { task: Task::Mend { .. }, .. }]);
        assert!(mends, "{what}: {asked:?}");
    }
}

/// Where the fabric was read before the question about it came, the tables in place are still being read: it waits for these.
#[test]
fn a_question_waits_while_the_tables_are_read() {
    let mut machine = TestMachine::new(Mode::ApplyFaults);
    machine.done(whole());
    machine.hear(Input::Fabric { digest: Digest(2), switches: 2, terminals: 4 });
    assert!(matches!(machine.state.phase, Phase::Auditing { flight: None }));
    let mut asks = asks_with(ready(&[22], Rung::AnyOrder));
    if let Input::Asked { ready, tables, .. } = &mut asks {
        (*ready, *tables) = (None, None);
    }
    assert_eq!(machine.hear(asks), []);
    let then = machine.hear(Input::Tables { digest: Digest(11), between: false }).to_vec();
    assert!(matches!(&then[..], [Action::Work { task: Task::Mend { .. }, .. }]), "{then:?}");
    assert_eq!(machine.state.questions.len(), 1);
}

/// Pairs that stay lost are no matter of one line: the state has it until something changes. One alarm is raised about the same damage,
/// until it is repaired.
#[test]
fn damage_that_nothing_mends_stays_known() {
    let mut machine = TestMachine::new(Mode::ApplyFaults);
    machine.done(whole());
    let is_said = |a: &Action| matches!(a, Action::Alarm { level: Level::Critical, text } if text.contains("pairs stay lost"));
    // Its second occurrence is without a repair, the third one after it.
    for (occurrence, is_alarm) in [(1, true), (2, false), (3, true)] {
        if occurrence == 3 {
            machine.hear(Input::Tables { digest: Digest(11), between: false });
            machine.done(whole());
        }
        machine.hear(Input::Fabric { digest: Digest(2), switches: 2, terminals: 4 });
        machine.hear(Input::Tables { digest: Digest(11), between: false });
        machine.done(WorkResult::Found { candidate: candidate(100) });
        let proof = Verdict { fabric: Digest(2), from: Digest(11), ..verdict(Rung::Refuse) };
        let said = machine.done(WorkResult::Proved { verdict: proof }).to_vec();
        assert_eq!(said.iter().any(is_said), is_alarm, "{occurrence}: {said:?}");
        assert!(machine.state.damaged);
        machine.hear(Input::Fabric { digest: Digest(1), switches: 2, terminals: 4 });
        assert!(!machine.state.damaged);
    }
}

/// A question about a fabric that no longer exists is answered immediately, with none.
#[test]
fn a_question_is_void_when_the_fabric_changes() {
    let mut machine = TestMachine::new(Mode::ApplyFaults);
    machine.done(whole());
    let mut asks = asks_with(ready(&[22], Rung::AnyOrder));
    if let Input::Asked { ready, .. } = &mut asks {
        *ready = None;
    }
    assert!(matches!(machine.hear(asks), [Action::Work { task: Task::Mend { .. }, .. }]));
    let other = Input::Fabric { digest: Digest(3), switches: 2, terminals: 4 };
    let none = Action::Answer { question: 4, plan: None, stage: 0 };
    assert!(machine.hear(other).contains(&none), "{:?}", machine.actions);
}

/// A plan that OpenSM does not take is dropped, and the tables in place are read; the second mismatch freezes the
/// machine.
#[test]
fn plans_that_opensm_refuses_are_given_up() {
    let mut machine = TestMachine::new(Mode::ApplyFaults);
    machine.done(whole());
    for (round, looked) in [(1, false), (2, true), (3, true)] {
        machine.state.fabric = Some(Digest(1));
        machine.hear(asks_with(ready(&[22], Rung::AnyOrder)));
        let why = "a port leads nowhere".to_owned();
        let plan = machine.state.decisions.back().expect("a decision").id;
        machine.hear(Input::Refused { plan, looked, why });
        assert!(
            matches!(machine.outcome(), DecisionOutcome::Dropped { .. }),
            "{:?}",
            machine.state.decisions
        );
        let is_frozen = machine.state.phase == Phase::Frozen { why: FreezeReason::Mismatch };
        assert_eq!(is_frozen, round == 3, "{:?}", machine.state.phase);
    }
}

#[test]
fn bad_input_is_counted_and_the_third_in_a_row_is_an_alarm() {
    let mut machine = TestMachine::new(Mode::Observe);
    let bad = || Input::Bad { source: InputSource::Jobs, what: "empty".to_owned() };
    assert_eq!((machine.hear(bad()).len(), machine.hear(bad()).len()), (0, 0));
    let third = machine.hear(bad()).to_vec();
    assert!(matches!(&third[..], [Action::Alarm { level: Level::Warning, .. }]), "{third:?}");
    assert_eq!(machine.hear(bad()), [], "said once");
    assert_eq!(machine.hear(Input::Good { source: InputSource::Jobs }).len(), 1);
    assert_eq!(machine.state.bad[&InputSource::Jobs].total, 4);
}

#[test]
fn a_pause_lasts_until_somebody_ends_it() {
    let mut machine = TestMachine::new(Mode::Advise);
    let say = |command| Input::Operator { who: "uid 0".to_owned(), command };
    machine.hear(say(Command::Pause));
    assert_eq!(machine.jobs(5, 2), []);
    let resumed = machine.hear(say(Command::Resume)).to_vec();
    assert!(matches!(&resumed[..], [Action::Work { task: Task::Ease { .. }, .. }]), "{resumed:?}");
}

#[test]
fn two_proposals_have_a_cooldown_between_them() {
    let mut machine = TestMachine::new(Mode::Advise);
    machine.jobs(5, 2);
    machine.found(70);
    machine.proved(Rung::AnyOrder);
    assert_eq!(machine.jobs(6, 1), [], "too soon");
    machine.at += 30_000;
    let due = machine.hear(Input::Tick).to_vec();
    assert!(matches!(&due[..], [Action::Work { task: Task::Ease { plan: 2 }, .. }]), "{due:?}");
}

#[test]
fn engine_lists_that_end_in_minhop_are_refused() {
    let list = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
    for good in ["darkfiber,nue,no_fallback", "darkfiber,ftree,updn,no_fallback"] {
        assert!(engines_allowed(&list(good)).is_ok(), "{good}");
    }
    for bad in ["darkfiber,updn", "minhop", "no_fallback", "darkfiber,minhop,no_fallback"] {
        let error = engines_allowed(&list(bad)).expect_err(bad).to_string();
        assert!(error.contains("no_fallback"), "{error}");
    }
    let mut state = State::default();
    let engines = list("darkfiber,updn");
    let mode = Mode::Apply;
    (state, _) = step(&state, 1, &Input::Started { mode, policy: Policy::default(), engines });
    assert_eq!(state.phase, Phase::Frozen { why: FreezeReason::Engines });
}

//! What the machine does, case by case.

use darkfiber_operate::{
    Action, Candidate, Command, Digest, Input, Level, Mode, Outcome, Phase, Policy, Rung, Source,
    State, Task, Verdict, Why, WorkResult, engines_allowed, explain, step,
};

/// A machine that hears one thing after the other.
struct Heard {
    state: State,
    at: u64,
    actions: Vec<Action>,
}

impl Heard {
    fn new(mode: Mode) -> Self {
        Self::with(mode, Policy::default())
    }

    fn with(mode: Mode, policy: Policy) -> Self {
        let mut heard = Self { state: State::default(), at: 1_000_000, actions: Vec::new() };
        let engines = ["darkfiber", "nue", "no_fallback"].map(str::to_owned).to_vec();
        heard.hear(Input::Started { mode, policy, engines });
        heard.hear(Input::Fabric { digest: Digest(1), switches: 2, terminals: 4 });
        heard.hear(Input::Tables { digest: Digest(10), between: false });
        heard
    }

    #[expect(clippy::needless_pass_by_value, reason = "cases are shorter with values")]
    fn hear(&mut self, input: Input) -> &[Action] {
        let (state, actions) = step(&self.state, self.at, &input);
        (self.state, self.actions) = (state, actions);
        self.at += 10;
        &self.actions
    }

    fn jobs(&mut self, digest: u64, started: u32) -> &[Action] {
        self.hear(Input::Jobs { digest: Digest(digest), running: 2, started, ended: 0 })
    }

    /// The work that was asked for last comes back with this.
    fn done(&mut self, result: WorkResult) -> &[Action] {
        let asked = self.actions.iter().find_map(|a| match a {
            Action::Work { work, generation, .. } => Some((*work, *generation)),
            _ => None,
        });
        let (work, generation) = asked.expect("work was asked for");
        self.hear(Input::Done { work, generation, result })
    }

    fn found(&mut self, proposed: u64) -> &[Action] {
        self.done(WorkResult::Found { candidate: candidate(proposed) })
    }

    fn proved(&mut self, rung: Rung) -> &[Action] {
        self.done(WorkResult::Proved { verdict: verdict(rung) })
    }

    fn outcome(&self) -> &Outcome {
        &self.state.decisions.back().expect("a decision").outcome
    }
}

fn candidate(proposed: u64) -> Candidate {
    Candidate {
        tables: Digest(11),
        stages: vec![Digest(11)],
        kept: 100,
        proposed,
        bound: Some(60),
        entries: 4,
        blocks: 3,
        withheld: 0,
    }
}

fn verdict(rung: Rung) -> Verdict {
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
    let mut heard = Heard::new(Mode::Advise);
    let asked = heard.jobs(5, 2);
    assert!(matches!(asked, [Action::Work { task: Task::Ease { plan: 1 }, .. }]), "{asked:?}");
    let asked = heard.found(70);
    assert!(matches!(asked, [Action::Work { task: Task::Prove { plan: 1 }, .. }]), "{asked:?}");
    assert_eq!(heard.proved(Rung::AnyOrder), [Action::Propose { plan: 1 }]);
    let text = explain(heard.state.decision(1).expect("remembered"));
    for words in [
        "proposed",
        "jobs started",
        "30.0 %: maximum effective EFI 100 -> 70",
        "4 entries, 3 blocks, in one sweep",
        "any-order; 12 pairs",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    // Whoever put it in place, it is seen.
    heard.hear(Input::Tables { digest: Digest(11), between: false });
    assert_eq!(heard.outcome(), &Outcome::Taken);
}

#[test]
fn ends_of_jobs_lead_to_nothing() {
    let mut heard = Heard::new(Mode::Advise);
    heard.jobs(5, 2);
    heard.found(99);
    let ended = Input::Jobs { digest: Digest(6), running: 1, started: 0, ended: 1 };
    assert_eq!(heard.hear(ended), []);
    assert!(heard.state.may_improve && heard.state.phase == Phase::Watching);
}

#[test]
fn what_gains_too_little_or_is_not_proved_is_kept_with_its_reason() {
    let why = |heard: &Heard| match heard.outcome() {
        Outcome::Kept { why } => why.clone(),
        other => panic!("{other:?}"),
    };
    let mut heard = Heard::new(Mode::Advise);
    heard.jobs(5, 2);
    heard.found(96);
    assert_eq!(why(&heard), "the gain of 4.0 % is less than min_gain, 5.0 %");
    heard.jobs(6, 1);
    heard.found(70);
    heard.proved(Rung::Refuse);
    assert_eq!(why(&heard), "no safe way is proved: refuse");
    heard.jobs(7, 1);
    heard.done(WorkResult::Failed { why: "out of memory".to_owned() });
    assert_eq!(why(&heard), "out of memory");
}

/// A candidate that was found before a fault is not deployed after it.
#[test]
fn what_changes_meanwhile_makes_work_void() {
    let mut heard = Heard::new(Mode::Apply);
    // At the start somebody looks whether all is whole.
    heard.done(WorkResult::Found { candidate: Candidate { entries: 0, ..candidate(100) } });
    heard.jobs(5, 2);
    heard.found(70);
    let late = heard.actions.clone();
    let heard_fault =
        heard.hear(Input::Fabric { digest: Digest(2), switches: 2, terminals: 4 }).to_vec();
    assert!(
        matches!(heard_fault[..], [Action::Forget { .. }, Action::ReadBack { .. }]),
        "{heard_fault:?}"
    );
    heard.actions = late;
    assert_eq!(heard.proved(Rung::AnyOrder), []);
    assert_eq!(heard.outcome(), &Outcome::Dropped { why: "the fabric changed".to_owned() });
}

/// A verdict about other tables than those in place is none (S2).
#[test]
fn a_verdict_must_be_about_what_is_there() {
    for wrong in [
        Verdict { fabric: Digest(9), ..verdict(Rung::AnyOrder) },
        Verdict { from: Digest(9), ..verdict(Rung::AnyOrder) },
        Verdict { to: Digest(9), ..verdict(Rung::AnyOrder) },
    ] {
        let mut heard = Heard::new(Mode::Advise);
        heard.jobs(5, 2);
        heard.found(70);
        let actions = heard.done(WorkResult::Proved { verdict: wrong });
        assert!(!actions.contains(&Action::Propose { plan: 1 }), "{actions:?}");
    }
}

#[test]
fn a_plan_is_put_in_place_and_read_back() {
    let mut heard = Heard::new(Mode::Apply);
    heard.done(WorkResult::Found { candidate: Candidate { entries: 0, ..candidate(100) } });
    heard.jobs(5, 2);
    heard.found(70);
    assert_eq!(heard.proved(Rung::AnyOrder), [Action::Commit { plan: 2, stage: 0 }]);
    assert_eq!(heard.hear(Input::Committed { plan: 2, stage: 0 }), [Action::Sweep]);
    let read = Action::ReadBack { expect: Some(2), whole: false };
    assert_eq!(heard.hear(Input::Routed { plan: Some(2) }), [read]);
    // That they cannot be read is no reason to go back.
    let unread = heard.hear(Input::Unread { why: "busy".to_owned() }).to_vec();
    assert!(
        matches!(&unread[..], [Action::Alarm { .. }]) && heard.state.phase.name() == "confirming"
    );
    assert_eq!(heard.hear(Input::Tables { digest: Digest(11), between: true }), []);
    assert_eq!((heard.outcome(), heard.state.in_place), (&Outcome::Confirmed, Some(2)));
}

/// A plan that was proved for another fabric does not go on to its next stage.
#[test]
fn a_fabric_that_changes_ends_the_plan_under_way() {
    let policy = Policy { max_stages: 2, ..Policy::default() };
    let mut heard = Heard::with(Mode::Apply, policy);
    heard.done(WorkResult::Found { candidate: Candidate { entries: 0, ..candidate(100) } });
    heard.jobs(5, 2);
    let stages = vec![Digest(12), Digest(11)];
    heard.done(WorkResult::Found { candidate: Candidate { stages, ..candidate(70) } });
    assert_eq!(heard.proved(Rung::Stages), [Action::Commit { plan: 2, stage: 0 }]);
    heard.hear(Input::Committed { plan: 2, stage: 0 });
    heard.hear(Input::Routed { plan: Some(2) });
    heard.hear(Input::Fabric { digest: Digest(2), switches: 2, terminals: 4 });
    let why = "the fabric changed while it was put in place".to_owned();
    assert_eq!(heard.outcome(), &Outcome::Dropped { why });
    let then = heard.hear(Input::Tables { digest: Digest(12), between: false });
    assert!(!then.iter().any(|a| matches!(a, Action::Commit { .. })), "{then:?}");
}

#[test]
fn a_plan_that_is_twice_not_there_freezes() {
    let mut heard = Heard::new(Mode::Apply);
    heard.done(WorkResult::Found { candidate: Candidate { entries: 0, ..candidate(100) } });
    heard.jobs(5, 2);
    heard.found(70);
    heard.proved(Rung::AnyOrder);
    heard.hear(Input::Committed { plan: 2, stage: 0 });
    let other = Input::Tables { digest: Digest(77), between: false };
    assert_eq!(heard.hear(other.clone()), [Action::Sweep], "once more");
    let actions = heard.hear(other).to_vec();
    assert!(matches!(&actions[..], [Action::Alarm { level: Level::Critical, .. }]), "{actions:?}");
    assert_eq!(heard.state.phase, Phase::Frozen { why: Why::Mismatch });
    assert_eq!(heard.jobs(6, 1), [], "nothing is done now");
    let resume = Input::Operator { who: "uid 0".to_owned(), command: Command::Resume };
    assert!(matches!(heard.hear(resume), [Action::ReadBack { .. }]));
}

/// In modes that change nothing, questions are answered and jobs released at once.
#[test]
fn nobody_waits_for_advice() {
    let mut heard = Heard::new(Mode::Advise);
    let asked = Input::Asked { question: 3, fabric: Digest(1), budget: 2_000 };
    assert_eq!(heard.hear(asked), [Action::Answer { question: 3, plan: None }]);
    assert_eq!(heard.hear(Input::Starting { job: 8 }), [Action::Release { job: 8 }]);
}

#[test]
fn bad_input_is_counted_and_the_third_in_a_row_is_an_alarm() {
    let mut heard = Heard::new(Mode::Observe);
    let bad = || Input::Bad { source: Source::Jobs, what: "empty".to_owned() };
    assert_eq!((heard.hear(bad()).len(), heard.hear(bad()).len()), (0, 0));
    let third = heard.hear(bad()).to_vec();
    assert!(matches!(&third[..], [Action::Alarm { level: Level::Warning, .. }]), "{third:?}");
    assert_eq!(heard.hear(bad()), [], "said once");
    assert_eq!(heard.hear(Input::Good { source: Source::Jobs }).len(), 1);
    assert_eq!(heard.state.bad[&Source::Jobs].total, 4);
}

#[test]
fn a_pause_lasts_until_somebody_ends_it() {
    let mut heard = Heard::new(Mode::Advise);
    let say = |command| Input::Operator { who: "uid 0".to_owned(), command };
    heard.hear(say(Command::Pause));
    assert_eq!(heard.jobs(5, 2), []);
    let resumed = heard.hear(say(Command::Resume)).to_vec();
    assert!(matches!(&resumed[..], [Action::Work { task: Task::Ease { .. }, .. }]), "{resumed:?}");
}

#[test]
fn two_proposals_have_a_cooldown_between_them() {
    let mut heard = Heard::new(Mode::Advise);
    heard.jobs(5, 2);
    heard.found(70);
    heard.proved(Rung::AnyOrder);
    assert_eq!(heard.jobs(6, 1), [], "too soon");
    heard.at += 30_000;
    let due = heard.hear(Input::Tick).to_vec();
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
    assert_eq!(state.phase, Phase::Frozen { why: Why::Engines });
}

//! The journal: a partial line after a crash is removed, all else is refused.

use darkfiber_operate::journal::{self, FORMAT, JournalError, JournalHeader, Step};
use darkfiber_operate::{Digest, Input, Mode, Policy, State, step};

fn sample() -> (String, State) {
    let begin =
        JournalHeader { format: FORMAT, site: "s".to_owned(), first: 5, state: State::default() };
    let mut text = journal::line(&begin);
    let mut state = State::default();
    let started =
        Input::Started { mode: Mode::Advise, policy: Policy::default(), engines: Vec::new() };
    let jobs = Input::Jobs { digest: Digest(3), running: 2, started: 2, ended: 0 };
    let fabric = Input::Fabric { digest: Digest(u64::MAX), switches: 3, terminals: 4 };
    for (n, input) in (5..).zip([started, fabric, jobs]) {
        let at = 1_000 * n;
        let (next, actions) = step(&state, at, &input);
        state = next;
        text.push_str(&journal::line(&Step { step: n, at, input, actions }));
    }
    (text, state)
}

#[test]
fn what_was_written_is_read() {
    let (text, state) = sample();
    let read = journal::read(text.as_bytes()).expect("a journal");
    assert_eq!(read.state(), state);
    assert_eq!((read.next(), read.whole, read.steps.len()), (8, text.len(), 3));
    assert!(journal::replay(&read).1.is_empty());
    assert!(
        text.lines().nth(2).expect("a line").contains("\"digest\":\"ffffffffffffffff\""),
        "{text}"
    );
}

/// Wherever a crash ends the last write, the lines before it remain.
#[test]
fn every_torn_tail_is_cut() {
    let (text, _) = sample();
    let ends: Vec<usize> = text.match_indices('\n').map(|(i, _)| i + 1).collect();
    for cut in 0..text.len() {
        let read = journal::read(&text.as_bytes()[..cut]);
        let whole = ends.iter().filter(|&&end| end <= cut).count();
        match whole {
            0 => assert_eq!(read, Err(JournalError::Empty)),
            n => {
                let read = read.unwrap_or_else(|e| panic!("cut at {cut}: {e}"));
                assert_eq!((read.whole, read.steps.len()), (ends[n - 1], n - 1));
            }
        }
    }
    // Blocks that were reserved and never written are zeros.
    let zeros = [text.as_bytes(), &[0; 100]].concat();
    assert_eq!(journal::read(&zeros).expect("a journal").whole, text.len());
}

/// Any other altered byte is detected.
#[test]
fn every_altered_byte_is_refused() {
    let (text, _) = sample();
    for at in 0..text.len() - 1 {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 1;
        assert!(journal::read(&bytes).is_err(), "byte {at} of {}", text.len());
    }
}

#[derive(serde::Serialize)]
struct Newer {
    format: u32,
}

#[test]
fn missing_lines_and_newer_forms_are_refused() {
    let (text, _) = sample();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let missing = [lines[0], lines[1], lines[3]].concat();
    let error = journal::read(missing.as_bytes()).expect_err("a gap").to_string();
    assert_eq!(error, "line 3: step 7, expected step 6");
    let newer = journal::line(&Newer { format: 9 });
    let error = journal::read(newer.as_bytes()).expect_err("newer").to_string();
    assert_eq!(error, "line 1: form 9, and this program reads 1");
}

/// A step whose actions differ from the computed ones is named.
#[test]
fn a_replay_that_differs_is_reported() {
    let (text, _) = sample();
    let mut read = journal::read(text.as_bytes()).expect("a journal");
    read.steps[0].actions.clear();
    assert_eq!(journal::replay(&read).1, [5]);
}

#[test]
fn steps_are_shown_from_one_on_as_far_as_they_are_whole() {
    let (text, _) = sample();
    let since = |bytes: &[u8]| journal::since(bytes, 6).count();
    let first = journal::since(text.as_bytes(), 6).next().expect("a step");
    assert!(first.starts_with("{\"step\":6,") && first.ends_with('}'), "{first}");
    assert_eq!(since(text.as_bytes()), 2);
    assert_eq!(since(&text.as_bytes()[..text.len() - 1]), 2, "all but its end is there");
    assert_eq!(since(&text.as_bytes()[..text.len() - 3]), 1);
    assert_eq!(since(b"junk\n\xff\xfe\n"), 0);
}

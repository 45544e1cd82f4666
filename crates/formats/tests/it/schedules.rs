//! Schedules, traces and matrices: real files have the counts that their data sheet states, and spoilt ones never
//! panic.

use std::path::Path;

use darkfiber_formats::input;
use darkfiber_formats::schedules::{goal, goal_binary};
use darkfiber_workload::schedule::Schedule;

use crate::support::shared;

fn bytes(name: &str) -> Option<Vec<u8>> {
    let path = shared(&format!("data/comm/{name}"))?;
    Some(input::read(&path).unwrap_or_else(|e| panic!("{e}")))
}

/// Ranks, operations, messages, bytes.
fn size(s: &Schedule) -> (u32, usize, usize, u128) {
    (s.ranks(), s.len(), s.messages(), s.bytes())
}

#[test]
fn goal_files() {
    let path = Path::new("x");
    if let Some(text) = bytes("goal-binary_tree_32.goal") {
        let (s, d) = goal::read(&text, path).unwrap_or_else(|e| panic!("{e}"));
        assert!(d.is_empty());
        assert_eq!(size(&s), (32, 62, 31, 31));
    }
    if let (Some(text), Some(binary)) = (bytes("goal-perm64.goal"), bytes("goal-perm64.bin")) {
        let (a, _) = goal::read(&text, path).unwrap_or_else(|e| panic!("{e}"));
        let (b, _) = goal_binary::read(&binary, path).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(size(&a), (64, 128, 64, 32_000_000));
        assert_eq!(a, b);
        let mut out = Vec::new();
        assert_eq!(goal_binary::write(&mut out, &a).expect("memory"), 0);
        assert!(out == binary, "it is written as it was");
    }
    if let Some(binary) = bytes("goal-diss16.bin") {
        let (s, _) = goal_binary::read(&binary, path).unwrap_or_else(|e| panic!("{e}"));
        // Four rounds of all ranks, and the marker at the end of rank 0.
        assert_eq!(size(&s), (16, 129, 64, 6_400_000));
        let mut out = Vec::new();
        assert_eq!(goal::write(&mut out, &s).expect("memory"), 0);
        assert_eq!(goal::read(&out, path).expect("what was written").0, s);
    }
}

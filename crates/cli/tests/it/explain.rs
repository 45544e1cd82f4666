//! `darkfiber explain`: two lines through a site's own numbers.

use std::fmt::Write as _;

use insta::assert_snapshot;
use serde_json::Value;

use crate::{Run, folder, run_in};

/// Runs that take 14 s up to 58 GB, and a third of a second more for each GB behind it, but for some noise.
fn runs() -> String {
    let mut text = "job,Fullest GB,seconds\n".to_owned();
    for i in 0..100u32 {
        let gb = f64::from(i);
        let noise = f64::from(i * 7919 % 11) / 50.0;
        let seconds = 14.0 + (gb - 58.0).max(0.0) / 3.0 + noise;
        let _ok = writeln!(text, "{i},{gb},{seconds}");
    }
    text + "x,,\n"
}

fn explain(text: &str, options: &[&str]) -> Run {
    let dir = folder(&[("runs.csv", &text.replace("Fullest GB", "gb"))]);
    run_in(dir.path(), &format!("explain runs.csv {}", options.join(" ")))
}

#[test]
fn a_break_is_found() {
    let run = explain(&runs(), &["--load gb --time seconds --format json"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("1 row has no number"), "{}", run.err);
    let json = run.json();
    let number = |at: &str| json.pointer(at).and_then(Value::as_f64).expect("a number");
    assert!((number("/lines/at") - 58.0).abs() < 1.0, "{json}");
    assert!(number("/lines/at_least") <= 58.5 && number("/lines/at_most") >= 57.5, "{json}");
    assert!(number("/lines/r2") > 0.99 && number("/lines/r2_cross_validated") > 0.98, "{json}");
    assert_eq!(json["rows"], 100);
    let text = explain(&runs(), &["-q --load gb --time seconds"]).out;
    assert!(text.contains("costs more seconds than below"), "{text}");
    let csv = explain(&runs(), &["-q --load gb --time seconds --format csv"]).out;
    assert_eq!(csv.lines().count(), 101);
    let dir = folder(&[("runs.csv", &runs().replace("Fullest GB", "gb"))]);
    let run = run_in(dir.path(), "explain runs.csv -q --load gb --time seconds --svg runs.svg");
    assert_eq!(run.code, 0, "{}", run.err);
    let svg = std::fs::read_to_string(dir.path().join("runs.svg")).expect("drawn");
    assert_eq!(svg.matches("<circle").count(), 100);
}

#[test]
fn what_is_not_explained_is_said() {
    let lot: String = (0..50u32).fold("a,b\n".to_owned(), |mut text, i| {
        let _ok = writeln!(text, "{i},{}", i * i * 7919 % 97);
        text
    });
    let out = explain(&lot, &["--load a --time b"]).out;
    assert!(out.contains("explains little"), "{out}");
    let line: String = (0..20u32).fold("a,b\n".to_owned(), |mut text, i| {
        let _ok = writeln!(text, "{i},{}", 3 * i);
        text
    });
    let out = explain(&line, &["--load a --time b"]).out;
    assert!(out.contains("one line says as much") && out.contains("20 rows are few"), "{out}");
}

#[test]
fn bad_input() {
    let error = |text: &str, options: &str| {
        let run = explain(text, &[options, "-q"]);
        assert_eq!((run.code, run.out.as_str()), (3, ""), "{}", run.err);
        run.err
    };
    assert_snapshot!(error(&runs(), "--load speed --time seconds"), @r"
    error: runs.csv: there is no column 'speed'; expected a table with a heading
    hint: its columns are job, gb, seconds
    ");
    assert_snapshot!(error("a,b\n1,1\n2,2\n", "--load a --time b"), @r"
    error: runs.csv: 2 rows are too few for two lines, or their loads are too much alike
    hint: at least five rows at four different loads are needed
    ");
}

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

/// Whether there is a break is a matter of how sure it is, not of how much of the variance it explains.
#[test]
fn a_break_is_told_from_chance() {
    // Normal enough: the sum of twelve even numbers.
    let table = |rows: u32, seed: u32, of: &dyn Fn(f64, f64) -> f64| {
        let mut state = seed;
        let mut even = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 8) / f64::from(1u32 << 24)
        };
        (0..rows).fold("load,time\n".to_owned(), |mut text, _| {
            let x = even();
            let noise = (0..12).map(|_| even()).sum::<f64>() - 6.0;
            let _ok = writeln!(text, "{x},{}", of(x, noise));
            text
        })
    };
    let one_line = |text: &str| {
        let out = explain(text, &["-q --load load --time time"]).out;
        let (one, two) =
            (out.contains("no better than one beyond chance"), out.contains("the break"));
        assert!(one || two || out.contains("costs more time than below"), "{out}");
        one
    };
    // A weak break that 200 rows show: 1 % of the variance.
    let weak = |x: f64, noise: f64| 10.0 + 10.0 * x + 40.0 * (x - 0.1).max(0.0) + 0.5 * noise;
    assert!(!one_line(&table(200, 1, &weak)));
    // Straight lines.
    let straight = |x: f64, noise: f64| 5.0 + 2.0 * x + 0.4 * noise;
    let broken = (0..40).filter(|&seed| !one_line(&table(60, seed, &straight))).count();
    assert!(broken <= 2, "{broken} of 40");
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
    assert!(out.contains("no better than one") && out.contains("20 rows are few"), "{out}");
}

/// Twelve runs of ten steps of four ports: flits rise and fall with the run, and a step is late when stalls pile up at one
/// port.
fn steps() -> String {
    let mut text = "run,step,router,flits_vc0,stalls_vc0,stalls_vc1,s\n".to_owned();
    for (run, step) in (0..12u32).flat_map(|run| (0..10u32).map(move |step| (run, step))) {
        let hash = (run * 10 + step).wrapping_mul(2_654_435_761) >> 16;
        let late = if hash % 5 == 0 { 1 + hash % 7 } else { 0 };
        for port in 0..4u32 {
            let flits = 1000 + 100 * run + (hash + port) % 10;
            let stalls = if port == hash % 4 { 500 * late } else { hash % 3 };
            let seconds = 2.0 + f64::from(late) + f64::from(hash % 10) / 100.0;
            let _ok = writeln!(text, "r{run},{step},c{port},{flits},{stalls},7,{seconds}");
        }
    }
    text
}

#[test]
fn times_are_learnt_from_counters() {
    let options = "--time s --run run --step step --features flits*,stalls*";
    let run = explain(&steps(), &[options, "--format json"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let json = run.json();
    let learned = &json["learned"];
    assert_eq!(
        (&json["rows"], &learned["steps"], &learned["runs"]),
        (&480.into(), &120.into(), &12.into())
    );
    assert_eq!((&learned["by_run"], &learned["rows_per_step"]), (&true.into(), &4.into()));
    assert_eq!(learned["constant"][0], "sum of stalls_vc1");
    let r2 = learned["models"][2]["r2"].as_f64().expect("a number");
    assert!(r2 > 0.8 && learned["models"][2]["features"] == "S", "{json}");
    let first = learned["importance"][0]["feature"].as_str().expect("a name");
    assert!(first.ends_with("stalls_vc0"), "{json}");

    let out = explain(&steps(), &[options]).out;
    assert!(out.contains("standing out (S)") && out.contains("none is a cause"), "{out}");
    let csv = explain(&steps(), &[options, "--format csv"]).out;
    assert_eq!(csv.lines().next(), Some("run,step,s,predicted X,predicted L,predicted S"));
    assert_eq!(csv.lines().count(), 121);
    // Without runs, steps are left out one by one, and that is reported; another seed distributes them differently.
    let one_by_one = explain(&steps(), &["--time s --step step --features stalls_vc0"]);
    assert!(
        one_by_one.code == 3 && one_by_one.err.contains("10 steps are too few"),
        "{}",
        one_by_one.err
    );
    let each = explain(&steps(), &["--time s --features stalls_vc0"]).out;
    assert!(each.contains("single steps were left out"), "{each}");
    let dir = folder(&[("runs.csv", &steps())]);
    let run = run_in(dir.path(), &format!("explain runs.csv -q {options} --svg s.svg"));
    assert_eq!(run.code, 0, "{}", run.err);
    let svg = std::fs::read_to_string(dir.path().join("s.svg")).expect("drawn");
    assert_eq!(svg.matches("<circle").count(), 120);
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
    assert_snapshot!(error(&steps(), "--time s --features credits*"), @r"
    error: runs.csv: no column is 'credits*'; expected a table with a heading
    hint: its columns are run, step, router, flits_vc0, stalls_vc0, stalls_vc1, s
    ");
    assert_snapshot!(error("name,s\na,1\n", "--time s"), @r"
    error: runs.csv: no other column holds numbers only; expected a table with a heading
    hint: its columns are name, s
    ");
    let alike: String = (0..30).fold("a,s\n".to_owned(), |text, i| text + &format!("{i},1\n"));
    assert_snapshot!(error(&alike, "--time s"), @r"
    error: runs.csv: all steps take the same time
    hint: there is nothing to explain
    ");
    let even: String = (0..40).fold("a,s\n".to_owned(), |text, i| text + &format!("{i},7.3\n"));
    assert_snapshot!(error(&even, "--load a --time s"), @"
    error: runs.csv: all rows have the same s
    hint: there is nothing to explain
    ");
    assert_snapshot!(error(&steps(), "--time s --features s"), @"
    error: runs.csv: 's' is the time, the run or the step, and no counter; expected a table with a heading
    hint: features are the columns that times are learnt from
    ");
    let constant: String = (0..30).fold("a,s\n".to_owned(), |text, i| text + &format!("1,{i}\n"));
    assert_snapshot!(error(&constant, "--time s"), @r"
    error: runs.csv: no counter changes from step to step
    hint: counters must be differences over a step; name their columns with --features
    ");
    assert_snapshot!(error("a,b\n1,1\n2,2\n", "--load a --time b"), @r"
    error: runs.csv: 2 rows are too few for two lines, or their loads are too much alike
    hint: at least five rows at four different loads are needed
    ");
}

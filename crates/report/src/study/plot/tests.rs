//! Charts of tables made by hand.

use darkfiber_study::grid::{Answer, Record, Value};
use insta::assert_snapshot;

use super::{PlotOptions, Shape, picture};
use crate::model::Provenance;
use crate::study::StudyResult;

fn value(text: &str) -> Value {
    text.parse().map_or_else(|_| Value::Text(text.to_owned()), Value::Whole)
}

/// Cells of a grid over axes, each with the result of `answers` for its values and seed.
fn cells(
    axes: &[(&str, &[&str])],
    seeds: u64,
    answers: impl Fn(&[&str], u64) -> Vec<Answer>,
) -> Vec<Record> {
    let mut points: Vec<Vec<&str>> = vec![Vec::new()];
    for (_, values) in axes {
        points = points
            .into_iter()
            .flat_map(|point| values.iter().map(move |v| [point.as_slice(), &[*v]].concat()))
            .collect();
    }
    let mut records = Vec::new();
    for (number, point) in (0..).zip(&points) {
        for turn in 0..seeds {
            let set = axes.iter().zip(point).map(|((name, _), v)| ((*name).to_owned(), value(v)));
            records.push(Record {
                id: format!("{number}{turn}"),
                point: number,
                turn,
                set: set.collect(),
                seed: turn + 1,
                answers: answers(point, turn + 1),
                seconds: 0.0,
            });
        }
    }
    records
}

fn answer(of: &str, column: &str, value: f64) -> Answer {
    Answer { question: "routes".to_owned(), ..Answer::of(of).with(column, value) }
}

fn drawn(axes: &[&str], records: &[Record], options: &PlotOptions) -> Result<String, String> {
    let axes: Vec<String> = axes.iter().map(|&axis| axis.to_owned()).collect();
    let provenance = Provenance {
        version: String::new(),
        command: String::new(),
        seed: 1,
        fabric_digest: String::new(),
    };
    let result = StudyResult::new("t", &axes, records, 0, &provenance);
    picture(&result, options).map_err(|e| format!("{e}; {}", e.hint))
}

/// Texts of a picture, without its title.
fn texts(svg: &str) -> Vec<&str> {
    let ends = svg.match_indices("</text>").map(|(at, _)| &svg[..at]);
    ends.filter_map(|before| before.rsplit('>').next()).collect()
}

const FAULTS: [(&str, &[&str]); 3] =
    [("fabric", &["tree", "ring"]), ("fail-links", &["0", "1", "4"]), ("engine", &["a", "b"])];
const NAMES: [&str; 3] = ["fabric", "fail-links", "engine"];

fn faults() -> Vec<Record> {
    cells(&FAULTS, 3, |point, seed| {
        let failed: f64 = point[1].parse().expect("a number");
        let slope = if point[2] == "a" { 1.0 } else { 2.0 };
        vec![answer("", "efi_max", 10.0 + slope * failed + seed as f64)]
    })
}

#[expect(clippy::unnecessary_wraps, reason = "options are given or not")]
fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn numbers_are_lines_and_further_axes_panels() {
    let svg = drawn(&NAMES, &faults(), &PlotOptions::default()).expect("a picture");
    assert_eq!((svg.matches("<polyline").count(), svg.matches("<polygon").count()), (4, 4));
    let texts = texts(&svg);
    for text in ["tree", "ring", "a", "b", "fail-links", "efi_max", "0", "1", "4"] {
        assert!(texts.contains(&text), "{text}: {texts:?}");
    }
    assert!(texts.contains(&"95 % confidence interval of the mean of 3 seeds"));
    assert!(texts.contains(&"efi_max: most routes that cross a directed switch-to-switch channel"));
}

#[test]
fn a_band_is_the_interval_of_students_t() {
    // Seeds 11, 12 and 13: 12 and 4.303 / sqrt(3) to either side; on an axis of 300 pixels.
    let options = PlotOptions {
        only: vec![("fabric".to_owned(), vec!["tree".to_owned()])],
        ..PlotOptions::default()
    };
    let svg = drawn(&NAMES, &faults(), &options).expect("a picture");
    let ticks = |text: &str| -> f64 {
        let line = svg.lines().find(|l| l.ends_with(&format!(">{text}</text>"))).expect("a tick");
        let y = line.split(" y=\"").nth(1).and_then(|l| l.split('"').next()).expect("y");
        y.parse::<f64>().expect("a number") - 3.5
    };
    let (zero, twenty) = (ticks("0"), ticks("20"));
    let at = |value: f64| format!("{:.1}", zero + (twenty - zero) * value / 20.0);
    let band = svg.lines().find(|l| l.starts_with("<polygon")).expect("a band");
    let half = 4.302_652_73 / 3f64.sqrt();
    assert!(band.contains(&format!("points=\"74.0,{} ", at(12.0 + half))), "{band}");
    assert!(band.contains(&format!(" 74.0,{}\"", at(12.0 - half))), "{band}");
}

#[test]
fn names_are_bars_with_whiskers() {
    let options = PlotOptions { x: some("engine"), by: some("fabric"), ..PlotOptions::default() };
    let svg = drawn(&NAMES, &faults(), &options).expect("a picture");
    // A panel for each number of faults, two groups of two bars with whiskers.
    assert_eq!(svg.matches("h6m-3 0V").count(), 1 + 3 * 4);
    let texts = texts(&svg);
    for text in ["fail-links 0", "fail-links 1", "fail-links 4", "12", "13", "20"] {
        assert!(texts.contains(&text), "{text}: {texts:?}");
    }
}

#[test]
fn a_small_chart_as_a_whole() {
    let records = cells(&[("engine", &["x<y", "b"])], 1, |point, _| match point[0] {
        "b" => vec![Answer {
            question: "routes".to_owned(),
            error: Some("refused".to_owned()),
            ..Answer::default()
        }],
        _ => vec![answer("", "layers", 2.0)],
    });
    let svg = drawn(&["engine"], &records, &PlotOptions::default()).expect("a picture");
    assert_snapshot!(svg);
}

#[test]
fn many_values_make_a_heat_map() {
    let engines: Vec<String> = (0..9).map(|i| format!("e{i}")).collect();
    let engines: Vec<&str> = engines.iter().map(String::as_str).collect();
    let axes: [(&str, &[&str]); 2] = [("fabric", &["tree", "ring", "torus"]), ("engine", &engines)];
    let records = cells(&axes, 2, |point, seed| {
        let engine: f64 = point[1][1..].parse().expect("a number");
        let long = if point[0] == "ring" { 100.0 } else { 1.0 };
        vec![answer("", "efi_max", long * (1.0 + engine) + seed as f64)]
    });
    let svg = drawn(&["fabric", "engine"], &records, &PlotOptions::default()).expect("a picture");
    // 27 cells, 32 steps of the scale, the page.
    assert_eq!(svg.matches("<rect").count(), 27 + 32 + 1);
    assert!(svg.contains("<title>2.500 \u{b1} 6.353 (2 seeds)</title>2.500"), "{svg}");
    let forced = PlotOptions { shape: Some(Shape::Bars), ..PlotOptions::default() };
    let bars = drawn(&["fabric", "engine"], &records, &forced).expect("a picture");
    assert_eq!(bars.matches("stroke=\"#").count() > 27, bars.contains("e8"));
}

#[test]
fn axes_that_go_together_count_once() {
    let mut records = faults();
    for record in &mut records {
        let size = if record.set[0].1 == value("tree") { 16 } else { 64 };
        record.set.push(("nodes".to_owned(), Value::Whole(size)));
    }
    let names = ["fabric", "fail-links", "engine", "nodes"];
    let same = drawn(&NAMES, &records, &PlotOptions::default());
    assert_eq!(drawn(&names, &records, &PlotOptions::default()), same);
    // Who names the other of them gets it.
    let options = PlotOptions { x: some("nodes"), ..PlotOptions::default() };
    let svg = drawn(&names, &records, &options).expect("a picture");
    assert!(texts(&svg).contains(&"nodes") && !svg.contains("tree"));
}

#[test]
fn jobs_are_an_axis_and_gaps_are_gaps() {
    let records = cells(&[("fail-links", &["0", "1", "2", "3"])], 2, |point, seed| {
        let failed: f64 = point[0].parse().expect("a number");
        let job = |of: &str, value: f64| answer(of, "run_mean", value + seed as f64);
        match (point[0], seed) {
            // At one position no seed, at another one seed has no answer.
            ("1", _) | ("3", 2) => vec![Answer {
                question: "routes".to_owned(),
                error: Some("refused".to_owned()),
                ..Answer::default()
            }],
            _ => vec![job("long", 10.0 + failed), job("short", 1.0 + failed)],
        }
    });
    let svg = drawn(&["fail-links"], &records, &PlotOptions::default()).expect("a picture");
    assert_eq!(svg.matches("<polyline").count(), 2);
    for text in ["long", "short", "some seeds without an answer"] {
        assert!(texts(&svg).contains(&text), "{text}: {svg}");
    }
    // There is no point at 1; 0 is isolated, with a whisker.
    assert_eq!(svg.matches("h6m-3 0V").count(), 2);
    let one = PlotOptions { of: some("short"), ..PlotOptions::default() };
    let svg = drawn(&["fail-links"], &records, &one).expect("a picture");
    assert!(texts(&svg).contains(&"t: short") && !texts(&svg).contains(&"long"));
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let no = |options: PlotOptions| drawn(&NAMES, &faults(), &options).expect_err("an error");
    let cases = [
        (PlotOptions { x: some("fabrik"), ..PlotOptions::default() }, "did you mean fabric?"),
        (PlotOptions { by: some("engin"), ..PlotOptions::default() }, "did you mean engine?"),
        (PlotOptions { y: some("efi"), ..PlotOptions::default() }, "did you mean efi_max?"),
        (PlotOptions { question: some("route"), ..PlotOptions::default() }, "routes?"),
        (PlotOptions { of: some("job"), ..PlotOptions::default() }, "leave --of out"),
        (
            PlotOptions { x: some("fabric"), by: some("fabric"), ..PlotOptions::default() },
            "the same axis, fabric",
        ),
        (
            PlotOptions { shape: Some(Shape::Lines), x: some("fabric"), ..PlotOptions::default() },
            "the values of fabric are names",
        ),
        (
            PlotOptions {
                only: vec![("fabric".to_owned(), vec!["tre".to_owned()])],
                ..PlotOptions::default()
            },
            "did you mean tree?",
        ),
    ];
    for (options, expected) in cases {
        let message = no(options.clone());
        assert!(message.contains(expected), "{options:?}: {message}");
    }
    // No axis varies; no answers; too many panels.
    let one = cells(&[("engine", &["a"])], 2, |_, _| vec![answer("", "efi_max", 1.0)]);
    let message = drawn(&["engine"], &one, &PlotOptions::default()).expect_err("an error");
    assert!(message.contains("nothing to compare"), "{message}");
    let message = drawn(&["engine"], &[], &PlotOptions::default()).expect_err("an error");
    assert!(message.contains("no cell is answered"), "{message}");
    let many: [(&str, &[&str]); 4] = [
        ("a", &["1", "2", "3"]),
        ("b", &["u", "v", "w", "x"]),
        ("c", &["u", "v", "w", "x"]),
        ("d", &["u", "v"]),
    ];
    let many = cells(&many, 1, |_, _| vec![answer("", "efi_max", 1.0)]);
    let message = drawn(&["a", "b", "c", "d"], &many, &PlotOptions::default()).expect_err("16");
    assert!(message.contains("16 panels, one for each value of b (4) x c (4)"), "{message}");
    assert!(message.contains("--only 'b=u' --only 'c=u'"), "{message}");
}

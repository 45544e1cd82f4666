//! Tables of README and docs say where their figures come from, and figures of experiments are those that came out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use darkfiber_testkit::figures::{ShownFigure, figures};
use darkfiber_testkit::passages::{FigureSource, Passage, PlacedFigure, passages};

use crate::experiments::{self, Experiments};
use crate::root;

/// README and all of docs with their passages.
fn documents() -> Vec<(String, Vec<Passage>)> {
    let pages = |folder: &str| {
        let files = std::fs::read_dir(root().join(folder)).expect("a folder");
        let files = files.map(|entry| entry.expect("an entry").path());
        let is_page = |path: &PathBuf| path.extension().is_some_and(|e| e == "md");
        let name =
            |path: PathBuf| format!("{folder}/{}", path.file_name().unwrap_or_default().display());
        files.filter(is_page).map(name).collect::<Vec<_>>()
    };
    let mut names = pages("docs");
    names.extend(pages("docs/benchmarks"));
    names.push("README.md".to_owned());
    names.sort();
    let read = |name: String| {
        let text = std::fs::read_to_string(root().join(&name)).expect("a document");
        let found = passages(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        (name, found)
    };
    names.into_iter().map(read).collect()
}

/// A date and a commit, such as `2026-11-24, 5b019c7`.
fn is_made(made: &str) -> bool {
    let Some((date, commit)) = made.split_once(", ") else { return false };
    let numbers: Vec<usize> =
        date.split('-').filter_map(|n| n.parse().ok().map(|_: u32| n.len())).collect();
    numbers == [4, 2, 2] && commit.len() >= 7 && commit.chars().all(|c| c.is_ascii_hexdigit())
}

#[test]
fn tables_say_where_they_are_from() {
    let mut problems = Vec::new();
    for (name, passages) in documents() {
        for p in passages {
            let problem = match &p.source {
                None => Some(
                    "no comment before it says where it is from (testkit/src/passages.rs)"
                        .to_owned(),
                ),
                Some(FigureSource::Words) => {
                    let found: Vec<ShownFigure> = p.lines.iter().flat_map(|l| figures(l)).collect();
                    let result = found.into_iter().find(ShownFigure::is_result);
                    result.map(|f| format!("it says `words`, and has {}", f.text))
                }
                Some(FigureSource::Generated { made, .. }) => (!made
                    .as_deref()
                    .is_some_and(is_made))
                .then(|| "the next line is to be <!-- made YYYY-MM-DD, COMMIT -->".to_owned()),
                Some(_) => None,
            };
            problems.extend(problem.map(|why| format!("{name}:{}: {why}", p.line)));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Whether a figure is one of those that came out.
fn came_out(
    all: &Experiments,
    ids: &[String],
    p: &Passage,
    shown: &PlacedFigure,
    figure: &ShownFigure,
) -> bool {
    // A row of a table that begins with an experiment is of that one, and so are those below it.
    let named = |line: &String| {
        let first = line.split('|').nth(1).unwrap_or_default();
        let words: Vec<&str> = first.split([' ', ':', ',']).collect();
        ids.iter().find(|id| words.contains(&&id[..]))
    };
    let own = p.lines[..=shown.line].iter().rev().find_map(named).filter(|_| p.is_table);
    let ids = own.map_or(ids, std::slice::from_ref);
    ids.iter().filter_map(|id| all.get(id)).flatten().any(|row| {
        let is_ours = figure.is_of(row.ours);
        let is_printed = row.printed.iter().any(|&v| figure.is_of(v));
        match (p.is_table, shown.is_printed) {
            (true, true) => is_printed,
            (true, false) => is_ours,
            (false, _) => is_ours || is_printed,
        }
    })
}

#[test]
fn figures_of_experiments_came_out() {
    let all = experiments::read(&root());
    let mut problems = Vec::new();
    let (mut changed, mut noticed) = (0, 0);
    for (name, passages) in documents() {
        for p in &passages {
            let Some(FigureSource::Rows(ids)) = &p.source else { continue };
            for id in ids.iter().filter(|id| !all.contains_key(*id)) {
                problems.push(format!("{name}:{}: {id} is not in docs/reproduced.csv", p.line));
            }
            for shown in p.results() {
                let is_right = |figure: &ShownFigure| came_out(&all, ids, p, &shown, figure);
                if !is_right(&shown.figure) {
                    let (line, text) = (p.line + shown.line, &shown.figure.text);
                    problems
                        .push(format!("{name}:{line}: no row of {} has {text}", ids.join(", ")));
                }
                for wrong in with_a_wrong_digit(&shown.figure) {
                    changed += 1;
                    noticed += usize::from(!is_right(&wrong));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    // Small whole numbers occur in the rows of most experiments, whatever their digits.
    assert!(
        changed > 100 && 10 * noticed > 9 * changed,
        "{noticed} of {changed} wrong digits are noticed"
    );
}

/// A figure with each of its digits changed in turn.
fn with_a_wrong_digit(figure: &ShownFigure) -> Vec<ShownFigure> {
    let digits = figure.text.match_indices(|c: char| c.is_ascii_digit());
    let changed = digits.map(|(i, d)| {
        let next = (d.parse::<u32>().unwrap_or_default() + 1) % 10;
        format!(" {}{next}{}", &figure.text[..i], &figure.text[i + 1..])
    });
    changed.flat_map(|text| figures(&text)).collect()
}

#[test]
fn the_table_of_experiments_is_that_of_their_rows() {
    let all = experiments::read(&root());
    let documents = documents();
    let (_, passages) =
        documents.iter().find(|(name, _)| name == "docs/reproduced.md").expect("it");
    let mut verdicts = BTreeSet::new();
    let mut off = BTreeSet::new();
    for p in passages.iter().filter(|p| p.is_table) {
        let is_new = matches!(p.source, Some(FigureSource::Tested(_)));
        for line in &p.lines[2..] {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            let id = cells[0];
            assert_eq!(is_new, all.contains_key(id), "{id} is in the table of another run");
            if is_new && cells.len() == 8 {
                verdicts.insert((id.to_owned(), cells[3..7].join(" ")));
            } else if is_new {
                let row = all[id].iter().find(|r| r.quantity == cells[1]);
                let row = row.unwrap_or_else(|| panic!("{id} has no {}", cells[1]));
                for figure in figures(cells[2]).into_iter().chain(figures(cells[3])) {
                    let is_printed = row.printed.iter().any(|&v| figure.is_of(v));
                    assert!(is_printed, "{id}, {}: {} is not printed", cells[1], figure.text);
                }
                off.insert((id.to_owned(), cells[1].to_owned(), cells[4].to_owned()));
            }
        }
    }
    let verdict = |(id, rows): (&String, &Vec<experiments::ExperimentRow>)| {
        let judged = rows.iter().filter(|r| r.is_judged).count();
        let out = rows.iter().filter(|r| !r.is_within).count();
        let word = match (judged, out) {
            (0, _) => "told",
            (_, 0) => "reproduced",
            _ => "**off**",
        };
        (id.clone(), format!("{word} {} of {judged} {out} {}", judged - out, rows.len() - judged))
    };
    assert_eq!(verdicts, all.iter().map(verdict).collect());
    let out = |(id, rows): (&String, &Vec<experiments::ExperimentRow>)| {
        let number = |x: f64| {
            if x.is_nan() {
                return "nothing".to_owned();
            }
            format!("{x:.4}").trim_end_matches('0').trim_end_matches('.').to_owned()
        };
        let out: Vec<_> = rows.iter().filter(|r| !r.is_within).collect();
        let cells = out.into_iter().map(|r| (id.clone(), r.quantity.clone(), number(r.ours)));
        cells.collect::<Vec<_>>()
    };
    assert_eq!(off, all.iter().flat_map(out).collect());
}

#[test]
fn docs_count_their_tables() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let documents = documents();
    for p in documents.iter().flat_map(|(_, passages)| passages).filter(|p| p.is_table) {
        let kind = match &p.source {
            Some(FigureSource::Words) => "words",
            Some(FigureSource::Rows(_)) => "rows",
            Some(FigureSource::Command { .. }) => "figures",
            Some(FigureSource::Tested(_)) => "tested",
            Some(FigureSource::Generated { .. }) => "generated",
            Some(FigureSource::Printed(_)) => "printed",
            None => "none",
        };
        *counts.entry(kind).or_default() += 1;
    }
    let text = std::fs::read_to_string(root().join("docs/testing.md")).expect("docs/testing.md");
    for (kind, count) in counts {
        let row = format!("| `{kind}` | {count} |");
        assert!(text.contains(&row), "docs/testing.md is to have {row}");
    }
}

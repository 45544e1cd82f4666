//! Sources of the figures of a document: given in a comment in the line before a table, or before a paragraph.
//!
//! - `<!-- words -->`: nothing was measured: keys, options, explanations;
//! - `<!-- rows: ID, ID -->`: figures are those of the rows of experiments in docs/reproduced.csv;
//! - `<!-- figures: COMMAND -->`, `<!-- long figures: COMMAND -->`: they are in the output of a command;
//! - `<!-- tested: COMMAND -->`: a test compares all of it, and the command runs that test;
//! - `<!-- generated: COMMAND -->`, followed by `<!-- made DATE, COMMIT -->`: a command made it at that time, and nothing
//!   compares it
//!   since. It holds up to a comment that begins with `end`, if there is one, otherwise for the following block;
//! - `<!-- printed: PAPER, WHERE -->`: copied from a paper.

use crate::figures::{ShownFigure, figures};

/// Source of some figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FigureSource {
    /// There are no measured figures.
    Words,
    /// Rows of these experiments.
    Rows(Vec<String>),
    /// A command prints them.
    Command {
        /// Command of the comment.
        command: String,
        /// Whether it is run with everything only.
        is_long: bool,
    },
    /// A test compares them.
    Tested(String),
    /// A command made them.
    Generated {
        /// Command of the comment.
        command: String,
        /// Date and commit, as written.
        made: Option<String>,
    },
    /// A paper prints them.
    Printed(String),
}

/// A table, or a paragraph that gives the source of its figures.
#[derive(Clone, Debug)]
pub struct Passage {
    /// Its first line, from 1.
    pub line: usize,
    /// Text of the passage, line by line.
    pub lines: Vec<String>,
    /// Source of its figures, if it gives one.
    pub source: Option<FigureSource>,
    /// Whether it is a table.
    pub is_table: bool,
}

/// A figure of a passage, with its position.
#[derive(Clone, Debug)]
pub struct PlacedFigure {
    /// Value of the figure.
    pub figure: ShownFigure,
    /// Its line within the passage, from 0.
    pub line: usize,
    /// Whether a heading marks the column as printed in a paper.
    pub is_printed: bool,
}

impl Passage {
    /// The figures that are results: those of a table except its first column, which has names; all of a paragraph about the
    /// output of a command, and those with decimals or percent signs of one about experiments, whose other figures are
    /// conditions.
    pub fn results(&self) -> Vec<PlacedFigure> {
        if !self.is_table {
            let is_command = matches!(self.source, Some(FigureSource::Command { .. }));
            let of = |(line, text): (usize, &String)| {
                let found = figures(text).into_iter().filter(|f| is_command || f.is_result());
                found
                    .map(|figure| PlacedFigure { figure, line, is_printed: false })
                    .collect::<Vec<_>>()
            };
            return self.lines.iter().enumerate().flat_map(of).collect();
        }
        let heading: Vec<(usize, usize)> = cells(&self.lines[0]);
        let is_printed: Vec<bool> = heading
            .iter()
            .map(|&(a, b)| ["printed", "paper"].iter().any(|w| self.lines[0][a..b].contains(w)))
            .collect();
        let mut all = Vec::new();
        for (line, text) in self.lines.iter().enumerate().skip(2) {
            for (column, (a, b)) in cells(text).into_iter().enumerate().skip(1) {
                let is_printed = is_printed.get(column) == Some(&true);
                for mut figure in figures(&text[a..b]) {
                    figure.at += a;
                    all.push(PlacedFigure { figure, line, is_printed });
                }
            }
        }
        all
    }
}

/// Start and end of the cells of a row, in bytes.
fn cells(row: &str) -> Vec<(usize, usize)> {
    let bars: Vec<usize> = row.match_indices('|').map(|(i, _)| i).collect();
    bars.windows(2).map(|w| (w[0] + 1, w[1])).collect()
}

/// All tables of a document, and the paragraphs that say where their figures come from.
///
/// # Errors
/// If a comment that says so cannot be read; with its line.
pub fn passages(text: &str) -> Result<Vec<Passage>, String> {
    let mut all: Vec<Passage> = Vec::new();
    // The source for a whole part, and those in the comments directly before.
    let mut part: Option<FigureSource> = None;
    let mut source: Option<FigureSource> = None;
    let mut is_code = false;
    let lines: Vec<&str> = text.lines().collect();
    let mut i = 0;
    while i < lines.len() {
        let line = lines[i].trim();
        is_code ^= line.starts_with("```");
        let comment = line.strip_prefix("<!-- ").and_then(|l| l.strip_suffix(" -->"));
        if let (Some(comment), false) = (comment, is_code) {
            if comment.starts_with("end") {
                part = None;
            } else if let Some(made) = comment.strip_prefix("made ") {
                for s in [&mut source, &mut part].into_iter().flatten() {
                    if let FigureSource::Generated { made: at, .. } = s {
                        *at = Some(made.to_owned());
                    }
                }
            } else if let Some(found) = source_of(comment, i + 1)? {
                if matches!(found, FigureSource::Generated { .. }) && has_end(&lines[i + 1..]) {
                    part = Some(found.clone());
                }
                source = Some(found);
            }
            i += 1;
            continue;
        }
        let is_table = line.starts_with('|');
        if is_code || line.is_empty() || !(is_table || source.is_some()) {
            source = None;
            i += 1;
            continue;
        }
        let goes_on = |l: &&&str| {
            let l = l.trim();
            if is_table { l.starts_with('|') } else { !l.is_empty() && !l.starts_with("<!-- ") }
        };
        let own: Vec<String> =
            lines[i..].iter().take_while(goes_on).map(|l| (*l).to_owned()).collect();
        let count = own.len();
        all.push(Passage {
            line: i + 1,
            lines: own,
            source: source.take().or(part.clone()),
            is_table,
        });
        i += count;
    }
    Ok(all)
}

/// Whether a part that was generated ends before another one begins.
fn has_end(later: &[&str]) -> bool {
    let mut marks = later.iter().map(|l| l.trim());
    let mark = marks.find(|l| l.starts_with("<!-- end") || l.starts_with("<!-- generated"));
    mark.is_some_and(|l| l.starts_with("<!-- end"))
}

/// The source of figures in a comment, if there is one.
fn source_of(comment: &str, line: usize) -> Result<Option<FigureSource>, String> {
    let (word, rest) = comment.split_once(':').unwrap_or((comment, ""));
    let rest = rest.trim().to_owned();
    let source = match word {
        "words" => return Ok(Some(FigureSource::Words)),
        "rows" => FigureSource::Rows(rest.split(", ").map(str::to_owned).collect()),
        "figures" | "long figures" => {
            FigureSource::Command { command: rest.clone(), is_long: word != "figures" }
        }
        "tested" => FigureSource::Tested(rest.clone()),
        "generated" => FigureSource::Generated { command: rest.clone(), made: None },
        "printed" => FigureSource::Printed(rest.clone()),
        _ => return Ok(None),
    };
    if rest.is_empty() {
        return Err(format!(
            "line {line}: `{word}: ...` is expected, and what the figures come from"
        ));
    }
    Ok(Some(source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_say_where_they_are_from() {
        let text = "<!-- words -->\n| a |\n|---|\n| b |\n\n| c |\n|---|\n\n<!-- rows: A-1, A-2 -->\nIt is 1.5\nor 7 %, of 16.\n\n\
                    ```\n| d |\n```\n<!-- generated: x -->\n<!-- made 2026-11-24, abc1234 -->\n\n| e |\n|---|\n\n| f |\n|---|\n\
                    <!-- end -->\n| g |\n|---|\n";
        let all = passages(text).expect("marks");
        let made = FigureSource::Generated {
            command: "x".into(),
            made: Some("2026-11-24, abc1234".into()),
        };
        let sources: Vec<_> = all.iter().map(|p| p.source.clone()).collect();
        let rows = FigureSource::Rows(vec!["A-1".into(), "A-2".into()]);
        let expected =
            [Some(FigureSource::Words), None, Some(rows), Some(made.clone()), Some(made), None];
        assert_eq!(sources, expected);
        let results: Vec<_> = all[2].results().into_iter().map(|s| s.figure.text).collect();
        assert_eq!((all[2].line, results), (10, vec!["1.5".to_owned(), "7".to_owned()]));
        assert!(passages("<!-- rows: -->\n").is_err());
    }

    #[test]
    fn results_of_a_table_stand_behind_its_first_column() {
        let text = "| of 5 | printed | ours |\n|---|---|---|\n| at 7 | 1.5 | 1.4, **2** |\n";
        let shown = passages(text).expect("no marks").remove(0).results();
        let of: Vec<_> = shown.iter().map(|s| (&s.figure.text[..], s.line, s.is_printed)).collect();
        assert_eq!(of, [("1.5", 2, true), ("1.4", 2, false), ("2", 2, false)]);
        assert_eq!(&"| at 7 | 1.5 | 1.4, **2** |"[shown[2].figure.at..][..1], "2");
    }
}

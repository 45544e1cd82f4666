//! The documents agree with the output of the program: commands in them are run, and their output is compared.
//!
//! Every block of a terminal (` ```console `) has a comment in the line before it with its treatment:
//!
//! - `<!-- run -->`: it is run with the tests;
//! - `<!-- run long: 2026-11-23 -->`: it takes more than a second or two, and was last run on that day;
//! - `<!-- not run: why -->`: it needs something that is missing here.
//!
//! `<!-- file NAME -->` before any block writes it to the directory in which commands of the document run, so that they find it. `<!--
//! picture PATH: COMMAND -->` names the command that draws a picture (its only SVG file), `<!-- says A | B: COMMAND -->` states that the
//! output of a command has these words. Wall times may differ; a line of `...` stands for any lines. Comments about the figures of tables
//! and paragraphs are those of [`passages`](crate::passages).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::figures::{ShownFigure, figures};
use crate::passages::{FigureSource, passages};

/// When something is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// Run with the tests.
    Short,
    /// Run with all long commands.
    Long,
    /// Never run: it needs something that is missing here.
    Never,
}

/// A command and its expected output, or picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// The line of the command, from 1.
    pub line: usize,
    /// Text of the command.
    pub command: String,
    /// When it is run.
    pub when: When,
    /// Kind of output that the document shows.
    pub what: What,
}

/// The part of a command's result that a document shows.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// Its output, line by line; empty if none is shown.
    Output(Vec<String>),
    /// Words of its output.
    Words(Vec<String>),
    /// Figures that are among those of its output.
    Figures(Vec<ShownFigure>),
    /// The picture that it draws, from the root of the project.
    Picture(String),
}

/// A document with its commands.
#[derive(Debug, Default)]
pub struct Document {
    /// Commands that it shows.
    pub shown: Vec<Shown>,
    /// Files that its commands find, by name.
    pub files: BTreeMap<String, String>,
}

impl Document {
    /// Parses a document.
    ///
    /// # Errors
    /// If a block has no comment on when it is run, or a comment cannot be read; with its line.
    pub fn read(text: &str) -> Result<Self, String> {
        let lines: Vec<&str> = text.lines().collect();
        let mut document = Self::default();
        let mut i = 0;
        let mut comment: Option<&str> = None;
        while i < lines.len() {
            let line = lines[i].trim();
            let inside = line.strip_prefix("<!-- ").and_then(|l| l.strip_suffix(" -->"));
            if let Some(inside) = inside {
                document.claim(inside, i + 1)?;
                comment = Some(inside);
                i += 1;
                continue;
            }
            if line.starts_with("```") {
                let end = (i + 1..lines.len()).find(|&j| lines[j].trim() == "```");
                let end = end.ok_or_else(|| format!("line {}: the block does not end", i + 1))?;
                let block = &lines[i + 1..end];
                if let Some(name) = comment.and_then(|c| c.strip_prefix("file ")) {
                    let text = block.iter().fold(String::new(), |t, l| t + l + "\n");
                    document.files.insert(name.to_owned(), text);
                }
                if line == "```console" {
                    let when = match comment {
                        Some("run") => When::Short,
                        Some(c) if c.starts_with("run long: ") => When::Long,
                        Some(c) if c.starts_with("not run: ") => When::Never,
                        _ => {
                            return Err(format!(
                                "line {}: the line before a block of a terminal says when it is run: <!-- run -->, \
                                 <!-- run long: DATE --> or <!-- not run: WHY -->",
                                i + 1
                            ));
                        }
                    };
                    document.block(block, i + 2, &when);
                }
                i = end;
            }
            comment = None;
            i += 1;
        }
        for passage in passages(text)? {
            if let Some(FigureSource::Command { command, is_long }) = &passage.source {
                let shown = passage.results().into_iter().map(|s| s.figure).collect();
                document.shown.push(Shown {
                    line: passage.line,
                    command: command.clone(),
                    when: if *is_long { When::Long } else { When::Short },
                    what: What::Figures(shown),
                });
            }
        }
        Ok(document)
    }

    /// A comment that makes a claim about a command without a block.
    fn claim(&mut self, inside: &str, line: usize) -> Result<(), String> {
        let long = inside.strip_prefix("long ");
        let when = if long.is_some() { When::Long } else { When::Short };
        let inside = long.unwrap_or(inside);
        let claim = |rest: &str| -> Result<(String, String), String> {
            let found = rest.split_once(": ");
            let (what, command) =
                found.ok_or(format!("line {line}: `WHAT: COMMAND` is expected"))?;
            Ok((what.to_owned(), command.to_owned()))
        };
        let (what, command) = if let Some(rest) = inside.strip_prefix("picture ") {
            let (path, command) = claim(rest)?;
            (What::Picture(path), command)
        } else if let Some(rest) = inside.strip_prefix("says ") {
            let (words, command) = claim(rest)?;
            (What::Words(words.split(" | ").map(str::to_owned).collect()), command)
        } else {
            return Ok(());
        };
        self.shown.push(Shown { line, command, when, what });
        Ok(())
    }

    /// The commands of a block.
    fn block(&mut self, block: &[&str], first: usize, when: &When) {
        let mut lines = block.iter().zip(first..).peekable();
        while let Some((line, number)) = lines.next() {
            let Some(begin) = line.strip_prefix("$ ") else { continue };
            let mut command = begin.to_owned();
            // A command continues after a backslash, or where the shell prompts for more with `>`.
            loop {
                let cut = command.ends_with('\\');
                let asked = lines.peek().is_some_and(|(l, _)| l.starts_with("> "));
                if !(cut || asked) {
                    break;
                }
                let Some((more, _)) = lines.next() else { break };
                if cut {
                    command.pop();
                } else {
                    command.push('\n');
                }
                command.push_str(more.strip_prefix("> ").unwrap_or(more).trim_start());
            }
            let mut output = Vec::new();
            while let Some((line, _)) = lines.next_if(|(l, _)| !l.starts_with("$ ")) {
                output.push(line.trim_end().to_owned());
            }
            while output.last().is_some_and(String::is_empty) {
                output.pop();
            }
            let what = What::Output(output);
            self.shown.push(Shown { line: number, command, when: when.clone(), what });
        }
    }
}

/// A directory in which the commands of a document run.
pub struct Shell {
    dir: tempfile::TempDir,
    path: String,
    root: PathBuf,
}

impl Shell {
    /// With the files of a document and the examples of the project at `root`; `program` is `darkfiber`.
    ///
    /// # Panics
    /// If files cannot be written.
    pub fn new(document: &Document, root: &Path, program: &Path) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        for (name, text) in &document.files {
            fs::write(dir.path().join(name), text).expect("written");
        }
        for name in ["examples", "tests", "benches", "docs"] {
            symlink(root.join(name), dir.path().join(name)).expect("linked");
        }
        // Logs of jobs that are not part of the project, where they are there.
        let logs = fs::read_dir(root.join("../shared/data/jobs")).into_iter().flatten().flatten();
        for log in logs {
            symlink(log.path(), dir.path().join(log.file_name())).expect("linked");
        }
        let bin = dir.path().join(".bin");
        fs::create_dir(&bin).expect("made");
        symlink(program, bin.join("darkfiber")).expect("linked");
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
        Self { dir, path, root: root.to_owned() }
    }

    /// A compressed file that a command reads and that is not here.
    pub fn lacks<'a>(&self, shown: &'a Shown) -> Option<&'a str> {
        let mut words = shown.command.split_whitespace();
        let is_packed = |w: &str| Path::new(w).extension().is_some_and(|e| e == "gz");
        words.find(|w| is_packed(w) && !self.dir.path().join(w).exists())
    }

    /// Runs a command; returns its output, and the difference from the document, if there is one.
    pub fn run(&self, shown: &Shown) -> (String, Option<String>) {
        let command = shown.command.replace("cargo run --release --", "darkfiber");
        let before = self.pictures();
        let done = Command::new("sh")
            .args(["-c", &command])
            .current_dir(self.dir.path())
            .env("PATH", &self.path)
            .env("COLUMNS", "120")
            .stdin(Stdio::null())
            .output();
        let done = match done {
            Ok(done) => done,
            Err(e) => return (String::new(), Some(format!("it cannot be run: {e}"))),
        };
        // The folder in which commands run has another name each time.
        let folder = self.dir.path().display().to_string();
        let out = String::from_utf8_lossy(&done.stdout).replace(&folder, "/srv/try");
        // 1 is a finding, such as routes that can deadlock.
        if !matches!(done.status.code(), Some(0 | 1)) {
            let said = String::from_utf8_lossy(&done.stderr);
            return (out, Some(format!("{}: {said}", done.status)));
        }
        let problem = match &shown.what {
            What::Output(lines) if lines.is_empty() => None,
            What::Output(lines) => differences(lines, &out),
            What::Words(words) => {
                let missing: Vec<&str> =
                    words.iter().map(String::as_str).filter(|w| !out.contains(*w)).collect();
                (!missing.is_empty())
                    .then(|| format!("it does not print {}:\n{out}", missing.join(", ")))
            }
            What::Figures(shown) => {
                let printed = figures(&out);
                let missing: Vec<&str> = shown
                    .iter()
                    .filter(|f| !printed.iter().any(|p| f.is_of(p.value)))
                    .map(|f| &f.text[..])
                    .collect();
                (!missing.is_empty())
                    .then(|| format!("it does not print {}:\n{out}", missing.join(", ")))
            }
            What::Picture(path) => {
                let drawn: Vec<PathBuf> =
                    self.pictures().into_iter().filter(|p| !before.contains(p)).collect();
                match drawn.as_slice() {
                    [one] if same(one, &self.root.join(path)) => None,
                    [one] => Some(format!("{} is another picture", one.display())),
                    several => Some(format!("it draws {} pictures, not one", several.len())),
                }
            }
        };
        (out, problem)
    }

    fn pictures(&self) -> Vec<PathBuf> {
        let all = fs::read_dir(self.dir.path()).into_iter().flatten().flatten();
        all.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "svg")).collect()
    }
}

fn same(one: &Path, other: &Path) -> bool {
    matches!((fs::read(one), fs::read(other)), (Ok(a), Ok(b)) if a == b)
}

/// The first line of the output that differs from the document.
fn differences(shown: &[String], printed: &str) -> Option<String> {
    let mut wanted = masked(shown.iter().map(String::as_str)).into_iter().peekable();
    let got = masked(printed.trim_end().lines());
    let mut any = false;
    for line in got {
        while wanted.next_if(|w| w == "...").is_some() {
            any = true;
        }
        match wanted.peek() {
            Some(w) if is_shown(w, &line) => {
                wanted.next();
                any = false;
            }
            _ if any => {}
            Some(w) => return Some(format!("shown:   {w}\nprinted: {line}")),
            None => return Some(format!("not shown: {line}")),
        }
    }
    let left: Vec<String> = wanted.filter(|w| w != "...").collect();
    let mut text = String::new();
    if let Some(first) = left.first() {
        let _infallible = write!(text, "not printed: {first}");
    }
    (!text.is_empty()).then_some(text)
}

/// Whether a line agrees, or agrees up to the `...` at the end of the shown line.
fn is_shown(shown: &str, printed: &str) -> bool {
    shown.strip_suffix("...").map_or(shown == printed, |begin| printed.starts_with(begin))
}

/// Words before and after which times are those of a clock on the wall.
const WALL: [&str; 8] = [
    "events in",
    "cells in",
    "Found in",
    "exchanges of hosts in",
    "exchange of hosts in",
    "judged numbers",
    "simulated in",
    "prepare ",
];

/// Beginnings and ends of table headings whose columns have such times; no end: at any position.
const TIMED: [(&[&str], &str); 3] = [
    (&["engine", "time"], ""),
    (&["failed", "engine"], "time"),
    (&["tables", "fullest"], "seconds"),
];

/// Lines with single spaces, rules of tables left out, and wall times made alike.
fn masked<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut timed = false;
    let mut all = Vec::new();
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_heading = TIMED.iter().any(|(first, last)| {
            words.starts_with(first) && words.last().is_some_and(|w| last.is_empty() || w == last)
        });
        if is_heading {
            timed = true;
        } else if words.is_empty() || words == ["..."] {
            timed = false;
        }
        if !words.is_empty() && words.iter().all(|w| w.chars().all(|c| c == '-')) {
            continue;
        }
        let is_wall = timed || WALL.iter().any(|w| line.contains(w));
        all.push(if is_wall { without_times(&words) } else { words.join(" ") });
    }
    while all.last().is_some_and(String::is_empty) {
        all.pop();
    }
    all
}

/// A line with its times (`12.3 ms`) removed.
fn without_times(words: &[&str]) -> String {
    let bare = |w: &str| w.trim_end_matches([',', ';', '.']).to_owned();
    let is_unit = |w: &str| ["ns", "us", "ms", "s", "min", "h"].contains(&bare(w).as_str());
    let is_number = |w: &str| w.replace(',', "").parse::<f64>().is_ok();
    let mut text = Vec::new();
    let mut i = 0;
    while i < words.len() {
        if i + 1 < words.len() && is_number(words[i]) && is_unit(words[i + 1]) {
            text.push("TIME".to_owned());
            i += 2;
        } else {
            text.push(words[i].to_owned());
            i += 1;
        }
    }
    text.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn documents_say_what_is_run() {
        let text = "# x\n<!-- file a.toml -->\n```toml\nx = 1\n```\n<!-- run -->\n```console\n$ darkfiber a \\\n    b\nout\n\n$ c\n```\n\
                    <!-- picture docs/p.svg: darkfiber d --svg p.svg -->\n<!-- long says 1 | 2: darkfiber e -->\n";
        let document = Document::read(text).expect("a document");
        assert_eq!(document.files["a.toml"], "x = 1\n");
        let of = |i: usize| (&document.shown[i].command[..], &document.shown[i].what);
        assert_eq!(of(0), ("darkfiber a b", &What::Output(vec!["out".to_owned()])));
        assert_eq!(of(1), ("c", &What::Output(vec![])));
        assert_eq!(of(2), ("darkfiber d --svg p.svg", &What::Picture("docs/p.svg".to_owned())));
        assert_eq!(of(3).1, &What::Words(lines("1\n2")));
        assert_eq!(document.shown[3].when, When::Long);
        let silent = Document::read("```console\n$ x\n```\n").expect_err("it says nothing");
        assert!(silent.starts_with("line 1: "), "{silent}");
    }

    #[test]
    fn outputs_are_compared_but_for_wall_times() {
        let shown = lines("engine  time  max\n-----\na  12 ms  7\n\n9 events in 0.5 s\nx 3 us");
        let same = "engine time max\n---\na 3.5 s 7\n\n9 events in 7 ms\nx 3 us\n";
        assert_eq!(differences(&shown, same), None);
        assert!(differences(&shown, &same.replace("s 7", "s 8")).is_some());
        assert!(differences(&shown, &same.replace("x 3 us", "x 4 us")).is_some());
        assert!(differences(&shown, "engine time max").is_some());
        let sweep = lines("failed engine runs time\n0 % (0) updn 1 12 us");
        assert_eq!(differences(&sweep, "failed engine runs time\n0 % (0) updn 1 9 ms\n"), None);
        let simulated = lines("job time\na 12 us");
        assert!(differences(&simulated, "job time\na 13 us\n").is_some());
        assert!(differences(&shown, &(same.to_owned() + "more\n")).is_some());
        let cut = lines("engine time max\n...\nx 3 us\n...");
        assert_eq!(differences(&cut, &(same.to_owned() + "more\n")), None);
        assert!(differences(&cut, "engine time max\nand no more").is_some());
    }
}

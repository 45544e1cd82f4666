//! The content of a study file.

use darkfiber_scenario::{Error, ScenarioFile, fabric_instead};
use schemars::JsonSchema;
use serde::Deserialize;
use toml_edit::DocumentMut;

use super::axis::{self, Axis};
use super::expect::ExpectPart;
use super::part::StudyPart;
use super::question::{Scope, ScopedQuestion};
use super::row::Record;
use crate::judged::Row;

/// The content of a study file: a scenario, axes over its keys, and questions.
#[derive(Clone, Debug)]
pub struct StudyFile {
    /// The `[study]` table of the file.
    pub part: StudyPart,
    /// Expected values of the answers.
    pub expect: Vec<ExpectPart>,
    /// Name of the file in errors.
    pub name: String,
    /// The axes, the outermost first.
    pub axes: Vec<Axis>,
    /// The scenario without the study's own tables; axes still have all their values.
    pub(super) document: DocumentMut,
    /// The same with the first value of each axis: what cells begin with, however many values there are.
    pub(super) base: DocumentMut,
    /// Text of the file, whose lines errors name.
    pub(super) text: String,
    /// The seed of the first cell.
    pub(super) seed: u64,
}

/// What the file of a study says beside its scenario.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct StudyKeys {
    /// What is asked, and of how many cells.
    #[serde(default)]
    pub study: StudyPart,
    /// What is expected of the answers.
    #[serde(default)]
    pub expect: Vec<ExpectPart>,
}

impl StudyFile {
    /// Parses the text of a file. `set` are axes of the command line, which come before those of the file, and `seed` the first
    /// seed, if given on the command line; so is `max_cells`.
    ///
    /// # Errors
    /// If it is not a study: with the name of the file, the line, what was expected and what to do.
    pub fn parse(
        text: &str,
        name: &str,
        set: &[Axis],
        seed: Option<u64>,
        max_cells: Option<u64>,
    ) -> Result<Self, Error> {
        let line = |span: Option<std::ops::Range<usize>>| {
            span.map_or_else(String::new, |span| {
                let before = &text.as_bytes()[..span.start.min(text.len())];
                format!("line {}: ", before.iter().filter(|b| **b == b'\n').count() + 1)
            })
        };
        let mut document: DocumentMut = text.parse().map_err(|e: toml_edit::TomlError| {
            let other =
                || Error::input(format!("{name}: {}{}", line(e.span()), e.message().trim()));
            fabric_instead(text, name).unwrap_or_else(other)
        })?;
        let only: StudyKeys = toml::from_str(text).map_err(|e| {
            Error::input(format!("{name}: {}study: {}", line(e.span()), e.message().trim()))
                .hint("`darkfiber help scenario` has the keys of [study] and [[expect]], too")
        })?;
        document.remove("study");
        document.remove("expect");
        let file = ScenarioLines { name, text };
        for axis in set {
            axis::set(&mut document, &axis.path, &axis.values[0]).map_err(|e| file.located(e))?;
        }
        let mut axes: Vec<Axis> = set.iter().filter(|a| a.values.len() > 1).cloned().collect();
        axes.extend(axis::axes(&document).map_err(|e| file.located(e))?);
        // A key set to a list value is no axis; a key set several times has the last value.
        axes.dedup_by(|b, a| a.path == b.path);
        let is_axis = axes.iter().any(|a| a.name() == "seed");
        let written = match document.get("seed").filter(|_| !is_axis) {
            None => None,
            Some(item) => {
                let number = item.as_integer().and_then(|n| u64::try_from(n).ok());
                Some(number.ok_or_else(|| {
                    let what = format!("{} is no seed", item.to_string().trim());
                    let error = Error::input(what).hint("expected a whole number from 0 on");
                    file.located(error.inside("seed"))
                })?)
            }
        };
        if let Some(seed) = seed
            && !is_axis
        {
            document.insert("seed", toml_edit::value(i64::try_from(seed).unwrap_or(i64::MAX)));
        }
        let seed = seed.or(written).unwrap_or(1);
        let mut base = document.clone();
        for axis in &axes {
            axis::set(&mut base, &axis.path, &axis.values[0]).map_err(|e| file.located(e))?;
        }
        let mut part = only.study;
        part.max_cells = max_cells.or(part.max_cells);
        let study = Self {
            part,
            expect: only.expect,
            name: name.to_owned(),
            axes,
            document,
            base,
            text: text.to_owned(),
            seed,
        };
        study.check(set).map_err(|e| file.located(e))?;
        Ok(study)
    }

    /// Refuses combinations of options that are valid only separately. The axes `set` are the command line's.
    fn check(&self, set: &[Axis]) -> Result<(), Error> {
        let inside = |e: Error| e.inside("study");
        let named = |key: &str, wanted: &toml::Value| {
            let is_set = set.iter().any(|axis| axis.name() == key);
            self.axis(key).and_then(|axis| axis.require(wanted, is_set))
        };
        let part = &self.part;
        if part.seeds.is_some() && self.axes.iter().any(|a| a.name() == "seed") {
            return Err(inside(
                Error::input("seeds are counted, and the key seed is an axis, too")
                    .hint("leave one of them out"),
            ));
        }
        if part.seeds == Some(0) {
            return Err(inside(Error::input("seeds = 0: at least one is needed")));
        }
        for key in part.zip.iter().flatten() {
            self.axis(key).map_err(|e| inside(e.inside("zip")))?;
        }
        for group in &part.zip {
            let lengths: Vec<usize> = group
                .iter()
                .filter_map(|key| self.axis(key).ok())
                .map(|a| a.values.len())
                .collect();
            if lengths.windows(2).any(|pair| pair[0] != pair[1]) {
                let each: Vec<String> =
                    group.iter().zip(&lengths).map(|(key, n)| format!("{key} has {n}")).collect();
                let what =
                    format!("axes that go together have as many values: {}", each.join(", "));
                return Err(inside(Error::input(what).inside("zip")));
            }
        }
        for (key, wanted) in part.exclude.iter().flatten() {
            named(key, wanted).map_err(|e| inside(e.inside("exclude")))?;
        }
        let questions = self.questions().map_err(inside)?;
        for ask in &questions {
            let which = |e: Error| inside(e.inside("only").inside(&ask.label));
            for (key, wanted) in ask.scope.only.iter().filter(|(key, _)| *key != "seed") {
                named(key, wanted).map_err(which)?;
            }
            if ask.scope.seeds.is_some() && self.is_adaptive() {
                let what = "seeds of a question do not go with until and find, which count them";
                return Err(which(Error::input(what)));
            }
        }
        self.check_adaptive(&questions).map_err(inside)?;
        self.point_count().map_err(inside)?;
        Ok(())
    }

    /// Refuses searches that are impossible.
    fn check_adaptive(&self, questions: &[ScopedQuestion]) -> Result<(), Error> {
        let part = &self.part;
        let columns: Vec<&str> = questions
            .iter()
            .flat_map(|ask| ask.question.columns())
            .map(|(name, _)| *name)
            .collect();
        for expect in &self.expect {
            expect.check(&self.axis_names(), &columns).map_err(|e| e.inside("expect"))?;
        }
        let is_column = |quantity: &str| {
            if columns.contains(&quantity) {
                return Ok(());
            }
            Err(Error::unknown("column of the questions", quantity, &columns).inside("quantity"))
        };
        if let Some(until) = &part.until {
            let inside = |e: Error| e.inside("until");
            until.check().and_then(|()| is_column(&until.quantity)).map_err(inside)?;
            if self.axes.iter().any(|a| a.name() == "seed") {
                return Err(inside(Error::input("seeds are added, and the key seed is an axis")));
            }
        }
        if let Some(find) = &part.find {
            let inside = |e: Error| e.inside("find");
            find.check().and_then(|()| is_column(&find.quantity)).map_err(inside)?;
            if self.axes.iter().any(|a| a.name() == find.axis) {
                return Err(inside(
                    Error::input(format!("{} is an axis, too", find.axis))
                        .hint("a value is looked for, or all of them are tried"),
                ));
            }
            if part.until.is_some() {
                return Err(inside(
                    Error::input("until and find do not go together")
                        .hint("give as many seeds to each trial: seeds = 20"),
                ));
            }
        }
        Ok(())
    }

    /// The questions of the study.
    ///
    /// # Errors
    /// If there is no such question, or parameter.
    pub fn questions(&self) -> Result<Vec<ScopedQuestion>, Error> {
        ScopedQuestion::all(&self.part.questions, self.has_jobs())
    }

    /// Title of the study.
    pub fn title(&self) -> String {
        let stem = std::path::Path::new(&self.name).file_stem().unwrap_or_default();
        let written = self.document.get("title").and_then(toml_edit::Item::as_str);
        let title = self.part.title.as_deref().or(written);
        title.map_or_else(|| stem.to_string_lossy().into_owned(), str::to_owned)
    }

    /// The expected values, with those from the answers.
    pub fn judged(&self, records: &[Record]) -> Vec<Row> {
        self.expect.iter().map(|expect| expect.judge(records, &self.part.zip)).collect()
    }

    /// Whether the scenario has jobs.
    pub(super) fn has_jobs(&self) -> bool {
        self.document.contains_key("job")
    }

    /// The axis of a key.
    ///
    /// # Errors
    /// If the key is no axis, with those that are close.
    pub fn axis(&self, key: &str) -> Result<&Axis, Error> {
        self.axes.iter().find(|axis| axis.name() == key).ok_or_else(|| {
            let names: Vec<String> = self.axes.iter().map(Axis::name).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            Error::unknown("axis", key, &names)
        })
    }

    /// The content of a study without comments and blanks: what distinguishes it from others, line by line.
    pub fn canonical(&self) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = Vec::new();
        for (key, item) in self.document.iter() {
            all.push((key.to_owned(), plain(item)));
        }
        for axis in &self.axes {
            let values: Vec<String> = axis.values.iter().map(ToString::to_string).collect();
            all.push((format!("axis {}", axis.name()), values.join(", ")));
        }
        let part = &self.part;
        let questions = self.questions().unwrap_or_default();
        let said = |ask: &ScopedQuestion| match &ask.scope {
            all if *all == Scope::default() => ask.key(),
            some => format!("{} of {some:?}", ask.key()),
        };
        let questions: Vec<String> = questions.iter().map(said).collect();
        all.push(("questions".to_owned(), questions.join(" ")));
        all.push(("seeds".to_owned(), format!("{:?}", part.seeds)));
        all.push(("first seed".to_owned(), self.seed.to_string()));
        all.push(("zip".to_owned(), format!("{:?}", part.zip)));
        all.push(("exclude".to_owned(), format!("{:?}", part.exclude)));
        all.push(("until".to_owned(), format!("{:?}", part.until)));
        all.push(("find".to_owned(), format!("{:?}", part.find)));
        all
    }
}

/// A part of a document without the comments in it.
fn plain(item: &toml_edit::Item) -> String {
    let text = item.to_string();
    toml::from_str::<toml::Table>(&format!("x = {text}"))
        .or_else(|_| toml::from_str::<toml::Table>(&text))
        .map_or_else(
            |_| text.split_whitespace().collect::<Vec<_>>().join(" "),
            |table| format!("{table:?}"),
        )
}

/// Lines of a file that errors refer to.
struct ScenarioLines<'a> {
    name: &'a str,
    text: &'a str,
}

impl ScenarioLines<'_> {
    fn located(&self, error: Error) -> Error {
        ScenarioFile::locate(self.text, self.name, error)
    }
}

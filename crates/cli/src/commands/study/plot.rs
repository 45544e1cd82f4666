//! Pictures of a study by its axes: what users say of them, and how they are drawn.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;
use darkfiber_report::study::StudyResult;
use darkfiber_report::study::plot::{self, PlotOptions, Shape};
use darkfiber_scenario::Error;
use darkfiber_study::grid::{Axis, Record, ScopedQuestion, StudyFile};

use crate::failure::Failure;
use crate::options::Common;
use crate::{provenance, save};

/// What is drawn.
#[derive(Args, Debug)]
pub(crate) struct PlotArgs {
    /// The axis from left to right [default: the first with three numbers or more, else the first]
    #[arg(long, value_name = "AXIS", help_heading = "Picture")]
    pub(crate) x: Option<String>,
    /// The column that is drawn [default: the first of the question that has numbers]
    #[arg(long, value_name = "COLUMN", help_heading = "Picture")]
    pub(crate) y: Option<String>,
    /// The axis whose values have colours, or rows of a heat map [default: the last of the others, names before numbers]
    #[arg(long, value_name = "AXIS", help_heading = "Picture")]
    pub(crate) by: Option<String>,
    /// The question whose answers are drawn [default: the first]
    #[arg(long, value_name = "NAME", help_heading = "Picture")]
    pub(crate) question: Option<String>,
    /// The job, pattern or load that is drawn [default: all, as one more axis that is called of]
    #[arg(long, value_name = "NAME", help_heading = "Picture")]
    pub(crate) of: Option<String>,
    /// Draw only cells with these values of an axis; several times
    #[arg(long, value_name = "AXIS=VALUE,..", help_heading = "Picture")]
    pub(crate) only: Vec<String>,
    /// What is drawn [default: lines over three numbers or more, else bars, or a map where there are many]
    #[arg(
        long,
        value_name = "SHAPE",
        help_heading = "Picture",
        value_parser = PossibleValuesParser::new(Shape::ALL.map(|(name, _)| name))
    )]
    pub(crate) shape: Option<String>,
}

impl PlotArgs {
    /// Whether anything is said.
    fn is_given(&self) -> bool {
        let some = [&self.x, &self.y, &self.by, &self.question, &self.of, &self.shape];
        some.into_iter().any(Option::is_some) || !self.only.is_empty()
    }

    fn options(&self, study: &StudyFile) -> Result<PlotOptions, Failure> {
        let only = |text: &String| -> Result<(String, Vec<String>), Failure> {
            let key = text.split('=').next().unwrap_or_default().trim();
            study.axis(key)?;
            let axis = Axis::parse(text).map_err(|e| {
                let message = e.message.replacen("--set", "--only", 1);
                Error { message, hint: "for example --only routes.engine=dfsssp".into(), ..e }
            })?;
            Ok((axis.name(), axis.texts()))
        };
        let shape = self.shape.as_deref();
        Ok(PlotOptions {
            x: self.x.clone(),
            y: self.y.clone(),
            by: self.by.clone(),
            question: self.question.clone(),
            of: self.of.clone(),
            only: self.only.iter().map(only).collect::<Result<_, _>>()?,
            shape: Shape::ALL
                .iter()
                .find(|(name, _)| Some(*name) == shape)
                .map(|(_, shape)| *shape),
        })
    }

    /// Refuses, before anything is computed, what the study cannot have: axes, questions and columns of other names.
    pub(super) fn check(&self, study: &StudyFile, svg: Option<&PathBuf>) -> Result<(), Failure> {
        save::expect(svg)?;
        let others = ["png", "pdf", "jpg", "jpeg", "eps", "ps"];
        if let Some(path) = svg
            && let Some(end) = path.extension().and_then(|end| end.to_str())
            && others.contains(&end.to_ascii_lowercase().as_str())
        {
            return Err(Failure::usage(format!("{}: pictures are SVG", path.display()))
                .hint("name it .svg; rsvg-convert, Inkscape and browsers make others of it"));
        }
        if svg.is_none() && self.is_given() {
            return Err(Failure::usage("what a picture shows is said, but not where it is drawn")
                .hint("--svg FILE draws it"));
        }
        self.options(study)?;
        let axes = study.axis_names();
        let mut known: Vec<&str> = axes.iter().map(String::as_str).collect();
        known.extend(["of", "seed"]);
        for name in [&self.x, &self.by].into_iter().flatten() {
            if !known.contains(&name.as_str()) {
                return Err(Failure::unknown("axis of this study", name, &known));
            }
        }
        let questions = study.questions()?;
        let labels: Vec<&str> = questions.iter().map(|ask| ask.label.as_str()).collect();
        if let Some(name) = &self.question
            && !labels.contains(&name.as_str())
        {
            return Err(Failure::unknown("question of this study", name, &labels));
        }
        let is_drawn =
            |ask: &&ScopedQuestion| self.question.as_ref().is_none_or(|name| *name == ask.label);
        let columns = questions.iter().filter(is_drawn).flat_map(|ask| ask.question.columns());
        let columns: Vec<&str> = columns.map(|(name, _)| *name).collect();
        if let Some(name) = &self.y
            && !columns.contains(&name.as_str())
        {
            return Err(Failure::unknown("column of this study", name, &columns));
        }
        Ok(())
    }

    /// Draws what is answered.
    pub(super) fn draw(
        &self,
        path: &Path,
        study: &StudyFile,
        records: &[Record],
        common: &Common,
    ) -> Result<(), Failure> {
        let axes = study.axis_names();
        let provenance = provenance::of_all(std::iter::empty(), common);
        let title = study.title();
        let result = StudyResult::new(&title, &axes, records, 0, &provenance);
        let svg = plot::picture(&result, &self.options(study)?)?;
        save::file(path, |out| out.write_all(svg.as_bytes()))
    }
}

//! `darkfiber study plan`: what a study will cost, by one cell of each kind.

use std::time::Instant;

use clap::Args;
use darkfiber_report::listing::Listing;
use darkfiber_scenario::Folder;
use darkfiber_study::grid::{self, CellGroup, Hooks, NullStore, StudyFile};

use super::source::{StudyArgs, read};
use crate::failure::{Exit, Failure};
use crate::options::Common;
use crate::process::{forget_most_memory, most_memory, processor_seconds};
use crate::progress::Progress;

/// Headings of columns of numbers.
const NUMBERS: [&str; 4] = ["cells", "seconds a cell", "CPU hours", "MB"];

#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) study: StudyArgs,
}

/// What a cell took.
struct Cost {
    group: CellGroup,
    /// Processor time, in seconds.
    seconds: f64,
    /// Memory at most, in bytes, where the system says it.
    memory: Option<u64>,
    /// Why it has no answer.
    error: Option<String>,
}

pub(super) fn run(args: &PlanArgs, common: &Common) -> Result<Exit, Failure> {
    let study = read(&args.study, common)?;
    let folder = Folder::of(&args.study.file);
    let groups = study.cell_groups()?;
    let progress = Progress::new(groups.len() as u64, common.quiet);
    progress.at("a cell of each kind");
    let mut costs = Vec::new();
    for group in groups {
        costs.push(tried(&study, &folder, group)?);
        progress.step();
    }
    drop(progress);
    // What takes longest comes first: it is what to begin with, and what to make smaller.
    costs.sort_by(|a, b| b.total().total_cmp(&a.total()));
    let names: Vec<String> =
        costs.first().map_or(Vec::new(), |c| c.group.set.iter().map(|(n, _)| n.clone()).collect());
    let mut heading: Vec<&str> = names.iter().map(String::as_str).collect();
    heading.extend(NUMBERS);
    heading.push("no answer");
    let mut rows: Vec<Vec<String>> = costs.iter().map(Cost::row).collect();
    let mut total = vec![String::new(); names.len()];
    if let Some(first) = total.first_mut() {
        "all".clone_into(first);
    }
    let sum = |of: &dyn Fn(&Cost) -> f64| costs.iter().map(of).sum::<f64>();
    let most = costs.iter().filter_map(|c| c.memory).max();
    total.extend([
        costs.iter().map(|c| c.group.cells).sum::<u64>().to_string(),
        String::new(),
        hours(sum(&Cost::total)),
        most.map_or(String::new(), megabytes),
        String::new(),
    ]);
    rows.push(total);
    common.show(&Listing { numbers: &NUMBERS, ..Listing::of(&heading, &rows) })?;
    Ok(Exit::Fine)
}

impl Cost {
    fn total(&self) -> f64 {
        self.seconds * self.group.cells as f64
    }

    fn row(&self) -> Vec<String> {
        let mut row: Vec<String> = self.group.set.iter().map(|(_, v)| v.to_string()).collect();
        row.extend([
            self.group.cells.to_string(),
            format!("{:.3}", self.seconds),
            hours(self.total()),
            self.memory.map_or(String::new(), megabytes),
            self.error.clone().unwrap_or_default(),
        ]);
        row
    }
}

fn hours(seconds: f64) -> String {
    format!("{:.4}", seconds / 3600.0)
}

fn megabytes(bytes: u64) -> String {
    format!("{:.0}", bytes as f64 / 1e6)
}

/// Answers the first cell of a kind.
fn tried(study: &StudyFile, folder: &Folder, group: CellGroup) -> Result<Cost, Failure> {
    forget_most_memory();
    let (begin, before) = (Instant::now(), processor_seconds());
    let clock = || begin.elapsed().as_secs_f64();
    let hooks = Hooks { clock: &clock, ..Hooks::of(&NullStore, folder) };
    let records = grid::answer(study, vec![group.first.clone()], &hooks)?.records;
    let wall = begin.elapsed().as_secs_f64();
    // The system counts in hundredths of a second; what is shorter has hardly more than one thread.
    let busy = processor_seconds().zip(before).map_or(0.0, |(now, before)| now - before);
    let errors = records.iter().flat_map(|r| &r.answers).find_map(|a| a.error.clone());
    Ok(Cost { group, seconds: wall.max(busy), memory: most_memory(), error: errors })
}

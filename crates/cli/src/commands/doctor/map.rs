//! The page of `darkfiber doctor`: where what is wrong is, what counters say of each cable.

use darkfiber_analysis::doctor::{Area, Exam, Verdict};
use darkfiber_analysis::sharing::Sharing;
use darkfiber_analysis::{finding, hottest};
use darkfiber_fabric::{ChannelId, Faults};
use darkfiber_formats::counters::Steps;
use darkfiber_page::{JobOnMap, Page, PageFinding, Series, Sheet, Unit, View};
use darkfiber_report::{Provenance, Routed};
use darkfiber_scenario::tables::Read;

use super::super::metrics;
use crate::jobs::Running;
use crate::load::Loaded;
use crate::page;

/// What counters said, channel by channel.
#[derive(Default)]
pub(super) struct CountedChannels {
    /// Symbol errors at the port where a channel between switches ends; empty if nobody counted them.
    pub(super) errors: Vec<f64>,
    /// Bytes; empty if nobody counted them.
    pub(super) carried: Vec<Option<u64>>,
    /// Bytes from each reading to the next one, where there are enough.
    pub(super) steps: Option<Steps>,
    /// Cables with too many errors.
    pub(super) bad: Faults,
}

impl CountedChannels {
    /// Takes another reading in: counters grow, so the larger number is the later one.
    pub(super) fn count_errors(&mut self, errors: &[u64]) {
        self.errors.resize(errors.len(), 0.0);
        for (known, &errors) in self.errors.iter_mut().zip(errors) {
            *known = known.max(errors as f64);
        }
    }

    /// The steps as a series.
    fn series(&self, channels: usize) -> Option<Series> {
        let steps = self.steps.as_ref()?;
        let row = |step: &Vec<Option<u64>>| {
            step.iter().take(channels).map(|b| b.unwrap_or(0) as f64).collect()
        };
        let rows: Vec<Vec<f64>> = steps.carried.iter().map(row).collect();
        Some(Series::of_numbers(steps.seconds, Some(steps.begins as i64), &rows))
    }
}

/// What was looked at, for the map.
pub(super) struct Examined<'a> {
    pub(super) loaded: &'a Loaded,
    pub(super) read: Option<&'a Read>,
    pub(super) row: Option<&'a Routed>,
    pub(super) counted: &'a CountedChannels,
    pub(super) shared: Option<&'a (Sharing, &'a Running)>,
    pub(super) exams: &'a [Exam],
}

impl<'a> Examined<'a> {
    /// The page: bytes and symbol errors by counters, routes by the tables, whatever of these there is.
    pub(super) fn page(&self, provenance: &Provenance) -> Page<'a> {
        let topology = &self.loaded.topology;
        let fabric = &topology.fabric;
        let channels = fabric.channel_count();
        let mut views: Vec<View> = Vec::new();
        if !self.counted.carried.is_empty() {
            let bytes = |b: Option<u64>| b.unwrap_or(0) as f64;
            let carried = &self.counted.carried;
            let view = page::view("bytes by counters", Unit::Bytes, carried, channels, bytes);
            views.push(View { series: self.counted.series(channels), ..view });
        }
        if !self.counted.errors.is_empty() {
            views.push(page::view(
                "symbol errors",
                Unit::Errors,
                &self.counted.errors,
                channels,
                |x| x,
            ));
        }
        if let (Some(row), Some(read)) = (self.row, self.read) {
            let view =
                page::view("routes of all pairs", Unit::Routes, &row.load, channels, |x| x as f64);
            let lanes = page::lanes(fabric, &read.routes);
            views.push(View { lanes, ..view });
        }
        let mut jobs = Vec::new();
        if let Some((sharing, running)) = self.shared {
            let load = &sharing.all.load;
            views
                .push(page::view("routes inside jobs", Unit::Routes, load, channels, |x| x as f64));
            let each = running.ids.iter().zip(&running.places).zip(&sharing.jobs);
            jobs = each
                .map(|((id, terminals), load)| JobOnMap {
                    name: id.clone(),
                    terminals: terminals.clone(),
                    load: load.load.iter().map(|&(c, n)| (c, f64::from(n))).collect(),
                    ..JobOnMap::default()
                })
                .collect();
        }
        Page {
            subtitle: "what is wrong with it, and where".to_owned(),
            views,
            jobs,
            findings: self.exams.iter().filter_map(|exam| self.note(exam)).collect(),
            sheets: vec![sheet(self.exams)],
            routes: self.read.map(|read| &read.routes),
            ..page::of(fabric.name(), topology, provenance)
        }
    }

    /// What is wrong in an area, with the places that the map can go to.
    fn note(&self, exam: &Exam) -> Option<PageFinding> {
        let severity = match exam.verdict {
            Verdict::NotAsked | Verdict::Good => return None,
            Verdict::Note => "note",
            Verdict::Warning => "warning",
            Verdict::Error => "error",
        };
        let fabric = &self.loaded.topology.fabric;
        let mut note = PageFinding {
            severity,
            message: format!("{}: {}", exam.area.name(), exam.message),
            hint: exam.action.clone(),
            ..PageFinding::default()
        };
        let places = page::Notes::new(fabric);
        let found = match exam.area {
            Area::Cabling => {
                let mut found = finding::of_fabric(fabric);
                found.extend(metrics::of_input(&self.loaded.diagnostics));
                found.extend(metrics::of_structure(self.loaded.structure.as_ref()));
                found
            }
            Area::Routes | Area::Deadlock => {
                self.row.map_or_else(Vec::new, |row| row.findings.clone())
            }
            _ => Vec::new(),
        };
        for other in places.of(&found) {
            note.channels.extend(other.channels);
            note.switches.extend(other.switches);
            note.pairs.extend(other.pairs);
        }
        match exam.area {
            Area::BadCables => {
                note.channels.clone_from(&self.counted.bad.links);
                let on = self.counted.bad.terminals.iter().map(|&t| fabric.terminal(t).switch);
                note.switches.extend(on);
            }
            Area::HotCables => {
                let bytes: Vec<u64> = (self.counted.carried.iter().take(fabric.channel_count()))
                    .map(|b| b.unwrap_or(0))
                    .collect();
                note.channels.extend(hottest(&bytes, 1).first().map(|&(c, _)| c));
            }
            Area::Balance => {
                let load = self.row.map_or(&[][..], |row| row.load.as_slice());
                let fullest: Option<ChannelId> = hottest(load, 1).first().map(|&(c, _)| c);
                note.channels.extend(fullest);
            }
            _ => {}
        }
        Some(note)
    }
}

/// The verdict of each area.
fn sheet(exams: &[Exam]) -> Sheet {
    let word = |verdict| match verdict {
        Verdict::NotAsked => "-",
        Verdict::Good => "ok",
        Verdict::Note => "note",
        Verdict::Warning => "warning",
        Verdict::Error => "error",
    };
    let row = |e: &Exam| {
        [e.area.name(), word(e.verdict), &e.message, &e.action].map(str::to_owned).to_vec()
    };
    Sheet {
        title: "Area by area".to_owned(),
        heading: ["area", "verdict", "what was found", "what to do"].map(str::to_owned).to_vec(),
        rows: exams.iter().map(row).collect(),
    }
}

//! The page of `darkfiber replay`: what the jobs of the log loaded by each engine, moment by moment.

use darkfiber_analysis::jobs::JobLoad;
use darkfiber_fabric::{Fabric, TerminalId};
use darkfiber_formats::hostlist;
use darkfiber_page::{Axis, Chart, ChartLine, Form, JobOnMap, Measured, Page, Series, Unit, View};
use darkfiber_report::Provenance;
use darkfiber_routing::Routes;
use darkfiber_scenario::Error;
use darkfiber_study::replay::{Measure, Moment, ReplayPlan, snapshots};

use crate::{moment, page};

/// Jobs on the map: the largest, by terminals and time.
const JOBS: usize = 60;
/// Points of a line; where there are more moments a point is the mean of several.
const POINTS: usize = 1_500;

/// What the map shows: a view for each engine, of the same moments.
pub(super) struct Map {
    views: Vec<View>,
    /// Tables of the first engine, if it has the same at all moments.
    routes: Option<Routes>,
    by: String,
}

impl Map {
    /// Counts the moments that a slider can hold once more, channel by channel.
    pub(super) fn of(plan: &ReplayPlan<'_>) -> Result<Self, Error> {
        let stride = Series::stride(plan.moments);
        let interval = plan.every as f64 * stride as f64;
        let mut map = Self { views: Vec::new(), routes: None, by: String::new() };
        for engine in plan.engines {
            let found = snapshots(plan, engine, (0..plan.moments).step_by(stride))?;
            if let Some(routes) = found.routes.filter(|_| map.routes.is_none()) {
                map.routes = Some(routes);
                map.by.clone_from(&engine.name);
            }
            let n = found.load.len().max(1) as f64;
            let mean = (0..plan.case.fabric().channel_count())
                .map(|c| found.load.iter().map(|moment| moment[c]).sum::<f64>() / n);
            map.views.push(View {
                name: engine.name.clone(),
                unit: Unit::Routes,
                load: mean.collect(),
                series: Some(Series::of_numbers(interval, begins(plan.from), &found.load)),
                lanes: Vec::new(),
            });
        }
        Ok(map)
    }

    /// The page: the map, the four numbers of every engine over time, the largest jobs as lanes.
    pub(super) fn page<'a>(
        &'a self,
        plan: &'a ReplayPlan<'_>,
        found: &[Moment],
        (title, subtitle): (&str, &str),
        provenance: &Provenance,
    ) -> Page<'a> {
        let mut facts = page::of(title, plan.case.topology(), provenance).facts;
        if self.routes.is_some() && !self.by.is_empty() {
            let counted =
                format!("what each puts on a channel is counted by the tables of {}", self.by);
            facts.push(("jobs".to_owned(), counted));
        }
        let stride = Series::stride(plan.moments);
        let (shown, all) = (plan.moments.div_ceil(stride), plan.moments);
        let moments = if stride > 1 {
            format!("the mean of the {shown} moments of the slider, one in {stride} of {all}")
        } else {
            "the mean of all moments".to_owned()
        };
        facts.push(("load without a moment".to_owned(), moments));
        Page {
            subtitle: subtitle.to_owned(),
            views: self.views.clone(),
            jobs: self.jobs(plan),
            charts: charts(plan, found),
            routes: self.routes.as_ref(),
            facts,
            ..page::of(title, plan.case.topology(), provenance)
        }
    }

    /// The jobs that hold most terminals for the longest, by their starts.
    fn jobs(&self, plan: &ReplayPlan<'_>) -> Vec<JobOnMap> {
        let moments = i64::try_from(plan.moments).unwrap_or(i64::MAX);
        let end = plan.from.saturating_add(plan.every.saturating_mul(moments));
        let places = plan.history.places();
        let within = |s: &darkfiber_workload::Stay| (s.start.max(plan.from), s.end.min(end));
        let mut stays: Vec<_> = (plan.history.stays().iter().copied())
            .filter(|s| within(s).0 < within(s).1)
            .map(|s| {
                let (from, to) = within(&s);
                (places[s.place as usize].len() as u64 * (to - from).unsigned_abs(), s)
            })
            .collect();
        stays.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        stays.truncate(JOBS);
        stays.sort_by_key(|(_, s)| (s.start, s.place));
        let fabric = plan.case.fabric();
        let job = |(_, s): &(u64, darkfiber_workload::Stay)| {
            let (from, to) = within(s);
            let terminals: Vec<TerminalId> = places[s.place as usize].to_vec();
            let load = self.routes.as_ref().map(|r| JobLoad::of(fabric, r, &terminals).load);
            JobOnMap {
                // Logs of months are kept without the names of their jobs: places tell those apart that begin together.
                name: format!("from {} on {}", moment::text(s.start), hosts(fabric, &terminals)),
                terminals,
                runs: vec![((from - plan.from) as f64, (to - plan.from) as f64)],
                views: Vec::new(),
                load: load
                    .unwrap_or_default()
                    .into_iter()
                    .map(|(c, n)| (c, f64::from(n)))
                    .collect(),
                fact: String::new(),
            }
        };
        stays.iter().map(job).collect()
    }
}

/// Logs that count from their beginning have no dates.
fn begins(from: i64) -> Option<i64> {
    (from >= 100_000_000).then_some(from)
}

/// The four numbers over time, a line for each engine.
fn charts(plan: &ReplayPlan<'_>, found: &[Moment]) -> Vec<Chart> {
    let join = found.len().div_ceil(POINTS).max(1);
    let date = begins(plan.from).is_some();
    let at: Vec<f64> = found
        .chunks(join)
        .map(|some| some[0].time.saturating_sub(if date { 0 } else { plan.from }) as f64)
        .collect();
    let x = Axis::new("time", if date { Measured::Date } else { Measured::Seconds });
    let chart = |measure: Measure| {
        let line = |(e, engine): (usize, &darkfiber_scenario::Chain)| ChartLine {
            name: engine.name.clone(),
            values: found
                .chunks(join)
                .map(|some| {
                    let sum: f64 = some.iter().map(|m| measure.of(&m.engines[e])).sum();
                    Some(sum / some.len() as f64)
                })
                .collect(),
        };
        Chart {
            title: measure.label().to_owned(),
            x: x.clone(),
            y: Axis::new(measure.label(), Measured::Number),
            form: Form::Steps,
            at: at.clone(),
            lines: plan.engines.iter().enumerate().map(line).collect(),
            ..Chart::default()
        }
    };
    Measure::ALL.into_iter().map(chart).collect()
}

/// The hosts of terminals, in short.
fn hosts(fabric: &Fabric, terminals: &[TerminalId]) -> String {
    let mut names: Vec<&String> =
        terminals.iter().map(|&t| &fabric.host(fabric.host_of(t)).name).collect();
    names.sort_unstable();
    names.dedup();
    hostlist::compress(&names)
}

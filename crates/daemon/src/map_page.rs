//! The map of the running jobs, as the page that `--html` of commands writes.

use std::sync::{Arc, Mutex, PoisonError};

use darkfiber_analysis::main_lanes;
use darkfiber_analysis::sharing::Sharing;
use darkfiber_operate::Digest;
use darkfiber_page::{JobOnMap, Origin, Page, PageFinding, Series, Unit, View, page};

use crate::snapshot::Snapshot;
use crate::value::CountersValue;

/// The last page, and its key: layouts of large fabrics take seconds.
#[derive(Clone, Default)]
pub(crate) struct LastMap(Arc<Mutex<Option<CachedPage>>>);

/// Key of a page, and its text.
type CachedPage = (Key, Arc<String>);

/// Digests of fabric, tables, jobs and counters, and how many alarms there are.
type Key = (Digest, Digest, Digest, Option<Digest>, usize);

/// Makes the page as HTML.
///
/// # Errors
/// If nothing has been read yet.
pub(crate) fn text(snapshot: &Snapshot, last: &LastMap) -> Result<Arc<String>, String> {
    let values = snapshot.values.as_ref().ok_or("fabric or tables are not read yet")?;
    let key = (
        values.fabric.digest,
        values.tables.digest,
        values.jobs.digest,
        values.counters.as_ref().map(|c| c.digest),
        snapshot.recent.alarms.len(),
    );
    let mut last = last.0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, text)) = last.as_ref().filter(|(of, _)| *of == key) {
        return Ok(text.clone());
    }
    let text = Arc::new(drawn(snapshot, values));
    *last = Some((key, text.clone()));
    Ok(text)
}

fn drawn(snapshot: &Snapshot, values: &crate::inputs::Values) -> String {
    let topology = &values.fabric.loaded.topology;
    let (fabric, routes) = (&topology.fabric, &values.tables.routes);
    let channels = fabric.channel_count();
    let sharing = Sharing::of(fabric, routes, &values.jobs.places);
    let mut views = Vec::new();
    if let Some(now) = &values.counters {
        let counted: Vec<&(u64, Arc<CountersValue>)> = snapshot
            .recent
            .counted
            .iter()
            .filter(|(_, c)| c.fabric == values.fabric.digest)
            .collect();
        let series = series(fabric, &counted);
        let (name, unit) = ("counters, last reading".to_owned(), Unit::Share);
        views.push(View { name, unit, load: now.shares(fabric), series, lanes: Vec::new() });
    }
    views.push(View {
        name: "routes inside jobs".to_owned(),
        unit: Unit::Routes,
        load: sharing.all.load.iter().map(|&n| n as f64).collect(),
        series: None,
        lanes: main_lanes(fabric, routes).unwrap_or_default(),
    });
    let job = |(j, load): (usize, &darkfiber_analysis::jobs::JobLoad)| JobOnMap {
        name: values.jobs.names.get(j).cloned().unwrap_or_default(),
        terminals: values.jobs.places[j].clone(),
        runs: Vec::new(),
        views: Vec::new(),
        load: (load.load.iter().filter(|&&(c, _)| (c as usize) < channels))
            .map(|&(c, n)| (c, f64::from(n)))
            .collect(),
        fact: String::new(),
    };
    let alarm = |a: &crate::alarm::TopAlarm| PageFinding {
        severity: if a.level == "critical" {
            "error"
        } else if a.level == "warning" {
            "warning"
        } else {
            "note"
        },
        message: a.text.clone(),
        ..PageFinding::default()
    };
    page(&Page {
        title: snapshot.site.clone(),
        subtitle: format!(
            "{} as it runs, {}, mode {}",
            fabric.name(),
            snapshot.phase,
            snapshot.mode
        ),
        fabric,
        shape: topology.shape.as_ref(),
        views,
        jobs: sharing.jobs.iter().enumerate().map(job).collect(),
        findings: snapshot.recent.alarms.iter().rev().map(alarm).collect(),
        charts: Vec::new(),
        sheets: Vec::new(),
        routes: Some(routes),
        facts: vec![
            ("site".to_owned(), snapshot.site.clone()),
            ("jobs".to_owned(), values.jobs.places.len().to_string()),
        ],
        origin: Origin {
            command: "darkfiber operate".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seed: 0,
            digest: values.fabric.digest.to_string(),
        },
    })
}

/// Shares of channels by reading, where there are several: their mean distance is the interval.
fn series(
    fabric: &darkfiber_fabric::Fabric,
    counted: &[&(u64, Arc<CountersValue>)],
) -> Option<Series> {
    let ((first, _), (last, _)) = (counted.first()?, counted.last()?);
    if counted.len() < 2 {
        return None;
    }
    let interval = last.saturating_sub(*first) as f64 / 1e3 / (counted.len() - 1) as f64;
    let shares: Vec<Vec<f64>> = counted.iter().map(|(_, c)| c.shares(fabric)).collect();
    let mut series =
        Series::of(interval.max(1e-3), counted.len(), fabric.channel_count(), |i, c| shares[i][c]);
    series.begins = i64::try_from(first / 1000).ok();
    Some(series)
}

//! The moments of a replay as lines: the output of a long run, from which it is resumed.

use darkfiber_study::replay::{EngineLoads, Moment};

/// Columns of a moment.
const OF_MOMENT: [&str; 5] = ["time", "jobs", "multi_switch_jobs", "busy_percent", "changed"];
/// Columns of each engine.
const OF_ENGINE: [&str; 6] =
    ["efi_max", "gamma_max_mean", "dark_fiber_percent", "links_per_job_mean", "entries", "blocks"];

/// Heading of the lines.
pub fn heading(engines: &[&str]) -> String {
    let mut columns: Vec<String> = OF_MOMENT.map(str::to_owned).to_vec();
    for engine in engines {
        columns.extend(OF_ENGINE.map(|c| format!("{engine}:{c}")));
    }
    columns.join(",") + "\n"
}

/// The line of a moment.
pub fn line(moment: &Moment) -> String {
    let mut cells = vec![
        moment.time.to_string(),
        moment.jobs.to_string(),
        moment.multi_switch_jobs.to_string(),
        moment.busy_percent.to_string(),
        u8::from(moment.changed).to_string(),
    ];
    for o in &moment.engines {
        cells.extend([
            o.efi_max.to_string(),
            o.gamma_max_mean.to_string(),
            o.dark_fiber_percent.to_string(),
            o.links_per_job_mean.to_string(),
            o.entries.to_string(),
            o.blocks.to_string(),
        ]);
    }
    cells.join(",") + "\n"
}

/// The moment of a line; `None` if it does not have this number of engines.
pub fn parse(line: &str, engines: usize) -> Option<Moment> {
    let cells: Vec<&str> = line.trim_end().split(',').collect();
    if cells.len() != OF_MOMENT.len() + engines * OF_ENGINE.len() {
        return None;
    }
    let (own, rest) = cells.split_at(OF_MOMENT.len());
    let engines = rest.chunks(OF_ENGINE.len()).map(|c| {
        Some(EngineLoads {
            efi_max: c[0].parse().ok()?,
            gamma_max_mean: c[1].parse().ok()?,
            dark_fiber_percent: c[2].parse().ok()?,
            links_per_job_mean: c[3].parse().ok()?,
            entries: c[4].parse().ok()?,
            blocks: c[5].parse().ok()?,
        })
    });
    Some(Moment {
        time: own[0].parse().ok()?,
        jobs: own[1].parse().ok()?,
        multi_switch_jobs: own[2].parse().ok()?,
        busy_percent: own[3].parse().ok()?,
        changed: match own[4] {
            "0" => false,
            "1" => true,
            _ => return None,
        },
        engines: engines.collect::<Option<_>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let outcome = |x: f64| EngineLoads {
            efi_max: 7,
            gamma_max_mean: x,
            dark_fiber_percent: x / 3.0,
            links_per_job_mean: 0.1 + x,
            entries: 3,
            blocks: 2,
        };
        let moment = Moment {
            time: -5,
            jobs: 3,
            multi_switch_jobs: 2,
            busy_percent: 100.0 / 3.0,
            changed: true,
            engines: vec![outcome(0.7), outcome(1e-9)],
        };
        let text = line(&moment);
        assert_eq!(parse(&text, 2), Some(moment));
        assert_eq!(parse(&text, 1), None);
        assert_eq!(parse(&text[..text.len() - 3], 2), None);
        assert_eq!(heading(&["a", "b"]).split(',').count(), text.split(',').count());
    }
}

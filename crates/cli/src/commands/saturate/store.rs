//! The files of `load -o DIR`.

use std::path::Path;

use darkfiber_fabric::Fabric;
use darkfiber_packetsim::{LoadOutcome, Net, Series};
use darkfiber_report::curve::{self as report, Latencies, LoadResult};
use darkfiber_report::json;
use darkfiber_report::simulate::{Lines, timeline};

use crate::failure::Failure;
use crate::save;

/// What came of a run.
pub(super) struct KeptRun {
    pub(super) routing: String,
    pub(super) load: f64,
    pub(super) outcome: LoadOutcome,
}

/// Channels of the map over time.
const BUSIEST: usize = 120;
/// Seconds of a picosecond.
const PS: f64 = 1e-12;

/// Writes the result, the picture of the curves, latencies of all runs and, if intervals were kept, what ports did in them.
pub(super) fn write(
    dir: &Path,
    net: &Net,
    fabric: &Fabric,
    result: &LoadResult<'_>,
    kept: &[KeptRun],
) -> Result<(), Failure> {
    let text = |name: &str, text: String| {
        save::file(&dir.join(name), |out| out.write_all(text.as_bytes()))
    };
    text("load.json", json::text(result))?;
    text("load.svg", report::picture(result))?;
    let all: Vec<Latencies> = kept.iter().map(latencies).collect();
    text("latencies.svg", report::spread(result, &all))?;
    for k in kept {
        let Some(series) = k.outcome.series.as_ref().filter(|s| !s.is_empty()) else { continue };
        let called: String =
            k.routing.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        for (what, of) in [("busy", busy as Share), ("stalled", stalled)] {
            let lines = lines(net, series, what, of);
            let end = series.interval as f64 * series.len() as f64 * PS;
            let title = format!("Channels over time, {}", result.fabric.name);
            let subtitle =
                format!("{} at a load of {}, {} traffic", k.routing, k.load, result.pattern);
            let picture = timeline(&title, &subtitle, end, &[], &lines);
            text(&format!("{what}-{called}-{}.svg", k.load), picture)?;
        }
    }
    #[cfg(feature = "parquet")]
    tables::write(dir, net, fabric, kept)?;
    #[cfg(not(feature = "parquet"))]
    let _ = fabric;
    Ok(())
}

/// Share of packets that took longer, by latency.
fn latencies(k: &KeptRun) -> Latencies {
    let all = &k.outcome.measured.latencies;
    let mut left = all.len();
    let longer = all.iter_recorded().map(|step| {
        left -= step.count_at_value();
        (step.value_iterated_to() as f64, left as f64 / all.len().max(1) as f64)
    });
    Latencies { name: format!("{} at {}", k.routing, k.load), longer: longer.collect() }
}

/// A share of a port's time or capacity in an interval.
type Share = fn(&Net, &Series, usize, usize) -> f64;

fn busy(net: &Net, series: &Series, interval: usize, port: usize) -> f64 {
    let could = series.interval as f64 * 65536.0 / net.port(port as u32).pace as f64;
    f64::from(series.at(&series.bytes, interval)[port]) / could
}

fn stalled(_: &Net, series: &Series, interval: usize, port: usize) -> f64 {
    f64::from(series.at(&series.stalled, interval)[port]) * 1000.0 / series.interval as f64
}

/// Channels between switches by interval, those first that have most of it.
fn lines(net: &Net, series: &Series, what: &'static str, of: Share) -> Lines {
    let ports = (0..series.ports).filter(|&p| net.next(p as u32).is_some());
    let mut all: Vec<(f64, Vec<f64>)> = ports
        .map(|p| {
            let row: Vec<f64> = (0..series.len()).map(|i| of(net, series, i, p)).collect();
            (row.iter().sum(), row)
        })
        .collect();
    let count = all.len();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all.truncate(BUSIEST);
    let channels = all.into_iter().map(|c| c.1).collect();
    Lines { what, interval: series.interval as f64 * PS, channels, all: count }
}

#[cfg(feature = "parquet")]
mod tables {
    use darkfiber_analysis::Names;
    use darkfiber_fabric::{ChannelId, SwitchId, TerminalId};
    use darkfiber_packetsim::Peer;
    use darkfiber_report::columns::Column;

    use super::{Fabric, Failure, KeptRun, Net, PS, Path};
    use crate::columns::table;

    /// Latencies of all runs, and what ports did by interval where anything happened.
    pub(super) fn write(
        dir: &Path,
        net: &Net,
        fabric: &Fabric,
        kept: &[KeptRun],
    ) -> Result<(), Failure> {
        let all: Vec<(&KeptRun, u64, u64)> = (kept.iter())
            .flat_map(|k| {
                let steps = k.outcome.measured.latencies.iter_recorded();
                steps.map(move |s| (k, s.value_iterated_to(), s.count_at_value()))
            })
            .collect();
        let text = |of: &dyn Fn(usize) -> String, n: usize| Column::Text((0..n).map(of).collect());
        table(
            &dir.join("latencies.parquet"),
            &[
                ("routing", text(&|i| all[i].0.routing.clone(), all.len())),
                ("load", Column::Real(all.iter().map(|a| a.0.load).collect())),
                ("nanoseconds", Column::Whole(all.iter().map(|a| a.1).collect())),
                ("packets", Column::Whole(all.iter().map(|a| a.2).collect())),
            ],
        )?;
        let mut cells: Vec<(&KeptRun, usize, usize)> = Vec::new();
        for k in kept {
            let Some(s) = &k.outcome.series else { continue };
            for i in 0..s.len() {
                let quiet = |p: usize| {
                    [&s.bytes, &s.stalled, &s.queued, &s.ahead].iter().all(|of| s.at(of, i)[p] == 0)
                };
                cells.extend((0..s.ports).filter(|p| !quiet(*p)).map(|p| (k, i, p)));
            }
        }
        if cells.is_empty() {
            return Ok(());
        }
        let names = Names::new(fabric);
        let ends: Vec<(String, u8, String)> = (0..net.port_count() as u32)
            .map(|p| {
                let port = net.port(p);
                let s = SwitchId(port.switch);
                match port.peer() {
                    Peer::Terminal(t) => {
                        let t = TerminalId(t);
                        let number = fabric.terminal(t).switch_port;
                        (names.switch(s), number, names.terminal(t))
                    }
                    Peer::Port(_) => {
                        let first = fabric.channels_from(s).start;
                        let c = names.channel(ChannelId::new(first + port.local as usize));
                        (c.from, c.from_port, c.to)
                    }
                }
            })
            .collect();
        let n = cells.len();
        let number = |of: &dyn Fn(&KeptRun, usize, usize) -> u64| {
            Column::Whole(cells.iter().map(|&(k, i, p)| of(k, i, p)).collect())
        };
        let of = |pick: fn(&darkfiber_packetsim::Series) -> &Vec<u32>| {
            number(&move |k, i, p| {
                let cell = |s: &darkfiber_packetsim::Series| u64::from(s.at(pick(s), i)[p]);
                k.outcome.series.as_ref().map_or(0, cell)
            })
        };
        let begin = |&(k, i, _): &(&KeptRun, usize, usize)| {
            k.outcome.series.as_ref().map_or(0.0, |s| s.interval as f64 * i as f64 * PS)
        };
        table(
            &dir.join("channels.parquet"),
            &[
                ("routing", text(&|i| cells[i].0.routing.clone(), n)),
                ("load", Column::Real(cells.iter().map(|c| c.0.load).collect())),
                ("begin", Column::Real(cells.iter().map(begin).collect())),
                ("from", text(&|i| ends[cells[i].2].0.clone(), n)),
                ("from_port", number(&|_, _, p| ends[p].1.into())),
                ("to", text(&|i| ends[cells[i].2].2.clone(), n)),
                ("bytes", of(|s| &s.bytes)),
                ("stalled_ns", of(|s| &s.stalled)),
                ("queued_bytes", of(|s| &s.queued)),
                ("ahead_bytes", of(|s| &s.ahead)),
            ],
        )
    }
}

//! The Parquet files of `simulate -o`.

use std::path::Path;

use darkfiber_analysis::Names;
use darkfiber_fabric::{ChannelId, Topology};
use darkfiber_report::columns::{Column, parquet};
use darkfiber_scenario::{Job, Simulated};
use darkfiber_workload::play::{Record, SECOND};

use crate::failure::Failure;
use crate::save;

/// A channel that carries less than this in an interval has no row for it.
const NOTHING: f64 = 0.5;

/// Writes runs, pairs of ranks, channels by interval, and messages if they were kept.
pub(crate) fn write(
    dir: &Path,
    topology: &Topology,
    jobs: &[Job],
    simulated: &Simulated,
    messages: Option<&Vec<Record>>,
) -> Result<(), Failure> {
    let name = |j: usize| jobs[j].name.clone();
    let seconds = |ps: u64| ps as f64 / SECOND as f64;

    let runs: Vec<(usize, u64, u64)> = (simulated.runs.iter().enumerate())
        .flat_map(|(j, runs)| runs.iter().map(move |r| (j, r.begin, r.end)))
        .collect();
    table(
        &dir.join("runs.parquet"),
        &[
            ("job", Column::Text(runs.iter().map(|r| name(r.0)).collect())),
            ("begin", Column::Real(runs.iter().map(|r| seconds(r.1)).collect())),
            ("end", Column::Real(runs.iter().map(|r| seconds(r.2)).collect())),
        ],
    )?;

    let pairs: Vec<_> = (simulated.pairs.iter().enumerate())
        .flat_map(|(j, pairs)| pairs.sent().map(move |(ends, pair)| (j, ends, pair)))
        .collect();
    table(
        &dir.join("pairs.parquet"),
        &[
            ("job", Column::Text(pairs.iter().map(|p| name(p.0)).collect())),
            ("from", Column::Whole(pairs.iter().map(|p| u64::from(p.1.0)).collect())),
            ("to", Column::Whole(pairs.iter().map(|p| u64::from(p.1.1)).collect())),
            ("messages", Column::Whole(pairs.iter().map(|p| p.2.messages).collect())),
            ("bytes", Column::Whole(pairs.iter().map(|p| p.2.bytes).collect())),
            ("seconds", Column::Real(pairs.iter().map(|p| seconds(p.2.time)).collect())),
            ("longest", Column::Real(pairs.iter().map(|p| seconds(p.2.longest)).collect())),
        ],
    )?;

    let fabric = &topology.fabric;
    let names = Names::new(fabric);
    let m = fabric.channel_count();
    let cells: Vec<(usize, f64, f64)> = match &simulated.grid {
        None => (0..m)
            .filter(|&c| simulated.carried[c] > 0)
            .map(|c| (c, 0.0, simulated.carried[c] as f64))
            .collect(),
        Some(grid) => (0..grid.len())
            .flat_map(|i| {
                let begin = seconds(grid.interval() * i as u64);
                let carried = grid.at(i)[..m].iter().enumerate();
                carried.filter(|(_, b)| **b > NOTHING).map(move |(c, &b)| (c, begin, b))
            })
            .collect(),
    };
    let ends: Vec<_> = (0..m).map(|c| names.channel(ChannelId::new(c))).collect();
    let port = |c: &(usize, f64, f64)| u64::from(ends[c.0].from_port);
    table(
        &dir.join("channels.parquet"),
        &[
            ("from", Column::Text(cells.iter().map(|c| ends[c.0].from.clone()).collect())),
            ("from_port", Column::Whole(cells.iter().map(port).collect())),
            ("to", Column::Text(cells.iter().map(|c| ends[c.0].to.clone()).collect())),
            ("begin", Column::Real(cells.iter().map(|c| c.1).collect())),
            ("bytes", Column::Real(cells.iter().map(|c| c.2).collect())),
        ],
    )?;

    let Some(all) = messages else { return Ok(()) };
    table(
        &dir.join("messages.parquet"),
        &[
            ("job", Column::Text(all.iter().map(|r| name(r.job as usize)).collect())),
            ("epoch", Column::Whole(all.iter().map(|r| r.epoch).collect())),
            ("from", Column::Whole(all.iter().map(|r| r.from.into()).collect())),
            ("to", Column::Whole(all.iter().map(|r| r.to.into()).collect())),
            ("bytes", Column::Whole(all.iter().map(|r| r.bytes).collect())),
            ("departed", Column::Real(all.iter().map(|r| seconds(r.departed)).collect())),
            ("arrived", Column::Real(all.iter().map(|r| seconds(r.arrived)).collect())),
        ],
    )
}

pub(crate) fn table(path: &Path, columns: &[(&str, Column)]) -> Result<(), Failure> {
    save::file(path, |out| {
        let mut bytes = Vec::new();
        parquet(&mut bytes, columns)?;
        out.write_all(&bytes)
    })
}

//! The result of `darkfiber nccl`: the cables that carry the channels of GPU jobs, and the expected bandwidth.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::{FabricFacts, Provenance};
use crate::number::counted;
use crate::style::Style;
use crate::table;
use crate::{Report, comma};

/// The rings of all jobs on a fabric.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct NcclResult<'a> {
    /// The tables: their file, or the engine that made them.
    pub tables: &'a str,
    /// What of each channel is followed: rings or trees.
    pub algorithm: &'static str,
    /// By job what it can expect.
    pub jobs: &'a [NcclJob],
    /// Channels of the fabric that more than one flow uses, the ones with the least for each first.
    pub shared: &'a [SharedCable],
    /// All connections, by job, channel and host.
    pub flows: &'a [NcclFlow],
    /// The fabric.
    pub fabric: &'a FabricFacts,
    /// Where the result comes from.
    pub provenance: &'a Provenance,
}

/// A job.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct NcclJob {
    /// Its name.
    pub name: String,
    /// Its ranks.
    pub ranks: u32,
    /// Its hosts.
    pub hosts: usize,
    /// Channels of NCCL.
    pub channels: usize,
    /// Bus bandwidth of a large Allreduce by rings or trees that its cables leave it, in bytes a second: the share of its slowest
    /// connection times its channels; of trees times 2 (n - 1) / n, as bus bandwidth counts.
    pub bus_bandwidth: f64,
    /// Where the slowest connection is slowest.
    pub bound_by: String,
    /// Connections whose two NICs have different numbers within their hosts: they leave their rail.
    pub rails_left: usize,
    /// The same bandwidth, alone on the fabric, in this order of hosts.
    pub alone: f64,
    /// The same, alone, with `NCCL_CROSS_NIC=0`; `null` of trees.
    pub on_one_nic: Option<f64>,
    /// The same, alone, in a better order of hosts; `null` if none was found.
    pub reordered: Option<f64>,
    /// That order; empty if none was found.
    pub order: Vec<String>,
}

/// A channel of the fabric that several flows use.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct SharedCable {
    /// Its two ends.
    pub cable: String,
    /// Flows on it.
    pub flows: usize,
    /// Jobs and channels of NCCL that these are of: `name:channel`.
    pub whose: Vec<String>,
    /// Bytes a second that each of them gets.
    pub each: f64,
}

/// A connection between two hosts.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct NcclFlow {
    /// The job.
    pub job: String,
    /// Channel of NCCL.
    pub channel: usize,
    /// NIC that sends, as the fabric names it.
    pub from: String,
    /// NIC that receives.
    pub to: String,
    /// Whether the NICs have different numbers within their hosts.
    pub leaves_rail: bool,
    /// Cables hop by hop.
    pub path: Vec<String>,
    /// Bytes a second that it gets.
    pub rate: f64,
}

impl Report for NcclResult<'_> {
    fn text(&self, style: Style) -> String {
        text(self, style)
    }

    fn csv(&self) -> String {
        comma::table(
            self.flows,
            &[
                ("job", &|f| f.job.clone()),
                ("channel", &|f| f.channel.to_string()),
                ("from", &|f| f.from.clone()),
                ("to", &|f| f.to.clone()),
                ("leaves_rail", &|f| f.leaves_rail.to_string()),
                ("rate", &|f| f.rate.to_string()),
                ("path", &|f| f.path.join("; ")),
            ],
        )
    }
}

fn text(r: &NcclResult<'_>, style: Style) -> String {
    let most = style.most();
    let gb = |x: f64| format!("{:.1}", x / 1e9);
    let mut text =
        format!("{}\nroutes of {}, {}\n\n", table::headline(r.fabric), r.tables, r.algorithm);
    let heading = [
        "job",
        "ranks",
        "hosts",
        "channels",
        "GB/s",
        "alone",
        "one NIC",
        "reordered",
        "rails left",
        "bound by",
    ];
    let rows: Vec<Vec<String>> = r
        .jobs
        .iter()
        .map(|j| {
            vec![
                j.name.clone(),
                j.ranks.to_string(),
                j.hosts.to_string(),
                j.channels.to_string(),
                gb(j.bus_bandwidth),
                gb(j.alone),
                j.on_one_nic.map_or("-".to_owned(), gb),
                j.reordered.map_or("-".to_owned(), gb),
                j.rails_left.to_string(),
                j.bound_by.clone(),
            ]
        })
        .collect();
    text.push_str(&table::plain(&heading, &rows, &[1, 2, 3, 4, 5, 6, 7, 8], style));
    let _infallible = write!(
        text,
        "\nGB/s: bus bandwidth of a large Allreduce by {} at the data rates of cables, beside the other jobs; alone; alone with\n\
         NCCL_CROSS_NIC=0; alone in a better order of hosts. NCCL itself counts on 96 % of a NIC.\n",
        r.algorithm
    );
    if r.shared.is_empty() {
        text.push_str("\nno cable is shared by two connections in one direction\n");
    } else {
        text.push('\n');
        let rows: Vec<Vec<String>> = r
            .shared
            .iter()
            .take(most)
            .map(|s| vec![s.cable.clone(), s.flows.to_string(), gb(s.each), some_of(&s.whose)])
            .collect();
        let heading = ["shared cable", "flows", "GB/s each", "job:channel"];
        text.push_str(&table::plain(&heading, &rows, &[1, 2], style));
        table::more(&mut text, r.shared.len(), most, "shared cables");
    }
    text.push('\n');
    let rows: Vec<Vec<String>> = r
        .flows
        .iter()
        .take(most)
        .map(|f| {
            let rail = if f.leaves_rail { "left" } else { "kept" };
            let ends = format!("{} -> {}", f.from, f.to);
            vec![
                f.job.clone(),
                f.channel.to_string(),
                ends,
                rail.to_owned(),
                gb(f.rate),
                f.path.join(", "),
            ]
        })
        .collect();
    let heading = ["job", "channel", "NICs", "rail", "GB/s", "cables between switches"];
    text.push_str(&table::plain(&heading, &rows, &[1, 4], style));
    table::more(&mut text, r.flows.len(), most, "connections");
    for job in r.jobs.iter().filter(|j| !j.order.is_empty()) {
        let hosts = counted(job.order.len(), "host", "hosts");
        let _infallible = writeln!(
            text,
            "\n{}: a better order of its {hosts}: {}; -o FILE writes it as a rank file",
            job.name,
            some_of(&job.order)
        );
    }
    text
}

/// The first of several names.
fn some_of(names: &[String]) -> String {
    const SHOWN: usize = 8;
    if names.len() <= SHOWN {
        return names.join(" ");
    }
    format!("{} and {} more", names[..SHOWN].join(" "), names.len() - SHOWN)
}

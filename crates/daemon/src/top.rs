//! An overview for the terminal view and for scripts: the fullest channels, the jobs that are slowed down most, alarms.

use std::cmp::Reverse;

use darkfiber_analysis::Names;
use darkfiber_analysis::sharing::Sharing;
use darkfiber_fabric::ChannelId;
use serde::{Deserialize, Serialize};

use crate::alarm::TopAlarm;
use crate::snapshot::Snapshot;

/// Maximum numbers of channels, jobs and names of jobs on a channel in the reply.
const CHANNELS: usize = 200;
const JOBS: usize = 500;
const NAMES: usize = 6;

/// The content of the page `/top`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Top {
    /// The site of the configuration.
    pub site: String,
    /// Current phase of the program.
    pub phase: String,
    /// Mode that limits its actions.
    pub mode: String,
    /// When this was true, in milliseconds since 1970.
    pub at: u64,
    /// The fabric in a few words; empty until it was read.
    pub fabric: String,
    /// Maximum effective EFI that was measured for the tables in place.
    pub efi: Option<u64>,
    /// Channels between switches that carry most: by counters where there are any, else by routes inside jobs.
    pub channels: Vec<TopChannel>,
    /// Channels that carry something, of how many.
    pub lit: u64,
    /// Number of channels between switches.
    pub of: u64,
    /// Running jobs, the one with the largest slowdown first.
    pub jobs: Vec<TopJob>,
    /// Number of running jobs.
    pub running: u64,
    /// Alarms for operators, the newest first.
    pub alarms: Vec<TopAlarm>,
    /// Why there is nothing to see, if so.
    pub note: String,
}

/// A channel between switches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TopChannel {
    /// The switch that sends.
    pub from: String,
    /// Port of the first switch.
    pub from_port: u8,
    /// The switch that receives.
    pub to: String,
    /// Port of the second switch.
    pub to_port: u8,
    /// Share of its rate that it carried between the last two readings of counters; 1 is all.
    pub share: Option<f64>,
    /// Routes inside jobs that cross it.
    pub routes: u64,
    /// Jobs that have some of these.
    pub jobs: u64,
    /// The names of the first of them, the one with most routes first.
    pub names: Vec<String>,
}

/// A job that runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TopJob {
    /// Name of the job.
    pub name: String,
    /// Number of its terminals.
    pub terminals: u64,
    /// Time of all pairs inside the job relative to the job alone, if all jobs send at once and its fullest channel
    /// decides, by routes; 1 is undisturbed.
    pub slowdown: f64,
    /// The channel that decides; empty where no route of it leaves a switch.
    pub at: String,
    /// Other jobs that it shares channels with.
    pub with: u64,
}

/// The content as JSON.
pub(crate) fn text(snapshot: &Snapshot) -> String {
    serde_json::to_string(&top(snapshot)).unwrap_or_default()
}

fn top(snapshot: &Snapshot) -> Top {
    let mut top = Top {
        site: snapshot.site.clone(),
        phase: snapshot.phase.to_owned(),
        mode: snapshot.mode.to_owned(),
        at: snapshot.at,
        efi: snapshot.efi,
        alarms: snapshot.recent.alarms.iter().rev().cloned().collect(),
        ..Top::default()
    };
    let Some(values) = &snapshot.values else {
        "fabric or tables are not read yet".clone_into(&mut top.note);
        return top;
    };
    let fabric = values.fabric.fabric();
    let names = Names::new(fabric);
    top.fabric = format!(
        "{}: {} switches, {} terminals",
        fabric.name(),
        fabric.switch_count(),
        fabric.terminal_count()
    );
    let sharing = Sharing::of(fabric, &values.tables.routes, &values.jobs.places);
    let channels = fabric.channel_count();
    let shares: Option<Vec<f64>> = values.counters.as_ref().map(|c| c.shares(fabric));
    let heat = |c: usize| (shares.as_ref().map_or(0.0, |s| s[c]), sharing.all.load[c]);
    let mut order: Vec<usize> = (0..channels).filter(|&c| heat(c) > (0.0, 0)).collect();
    (top.lit, top.of) = (order.len() as u64, channels as u64);
    order.sort_by(|&a, &b| {
        let (a_share, a_routes) = heat(a);
        let (b_share, b_routes) = heat(b);
        b_share.total_cmp(&a_share).then(b_routes.cmp(&a_routes)).then(a.cmp(&b))
    });
    let job_name = |j: u32| values.jobs.names.get(j as usize).cloned().unwrap_or_default();
    let channel = |&c: &usize| {
        let name = names.channel(ChannelId::new(c));
        let mut on = sharing.on(ChannelId::new(c)).to_vec();
        on.sort_by_key(|&(job, routes)| (Reverse(routes), job));
        TopChannel {
            from: name.from,
            from_port: name.from_port,
            to: name.to,
            to_port: name.to_port,
            share: shares.as_ref().map(|s| s[c]),
            routes: sharing.all.load[c],
            jobs: on.len() as u64,
            names: on.iter().take(NAMES).map(|&(job, _)| job_name(job)).collect(),
        }
    };
    top.channels = order.iter().take(CHANNELS).map(channel).collect();
    top.running = values.jobs.places.len() as u64;
    top.jobs = (0..values.jobs.places.len())
        .map(|j| {
            let of = sharing.of_job(j);
            let alone = sharing.jobs[j].max();
            TopJob {
                name: job_name(j as u32),
                terminals: values.jobs.places[j].len() as u64,
                slowdown: of.fullest.map_or(1.0, |(_, all)| all as f64 / f64::from(alone.max(1))),
                at: of.fullest.map_or_else(String::new, |(c, _)| names.channel(c).to_string()),
                with: of.with.len() as u64,
            }
        })
        .collect();
    top.jobs.sort_by(|a, b| b.slowdown.total_cmp(&a.slowdown).then_with(|| a.name.cmp(&b.name)));
    top.jobs.truncate(JOBS);
    if top.running == 0 && shares.is_none() {
        "no job runs, and no counters were read twice".clone_into(&mut top.note);
    }
    top
}

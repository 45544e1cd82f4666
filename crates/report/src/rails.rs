//! The result of `darkfiber rails`: traffic across the rails of a GPU cluster, by switch and cable.

use std::fmt::Write as _;

use darkfiber_analysis::ChannelName;
use darkfiber_analysis::rail_crossing::RailPairs;
use schemars::JsonSchema;
use serde::Serialize;

use crate::model::{FabricFacts, Provenance, RailFacts};
use crate::number::{group, percent};
use crate::style::Style;
use crate::table;
use crate::{Report, comma};

/// What crosses rails.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct RailsResult<'a> {
    /// The tables: their file, or the engine that made them.
    pub tables: &'a str,
    /// Rails, units and pods.
    pub rails: &'a RailFacts,
    /// Ordered pairs of NICs of different hosts.
    pub pairs: RailPairs,
    /// Whether no layer of the tables has a cycle of channel dependencies.
    pub deadlock_free: bool,
    /// Switches between two leaves that pairs of different rails cross, those with the most first.
    pub switches: &'a [RailSwitch],
    /// Directed cables between switches with pairs of different rails, those with the most first.
    pub cables: &'a [RailCable],
    /// The fabric.
    pub fabric: &'a FabricFacts,
    /// Where the result comes from.
    pub provenance: &'a Provenance,
}

/// A switch at which rails meet.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct RailSwitch {
    /// Its name.
    pub switch: String,
    /// Pairs of different rails that cross it.
    pub crossing: u64,
}

/// A cable, in one direction.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct RailCable {
    /// The channel.
    pub channel: ChannelName,
    /// Pairs of different rails on it.
    pub crossing: u64,
    /// Pairs of one rail on it.
    pub kept: u64,
}

impl Report for RailsResult<'_> {
    fn text(&self, style: Style) -> String {
        text(self, style)
    }

    fn csv(&self) -> String {
        comma::table(
            self.cables,
            &[
                ("from", &|c| c.channel.from.clone()),
                ("from_port", &|c| c.channel.from_port.to_string()),
                ("to", &|c| c.channel.to.clone()),
                ("to_port", &|c| c.channel.to_port.to_string()),
                ("crossing", &|c| c.crossing.to_string()),
                ("kept", &|c| c.kept.to_string()),
            ],
        )
    }
}

fn text(r: &RailsResult<'_>, style: Style) -> String {
    let top = style.most();
    let mut text = format!(
        "{}\n{}\nroutes of {}, {}\n\n",
        table::headline(r.fabric),
        table::rails(r.rails),
        r.tables,
        if r.deadlock_free { "deadlock-free" } else { "which can deadlock" }
    );
    // Pairs by the fate of their packets; empty rows are left out, except for the first three.
    let p = &r.pairs;
    let all = p.kept + p.left + p.crossing + p.apart + p.between_planes + p.lost;
    let rows = [
        ("of one rail, stay on it", p.kept, true),
        ("of one rail, cross a leaf of another", p.left, true),
        ("of different rails", p.crossing, true),
        ("of different rails, no path by design", p.apart, false),
        ("in different planes, no path by design", p.between_planes, false),
        ("lost", p.lost, false),
    ];
    let rows: Vec<Vec<String>> = rows
        .iter()
        .filter(|(_, pairs, always)| *always || *pairs > 0)
        .map(|&(what, pairs, _)| {
            let share = if all == 0 { 0.0 } else { 100.0 * pairs as f64 / all as f64 };
            vec![what.to_owned(), group(pairs), percent(share)]
        })
        .collect();
    let heading = ["pairs of NICs of different hosts", "pairs", "share"];
    text.push_str(&table::plain(&heading, &rows, &[1, 2], style));
    if p.apart > 0 {
        text.push_str(
            "\nNo cable joins the rails (rail-only): NICs of different rails reach each other only inside a host (NVLink, PXN).\n",
        );
    }
    if p.nics_without_rail > 0 {
        let _infallible = writeln!(
            text,
            "\n{} on leaves without a rail are left out",
            crate::number::counted(p.nics_without_rail, "NIC", "NICs")
        );
    }
    let more = |text: &mut String, all: usize, what: &str| {
        if all > top {
            let _infallible =
                writeln!(text, "... and {} more {what} (--top N, --format json)", all - top);
        }
    };
    if !r.switches.is_empty() {
        text.push('\n');
        let rows = r.switches.iter().take(top);
        let rows: Vec<_> = rows.map(|s| vec![s.switch.clone(), group(s.crossing)]).collect();
        let heading = ["switch between rails", "crossing pairs"];
        text.push_str(&table::plain(&heading, &rows, &[1], style));
        more(&mut text, r.switches.len(), "switches");
    }
    if !r.cables.is_empty() {
        text.push('\n');
        let rows = r.cables.iter().take(top).map(|c| {
            vec![
                c.channel.to_string(),
                group(c.crossing),
                group(c.kept),
                group(c.crossing + c.kept),
            ]
        });
        let heading = ["cable, the worst first", "crossing pairs", "of one rail", "all"];
        text.push_str(&table::plain(&heading, &rows.collect::<Vec<_>>(), &[1, 2, 3], style));
        more(&mut text, r.cables.len(), "cables");
    }
    text
}

//! The result of `darkfiber load`: load-latency curves.

mod spread;

pub use spread::{Latencies, spread};

use std::fmt::Write as _;

use darkfiber_study::curve::Point;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Report;
use crate::canvas::{LEFT, escape, header};
use crate::chart::colour;
use crate::comma;
use crate::figures::frame::{Axis, Frame};
use crate::model::{FabricFacts, Provenance};
use crate::number::counted;
use crate::style::Style;
use crate::table;

/// All of it.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct LoadResult<'a> {
    /// What switches are like: a name of `darkfiber list switches`.
    pub switches: &'a str,
    /// Whom terminals send to.
    pub pattern: &'a str,
    /// Bytes of a packet at most.
    pub packet_bytes: u32,
    /// Bytes of a message, all of whose packets are created at once.
    pub message_bytes: u64,
    /// Nanoseconds that were measured at least; near saturation it was longer, unless that was given.
    pub measured: f64,
    /// One for each routing.
    pub curves: &'a [Curve],
    /// Seconds that it took.
    pub seconds: f64,
    /// The fabric.
    pub fabric: &'a FabricFacts,
    /// Where the result comes from.
    pub provenance: &'a Provenance,
}

/// A routing under rising load.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Curve {
    /// The routing; of tables, with their engine.
    pub routing: String,
    /// Virtual lanes.
    pub lanes: u8,
    /// The most that was accepted.
    pub most_accepted: f64,
    /// By rising load.
    pub points: Vec<Point>,
    /// Where packets wait for each other for ever, channel by channel with its lane; if they do.
    pub deadlock: Vec<Held>,
    /// Why there are no points, if the routing or its engine refuses the fabric.
    pub refused: Option<String>,
}

/// A channel whose buffer is full.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Held {
    /// Switch that sends.
    pub from: String,
    /// Its port.
    pub from_port: u8,
    /// Switch whose buffer it is.
    pub to: String,
    /// Its port.
    pub to_port: u8,
    /// The lane.
    pub lane: u8,
}

impl LoadResult<'_> {
    /// How long packets were measured, at all points.
    fn durations(&self) -> String {
        let times = || self.curves.iter().flat_map(|c| &c.points).map(|p| p.measured);
        match (times().reduce(f64::min), times().reduce(f64::max)) {
            (Some(least), Some(most)) if least < most => format!(", {least} to {most} measured"),
            (Some(all), _) => format!(", {all} measured"),
            _ => String::new(),
        }
    }

    /// Description of the traffic of terminals.
    fn traffic(&self) -> String {
        let (pattern, packet) = (self.pattern, self.packet_bytes);
        match self.message_bytes {
            m if m == u64::from(packet) => format!("{pattern} traffic, packets of {packet} B"),
            m => format!("{pattern} traffic, messages of {m} B, packets of {packet} B"),
        }
    }
}

impl Report for LoadResult<'_> {
    // For people.
    fn text(&self, style: Style) -> String {
        let mut text = format!(
            "{}\n{}, switches as {}; times in ns{}\n",
            table::headline(self.fabric),
            self.traffic(),
            self.switches,
            self.durations()
        );
        let short = |x: f64| if x >= 1000.0 { format!("{x:.0}") } else { format!("{x:.1}") };
        for c in self.curves {
            if let Some(why) = &c.refused {
                let _ok = writeln!(text, "\n{}: refused: {why}", c.routing);
                continue;
            }
            let rows: Vec<Vec<String>> = (c.points.iter())
                .map(|p| {
                    let mut row = vec![format!("{:.3}", p.offered), format!("{:.3}", p.accepted)];
                    let sign = if p.saturated { " *" } else { "" };
                    // No packet that was created during the measurement arrived: there is no latency.
                    if p.packets == 0 {
                        row.push(format!("none{sign}"));
                        row.extend(["-"; 6].map(str::to_owned));
                        return row;
                    }
                    let error =
                        p.error.map_or(String::new(), |error| format!(" ± {}", short(error)));
                    row.push(format!("{}{error}{sign}", short(p.mean)));
                    row.extend([p.p50, p.p99, p.p999, p.max].map(short));
                    row.push(format!("{:.2}", p.hops));
                    row.push(format!("{:.0} %", 100.0 * p.round));
                    row
                })
                .collect();
            let _ok =
                writeln!(text, "\n{}, {}", c.routing, counted(c.lanes as usize, "lane", "lanes"));
            let heading = [
                "offered",
                "accepted",
                "mean",
                "p50",
                "p99",
                "p99.9",
                "max",
                "hops",
                "not shortest",
            ];
            text.push_str(&table::plain(&heading, &rows, &[0, 1, 2, 3, 4, 5, 6, 7, 8], style));
            if !c.deadlock.is_empty() {
                text.push_str(
                    "deadlock: each of these buffers is full of packets for the next one\n",
                );
                for h in &c.deadlock {
                    let _ok = writeln!(
                        text,
                        "  {} port {} -> {} port {}, lane {}",
                        h.from, h.from_port, h.to, h.to_port, h.lane
                    );
                }
            }
        }
        let points = self.curves.iter().flat_map(|c| &c.points);
        let narrow = points.filter(|p| p.narrow && !p.saturated).map(|p| p.offered);
        if let Some(first) = narrow.reduce(f64::min) {
            let _ok = writeln!(
                text,
                "\n± is too narrow from load {first:.3} on: latencies rise and fall for longer than a tenth of the time measured (--measure)"
            );
        }
        if self.curves.iter().any(|c| c.points.iter().any(|p| p.saturated)) {
            text.push_str(
                "\n* saturated: sources fall behind, and latencies grow as long as one looks\n",
            );
        }
        text
    }

    // A line for each load.
    fn csv(&self) -> String {
        let rows = self.curves.iter().flat_map(|c| c.points.iter().map(move |p| (c, p)));
        comma::table(
            rows,
            &[
                ("routing", &|(c, _)| c.routing.clone()),
                ("lanes", &|(c, _)| c.lanes.to_string()),
                ("offered", &|(_, p)| p.offered.to_string()),
                ("accepted", &|(_, p)| p.accepted.to_string()),
                ("saturated", &|(_, p)| p.saturated.to_string()),
                ("mean", &|(_, p)| p.mean.to_string()),
                ("error", &|(_, p)| p.error.map_or(String::new(), |error| error.to_string())),
                ("p50", &|(_, p)| p.p50.to_string()),
                ("p95", &|(_, p)| p.p95.to_string()),
                ("p99", &|(_, p)| p.p99.to_string()),
                ("p999", &|(_, p)| p.p999.to_string()),
                ("max", &|(_, p)| p.max.to_string()),
                ("hops", &|(_, p)| p.hops.to_string()),
                ("round", &|(_, p)| p.round.to_string()),
                ("packets", &|(_, p)| p.packets.to_string()),
                ("measured", &|(_, p)| p.measured.to_string()),
            ],
        )
    }
}

const WIDTH: f64 = 620.0;
const HEIGHT: f64 = 340.0;
/// Latencies are drawn up to this many times the least one.
const FAR: f64 = 6.0;

/// The legend entry of a line.
fn key(svg: &mut String, i: usize, name: &str) {
    let at = 84.0 + 18.0 * i as f64;
    let _ok = writeln!(
        svg,
        "<line x1=\"{LEFT}\" y1=\"{at}\" x2=\"{:.1}\" y2=\"{at}\" stroke=\"{}\" stroke-width=\"2\"/>\
         <text x=\"{:.1}\" y=\"{:.1}\" font-size=\"12\">{}</text>",
        LEFT + 24.0,
        colour(i),
        LEFT + 32.0,
        at + 4.0,
        escape(name)
    );
}

/// Latency by load: mean and, dashed, 99 %; a line ends where it saturates.
pub fn picture(r: &LoadResult<'_>) -> String {
    let top = 100.0 + 18.0 * r.curves.len() as f64;
    // Points without arrivals have no latency.
    let points = || r.curves.iter().flat_map(|c| &c.points).filter(|p| p.packets > 0);
    let least = points().map(|p| p.mean).reduce(f64::min).unwrap_or(1.0);
    let most = points().filter(|p| !p.saturated).map(|p| p.p99).fold(least, f64::max);
    let high = most.min(FAR * least) * 1.05;
    let (across, up) = (Axis::up_to(1.0, 10), Axis::up_to(high, 6));
    let frame = Frame { across, up, top, size: (WIDTH, HEIGHT) };
    let x = |load| frame.x(load);
    let y = |ns: f64| frame.y(ns);
    let is_inside = |ns: f64| y(ns) >= top;
    let title = format!("Latency by load, {}", r.fabric.name);
    let subtitle =
        format!("{}, switches as {}: mean, and dashed 99 % of packets", r.traffic(), r.switches);
    let mut svg = header(LEFT + WIDTH + 40.0, top + HEIGHT + 60.0, &title, &subtitle);
    frame.draw(&mut svg, ("offered load, of what channels of terminals carry", "ns"));
    if points().next().is_none() {
        let (x, y) = (LEFT + WIDTH / 2.0, top + HEIGHT / 2.0);
        let _ok = writeln!(
            svg,
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">no packet arrived in the time that was measured</text>"
        );
    }
    // What is above the frame leads out of it.
    let _ok = writeln!(
        svg,
        "<clipPath id=\"frame\"><rect x=\"{LEFT}\" y=\"{top}\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/></clipPath>"
    );
    for (i, c) in r.curves.iter().enumerate() {
        let below = || c.points.iter().take_while(|p| !p.saturated).filter(|p| p.packets > 0);
        let line = |of: fn(&Point) -> f64| -> String {
            let drawn = below();
            let all: Vec<String> =
                drawn.map(|p| format!("{:.1},{:.1}", x(p.offered), y(of(p)))).collect();
            all.join(" ")
        };
        let colour = colour(i);
        for (of, dash) in [(line(|p| p.mean), ""), (line(|p| p.p99), " stroke-dasharray=\"3 3\"")] {
            let _ok = writeln!(
                svg,
                "<polyline points=\"{of}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash} clip-path=\"url(#frame)\"/>"
            );
        }
        // Each load that was simulated; the last one before it saturates is hollow.
        let saturates = c.points.iter().find(|p| p.saturated).map(|p| p.offered);
        let last = below().last().filter(|_| saturates.is_some()).map(|p| p.offered);
        for p in below().filter(|p| is_inside(p.mean)) {
            let (radius, fill) =
                if last == Some(p.offered) { (3.5, "#ffffff") } else { (2.2, colour) };
            let _ok = writeln!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius}\" fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"1.6\"/>",
                x(p.offered),
                y(p.mean)
            );
        }
        let says = if c.refused.is_some() {
            "refused".to_owned()
        } else {
            let lanes = counted(c.lanes as usize, "lane", "lanes");
            let at = saturates.map_or(String::new(), |load| format!(", saturates at {load}"));
            format!("({lanes}): accepts {:.0} %{at}", 100.0 * c.most_accepted)
        };
        key(&mut svg, i, &format!("{} {says}", c.routing));
    }
    svg.push_str("</svg>\n");
    svg
}

//! Distribution of latencies.

use std::fmt::Write as _;

use super::{HEIGHT, LoadResult, WIDTH, key};
use crate::canvas::{LEFT, header};
use crate::chart::colour;
use crate::figures::frame::{Axis, Frame};

/// Latencies of a run.
#[derive(Clone, Debug)]
pub struct Latencies {
    /// Name of the run.
    pub name: String,
    /// Nanoseconds, and the share of packets that took longer, by rising nanoseconds.
    pub longer: Vec<(f64, f64)>,
}

/// Shares are drawn down to one in 10^this.
const DECADES: f64 = 5.0;

/// Share of packets that took longer, by latency: a line for each run.
pub fn spread(r: &LoadResult<'_>, runs: &[Latencies]) -> String {
    let top = 100.0 + 18.0 * runs.len() as f64;
    let seen = |l: &Latencies| {
        let drawn = l.longer.iter().take_while(|p| p.1 > 0.0);
        drawn.map(|p| p.0).fold(0.0, f64::max)
    };
    let far = runs.iter().map(seen).fold(1.0, f64::max);
    let frame = Frame {
        across: Axis::up_to(far, 10),
        up: Axis::up_to(DECADES, 5),
        top,
        size: (WIDTH, HEIGHT),
    };
    let title = format!("Latencies of packets, {}", r.fabric.name);
    let subtitle =
        format!("{}, switches as {}: of how many packets one took longer", r.traffic(), r.switches);
    let mut svg = header(LEFT + WIDTH + 40.0, top + HEIGHT + 60.0, &title, &subtitle);
    frame.draw(&mut svg, ("ns", "log10 packets of which one takes longer"));
    for (i, run) in runs.iter().enumerate() {
        let rare = |share: f64| -share.log10();
        let drawn = run.longer.iter().take_while(|p| p.1 > 0.0 && rare(p.1) <= DECADES);
        let points: Vec<String> =
            drawn.map(|p| format!("{:.1},{:.1}", frame.x(p.0), frame.y(rare(p.1)))).collect();
        let _ok = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"/>",
            points.join(" "),
            colour(i)
        );
        key(&mut svg, i, &run.name);
    }
    svg.push_str("</svg>\n");
    svg
}

//! Section 4.3.3: how long new tables take to be sent.

use super::Site;
use crate::replay::{BLOCK_SECONDS, reconfigurations};
use crate::reproduce::{Allowed, Class, Context, Experiment, Row, USUAL};

/// Milliseconds that OpenSM took in fact for one block number of all switches: least and most.
const MEASURED: (f64, f64) = (25.0, 50.0);

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "SAR-LFT",
    title: "Time to configure the tables of all switches",
    paper: "Domke, Hoefler: Scheduling-Aware Routing for Supercomputers, SC'16, section 4.3.3",
    setup: "@taurus: 4.6 us a block of 64 LIDs, one block number of all switches after the other. The paper measures 25 \
     to 50 ms for one block number instead, an overhead of OpenSM's, and 0.8 s in all. Blocks that a change of \
     jobs alters are counted over two days of jobs as in SAR-F1.",
    class: Class::Shape,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let site = Site::new("@taurus", context);
    let switches = site.case.fabric().switch_count() as f64;
    let numbers = f64::from(site.lids.top() / 64 + 1);
    let row = switches * BLOCK_SECONDS * 1e3;
    let moments = site.days(2, &["sar"], context);
    let often = reconfigurations(&moments, &[("sar", true)], super::EVERY);
    let sent = &often.engines[0];
    let overhead = "with the 25 ms that the paper measures for a block number";
    vec![
        Row::new("switches", 210.0, switches, Allowed::Nothing),
        Row::derived("one block number of all switches, ms", 0.97, row, Allowed::Rule)
            .noted("210 blocks of 4.6 us; printed as under 1 ms"),
        Row::told("all tables, s, without overhead", row * numbers / 1e3),
        Row::new("all tables, s", 0.8, MEASURED.0 * numbers / 1e3, Allowed::Rule).noted(overhead),
        Row::told(
            "blocks that a change alters, % of all",
            100.0 * sent.blocks_mean / (switches * numbers),
        )
        .noted(site.source.clone()),
        Row::told("to send these, s, without overhead", sent.seconds_mean).noted(site.source),
    ]
}

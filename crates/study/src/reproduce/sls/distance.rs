//! Figure 4: latency and bandwidth by distance, on a quiet machine.

use darkfiber_fabric::TerminalId;
use darkfiber_workload::play::{Host, host};
use darkfiber_workload::schedule::Script;

use super::PAPER;
use super::lab::Quiet;
use crate::reproduce::{Allowed, Class, Context, Drawn, Experiment, Figure, Group, Row, USUAL};

const SIZES: [(u64, &str); 5] = [
    (8, "8 B"),
    (1 << 10, "1 KiB"),
    (16 << 10, "16 KiB"),
    (128 << 10, "128 KiB"),
    (4 << 20, "4 MiB"),
];
/// Partners of a terminal at a distance: those behind 0 on its switch, on other switches of its group, and in other groups.
const DISTANCES: [(&str, [u32; 7]); 3] = [
    ("same switch", [1, 2, 3, 6, 8, 11, 15]),
    ("same group", [16, 33, 50, 67, 84, 101, 118]),
    ("other group", [130, 170, 250, 266, 300, 370, 399]),
];
/// Messages there and back with each partner, and messages at once of a stream.
const ROUNDS: usize = 8;
const WINDOW: usize = 64;
/// Cost of copies at either end, ns a byte: decision.
const COPY: f64 = 0.16;

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "SLS-F4",
    title: "Latency and bandwidth by distance on a quiet system (figure 4)",
    paper: PAPER,
    setup: "Malbec, where two groups are at most three switches apart, as the paper counts; one terminal and seven partners at each \
     distance, packet by packet, by shortest ways. Latency is half of there and back, the median of all; bandwidth is that \
     of 64 messages one after the other and an answer. Hosts are `slingshot`, cables 2.6 m (copper, printed) and 10 m \
     (optical, a decision). What software costs by the byte is not printed: that 16 KiB differ by less than 10 % needs \
     hosts that take a while for them, so messages are copied at either end, 0.16 ns a byte, and none waits for its \
     receiver; latencies of hosts that copy nothing are shown, too, and not judged. Bandwidth is that of hosts that copy nothing, to one \
     partner at each distance.",
    class: Class::Shape,
    seconds: 60.0,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let quiet = Quiet::new("@malbec");
    let bare = Host { rendezvous: u64::MAX, ..host("slingshot").expect("known").clone() };
    let copies = Host { per_byte: COPY * 1000.0, ..bare.clone() };
    let mut rows = Vec::new();
    let mut groups = Vec::new();
    let (mut worst, mut worst_bandwidth) = (0.0f64, 0.0f64);
    for (bytes, size) in SIZES {
        (context.at)(size);
        let samples =
            |host: &Host| DISTANCES.map(|(_, partners)| halves(&quiet, host, bytes, &partners));
        let copied = samples(&copies);
        let (medians, plain) =
            (copied.each_ref().map(|s| median(s)), samples(&bare).map(|s| median(&s)));
        groups.push(Group {
            name: size.to_owned(),
            boxes: DISTANCES
                .iter()
                .zip(&copied)
                .map(|((d, _), s)| ((*d).to_owned(), s.clone()))
                .collect(),
        });
        let carried = DISTANCES.map(|(_, partners)| bandwidth(&quiet, &bare, bytes, partners[3]));
        if bytes >= 16 << 10 {
            worst = worst.max(spread(&medians));
        }
        worst_bandwidth = worst_bandwidth.max(spread(&carried));
        if bytes == 8 {
            rows.push(Row::new(
                "8 B: latency by distance, spread, %",
                40.0,
                spread(&medians),
                Allowed::AtMost(40.0),
            ));
        } else {
            rows.push(Row::told(
                format!("{size}: latency by distance, spread, %"),
                spread(&medians),
            ));
        }
        rows.push(Row::told(format!("{size}: the same without copies, %"), spread(&plain)));
        for ((distance, _), us) in DISTANCES.iter().zip(medians) {
            rows.push(Row::told(format!("{size}, {distance}: latency, us"), us));
        }
        rows.push(Row::told(format!("{size}: bandwidth by distance, spread, %"), spread(&carried)));
    }
    rows.push(Row::new(
        "from 16 KiB on: latency by distance, largest spread, %",
        10.0,
        worst,
        Allowed::AtMost(10.0),
    ));
    rows.push(Row::new(
        "all sizes: bandwidth by distance, largest spread, %",
        15.0,
        worst_bandwidth,
        Allowed::AtMost(15.0),
    ));
    (context.draw)(Figure {
        name: "distance",
        title: "Latency by distance on quiet Malbec".to_owned(),
        subtitle: "half of there and back, by size".to_owned(),
        what: Drawn::Boxes { unit: "us", groups },
    });
    rows
}

/// By how much the largest exceeds the least, in percent.
fn spread(all: &[f64]) -> f64 {
    let (least, most) = all.iter().fold((f64::MAX, 0.0f64), |(l, m), &x| (l.min(x), m.max(x)));
    100.0 * (most / least - 1.0)
}

fn median(all: &[f64]) -> f64 {
    let mut all = all.to_vec();
    all.sort_unstable_by(f64::total_cmp);
    all[all.len() / 2]
}

fn terminals(partners: &[u32]) -> Vec<TerminalId> {
    std::iter::once(0).chain(partners.iter().copied()).map(TerminalId).collect()
}

/// Halves of the times there and back, in microseconds.
pub(super) fn halves(quiet: &Quiet, host: &Host, bytes: u64, partners: &[u32]) -> Vec<f64> {
    let mut script = Script::new(partners.len() as u32 + 1);
    for partner in 1..=partners.len() as u32 {
        for _ in 0..ROUNDS {
            script.message(0, partner, bytes, 0);
            script.wait(0);
            script.wait(partner);
            script.message(partner, 0, bytes, 0);
            script.wait(0);
            script.wait(partner);
        }
    }
    let mut begins = Vec::new();
    let end = quiet.run(host, script, &terminals(partners), &mut |record| {
        if record.from == 0 {
            begins.push(record.departed);
        }
    });
    begins.sort_unstable();
    // The last one ends when all is over, its own beginning included: a message departs when its sender is done with it.
    begins.push(end + begins[0]);
    begins.windows(2).map(|w| (w[1] - w[0]) as f64 / 2e6).collect()
}

/// Bytes a second of messages one after the other to a partner.
fn bandwidth(quiet: &Quiet, host: &Host, bytes: u64, partner: u32) -> f64 {
    let mut script = Script::new(2);
    for _ in 0..WINDOW {
        script.message(0, 1, bytes, 0);
    }
    script.wait(0);
    script.wait(1);
    script.message(1, 0, 4, 0);
    let end = quiet.run(host, script, &terminals(&[partner]), &mut |_| {});
    (bytes * WINDOW as u64) as f64 / (end as f64 * 1e-12)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Partners are at the requested distances.
    #[test]
    fn partners_are_at_their_distances() {
        let quiet = Quiet::new("@malbec");
        let home = |t: u32| quiet.topology.fabric.terminal(TerminalId(t)).switch.index();
        for (distance, partners) in DISTANCES {
            for p in partners {
                let (same_switch, same_group) = (home(p) == home(0), home(p) / 8 == home(0) / 8);
                let is = match (same_switch, same_group) {
                    (true, _) => "same switch",
                    (_, true) => "same group",
                    _ => "other group",
                };
                assert_eq!(is, distance, "{p}");
            }
        }
    }
}

//! Sections II-F and II-G: the part of a channel that headers, minimum frames and gaps leave for data.

use darkfiber_packetsim::{Framing, framing};

use super::PAPER;
use super::lab::full_channel;
use crate::reproduce::{Allowed, Class, Context, Experiment, Row, USUAL};

/// Data of a packet at most.
const MOST: u32 = 4096;

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "SLS-HDR",
    title: "Headers of RoCEv2 and what Slingshot's Ethernet saves (sections II-F and II-G)",
    paper: PAPER,
    setup: "Computed; and simulated: two terminals of a switch, one of which sends packets of 4 KiB without end. The paper prints no \
     efficiencies: its own are those of the headers that it lists, without the gap of standard Ethernet.",
    class: Class::Exact,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let of = |name: &str| framing(name).expect("registered");
    let (roce, ours) = (of("roce"), of("slingshot"));
    let exact = |what: &str, paper: f64, ours: f64| Row::new(what, paper, ours, Allowed::Nothing);
    let percent = |f: &Framing, bytes: u64| 100.0 * f.efficiency(bytes, MOST);
    let mut rows: Vec<Row> = [("Ethernet", "ethernet", 26.0)]
        .into_iter()
        .map(|(what, name, paper)| {
            exact(&format!("header bytes: {what}"), paper, of(name).headers().into())
        })
        .collect();
    for (name, paper) in
        [("IPv4", 20.0), ("UDP", 8.0), ("InfiniBand transport", 14.0), ("RoCEv2 CRC", 4.0)]
    {
        let found = roce.headers.iter().find(|h| h.name == name).expect("listed");
        rows.push(exact(&format!("header bytes: {name}"), paper, found.bytes.into()));
    }
    rows.extend([
        exact("header bytes in all", 62.0, roce.headers().into())
            .read_as(72.0, "26 + 20 + 8 + 14 + 4"),
        exact("least frame of standard Ethernet, B", 64.0, roce.least.into()),
        exact("least frame of Slingshot, B", 32.0, ours.least.into()),
        exact("gap of Slingshot, B", 0.0, ours.gap.into()),
        Row::derived(
            "payload of 4 KiB packets by headers, %",
            100.0 * 4096.0 / 4168.0,
            percent(ours, 4096),
            Allowed::Nothing,
        )
        .noted("not printed: by the headers that are listed; 98.5 % by the printed sum"),
        Row::told(
            "payload of 4 KiB packets with the gap of standard Ethernet, %",
            percent(roce, 4096),
        ),
        Row::told("payload of 8 B messages, standard, %", percent(roce, 8)),
        Row::told("payload of 8 B messages, Slingshot, %", percent(ours, 8)),
        Row::told(
            "payload of 8 B messages, without an Ethernet header, %",
            percent(of("slingshot-ip"), 8),
        ),
        Row::told("frames of 8 B of data, standard over Slingshot, bytes of a channel", {
            f64::from(of("ethernet").on_channel(8))
                / f64::from(of("slingshot-ethernet").on_channel(8))
        }),
    ]);
    for f in [roce, ours, of("slingshot-ip")] {
        (context.at)(f.name);
        let should = percent(f, MOST.into());
        let is = 100.0 * full_channel(f, MOST, context.seed);
        let what = format!("{}: payload of a full channel of 4 KiB packets, simulated, %", f.name);
        rows.push(
            Row::derived(what, should, is, Allowed::Absolute(0.2))
                .noted("not printed: what the calculator says"),
        );
    }
    rows
}

//! Figure 8: services with an incast.

use darkfiber_packetsim::Congestion;

use super::PAPER;
use super::gpcnet::{MS, System, Trial};
use crate::congest::Times;
use crate::reproduce::{Allowed, Class, Context, Drawn, Experiment, Figure, Group, Row, USUAL};

/// Malbec with its last group filled up.
const FULL: &str = "dragonfly:p=16,a=8,g=4,per_pair=16,gbps=200,host_gbps=100,radix=64";

const SERVICES: [&str; 4] = ["silo", "xapian", "img-dnn", "sphinx:service=10ms"];

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "SLS-F8",
    title: "Tails of services beside an incast (figure 8)",
    paper: PAPER,
    setup: "Malbec, its last group filled up to 512 nodes, with `pairs` and without control, and 512 nodes of Crystal as in SLS-F9, linear, 53 of them for services and 459 for an \
     incast. Decisions: \
     26 clients with a server each instead of one; log-normal times to serve (docs/congest.md); Sphinx takes 10 ms instead \
     of a second. 1,000 requests, or 200 ms.",
    class: Class::Shape,
    seconds: 300.0,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let malbec = || System::slingshot("Malbec", FULL);
    let systems = [
        ("without control", malbec().with("none", Congestion::None)),
        ("with control", malbec()),
        ("Aries", System::crystal()),
    ];
    let mut rows = Vec::new();
    let mut groups: Vec<Group> = (SERVICES.iter())
        .map(|s| Group {
            name: s.split(':').next().unwrap_or_default().to_owned(),
            boxes: Vec::new(),
        })
        .collect();
    for (of, system) in &systems {
        let trial = Trial {
            hosts: system.nodes(512, context),
            splits: &[(53, 459)],
            allocations: &["linear"],
            victims: &SERVICES,
            aggressors: &["incast".to_owned()],
            per_node: 1,
            iterations: 1000,
            limit: 200 * MS,
        };
        let mut least = f64::INFINITY;
        for cell in trial.run(system, context) {
            let service = SERVICES[cell.victim].split(':').next().unwrap_or_default();
            let Some(ran) = cell.ran else { continue };
            let (Some(alone), Some(beside)) = (ran.isolated.summary(), ran.congested.summary())
            else {
                continue;
            };
            let quantity = |what: &str| format!("{of}: {service}, {what}");
            rows.push(Row::told(quantity("p99 alone, us"), alone.p99 * 1e6));
            rows.push(Row::told(quantity("p95 beside by alone"), beside.p95 / alone.p95));
            let p99 = beside.p99 / alone.p99;
            let what = quantity("p99 beside by alone");
            rows.push(if *of == "without control" {
                Row::told(what, p99)
            } else if *of == "with control" {
                Row::expected(what, p99, Allowed::AtMost(1.2))
                    .noted("no relevant effect; numbers are not printed")
            } else if service == "sphinx" {
                Row::expected(what, p99, Allowed::AtMost(least))
                    .noted("less than the others; numbers are not printed")
            } else {
                least = least.min(p99);
                Row::expected(what, p99, Allowed::AtLeast(2.0))
                    .noted("severe; numbers are not printed")
            });
            let times = |t: &Times| -> Vec<f64> {
                t.samples.iter().map(|s| (*s as f64 * 1e-12 / alone.median).log10()).collect()
            };
            let boxes = &mut groups[cell.victim].boxes;
            if boxes.is_empty() {
                boxes.push(("alone".to_owned(), times(&ran.isolated)));
            }
            boxes.push((format!("beside, {of}"), times(&ran.congested)));
        }
    }
    (context.draw)(Figure {
        name: "services",
        title: "Times of requests, alone and beside an incast".to_owned(),
        subtitle: "least, quartiles and most; 0: the median alone, 1: ten times that".to_owned(),
        what: Drawn::Boxes { unit: "log10 of times the median alone", groups },
    });
    rows
}

//! The deployment: bad cables by their symbol errors, and the limits of the evaluation.

use darkfiber_fabric::{ChannelId, Faults, SYMBOL_ERRORS_OF_A_BAD_CABLE, Topology, open};
use darkfiber_routing::check::check;
use darkfiber_routing::{LidChoice, Request, find_engine};
use darkfiber_workload::Stream;

use super::PAPER;
use crate::reproduce::{Allowed, Class, Context, Experiment, Row, USUAL};

/// Draws of bad cables.
const SEEDS: u64 = 10;
/// Missing cables of the HyperX (section 2.3).
const BAD: usize = 15;
/// Saturation value of the counters: they have 16 bits.
const END: u64 = 0xffff;

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "T2HX-AD",
    title: "Bad cables are found by their symbol errors, and routed around (sections 2 and 3.2)",
    paper: PAPER,
    setup: "The whole 12x8 HyperX of 864 cables. Counters are made up, ten draws: a port has up to 300 symbol errors, one of twenty up to exactly \
     10,000, and one end of 15 cables more than that. Cables with more than 10,000 at either end are taken away; dfsssp and parx \
     route what is left. The 58 cables that broke of more than 900, and the 107 nodes that were replaced, are of the plane's \
     history: no counters of them are public. `darkfiber fabric FILE --fail COUNTERS` reads what ibqueryerrors or perfquery prints.",
    class: Class::Exact,
    seconds: 5.0,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let hyperx = open("hyperx:dims=12x8,t=7").expect("a spec");
    let (mut left, mut found, mut complete) = (Vec::new(), 0, [0; 2]);
    for i in 0..SEEDS {
        (context.at)(&format!("draw {}", i + 1));
        let seed = context.seed + i;
        let bad = Faults::random_links(&hyperx.fabric, BAD, seed).expect("it has more");
        let counted = counters(&hyperx, &bad, seed);
        let gone = Faults::bad_cables(&hyperx.fabric, &counted, SYMBOL_ERRORS_OF_A_BAD_CABLE);
        found += u32::from(gone == bad);
        let rest = hyperx.with_faults(&gone).0;
        left.push(rest.fabric.switch_link_count() as f64);
        for (engine, complete) in ["dfsssp", "parx"].iter().zip(&mut complete) {
            *complete += u32::from(is_complete(&rest, engine));
        }
    }
    let most = left.iter().copied().fold(0.0, f64::max);
    let ten = |what: &str, ours: u32| {
        Row::expected(what, f64::from(ours), Allowed::Between(SEEDS as f64, SEEDS as f64))
            .noted("of ten draws")
    };
    vec![
        Row::new(
            "symbol errors of a bad cable, more than",
            10_000.0,
            SYMBOL_ERRORS_OF_A_BAD_CABLE as f64,
            Allowed::Nothing,
        ),
        Row::new(
            "bytes up to which PARX takes the LIDs of small messages",
            512.0,
            LidChoice::THRESHOLD as f64,
            Allowed::Nothing,
        ),
        Row::derived("cables left, most", 864.0 - 15.0, most, Allowed::Nothing)
            .noted("15 of 864 are missing"),
        ten("draws in which exactly the bad cables are found", found),
        ten("draws in which dfsssp routes what is left, free of deadlock", complete[0]),
        ten("draws in which parx routes what is left, free of deadlock", complete[1]),
    ]
}

/// Symbol errors by channel, counted where it begins: those of a good port, or for one end of a bad cable of a bad one.
fn counters(hyperx: &Topology, bad: &Faults, seed: u64) -> Vec<(ChannelId, u64)> {
    let mut random = Stream::new(seed, 1);
    let limit = SYMBOL_ERRORS_OF_A_BAD_CABLE;
    let mut counted: Vec<(ChannelId, u64)> = (0..hyperx.fabric.channel_count())
        .map(|c| {
            let most = if random.below(20) == 0 { limit as u32 + 1 } else { 301 };
            (ChannelId::new(c), u64::from(random.below(most)))
        })
        .collect();
    // One port that has just as many as a cable may have.
    let at_limit = counted.iter().position(|(c, _)| {
        !bad.links.contains(c) && !bad.links.contains(&hyperx.fabric.reverse(*c))
    });
    if let Some(at) = at_limit {
        counted[at].1 = limit;
    }
    for &link in &bad.links {
        let end = if random.below(2) == 0 { link } else { hyperx.fabric.reverse(link) };
        counted[end.index()].1 = limit + 1 + u64::from(random.below((END - limit) as u32));
    }
    counted
}

/// Whether an engine reaches everybody without a cyclic channel dependency.
fn is_complete(topology: &Topology, engine: &str) -> bool {
    let request = Request { shape: topology.shape.as_ref(), ..Request::default() };
    let engine = find_engine(engine).expect("registered");
    engine.route(&topology.fabric, &request).is_ok_and(|routes| {
        let report = check(&topology.fabric, &routes);
        report.complete() && report.deadlock_free()
    })
}

//! Latency of packets by load, and the load at saturation.

use darkfiber_packetsim::routing::{AnyRouting, RoutingContext, make};
use darkfiber_packetsim::{Load, LoadOutcome, Net, SwitchModel};
use darkfiber_scenario::{Error, Medium};

use super::packets;
use crate::curve::{Point, Traffic, curve, saturation};
use crate::grid::params::Params;
use crate::grid::question::{CellContext, ColumnOf, Question};
use crate::grid::row::{Answer, Detail};

/// Default loads of the curve.
const USUAL: [f64; 10] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];
/// Default tolerance of the saturation load.
const WITHIN: f64 = 0.01;

pub(in crate::grid) struct Latency;

impl Question for Latency {
    fn name(&self) -> &'static str {
        "latency"
    }

    fn summary(&self) -> &'static str {
        "how long packets take by offered load, in switches of [packets]; or from which load on the network saturates"
    }

    fn parameters(&self) -> &'static [ColumnOf] {
        &[
            (
                "loads",
                "offered loads, as parts of what channels of terminals carry; 0.1 to 1 without",
            ),
            (
                "find",
                "\"saturation\": instead, the largest load that does not saturate, by bisection",
            ),
            ("within", "how well that load is to be known; 0.01 without"),
            (
                "pattern",
                "where packets go: uniform, or a spec of `darkfiber list patterns`; uniform without",
            ),
            ("message", "bytes of a message, whose packets are created at once; a packet without"),
            (
                "measure",
                "time over which packets are measured; without, that of 100 packets on a channel or of 20 ways over 8 switches, and near saturation up to 16 times that",
            ),
            ("warmup", "time before that; until latencies have settled without"),
            ("interval", "intervals by which saturate -o records channels; rows have none of it"),
        ]
    }

    fn columns(&self) -> &'static [ColumnOf] {
        &[
            ("mean", "mean latency of packets, from creation to their last byte, in nanoseconds"),
            ("offered", "what terminals created; of saturation the load that was found"),
            ("accepted", "what arrived, as a part of what channels of terminals carry"),
            ("saturated", "whether sources fell behind, or latencies never settled"),
            ("error", "half the width of the 95 % confidence interval of the mean latency"),
            ("p50", "half of the packets took at most this"),
            ("p95", "95 % did"),
            ("p99", "99 % did"),
            ("p999", "99.9 % did"),
            ("max", "all did"),
            ("hops", "switches that packets crossed"),
            ("round", "share of packets that took another than a shortest path"),
            ("packets", "packets that were measured"),
        ]
    }

    fn check(&self, params: &Params) -> Result<(), Error> {
        params.numbers("loads", LEAST, 1.0)?;
        params.number("within", 1e-4, 0.5)?;
        if let Some(word) = params.word("find")?
            && word != "saturation"
        {
            return Err(Error::unknown("load to find", &word, &["saturation"]));
        }
        if params.has("find") && params.has("loads") {
            return Err(Error::usage("loads are given, and one is to be found, too")
                .hint("leave out loads, or find"));
        }
        traffic(params).map(|_| ())
    }

    fn answer(&self, context: &CellContext<'_>, params: &Params) -> Result<Vec<Answer>, Error> {
        let case = packets::open(context)?;
        let routes = packets::tables(context)?.map(|tables| &*tables.routes);
        let Medium::Packet(options) = &case.medium else {
            return Err(Error::infeasible("switches send packets"));
        };
        let (fabric, shape) = (case.fabric(), case.topology().shape.as_ref());
        let (micro, bytes) = (&options.micro, options.bytes);
        let net = Net::new(fabric, micro);
        let what = traffic(params)?.load((fabric, shape), &net, micro, bytes, case.seed)?;
        let what = Load { processes: context.processes.cloned(), ..what };
        let given =
            RoutingContext { net: &net, fabric, shape, routes, bytes, adaptive: options.adaptive };
        let routing: AnyRouting<'_> = make(options.routing, &given).map_err(Error::infeasible)?;
        let lanes = options.lanes.unwrap_or(routing.lanes().max(1));
        let micro = SwitchModel { lanes, ..micro.clone() };
        let (store, id) = (context.store, context.id);
        // Runs of other messages to other destinations are others.
        let whose = format!("{:?}", traffic(params)?);
        let follow = |load: f64| store.follow(id, &format!("load {load} of {whose}"));
        let run = |loads: &[f64]| {
            curve(&net, &micro, &routing, loads, &what, &follow, &|| ()).map_err(Error::infeasible)
        };
        let at = |loads: &[f64]| -> Result<Vec<Point>, Error> {
            let points = run(loads)?.into_iter().map(|(point, _)| point).collect();
            refuse_deadlock(points, lanes)
        };
        if params.has("find") {
            let within = params.number("within", 1e-4, 0.5)?.unwrap_or(WITHIN);
            let load = saturation(within, |load| {
                Ok::<_, Error>(at(&[load])?.iter().any(|point| point.saturated))
            })?;
            // Where even the lowest load saturates there is nothing to measure.
            if load <= 0.0 {
                return Ok(vec![Answer::of("saturation").with("offered", 0.0)]);
            }
            return Ok(at(&[load])?.iter().map(|point| row("saturation", point)).collect());
        }
        let loads = params.numbers("loads", LEAST, 1.0)?.unwrap_or_else(|| USUAL.to_vec());
        let found = run(&loads)?;
        let points = found.iter().map(|(point, _)| point.clone()).collect();
        let mut answers = match refuse_deadlock(points, lanes) {
            Ok(points) => points.iter().map(|p| row(&format!("load {}", p.offered), p)).collect(),
            Err(e) if context.details.are_wanted() => {
                vec![Answer { error: Some(e.to_string()), ..Answer::default() }]
            }
            Err(e) => return Err(e),
        };
        if let Some(first) = answers.first_mut().filter(|_| context.details.are_wanted()) {
            first.detail = Detail::new(Curve { lanes, found });
        }
        Ok(answers)
    }
}

/// A curve, deadlock or not.
#[derive(Debug)]
pub struct Curve {
    /// Lanes of the switches.
    pub lanes: u8,
    /// Results of each load.
    pub found: Vec<(Point, LoadOutcome)>,
}

/// Points, if no packets wait for each other for ever.
fn refuse_deadlock(points: Vec<Point>, lanes: u8) -> Result<Vec<Point>, Error> {
    match points.iter().find(|point| !point.cycle.is_empty()) {
        Some(point) => Err(Error::infeasible(format!(
            "deadlock of {} buffers at load {}: {} {} not enough for this routing",
            point.cycle.len(),
            point.offered,
            lanes,
            if lanes == 1 { "lane is" } else { "lanes are" }
        ))),
        None => Ok(points),
    }
}

/// Loads are above zero.
const LEAST: f64 = 1e-6;

fn traffic(params: &Params) -> Result<Traffic, Error> {
    Ok(Traffic {
        pattern: params.word("pattern")?.unwrap_or_else(|| "uniform".to_owned()),
        message: params.bytes("message")?,
        measure: params.time("measure")?,
        warmup: params.time("warmup")?,
        interval: params.time("interval")?,
    })
}

fn row(of: &str, point: &Point) -> Answer {
    Answer::of(of)
        .with("mean", point.mean)
        .with("offered", point.offered)
        .with("accepted", point.accepted)
        .with("saturated", point.saturated)
        .with_some("error", point.error)
        .with("p50", point.p50)
        .with("p95", point.p95)
        .with("p99", point.p99)
        .with("p999", point.p999)
        .with("max", point.max)
        .with("hops", point.hops)
        .with("round", point.round)
        .with("packets", point.packets)
}

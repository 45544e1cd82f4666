//! Figure 6: run time of processes by the load of the fullest channel on their path.

use darkfiber_analysis::heat::Heat;
use darkfiber_analysis::piecewise::Piecewise;
use darkfiber_fabric::TerminalId;
use darkfiber_routing::{DestId, follow};
use rayon::prelude::*;

use super::PAPER;
use super::contest::{CABLE, Contest, median, with_model};
use super::lab::{GB, Lab};
use crate::reproduce::{Allowed, Class, Context, Drawn, Experiment, Figure, Row, USUAL};
use darkfiber_scenario::LidsPart;

/// Placements of each workload, as in the paper.
const PLACEMENTS: u64 = 3;
/// Jobs of the workloads.
const WORKLOADS: [u32; 3] = [4, 8, 16];
/// Ranks of a node.
const RANKS: usize = 16;

/// Processes of bis: bytes on the fullest channel of their messages, and seconds.
type Points = Vec<(f64, f64)>;

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "AFAR-F6",
    title: "Time of a process of bis by the fullest channel on its way (figure 6)",
    paper: PAPER,
    setup: with_model!(
        "Processes of bis in three placements each of 4, 8 and 16 jobs, tables of ftree: time for their own iterations \
         against bytes on the fullest channel between switches on the ways to and from their partner. Two lines that \
         meet, by least squares. As in the paper the load at the break is divided by the time of a run, here the \
         median by itself, and compared with 5 GB/s. "
    ),
    class: Class::Shape,
    seconds: 60.0,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let lab = Lab::new();
    let cases: Vec<(u32, u64)> =
        WORKLOADS.iter().flat_map(|&jobs| (0..PLACEMENTS).map(move |i| (jobs, i))).collect();
    let found: Vec<(Points, Vec<f64>)> = cases
        .into_par_iter()
        .with_max_len(1)
        .map(|(jobs, i)| {
            (context.at)(&format!("{jobs} jobs, placement {}", i + 1));
            processes(&lab, jobs, context.seed + i)
        })
        .collect();
    let points: Points = found.iter().flat_map(|f| f.0.iter().copied()).collect();
    let alone = median(found.iter().flat_map(|f| f.1.iter().copied()));
    let fit = Piecewise::fit(&points).expect("thousands of processes");
    let in_gb = |x: f64| x / GB;
    // Ranks of a node have the same path; one point for all of them.
    let drawn: Points = points
        .chunks(RANKS)
        .map(|of| (in_gb(of[0].0), of.iter().map(|p| p.1).sum::<f64>() / of.len() as f64))
        .collect();
    let far = points.iter().map(|p| p.0).fold(0.0, f64::max);
    (context.draw)(Figure {
        name: "bottleneck",
        title: "Time of a process by the fullest channel on its way".to_owned(),
        subtitle: format!(
            "bis on Cab, 4, 8 and 16 jobs, three placements each, by node. Break at {:.0} GB, R2 {:.2}",
            in_gb(fit.at),
            fit.r2
        ),
        what: Drawn::Scatter {
            x: "GB on the fullest channel",
            y: "seconds",
            points: drawn,
            line: [0.0, fit.at, far].iter().map(|&x| (in_gb(x), fit.value(x))).collect(),
        },
    });
    let rate = fit.at / alone;
    vec![
        Row::new("R2 of two lines", 0.93, fit.r2, Allowed::AtLeast(0.8)),
        Row::told("R2 of one line", fit.r2_straight),
        Row::new("break, GB", 58.0, in_gb(fit.at), Allowed::Rule),
        Row::told("break, lower bound of 95 %, GB", in_gb(fit.between.0)),
        Row::told("break, upper bound of 95 %, GB", in_gb(fit.between.1)),
        Row::new("break, GB/s", 3.9, in_gb(rate), Allowed::Rule),
        Row::new("break, % of 5 GB/s", 78.0, 100.0 * rate / 5e9, Allowed::Between(70.0, 90.0)),
        Row::told("break, % of what QDR carries", 100.0 * rate / CABLE),
        Row::told("slope before the break, ms/GB", fit.before * GB * 1e3),
        Row::told("slope behind the break, ms/GB", fit.after * GB * 1e3),
    ]
}

/// The processes of all bis jobs, and how long the jobs take in isolation.
fn processes(lab: &Lab, jobs: u32, seed: u64) -> (Points, Vec<f64>) {
    let fabric = &lab.topology().fabric;
    let contest = Contest::new(lab, jobs, seed);
    let heat = Heat::of(fabric, lab.routes(), &contest.flows, contest.names.len());
    let alone = contest.alone(lab, lab.routes(), LidsPart::Engine, seed);
    let together = contest.together(lab, lab.routes(), LidsPart::Engine, seed);
    let fullest = |from: TerminalId, to: TerminalId| {
        let routes = lab.routes();
        let ports = routes.ports(routes.row(DestId::terminal(to), routes.path_of(from)));
        let mut path = Vec::new();
        follow(fabric, ports, to, fabric.terminal(from).switch, &mut path);
        path.iter().map(|&c| heat.load[c as usize]).max().unwrap_or(0)
    };
    let mut points = Vec::new();
    let mut times = Vec::new();
    for (j, _) in contest.names.iter().enumerate().filter(|(_, name)| **name == "bis") {
        times.push(alone[j]);
        let at = contest.terminals(j);
        let half = at.len() / 2;
        for (k, &seconds) in together[j].ranks.iter().enumerate() {
            let (me, you) = (at[k], at[(k + half) % at.len()]);
            points.push((fullest(me, you).max(fullest(you, me)) as f64, seconds));
        }
    }
    (points, times)
}

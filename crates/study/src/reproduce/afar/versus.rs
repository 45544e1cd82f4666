//! Adaptive flow-aware routing compared with others on the same workloads, which no paper shows.

use darkfiber_analysis::heat::Heat;
use darkfiber_routing::reroute::Policy;
use rayon::prelude::*;

use super::contest::{Contest, longer, most, with_model};
use super::lab::{EIGHT, GB, Lab, SIXTEEN};
use crate::reproduce::engines::{EngineInput, tables};
use crate::reproduce::{Class, Context, Drawn, Experiment, Figure, Group, Row, USUAL};
use darkfiber_scenario::{LidsPart, demanded};

/// Placements of each workload.
const PLACEMENTS: u64 = 3;
/// Jobs of the workloads, and the load that is allowed.
const WORKLOADS: [(u32, f64); 2] = [(8, EIGHT), (16, SIXTEEN)];
/// Number of paths among which idealised adaptive routing chooses: 2 to the power of this.
const ADAPTIVE_LMC: u8 = 4;
/// Methods that are compared.
const METHODS: [&str; 6] =
    ["ftree", "sar", "parx-minimal", "afar to a threshold", "afar to its end", "adaptive, ideal"];

/// Results of a workload: slowdown of each job in percent, and the fullest channel if it is known.
struct WorkloadResult {
    jobs: u32,
    method: usize,
    longer: Vec<f64>,
    fullest: Option<f64>,
}

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "AFAR-VS",
    title: "Flow-aware routing beside routing for jobs, for demands, and ideally adaptive",
    paper: "no paper: Smith et al. (SC'18) compare with D-mod-k only",
    setup: with_model!(
        "Three random placements each of the 8-job and the 16-job workload. ftree knows nothing, sar who runs where \
         (Domke, Hoefler, SC'16), parx-minimal what everybody sends (PARX without detours; Domke et al., SC'19), afar \
         changes few entries of ftree down to the paper's thresholds (policy first) or until nothing helps (policy \
         best). Ideally adaptive: each message takes the one of 16 ways whose fullest channel is shared by fewest, \
         known everywhere at once. All over the times by themselves with ftree. Nothing is judged. "
    ),
    class: Class::Substitute,
    seconds: 240.0,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let lab = Lab::new();
    let cases: Vec<(u32, f64, u64)> = WORKLOADS
        .iter()
        .flat_map(|&(jobs, most)| (0..PLACEMENTS).map(move |i| (jobs, most, i)))
        .collect();
    let seen: Vec<Vec<WorkloadResult>> = cases
        .into_par_iter()
        .with_max_len(1)
        .map(|(jobs, most, i)| {
            let of = format!("{jobs} jobs, placement {}", i + 1);
            compare(&lab, (jobs, most), context.seed + i, &|method| {
                (context.at)(&format!("{of}, {method}"));
            })
        })
        .collect();
    let of = |jobs: u32, method: usize| {
        seen.iter().flatten().filter(move |s| s.jobs == jobs && s.method == method)
    };
    (context.draw)(Figure {
        name: "versus",
        title: "Jobs on Cab by routing: run time over that in isolation".to_owned(),
        subtitle: "three random placements of each workload".to_owned(),
        what: Drawn::Boxes {
            unit: "% longer",
            groups: WORKLOADS
                .iter()
                .map(|&(jobs, _)| Group {
                    name: format!("{jobs} jobs"),
                    boxes: (METHODS.iter().enumerate())
                        .map(|(method, name)| {
                            let all = of(jobs, method).flat_map(|s| s.longer.iter().copied());
                            ((*name).to_owned(), all.collect())
                        })
                        .collect(),
                })
                .collect(),
        },
    });
    let mut rows = Vec::new();
    for (jobs, _) in WORKLOADS {
        for (method, name) in METHODS.iter().enumerate() {
            let all: Vec<f64> = of(jobs, method).flat_map(|s| s.longer.iter().copied()).collect();
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            let what = |of: &str| format!("{jobs} jobs, {name}: {of}");
            rows.push(Row::told(what("mean, % longer"), mean));
            rows.push(Row::told(what("worst, % longer"), most(all)));
            let fullest: Vec<f64> = of(jobs, method).filter_map(|s| s.fullest).collect();
            if !fullest.is_empty() {
                let mean = fullest.iter().sum::<f64>() / fullest.len() as f64;
                rows.push(Row::told(what("fullest channel, mean, GB"), mean / GB));
            }
        }
    }
    rows
}

fn compare(
    lab: &Lab,
    (jobs, allowed): (u32, f64),
    seed: u64,
    at: &dyn Fn(&str),
) -> Vec<WorkloadResult> {
    let topology = lab.topology();
    let contest = Contest::new(lab, jobs, seed);
    let demands = demanded(&contest.flows);
    let places = contest.places();
    let input = EngineInput { places: &places, demands: &demands, seed };
    let engine = |name: &str, lmc: u8| tables(topology, name, lmc, input);
    let alone = contest.alone(lab, lab.routes(), LidsPart::Engine, seed);
    (0..METHODS.len())
        .map(|method| {
            at(METHODS[method]);
            let lids = if method == 5 { LidsPart::Adaptive } else { LidsPart::Engine };
            let routes = match method {
                0 => lab.routes().clone(),
                1 => engine("sar", 0),
                2 => engine("parx-minimal", 0),
                3 => lab.relieved(&demands, allowed, Policy::First).1,
                4 => lab.relieved(&demands, 0.0, Policy::Best).1,
                _ => engine("ftree", ADAPTIVE_LMC),
            };
            let fullest = (method < 5).then(|| {
                let heat = Heat::of(&topology.fabric, &routes, &contest.flows, places.len());
                heat.between_switches().iter().copied().max().unwrap_or(0) as f64
            });
            let fared = contest.together(lab, &routes, lids, seed);
            let longer = fared.iter().zip(&alone).map(|(f, a)| longer(f.seconds, *a)).collect();
            WorkloadResult { jobs, method, longer, fullest }
        })
        .collect()
}

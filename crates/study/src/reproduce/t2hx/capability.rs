//! Figures 6a to 6l: applications, one at a time.

use super::PAPER;
use super::records::{CALLED, of_combination, times};
use crate::grid::Record;
use crate::reproduce::paper::{Paper, paper};
use crate::reproduce::{Class, Context, Drawn, Experiment, Figure, Group, Row, USUAL};

const STUDY: Paper = paper!("t2hx-f6");

/// Applications of section 4.2 and 4.3, and whether they need powers of two.
const APPLICATIONS: [(&str, bool); 12] = [
    ("amg", false),
    ("comd", false),
    ("minife", false),
    ("swfft", true),
    ("ffvc", true),
    ("mvmc", false),
    ("ntchem", false),
    ("milc", true),
    ("qbox", false),
    ("hpl", false),
    ("hpcg", false),
    ("graph500", false),
];

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "T2HX-F6",
    title: "Twelve applications alone on the machine, five combinations (figure 6)",
    paper: PAPER,
    setup: "Skeletons with 20 % communication (`darkfiber list traffic amg` and so on say what is assumed), runs of 2,000 \
     messages, 14 to 672 nodes (16 to 512 where a code needs powers of two). Where placement is drawn, ten draws \
     up to 64 nodes and two beyond; the median is judged. Messages may begin or end late by 1 % of their own \
     time, which changes runs of AMG, MiniFE and HPCG on 672 nodes by at most 0.2 %. Values of the figure are \
     lost. Halo codes within 5 % under HX/DFSSSP/linear (where the text names MILC; of AMG, MiniFE and FFVC it says that some routing or placement \
     serves them, and CoMD it does not name); Graph500 and HPCG no worse under random placement at \
     full size. HPL's +46 % is blamed on small matrices in the paper itself, and told.",
    class: Class::Shape,
    seconds: 600.0,
    papers: &[STUDY],
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let (study, records) = STUDY.records(context);
    for (name, nodes, powers) in
        [("applications-56", "56", "64"), ("applications-672", "672", "512")]
    {
        draw(context, &records, name, nodes, powers);
    }
    study.judged(&records)
}

fn draw(context: &Context<'_>, records: &[Record], name: &'static str, nodes: &str, powers: &str) {
    let group = |(application, is_power): &(&str, bool)| {
        let traffic = format!("{application}:messages=2000");
        let of = |c: usize| {
            let mut of = of_combination(c).to_vec();
            of.push(("job.1.traffic", &traffic));
            of.push(("job.1.nodes", if *is_power { powers } else { nodes }));
            times(records, &of, "run_mean")
        };
        let base = of(0).first().copied().unwrap_or(f64::NAN);
        let boxes = |c: usize| {
            let gains = of(c).into_iter().map(|time| base / time - 1.0).collect();
            (CALLED[c].to_owned(), gains)
        };
        let name =
            if *is_power { format!("{application} ({powers})") } else { (*application).to_owned() };
        Group { name, boxes: (0..5).map(boxes).collect() }
    };
    (context.draw)(Figure {
        name,
        title: format!("Applications on {nodes} nodes: gain over FT/ftree/linear"),
        subtitle: "skeletons with 20 % communication; several placements where it is drawn; nodes in brackets for powers of two"
            .to_owned(),
        what: Drawn::Boxes { unit: "gain", groups: APPLICATIONS.iter().map(group).collect() },
    });
}

//! Figure 12: incasts in bursts.

use super::PAPER;
use super::records::{answers, number, word};
use crate::reproduce::paper::{Paper, paper};
use crate::reproduce::{Class, Context, Drawn, Experiment, Figure, Row, Table, USUAL};

const STUDY: Paper = paper!("sls-f12");

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "SLS-F12",
    title: "Incasts in bursts beside an Alltoall of 128 B (figure 12)",
    paper: PAPER,
    setup: "`@malbec`, 242 nodes each, interleaved; the rest as in SLS-F9. Sizes, bursts and gaps are ours where the figure's labels are \
     lost: 8 B to 4 MiB, 1 to 10^6 messages, 1 us to 1 ms. 100 iterations. That medium sizes are worst is judged by five seeds.",
    class: Class::Shape,
    seconds: 200.0,
    papers: &[STUDY],
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let (study, records) = STUDY.records(context);
    // Sizes, bursts and gaps, in the order of the file.
    let (mut sizes, mut bursts, mut gaps) = (Vec::new(), Vec::new(), Vec::new());
    for answer in answers(&records, "bursts") {
        let name = word(answer, "aggressor");
        let of = |key: &str| {
            let rest = name.split(&[':', ','][..]).find_map(|part| part.strip_prefix(key));
            rest.unwrap_or_default().to_owned()
        };
        for (all, value) in
            [(&mut sizes, of("bytes=")), (&mut bursts, of("burst=")), (&mut gaps, of("gap="))]
        {
            if !all.contains(&value) {
                all.push(value);
            }
        }
    }
    let impact = |size: &str, burst: &str, gap: &str| {
        let name = format!("bursts:bytes={size},burst={burst},gap={gap}");
        let found = answers(&records, "bursts").find(|a| word(a, "aggressor") == name);
        found.and_then(|answer| number(answer, "impact"))
    };
    let tables = sizes.iter().map(|size| {
        let one = |burst: &String| gaps.iter().map(|gap| impact(size, burst, gap)).collect();
        let cells: Vec<Option<f64>> = bursts.iter().flat_map(|b| -> Vec<_> { one(b) }).collect();
        Table {
            title: format!("messages of {size}"),
            rows: bursts.iter().map(|b| format!("{b} in a burst")).collect(),
            columns: gaps.clone(),
            texts: cells.iter().map(|c| c.map_or("-".to_owned(), |c| format!("{c:.3}"))).collect(),
            cells,
        }
    });
    (context.draw)(Figure {
        name: "bursts",
        title: "Alltoall of 128 B beside incasts in bursts".to_owned(),
        subtitle: "C = time beside the incast / time alone; by messages in a burst and gaps between bursts".to_owned(),
        what: Drawn::Impacts(tables.collect()),
    });
    study.judged(&records)
}

//! Figure 5: loads of channels.

use super::PAPER;
use super::lab::{GB, Lab};
use crate::reproduce::{Allowed, Class, Context, Experiment, Row, USUAL};

/// Placements, as in the figure.
const PLACEMENTS: u64 = 3;
/// Width of a bin.
const BIN: u64 = 5_000_000_000;

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "AFAR-F5",
    title: "Loads of channels under sixteen jobs on Cab (figure 5)",
    paper: PAPER,
    setup: "Four jobs of each benchmark on 72 nodes each, anywhere; three placements by seed; bytes on channels between \
     switches by the tables of ftree. Judged: most channels carry 15 to 20 GB, and a handful (at most 20) 60 GB or more in some \
     placement. The third of the links that is idle there does not come out of counting, and is reported.",
    class: Class::Shape,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let lab = Lab::new();
    let mut rows = Vec::new();
    let mut with_hot = 0;
    for i in 0..PLACEMENTS {
        (context.at)(&format!("placement {}", i + 1));
        let loads = lab.loads(&lab.workload(16, context.seed + i));
        let most = loads.iter().copied().max().unwrap_or(0);
        let mut bins = vec![0usize; (most / BIN) as usize + 1];
        for &load in loads.iter().filter(|&&load| load > 0) {
            bins[(load / BIN) as usize] += 1;
        }
        let fullest = (0..bins.len()).max_by_key(|&b| (bins[b], b)).unwrap_or(0);
        let hot = loads.iter().filter(|&&load| load as f64 >= 60.0 * GB).count();
        with_hot += u32::from(hot > 0);
        let idle = loads.iter().filter(|&&load| load == 0).count();
        let of = format!("placement {}", i + 1);
        let lower = (fullest as u64 * BIN) as f64 / GB;
        rows.push(Row::new(
            format!("{of}: lower end of the largest bin, GB"),
            15.0,
            lower,
            Allowed::Nothing,
        ));
        rows.push(
            Row::expected(
                format!("{of}: channels with 60 GB or more"),
                hot as f64,
                Allowed::Between(0.0, 20.0),
            )
            .noted("a handful"),
        );
        rows.push(Row::told(format!("{of}: fullest channel, GB"), most as f64 / GB));
        let share = 100.0 * idle as f64 / loads.len() as f64;
        rows.push(Row::told(format!("{of}: idle, %"), share).noted("a third is printed"));
    }
    rows.push(
        Row::derived(
            "placements with channels of 60 GB or more",
            2.0,
            f64::from(with_hot),
            Allowed::AtLeast(1.0),
        )
        .noted("the third placement shows no hotspots; each has only a handful of 60 GB or more"),
    );
    rows
}

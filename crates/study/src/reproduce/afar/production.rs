//! Table III: production applications before and after.

use super::PAPER;
use crate::reproduce::paper::{Paper, paper};
use crate::reproduce::{Class, Experiment, USUAL};

const STUDY: Paper = paper!("afar-t3");

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "AFAR-T3",
    title: "Production applications on Cab before and after (table III)",
    paper: PAPER,
    setup: "Three Qbox, three MILC and two pF3D jobs of 144 nodes (MILC 128), skeletons with 20 % communication whose messages \
     are ours, not the paper's; of three placements, by seeds that follow each other, the one whose worst job loses \
     most, and the paper's policy until 40 % of that is gone. Run time over that by itself with ftree, means over the jobs. Cables as in AFAR-F4. \
     Judged: Qbox gains more than 2 %, MILC and pF3D stay within 2 %.",
    class: Class::Substitute,
    seconds: 300.0,
    papers: &[STUDY],
    run: |context| STUDY.rows(context),
    ..USUAL
};

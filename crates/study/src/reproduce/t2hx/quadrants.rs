//! Table 1: which LIDs small and large messages take.

use darkfiber_fabric::{Shape, TerminalId, open};
use darkfiber_routing::LidChoice;

use super::PAPER;
use crate::reproduce::{Allowed, Class, Context, Experiment, Row, USUAL};

/// As printed, by source (rows) and destination quadrant.
const SMALL: [[&[u8]; 4]; 4] = [
    [&[1, 3], &[1], &[0, 2], &[3]],
    [&[1], &[1, 2], &[2], &[0, 3]],
    [&[1, 3], &[2], &[0, 2], &[0]],
    [&[3], &[1, 2], &[0], &[0, 3]],
];
const LARGE: [[&[u8]; 4]; 4] = [
    [&[0, 2], &[0], &[0, 2], &[2]],
    [&[0], &[0, 3], &[3], &[0, 3]],
    [&[1, 3], &[3], &[1, 3], &[1]],
    [&[2], &[1, 2], &[1], &[1, 2]],
];

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "T2HX-T1",
    title: "LIDs for small and large messages by quadrant (table 1)",
    paper: PAPER,
    setup: "The table of the LID choice on the 12x8 HyperX, entry by entry; rows are sources. Small is up to 512 bytes.",
    class: Class::Exact,
    run: reproduce,
    ..USUAL
};

fn reproduce(_: &Context<'_>) -> Vec<Row> {
    let topology = open("hyperx:dims=12x8,t=7").expect("a spec");
    let Some(Shape::Grid(grid)) = &topology.shape else { return Vec::new() };
    let choice = LidChoice::parx(&topology.fabric, grid, false).expect("two dimensions");
    let of = |q: usize| {
        let all = (0..topology.fabric.terminal_count()).map(TerminalId::new);
        all.filter(|&t| choice.group(t) == q).collect::<Vec<_>>()
    };
    let quadrants: Vec<Vec<TerminalId>> = (0..4).map(of).collect();
    let same = |table: &[[&[u8]; 4]; 4], bytes: u64| {
        let mut same = 0;
        for (from, row) in table.iter().enumerate() {
            for (to, printed) in row.iter().enumerate() {
                let all = |a: &TerminalId| {
                    quadrants[to].iter().all(|&b| choice.alternatives(*a, b, bytes) == *printed)
                };
                same += u32::from(quadrants[from].iter().all(all));
            }
        }
        f64::from(same)
    };
    vec![
        Row::new(
            "entries for small messages that are as printed",
            16.0,
            same(&SMALL, 512),
            Allowed::Nothing,
        ),
        Row::new(
            "entries for large messages that are as printed",
            16.0,
            same(&LARGE, 513),
            Allowed::Nothing,
        ),
    ]
}

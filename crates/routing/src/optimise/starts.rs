//! Initial assignments by fixed rules.

use super::plane;
use super::tower::{Assignment, Tower};

/// The assignments that a search may start from, with a name each.
pub(super) fn all(tower: &Tower, lids: u16) -> Vec<(String, Assignment)> {
    let mut starts = vec![("D-mod-k".to_owned(), dmodk(tower))];
    let lids = u32::from(lids);
    let n = tower.leaf as u32;
    for rows in 1..=lids.min(tower.up).min(n) {
        let columns = (tower.up / rows).min(n);
        if !tower.three {
            starts
                .push((format!("grid of {rows}x{columns}"), grid(tower, (rows, columns), (1, 1))));
            continue;
        }
        // Leaves of a pod in groups, too.
        let leaves = tower.leaves() as u32;
        for high in 1..=(lids / rows).min(tower.second).min(leaves) {
            let across = (tower.second / high).min(leaves);
            let name = format!("grids of {rows}x{columns} and {high}x{across}");
            starts.push((name, grid(tower, (rows, columns), (high, across))));
        }
    }
    if let Some(q) = plane::order(tower.up) {
        let classes = (q * q + q + 1).min(n);
        if classes <= lids {
            starts.push((format!("projective plane of order {q}"), projective(tower, q)));
        }
    }
    starts
}

fn made(
    tower: &Tower,
    classes: usize,
    class: impl Fn(u32) -> u32,
    slot: impl Fn(u32, u32) -> u32,
) -> Assignment {
    let places = 0..tower.places as u32;
    let slots = (0..classes as u32).flat_map(|i| places.clone().map(move |v| (i, v)));
    Assignment {
        class: places.clone().map(|u| class(u) as u16).collect(),
        classes,
        slots: slots.map(|(i, v)| slot(i, v)).collect(),
    }
}

/// One LID, by the number of the destination.
fn dmodk(tower: &Tower) -> Assignment {
    made(tower, 1, |_| 0, |_, v| v % tower.up + tower.up * (v / tower.up % tower.second))
}

/// Sources of a leaf in `low.0` groups, destinations in `low.1`; leaves of a pod in `high.0` and `high.1`.
fn grid(tower: &Tower, low: (u32, u32), high: (u32, u32)) -> Assignment {
    let (n, leaves) = (tower.leaf as u32, tower.leaves() as u32);
    let class = move |u: u32| (u % n * low.0 / n) * high.0 + u / n * high.0 / leaves;
    let slot = move |i: u32, v: u32| {
        let (row, above) = (i / high.0, i % high.0);
        let (column, beside) = (v % n * low.1 / n, v / n * high.1 / leaves);
        row * low.1 + column + tower.up * (above * high.1 + beside)
    };
    made(tower, (low.0 * high.0) as usize, class, slot)
}

/// Sources and destinations are lines; they meet at an up path.
fn projective(tower: &Tower, q: u32) -> Assignment {
    let lines = plane::lines(q);
    let n = tower.leaf as u32;
    let count = lines.len() as u32;
    let classes = count.min(n);
    let line = |u: u32, of: u32| &lines[(u % n * of.min(n) / n) as usize];
    let class = |u: u32| u % n * classes / n;
    let slot = |i: u32, v: u32| {
        let (a, b) = (&lines[i as usize], line(v, count));
        let common: Vec<u32> = a.iter().copied().filter(|p| b.contains(p)).collect();
        let low = common[v as usize % common.len()];
        low + tower.up * (v / n % tower.second)
    };
    made(tower, classes as usize, class, slot)
}

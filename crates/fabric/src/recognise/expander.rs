//! Random regular graphs, and all other regular graphs that are as tight as these.

use std::collections::BTreeMap;

use crate::{ExpanderShape, Shape};

use super::fit::Fit;
use super::found::RecognizedStructure;
use super::net::{Net, typical};

/// Switches from which distances are measured.
const SAMPLES: usize = 16;
/// Mean distance of a random-looking graph, in percent of the least that its degree allows.
const LOOSE: u64 = 130;
/// Cable ends that may be missing, in percent.
const MOST_MISSING: u64 = 8;
/// Fewer switches than this look like anything.
const LEAST: usize = 10;

/// The number of cables that most switches have, if two thirds do: then a few others have more. Else the typical one.
fn degree(ends: &[u32]) -> u32 {
    let mut counts = BTreeMap::<u32, usize>::new();
    for &e in ends {
        *counts.entry(e).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|&(_, count)| count);
    let most = most.filter(|(_, count)| 3 * count >= 2 * ends.len());
    most.map_or_else(|| typical(ends.iter().copied()), |(degree, _)| degree)
}

/// A (damaged) random-looking regular graph. Of missing cables only the ends can be told.
pub(super) fn find(net: &Net<'_>) -> Result<RecognizedStructure, String> {
    let n = net.len();
    let ends: Vec<u32> = (0..n as u32).map(|s| net.ends(s)).collect();
    let degree = degree(&ends);
    if n < LEAST || degree < 3 {
        return Err(format!("{n} switches of {degree} cables are too few to tell"));
    }
    let lack: u64 = ends.iter().map(|&e| u64::from(degree.saturating_sub(e))).sum();
    let spare: u64 = ends.iter().map(|&e| u64::from(e.saturating_sub(degree))).sum();
    let all = n as u64 * u64::from(degree);
    // One switch may be missing, and then a cable at each of its neighbours.
    if lack * 100 > all * MOST_MISSING + 100 * u64::from(degree) || spare * 50 > all {
        let least = ends.iter().min().copied().unwrap_or(0);
        let most = ends.iter().max().copied().unwrap_or(0);
        return Err(format!("switches have from {least} to {most} cables to others"));
    }
    let mean = |sum: u64, count: u64| sum * 1000 / count.max(1);
    let starts = (0..SAMPLES.min(n)).map(|i| (i * n / SAMPLES.min(n)) as u32);
    let (mut sum, mut count) = (0, 0);
    for s in starts {
        sum += net.distances([s]).iter().map(|&d| u64::from(d)).sum::<u64>();
        count += n as u64 - 1;
    }
    // Moore bound: d switches at distance 1, d (d-1) at 2, and so on.
    let (mut left, mut at, mut distance, mut least) = (n as u64 - 1, u64::from(degree), 1, 0);
    while left > 0 {
        let here = at.min(left);
        least += here * distance;
        left -= here;
        at = at.saturating_mul(u64::from(degree - 1));
        distance += 1;
    }
    let (mean, least) = (mean(sum, count), mean(least, n as u64 - 1));
    if mean * 100 > least * LOOSE {
        return Err(format!(
            "switches are {}.{:02} cables apart in the mean, in a random graph they would be near {}.{:02}",
            mean / 1000,
            mean % 1000 / 10,
            least / 1000,
            least % 1000 / 10
        ));
    }
    let text = format!("random-looking regular graph of degree {degree}");
    let shape = Shape::Expander(ExpanderShape { degree, metanode: None });
    // Of an odd number of ends one is left over.
    let lacks = |(s, &e): (u32, &u32)| Some((s, degree.checked_sub(e).filter(|&lack| lack > 0)?));
    let short = (0..).zip(&ends).filter_map(lacks).filter(|_| lack > all % 2).collect();
    Ok(RecognizedStructure { shape, text, fit: Fit { places: n as u64, short, ..Fit::default() } })
}

//! Datelines for tori: where each virtual layer cuts the rings.
//!
//! Dally and Seitz ("Deadlock-free message routing in multiprocessor interconnection networks", 1987)
//! break the cycle of a ring by changing the lane at a dateline. A path here keeps its lane from end
//! to end, so a layer instead **cuts** every ring at one switch, where no path of that layer goes
//! straight on: a path may be in the layer if it passes no cut between the first and last switch of
//! its hops in a ring. Those switches are a **window**, an interval of the ring shorter than half of
//! it. Layers are enough if, whichever window a path has in each dimension, some layer has none of its
//! cuts in them.
//!
//! Two opposite cuts a dimension, in all combinations, always do: `2^k` layers for `k` dimensions.
//! Fewer layers can suffice, because windows are short: with three cuts a third apart a window of less
//! than a third holds one at most. Where the direction of paths that go half round is fixed (from even
//! coordinates up, from odd ones down, on rings of a multiple of four), no window holds two cuts at even
//! coordinates that are only just out of reach; and a ring of four needs no cuts at all.

use std::collections::BTreeMap;

/// Most layers that are searched for; beyond, opposite cuts.
const SEARCHED: usize = 8;
/// Steps of a search.
const STEPS: usize = 600;
/// Coordinates tried for a cut.
const PLACES: u32 = 16;

/// The cuts of all layers.
pub(super) struct Cuts {
    /// The number of layers.
    pub(super) layers: usize,
    /// `closed[d][x]`: layers, as bits, whose cut of dimension `d` in rising direction is at `x`.
    closed: Vec<Vec<u32>>,
}

impl Cuts {
    /// Cuts for rings of these sizes; dimensions of size 0 are no rings. `Err` says how many layers
    /// would be needed if they are more than 32.
    pub(super) fn find(sizes: &[u32]) -> Result<Self, usize> {
        // No window of a shorter ring holds coordinate 0.
        let long: Vec<usize> = (0..sizes.len()).filter(|&d| sizes[d] > 4).collect();
        let product = 1usize.checked_shl(long.len() as u32).unwrap_or(usize::MAX);
        let rings: Vec<Ring> = long.iter().map(|&d| Ring::new(sizes[d])).collect();
        let searched = (1..=SEARCHED.min(product - 1)).find_map(|layers| search(&rings, layers));
        let at = match searched {
            Some(at) => at,
            None if product > 32 => return Err(product),
            None => opposite(&rings, product),
        };
        let layers = at.len();
        let mut closed: Vec<Vec<u32>> = sizes.iter().map(|&size| vec![0; size as usize]).collect();
        for (d, row) in closed.iter_mut().enumerate() {
            for (layer, cuts) in at.iter().enumerate() {
                let cut = long.iter().position(|&l| l == d).map_or(0, |i| cuts[i]);
                if let Some(bits) = row.get_mut(cut as usize) {
                    *bits |= 1 << layer;
                }
            }
        }
        Ok(Self { layers, closed })
    }

    /// The layers, as bits, in which no path goes straight on at coordinate `x` of dimension `d`.
    /// Falling directions are cut where rising ones are in the mirror, `x` being `1 - x` there.
    #[inline]
    pub(super) fn at(&self, d: usize, x: u32, rising: bool) -> u32 {
        let row = &self.closed[d];
        let size = row.len();
        row[if rising { x as usize } else { (size + 1 - x as usize) % size }]
    }
}

/// Whether paths half round a ring go up from even coordinates and down from odd ones. Then every
/// channel of the ring carries the same number of them: `size / 4`.
pub(super) fn by_parity(size: u32) -> bool {
    size.is_multiple_of(4)
}

/// One ring and its windows in rising direction.
struct Ring {
    size: u32,
    /// First coordinate and length of each.
    windows: Vec<(u32, u32)>,
}

impl Ring {
    fn new(size: u32) -> Self {
        let half = size / 2;
        let mut windows: Vec<(u32, u32)> = Vec::new();
        for source in 0..size {
            let length = if by_parity(size) && !source.is_multiple_of(2) { half - 1 } else { half };
            windows.push(((source + 1) % size, length - 1));
        }
        Self { size, windows }
    }

    /// The sets of layers, as bits, that windows close, and how many windows each.
    fn closed(&self, at: &[Vec<u32>], ring: usize) -> BTreeMap<u32, u64> {
        let mut sets = BTreeMap::new();
        for &(first, length) in &self.windows {
            let inside = |cut: u32| (cut + self.size - first) % self.size < length;
            let set = (0..at.len()).fold(0, |set, j| set | u32::from(inside(at[j][ring])) << j);
            *sets.entry(set).or_default() += 1;
        }
        sets
    }
}

/// `at[layer][ring]`: all combinations of two opposite cuts.
fn opposite(rings: &[Ring], layers: usize) -> Vec<Vec<u32>> {
    let cut = |layer: usize, i: usize| (layer as u32 >> i & 1) * (rings[i].size / 2);
    (0..layers).map(|layer| (0..rings.len()).map(|i| cut(layer, i)).collect()).collect()
}

/// Looks for cuts that do with that many layers: one cut after the other, drawn at random, is put
/// where the fewest combinations of windows are left without a layer.
fn search(rings: &[Ring], layers: usize) -> Option<Vec<Vec<u32>>> {
    let spread = |layer: usize, ring: &Ring| layer as u32 * ring.size / layers as u32;
    let mut at: Vec<Vec<u32>> =
        (0..layers).map(|layer| rings.iter().map(|ring| spread(layer, ring)).collect()).collect();
    let mut closed: Vec<_> = (0..rings.len()).map(|i| rings[i].closed(&at, i)).collect();
    let mut random = 1u64;
    let mut draw = |below: usize| {
        // Knuth's MMIX generator.
        random = random.wrapping_mul(6_364_136_223_846_793_005);
        random = random.wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below
    };
    for _ in 0..STEPS {
        if without_layer(&closed, layers) == 0 {
            return Some(at);
        }
        let (i, layer) = (draw(rings.len()), draw(layers));
        let size = rings[i].size;
        let places = size.min(PLACES);
        let first = draw(places as usize) as u32;
        let mut best = (u64::MAX, 0);
        for place in (0..places).map(|p| (p + first) % places) {
            at[layer][i] = (u64::from(place) * u64::from(size) / u64::from(places)) as u32;
            closed[i] = rings[i].closed(&at, i);
            let left = without_layer(&closed, layers);
            if left < best.0 {
                best = (left, at[layer][i]);
            }
        }
        at[layer][i] = best.1;
        closed[i] = rings[i].closed(&at, i);
    }
    None
}

/// Combinations of one window from each ring that together close all layers.
fn without_layer(closed: &[BTreeMap<u32, u64>], layers: usize) -> u64 {
    let mut count = vec![0u64; 1 << layers];
    count[0] = 1;
    for sets in closed {
        let mut next = vec![0u64; count.len()];
        for (set, &n) in count.iter().enumerate().filter(|(_, n)| **n > 0) {
            for (&more, &windows) in sets {
                let sum = &mut next[set | more as usize];
                *sum = sum.saturating_add(n.saturating_mul(windows));
            }
        }
        count = next;
    }
    count[count.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every window in every dimension, one by one.
    fn suffices(sizes: &[u32], cuts: &Cuts) -> bool {
        let mut open = vec![(1u64 << cuts.layers) as u32 - 1];
        for (d, &size) in sizes.iter().enumerate().filter(|(_, size)| **size > 2) {
            let mut next = Vec::new();
            for source in 0..size {
                for hops in 1..=size / 2 {
                    let closed = |rising: bool| {
                        let even = source.is_multiple_of(2);
                        if hops * 2 == size && by_parity(size) && even != rising {
                            return 0;
                        }
                        let at = |i| if rising { source + i } else { source + size - i } % size;
                        (1..hops).fold(0, |set, i| set | cuts.at(d, at(i), rising))
                    };
                    for set in [closed(true), closed(false)] {
                        next.extend(open.iter().map(|o| o & !set));
                    }
                }
            }
            next.sort_unstable();
            next.dedup();
            open = next;
        }
        !open.contains(&0)
    }

    #[test]
    fn every_path_has_a_layer_and_layers_are_few() {
        for (sizes, layers) in [
            (&[3, 3, 3][..], 1),
            (&[4, 4, 4], 1),
            (&[8], 2),
            (&[5, 5], 3),
            (&[6, 6], 3),
            (&[8, 8], 3),
            (&[5, 5, 5], 4),
            (&[6, 6, 6], 5),
            (&[8, 8, 8], 4),
            (&[12, 12, 12], 5),
            (&[16, 16, 16], 8),
            (&[24, 24, 24, 0, 3, 0], 8),
            (&[4, 9], 2),
        ] {
            let cuts = Cuts::find(sizes).expect("few enough");
            assert!(suffices(sizes, &cuts), "{sizes:?}");
            assert_eq!(cuts.layers, layers, "{sizes:?}");
        }
    }

    #[test]
    fn any_two_rings_do() {
        for a in 3..20 {
            for b in 3..20 {
                let cuts = Cuts::find(&[a, b]).expect("four at most");
                assert!(suffices(&[a, b], &cuts) && cuts.layers <= 4, "{a} x {b}");
            }
        }
    }

    #[test]
    fn many_long_rings_are_too_many() {
        assert_eq!(Cuts::find(&[31; 6]).err(), Some(64));
    }
}

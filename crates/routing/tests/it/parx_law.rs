//! The rules of PARX, by enumeration and without any engine: the pairs that take detours when the links inside a half
//! are removed, and that the choice of LIDs follows them.

use std::collections::BTreeSet;

use darkfiber_fabric::{GridShape, Shape, SwitchId, TerminalId, Topology, open};
use darkfiber_routing::{LidChoice, Orthants};

/// Even, odd and thin lattices of one to three dimensions.
pub(crate) const LATTICES: &[&str] =
    &["2x2", "4x2", "4x4", "6x4", "12x8", "5x4", "5x7", "3x3", "6", "4x4x4", "3x4x5", "2x2x2"];

pub(crate) fn lattice(dims: &str) -> Topology {
    open(&format!("hyperx:dims={dims},t=1")).expect("a spec")
}

pub(crate) fn grid(on: &Topology) -> &GridShape {
    match &on.shape {
        Some(Shape::Grid(grid)) => grid,
        other => panic!("no lattice: {other:?}"),
    }
}

/// Whether a switch is in the half of a rule, by its coordinates.
pub(crate) fn in_half(grid: &GridShape, rule: usize, s: usize) -> bool {
    let (k, upper) = (rule / 2, rule % 2 == 1);
    (2 * grid.at(SwitchId::new(s))[k] >= grid.dims[k]) == upper
}

/// The quadrant as numbered in the paper: 0 left top, 1 left bottom, 2 right bottom, 3 right top.
fn quadrant(grid: &GridShape, s: usize) -> usize {
    match (in_half(grid, 0, s), in_half(grid, 2, s)) {
        (true, true) => 0,
        (true, false) => 1,
        (false, false) => 2,
        (false, true) => 3,
    }
}

/// Hops and number of shortest paths to `home` from every switch, over links that are not removed.
pub(crate) fn path_counts(
    on: &Topology,
    home: usize,
    removed: impl Fn(usize, usize) -> bool,
) -> Vec<Option<(usize, u64)>> {
    let mut path_counts = vec![None; on.fabric.switch_count()];
    path_counts[home] = Some((0, 1));
    let mut level = BTreeSet::from([home]);
    for hops in 1.. {
        let mut next: BTreeSet<usize> = BTreeSet::new();
        for &v in &level {
            let paths = path_counts[v].expect("reached").1;
            for c in on.fabric.channels_from(SwitchId::new(v)) {
                let u = on.fabric.heads()[c] as usize;
                if removed(u, v) {
                    continue;
                }
                match &mut path_counts[u] {
                    Some((h, n)) if *h == hops => *n += paths,
                    Some(_) => continue,
                    none => *none = Some((hops, paths)),
                }
                next.insert(u);
            }
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    path_counts
}

/// [`path_counts`] without the links inside the half of a rule.
pub(crate) fn ways_under(on: &Topology, home: usize, rule: usize) -> Vec<Option<(usize, u64)>> {
    path_counts(on, home, |u, v| in_half(grid(on), rule, u) && in_half(grid(on), rule, v))
}

#[test]
fn detours_are_made_exactly_by_pairs_inside_the_half() {
    for dims in LATTICES {
        let on = lattice(dims);
        let grid = grid(&on);
        for home in 0..on.fabric.switch_count() {
            let all = path_counts(&on, home, |_, _| false);
            for rule in 0..2 * grid.dims.len() {
                let left = ways_under(&on, home, rule);
                for s in (0..on.fabric.switch_count()).filter(|&s| s != home) {
                    let what = format!("{dims}: {s} to {home} under rule {rule}");
                    let ((least, paths), (hops, kept)) =
                        (all[s].expect("connected"), left[s].expect("nothing gets lost"));
                    let inside = (in_half(grid, rule, s), in_half(grid, rule, home));
                    assert_eq!(hops > least, inside == (true, true), "{what}");
                    assert!(hops <= least + 2, "{what}");
                    if inside == (false, false) {
                        assert_eq!(kept, paths, "{what}: some minimal paths are gone");
                    }
                }
            }
        }
    }
}

#[test]
fn quadrants_under_rules_are_as_enumerated() {
    // Rows: from quadrant, to quadrant; columns: LID. M: all minimal paths; m: some; N: none.
    let expected = [
        ["NMNM", "NMmm", "mmmm", "mmNM"],
        ["NMmm", "NMMN", "mmMN", "mmmm"],
        ["mmmm", "mmMN", "MNMN", "MNmm"],
        ["mmNM", "mmmm", "MNmm", "MNNM"],
    ];
    for dims in ["4x4", "6x4", "12x8"] {
        let on = lattice(dims);
        let n = on.fabric.switch_count();
        // Counts by quadrants and rule of pairs that keep all, some, none of their minimal paths.
        let mut pairs = [[[[0u32; 3]; 4]; 4]; 4];
        for home in 0..n {
            let all = path_counts(&on, home, |_, _| false);
            let under: Vec<_> = (0..4).map(|rule| ways_under(&on, home, rule)).collect();
            for (rule, left) in under.iter().enumerate() {
                for s in (0..n).filter(|&s| s != home) {
                    let ((least, paths), (hops, kept)) =
                        (all[s].expect("connected"), left[s].expect("connected"));
                    let kind = if hops > least { 2 } else { usize::from(kept < paths) };
                    pairs[quadrant(grid(&on), s)][quadrant(grid(&on), home)][rule][kind] += 1;
                }
            }
        }
        let letter = |kinds: &[u32; 3]| match kinds {
            [_, 0, 0] => 'M',
            [_, _, 0] => 'm',
            [0, 0, _] => 'N',
            other => panic!("{dims}: {other:?}"),
        };
        let found = pairs.map(|row| row.map(|rules| rules.iter().map(letter).collect::<String>()));
        assert_eq!(found, expected, "{dims}");
    }
}

#[test]
fn small_messages_go_minimal_and_large_ones_make_detours() {
    for dims in LATTICES {
        let on = lattice(dims);
        let grid = grid(&on);
        let choice = LidChoice::parx(&on.fabric, grid, false).expect("few dimensions");
        let orthants = Orthants::new(grid).expect("few dimensions");
        let n = on.fabric.switch_count();
        for home in 0..n {
            let least = path_counts(&on, home, |_, _| false);
            let under: Vec<_> =
                (0..2 * grid.dims.len()).map(|rule| ways_under(&on, home, rule)).collect();
            for s in (0..n).filter(|&s| s != home) {
                let (from, to) = (SwitchId::new(s), SwitchId::new(home));
                let is_minimal =
                    |lid: &u8| under[usize::from(*lid)][s].map(|w| w.0) == least[s].map(|w| w.0);
                let (a, b) = (TerminalId::new(s), TerminalId::new(home));
                let small = choice.alternatives(a, b, 0);
                let large = choice.alternatives(a, b, 1 << 20);
                assert!(!small.is_empty() && small.iter().all(is_minimal), "{dims}: {s} to {home}");
                assert!(small.is_sorted() && large.is_sorted());
                if orthants.are_opposite(from, to) {
                    assert_eq!(small, large, "{dims}: {s} to {home}");
                    assert!(small.iter().all(|&r| in_half(grid, usize::from(r), s)));
                } else {
                    assert!(!large.is_empty() && !large.iter().any(is_minimal), "{dims}");
                    // No rule of either kind is missing.
                    let not_minimal = (0..under.len()).filter(|&r| !is_minimal(&(r as u8)));
                    assert!(not_minimal.eq(large.iter().map(|&r| usize::from(r))), "{dims}");
                }
            }
        }
    }
}

#[test]
fn a_quarter_of_the_pairs_of_a_plane_is_in_opposite_quadrants() {
    for (dims, percent) in [("12x8", 25.3), ("4x4x4", 12.7)] {
        let on = lattice(dims);
        let orthants = Orthants::new(grid(&on)).expect("few dimensions");
        let n = on.fabric.switch_count();
        let all = (0..n).flat_map(|s| (0..n).map(move |d| (SwitchId::new(s), SwitchId::new(d))));
        let opposite = all.filter(|&(s, d)| orthants.are_opposite(s, d)).count();
        let share = 100.0 * opposite as f64 / (n * (n - 1)) as f64;
        assert!((share - percent).abs() < 0.05, "{dims}: {share}");
    }
}

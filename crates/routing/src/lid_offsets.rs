//! Several LIDs a port from tables with one.
//!
//! Balancing all LIDs of all ports together leaves the balance of each LID offset in isolation to chance, and one
//! offset is all that is used where applications do not choose. So tables are made for one LID a port, and offset `i`
//! of a terminal takes the row of its `i`-th neighbour on the same switch: the rows of each offset are those of offset
//! 0 in another order, hence its loads are the same on every channel, and the virtual layers hold for all.
//!
//! The order of neighbours is free: those whose rows differ most are placed next to each other, so that the LIDs of one port
//! lead over different paths where there are any.
//!
//! All LIDs together are then as uneven as one is. That is too much for an engine that looks at one switch at a time
//! (`minhop`): several LIDs a port take the paths of an engine that looks at the whole path (`sssp`), if they are more even.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use darkfiber_fabric::{Fabric, TerminalId};

use crate::check::check;
use crate::dimension_orders::{self, ComputeTables};
use crate::{DestId, Layers, Refusal, Request, Routes};

/// Tables with `2^lmc` LIDs a port; `own` makes those for any other number of LIDs, and so does `other`, whose tables are taken
/// where they are more even with one LID a port. If the engine is free of deadlock by layers (`layered`), LIDs that would take the same
/// paths on a lattice have its [dimensions in other orders](dimension_orders).
///
/// Where most switches have fewer terminals than a port has LIDs, the engine is called for several rows a terminal, which
/// are taken if each in isolation is as even as one, otherwise some LIDs take the same paths.
///
/// Complexity: that of both engines for one LID a port, and of the checker where two tables are compared.
pub(crate) fn route(
    fabric: &Fabric,
    request: &Request<'_>,
    own: &ComputeTables<'_>,
    other: Option<(&str, &ComputeTables<'_>)>,
    layered: bool,
) -> Result<Routes, Refusal> {
    let of_lmc = |lmc: u8, maker: &ComputeTables<'_>| maker(&Request { lmc, ..request.clone() });
    let mut rows = of_lmc(0, own)?;
    let mut maker = own;
    if let Some((name, other)) = other {
        let mut even = of_lmc(0, other)?;
        let [before, after] = [&rows, &even].map(|rows| check(fabric, rows));
        let keeps_promises = after.deadlock_free() || !before.deadlock_free();
        let [before, after] = [before, after].map(|report| largest(&report.load));
        if after < before && keeps_promises {
            even.engine.clone_from(&rows.engine);
            even.notes.push(format!(
                "several LIDs a port take the paths of {name}, as long and more even: each LID by itself loads the fullest channel \
                 with {after} routes instead of {before}"
            ));
            (rows, maker) = (even, other);
        }
    }
    let mut neighbours = Neighbours::new(fabric, request.jobs);
    let missing = request.paths().div_ceil(neighbours.usual()).next_power_of_two();
    if missing > 1
        && let Ok(mut several) = of_lmc(missing.trailing_zeros() as u8, maker)
        && is_even(fabric, &several, &rows)
    {
        several.engine = rows.engine;
        several.notes = rows.notes;
        several.leaves_roots = rows.leaves_roots;
        rows = several;
    }
    let mut dealt = Dealt::new(fabric, request, rows, &mut neighbours);
    if dealt.alike > 0
        && layered
        && request.lanes_by_lid
        && let Some(orders) = dimension_orders::rows(fabric, request, maker)
        && is_even(fabric, &orders, &dealt.routes)
    {
        let other = Dealt::new(fabric, request, orders, &mut neighbours);
        if other.different > dealt.different {
            dealt = other;
        }
    }
    let Dealt { mut routes, alike, .. } = dealt;
    if alike > 0 {
        routes.notes.push(format!(
            "{alike} of {} terminals have fewer than {} different paths for their {} LIDs",
            fabric.terminal_count(),
            request.paths(),
            request.paths()
        ));
    }
    Ok(routes)
}

/// Whether each path by itself loads the fullest channel as the first path of `one` does, within 2 % or one route, and all together no
/// more than as many of that.
fn is_even(fabric: &Fabric, several: &Routes, one: &Routes) -> bool {
    let one = largest(&load(fabric, one, 0));
    let bound = one + (one / 50).max(1);
    let mut sum = vec![0; fabric.channel_count()];
    let each_is_even = (0..several.paths()).all(|path| {
        let alone = load(fabric, several, path);
        sum.iter_mut().zip(&alone).for_each(|(sum, x)| *sum += x);
        largest(&alone) <= bound
    });
    each_is_even && largest(&sum) <= one * several.paths() as u64
}

fn largest(load: &[u64]) -> u64 {
    load.iter().copied().max().unwrap_or(0)
}

/// Tables whose rows are dealt to the LIDs of terminals.
struct Dealt {
    routes: Routes,
    /// Different paths of the LIDs of each terminal, in all; and terminals whose LIDs are not all different.
    different: usize,
    alike: usize,
}

impl Dealt {
    /// The first LIDs of a terminal take its own rows, the others those of its neighbours.
    fn new(
        fabric: &Fabric,
        request: &Request<'_>,
        rows: Routes,
        neighbours: &mut Neighbours,
    ) -> Self {
        let kinds = rows.paths();
        neighbours.spread(request.paths().div_ceil(kinds), |t| {
            rows.ports(rows.row(DestId::terminal(t), 0))
        });
        let mut row_of = Vec::with_capacity(fabric.terminal_count() * request.paths());
        let (mut paths, mut different, mut alike) = (Vec::new(), 0, 0);
        for t in 0..fabric.terminal_count() {
            let (group, place) = neighbours.of(t);
            paths.clear();
            for i in 0..request.paths() {
                let neighbour = group[(place + i / kinds) % group.len()];
                let row = rows.row(DestId::terminal(neighbour), i % kinds);
                row_of.push(row as u32);
                paths.push(elsewhere(fabric, TerminalId::new(t), rows.ports(row)));
            }
            paths.sort_unstable();
            paths.dedup();
            different += paths.len();
            alike += usize::from(paths.len() < request.paths());
        }
        Self { routes: rows.with_lids(request.paths(), row_of), different, alike }
    }
}

/// A digest of a row without the switch of its terminal, where all LIDs leave the fabric by the same port.
fn elsewhere(fabric: &Fabric, t: TerminalId, ports: &[u8]) -> u64 {
    let home = fabric.terminal(t).switch.index();
    let mut digest = DefaultHasher::new();
    ports[..home].hash(&mut digest);
    ports[home + 1..].hash(&mut digest);
    digest.finish()
}

/// Loads of all channels where everybody uses one of the LIDs.
fn load(fabric: &Fabric, rows: &Routes, path: usize) -> Vec<u64> {
    let of = |t: usize| rows.row(DestId::new(t), path) as u32;
    let mut alone = rows.clone().with_lids(1, (0..fabric.terminal_count()).map(of).collect());
    alone.layers = Layers::One;
    check(fabric, &alone).load
}

/// Terminals that are interchangeable: on one switch, of one role, in the same jobs.
struct Neighbours {
    groups: Vec<Vec<TerminalId>>,
    /// By terminal: its group, and its place there.
    of: Vec<(usize, usize)>,
}

impl Neighbours {
    fn new(fabric: &Fabric, jobs: &[Vec<TerminalId>]) -> Self {
        let mut jobs_of: Vec<Vec<u32>> = vec![Vec::new(); fabric.terminal_count()];
        for (number, job) in (0..).zip(jobs) {
            for t in job {
                jobs_of[t.index()].push(number);
            }
        }
        let mut groups: Vec<Vec<TerminalId>> = Vec::new();
        let mut known = BTreeMap::new();
        let mut of = Vec::with_capacity(fabric.terminal_count());
        for (t, jobs) in jobs_of.into_iter().enumerate() {
            let terminal = &fabric.terminals()[t];
            let group = *known.entry((terminal.switch, terminal.role, jobs)).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            of.push((group, groups[group].len()));
            groups[group].push(TerminalId::new(t));
        }
        Self { groups, of }
    }

    /// As many as the median terminal has, itself included.
    fn usual(&self) -> usize {
        let mut sizes: Vec<usize> = self.of.iter().map(|of| self.groups[of.0].len()).collect();
        sizes.sort_unstable();
        sizes.get(sizes.len() / 2).copied().unwrap_or(1)
    }

    /// Puts neighbours in an order in which any `window` that follow each other, the first again after the last, lead over
    /// different ports at as many switches as a greedy choice finds.
    ///
    /// Complexity: O(window x switches) for every two neighbours.
    fn spread<'a>(&mut self, window: usize, ports: impl Fn(TerminalId) -> &'a [u8]) {
        let alike = |a: TerminalId, b: TerminalId| {
            ports(a).iter().zip(ports(b)).filter(|(a, b)| a == b).count()
        };
        for (number, group) in self.groups.iter_mut().enumerate() {
            if group.len() < 3 || window < 2 {
                continue;
            }
            for next in 1..group.len() {
                let before = &group[next.saturating_sub(window - 1)..next];
                let cost = |t: TerminalId| before.iter().map(|&b| alike(b, t)).sum::<usize>();
                // Of equal ones the first; the order of the others stays.
                let best = (next..group.len()).min_by_key(|&i| (cost(group[i]), i)).unwrap_or(next);
                group[next..=best].rotate_right(1);
            }
            for (place, t) in group.iter().enumerate() {
                self.of[t.index()] = (number, place);
            }
        }
    }

    fn of(&self, t: usize) -> (&[TerminalId], usize) {
        let (group, place) = self.of[t];
        (&self.groups[group], place)
    }
}

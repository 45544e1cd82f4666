//! The layers of paths, read and changed.

use darkfiber_fabric::{Fabric, SwitchId, TerminalId};
use rayon::prelude::*;

use crate::{DestId, Layers, Routes};

/// Layers of the paths from the terminals on switch `s` on a row, as a bit set.
pub(super) fn layers_of(fabric: &Fabric, routes: &Routes, row: usize, home: u32, s: u32) -> u32 {
    let bit = |layer: u8| 1u32 << (layer & 31);
    match &routes.layers {
        Layers::One => 1,
        Layers::ByRow(layer) => bit(layer[row]),
        Layers::BySourceSwitch(layer) => bit(layer[row * routes.switch_count() + s as usize]),
        Layers::ByPair(_) => pairs(fabric, routes, row, home, s)
            .into_iter()
            .fold(0, |mask, (source, dest)| mask | bit(routes.layer(fabric, source, dest))),
    }
}

/// Moves the paths from the terminals on switch `s` on a row that are in layer `from` to layer `to`.
pub(super) fn relabel(
    fabric: &Fabric,
    routes: &mut Routes,
    (row, home, s): (usize, u32, u32),
    from: u8,
    to: u8,
) {
    let switches = routes.switch_count();
    match &routes.layers {
        Layers::One => {
            routes.layers = Layers::BySourceSwitch(vec![0; routes.row_count() * switches]);
        }
        Layers::ByRow(layer) => {
            let each = layer.iter().flat_map(|&l| std::iter::repeat_n(l, switches));
            routes.layers = Layers::BySourceSwitch(each.collect());
        }
        Layers::BySourceSwitch(_) | Layers::ByPair(_) => {}
    }
    let listed = pairs(fabric, routes, row, home, s);
    let terminals = routes.terminal_count();
    match &mut routes.layers {
        Layers::BySourceSwitch(layer) => layer[row * switches + s as usize] = to,
        Layers::ByPair(layer) => {
            for (source, dest) in listed {
                let slot = &mut layer[source.index() * terminals + dest.index()];
                if *slot == from {
                    *slot = to;
                }
            }
        }
        Layers::One | Layers::ByRow(_) => {}
    }
}

/// Says layers by source switch where they are told pair by pair although all pairs of a (row, source
/// switch) agree, and not at all if there is one: [`layers_of`] is then a look-up.
///
/// Complexity: O(pairs of terminals).
pub(super) fn condense(fabric: &Fabric, routes: &mut Routes) {
    const UNUSED: u8 = u8::MAX;
    let Layers::ByPair(by_pair) = &routes.layers else { return };
    let (switches, terminals) = (routes.switch_count(), routes.terminal_count());
    let of_switch = |s: usize| -> Option<Vec<u8>> {
        let mut of_row = vec![UNUSED; routes.row_count()];
        for source in fabric.terminals_on(SwitchId::new(s)) {
            let path = routes.path_of(TerminalId::new(source));
            let layers = &by_pair[source * terminals..][..terminals];
            for (dest, &layer) in layers.iter().enumerate().filter(|&(dest, _)| dest != source) {
                let known = &mut of_row[routes.row(DestId::terminal(TerminalId::new(dest)), path)];
                if *known != UNUSED && *known != layer {
                    return None;
                }
                *known = layer;
            }
        }
        Some(of_row)
    };
    let Some(columns) = (0..switches).into_par_iter().map(of_switch).collect::<Option<Vec<_>>>()
    else {
        return;
    };
    let used = |layer: u8| if layer == UNUSED { 0 } else { layer };
    routes.layers = if columns.iter().flatten().all(|&layer| used(layer) == 0) {
        Layers::One
    } else {
        let rows = 0..routes.row_count();
        let layers = rows.flat_map(|row| columns.iter().map(move |column| used(column[row])));
        Layers::BySourceSwitch(layers.collect())
    };
}

/// The pairs that use a row from switch `s`; only where layers are told pair by pair.
fn pairs(
    fabric: &Fabric,
    routes: &Routes,
    row: usize,
    home: u32,
    s: u32,
) -> Vec<(TerminalId, TerminalId)> {
    if !matches!(routes.layers, Layers::ByPair(_)) {
        return Vec::new();
    }
    let on = |s: u32| fabric.terminals_on(SwitchId(s)).map(TerminalId::new);
    on(s)
        .flat_map(|source| on(home).map(move |dest| (source, dest)))
        .filter(|&(source, dest)| {
            source != dest && routes.row(DestId::terminal(dest), routes.path_of(source)) == row
        })
        .collect()
}

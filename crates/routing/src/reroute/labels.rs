//! The layers of paths, read and changed.

use darkfiber_fabric::{Fabric, SwitchId, TerminalId};

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

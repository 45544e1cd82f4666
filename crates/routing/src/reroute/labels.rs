//! The layers of paths, read and changed.

use darkfiber_fabric::{Fabric, SwitchId, TerminalId};

use crate::{Layers, Routes};

/// Layers of the paths from the terminals on switch `s` on a row, as a bit set.
pub(super) fn layers_of(fabric: &Fabric, routes: &Routes, row: usize, s: u32) -> u32 {
    let bit = |layer: u8| 1u32 << (layer & 31);
    match &routes.layers {
        // Tables of which switches choose lanes are refused before.
        Layers::One | Layers::ByHop(_) => 1,
        Layers::ByRow(layer) => bit(layer[row]),
        Layers::BySourceSwitch(layer) => bit(layer[row * routes.switch_count() + s as usize]),
        // Such tables have a row for each LID.
        Layers::BySource(layer) => fabric
            .terminals_on(SwitchId(s))
            .filter(|&t| routes.uses(TerminalId::new(t), row % routes.paths().max(1)))
            .fold(0, |mask, source| mask | bit(layer[row * routes.terminal_count() + source])),
    }
}

/// Moves the paths from the terminals on switch `s` on a row that are in layer `from` to layer `to`.
pub(super) fn relabel(
    fabric: &Fabric,
    routes: &mut Routes,
    (row, s): (usize, u32),
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
        Layers::BySourceSwitch(_) | Layers::BySource(_) | Layers::ByHop(_) => {}
    }
    let terminals = routes.terminal_count();
    match &mut routes.layers {
        Layers::BySourceSwitch(layer) => layer[row * switches + s as usize] = to,
        Layers::BySource(layer) => {
            let senders = fabric.terminals_on(SwitchId(s));
            for slot in layer[row * terminals..][senders].iter_mut().filter(|l| **l == from) {
                *slot = to;
            }
        }
        Layers::One | Layers::ByRow(_) | Layers::ByHop(_) => {}
    }
}

/// The layers of a bit set, rising.
pub(super) fn layers(mut mask: u32) -> impl Iterator<Item = u8> + Clone {
    std::iter::from_fn(move || {
        let layer = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (layer < 32).then_some(layer as u8)
    })
}

//! Several LIDs a port on lattices: the dimensions in another order for each.
//!
//! Engines that make few dependencies route lattices by dimension order, all terminals of a switch alike, so that rows of neighbours
//! give the LIDs of a port no different paths. With the dimensions in another order the same engine takes other paths, as long and
//! as even. Paths of two orders may wait for each other in a cycle, so each has layers of its own.

use std::collections::BTreeSet;

use darkfiber_fabric::{Fabric, GridShape, Shape};

use crate::{DestId, Layers, Refusal, Request, Routes};

/// Computes tables for a request.
pub(crate) type ComputeTables<'a> = dyn Fn(&Request<'_>) -> Result<Routes, Refusal> + 'a;

/// Tables with a row for each of several orders of dimensions, by terminal: as many as the lanes have space for, at most one for each
/// LID, a power of two. `None` off lattices, if the engine refuses, or if there is space for one order alone.
///
/// Complexity: that of the engine for one LID a port, for each order.
pub(crate) fn rows(
    fabric: &Fabric,
    request: &Request<'_>,
    maker: &ComputeTables<'_>,
) -> Option<Routes> {
    let Some(Shape::Grid(grid)) = request.shape else { return None };
    let (mut made, mut lanes): (Vec<Routes>, usize) = (Vec::new(), 0);
    for order in orders(grid).into_iter().take(request.paths()) {
        let shape = Shape::Grid(turned(grid, &order));
        let routes = maker(&Request { lmc: 0, shape: Some(&shape), ..request.clone() }).ok()?;
        lanes += routes.layer_count();
        if lanes > usize::from(request.lanes) {
            break;
        }
        made.push(routes);
    }
    if made.len() < 2 {
        return None;
    }
    made.truncate(1 << made.len().ilog2());
    joined(fabric, &made)
}

/// Orders of the dimensions, each once; the second is the first one backwards, and so on in pairs.
fn orders(grid: &GridShape) -> Vec<Vec<usize>> {
    let all: Vec<usize> = (0..grid.dims.len()).collect();
    let mut known = BTreeSet::new();
    let mut orders = Vec::new();
    for first in 0..all.len() {
        let mut order = all.clone();
        order.rotate_left(first);
        let back = order.iter().rev().copied().collect();
        for order in [order, back] {
            // A dimension of one switch has no order.
            let seen: Vec<usize> = order.iter().copied().filter(|&d| grid.dims[d] > 1).collect();
            if known.insert(seen) {
                orders.push(order);
            }
        }
    }
    orders
}

/// The same lattice with its dimensions in this order.
fn turned(grid: &GridShape, order: &[usize]) -> GridShape {
    let coordinates = grid.coords.chunks_exact(grid.dims.len().max(1));
    GridShape {
        kind: grid.kind,
        dims: order.iter().map(|&d| grid.dims[d]).collect(),
        coords: coordinates.flat_map(|at| order.iter().map(|&d| at[d])).collect(),
    }
}

/// Tables with one LID a port, each in layers of its own, as tables with as many. `None` if switches choose lanes.
fn joined(fabric: &Fabric, made: &[Routes]) -> Option<Routes> {
    let n = fabric.switch_count();
    let mut all = Routes::empty(&made[0].engine, fabric, made.len());
    all.notes.clone_from(&made[0].notes);
    let is_by_row = made.iter().all(|r| matches!(r.layers, Layers::One | Layers::ByRow(_)));
    let mut layers = vec![0; all.row_count() * if is_by_row { 1 } else { n }];
    let mut first = 0;
    for (path, routes) in made.iter().enumerate() {
        if matches!(routes.layers, Layers::ByHop(_) | Layers::BySource(_)) {
            return None;
        }
        for d in (0..all.dest_count()).map(DestId::new) {
            let is_terminal = d.as_terminal(fabric).is_some();
            if path > 0 && !is_terminal {
                continue;
            }
            let (row, from) = (all.row(d, path), routes.row(d, 0));
            all.ports_mut(row).copy_from_slice(routes.ports(from));
            if is_by_row {
                layers[row] =
                    first + if let Layers::ByRow(l) = &routes.layers { l[from] } else { 0 };
                continue;
            }
            for s in 0..n {
                let own = match &routes.layers {
                    Layers::ByRow(l) => l[from],
                    Layers::BySourceSwitch(l) => l[from * n + s],
                    _ => 0,
                };
                layers[row * n + s] = first + own;
            }
        }
        first += routes.layer_count() as u8;
    }
    all.layers = if is_by_row { Layers::ByRow(layers) } else { Layers::BySourceSwitch(layers) };
    Some(all)
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::{GridKind, SwitchId};

    use super::*;

    fn grid(dims: &[u16]) -> GridShape {
        let n: u16 = dims.iter().product();
        let coords = (0..n).flat_map(|mut s| {
            dims.iter().map(move |&size| {
                let at = s % size;
                s /= size;
                at
            })
        });
        GridShape { kind: GridKind::Torus, dims: dims.to_vec(), coords: coords.collect() }
    }

    #[test]
    fn every_order_comes_once() {
        assert_eq!(orders(&grid(&[4])), [[0]]);
        assert_eq!(orders(&grid(&[4, 3])), [[0, 1], [1, 0]]);
        assert_eq!(orders(&grid(&[4, 1, 3])), [[0, 1, 2], [2, 1, 0]]);
        let three = orders(&grid(&[2, 3, 4]));
        assert_eq!(three[..4], [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]]);
        assert_eq!(three.len(), 6);
    }

    #[test]
    fn a_turned_lattice_is_the_same() {
        let whole = grid(&[2, 3, 4]);
        let other = turned(&whole, &[2, 0, 1]);
        assert_eq!(other.dims, [4, 2, 3]);
        for s in (0..24).map(SwitchId::new) {
            let [a, b, c] = whole.at(s).try_into().expect("three");
            assert_eq!(other.at(s), [c, a, b]);
        }
    }
}

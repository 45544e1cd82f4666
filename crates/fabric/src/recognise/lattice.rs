//! The ideal lattice for given coordinates: shared by HyperX, torus and mesh.

use crate::{GridKind, GridShape};

use super::fit::Fit;
use super::net::{Net, typical};

/// Sizes joined by `x`.
pub(super) fn by(dims: &[u16]) -> String {
    dims.iter().map(ToString::to_string).collect::<Vec<_>>().join("x")
}

/// Compares a fabric with the lattice of its coordinates, the cables of a line being as many as usual in
/// its dimension.
///
/// # Errors
/// If two switches have equal coordinates or too many places are vacant.
pub(super) fn compare(net: &Net<'_>, shape: &GridShape) -> Result<Fit, String> {
    const VACANT: u32 = u32::MAX;
    let k = shape.dims.len();
    let places = shape.dims.iter().fold(1u64, |n, &d| n.saturating_mul(d.into()));
    Fit::worth(places, net.len())?;
    let mut stride = vec![1usize; k];
    for d in (1..k).rev() {
        stride[d - 1] = stride[d] * usize::from(shape.dims[d]);
    }
    let row = |s: usize| &shape.coords[s * k..(s + 1) * k];
    let number =
        |s: usize| row(s).iter().zip(&stride).map(|(&x, n)| usize::from(x) * n).sum::<usize>();
    let mut at = vec![VACANT; places as usize];
    for s in 0..net.len() {
        let place = &mut at[number(s)];
        if *place != VACANT {
            return Err("two switches have equal coordinates".to_owned());
        }
        *place = s as u32;
    }
    let mut ideal: Vec<(u32, u32, u32)> = Vec::with_capacity(net.edges.len());
    let mut lines = Vec::with_capacity(net.edges.len());
    for d in 0..k {
        lines.clear();
        for s in 0..net.len() {
            let here = usize::from(row(s)[d]);
            let base = number(s) - here * stride[d];
            let others = ahead(shape.kind, here, usize::from(shape.dims[d]))
                .map(|there| at[base + there * stride[d]])
                .filter(|&v| v != VACANT);
            lines.extend(others.map(|v| (s as u32, v)));
        }
        let used = lines.iter().map(|&(s, v)| net.cables(s, v)).filter(|&n| n > 0);
        let trunk = typical(used).max(1);
        ideal.extend(lines.iter().map(|&(s, v)| (s, v, trunk)));
    }
    let mut fit = Fit::of(net, ideal, |_, _| true);
    fit.places = places;
    for place in (0..at.len()).filter(|&p| at[p] == VACANT) {
        let coords: Vec<String> =
            (0..k).map(|d| (place / stride[d] % usize::from(shape.dims[d])).to_string()).collect();
        fit.vacant.push(format!("a switch at ({})", coords.join(", ")));
    }
    Ok(fit)
}

/// The places of a line of `size` that place `here` has a cable to, each pair from one of its ends.
fn ahead(kind: GridKind, here: usize, size: usize) -> std::ops::Range<usize> {
    match kind {
        GridKind::HyperX => here + 1..size,
        GridKind::Torus if here + 1 == size && size > 2 => 0..1,
        GridKind::Torus | GridKind::Mesh => here + 1..size.min(here + 2),
    }
}

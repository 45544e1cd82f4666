//! All engines by name.

use darkfiber_fabric::{Registry, Unknown};

use crate::each_plane::EachPlane;
use crate::engine::Engine;
use crate::engines;

/// All engines, in the order of `darkfiber list engines`. To add one: write its file in `engines/`
/// and add a line here; help, lists, the reference page and the conformance tests follow.
pub static ENGINES: Registry<&dyn Engine> = Registry::new(
    "engine",
    &[
        &engines::MinHop,
        &engines::UpDn,
        &engines::DnUp,
        &engines::FTree,
        &engines::DModK,
        &engines::Rails,
        &engines::SModK,
        &engines::Opt,
        &engines::OptBalanced,
        &engines::OptRect,
        &engines::Dor,
        &engines::Torus,
        &engines::HyperXMin,
        &engines::PARX,
        &engines::PARX_OPPOSITE,
        &engines::PARX_MINIMAL,
        &engines::DragonflyMin,
        &engines::Sssp,
        &engines::DfSssp,
        &engines::Lash,
        &engines::Nue,
        &engines::SAR,
        &engines::SAR_MINMAX,
        &engines::SarBest,
        &engines::Afar,
        &engines::ArUpDn,
        &engines::ArFTree,
    ],
);

impl darkfiber_fabric::Entry for &dyn Engine {
    fn name(&self) -> &str {
        (**self).name()
    }
}

/// The engine of that name; of names joined by `/`, an engine that routes the planes of a fabric with one each.
///
/// The memory of a joined engine is never freed: a few bytes for each name that is read.
///
/// # Errors
/// If there is no such engine.
pub fn find_engine(name: &str) -> Result<&'static dyn Engine, Unknown> {
    if !name.contains('/') {
        return ENGINES.get(name).copied();
    }
    let engines: Vec<&'static dyn Engine> =
        name.split('/').map(|name| ENGINES.get(name.trim()).copied()).collect::<Result<_, _>>()?;
    let names: Vec<&str> = engines.iter().map(|e| e.name()).collect();
    let name = Box::leak(names.join("/").into_boxed_str());
    Ok(Box::leak(Box::new(EachPlane::new(name, engines))))
}

//! An engine for each plane of a fabric.

use darkfiber_fabric::{Fabric, Planes};

use crate::engine::{Deadlock, Engine, FabricRequirement};
use crate::{Refusal, Request, Routes, planes};

/// Engines for the planes of a fabric, one for each: `ftree/dfsssp`.
pub(crate) struct EachPlane {
    name: &'static str,
    engines: Vec<&'static dyn Engine>,
}

impl EachPlane {
    /// Engines joined by `/`, of that name.
    pub(crate) fn new(name: &'static str, engines: Vec<&'static dyn Engine>) -> Self {
        Self { name, engines }
    }
}

impl Engine for EachPlane {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        "an engine for each plane"
    }

    fn doc(&self) -> &'static str {
        "Routes each plane of a fabric with an engine of its own."
    }

    fn paper(&self) -> &'static str {
        "those of its engines"
    }

    fn needs(&self) -> FabricRequirement {
        FabricRequirement::Any
    }

    fn deadlock(&self) -> Deadlock {
        use Deadlock::{Free, Layers, NotPromised, OnMeshes};
        let has = |promise| self.engines.iter().any(|e| e.deadlock() == promise);
        [NotPromised, OnMeshes, Layers].into_iter().find(|&p| has(p)).unwrap_or(Free)
    }

    fn by_source(&self) -> bool {
        self.engines.iter().any(|e| e.by_source())
    }

    fn follows_jobs(&self) -> bool {
        self.engines.iter().any(|e| e.follows_jobs())
    }

    fn follows_demands(&self) -> bool {
        self.engines.iter().any(|e| e.follows_demands())
    }

    fn lids_are_alike(&self) -> bool {
        self.engines.iter().all(|e| e.lids_are_alike())
    }

    fn compute(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        self.route(fabric, request)
    }

    fn route(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        let (named, planes) = (self.engines.len(), Planes::of(fabric).count());
        if named != planes {
            return Err(Refusal::Parameter {
                engine: self.name,
                problem: format!(
                    "{named} engines, one for each plane, and the fabric has {planes}"
                ),
            });
        }
        planes::route(self.name, fabric, request, &|plane, fabric, request| {
            self.engines[plane].route_plane(fabric, request)
        })
    }
}

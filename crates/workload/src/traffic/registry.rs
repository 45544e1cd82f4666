//! The registry of traffic.

use darkfiber_fabric::{Key, Params, Registry, nearest};

use super::{
    Ranks, Timed, TrafficError, afar, apps, bisection, bursts, deep, ebb, ember, gpcnet, imb,
    incasts, mpigraph, muppp, nccl, pattern, service, train,
};
use crate::schedule::Program;

/// A kind of traffic of a benchmark or an application.
pub trait Traffic: Sync {
    /// The word before the colon.
    fn name(&self) -> &'static str;

    /// One line for a list, at most 80 characters.
    fn summary(&self) -> &'static str;

    /// Description, sources, and which numbers are our assumptions.
    fn doc(&self) -> &'static str;

    /// Keys of its spec.
    fn keys(&self) -> Vec<Key>;

    /// The part that is timed, to measure interference.
    fn timed(&self) -> Timed {
        Timed::Iterations
    }

    /// The program of a run.
    ///
    /// # Errors
    /// If a value cannot be, this many ranks cannot do it, or it would be too large.
    fn program(&self, params: &Params, job: &Ranks) -> Result<Program, TrafficError>;
}

/// All kinds of traffic: benchmarks, then applications, then services.
pub static TRAFFICS: Registry<&dyn Traffic> = Registry::new(
    "traffic",
    &[
        &mpigraph::MpiGraph,
        &imb::Imb,
        &muppp::MuPPP,
        &ebb::Ebb,
        &bisection::Bisection,
        &deep::Baidu,
        &deep::EmDl,
        &afar::BIS,
        &afar::NN,
        &afar::PAIRS,
        &afar::FFT_PROXY,
        &ember::Halo3d,
        &ember::Sweep3d,
        &ember::Incast,
        &nccl::Nccl,
        &train::Train,
        &gpcnet::AllToAll,
        &gpcnet::AllToAllBarrier,
        &bursts::Bursts,
        &incasts::Rotating,
        &incasts::Storm,
        &incasts::Shuffle,
        &pattern::OfPattern,
        &apps::AMG,
        &apps::COMD,
        &apps::MINIFE,
        &apps::SWFFT,
        &apps::FFVC,
        &apps::MVMC,
        &apps::NTCHEM,
        &apps::MILC,
        &apps::QBOX,
        &apps::PF3D,
        &apps::LAMMPS,
        &apps::HPL,
        &apps::HPCG,
        &apps::GRAPH500,
        &apps::RESNET,
        &apps::FFT,
        &service::SILO,
        &service::XAPIAN,
        &service::IMG_DNN,
        &service::SPHINX,
    ],
);

impl darkfiber_fabric::Entry for &dyn Traffic {
    fn name(&self) -> &str {
        (**self).name()
    }
}

/// The kind of traffic of that name.
///
/// # Errors
/// [`TrafficError::Unknown`] with the close names.
pub fn kind(name: &str) -> Result<&'static dyn Traffic, TrafficError> {
    let found = TRAFFICS.iter().find(|t| t.name() == name);
    found.copied().ok_or_else(|| TrafficError::Unknown {
        name: name.to_owned(),
        nearest: (nearest(name, TRAFFICS.iter().map(|t| t.name())).into_iter())
            .map(str::to_owned)
            .collect(),
    })
}

/// The program of a spec, `name` or `name:key=value,...`.
///
/// # Errors
/// If the name, a key or a value is unknown, or this many ranks cannot do it.
pub fn traffic(spec: &str, job: &Ranks) -> Result<Program, TrafficError> {
    let text = spec.trim();
    let (name, pairs) = text.split_once(':').unwrap_or((text, ""));
    let kind = kind(name.trim())?;
    let params = Params::parse(kind.name(), &kind.keys(), text, pairs)?;
    kind.program(&params, job)
}

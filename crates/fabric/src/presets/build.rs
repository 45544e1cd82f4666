//! Construction of a fabric from a preset.

use crate::{SpecError, Topology, parse_spec};

use super::preset::{Preset, PresetSource};

impl Preset {
    /// Makes the fabric, named `@name`. The result is the same at every call.
    ///
    /// # Errors
    /// Never for users; every preset is built by the tests.
    pub fn build(&self) -> Result<Topology, SpecError> {
        let made = match self.source {
            PresetSource::Spec(spec) => parse_spec(spec)?,
            PresetSource::Build(build) => build()?,
        };
        Ok(Topology { fabric: made.fabric.renamed(format!("@{}", self.name)), ..made })
    }

    /// Makes the fabric with other values of its family's keys, as `key=value,...`: `taper=25` of Shandy is the
    /// machine with a quarter of its global cables. It is named `@name:key=value,...`.
    ///
    /// # Errors
    /// If a key or value is invalid for its family, or no family covers the machine.
    pub fn build_with(&self, pairs: &str) -> Result<Topology, SpecError> {
        let PresetSource::Spec(spec) = self.source else {
            return Err(SpecError::NoKeys { preset: self.name });
        };
        let key = |pair: &str| pair.split_once('=').map(|(key, _)| key.trim().to_owned());
        let others: Vec<_> = pairs.split(',').map(key).collect();
        let (family, own) = spec.split_once(':').unwrap_or((spec, ""));
        let kept = own.split(',').filter(|pair| !others.contains(&key(pair)));
        let made = parse_spec(&format!("{family}:{},{pairs}", kept.collect::<Vec<_>>().join(",")))?;
        Ok(Topology { fabric: made.fabric.renamed(format!("@{}:{pairs}", self.name)), ..made })
    }
}

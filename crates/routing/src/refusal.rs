//! Why an engine does not route a fabric.

use darkfiber_fabric::memory::Shortage;
use thiserror::Error;

/// Why an engine cannot route a fabric.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The engine is made for another family of fabrics.
    #[error("{engine} needs {needs}: {reason}")]
    WrongFabric {
        /// Name of the engine.
        engine: &'static str,
        /// The kind of fabric that it needs.
        needs: &'static str,
        /// What was found instead.
        reason: String,
    },
    /// More virtual lanes needed than allowed.
    #[error(
        "{engine} needs at least {needed} virtual lanes, --lanes allows {lanes}; raise it or {hint}"
    )]
    Lanes {
        /// Name of the engine.
        engine: &'static str,
        /// Lanes needed, or a lower bound.
        needed: usize,
        /// Number of lanes allowed.
        lanes: u8,
        /// Other options of the user.
        hint: &'static str,
    },
    /// The fabric is in pieces that are no planes of it: no engine can route between them.
    #[error(
        "the fabric is in {components} pieces (switches: {sizes}); repair it, or leave out the switches of smaller pieces (--fail)"
    )]
    Disconnected {
        /// Number of connected components.
        components: usize,
        /// Their sizes in switches.
        sizes: String,
    },
    /// One of several planes cannot be routed.
    #[error("plane {plane}: {refusal}")]
    InPlane {
        /// Its number, from 1.
        plane: usize,
        /// Why the plane was refused.
        refusal: Box<Refusal>,
    },
    /// There is nothing to route.
    #[error("the fabric has no {what}")]
    Empty {
        /// Elements that are missing.
        what: &'static str,
    },
    /// The tables would not fit in memory.
    #[error("{engine} would need {bytes} bytes of tables here; {hint}")]
    TooLarge {
        /// Name of the engine.
        engine: &'static str,
        /// Number of bytes needed.
        bytes: u64,
        /// Other options of the user.
        hint: &'static str,
    },
    /// The machine has not the memory for the tables.
    #[error("tables of {terminals} terminals and {switches} switches take {shortage}")]
    Memory {
        /// Terminals of the fabric.
        terminals: usize,
        /// Its switches.
        switches: usize,
        /// What is needed, and what is free.
        shortage: Shortage,
    },
    /// A parameter that the engine does not have, or a value out of range.
    #[error("{engine}: {problem}")]
    Parameter {
        /// Name of the engine.
        engine: &'static str,
        /// What is wrong and what would be right.
        problem: String,
    },
}

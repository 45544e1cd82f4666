//! Machines that are a generator's fabric with something changed.

use crate::generate::together;
use crate::{Role, SpecError, TerminalId, Topology, parse_spec};

use super::missing::without;
use super::trees::t2hx_degraded;

/// T2HX as it was: every host in both planes.
pub(super) fn t2hx() -> Result<Topology, SpecError> {
    Ok(together(&[&t2hx_degraded()?, &t2hx_hyperx()?])?)
}

/// The T2HX HyperX with 15 cables missing.
pub(super) fn t2hx_hyperx() -> Result<Topology, SpecError> {
    let full = parse_spec("hyperx:dims=12x8,t=7,link=4xQDR,radix=36")?;
    without(&full, 15, 684)
}

/// Edison, with its service nodes marked as such.
pub(super) fn edison() -> Result<Topology, SpecError> {
    const SERVICE: usize = 184;
    let made = parse_spec("cascade:groups=15,radix=48")?;
    let all = made.fabric.terminal_count();
    let service = |t: TerminalId, _: &_| {
        if t.index() * SERVICE % all < SERVICE { Role::Other } else { Role::Compute }
    };
    Ok(Topology { fabric: made.fabric.with_roles(service), ..made })
}

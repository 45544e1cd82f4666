//! How messages choose among the LIDs of their destinations: at every depth that sends them one by one.

use darkfiber_fabric::TerminalId;
use darkfiber_routing::Routes;
use darkfiber_workload::play::PathChoice;

use crate::{LidsPart, Setup};

/// The path that the table of routes states for a message, by its source, destination, bytes, and a random number.
pub(crate) fn by_table(routes: &Routes) -> impl Fn(TerminalId, TerminalId, u64, u32) -> usize {
    let table = routes.choice.as_ref();
    move |from, to, bytes, drawn| table.map_or(0, |t| t.path(from, to, bytes, drawn.into()))
}

/// The choice that a set-up asks for; the engine's own by the table of its routes.
pub(crate) fn path_choice<'a>(
    setup: &Setup<'_>,
    by_table: &'a dyn Fn(TerminalId, TerminalId, u64, u32) -> usize,
) -> PathChoice<'a> {
    match setup.lids {
        LidsPart::Engine if setup.routes.choice.is_some() => PathChoice::By(by_table),
        LidsPart::Engine if setup.routes.hashed.is_some() => PathChoice::Turns,
        LidsPart::Engine => PathChoice::Routes,
        LidsPart::Turns => PathChoice::Turns,
        LidsPart::Random => PathChoice::Random,
        LidsPart::Split => PathChoice::Split,
        LidsPart::Adaptive => PathChoice::Adaptive,
    }
}

//! Section 3.2: SSSP on a HyperX can deadlock.

use darkfiber_fabric::open;
use darkfiber_routing::check::check;

use super::PAPER;
use super::lab::routed;
use crate::reproduce::{Allowed, Class, Context, Experiment, Row};

/// See [`Experiment::title`].
pub(crate) struct Deadlocks;

impl Experiment for Deadlocks {
    fn id(&self) -> &'static str {
        "T2HX-SSSP"
    }

    fn title(&self) -> &'static str {
        "SSSP deadlocks on the HyperX, DFSSSP and PARX do not (section 3.2)"
    }

    fn paper(&self) -> &'static str {
        PAPER
    }

    fn setup(&self) -> &'static str {
        "Cycles in the channel dependency graph of each virtual lane, found by the checker. That one lane then blocks \
         for good takes finite buffers to show, which the packet depth has."
    }

    fn class(&self) -> Class {
        Class::Exact
    }

    fn run(&self, _: &Context<'_>) -> Vec<Row> {
        let hyperx = open("@t2hx-hyperx").expect("a preset");
        let free = |engine: &str| {
            let routes = routed(&hyperx, engine, &[]);
            f64::from(u8::from(check(&hyperx.fabric, &routes).deadlock_free()))
        };
        vec![
            Row::new("SSSP is free of deadlock (1 yes, 0 no)", 0.0, free("sssp"), Allowed::Nothing),
            Row::new("DFSSSP is free of deadlock", 1.0, free("dfsssp"), Allowed::Nothing),
            Row::new("PARX is free of deadlock", 1.0, free("parx"), Allowed::Nothing),
        ]
    }
}

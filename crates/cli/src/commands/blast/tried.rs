//! The faults that are tried.

use clap::ValueEnum;
use darkfiber_analysis::Names;
use darkfiber_fabric::{Fabric, Faults, TerminalId};
use darkfiber_routing::reroute::Fault;
use darkfiber_workload::Stream;

/// What fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Failing {
    /// Every cable between switches
    Cables,
    /// Every switch
    Switches,
    /// Every cable of a host
    Hosts,
}

/// A fault that is tried.
pub(super) struct FaultTrial {
    /// `cable`, `switch`, `host cable` or `pair of cables`.
    pub(super) kind: &'static str,
    /// Its cables by their ends, or the name of the switch.
    pub(super) name: String,
    pub(super) faults: Faults,
}

/// All faults that are asked about, and this many pairs of cables at random.
pub(super) fn all(
    failing: &[Failing],
    pairs: usize,
    fabric: &Fabric,
    seed: u64,
) -> Vec<FaultTrial> {
    let names = Names::new(fabric);
    let cables = Fault::cables(fabric);
    let cable = |fault: &Fault| match *fault {
        Fault::Cable(c) => {
            let c = names.channel(c);
            format!("{}[{}] - {}[{}]", c.from, c.from_port, c.to, c.to_port)
        }
        Fault::Switch(s) => names.switch(s),
    };
    let mut all = Vec::new();
    let one = |kind| move |f: &Fault| FaultTrial { kind, name: cable(f), faults: f.faults() };
    if failing.contains(&Failing::Cables) {
        all.extend(cables.iter().map(one("cable")));
    }
    if failing.contains(&Failing::Switches) {
        all.extend(Fault::switches(fabric).iter().map(one("switch")));
    }
    if failing.contains(&Failing::Hosts) {
        all.extend((0..fabric.terminal_count()).map(TerminalId::new).map(|t| FaultTrial {
            kind: "host cable",
            name: names.terminal(t),
            faults: Faults { terminals: vec![t], ..Faults::default() },
        }));
    }
    let n = cables.len() as u32;
    let mut stream = Stream::new(seed, 0);
    for _ in 0..if n < 2 { 0 } else { pairs } {
        let a = stream.below(n);
        let b = (a + 1 + stream.below(n - 1)) % n;
        let (a, b) = (&cables[a as usize], &cables[b as usize]);
        let links = [a, b].iter().flat_map(|f| f.faults().links).collect();
        let name = format!("{} and {}", cable(a), cable(b));
        all.push(FaultTrial {
            kind: "pair of cables",
            name,
            faults: Faults { links, ..Faults::default() },
        });
    }
    all
}

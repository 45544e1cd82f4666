//! A scenario at the depth of flows.

use darkfiber_flowsim::{Flows, FlowsState, Network, Options};
use darkfiber_packetsim::ConfigError;
use darkfiber_workload::play::Record;

use crate::class_totals::by_class;
use crate::drive::{Resumable, drive_over_planes};
use crate::kept_state::WireState;
use crate::path_choice::{by_table, path_choice};
use crate::{Effort, LidsPart, Setup, Sharing, SimError, Simulated, Until};

/// Messages as flows, or `alone`, each in isolation.
pub(crate) fn simulate(
    setup: &Setup<'_>,
    sharing: Sharing,
    alone: bool,
    each: &mut dyn FnMut(&Record),
    until: Option<Until<'_>>,
) -> Result<Simulated, SimError> {
    let Setup { topology, routes, host, seed, .. } = *setup;
    if alone && setup.lids == LidsPart::Adaptive {
        return Err(SimError::Config(ConfigError(
            "lids: adaptive looks at what others send meanwhile, and at depth loggp messages never meet: take flow".to_owned(),
        )));
    }
    let jobs = &setup.jobs;
    let mut network = Network::new(&topology.fabric, routes, host);
    if let Some(rate) = setup.link_rate {
        network = network.with_link_rate(rate);
    }
    network = network.with_latencies(setup.latencies);
    let capacity = network.capacities().to_vec();
    let by_table = by_table(routes);
    let options = Options {
        choice: path_choice(setup, &by_table),
        small: sharing.small,
        alone,
        seed,
        weights: jobs.iter().map(|job| job.weight).collect(),
        limits: jobs.iter().map(|job| job.limit * 1e-12).collect(),
        interval: setup.interval,
        held: setup.held,
        precision: sharing.precision,
    };
    let make = |_| Ok((Flows::new(network, host, options), (1, 1)));
    let (driven, flows) = drive_over_planes(setup, make, each, until)?;
    if let Some(lost) = flows.lost() {
        return Err(SimError::NoRoute(lost));
    }
    driven.ended.map_err(SimError::Stuck)?;
    Ok(Simulated {
        classes: by_class(jobs, &driven.received, None),
        end: driven.end,
        runs: driven.runs,
        pairs: driven.received.pairs,
        messages: driven.received.messages,
        carried: flows.carried().to_vec(),
        capacity,
        grid: flows.grid().cloned(),
        held: flows.held().cloned(),
        effort: if alone {
            Effort::Formula { events: driven.events, repeated: driven.repeated }
        } else {
            Effort::Flow {
                flows: flows.flow_count(),
                solves: flows.solve_count(),
                events: driven.events,
                repeated: driven.repeated,
            }
        },
        packets: Vec::new(),
        pauses: None,
        update: None,
    })
}

impl WireState for FlowsState {}

impl Resumable for Flows<'_> {
    type State = FlowsState;

    fn fits(&self, state: &FlowsState) -> bool {
        Flows::fits(self, state)
    }

    fn take(&mut self) -> FlowsState {
        Flows::take(self)
    }

    fn restore(&mut self, state: FlowsState) {
        Flows::restore(self, state);
    }
}

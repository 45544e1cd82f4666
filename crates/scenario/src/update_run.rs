//! A scenario at packet depth whose tables are updated during the run.

use darkfiber_fabric::Topology;
use darkfiber_packetsim::update::{Connected, PreparedUpdate};
use darkfiber_packetsim::{ConfigError, Net, SwitchModel};
use darkfiber_workload::play::Record;

use crate::drive::{Resumable, drive};
use crate::skipped::Totals;
use crate::{LidsPart, PacketOptions, Setup, SimError, Simulated, Until, UpdateCase, packets};

impl Resumable for Connected<'_> {
    type State = ();

    fn fits(&self, (): &()) -> bool {
        true
    }

    fn take(&mut self) {}

    fn restore(&mut self, (): ()) {}
}

/// Simulates with an update; see [`crate::simulate`].
pub(crate) fn simulate(
    setup: &Setup<'_>,
    options: &PacketOptions,
    update: &UpdateCase,
    each: &mut dyn FnMut(&Record),
    until: Option<Until<'_>>,
) -> Result<Simulated, SimError> {
    let Topology { fabric, .. } = setup.topology;
    if options.routing.name != "tables" {
        return Err(SimError::Config(ConfigError(format!(
            "tables are updated under traffic that follows them, and packets go by {}: remove `routing` from [packets]",
            options.routing.name
        ))));
    }
    if setup.lids != LidsPart::Engine || setup.jobs.iter().any(|job| job.striped) {
        return Err(SimError::Config(ConfigError(
            "connections take the LID of their tables while these are updated: remove `lids` from [routes], and planes that are striped"
                .to_owned(),
        )));
    }
    let micro = packets::model(setup, options);
    let net = Net::new(fabric, &micro);
    let spec = update.update(setup.routes);
    let prepared = PreparedUpdate::new(&net, fabric, &spec).map_err(SimError::Config)?;
    let needed = prepared.lanes();
    if let Some(given) = options.lanes.filter(|&given| given < needed) {
        return Err(SimError::Config(ConfigError(format!(
            "tables and update need {needed} virtual lanes, and there are {given}: give as many as lanes in [packets], or engines with fewer"
        ))));
    }
    let lanes = options.lanes.unwrap_or(needed);
    let micro = SwitchModel { lanes, ..micro };
    let mut wire =
        Connected::new(&net, &micro, &prepared, fabric, setup.host, options.bytes, setup.seed)
            .map_err(SimError::Config)?;
    if let Some(interval) = setup.interval {
        wire = wire.with_series(interval);
    }
    let driven = drive(setup, &mut wire, None, (1, 1), each, until)?;
    let end = driven.end.max(wire.now());
    let outcome = wire.outcome(end);
    // Such a run is meant to find deadlocks and broken connections, for which jobs wait for ever: both are told with the result.
    if outcome.deadlock.is_none() && outcome.broken == 0 {
        driven.ended.clone().map_err(SimError::Stuck)?;
    }
    let totals = Totals {
        carried: wire.carried(),
        packets: wire.by_job(setup.jobs.len()),
        crossed: wire.crossed(),
        // Those that an update loses are in its outcome, one by one.
        dropped: 0,
        events: wire.events(),
        pauses: wire.pauses(end),
    };
    let series = wire.series(end).cloned();
    let mut simulated = packets::simulated(setup, &net, driven, totals, series.as_ref());
    simulated.end = end;
    simulated.update = Some(outcome);
    Ok(simulated)
}

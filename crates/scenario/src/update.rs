//! An update of tables with all that it names, and its execution.

use darkfiber_fabric::{ChannelId, Fabric, Faults, SwitchId, Topology};
use darkfiber_packetsim::update::{
    Connected, Datagrams, Delays, Fault, Hosts, How, Outcome, PreparedUpdate, Unranked, Update,
    ranks,
};
use darkfiber_packetsim::{ConfigError, Net, SwitchModel};
use darkfiber_routing::check::check;
use darkfiber_routing::reroute::{Prepared, RerouteError};
use darkfiber_routing::{DestId, Routes};
use darkfiber_workload::play::Record;

use crate::run::{Resumable, Until, drive};
use crate::update_part::{HowPart, UpdateFaultPart, UpdatePart};
use crate::{Error, PacketOptions, Setup, SimError, Simulated, packets};

/// An update of the tables of a case.
#[derive(Clone, Debug)]
pub struct UpdateCase {
    /// The tables that are to be.
    pub to: Routes,
    /// Which engine or file they are from.
    pub to_name: String,
    /// How.
    pub how: HowPart,
    /// In stages: by switch, when it is written.
    pub ranks: Option<Vec<Option<u32>>>,
    /// In five phases: the tables of the second LIDs.
    pub high: Option<Routes>,
    /// When it begins, in picoseconds.
    pub at: u64,
    /// What writing takes.
    pub delays: Delays,
    /// What hosts do.
    pub hosts: Hosts,
    /// When cables die, and which.
    pub fault: Option<(u64, Vec<ChannelId>)>,
    /// The tables in place and those that are to be, mended.
    pub mended: Option<[Routes; 2]>,
    /// Seed of all that is drawn.
    pub seed: u64,
}

impl UpdateCase {
    /// An update of tables that is not said otherwise: no fault, published delays.
    ///
    /// # Errors
    /// If there are no stages for these tables, where these are asked for.
    pub fn new(
        fabric: &Fabric,
        from: &Routes,
        to: Routes,
        how: HowPart,
        high: Option<Routes>,
    ) -> Result<Self, Error> {
        let ranks = match how {
            HowPart::Stages => Some(ranks(fabric, from, &to).map_err(|why| {
                let why = match why {
                    Unranked::Circle => {
                        "switches would each have to be written before the other".to_owned()
                    }
                    Unranked::Deadlock(lane) => {
                        format!("packets of both tables together could deadlock in lane {lane}")
                    }
                };
                Error::infeasible(format!("no order of switches will do: {why}"))
                    .hint("how = \"flip\" or \"five-phase\" needs none")
                    .inside("how")
            })?),
            _ => None,
        };
        Ok(Self {
            to_name: to.engine.clone(),
            to,
            how,
            ranks,
            high,
            at: 0,
            delays: Delays::PUBLISHED,
            hosts: Hosts::default(),
            fault: None,
            mended: None,
            seed: 1,
        })
    }

    /// As the simulator wants it.
    pub(crate) fn update<'a>(&'a self, from: &'a Routes) -> Update<'a> {
        let how = match (self.how, &self.ranks, &self.high) {
            (HowPart::Stages, Some(ranks), _) => How::Stages(ranks.clone()),
            (HowPart::Flip, ..) => How::Flip,
            (HowPart::FivePhase, _, Some(high)) => How::FivePhase(high),
            (HowPart::DropDrain, ..) => How::DropDrain,
            _ => How::Naive,
        };
        let mended = self.mended.as_ref().map(|[old, new]| [old, new]);
        Update {
            from,
            to: &self.to,
            how,
            at: self.at,
            delays: self.delays,
            hosts: self.hosts.clone(),
            fault: self.fault.as_ref().map(|(at, cables)| Fault {
                at: *at,
                cables: cables.clone(),
                mended,
            }),
            seed: self.seed,
        }
    }
}

/// What a scenario says of delays.
pub(crate) fn delays(part: &UpdatePart) -> Delays {
    let published = Delays::PUBLISHED;
    let least = part.round.map_or(published.round.0, |t| t.0);
    let most = part.round_max.or(part.round).map_or(published.round.1, |t| t.0);
    Delays {
        block: part.block.map_or(published.block, |t| t.0),
        round: (least, most.max(least)),
        total: part.total.map(|t| t.0),
    }
}

/// What a scenario says of hosts.
pub(crate) fn hosts(part: &UpdatePart) -> Hosts {
    let usual = Hosts::default();
    let datagrams = part.datagrams.map(|interval| Datagrams {
        interval: interval.0.max(1),
        bytes: part.datagram_bytes.map_or(256, crate::value::Bytes::short),
        until: part.datagrams_until.map_or(1_000_000_000_000, |t| t.0),
    });
    Hosts {
        notice: part.notice.map_or(usual.notice, |t| t.0),
        migrate: part.migrate.map_or(usual.migrate, |t| t.0),
        stragglers: part.stragglers,
        straggle: part.straggle.map_or(1_000_000_000, |t| t.0),
        silent: part.silent,
        patience: part.patience.map_or(usual.patience, |t| t.0),
        pause: part.pause.map_or(0, |t| t.0),
        lifetime: part.lifetime.map_or(usual.lifetime, |t| t.0),
        window: part.window.map_or(usual.window, |n| n.0 as u32),
        timeout: part.timeout.map_or(usual.timeout, |t| t.0.max(1)),
        datagrams,
        datagrams_migrate: part.datagrams_migrate.unwrap_or(true),
        ..usual
    }
}

/// The cables that die.
pub(crate) fn dying(
    fabric: &Fabric,
    part: &UpdateFaultPart,
    seed: u64,
) -> Result<(u64, Vec<ChannelId>), Error> {
    let count = part.links.map_or(1, |n| n.0 as usize);
    let faults = Faults::random_links(fabric, count, seed)
        .map_err(|e| Error::infeasible(e).inside("links"))?;
    Ok((part.at.0, faults.links.clone()))
}

/// Tables mended for dead cables: switches that these cut off have new entries, all others keep theirs, also where `reroute`
/// would have them give way.
///
/// # Errors
/// If the cables cut terminals off, or tables without the entries that give way could deadlock.
pub fn mended(fabric: &Fabric, routes: &Routes, cables: &[ChannelId]) -> Result<Routes, Error> {
    let faults = Faults { links: cables.to_vec(), ..Faults::default() };
    let within = |lanes: u8| -> Result<Routes, RerouteError> {
        let mut prepared = Prepared::new(fabric, routes, lanes)?;
        prepared.reroute(&faults)?;
        Ok(prepared.into_routes())
    };
    // Connections keep their service levels: where the lanes in use will do, no new one is taken.
    let full = within(routes.layer_count() as u8).or_else(|_| within(8));
    let full = full.map_err(|e| Error::infeasible(e).inside("fault"))?;
    // Entries of switches whose old way does not cross a dead cable are left for later.
    let dead = |c: u32| {
        let c = ChannelId(c);
        cables.iter().any(|&d| d == c || fabric.reverse(d) == c)
    };
    let mut kept = full.clone();
    for d in (0..fabric.terminal_count()).map(DestId::new) {
        for path in 0..routes.paths() {
            let row = routes.row(d, path);
            for s in (0..fabric.switch_count()).map(SwitchId::new) {
                if !crosses(fabric, routes.ports(row), s, &dead) {
                    kept.ports_mut(row)[s.index()] = routes.ports(row)[s.index()];
                }
            }
        }
    }
    // Nothing of them leads over a dead cable, so that they may be judged on the whole fabric.
    let report = check(fabric, &kept);
    Ok(if report.complete() && report.deadlock_free() { kept } else { full })
}

/// Whether the way from a switch over these entries crosses a channel that is dead.
fn crosses(fabric: &Fabric, ports: &[u8], s: SwitchId, dead: &dyn Fn(u32) -> bool) -> bool {
    let mut at = s;
    for _ in 0..fabric.switch_count() {
        let port = ports[at.index()];
        let mut channels = fabric.channels_from(at);
        let Some(c) = channels.find(|&c| fabric.tail_ports()[c] == port) else { return false };
        if dead(c as u32) {
            return true;
        }
        at = SwitchId(fabric.heads()[c]);
    }
    false
}

impl Resumable for Connected<'_> {
    type State = ();

    fn fits(&self, (): &()) -> bool {
        true
    }

    fn take(&mut self) {}

    fn restore(&mut self, (): ()) {}
}

/// See [`crate::simulate`].
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
    if setup.follow.is_some_and(|f| f.is_due() || f.kept().is_some()) {
        return Err(SimError::Config(ConfigError(
            "a run with [update] cannot be kept and resumed: leave out --checkpoint".to_owned(),
        )));
    }
    let setup =
        &Setup { follow: None, jobs: setup.jobs.clone(), medium: setup.medium.clone(), ..*setup };
    let micro = packets::model(setup, options);
    let net = Net::new(fabric, &micro);
    let spec = update.update(setup.routes);
    let prepared = PreparedUpdate::new(&net, fabric, &spec).map_err(SimError::Config)?;
    let lanes = options.lanes.unwrap_or(0).max(prepared.lanes());
    let micro = SwitchModel { lanes, ..micro };
    let mut wire =
        Connected::new(&net, &micro, &prepared, fabric, setup.host, options.bytes, setup.seed)
            .map_err(SimError::Config)?;
    if let Some(interval) = setup.interval {
        wire = wire.with_series(interval);
    }
    let driven = drive(setup, &mut wire, None, 1, each, until)?;
    let end = driven.end.max(wire.now());
    let outcome = wire.outcome(end);
    // A deadlock is what such a run is there to find; jobs that wait for a broken connection never end.
    if outcome.deadlock.is_none() && outcome.broken == 0 {
        driven.ended.clone().map_err(SimError::Stuck)?;
    }
    let facts = packets::Facts {
        carried: wire.carried(),
        packets: wire.by_job(setup.jobs.len()),
        crossed: wire.crossed(),
        events: wire.events(),
    };
    let series = wire.series(end).cloned();
    let mut simulated = packets::simulated(setup, &net, driven, facts, series.as_ref());
    simulated.end = end;
    simulated.update = Some(outcome);
    Ok(simulated)
}

/// What a run with an update found, if it had one.
pub type UpdateOutcome = Outcome;

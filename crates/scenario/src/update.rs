//! An update of tables with all that it names.

use darkfiber_fabric::{ChannelId, Fabric, Faults};
pub use darkfiber_packetsim::update::UpdateOutcome;
use darkfiber_packetsim::update::{Datagrams, Delays, Fault, Hosts, Update, UpdateMethod};
use darkfiber_routing::Routes;
use darkfiber_routing::reroute::{Prepared, RerouteError, Rung};
use darkfiber_routing::transition::{self, Before, Obligation, Why};

use crate::Error;
use crate::update_part::{HowPart, UpdateFaultPart, UpdatePart};

/// An update of the tables of a case.
#[derive(Clone, Debug)]
pub struct UpdateCase {
    /// The tables that are to be.
    pub to: Routes,
    /// Name of the engine or file that they are from.
    pub to_name: String,
    /// Method of the update.
    pub how: HowPart,
    /// In stages: by switch, when it is written.
    pub ranks: Option<Vec<Option<u32>>>,
    /// In five phases: the tables of the second LIDs.
    pub high: Option<Routes>,
    /// When it begins, in picoseconds.
    pub at: u64,
    /// Delays of writing tables.
    pub delays: Delays,
    /// Parameters of hosts.
    pub hosts: Hosts,
    /// When cables die, and which.
    pub fault: Option<(u64, Vec<ChannelId>)>,
    /// The tables in place and the new ones, repaired.
    pub mended: Option<[Routes; 2]>,
    /// Seed of all that is drawn.
    pub seed: u64,
}

impl UpdateCase {
    /// An update of tables with defaults: no fault, published delays.
    ///
    /// # Errors
    /// If there are no stages for these tables, where stages are requested; if connections could deadlock on the new paths, where entries
    /// are dropped.
    pub fn new(
        fabric: &Fabric,
        from: &Routes,
        to: Routes,
        how: HowPart,
        high: Option<Routes>,
    ) -> Result<Self, Error> {
        let ranks = match how {
            HowPart::Stages => Some(ranks(fabric, from, &to)?),
            HowPart::DropDrain => {
                refuse_unsteady(fabric, from, &to)?;
                None
            }
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
            (HowPart::Stages, Some(ranks), _) => UpdateMethod::Stages(ranks.clone()),
            (HowPart::Flip, ..) => UpdateMethod::Flip,
            (HowPart::FivePhase, _, Some(high)) => UpdateMethod::FivePhase(high),
            (HowPart::DropDrain, ..) => UpdateMethod::DropDrain,
            _ => UpdateMethod::Naive,
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

/// Refuses new tables that are not sound, or not deadlock-free with the service levels that connections keep: packets that die out do not
/// help against that.
fn refuse_unsteady(fabric: &Fabric, from: &Routes, to: &Routes) -> Result<(), Error> {
    let before = Before { routes: from, has_levels: true };
    let judged =
        transition::check(fabric, &[before], to, None).map_err(|e| Error::input(e).inside("to"))?;
    let needed = [Obligation::Target, Obligation::Steady];
    let mut fails = judged.obligations.iter().filter(|j| needed.contains(&j.obligation));
    match fails.find_map(|j| j.fails.as_ref()) {
        None => Ok(()),
        Some(Why::Cycle(witness)) => Err(Error::infeasible(format!(
            "connections keep their service levels, and on the new paths could deadlock in lane {}",
            witness.lane
        ))
        .hint("how = \"flip\" or \"five-phase\" moves connections; `darkfiber check --from` says more")
        .inside("how")),
        Some(_) => Err(Error::infeasible("the new tables are not sound")
            .hint("`darkfiber check --from` says why")
            .inside("how")),
    }
}

/// By switch, the rank in which it is written, as the checker of transitions has it.
fn ranks(fabric: &Fabric, from: &Routes, to: &Routes) -> Result<Vec<Option<u32>>, Error> {
    let before = Before { routes: from, has_levels: true };
    let judged =
        transition::check(fabric, &[before], to, None).map_err(|e| Error::input(e).inside("to"))?;
    let mut others = judged.obligations.iter().filter(|j| j.obligation != Obligation::Mixed);
    let why = others.find_map(|j| j.fails.as_ref());
    judged.ranks.ok_or_else(|| {
        let why = match why {
            Some(Why::Unsound { .. } | Why::NotExamined) => {
                "the new tables are not sound".to_owned()
            }
            Some(Why::Cycle(witness)) => {
                format!("packets of both tables together could deadlock in lane {}", witness.lane)
            }
            Some(Why::Circle { switches, .. }) => {
                format!("packets could circle over {} switches", switches.len())
            }
            Some(Why::Contradiction(_)) | None => {
                "switches would each have to be written before the other".to_owned()
            }
        };
        Error::infeasible(format!("no order of switches will do: {why}"))
            .hint("how = \"flip\" or \"five-phase\" needs none; `darkfiber check --from` says more")
            .inside("how")
    })
}

/// The least mean time between two datagrams of a host, in picoseconds: those of less would fill the memory.
const DATAGRAMS: u64 = 10_000;

/// Refuses values that do not go together, or not with this number of hosts.
pub(crate) fn check(part: &UpdatePart, hosts: usize) -> Result<(), Error> {
    if part.datagrams.is_some_and(|each| each.0 < DATAGRAMS) {
        return Err(Error::input("a host sends datagrams 10ns apart at the least")
            .hint("leave it out, and none are sent")
            .inside("datagrams"));
    }
    if part.datagram_bytes.is_some_and(|bytes| bytes.short() == 0) {
        return Err(Error::input("a datagram has at least one byte").inside("datagram-bytes"));
    }
    let least = part.round.map_or(Delays::PUBLISHED.round.0, |t| t.0);
    if part.round_max.is_some_and(|most| most.0 < least) {
        let what = format!("it is less than `round`, {}us", least as f64 / 1e6);
        return Err(Error::input(what).hint("give round, too").inside("round-max"));
    }
    for (key, count) in [("stragglers", part.stragglers), ("silent", part.silent)] {
        if count as usize > hosts {
            let what = format!("{count} of the hosts, of which there are {hosts}");
            return Err(Error::input(what).inside(key));
        }
    }
    Ok(())
}

/// Delays from a scenario.
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

/// Parameters of hosts from a scenario.
pub(crate) fn hosts(part: &UpdatePart) -> Hosts {
    let usual = Hosts::default();
    let datagrams = part.datagrams.map(|interval| Datagrams {
        interval: interval.0,
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

/// Data lanes that a port has at most in addition to that of management.
const MOST_LANES: u8 = 15;

/// Tables repaired for dead cables, with the service levels that connections have: for drop-drain with new entries for
/// the switches that the cables cut off, otherwise with the least disturbing method that `reroute` finds.
///
/// # Errors
/// If the cables cut terminals off, or connections would need other service levels.
pub fn mended(
    fabric: &Fabric,
    routes: &Routes,
    cables: &[ChannelId],
    how: HowPart,
) -> Result<Routes, Error> {
    let faults = Faults { links: cables.to_vec(), ..Faults::default() };
    let mend = || -> Result<(Routes, bool), RerouteError> {
        let mut prepared = Prepared::new(fabric, routes, MOST_LANES)?;
        let keeps_levels = if how == HowPart::DropDrain {
            prepared.reroute_by_drop_drain(&faults).map(|_| true)?
        } else {
            prepared.reroute_on_lowest_rung(&faults)?.1 != Rung::Reconnect
        };
        Ok((prepared.into_routes(), keeps_levels))
    };
    let refused = |why: String| {
        Error::infeasible(format!("the tables cannot be mended: {why}")).inside("fault")
    };
    match mend() {
        Ok((routes, true)) => Ok(routes),
        Ok((_, false)) | Err(RerouteError::Levels) => Err(refused(
            "connections would have to be re-established with other service levels, which is not simulated".to_owned(),
        )
        .hint("tables that tolerate faults better: `darkfiber survive`, or other cables with another seed")),
        Err(e) => Err(refused(e.to_string())),
    }
}

//! Makes the fault book, fault by fault, while the daemon is otherwise idle.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use darkfiber_fabric::{ChannelId, Fabric, Faults, SwitchId};
use darkfiber_operate::{PlanId, Ready, Task, WorkResult};

use crate::event::Event;
use crate::fault_book::{Base, Book, Entry, Tally};
use crate::plan_image::{Patch, PlanImage};
use crate::reference::{Missing, Reference, left};
use crate::value::{FabricValue, JobsValue};
use crate::work::{Library, Values, Workshop};

/// Maximum bytes of stored changes; a fault whose changes do not fit is repaired on request.
const MOST_BYTES: usize = 1 << 28;
/// The number that plans have while the book is made.
const DRAFT: PlanId = 1;

/// Has the book made for tables that are in place.
pub(crate) type Orders = SyncSender<()>;

/// Starts the thread that makes the book, with a time limit for each set of tables.
pub(crate) fn start(
    book: Book,
    reference: Reference,
    budget: Duration,
    events: SyncSender<Event>,
) -> std::io::Result<Orders> {
    let (orders, asked) = sync_channel(1);
    let make = move || Maker { book, reference, budget, events }.run(&asked);
    thread::Builder::new().name("fault book".to_owned()).spawn(make).map(|_| orders)
}

struct Maker {
    book: Book,
    reference: Reference,
    budget: Duration,
    events: SyncSender<Event>,
}

impl Maker {
    fn run(&self, asked: &Receiver<()>) {
        // OpenSM and other work have priority; if that is refused the book is made all the same.
        let _it_may_not = rustix::process::nice(10);
        let gentle = |_| {
            let _it_may_not = rustix::process::nice(10);
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).start_handler(gentle).build();
        let Ok(pool) = pool else { return };
        for () in asked {
            let Some(tally) = pool.install(|| self.make()) else { continue };
            if self.events.send(Event::Book(tally)).is_err() {
                return;
            }
        }
    }

    /// Goes through all faults; `None` if other tables are in place before the end.
    fn make(&self) -> Option<Tally> {
        let edition = self.book.edition();
        let start = Instant::now();
        let base = self.book.base()?;
        let whole = self.reference.whole()?;
        let gone = self.reference.missing_of(base.fabric.digest)?;
        let image = Arc::new(base.image().ok()?);
        let all = faults(whole.fabric(), &gone);
        let mut tally = Tally { faults: all.len(), ..Tally::default() };
        let mut bytes = 0;
        for missing in all {
            if self.book.edition() != edition {
                return None;
            }
            if start.elapsed() > self.budget || bytes > MOST_BYTES {
                break;
            }
            let Some(entry) = prepare(&base, &image, &whole, &missing) else {
                tally.none += 1;
                continue;
            };
            bytes += entry.stages.iter().map(|s| s.len() * 8 + 64).sum::<usize>() + 512;
            *match entry.stages() {
                1 => &mut tally.one_sweep,
                _ if entry.ready.verdict.drains() => &mut tally.drained,
                _ => &mut tally.stages,
            } += 1;
            if !self.book.keep(edition, missing, entry) {
                return None;
            }
        }
        tally.millis = start.elapsed().as_millis() as u64;
        Some(tally)
    }
}

/// Each cable between switches and each switch that still exists, failing in addition to what is missing already.
fn faults(whole: &Fabric, gone: &Missing) -> Vec<Missing> {
    let with = |more: Faults| {
        let mut all = gone.faults();
        all.extend(more);
        Missing::of(whole, &all)
    };
    let channels = (0..whole.channel_count()).map(ChannelId::new);
    let links = channels.filter(|&c| c < whole.reverse(c));
    let links = links.map(|c| with(Faults { links: vec![c], ..Faults::default() }));
    let switches = (0..whole.switch_count()).map(SwitchId::new);
    let switches = switches.map(|s| with(Faults { switches: vec![s], ..Faults::default() }));
    let mut all: Vec<Missing> = links.chain(switches).filter(|m| m != gone).collect();
    all.dedup();
    all
}

/// The entry for a fault, if a safe transition is proved.
fn prepare(
    base: &Base,
    image: &Arc<PlanImage>,
    whole: &FabricValue,
    missing: &Missing,
) -> Option<Entry> {
    let part = Arc::new(left(whole, missing));
    if part.fabric().terminal_count() < 2 {
        return None;
    }
    let tables = Arc::new(base.on(image, &part).ok()?);
    let jobs = Arc::new(JobsValue { fabric: part.digest, ..JobsValue::default() });
    let values = Values { fabric: part.clone(), tables: tables.clone(), jobs, counters: None };
    let library = Library::default();
    let mut shop = Workshop::new(0, std::path::PathBuf::new(), library.clone());
    let WorkResult::Found { candidate } = shop.work(Task::Mend { plan: DRAFT }, &values) else {
        return None;
    };
    let WorkResult::Proved { verdict } = shop.work(Task::Prove { plan: DRAFT }, &values) else {
        return None;
    };
    if !verdict.allows(candidate.stages.len()) {
        return None;
    }
    let plan = library.plan(DRAFT)?;
    let of = |routes| PlanImage::new(part.fabric(), routes, &tables.lids).ok()?.patch_from(image);
    let stages = plan.between.iter().chain([&plan.routes]).map(|routes| of(routes));
    let stages = stages.collect::<Option<Vec<Patch>>>()?;
    Some(Entry { ready: Ready { candidate, verdict }, base: image.clone(), stages })
}

#[cfg(test)]
mod tests {
    use darkfiber_formats::Diagnostics;
    use darkfiber_operate::Digest;
    use darkfiber_routing::reroute::{Prepared, Rung};
    use darkfiber_routing::{Lids, Request, find_engine};
    use darkfiber_scenario::Loaded;

    use super::*;
    use crate::value::{TablesValue, digest_of_tables};

    /// Tables of an engine on a whole fabric.
    fn base(spec: &str, engine: &str) -> Base {
        let topology = darkfiber_testkit::families::topology(spec);
        let fabric = &topology.fabric;
        let request = Request { shape: topology.shape.as_ref(), ..Request::default() };
        let routes = find_engine(engine).expect("an engine").route(fabric, &request);
        let routes = routes.expect("routes");
        let lids = Lids::assign(fabric, 0).expect("LIDs");
        let tables = digest_of_tables(fabric, &routes, &lids);
        let digest = Digest(fabric.digest());
        let loaded = Loaded {
            topology,
            diagnostics: Diagnostics::default(),
            text: None,
            degraded: false,
            structure: None,
            shared: Vec::new(),
        };
        let (has_levels, is_whole) = (true, true);
        Base {
            fabric: Arc::new(FabricValue { loaded, digest }),
            tables: Arc::new(TablesValue {
                routes,
                lids,
                has_levels,
                is_whole,
                digest: tables,
                fabric: digest,
            }),
        }
    }

    /// Where `reroute` keeps service levels, the book has what it finds: in one sweep, in stages, or by drop-drain.
    #[test]
    fn the_book_has_a_repair_of_nearly_every_cable() {
        let base = base("dragonfly:p=2,a=4,h=2", "updn");
        let image = Arc::new(base.image().expect("an image"));
        let whole = base.fabric.clone();
        let prepared = Prepared::new(whole.fabric(), &base.tables.routes, 8).expect("tables");
        let mut seen = [0u32; 3];
        for missing in faults(whole.fabric(), &Missing::default()) {
            let faults = missing.faults();
            if !faults.switches.is_empty() {
                continue;
            }
            let found = prepare(&base, &image, &whole, &missing);
            let (_, rung) = prepared.clone().reroute_on_lowest_rung(&faults).expect("repaired");
            let stages = found.as_ref().map_or(0, Entry::stages);
            let drains = found.as_ref().is_some_and(|e| e.ready.verdict.drains());
            match rung {
                Rung::AnyOrder => {
                    assert_eq!((stages, drains), (1, false), "{missing:?}");
                    seen[0] += 1;
                }
                // Those steps may be of entries, where these are of switches.
                Rung::Steps(_) => {
                    assert!(stages > 1, "{missing:?} {rung:?}");
                    seen[1] += u32::from(!drains);
                }
                Rung::DropDrain => {
                    assert_eq!((stages, drains), (2, true), "{missing:?}");
                    seen[2] += 1;
                }
                Rung::Reconnect => assert_eq!(stages, 0, "{missing:?}"),
            }
        }
        assert!(seen.iter().all(|&n| n > 0), "{seen:?}");
    }
}

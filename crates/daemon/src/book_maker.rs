//! Makes the fault book, fault by fault, while the daemon is otherwise idle.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::thread;
use std::time::{Duration, Instant};

use darkfiber_fabric::{ChannelId, Fabric, Faults, SwitchId};
use darkfiber_operate::{PlanId, Ready, Task, WorkResult};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::cable_repairs::CableRepairs;
use crate::event::Event;
use crate::fault_book::{Base, Book, Entry, Tally};
use crate::inputs::Values;
use crate::plan_image::{Patch, PlanImage};
use crate::reference::{Missing, Reference, left};
use crate::value::{FabricValue, JobsValue};
use crate::work::{Library, Workshop};

/// Maximum bytes of stored changes; a fault whose changes do not fit is repaired on request.
const MOST_BYTES: usize = 1 << 28;
/// Threads that make the book at most; at least half of the cores are left to others.
const MOST_THREADS: usize = 8;
/// The number that plans have while the book is made.
const DRAFT: PlanId = 1;

/// What is asked of the thread that makes the book.
pub(crate) enum Order {
    /// The book for tables that are in place.
    Make,
    /// The repair for one case, which may be of several cables, now: what is missing, and the fabric without it.
    Now(Missing, Arc<FabricValue>, SyncSender<Option<Arc<Entry>>>),
}

/// Where orders are put.
pub(crate) type Orders = Sender<Order>;

/// Starts the thread that makes the book, with a time limit for each set of tables.
pub(crate) fn start(
    book: Book,
    reference: Reference,
    budget: Duration,
    events: SyncSender<Event>,
) -> std::io::Result<Orders> {
    let (orders, asked) = channel();
    // Threads inherit the priority of the one that starts them: before it is lowered.
    let urgent = ThreadPoolBuilder::new().build().map_err(std::io::Error::other)?;
    let make = move || Maker { book, reference, budget, events, asked, urgent }.run();
    thread::Builder::new().name("fault book".to_owned()).spawn(make).map(|_| orders)
}

struct Maker {
    book: Book,
    reference: Reference,
    budget: Duration,
    events: SyncSender<Event>,
    asked: Receiver<Order>,
    /// The threads that answer while OpenSM waits: all cores, with the priority of the daemon.
    urgent: ThreadPool,
}

/// The tables that a book is about, and what is needed to repair them.
struct Subject<'a> {
    edition: u64,
    cables: Option<CableRepairs<'a, 'a>>,
}

impl Maker {
    fn run(mut self) {
        // OpenSM and other work have priority; if that is refused the book is made all the same.
        let _it_may_not = rustix::process::nice(10);
        let gentle = |_| {
            let _it_may_not = rustix::process::nice(10);
        };
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads = (cores / 2).clamp(1, MOST_THREADS);
        let pool = ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.start_handler(gentle).build();
        let Ok(pool) = pool else { return };
        let mut made = None;
        while let Ok(order) = self.asked.recv() {
            match order {
                Order::Now(_, _, reply) => {
                    let _nobody_may_wait = reply.try_send(None);
                }
                Order::Make => {
                    while made != Some(self.book.edition()) {
                        made = Some(self.book.edition());
                        self = pool.install(move || {
                            let _this_edition_is_over = self.make();
                            self
                        });
                    }
                }
            }
        }
    }

    /// Goes through all faults, and then answers until other tables are in place or ordered.
    fn make(&self) -> Option<()> {
        let edition = self.book.edition();
        let start = Instant::now();
        let base = self.book.base()?;
        let whole = self.reference.whole()?;
        let gone = self.reference.missing_of(base.fabric.digest)?;
        let image = Arc::new(base.image().ok()?);
        let prepared = CableRepairs::prepared(&base);
        let cables = prepared.as_ref().and_then(|p| CableRepairs::new(&base, &image, p));
        let mut of = Subject { edition, cables };
        let all = faults(whole.fabric(), &gone);
        let mut tally = Tally { faults: all.len(), ..Tally::default() };
        let mut bytes = 0;
        for missing in all {
            while let Ok(order) = self.asked.try_recv() {
                self.answer(order, &mut of);
            }
            if self.book.edition() != edition {
                return None;
            }
            if start.elapsed() > self.budget || bytes > MOST_BYTES {
                break;
            }
            let part = Arc::new(left(&whole, &missing));
            let Some(entry) = of.repair(&part).or_else(|| prepare(&base, &image, &part)) else {
                tally.none += 1;
                continue;
            };
            bytes += entry.stages.iter().map(|s| s.len() * 8 + 64).sum::<usize>() + 512;
            *match entry.stages() {
                1 => &mut tally.one_sweep,
                _ if entry.ready.verdict.drains() => &mut tally.drained,
                _ => &mut tally.stages,
            } += 1;
            if !self.book.keep(edition, missing, Arc::new(entry)) {
                return None;
            }
        }
        tally.millis = start.elapsed().as_millis() as u64;
        self.events.send(Event::Book(tally)).ok()?;
        while self.book.edition() == edition {
            let order = self.asked.recv().ok()?;
            self.answer(order, &mut of);
        }
        None
    }

    /// Answers a question that the book has no page for. An order for another edition is seen by its number.
    fn answer(&self, order: Order, of: &mut Subject<'_>) {
        let Order::Now(missing, part, reply) = order else { return };
        let is_about = self.book.edition() == of.edition;
        let mut repair = || of.repair(&part);
        let found = is_about.then(|| self.urgent.install(&mut repair)).flatten();
        let found = found.map(Arc::new);
        if let Some(entry) = &found {
            self.book.keep(of.edition, missing, entry.clone());
        }
        let _nobody_may_wait = reply.try_send(found);
    }
}

impl Subject<'_> {
    fn repair(&mut self, part: &Arc<FabricValue>) -> Option<Entry> {
        self.cables.as_mut()?.entry(part)
    }
}

/// Each switch and each cable between switches that still exists, failing in addition to what is missing already. Switches are
/// first: a cable that the book has not come to is repaired on request in a tenth of the time.
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
    let mut all: Vec<Missing> = switches.chain(links).filter(|m| m != gone).collect();
    all.dedup();
    all
}

/// The entry for a fault, if a safe transition is proved.
fn prepare(base: &Base, image: &Arc<PlanImage>, part: &Arc<FabricValue>) -> Option<Entry> {
    if part.fabric().terminal_count() < 2 {
        return None;
    }
    let tables = Arc::new(base.on(image, part).ok()?);
    let jobs = Arc::new(JobsValue { fabric: part.digest, ..JobsValue::default() });
    let values = Values {
        fabric: part.clone(),
        tables: tables.clone(),
        jobs,
        counters: None,
        demands: None,
    };
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
    use darkfiber_routing::check::check;
    use darkfiber_routing::reroute::{Prepared, Rung};
    use darkfiber_routing::{Lids, Request, find_engine};
    use darkfiber_scenario::Loaded;

    use super::*;
    use crate::fault_book::plan_of;
    use crate::tables_digest::digest_of_tables;
    use crate::value::TablesValue;

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

    /// A repair that costs what it changes is proved as it is from nothing: the same tables, digests and verdict.
    #[test]
    fn repairs_of_cables_are_proved_as_from_nothing() {
        let mut seen = [0u32; 3];
        for (spec, engine) in [("dragonfly:p=2,a=4,h=2", "updn"), ("torus:dims=4x4,t=2", "dfsssp")]
        {
            let base = base(spec, engine);
            let image = Arc::new(base.image().expect("an image"));
            let whole = base.fabric.clone();
            let prepared = CableRepairs::prepared(&base).expect("tables");
            let mut cables = CableRepairs::new(&base, &image, &prepared).expect("sound tables");
            let two = |a: u32, b: u32| Missing { links: vec![a, b], ..Missing::default() };
            let mut all = faults(whole.fabric(), &Missing::default());
            all.extend([two(0, 3), two(1, 5), two(2, 9)]);
            for missing in all {
                let part = Arc::new(left(&whole, &missing));
                let found = cables.entry(&part);
                if !missing.switches.is_empty() {
                    assert!(found.is_none(), "a switch is more than a cable");
                    continue;
                }
                let Some(found) = found else { continue };
                let library = Library::default();
                let plan = plan_of(&found, &base, &part).expect("a plan");
                let Ready { candidate, verdict } = &found.ready;
                let digests: Vec<Digest> = plan
                    .between
                    .iter()
                    .chain([&plan.routes])
                    .map(|r| digest_of_tables(part.fabric(), r, &plan.values.tables.lids))
                    .collect();
                assert_eq!(candidate.stages, digests, "{missing:?}");
                assert_eq!(Some(&candidate.tables), digests.last(), "{missing:?}");
                let values = plan.values.clone();
                library.keep(DRAFT, plan);
                let mut shop = Workshop::new(0, std::path::PathBuf::new(), library);
                let proved = shop.work(Task::Prove { plan: DRAFT }, &values);
                let WorkResult::Proved { verdict: anew } = proved else {
                    panic!("{missing:?}: {proved:?}")
                };
                assert_eq!(*verdict, anew, "{missing:?}");
                seen[match candidate.stages.len() {
                    1 => 0,
                    _ if verdict.drains() => 2,
                    _ => 1,
                }] += 1;
            }
        }
        assert!(seen.iter().all(|&n| n > 0), "{seen:?}");
    }

    /// A cable may come back while nobody watches, and OpenSM goes on with the stage that it has: no entry of it leads there.
    #[test]
    fn no_stage_leads_over_the_failed_cable() {
        let base = base("dragonfly:p=2,a=4,h=2", "updn");
        let image = base.image().expect("an image");
        let whole = base.fabric.clone();
        let mut stages = 0;
        for missing in faults(whole.fabric(), &Missing::default()) {
            let [link] = missing.links[..] else { continue };
            let ends = [ChannelId(link), whole.fabric().reverse(ChannelId(link))];
            let part = Arc::new(left(&whole, &missing));
            let values = Values {
                tables: Arc::new(base.on(&image, &part).expect("tables")),
                fabric: part,
                jobs: Arc::default(),
                counters: None,
                demands: None,
            };
            let library = Library::default();
            let mut shop = Workshop::new(0, std::path::PathBuf::new(), library.clone());
            shop.work(Task::Mend { plan: DRAFT }, &values);
            let Some(plan) = library.plan(DRAFT) else { continue };
            for routes in plan.between.iter().chain([&plan.routes]) {
                for (row, c) in (0..routes.row_count()).flat_map(|row| ends.map(|c| (row, c))) {
                    let found = routes.ports(row)[whole.fabric().tail(c).index()];
                    assert_ne!(found, whole.fabric().tail_port(c), "{missing:?}");
                }
                assert!(check(whole.fabric(), routes).deadlock_free(), "{missing:?}");
            }
            stages += plan.between.len();
        }
        assert!(stages > 0, "no repair in stages");
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
            let part = Arc::new(left(&whole, &missing));
            let found = prepare(&base, &image, &part);
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

//! Makes the fault book, fault by fault, while the daemon is otherwise idle.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::thread;
use std::time::{Duration, Instant};

use darkfiber_fabric::{ChannelId, Fabric, Faults, SwitchId};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::event::Event;
use crate::fault_book::{Book, Entry, Tally};
use crate::reference::{Missing, Reference, left};
use crate::repairs::Repairs;
use crate::value::FabricValue;

/// Maximum bytes of stored changes; a fault whose changes do not fit is repaired on request.
const MOST_BYTES: usize = 1 << 28;
/// Threads that make the book at most; at least half of the cores are left to others.
const MOST_THREADS: usize = 8;

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
    repairs: Option<Repairs<'a, 'a>>,
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
        let prepared = Repairs::prepared(&base);
        let repairs = prepared.as_ref().map(|p| Repairs::new(&base, &image, p));
        let mut of = Subject { edition, repairs };
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
            let Some(entry) = of.repair(&part) else {
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
        self.book.made(edition);
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
        self.repairs.as_mut()?.entry(part)
    }
}

/// Each switch and each cable between switches that still exists, failing in addition to what is missing already. Switches are
/// first: a cable that the book has not come to is repaired on request in a tenth of the time.
pub(crate) fn faults(whole: &Fabric, gone: &Missing) -> Vec<Missing> {
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

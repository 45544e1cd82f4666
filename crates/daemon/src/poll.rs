//! A thread for each input, which reads it now and then and says what has changed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use darkfiber_operate::Digest;

use crate::children::Children;
use crate::config::{Config, Watched};
use crate::event::Event;
use crate::fetch::fetch;
use crate::read;
use crate::tables_input::locate;
use crate::value::FabricValue;

/// How often it is looked whether the fabric is known.
const SOON: Duration = Duration::from_millis(50);
/// Most characters of what is wrong with an input.
const LONGEST: usize = 300;

/// Makes a thread read now; without it the thread ends.
pub(crate) type Hurry = SyncSender<()>;

/// The threads that read the inputs.
pub(crate) struct Pollers {
    pub(crate) fabric: Hurry,
    pub(crate) tables: Hurry,
    pub(crate) jobs: Hurry,
    /// The commands that they run.
    pub(crate) children: Children,
}

/// The fabric that tables and jobs are read for.
#[derive(Clone, Default)]
struct Known(Arc<Mutex<Option<Arc<FabricValue>>>>);

impl Known {
    fn get(&self) -> Option<Arc<FabricValue>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, fabric: Arc<FabricValue>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(fabric);
    }
}

/// What a reading says; `None` where nothing can be read yet.
type Reading = Option<Result<Option<Event>, String>>;

/// One thread: where it reads, whom it tells, and who hurries it.
struct Poller {
    watched: Watched,
    events: SyncSender<Event>,
    hurry: Receiver<()>,
    children: Children,
}

impl Poller {
    /// Reads again and again until nobody listens any more. A reader that panics is a bug; here it is one more way in
    /// which an input cannot be used.
    fn run(&self, mut read: impl FnMut(&Self) -> Reading, mut told: impl FnMut(&Self)) {
        loop {
            let reading = catch_unwind(AssertUnwindSafe(|| read(self))).unwrap_or_else(|_| {
                Some(Err("a bug in darkfiber: its reader panicked".to_owned()))
            });
            let source = self.watched.source;
            let is_read = reading.is_some();
            let event = reading.map(|reading| match reading {
                Ok(None) => Event::Same(source),
                Ok(Some(event)) => event,
                Err(what) => Event::Bad(source, what.chars().take(LONGEST).collect()),
            });
            if let Some(event) = event
                && self.events.send(event).is_err()
            {
                return;
            }
            told(self);
            let every = if is_read { self.watched.every } else { SOON.min(self.watched.every) };
            if let Err(RecvTimeoutError::Disconnected) = self.hurry.recv_timeout(every) {
                return;
            }
        }
    }
}

/// Starts all threads.
pub(crate) fn start(config: &Config, events: &SyncSender<Event>) -> std::io::Result<Pollers> {
    let children = Children::default();
    let known = Known::default();
    let poller = |watched: &Watched| {
        let (send, hurry) = sync_channel(1);
        let (watched, events, children) = (watched.clone(), events.clone(), children.clone());
        (send, Poller { watched, events, hurry, children })
    };
    let spawn = |name: &str, run: Box<dyn FnOnce() + Send>| {
        thread::Builder::new().name(name.to_owned()).spawn(run).map(drop)
    };
    let (fabric, reader) = poller(&config.fabric);
    let of = known.clone();
    spawn("fabric", Box::new(move || poll_fabric(&reader, &of)))?;
    let (tables, reader) = poller(&config.tables);
    let (of, copy) = (known.clone(), config.state.join("tables.read"));
    spawn("tables", Box::new(move || poll_tables(&reader, &of, &copy)))?;
    let (jobs, reader) = poller(&config.jobs);
    spawn("jobs", Box::new(move || poll_jobs(&reader, &known)))?;
    Ok(Pollers { fabric, tables, jobs, children })
}

fn poll_fabric(poller: &Poller, known: &Known) {
    let mut last: Option<(Vec<u8>, Digest)> = None;
    let new: Mutex<Option<Arc<FabricValue>>> = Mutex::default();
    let read = |p: &Poller| -> Reading {
        Some(fetch(&p.watched, &p.children).and_then(|bytes| {
            if last.as_ref().is_some_and(|(b, _)| *b == bytes) {
                return Ok(None);
            }
            let value = Arc::new(read::fabric(&bytes, &p.watched)?);
            // `ibnetdiscover` writes the time into what it prints.
            let is_same = last.as_ref().is_some_and(|(_, digest)| *digest == value.digest);
            last = Some((bytes, value.digest));
            if is_same {
                return Ok(None);
            }
            *new.lock().unwrap_or_else(PoisonError::into_inner) = Some(value.clone());
            Ok(Some(Event::Fabric(value)))
        }))
    };
    // Tables and jobs are read for it once it is on its way: what is read for it comes behind it.
    let told = |_: &Poller| {
        if let Some(value) = new.lock().unwrap_or_else(PoisonError::into_inner).take() {
            known.set(value);
        }
    };
    poller.run(read, told);
}

fn poll_tables(poller: &Poller, known: &Known, copy: &Path) {
    let mut last = None;
    let read = |p: &Poller| -> Reading {
        let fabric = known.get()?;
        let located = locate(&p.watched, copy, &fabric, &p.children, last.as_ref());
        Some(located.and_then(|located| {
            let Some((files, seen)) = located else { return Ok(None) };
            let value = read::tables(&files, &fabric)?;
            last = Some(seen);
            Ok(Some(Event::Tables(Arc::new(value))))
        }))
    };
    poller.run(read, |_| {});
}

fn poll_jobs(poller: &Poller, known: &Known) {
    let mut last: Option<(Vec<u8>, Digest)> = None;
    let read = |p: &Poller| -> Reading {
        let fabric = known.get()?;
        let watched = &p.watched;
        Some(fetch(watched, &p.children).and_then(|bytes| {
            if last.as_ref().is_some_and(|(b, f)| *b == bytes && *f == fabric.digest) {
                return Ok(None);
            }
            let value = read::jobs(&bytes, &fabric, watched)?;
            last = Some((bytes, fabric.digest));
            Ok(Some(Event::Jobs(Arc::new(value))))
        }))
    };
    poller.run(read, |_| {});
}

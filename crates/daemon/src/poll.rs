//! A thread for each input, which reads it at intervals and reports changes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use darkfiber_operate::{Digest, InputSource, Mode};

use crate::children::Children;
use crate::config::{Config, Origin, Watched};
use crate::demands::{DemandsValue, Sent};
use crate::event::Event;
use crate::fabric_guids::KnownGuids;
use crate::fetch::fetch;
use crate::opensm_log;
use crate::port_events::PortEvents;
use crate::profiles::{self, ReadProfiles};
use crate::read;
use crate::reference::Reference;
use crate::tables_input::{TablesStamp, locate, written};
use crate::value::FabricValue;

/// Interval at which a thread checks whether the fabric is known.
const SOON: Duration = Duration::from_millis(50);
/// OpenSM writes its dump within this time after a sweep.
const DUMPS: Duration = Duration::from_secs(5);
/// A file that is as it was after this time is not being written.
const SETTLED: Duration = Duration::from_millis(100);
/// Maximum characters of an error of an input.
const LONGEST: usize = 300;

/// Makes a thread read now; without it the thread ends.
pub(crate) type WakeUp = SyncSender<()>;

/// File times have the resolution of kernel ticks, 10 ms at most: a file may seem older than an earlier event.
const COARSE: Duration = Duration::from_millis(10);

/// Requested read-backs of the tables: a reading from before a request does not answer it.
#[derive(Clone, Default)]
pub(crate) struct ReadBacks {
    /// The number of the last one.
    asked: Arc<AtomicU64>,
    /// Files that OpenSM wrote before this are those of an earlier sweep.
    swept: Arc<Mutex<Option<SystemTime>>>,
}

impl ReadBacks {
    /// Requests a read-back; returns its number.
    pub(crate) fn ask(&self) -> u64 {
        self.asked.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// OpenSM was ordered to sweep at this time.
    pub(crate) fn swept(&self, at: SystemTime) {
        *self.swept.lock().unwrap_or_else(PoisonError::into_inner) = Some(at);
    }

    fn since(&self) -> Option<SystemTime> {
        let asked = *self.swept.lock().unwrap_or_else(PoisonError::into_inner);
        asked.and_then(|at| at.checked_sub(COARSE))
    }
}

/// The fabric as OpenSM reports it by its plugin.
#[derive(Clone, Default)]
pub(crate) struct SweptFabric {
    /// The whole fabric, of which readings are a part.
    pub(crate) reference: Reference,
    /// Number of questions so far.
    pub(crate) asked: Arc<AtomicU64>,
}

/// The threads that read the inputs.
pub(crate) struct Pollers {
    pub(crate) fabric: WakeUp,
    pub(crate) tables: WakeUp,
    pub(crate) jobs: WakeUp,
    pub(crate) demands: Option<WakeUp>,
    /// Their thread ends without it.
    _counters: Option<WakeUp>,
    pub(crate) read_backs: ReadBacks,
    /// The fabric that tables and jobs are read for.
    pub(crate) known: CurrentFabric,
    /// The known GUIDs of the fabric.
    pub(crate) known_guids: KnownGuids,
    /// The commands that they run.
    pub(crate) children: Children,
}

/// The fabric that tables and jobs are read for.
#[derive(Clone, Default)]
pub(crate) struct CurrentFabric(Arc<Mutex<Option<Arc<FabricValue>>>>);

impl CurrentFabric {
    fn get(&self) -> Option<Arc<FabricValue>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Tables and jobs are read for this one from now on.
    pub(crate) fn set(&self, fabric: Arc<FabricValue>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(fabric);
    }
}

/// The result of a reading; `None` where nothing can be read yet.
type Reading = Option<Result<Option<Event>, String>>;

/// One thread: its input, its receiver, and its wake-up channel.
struct Poller {
    watched: Watched,
    events: SyncSender<Event>,
    wake_up: Receiver<()>,
    children: Children,
}

impl Poller {
    /// Reads repeatedly until the receiver is closed. A reader that panics is a bug; here it is treated as an
    /// unusable input.
    fn run(&self, mut read: impl FnMut(&Self) -> Reading, mut reported: impl FnMut(&Self)) {
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
            reported(self);
            let every = if is_read { self.watched.every } else { SOON.min(self.watched.every) };
            if let Err(RecvTimeoutError::Disconnected) = self.wake_up.recv_timeout(every) {
                return;
            }
        }
    }
}

/// Starts the threads of all inputs.
pub(crate) fn start(
    config: &Config,
    known_guids: KnownGuids,
    plugin: Option<SweptFabric>,
    ports: Option<PortEvents>,
    events: &SyncSender<Event>,
) -> std::io::Result<Pollers> {
    let read_backs = ReadBacks::default();
    let children = Children::default();
    let known = CurrentFabric::default();
    let poller = |watched: &Watched| {
        let (send, wake_up) = sync_channel(1);
        let (watched, events, children) = (watched.clone(), events.clone(), children.clone());
        (send, Poller { watched, events, wake_up, children })
    };
    let spawn = |name: &str, run: Box<dyn FnOnce() + Send>| {
        thread::Builder::new().name(name.to_owned()).spawn(run).map(drop)
    };
    let (fabric, reader) = poller(&config.fabric);
    let (of, met) = (known.clone(), known_guids.clone());
    spawn("fabric", Box::new(move || poll_fabric(&reader, &of, &met, plugin.as_ref())))?;
    let (tables, reader) = poller(&config.tables);
    let mut tables_poller = TablesPoller {
        known: known.clone(),
        copy: config.state.join("tables.read"),
        read_backs: read_backs.clone(),
        may_be_damaged: config.mode >= Mode::ApplyFaults,
        last: None,
        answered: 0,
    };
    spawn("tables", Box::new(move || reader.run(|p| tables_poller.read(p), |_| {})))?;
    if let Some(manager) = &config.manager {
        let (log, events) = (manager.log.clone(), events.clone());
        spawn("log", Box::new(move || opensm_log::follow(&log, &events)))?;
    }
    let (jobs, reader) = poller(&config.jobs);
    let of = known.clone();
    spawn("jobs", Box::new(move || poll_jobs(&reader, &of)))?;
    let mut wake_demands = None;
    if let Some(watched) = &config.demands {
        let (wake_up, reader) = poller(watched);
        let of = known.clone();
        spawn("demands", Box::new(move || poll_demands(&reader, &of)))?;
        wake_demands = Some(wake_up);
    }
    let mut wake_counters = None;
    if let Some(watched) = &config.counters {
        let (wake_up, reader) = poller(watched);
        let mut counters = CountersPoller { known: known.clone(), before: None, ports };
        spawn("counters", Box::new(move || reader.run(|p| counters.read(p), |_| {})))?;
        wake_counters = Some(wake_up);
    }
    Ok(Pollers {
        fabric,
        tables,
        jobs,
        demands: wake_demands,
        _counters: wake_counters,
        read_backs,
        known,
        known_guids,
        children,
    })
}

fn poll_fabric(
    poller: &Poller,
    known: &CurrentFabric,
    met: &KnownGuids,
    plugin: Option<&SweptFabric>,
) {
    let mut last: Option<(Vec<u8>, Digest)> = None;
    let new: Mutex<Option<Arc<FabricValue>>> = Mutex::default();
    // Questions of OpenSM at the last reading: they contain fabrics, too.
    let mut answered = 0;
    let read = |p: &Poller| -> Reading {
        let questions = || plugin.map_or(0, |p| p.asked.load(Ordering::SeqCst));
        let before = questions();
        Some(fetch(&p.watched, &p.children).and_then(|bytes| {
            if last.as_ref().is_some_and(|(b, _)| *b == bytes) && before == answered {
                return Ok(None);
            }
            if before != questions() {
                // A sweep of OpenSM meanwhile may be newer.
                return Ok(None);
            }
            answered = before;
            let value = read::fabric(&bytes, &p.watched)?;
            let value = match plugin {
                Some(plugin) => plugin.reference.take(value),
                None => Arc::new(value),
            };
            // The output of `ibnetdiscover` contains the time.
            let is_same = last.as_ref().is_some_and(|(_, digest)| *digest == value.digest);
            if let (false, Err(strange)) = (is_same, met.meet(value.fabric(), value.digest)) {
                let name = read::name(&p.watched);
                // When the known fabric comes back it is reported again: that ends the refusal.
                last = None;
                return Ok(Some(Event::Stranger(value.digest, strange, name)));
            }
            last = Some((bytes, value.digest));
            if is_same && plugin.is_none() {
                return Ok(None);
            }
            *new.lock().unwrap_or_else(PoisonError::into_inner) = Some(value.clone());
            Ok(Some(Event::Fabric(value)))
        }))
    };
    // Tables and jobs are read for it once its event is sent: their readings arrive after it.
    let reported = |_: &Poller| {
        if let Some(value) = new.lock().unwrap_or_else(PoisonError::into_inner).take() {
            known.set(value);
        }
    };
    poller.run(read, reported);
}

/// Reads the tables in place.
struct TablesPoller {
    known: CurrentFabric,
    /// File that stores the output of a command.
    copy: PathBuf,
    read_backs: ReadBacks,
    may_be_damaged: bool,
    last: Option<TablesStamp>,
    /// The number of the last read-back that was answered.
    answered: u64,
}

impl TablesPoller {
    fn read(&mut self, p: &Poller) -> Reading {
        let fabric = self.known.get()?;
        let asked = self.read_backs.asked.load(Ordering::SeqCst);
        if asked == self.answered {
            return Some(self.tables(p, &fabric, asked, false));
        }
        let read = self.wait_for_dump(p).and_then(|()| self.tables(p, &fabric, asked, true));
        self.answered = asked;
        Some(Ok(Some(match read {
            Ok(Some(event)) => event,
            Ok(None) => Event::Same(InputSource::Tables),
            Err(what) => Event::Unread(asked, what),
        })))
    }

    fn tables(
        &mut self,
        p: &Poller,
        fabric: &FabricValue,
        asked: u64,
        anyway: bool,
    ) -> Result<Option<Event>, String> {
        let last = self.last.as_ref().filter(|_| !anyway);
        let located = locate(&p.watched, &self.copy, fabric, &p.children, last)?;
        let Some((files, seen)) = located else { return Ok(None) };
        // A file that is being written may look complete and still be only half of its final content.
        let stamp = || written(&p.watched);
        let before = stamp().filter(|_| self.may_be_damaged);
        let value = read::tables(&files, fabric, self.may_be_damaged)?;
        if before.is_some() {
            thread::sleep(SETTLED);
            if stamp() != before {
                return Err(format!(
                    "{}: it was written while it was read",
                    read::name(&p.watched)
                ));
            }
        }
        self.last = Some(seen);
        Ok(Some(Event::Tables(Arc::new(value), asked)))
    }

    /// Waits until OpenSM has written its dump after the last order to sweep.
    fn wait_for_dump(&self, p: &Poller) -> Result<(), String> {
        let Some(since) = self.read_backs.since() else { return Ok(()) };
        let end = Instant::now() + DUMPS;
        while written(&p.watched).is_some_and(|at| at < since) {
            if Instant::now() >= end {
                return Err(format!(
                    "{}: OpenSM has not written it since it was asked to sweep (does it run with -D 0x43?)",
                    read::name(&p.watched)
                ));
            }
            thread::sleep(SOON);
        }
        Ok(())
    }
}

/// Reads an input that is about hosts: again if it, or the fabric that it is mapped to, is another one.
fn poll_for_fabric(
    poller: &Poller,
    known: &CurrentFabric,
    parse: fn(&[u8], &FabricValue, &Watched) -> Result<Event, String>,
) {
    let mut last: Option<(Vec<u8>, Digest)> = None;
    let read = |p: &Poller| -> Reading {
        let fabric = known.get()?;
        Some(fetch(&p.watched, &p.children).and_then(|bytes| {
            if last.as_ref().is_some_and(|(b, f)| *b == bytes && *f == fabric.digest) {
                return Ok(None);
            }
            let event = parse(&bytes, &fabric, &p.watched)?;
            last = Some((bytes, fabric.digest));
            Ok(Some(event))
        }))
    };
    poller.run(read, |_| {});
}

fn poll_jobs(poller: &Poller, known: &CurrentFabric) {
    poll_for_fabric(poller, known, |bytes, fabric, watched| {
        read::jobs(bytes, fabric, watched).map(|value| Event::Jobs(Arc::new(value)))
    });
}

fn poll_demands(poller: &Poller, known: &CurrentFabric) {
    match &poller.watched.origin {
        Origin::Folder(folder) => poll_profiles(poller, folder, known),
        _ => poll_for_fabric(poller, known, |bytes, fabric, watched| {
            read::demands(bytes, fabric, watched).map(|value| Event::Demands(Arc::new(value)))
        }),
    }
}

fn poll_profiles(poller: &Poller, folder: &Path, known: &CurrentFabric) {
    let mut last = (ReadProfiles::default(), None);
    let read = |_: &Poller| -> Reading {
        let fabric = known.get()?.digest;
        Some(last.0.read(folder).map(|read| {
            if read.is_none() && last.1 == Some(fabric) {
                return None;
            }
            last = (read.unwrap_or_else(|| last.0.clone()), Some(fabric));
            let (sent, digest) = (last.0.of_job.clone(), profiles::digest(&last.0.of_job));
            Some(Event::Demands(Arc::new(DemandsValue {
                sent: Sent::Profiles(sent),
                digest,
                fabric,
            })))
        }))
    };
    poller.run(read, |_| {});
}

/// Reads counters; the traffic of channels is the difference of two readings.
struct CountersPoller {
    known: CurrentFabric,
    /// The reading before: the fabric that it was for, when it was made, and its text.
    before: Option<(Digest, Instant, String)>,
    /// Sweeps of OpenSM's performance manager, where they are the input.
    ports: Option<PortEvents>,
}

impl CountersPoller {
    fn read(&mut self, p: &Poller) -> Reading {
        let fabric = self.known.get()?;
        let value = |texts: [&str; 2], seconds: f64| {
            let value = read::counters(&texts, seconds, &fabric, &p.watched)?;
            Ok(Some(Event::Counters(Arc::new(value))))
        };
        if let Some(ports) = &self.ports {
            let ended = ports.take(p.watched.timeout);
            return Some(ended.and_then(|sweep| match sweep {
                Some([before, after]) => value([&before, &after], p.watched.every.as_secs_f64()),
                None => Ok(None),
            }));
        }
        Some(fetch(&p.watched, &p.children).and_then(|bytes| {
            let now = Instant::now();
            let text = String::from_utf8(bytes)
                .map_err(|_| format!("{}: it is not text", read::name(&p.watched)))?;
            let Some((_, at, old)) = self.before.take_if(|(of, _, _)| *of == fabric.digest) else {
                // The first one must be counters, too.
                read::counters(&[&text], 1.0, &fabric, &p.watched)?;
                self.before = Some((fabric.digest, now, text));
                return Ok(None);
            };
            if old == text {
                // It has not been written since: the time counts from when it was first seen.
                self.before = Some((fabric.digest, at, old));
                return Ok(None);
            }
            let seconds = now.duration_since(at).as_secs_f64();
            let value = value([&old, &text], seconds);
            self.before = Some((fabric.digest, now, text));
            value
        }))
    }
}

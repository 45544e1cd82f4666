//! The socket of OpenSM's plugin (`plugin/dfosm.c`): it reports the cables that were swept, waits for a plan, and reports whether
//! it took it.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use darkfiber_formats::output;
use darkfiber_scenario::Error;
use rustix::net::{RecvFlags, recv};

use crate::book_maker::{Order, Orders};
use crate::cables::{Cables, End};
use crate::control;
use crate::event::Event;
use crate::fault_book::{Base, Book, Entry, plan_of};
use crate::poll::WakeUp;
use crate::question::{OfferedStage, Question, TakenPlan};
use crate::reference::{Missing, Reference};
use crate::tables_digest::digest_of_tables;
use crate::value::{FabricValue, TablesValue};
use crate::work::{Library, TablePlan};

/// Most bytes of a list of cables.
const MOST: u64 = 1 << 26;
/// Time limit for OpenSM to report its sweep, and whether it took the plan.
const PATIENCE: Duration = Duration::from_secs(10);

/// Time limit for a repair from the tables as they were prepared for the book, while its thread is busy with another fault; after
/// it the case is repaired from nothing.
const AT_HAND: Duration = Duration::from_millis(300);

/// The side that answers.
#[derive(Clone)]
pub(crate) struct PluginResponder {
    pub(crate) reference: Reference,
    pub(crate) book: Book,
    /// Orders for the thread that makes the book.
    pub(crate) orders: Orders,
    pub(crate) library: Library,
    /// File of the plan that was taken, for the case that the daemon does not reply.
    pub(crate) plan_file: PathBuf,
    pub(crate) budget: Duration,
    /// Number of questions so far: readings before the last one may be older than its sweep.
    pub(crate) asked: Arc<AtomicU64>,
    pub(crate) events: SyncSender<Event>,
    /// Has the plan file copied to standby subnet managers.
    pub(crate) standby: Option<WakeUp>,
}

/// Listens for questions of the plugin on a socket.
///
/// # Errors
/// If the socket cannot be made.
pub(crate) fn open(path: &Path, responder: PluginResponder) -> Result<(), Error> {
    let listener = control::bind(path)?;
    let serve = move || {
        for stream in listener.incoming().flatten() {
            // There is one OpenSM: one question after the other.
            if let Err(e) = responder.serve(&stream) {
                let _nobody_hears = responder.events.send(Event::Unanswered(e.to_string()));
            }
        }
    };
    spawn(serve).map_err(|e| Error::infeasible(format!("cannot start threads: {e}")))
}

fn spawn(serve: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name("plugin".to_owned()).spawn(serve).map(drop)
}

impl PluginResponder {
    fn serve(&self, stream: &UnixStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let start = Instant::now();
        let mut reader = BufReader::new(stream);
        let cables = read_cables(&mut (&mut reader).take(MOST))?;
        if has_gone(stream) {
            // The question was sent while this program did not run, and OpenSM has continued since.
            return Ok(());
        }
        self.asked.fetch_add(1, Ordering::SeqCst);
        let known = self.reference.of_cables(&cables);
        let Some((missing, fabric)) = known else {
            let _nobody_hears = self.events.send(Event::Unanswered(
                "OpenSM has swept cables of a fabric that is not known yet".to_owned(),
            ));
            return (&*stream).write_all(b"NONE\n");
        };
        let base = self.book.base();
        let ready = self.book.entry(&missing);
        let is_ready = ready.is_some();
        let (offered, entry) = self.ask(&missing, ready, &fabric, base.as_ref(), start);
        let Some(offered) = offered else { return (&*stream).write_all(b"NONE\n") };
        let bytes = offered.image.numbered(offered.plan);
        let mut stream = stream;
        let mut give = || {
            let word = if offered.is_last { "PLAN" } else { "STAGE" };
            stream.write_all(format!("{word} {}\n", bytes.len()).as_bytes())?;
            stream.write_all(&bytes)?;
            let millis = start.elapsed().as_secs_f64() * 1e3;
            let mut said = String::new();
            (&mut reader).take(4096).read_line(&mut said)?;
            Ok::<_, io::Error>((millis, said))
        };
        let (millis, said) = match give() {
            Ok(said) => said,
            Err(e) => {
                let why = format!("it waits no longer ({e})");
                let _nobody_hears = self.events.send(Event::Refused(offered.plan, false, why));
                return Ok(());
            }
        };
        if said != "TAKEN\n" {
            let why = said.trim_end().strip_prefix("REFUSED ");
            let (looked, why) = (why.is_some(), why.unwrap_or("it waits no longer").to_owned());
            let _nobody_hears = self.events.send(Event::Refused(offered.plan, looked, why));
            return Ok(());
        }
        let taken = self.taken(&offered, &fabric, base.as_ref(), entry.as_deref());
        let _nobody_hears = match taken {
            Ok(taken) => self.events.send(Event::Taken(taken, millis, is_ready && entry.is_some())),
            Err(what) => self.events.send(Event::Unanswered(what)),
        };
        if !offered.is_last {
            return Ok(());
        }
        // It is used if the daemon is not running at the next question.
        if let Err(e) = output::replace_as_is(&self.plan_file, |out| out.write_all(&bytes)) {
            let what = format!("{}: {e}", self.plan_file.display());
            let _nobody_hears = self.events.send(Event::Unanswered(what));
        }
        if let Some(standby) = &self.standby {
            let _it_hurries_already = standby.try_send(());
        }
        Ok(())
    }

    /// The answer of the machine, and the repair that it is from: the one that was ready, or else one that is made now.
    fn ask(
        &self,
        missing: &Missing,
        ready: Option<Arc<Entry>>,
        fabric: &Arc<FabricValue>,
        base: Option<&Base>,
        start: Instant,
    ) -> (Option<OfferedStage>, Option<Arc<Entry>>) {
        let is_new = base.is_some_and(|base| base.fabric.digest != fabric.digest);
        let entry = is_new.then(|| ready.or_else(|| self.repair(missing, fabric)));
        let entry = entry.flatten();
        let tables = base.and_then(|base| match (is_new, &entry) {
            // The machine has these tables already.
            (false, _) | (true, Some(_)) => None,
            (true, None) => {
                let image = base.image().ok()?;
                base.on(&image, fabric).ok().map(Arc::new)
            }
        });
        let (reply, replied) = sync_channel(1);
        let (fabric, ready) = (fabric.clone(), entry.clone());
        let budget = self.budget;
        let question = Question { fabric, tables, ready, budget, reply };
        if self.events.send(Event::Question(question)).is_err() {
            return (None, None);
        }
        let left = self.budget.saturating_sub(start.elapsed());
        (replied.recv_timeout(left).ok().flatten(), entry)
    }

    /// A repair that the book does not have, from the thread that makes it: it has all but what this case changes.
    fn repair(&self, missing: &Missing, part: &Arc<FabricValue>) -> Option<Arc<Entry>> {
        let (reply, replied) = sync_channel(1);
        self.orders.send(Order::Now(missing.clone(), part.clone(), reply)).ok()?;
        // Once the book is made it begins at once, and from nothing would take longer.
        let within = if self.book.is_made() { self.budget * 4 / 5 } else { AT_HAND };
        replied.recv_timeout(within.min(self.budget * 4 / 5)).ok().flatten()
    }

    /// Records the tables in place after OpenSM has taken them.
    fn taken(
        &self,
        offered: &OfferedStage,
        fabric: &Arc<FabricValue>,
        base: Option<&Base>,
        entry: Option<&Entry>,
    ) -> Result<TakenPlan, String> {
        if let (Some(entry), Some(base), 0) = (entry, base, offered.stage) {
            let plan: TablePlan = plan_of(entry, base, fabric)?;
            self.library.keep(offered.plan, plan);
        }
        let (routes, lids) = offered.image.on(fabric)?;
        let digest = digest_of_tables(fabric.fabric(), &routes, &lids);
        // It was proved that all pairs reach.
        let (has_levels, is_whole) = (true, true);
        let value =
            TablesValue { routes, lids, has_levels, is_whole, digest, fabric: fabric.digest };
        let base = Base { fabric: fabric.clone(), tables: Arc::new(value) };
        Ok(TakenPlan { plan: offered.plan, base })
    }
}

/// Whether the other end has been closed.
fn has_gone(stream: &UnixStream) -> bool {
    let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
    matches!(recv(stream, &mut [0u8; 1][..], flags), Ok((_, 0)))
}

/// The cables, from both ends.
fn read_cables(reader: &mut impl BufRead) -> io::Result<Cables> {
    let bad = |line: &str| {
        let what = format!("what OpenSM's plugin says is not understood: \"{}\"", line.trim_end());
        io::Error::new(io::ErrorKind::InvalidData, what)
    };
    let mut line = String::new();
    reader.read_line(&mut line)?;
    if line != "DFOSM 1\n" {
        line.truncate(60);
        return Err(bad(&line));
    }
    let mut cables = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        if line == "\n" {
            return Ok(Cables::new(&cables));
        }
        cables.push(cable(&line).ok_or_else(|| bad(&line))?);
    }
}

/// `0xGUID PORT 0xGUID PORT`.
fn cable(line: &str) -> Option<(End, End)> {
    let mut words = line.strip_suffix('\n')?.split(' ');
    let mut end = || {
        let guid = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
        Some((guid, words.next()?.parse().ok()?))
    };
    let both = (end()?, end()?);
    words.next().is_none().then_some(both)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_cables_has_both_ends_and_junk_has_none() {
        let text = b"DFOSM 1\n0x1 2 0xa 3\n0x1 4 0xb 1\n\nmore";
        let cables = read_cables(&mut &text[..]).expect("a list");
        assert_eq!((cables.ends(), cables.get((0xb, 1))), (4, Some((1, 4))));
        for junk in ["", "DFOSM 2\n\n", "DFOSM 1\n0x1 2 0xa\n\n", "DFOSM 1\n0x1 2 0xa 3", "\u{0}\n"]
        {
            assert!(read_cables(&mut junk.as_bytes()).is_err(), "{junk}");
        }
    }
}

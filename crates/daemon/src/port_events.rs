//! What OpenSM's performance manager counts on ports, as the plugin (`plugin/dfosm.c`) passes it on: a line for each port in each
//! of its sweeps.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use darkfiber_scenario::Error;

use crate::control;

/// A sweep of the performance manager has ended after this silence: longer than it waits for a port that does not reply.
const SILENCE: Duration = Duration::from_secs(2);
/// Longest line, in bytes.
const LONGEST: u64 = 256;
/// Most ports of a sweep.
const MOST_PORTS: usize = 1 << 22;

/// Words of four bytes that a port sent and received, and the seconds in which it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counted {
    sent: u64,
    received: u64,
    seconds: u64,
}

/// The counters before and after a sweep of the performance manager, as tables that `formats` reads.
pub(crate) type BeforeAndAfter = [String; 2];

/// What has arrived.
#[derive(Default)]
struct Arrived {
    /// The sweep that goes on, by node GUID and port.
    sweep: BTreeMap<(u64, u8), Counted>,
    /// Why the sweep that goes on cannot be used.
    flaw: Option<String>,
    /// When the last line arrived.
    last: Option<Instant>,
    /// The last sweep that has ended, until it is taken.
    ended: Option<Result<BeforeAndAfter, String>>,
}

impl Arrived {
    fn line(&mut self, line: &str, now: Instant) -> Result<(), String> {
        if self.last.is_some_and(|last| now.saturating_duration_since(last) >= SILENCE) {
            self.end();
        }
        self.last = Some(now);
        let mut words = line.trim_end().split(' ');
        let mut next = || words.next().unwrap_or_default();
        let first = next();
        if first == "LOST" {
            let lost = next();
            self.flaw = Some(format!(
                "{lost} ports are missing: they came faster than they were read, or before that"
            ));
            return Ok(());
        }
        let bad = || {
            let shown: String = line.trim_end().chars().take(60).collect();
            format!("what OpenSM's plugin says of ports is not understood: \"{shown}\"")
        };
        let guid = first.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok());
        let port = next().parse().ok();
        let numbers: Option<Vec<u64>> = words.map(|word| word.parse().ok()).collect();
        let (Some(guid), Some(port), Some(&[sent, received, seconds])) =
            (guid, port, numbers.as_deref())
        else {
            return Err(bad());
        };
        // A port that comes again is one of the next sweep.
        if self.sweep.contains_key(&(guid, port)) || self.sweep.len() >= MOST_PORTS {
            self.end();
        }
        self.sweep.insert((guid, port), Counted { sent, received, seconds });
        Ok(())
    }

    fn end(&mut self) {
        let sweep = std::mem::take(&mut self.sweep);
        self.ended = match self.flaw.take() {
            Some(flaw) => Some(Err(flaw)),
            None if sweep.is_empty() => return,
            None => Some(Ok(tables(&sweep))),
        };
    }

    fn take(&mut self, now: Instant) -> Option<Result<BeforeAndAfter, String>> {
        if self.last.is_some_and(|last| now.saturating_duration_since(last) >= SILENCE) {
            self.end();
        }
        self.ended.take()
    }
}

/// The counters at both ends of a sweep: each port began at 0.
fn tables(sweep: &BTreeMap<(u64, u8), Counted>) -> BeforeAndAfter {
    let heading = "node_guid,port,time,xmit_data,rcv_data\n";
    let mut tables = [heading.to_owned(), heading.to_owned()];
    for ((guid, port), counted) in sweep {
        let Counted { sent, received, seconds } = counted;
        // Writing to a string cannot fail.
        let _ = writeln!(tables[0], "{guid:#x},{port},0,0,0");
        let _ = writeln!(tables[1], "{guid:#x},{port},{seconds},{sent},{received}");
    }
    tables
}

/// The sweeps that have arrived, shared with the threads that read them.
#[derive(Clone)]
pub(crate) struct PortEvents {
    arrived: Arc<Mutex<Arrived>>,
    opened: Instant,
}

impl PortEvents {
    /// Listens for OpenSM's plugin on a socket.
    ///
    /// # Errors
    /// If the socket cannot be made.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let listener = control::bind(path)?;
        let all = Self { arrived: Arc::default(), opened: Instant::now() };
        let events = all.clone();
        let serve = move || {
            for stream in listener.incoming().flatten() {
                // One that hangs must not keep out the OpenSM that took over from it.
                let events = events.clone();
                let read = move || events.read(&stream);
                let _no_thread_no_counters = thread::Builder::new().spawn(read);
            }
        };
        let started = thread::Builder::new().name("ports".to_owned()).spawn(serve);
        started.map_err(|e| Error::infeasible(format!("cannot start threads: {e}")))?;
        Ok(all)
    }

    fn read(&self, stream: &UnixStream) {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        loop {
            line.clear();
            let read = (&mut reader).take(LONGEST).read_line(&mut line);
            if !read.is_ok_and(|bytes| bytes > 0) {
                return;
            }
            let mut arrived = self.arrived();
            if let Err(what) = arrived.line(&line, Instant::now()) {
                arrived.flaw = Some(what);
                return;
            }
        }
    }

    fn arrived(&self) -> std::sync::MutexGuard<'_, Arrived> {
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The sweep that has ended last, once.
    ///
    /// # Errors
    /// If a part of it was lost, or nothing at all has come for a longer time than `patience`.
    pub(crate) fn take(&self, patience: Duration) -> Result<Option<BeforeAndAfter>, String> {
        let now = Instant::now();
        let mut arrived = self.arrived();
        if let Some(ended) = arrived.take(now) {
            return ended.map(Some);
        }
        let since = now.saturating_duration_since(arrived.last.unwrap_or(self.opened));
        if since >= patience {
            let seconds = since.as_secs();
            return Err(format!(
                "OpenSM has reported no port for {seconds} s: opensm.conf needs `perfmgr TRUE`, and `counters=` with this socket in \
                 event_plugin_options"
            ));
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(s: u64) -> Duration {
        Duration::from_secs(s)
    }

    #[test]
    fn a_sweep_ends_with_silence_or_when_a_port_comes_again() {
        let mut all = Arrived::default();
        let start = Instant::now();
        all.line("0xa 1 10 20 180\n", start).expect("a port");
        all.line("0xa 2 1 2 180\n", start + seconds(1)).expect("a port");
        assert_eq!(all.take(start + seconds(2)), None, "it may go on");
        let Some(Ok([before, after])) = all.take(start + seconds(3)) else { panic!("it ended") };
        assert_eq!(before, "node_guid,port,time,xmit_data,rcv_data\n0xa,1,0,0,0\n0xa,2,0,0,0\n");
        assert_eq!(
            after,
            "node_guid,port,time,xmit_data,rcv_data\n0xa,1,180,10,20\n0xa,2,180,1,2\n"
        );
        assert_eq!(all.take(start + seconds(9)), None, "it is taken once");
        let again = start + seconds(10);
        all.line("0xa 1 7 7 180\n", again).expect("a port");
        all.line("0xa 1 8 8 180\n", again).expect("a port of the next sweep");
        let Some(Ok([_, after])) = all.take(again) else { panic!("one ended") };
        assert!(after.ends_with("0xa,1,180,7,7\n"), "{after}");
    }

    #[test]
    fn what_was_lost_or_is_junk_makes_no_sweep() {
        let mut all = Arrived::default();
        let start = Instant::now();
        all.line("LOST 12\n", start).expect("understood");
        all.line("0xa 1 10 20 180\n", start).expect("a port");
        let ended = all.take(start + seconds(3));
        assert!(ended.is_some_and(|e| e.is_err_and(|e| e.starts_with("12 ports are missing"))));
        all.line("0xa 1 10 20 180\n", start + seconds(4)).expect("a port");
        assert!(all.take(start + seconds(7)).is_some_and(|e| e.is_ok()), "the next one is whole");
        for junk in [
            "",
            "\u{0}",
            "0xa 1 10 20",
            "0xa 1 10 20 180 7",
            "0xa 1 10 20 180 x",
            "a 1 10 20 180",
            "0xa 300 1 2 3",
        ] {
            assert!(all.line(junk, start).is_err(), "{junk}");
        }
    }
}

//! OpenSM's log: which engine it used, and that a sweep is over.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::Duration;

use darkfiber_operate::PlanId;

use crate::event::Event;

/// Interval between two reads of the log.
const EVERY: Duration = Duration::from_millis(50);
/// Most bytes that are read at once.
const MOST: u64 = 1 << 20;

/// The part of the log that has been read.
#[derive(Default)]
struct LogPosition {
    /// The engine of the current sweep, once it is known.
    engine: Option<String>,
    /// The plan that the plugin has taken in it.
    plan: Option<PlanId>,
    /// A line that has no end yet.
    rest: Vec<u8>,
}

impl LogPosition {
    /// Takes more bytes; the engines of the sweeps that they end.
    fn take(&mut self, bytes: &[u8]) -> Vec<(String, Option<PlanId>)> {
        self.rest.extend_from_slice(bytes);
        let Some(end) = self.rest.iter().rposition(|&b| b == b'\n') else { return Vec::new() };
        let lines: Vec<u8> = self.rest.drain(..=end).collect();
        let text = String::from_utf8_lossy(&lines);
        let mut ended = Vec::new();
        for line in text.lines() {
            if let Some((_, plan)) = line.split_once("dfosm: plan ") {
                self.plan = plan.split_whitespace().next().and_then(|n| n.parse().ok());
            } else if let Some((before, _)) = line.split_once(" tables configured on all switches")
            {
                self.engine = before.split_whitespace().last().map(str::to_owned);
            } else if line.contains("SUBNET UP") {
                let plan = self.plan.take();
                ended.extend(self.engine.take().map(|engine| (engine, plan)));
            }
        }
        ended
    }
}

/// Reports each sweep that ends, from now on. A log that is restarted is read from its beginning.
pub(crate) fn follow(path: &Path, events: &SyncSender<Event>) {
    let mut seen = LogPosition::default();
    let mut at = std::fs::metadata(path).map_or(0, |m| m.len());
    loop {
        let mut bytes = Vec::new();
        let length = std::fs::metadata(path).map_or(0, |m| m.len());
        if length < at {
            (at, seen) = (0, LogPosition::default());
        }
        if length > at {
            let read = File::open(path).and_then(|mut file| {
                file.seek(SeekFrom::Start(at))?;
                file.take(MOST).read_to_end(&mut bytes)
            });
            at += read.unwrap_or(0) as u64;
        }
        for (engine, plan) in seen.take(&bytes) {
            if events.send(Event::Swept(engine, plan)).is_err() {
                return;
            }
        }
        thread::sleep(EVERY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_is_over_when_the_subnet_is_up() {
        let mut seen = LogPosition::default();
        let line = b"Nov 24 10:00:00 123456 [7F] 0x02 -> ucast_mgr_process: file tables configured on all switches\n";
        assert!(seen.take(&line[..70]).is_empty());
        assert!(seen.take(&line[70..]).is_empty());
        assert_eq!(seen.take(b"Nov 24 [7F] 0x80 -> SUBNET UP\n"), [("file".to_owned(), None)]);
        assert!(seen.take(b"Nov 24 [7F] 0x80 -> SUBNET UP\n").is_empty(), "nothing was routed");
        let two = b"-> minhop tables configured on all switches\nSUBNET UP\n\xff\xfe\nx: file tables configured on all switches\nSUBNET UP\nhalf";
        let engines: Vec<String> = seen.take(two).into_iter().map(|(engine, _)| engine).collect();
        assert_eq!(engines, ["minhop", "file"]);
        let plugin = b"x -> build_tables: dfosm: plan 7 from the daemon\n-> ucast_mgr: dfosm tables configured on all switches\nSUBNET UP\n";
        seen.take(b"\n");
        assert_eq!(seen.take(plugin), [("dfosm".to_owned(), Some(7))]);
    }
}

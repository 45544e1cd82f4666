//! Pages for monitors, on loopback, read only.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use tiny_http::{Header, Method, Request, Response, Server};

use crate::event::{Event, Page};
use crate::look::Look;
use crate::map_page::LastMap;
use crate::{map_page, store, top};

/// Threads that answer: a reader that is slow keeps one of them.
const THREADS: usize = 4;
/// How long the owner of the state is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

const JSON: &str = "application/json";
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";
const LINES: &str = "application/jsonl";

/// Serves pages; returns the address, whose port may have been left open.
pub(crate) fn serve(
    address: SocketAddr,
    state: &Path,
    events: &SyncSender<Event>,
) -> Result<SocketAddr, String> {
    let server = Server::http(address).map_err(|e| format!("{address}: {e}"))?;
    let bound = server.server_addr().to_ip().unwrap_or(address);
    let server = Arc::new(server);
    let last = LastMap::default();
    for _ in 0..THREADS {
        let (server, events, state) = (server.clone(), events.clone(), state.to_owned());
        let last = last.clone();
        let run = move || {
            while let Ok(request) = server.recv() {
                let _the_reader_may_be_gone = answer(request, &state, &events, &last);
            }
        };
        let thread = thread::Builder::new().name("http".to_owned()).spawn(run);
        thread.map_err(|e| e.to_string())?;
    }
    Ok(bound)
}

/// What a request is for.
#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    /// What the owner of the state knows.
    Page(Page, &'static str),
    /// Steps of the journal on disk, from this one on.
    Journal(u64),
    /// The map of what runs now, to look at.
    Map,
    /// The fullest channels, jobs and alarms.
    Top,
}

fn answer(
    request: Request,
    state: &Path,
    events: &SyncSender<Event>,
    last: &LastMap,
) -> std::io::Result<()> {
    let plain = |text: &str, status: u16| Response::from_string(text).with_status_code(status);
    if *request.method() != Method::Get {
        return request.respond(plain("only GET is served\n", 405));
    }
    let Some(wanted) = wanted(request.url()) else {
        let text = "there are /map, /top, /status, /metrics, /plans/N and /journal?since=STEP\n";
        return request.respond(plain(text, 404));
    };
    let (text, kind) = match wanted {
        Wanted::Journal(since) => (store::since(state, since).map_err(|e| (e, 500)), LINES),
        Wanted::Map => {
            let text = looked(events)
                .and_then(|look| map_page::text(&look, last).map_err(|why| (why + "\n", 503)));
            (text.map(|text| text.as_str().to_owned()), HTML)
        }
        Wanted::Top => (looked(events).map(|look| top::text(&look)), JSON),
        Wanted::Page(page, kind) => {
            let (reply, replied) = sync_channel(1);
            let asked = events.send(Event::Page { page, reply }).is_ok();
            let text = if asked { replied.recv_timeout(PATIENCE).ok() } else { None };
            let text = text.map_or_else(
                || Err(("no answer in time\n".to_owned(), 503)),
                |text| text.map_err(|why| (why + "\n", 404)),
            );
            (text, kind)
        }
    };
    match text {
        Err((why, status)) => request.respond(plain(&why, status)),
        Ok(text) => {
            let mut response = Response::from_string(text);
            if let Ok(header) = Header::from_bytes(&b"Content-Type"[..], kind.as_bytes()) {
                response.add_header(header);
            }
            request.respond(response)
        }
    }
}

/// What the owner of the state knows; it goes on while others compute.
fn looked(events: &SyncSender<Event>) -> Result<Look, (String, u16)> {
    let (reply, replied) = sync_channel(1);
    let asked = events.send(Event::Look { reply }).is_ok();
    let look = if asked { replied.recv_timeout(PATIENCE).ok() } else { None };
    look.ok_or_else(|| ("no answer in time\n".to_owned(), 503))
}

fn wanted(url: &str) -> Option<Wanted> {
    match url.split_once('?').unwrap_or((url, "")) {
        ("/status", "") => Some(Wanted::Page(Page::Status, JSON)),
        ("/map", _) => Some(Wanted::Map),
        ("/top", "") => Some(Wanted::Top),
        ("/metrics", _) => Some(Wanted::Page(Page::Metrics, METRICS)),
        ("/journal", "") => Some(Wanted::Journal(0)),
        ("/journal", query) => Some(Wanted::Journal(query.strip_prefix("since=")?.parse().ok()?)),
        (path, "") => {
            let plan = path.strip_prefix("/plans/")?.parse().ok()?;
            Some(Wanted::Page(Page::Plan(plan), JSON))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_these_pages_exist() {
        assert_eq!(wanted("/journal?since=7"), Some(Wanted::Journal(7)));
        assert_eq!(wanted("/plans/3"), Some(Wanted::Page(Page::Plan(3), JSON)));
        assert_eq!(wanted("/map"), Some(Wanted::Map));
        assert_eq!(wanted("/top"), Some(Wanted::Top));
        assert_eq!(wanted("/status"), Some(Wanted::Page(Page::Status, JSON)));
        for none in [
            "/",
            "/status/",
            "/journal?since=x",
            "/journal?until=1",
            "/plans/",
            "/plans/../../etc/passwd",
            "/plans/3/lfts.dump",
            "/map/",
            "/top?x=1",
            "/../etc/passwd",
        ] {
            assert_eq!(wanted(none), None, "{none}");
        }
    }
}

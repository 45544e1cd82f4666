//! Pages for monitors, on loopback, read only.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::event::{Event, Page};
use crate::map_page::LastMap;
use crate::snapshot::Snapshot;
use crate::{map_page, store, top};

/// Connections that are served concurrently; more are closed, so that idle connections have a bounded cost.
const MOST: usize = 32;
/// Maximum bytes of a request's head; no request here has a body.
const HEAD: usize = 8 << 10;
/// Time limit for receiving a request, and for sending a reply.
const REQUEST: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(30);
/// Maximum time of waiting for the owner of the state.
const PATIENCE: Duration = Duration::from_secs(10);

const JSON: &str = "application/json";
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";
const LINES: &str = "application/jsonl";

/// State shared by the threads that reply.
#[derive(Clone)]
struct Pages {
    state: PathBuf,
    events: SyncSender<Event>,
    last: LastMap,
}

/// Serves pages; returns the address, whose port may have been chosen by the system.
pub(crate) fn serve(
    address: SocketAddr,
    state: &Path,
    events: &SyncSender<Event>,
) -> Result<SocketAddr, String> {
    let listener = TcpListener::bind(address).map_err(|e| format!("{address}: {e}"))?;
    let bound = listener.local_addr().unwrap_or(address);
    let (state, events) = (state.to_owned(), events.clone());
    let pages = Pages { state, events, last: LastMap::default() };
    let open = Arc::new(AtomicUsize::new(0));
    let run = move || {
        loop {
            // Too many open files, or a connection that is gone already: others may come.
            let Ok((stream, _)) = listener.accept() else {
                thread::sleep(Duration::from_millis(100));
                continue;
            };
            if open.fetch_add(1, Ordering::Relaxed) >= MOST {
                open.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let (pages, held) = (pages.clone(), Arc::clone(&open));
            let one = move || {
                let _the_reader_may_be_gone = converse(&stream, &pages);
                held.fetch_sub(1, Ordering::Relaxed);
            };
            if thread::Builder::new().name("http-one".to_owned()).spawn(one).is_err() {
                open.fetch_sub(1, Ordering::Relaxed);
            }
        }
    };
    let thread = thread::Builder::new().name("http".to_owned()).spawn(run);
    thread.map_err(|e| e.to_string())?;
    Ok(bound)
}

/// Reads one request and answers it. HTTP/1.1 (RFC 9112) as far as read-only pages need it: GET, no body, one response a connection.
fn converse(mut stream: &TcpStream, pages: &Pages) -> io::Result<()> {
    let Some(head) = head(stream)? else { return Ok(()) };
    let (status, kind, text) = answer(&head, pages);
    let length = text.len();
    let end = Instant::now() + ANSWER;
    let first = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    for part in std::iter::once(first.as_bytes()).chain(text.as_bytes().chunks(64 << 10)) {
        let left = end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        stream.set_write_timeout(Some(left))?;
        stream.write_all(part)?;
    }
    // The rest of the request is read, in part: closing with unread data would discard the response.
    stream.shutdown(Shutdown::Write)?;
    stream.set_read_timeout(Some(Duration::from_millis(200)))?;
    let mut rest = [0; 4 << 10];
    for _ in 0..16 {
        if stream.read(&mut rest)? == 0 {
            break;
        }
    }
    Ok(())
}

/// The head of a request; `None` if the connection was closed or is too slow.
fn head(mut stream: &TcpStream) -> io::Result<Option<Vec<u8>>> {
    let end = Instant::now() + REQUEST;
    let mut head = Vec::new();
    let mut part = [0; 1 << 10];
    while head.len() < HEAD && !head.windows(4).any(|w| w == b"\r\n\r\n") {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut part)? {
            0 => return Ok(None),
            n => head.extend_from_slice(&part[..n]),
        }
    }
    Ok(Some(head))
}

/// The target of a request.
#[derive(Debug, PartialEq, Eq)]
enum RequestTarget {
    /// A page of the owner of the state.
    Page(Page, &'static str),
    /// Steps of the journal on disk, from this one on.
    Journal(u64),
    /// The map of the running jobs, as a page.
    Map,
    /// The fullest channels, jobs and alarms.
    Top,
}

const PLAIN: &str = "text/plain; charset=utf-8";

/// Status, content type and text of the response to the head of a request.
fn answer(head: &[u8], pages: &Pages) -> (&'static str, &'static str, String) {
    let line = head.split(|&b| b == b'\r').next().unwrap_or_default();
    let line = std::str::from_utf8(line).unwrap_or_default();
    let [method, url, version] = line.split(' ').collect::<Vec<_>>()[..] else {
        return ("400 Bad Request", PLAIN, "a request of HTTP is expected\n".to_owned());
    };
    if !version.starts_with("HTTP/1.") {
        return ("400 Bad Request", PLAIN, "HTTP/1.1 is served\n".to_owned());
    }
    if method != "GET" {
        return ("405 Method Not Allowed", PLAIN, "only GET is served\n".to_owned());
    }
    if !is_for_this_host(head) {
        let text = "Host: only names of this host are served: localhost, 127.0.0.1 and [::1], with any port\n";
        return ("421 Misdirected Request", PLAIN, text.to_owned());
    }
    let Some(target) = target(url) else {
        let text = "there are /map, /top, /status, /metrics, /plans/N and /journal?since=STEP\n";
        return ("404 Not Found", PLAIN, text.to_owned());
    };
    let (text, kind) = match target {
        RequestTarget::Journal(since) => {
            (store::since(&pages.state, since).map_err(|e| (e, 500)), LINES)
        }
        RequestTarget::Map => {
            let text = snapshot(&pages.events).and_then(|snapshot| {
                map_page::text(&snapshot, &pages.last).map_err(|why| (why + "\n", 503))
            });
            (text.map(|text| text.as_str().to_owned()), HTML)
        }
        RequestTarget::Top => (snapshot(&pages.events).map(|snapshot| top::text(&snapshot)), JSON),
        RequestTarget::Page(page, kind) => {
            let (reply, replied) = sync_channel(1);
            let asked = pages.events.send(Event::Page { page, reply }).is_ok();
            let text = if asked { replied.recv_timeout(PATIENCE).ok() } else { None };
            let text = text.map_or_else(
                || Err(("no answer in time\n".to_owned(), 503)),
                |text| text.map_err(|why| (why + "\n", 404)),
            );
            (text, kind)
        }
    };
    match text {
        Ok(text) => ("200 OK", kind, text),
        Err((why, 404)) => ("404 Not Found", PLAIN, why),
        Err((why, 503)) => ("503 Service Unavailable", PLAIN, why),
        Err((why, _)) => ("500 Internal Server Error", PLAIN, why),
    }
}

/// Whether a request names this host, or none. A page of another site whose name resolves to loopback must not read what this one serves.
fn is_for_this_host(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(head);
    let fields = head.split("\r\n").skip(1).take_while(|line| !line.is_empty());
    let hosts = fields.filter_map(|line| line.split_once(':'));
    let mut hosts = hosts.filter(|(name, _)| name.eq_ignore_ascii_case("host"));
    hosts.all(|(_, value)| {
        let value = value.trim();
        let (name, port) = match value.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, "")) => (address, None),
            Some((address, port)) => (address, Some(port)),
            None => value.find(':').map_or((value, None), |at| (&value[..at], Some(&value[at..]))),
        };
        let is_port = |port: &str| port.strip_prefix(':').is_some_and(|p| p.parse::<u16>().is_ok());
        let is_loopback = name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        (is_loopback || name.eq_ignore_ascii_case("localhost")) && port.is_none_or(is_port)
    })
}

/// The state of the owner; it continues while other threads compute.
fn snapshot(events: &SyncSender<Event>) -> Result<Snapshot, (String, u16)> {
    let (reply, replied) = sync_channel(1);
    let asked = events.send(Event::Snapshot { reply }).is_ok();
    let snapshot = if asked { replied.recv_timeout(PATIENCE).ok() } else { None };
    snapshot.ok_or_else(|| ("no answer in time\n".to_owned(), 503))
}

fn target(url: &str) -> Option<RequestTarget> {
    match url.split_once('?').unwrap_or((url, "")) {
        ("/status", "") => Some(RequestTarget::Page(Page::Status, JSON)),
        ("/map", _) => Some(RequestTarget::Map),
        ("/top", "") => Some(RequestTarget::Top),
        ("/metrics", _) => Some(RequestTarget::Page(Page::Metrics, METRICS)),
        ("/journal", "") => Some(RequestTarget::Journal(0)),
        ("/journal", query) => {
            Some(RequestTarget::Journal(query.strip_prefix("since=")?.parse().ok()?))
        }
        (path, "") => {
            let plan = path.strip_prefix("/plans/")?.parse().ok()?;
            Some(RequestTarget::Page(Page::Plan(plan), JSON))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.write_all(request.as_bytes()).expect("it hears");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("it answers");
        text
    }

    /// Announced bodies that never arrive, junk, and idle connections do not stop it from responding.
    #[test]
    fn nobody_keeps_it_from_answering() {
        let dir = tempfile::tempdir().expect("a folder");
        let (events, _owner) = sync_channel(1);
        let any = "127.0.0.1:0".parse().expect("an address");
        let address = serve(any, dir.path(), &events).expect("a port");
        let _held: Vec<TcpStream> =
            (0..20).map(|_| TcpStream::connect(address).expect("it listens")).collect();
        let long = "Content-Length: 99999999999\r\n\r\n";
        for (request, status) in [
            (format!("POST /top HTTP/1.1\r\n{long}"), "405"),
            (format!("GET /nothing HTTP/1.1\r\n{long}"), "404"),
            ("GET /nothing HTTP/1.0\r\n\r\n".to_owned(), "404"),
            ("GET  HTTP/1.1\r\n\r\n".to_owned(), "404"),
            ("GET /top SMTP\r\n\r\n".to_owned(), "400"),
            ("\u{1}\u{2}\r\n\r\n".to_owned(), "400"),
            (format!("GET /{} HTTP/1.1\r\n", "x".repeat(HEAD)), "400"),
            ("GET /nothing HTTP/1.1\r\nHost: localhost:9684\r\n\r\n".to_owned(), "404"),
            ("GET /status HTTP/1.1\r\nhost: rebound.example\r\n\r\n".to_owned(), "421"),
        ] {
            let answer = ask(address, &request);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request:.40}: {answer}");
        }
    }

    /// Names of loopback are served, whatever the port, and a request without a name; nothing else is.
    #[test]
    fn names_of_other_hosts_are_refused() {
        let is_served = |host: &str| {
            is_for_this_host(
                format!("GET /top HTTP/1.1\r\nA: b\r\nHost: {host}\r\n\r\n").as_bytes(),
            )
        };
        for host in
            ["localhost", "LocalHost:80", "127.0.0.1:9684", "127.0.0.2", "[::1]", "[::1]:80"]
        {
            assert!(is_served(host), "{host}");
        }
        for host in [
            "",
            "example.org",
            "localhost.example.org",
            "10.0.0.1:9684",
            "127.0.0.1:80:80",
            "127.0.0.1.example.org",
            "[::2]:80",
            "localhost:x",
        ] {
            assert!(!is_served(host), "{host}");
        }
        assert!(is_for_this_host(b"GET /top HTTP/1.0\r\n\r\nHost: example.org"));
        assert!(!is_for_this_host(
            b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: example.org\r\n\r\n"
        ));
    }

    #[test]
    fn only_these_pages_exist() {
        assert_eq!(target("/journal?since=7"), Some(RequestTarget::Journal(7)));
        assert_eq!(target("/plans/3"), Some(RequestTarget::Page(Page::Plan(3), JSON)));
        assert_eq!(target("/map"), Some(RequestTarget::Map));
        assert_eq!(target("/top"), Some(RequestTarget::Top));
        assert_eq!(target("/status"), Some(RequestTarget::Page(Page::Status, JSON)));
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
            assert_eq!(target(none), None, "{none}");
        }
    }
}

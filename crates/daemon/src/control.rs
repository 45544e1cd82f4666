//! The socket for operators: a request is a line of one word and an optional number, a reply has some lines.

use std::fs::Permissions;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use darkfiber_scenario::Error;
use rustix::net::sockopt::socket_peercred;

use crate::event::{Event, Form, Request};

/// Longest question, in bytes.
const LONGEST: u64 = 1 << 16;
/// Maximum time that either side waits for the other.
const PATIENCE: Duration = Duration::from_secs(10);
/// Most questions at once; more are turned away.
const AT_ONCE: usize = 32;
/// Prefix of a reply that is an error.
const ERROR: &str = "error: ";

/// What those hear who ask while as many are asking as may.
const TOO_MANY: &str = "too many ask at once; ask again in ten seconds";
/// Hint if the program does not listen.
const STARTS: &str = "start `darkfiber operate --config FILE`, or name its configuration";
/// Constraint on the names of sockets.
const LENGTH: &str =
    "a name of at most 107 bytes is expected; `socket` of the configuration gives a shorter one";

/// Listens, or reports the obstacle and what to do.
///
/// # Errors
/// If the socket cannot be made.
pub(crate) fn open(path: &Path, events: SyncSender<Event>) -> Result<(), Error> {
    let listener = bind(path)?;
    serve(listener, events).map_err(|e| Error::infeasible(format!("cannot start threads: {e}")))
}

/// Creates a socket that its group may write; the socket of a killed program is replaced.
///
/// # Errors
/// If it cannot be created: the obstacle, and what to do.
pub(crate) fn bind(path: &Path) -> Result<UnixListener, Error> {
    listener(path).map_err(|e| {
        let (what, hint) = match e.kind() {
            io::ErrorKind::NotFound => (
                "its folder does not exist".to_owned(),
                "make it, or let `socket` name a place in one that exists (systemd: RuntimeDirectory=)",
            ),
            io::ErrorKind::PermissionDenied => (
                "no permission to make a socket there".to_owned(),
                "its folder must be writable for the user that this program runs as",
            ),
            io::ErrorKind::AlreadyExists => {
                ("something that is no socket is there".to_owned(), "move it away, or let `socket` name another place")
            }
            io::ErrorKind::AddrInUse => (
                "another program listens there".to_owned(),
                "`darkfiber operate status` asks it; two programs need two sockets",
            ),
            io::ErrorKind::InvalidInput => ("no name of a socket".to_owned(), LENGTH),
            _ => (e.to_string(), "a name for a socket is expected, in a folder that can be written"),
        };
        Error::input(format!("socket {}: {what}", path.display())).hint(hint)
    })
}

fn listener(path: &Path) -> io::Result<UnixListener> {
    if UnixStream::connect(path).is_ok() {
        return Err(io::Error::new(io::ErrorKind::AddrInUse, "another program listens there"));
    }
    match std::fs::symlink_metadata(path) {
        Ok(about) => {
            if !about.file_type().is_socket() {
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, "it is no socket"));
            }
            std::fs::remove_file(path)?;
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => return Err(e),
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, Permissions::from_mode(0o660))?;
    Ok(listener)
}

fn serve(listener: UnixListener, events: SyncSender<Event>) -> io::Result<()> {
    let open = Arc::new(());
    let serve = move || {
        for mut stream in listener.incoming().flatten() {
            if Arc::strong_count(&open) > AT_ONCE {
                // Nobody is waited for: what does not fit into the socket at once is not said.
                let _ = stream.set_nonblocking(true);
                let _ = stream.write_all(format!("{ERROR}{TOO_MANY}\n").as_bytes());
                continue;
            }
            let (events, open) = (events.clone(), open.clone());
            let answer = move || {
                let _the_reader_may_be_gone = answer(&stream, &events);
                drop(open);
            };
            let _no_thread_no_answer = thread::Builder::new().spawn(answer);
        }
    };
    thread::Builder::new().name("control".to_owned()).spawn(serve).map(drop)
}

fn answer(mut stream: &UnixStream, events: &SyncSender<Event>) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = Vec::new();
    BufReader::new(stream.take(LONGEST)).read_until(b'\n', &mut line)?;
    let Some(request) = parse(&line) else {
        let expected =
            "status, explain N, pause, resume, propose, deploy N, rollback or accept is expected";
        return stream.write_all(format!("{ERROR}{expected}\n").as_bytes());
    };
    let who = socket_peercred(stream).map_or_else(
        |_| "unknown".to_owned(),
        |c| format!("uid {} gid {} pid {}", c.uid.as_raw(), c.gid.as_raw(), c.pid.as_raw_nonzero()),
    );
    let (reply, replied) = sync_channel(1);
    let asked = events.send(Event::Asked { request, who, reply }).is_ok();
    let answer = if asked { replied.recv_timeout(PATIENCE).ok() } else { None };
    let text = match answer {
        Some(Ok(text)) => text,
        Some(Err(why)) => format!("{ERROR}{why}\n"),
        None => format!("{ERROR}no answer in time\n"),
    };
    stream.write_all(text.as_bytes())
}

/// Parses a request line; other bytes give no request.
fn parse(line: &[u8]) -> Option<Request> {
    let text = std::str::from_utf8(line).ok()?;
    let mut words = text.strip_suffix('\n')?.split(' ');
    let word = words.next()?;
    let number = |word: Option<&str>| word?.parse().ok();
    let mut request = match word {
        "status" => Request::Status(Form::Text),
        "explain" => Request::Explain(number(words.next())?, Form::Text),
        "pause" => Request::Pause,
        "resume" => Request::Resume,
        "propose" => Request::Propose,
        "deploy" => Request::Deploy(number(words.next())?),
        "rollback" => Request::Rollback,
        "accept" => Request::Accept,
        "hold" => {
            let (job, nodes) = (number(words.next())?, words.next()?.to_owned());
            Request::Hold { job, nodes }
        }
        _ => return None,
    };
    match (words.next(), &mut request) {
        (None, _) => Some(request),
        (Some("json"), Request::Status(form) | Request::Explain(_, form)) => {
            *form = Form::Json;
            words.next().is_none().then_some(request)
        }
        _ => None,
    }
}

/// Sends a request to the program that listens on a socket.
///
/// # Errors
/// If no program listens, or the reply is an error.
pub fn ask(socket: &Path, question: &str) -> Result<String, Error> {
    ask_within(socket, question, 2 * PATIENCE)
}

/// Maximum bytes of a reply that are read.
const MOST_ANSWER: usize = 64 << 20;

/// Sends a request to the program that listens on a socket, with a time limit.
///
/// # Errors
/// If no program listens or replies in time, or the reply is an error.
pub fn ask_within(socket: &Path, question: &str, patience: Duration) -> Result<String, Error> {
    let cannot = |e: io::Error| {
        let (what, hint) = match e.kind() {
            io::ErrorKind::NotFound => (
                "there is no such socket, so no `darkfiber operate` runs with this configuration",
                STARTS,
            ),
            io::ErrorKind::ConnectionRefused => {
                ("nobody listens there any more: the program that made it was killed", STARTS)
            }
            io::ErrorKind::PermissionDenied => (
                "you may not write to it",
                "ask as a member of the group of the socket, or as the user that the program runs as",
            ),
            io::ErrorKind::InvalidInput => ("no name of a socket", LENGTH),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => (
                "the program that listens there does not answer",
                "look at what it said last, and start it anew",
            ),
            _ => {
                return Error::input(format!("{}: {e}; a socket is expected", socket.display()))
                    .hint(STARTS);
            }
        };
        Error::input(format!("{}: {what}", socket.display())).hint(hint)
    };
    let end = Instant::now() + patience;
    let left = || end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    let mut stream = UnixStream::connect(socket).map_err(cannot)?;
    stream.set_write_timeout(Some(left())).map_err(cannot)?;
    // Where too many ask, the answer comes before the question, and nobody reads that.
    let asked = stream.write_all(format!("{question}\n").as_bytes());
    let (mut bytes, mut part) = (Vec::new(), [0; 16 << 10]);
    // A reply without end is not from our program.
    while bytes.len() < MOST_ANSWER {
        if Instant::now() >= end {
            return Err(cannot(io::ErrorKind::TimedOut.into()));
        }
        stream.set_read_timeout(Some(left())).map_err(cannot)?;
        match stream.read(&mut part) {
            Ok(0) => break,
            Ok(n) => bytes.extend_from_slice(&part[..n]),
            Err(e) if e.kind() == io::ErrorKind::ConnectionReset && !bytes.is_empty() => break,
            Err(e) => return Err(cannot(e)),
        }
    }
    if bytes.is_empty() {
        asked.map_err(cannot)?;
    }
    let text =
        String::from_utf8(bytes).map_err(|_| cannot(io::Error::other("the answer is no text")))?;
    match text.strip_prefix(ERROR) {
        Some(what) => Err(Error::input(what.trim_end())),
        None => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who asks while too many do hears that, and not that nobody is there.
    #[test]
    fn too_many_are_told_so() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("s");
        let (events, _nobody_answers) = sync_channel(1);
        open(&path, events).expect("a socket");
        let idle: Vec<UnixStream> =
            (0..AT_ONCE).map(|_| UnixStream::connect(&path).expect("it listens")).collect();
        let error = ask_within(&path, "status", Duration::from_secs(5)).expect_err("too many");
        assert!(error.to_string().contains(TOO_MANY), "{error}");
        drop(idle);
    }

    /// A reply that arrives a byte at a time does not extend the time limit.
    #[test]
    fn patience_is_for_the_whole_answer() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("s");
        let listener = UnixListener::bind(&path).expect("a socket");
        let slow = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("somebody asks");
            while stream.write_all(b"x").is_ok() {
                thread::sleep(Duration::from_millis(20));
            }
        });
        let started = Instant::now();
        let answer = ask_within(&path, "hold 1 cn1", Duration::from_millis(300));
        assert!(answer.is_err() && started.elapsed() < Duration::from_secs(5), "{answer:?}");
        slow.join().expect("it ended");
    }

    #[test]
    fn junk_asks_nothing() {
        assert_eq!(parse(b"explain 12\n"), Some(Request::Explain(12, Form::Text)));
        assert_eq!(parse(b"explain 12 json\n"), Some(Request::Explain(12, Form::Json)));
        assert_eq!(parse(b"deploy 3\n"), Some(Request::Deploy(3)));
        let nodes = "cn[1-3,7]".to_owned();
        assert_eq!(parse(b"hold 7 cn[1-3,7]\n"), Some(Request::Hold { job: 7, nodes }));
        for junk in [
            &b"status"[..],
            b"explain\n",
            b"explain x\n",
            b"\xff\xfe\n",
            b"",
            b"status now\n",
            b"status json json\n",
            b"pause json\n",
            b"deploy\n",
            b"hold 7\n",
            b"hold x cn1\n",
            b"hold 7 cn1 cn2\n",
        ] {
            assert_eq!(parse(junk), None);
        }
    }
}

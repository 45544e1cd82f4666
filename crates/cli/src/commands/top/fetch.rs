//! Asks the daemon on this host.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use darkfiber_daemon::Top;

use crate::failure::Failure;

/// How long an answer is waited for: longer than the daemon waits for itself.
const PATIENCE: Duration = Duration::from_secs(15);
/// A larger answer is none of ours.
const LARGE: u64 = 64 << 20;

/// What the daemon says now.
pub(super) fn fetch(address: SocketAddr) -> Result<Top, Failure> {
    let failed = |e: std::io::Error| {
        if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) {
            return Failure::input(format!("{address}: what listens there does not answer"))
                .hint("look at what `darkfiber operate` said last, and start it anew");
        }
        Failure::input(format!("{address}: {e}")).hint(
            "`darkfiber operate` must run on this host, with `http` in its configuration; or give its address",
        )
    };
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).map_err(failed)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
    stream.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
    // HTTP 1.0: the answer is not in pieces, and ends where it ends.
    let request = format!("GET /top HTTP/1.0\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).map_err(failed)?;
    let mut answer = Vec::new();
    stream.take(LARGE).read_to_end(&mut answer).map_err(failed)?;
    read(&answer).map_err(|why| {
        Failure::input(format!("{address}: {why}"))
            .hint("a `darkfiber operate` of this version is expected there")
    })
}

fn read(answer: &[u8]) -> Result<Top, String> {
    let text = String::from_utf8_lossy(answer);
    let (head, body) = text.split_once("\r\n\r\n").ok_or("no answer in HTTP")?;
    let status = head.split(' ').nth(1).unwrap_or_default();
    if status != "200" {
        return Err(format!("HTTP status {status}: {}", body.lines().next().unwrap_or_default()));
    }
    serde_json::from_str(body).map_err(|e| format!("what it answers is not what /top is: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers() {
        let good = serde_json::to_string(&Top::default()).expect("JSON");
        assert_eq!(read(format!("HTTP/1.0 200 OK\r\n\r\n{good}").as_bytes()), Ok(Top::default()));
        for (text, why) in [
            ("", "no answer in HTTP"),
            ("HTTP/1.0 404 Not Found\r\n\r\nthere are /status\n", "404: there are"),
            ("HTTP/1.0 200 OK\r\n\r\n{", "not what /top is"),
            ("HTTP/1.0 200 OK\r\n\r\n[1]", "not what /top is"),
        ] {
            let error = read(text.as_bytes()).expect_err(why);
            assert!(error.contains(why), "{error}");
        }
        assert!(read(b"\xff\xfe\x00").is_err());
    }
}

//! Notifications to systemd: ready, alive, stopping.

use std::ffi::OsStr;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Notifies systemd, if it listens; otherwise there is no error.
pub(crate) fn notify(text: &str) {
    let Some(name) = std::env::var_os("NOTIFY_SOCKET") else { return };
    let _nobody_may_listen = send(&name, text);
}

fn send(name: &OsStr, text: &str) -> std::io::Result<()> {
    let socket = UnixDatagram::unbound()?;
    // A reader that does not read must not block the owner of the state.
    socket.set_nonblocking(true)?;
    let address = match name.as_bytes() {
        [b'@', rest @ ..] => SocketAddr::from_abstract_name(rest)?,
        path => SocketAddr::from_pathname(OsStr::from_bytes(path))?,
    };
    socket.send_to_addr(text.as_bytes(), &address).map(drop)
}

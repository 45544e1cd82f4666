//! Whether standard output was open when the process began.
//!
//! ```
//! assert!(darkfiber_stdout::was_open());
//! ```
//!
//! Rust's runtime opens `/dev/null` in place of a closed standard stream, before `main`, so that no write to it ever fails: a
//! program whose results go nowhere (`>&-`) would report success. Later the two cannot be distinguished, because parents that want
//! silence pass `/dev/null`, too. So one flag is set before the runtime starts. That takes a function that the loader calls, and
//! the attribute for it counts as unsafe: it is in a crate of its own, so that all other crates can forbid unsafe code.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether standard output was closed when the loader called [`note`].
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether standard output was open when the process began. Where the loader is not Linux's, it is assumed to have
/// been open.
pub fn was_open() -> bool {
    !CLOSED.load(Ordering::Relaxed)
}

/// Reads the flags of standard output from the kernel, which fails only for a closed one. Runs before anything of Rust's
/// runtime, and uses nothing of it: one system call, one store.
#[cfg(target_os = "linux")]
extern "C" fn note() {
    let flags = rustix::io::fcntl_getfd(rustix::stdio::stdout());
    CLOSED.store(flags.is_err(), Ordering::Relaxed);
}

#[cfg(target_os = "linux")]
#[used]
#[expect(
    unsafe_code,
    reason = "the section holds pointers to functions of this type, and nothing else"
)]
// SAFETY: the loader calls each pointer of this section once, before `main`; `note` needs nothing that does not exist by
// then.
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = note;

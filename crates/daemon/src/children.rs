//! Process groups of running commands, so that none of them outlives the program.

use std::process::Child;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

/// Process groups of commands that run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Children(Arc<Mutex<Vec<Pid>>>);

impl Children {
    /// The process group of a command, registered until this is dropped.
    pub(crate) fn of(&self, child: &Child) -> Group {
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(pid);
        Group { pid, all: self.clone() }
    }

    /// Kills all of them.
    pub(crate) fn kill(&self) {
        for &pid in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let _it_may_have_ended = kill_process_group(pid, Signal::KILL);
        }
    }
}

/// The process group of a command.
pub(crate) struct Group {
    pid: Option<Pid>,
    all: Children,
}

impl Group {
    /// Kills all processes of the group.
    pub(crate) fn kill(&self) {
        if let Some(pid) = self.pid {
            let _it_may_have_ended = kill_process_group(pid, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let mut all = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|pid| Some(*pid) != self.pid);
    }
}

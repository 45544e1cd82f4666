//! What is kept of a run between two steps, and read when it is resumed.

use darkfiber_packetsim::{ConfigError, Observer, PacketsState, Processes, read, write};
use darkfiber_workload::play::PlayerState;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::pairs::Received;
use crate::striped::StripedState;

/// How a network was divided when its run began: into parts, for a number of processes. A run is resumed with the same parts.
pub(crate) type Divided = (usize, usize);

/// All of a run but its messages under way, which every process of it knows.
#[derive(Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) divided: Divided,
    pub(crate) player: PlayerState,
    pub(crate) received: Received,
}

/// The state of messages under way, which several processes may share. In the file it comes last.
pub(crate) trait WireState: Default + Serialize + DeserializeOwned {
    /// Lets the observer save it behind `head`, and says whether the run ends after that.
    fn keep(
        &self,
        head: &impl Serialize,
        _: Option<&dyn Processes>,
        (follow, ends): (&dyn Observer, bool),
    ) {
        follow.keep(&|out| write(&(head, self), out), ends);
    }

    /// Reads what was kept of a run: what stands in front, and the part of this process.
    ///
    /// # Errors
    /// If it is damaged, or there are too many processes.
    fn read<H: Serialize + DeserializeOwned>(
        _: Option<&dyn Processes>,
        follow: &dyn Observer,
    ) -> Result<Option<(H, Self)>, ConfigError> {
        read(follow)
    }
}

impl WireState for () {}

impl WireState for PacketsState {
    fn keep(
        &self,
        head: &impl Serialize,
        processes: Option<&dyn Processes>,
        (follow, ends): (&dyn Observer, bool),
    ) {
        match processes {
            None => follow.keep(&|out| write(&(head, self), out), ends),
            Some(all) => self.keep_shared(head, all, (follow, ends)),
        }
    }

    fn read<H: Serialize + DeserializeOwned>(
        processes: Option<&dyn Processes>,
        follow: &dyn Observer,
    ) -> Result<Option<(H, Self)>, ConfigError> {
        match processes {
            None => read(follow),
            Some(all) => Self::read_share(all, follow),
        }
    }
}

impl<S: WireState> WireState for StripedState<S> {
    fn keep(
        &self,
        head: &impl Serialize,
        processes: Option<&dyn Processes>,
        how: (&dyn Observer, bool),
    ) {
        self.inner.keep(&(head, &self.parts), processes, how);
    }

    fn read<H: Serialize + DeserializeOwned>(
        processes: Option<&dyn Processes>,
        follow: &dyn Observer,
    ) -> Result<Option<(H, Self)>, ConfigError> {
        let kept = S::read(processes, follow)?;
        Ok(kept.map(|((head, parts), inner)| (head, Self { inner, parts })))
    }
}

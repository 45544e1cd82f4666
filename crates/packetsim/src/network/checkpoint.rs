//! The state of a network, to be kept and restored: the same whatever number of processes it is written or read by.

use std::io::{self, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Agent, Network, OwnState};
use crate::ConfigError;
use crate::observer::{self, Observer};
use crate::outbound::Batch;
use crate::partition::PartitionState;
use crate::processes::{Processes, gather, shares};
use crate::routing::Routing;

/// The state of a network that changes during simulation, between two runs.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct NetworkState<S> {
    own: OwnState,
    /// By part, its state.
    workers: Vec<WorkerState<S>>,
    /// Number of parts, those of other processes included.
    #[serde(skip)]
    count: usize,
}

/// State of a part: of the partition, of its terminals, and the batches from others.
type WorkerState<S> = (PartitionState, S, Vec<Batch>);

/// What the first process asks another one for: its parts; or nothing any more, since the run is saved.
const PARTS: u8 = 1;
const NOTHING: u8 = 0;

impl<S: Serialize> NetworkState<S> {
    /// Has the first process save a network that several processes share: all its parts, behind `head`.
    /// One process at a time hands over its own, so that no memory needs to hold all of them.
    pub(crate) fn keep_shared(
        &self,
        head: &impl Serialize,
        processes: &dyn Processes,
        (follow, ends): (&dyn Observer, bool),
    ) {
        if processes.rank() > 0 {
            return self.hand_over(processes);
        }
        let others = 1..processes.size();
        let ask = |rank: usize, what: u8| processes.exchange(vec![(rank, vec![what])]);
        let write = |out: &mut dyn Write| {
            let mut written = self.write_own(Some((head, &self.own, self.count)), out);
            for rank in others.clone() {
                ask(rank, PARTS);
                // They are taken even if they cannot be written: the other process waits.
                let parts = processes.exchange(vec![(rank, Vec::new())]);
                written = written.and_then(|()| out.write_all(&parts[0]));
            }
            written
        };
        follow.keep(&write, ends);
        for rank in others {
            ask(rank, NOTHING);
        }
    }

    /// Gives the parts of this process to the first one if it asks for them, until the run is saved.
    fn hand_over(&self, processes: &dyn Processes) {
        while processes.exchange(vec![(0, Vec::new())])[0] == [PARTS] {
            let mut parts = Vec::new();
            self.write_own(None::<()>, &mut parts).expect("memory takes it");
            processes.exchange(vec![(0, parts)]);
        }
    }

    /// Writes the parts of this process, behind a head if there is one.
    fn write_own(&self, head: Option<impl Serialize>, out: &mut dyn Write) -> io::Result<()> {
        if let Some(head) = head {
            observer::write(&head, out)?;
        }
        self.workers.iter().try_for_each(|worker| observer::write(worker, out))
    }
}

/// Reads the saved state of a run that several processes are to resume: what stands in front, and the network with the parts of
/// this process. All of them read the same file, whatever number of processes wrote it.
///
/// # Errors
/// In all processes, if in one of them it is damaged or another one, or there are fewer parts than processes.
pub(crate) fn read_share<H, S>(
    processes: &dyn Processes,
    follow: &dyn Observer,
) -> Result<Option<(H, NetworkState<S>)>, ConfigError>
where
    H: Serialize + DeserializeOwned,
    S: DeserializeOwned,
{
    let read = read_own::<H, S>(processes, follow);
    // What each process has found: why it cannot read it, or else what stands in front.
    let found = match &read {
        Ok(None) => Ok(None),
        Ok(Some((head, _))) => Ok(Some(postcard::to_stdvec(head).expect("in memory"))),
        Err(e) => Err(e.0.clone()),
    };
    let all = gather(processes, &found);
    for (rank, other) in all.iter().enumerate() {
        match other {
            Err(e) => return Err(ConfigError(e.clone())),
            Ok(_) if *other != all[0] => {
                return Err(ConfigError(format!(
                    "process {rank} does not find the same saved run as process 0: keep it in a folder that all nodes share"
                )));
            }
            Ok(_) => {}
        }
    }
    read
}

fn read_own<H: DeserializeOwned, S: DeserializeOwned>(
    processes: &dyn Processes,
    follow: &dyn Observer,
) -> Result<Option<(H, NetworkState<S>)>, ConfigError> {
    let Some(mut input) = follow.kept() else { return Ok(None) };
    let (head, own, count): (H, OwnState, usize) = observer::read_next(&mut input)?;
    let size = processes.size();
    if count < size {
        let (parts, most) = match count {
            1 => ("1 part".to_owned(), "go on without --mpi".to_owned()),
            _ => (format!("{count} parts"), format!("start {count} at most")),
        };
        return Err(ConfigError(format!(
            "the saved run is in {parts}, which {size} processes cannot share: {most}, or remove it to start over"
        )));
    }
    let shares = shares(count, size);
    let mine = shares[processes.rank()]..shares[processes.rank() + 1];
    let mut workers = Vec::new();
    for part in 0..mine.end {
        let state: WorkerState<S> = observer::read_next(&mut input)?;
        if mine.contains(&part) {
            workers.push(state);
        }
    }
    Ok(Some((head, NetworkState { own, workers, count })))
}

impl<R: Routing, A: Agent> Network<'_, R, A> {
    /// Takes the changing state out: the network is unusable until [`Network::restore`].
    #[inline(never)]
    pub(crate) fn take(&mut self) -> NetworkState<A::State> {
        let count = self.firsts.len() - 1;
        let mut state = NetworkState { own: OwnState::default(), workers: Vec::new(), count };
        self.swap(&mut state.own);
        for w in &mut self.workers {
            let mut part =
                (PartitionState::default(), A::State::default(), std::mem::take(&mut w.mail));
            w.part.swap(&mut part.0);
            w.agent.swap(&mut part.1);
            state.workers.push(part);
        }
        state
    }

    /// Whether a state is of this network, in all processes: as many parts and ports, and all that it names is there.
    #[inline(never)]
    pub(crate) fn fits(&self, state: &NetworkState<A::State>) -> bool {
        let (ports, terminals) = (self.net.port_count() as u32, self.net.terminal_count() as u32);
        let is_mail = |m: &Batch| {
            m.packets.iter().all(|(_, port, p)| *port < ports && p.from.max(p.to) < terminals)
                && m.events.iter().all(|(_, e)| e.place() < ports.max(terminals))
                && m.notes.iter().all(|(_, stop, n)| {
                    n.source.max(n.endpoint) < terminals && stop.is_among(terminals, ports)
                })
        };
        let fits = state.workers.len() == self.workers.len()
            && state.own.board.is_like(&self.board)
            && self.workers.iter().zip(&state.workers).all(|(w, (part, agent, mail))| {
                w.part.fits(part)
                    && w.agent.fits(agent)
                    && mail.len() == w.mail.len()
                    && mail.iter().all(is_mail)
            });
        self.sum(u64::from(!fits)) == 0
    }

    /// Restores the state of this network, or of another one of the same fabric, switches, routing and parts.
    #[inline(never)]
    pub(crate) fn restore(&mut self, state: NetworkState<A::State>) {
        let NetworkState { mut own, workers, .. } = state;
        self.swap(&mut own);
        for (w, (mut part, mut agent, mail)) in self.workers.iter_mut().zip(workers) {
            w.part.swap(&mut part);
            w.agent.swap(&mut agent);
            w.mail = mail;
        }
    }
}

//! Exchange of a process with the others that simulate the same network.
//!
//! A process has consecutive parts. Between processes the same holds as between parts: they are independent for as long as the
//! quickest cable between two of them takes. At the end of each such window a process sends one message to each neighbour: the
//! next tick in which something happens, as far as it knows, and its batches.

use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::outbound::Batch;
use crate::processes::{Processes, gather, shares};
use crate::{ConfigError, Net};

/// The other processes of a network in several.
#[derive(Debug)]
pub(crate) struct Remote<'n> {
    processes: &'n dyn Processes,
    /// By process, its first part; and the number of parts.
    shares: Vec<usize>,
    /// By process, its first port; and the number of ports.
    ports: Vec<u32>,
    /// The processes that anything of this one goes to, by rising rank.
    neighbours: Vec<usize>,
    /// Whether all processes are neighbours of each other.
    all_joined: bool,
    /// Ticks that processes need not wait for each other.
    window: u64,
}

/// Bytes in front of the batches of a message: the next tick.
const HEADER: usize = 8;

impl<'n> Remote<'n> {
    /// The share of this process in a network whose parts begin at these switches. With `notes`, messages of congestion control go
    /// from any process to any other, without cables.
    pub(crate) fn new(
        processes: &'n dyn Processes,
        net: &Net,
        firsts: &[u32],
        notes: bool,
    ) -> Result<Self, ConfigError> {
        let (rank, size, parts) = (processes.rank(), processes.size(), firsts.len() - 1);
        if parts < size {
            return Err(ConfigError(format!(
                "{size} processes cannot share a network of {}: start {parts} at most",
                if parts == 1 { "one switch".to_owned() } else { format!("{parts} switches") }
            )));
        }
        let shares = shares(parts, size);
        let switches: Vec<u32> = shares.iter().map(|&part| firsts[part]).collect();
        // Cables join processes both ways.
        let process_of = |s: u32| switches.partition_point(|first| *first <= s) - 1;
        let mut joined = vec![notes; size * size];
        for port in 0..net.port_count() as u32 {
            if let Some(next) = net.next(port) {
                joined[process_of(net.port(port).switch) * size + process_of(next)] = true;
            }
        }
        let all_joined = (0..size * size).all(|pair| joined[pair] || pair % size == pair / size);
        let neighbours = (0..size).filter(|&k| k != rank && joined[rank * size + k]).collect();
        let ports = switches.iter().map(|&s| net.base(s)).collect();
        Ok(Self { processes, shares, ports, neighbours, all_joined, window: 1 })
    }

    /// Parts of this process.
    pub(crate) fn parts(&self) -> Range<usize> {
        let rank = self.processes.rank();
        self.shares[rank]..self.shares[rank + 1]
    }

    /// The first port of each process, and the number of ports.
    pub(crate) fn ports(&self) -> &[u32] {
        &self.ports
    }

    /// The first part of each process but the first.
    pub(crate) fn boundaries(&self) -> &[usize] {
        &self.shares[1..self.shares.len() - 1]
    }

    /// Ticks that processes need not wait for each other.
    pub(crate) fn window(&self) -> u64 {
        self.window
    }

    /// Sets the number of ticks that processes need not wait for each other.
    pub(crate) fn with_window(self, window: u64) -> Self {
        Self { window, ..self }
    }

    /// All processes, as this one sees them.
    pub(crate) fn processes(&self) -> &'n dyn Processes {
        self.processes
    }

    /// Sends batches, each with the part that it is from and the part that it is for, and leaves them empty; takes those of
    /// others. `next` is the next tick of this process. Returns that of all.
    pub(crate) fn exchange<'b>(
        &self,
        mut next: u64,
        batches: impl Iterator<Item = (usize, usize, &'b mut Batch)>,
        mut take: impl FnMut(usize, usize, Batch),
    ) -> u64 {
        let mut messages: Vec<(usize, Vec<u8>)> =
            self.neighbours.iter().map(|&k| (k, vec![0; HEADER])).collect();
        for (from, to, batch) in batches {
            let Some(first) = batch.first() else { continue };
            next = next.min(first);
            let process = self.shares.partition_point(|part| *part <= to) - 1;
            let at = self.neighbours.binary_search(&process).expect("no cable leads elsewhere");
            let bytes = std::mem::take(&mut messages[at].1);
            messages[at].1 = postcard::to_extend(&(from, to, &*batch), bytes).expect("in memory");
            batch.clear();
        }
        for (_, bytes) in &mut messages {
            bytes[..HEADER].copy_from_slice(&next.to_le_bytes());
        }
        for bytes in self.processes.exchange(messages) {
            let (header, mut rest) = bytes.split_first_chunk().expect("a process sends a header");
            next = next.min(u64::from_le_bytes(*header));
            while !rest.is_empty() {
                let (batch, left) = postcard::take_from_bytes(rest).expect("another sent it");
                let (from, to, batch) = batch;
                take(from, to, batch);
                rest = left;
            }
        }
        // Where all are neighbours everybody has heard from everybody.
        if self.all_joined { next } else { self.processes.min(next) }
    }

    /// A value of every process, by rank.
    pub(crate) fn gather<T: Serialize + DeserializeOwned>(&self, value: &T) -> Vec<T> {
        gather(self.processes, value)
    }
}

//! Processes of one packet simulation that are threads, and know of each other by channels only.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

use darkfiber_packetsim::Processes;

/// Runs a function in this number of processes; returns what each returns, by rank.
///
/// # Panics
/// If one of them does.
pub fn in_processes<T: Send>(size: usize, one: impl Fn(ThreadProcess) -> T + Sync) -> Vec<T> {
    let one = &one;
    std::thread::scope(|scope| {
        let all: Vec<_> =
            ThreadProcess::all(size).into_iter().map(|p| scope.spawn(move || one(p))).collect();
        all.into_iter().map(|thread| thread.join().expect("nobody panicked")).collect()
    })
}

/// A process, and its channels to and from the others, by rank.
#[derive(Debug)]
pub struct ThreadProcess {
    rank: usize,
    to: Vec<Mutex<Sender<Vec<u8>>>>,
    from: Vec<Mutex<Receiver<Vec<u8>>>>,
}

impl ThreadProcess {
    /// As many as are wanted.
    fn all(size: usize) -> Vec<Self> {
        let mut to: Vec<Vec<_>> = (0..size).map(|_| Vec::new()).collect();
        let mut from: Vec<Vec<_>> = (0..size).map(|_| Vec::new()).collect();
        for to in &mut to {
            for from in &mut from {
                let (send, receive) = channel();
                to.push(Mutex::new(send));
                from.push(Mutex::new(receive));
            }
        }
        let ends = to.into_iter().zip(from).enumerate();
        ends.map(|(rank, (to, from))| Self { rank, to, from }).collect()
    }

    fn with_all(&self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let others = (0..self.to.len()).filter(|k| *k != self.rank);
        let mut all = self.exchange(others.map(|k| (k, bytes.to_vec())).collect());
        all.insert(self.rank, bytes.to_vec());
        all
    }

    fn numbers(&self, number: u64) -> impl Iterator<Item = u64> {
        let all = self.with_all(&number.to_le_bytes());
        all.into_iter().map(|b| u64::from_le_bytes(b.try_into().expect("eight bytes")))
    }
}

impl Processes for ThreadProcess {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn exchange(&self, messages: Vec<(usize, Vec<u8>)>) -> Vec<Vec<u8>> {
        let ranks: Vec<usize> = messages.iter().map(|(rank, _)| *rank).collect();
        assert!(ranks.is_sorted() && !ranks.contains(&self.rank));
        for (rank, bytes) in messages {
            let to = self.to[rank].lock().expect("nobody panicked");
            to.send(bytes).expect("it is there");
        }
        let from = |rank: usize| self.from[rank].lock().expect("nobody panicked").recv();
        ranks.into_iter().map(|rank| from(rank).expect("it is there")).collect()
    }

    fn min(&self, number: u64) -> u64 {
        self.numbers(number).min().unwrap_or(number)
    }

    fn sum(&self, number: u64) -> u64 {
        self.numbers(number).fold(0, u64::wrapping_add)
    }

    fn gather(&self, bytes: Vec<u8>) -> Vec<Vec<u8>> {
        self.with_all(&bytes)
    }
}

//! What all switches tell of their outputs now and then.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::OutPort;

/// By port of the network, bytes that wait for it or are on their way from it, as they were when they were last told.
#[derive(Debug, Default)]
pub struct Board(Vec<AtomicU32>);

impl Board {
    /// For so many ports; nothing waits.
    pub(crate) fn new(ports: usize) -> Self {
        Self((0..ports).map(|_| AtomicU32::new(0)).collect())
    }

    /// Ports from `first` on tell of themselves. Nobody may read at the same time.
    pub(crate) fn tell(&self, first: u32, outputs: &[OutPort]) {
        for (told, o) in self.0[first as usize..].iter().zip(outputs) {
            told.store(o.used + o.queued, Ordering::Relaxed);
        }
    }

    /// What a port told.
    #[inline]
    pub(crate) fn of(&self, port: u32) -> u32 {
        self.0[port as usize].load(Ordering::Relaxed)
    }
}

//! What all switches tell of their outputs now and then.

use std::sync::atomic::{AtomicU32, Ordering};

use serde::{Deserialize, Serialize};

use crate::{Net, OutPort};

/// By port of the network, bytes that wait for it (see [`crate::routing::Here::pressing`]), as they were when they were last
/// told.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Board(Vec<AtomicU32>);

impl Board {
    /// For so many ports; nothing waits.
    pub(crate) fn new(ports: usize) -> Self {
        Self((0..ports).map(|_| AtomicU32::new(0)).collect())
    }

    /// Ports from `first` on tell of themselves. Nobody may read at the same time.
    pub(crate) fn tell(&self, net: &Net, first: u32, outputs: &[OutPort]) {
        for (port, o) in (first..).zip(outputs) {
            self.0[port as usize].store(o.pressing(net.port(port)), Ordering::Relaxed);
        }
    }

    /// What a port told.
    #[inline]
    pub(crate) fn of(&self, port: u32) -> u32 {
        self.0[port as usize].load(Ordering::Relaxed)
    }
}

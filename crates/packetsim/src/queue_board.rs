//! Queue lengths that all switches report at intervals.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::{Deserialize, Serialize};

use crate::switch::Waiting;
use crate::{Net, OutPort};

/// By port of the network and traffic class, bytes that wait for it (see [`crate::routing::SwitchView::pressing`]), as last
/// reported.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct QueueBoard {
    classes: usize,
    told: Vec<AtomicU32>,
}

impl QueueBoard {
    /// A board for this number of ports and classes; nothing waits.
    pub(crate) fn new(ports: usize, classes: usize) -> Self {
        Self { classes, told: (0..ports * classes).map(|_| AtomicU32::new(0)).collect() }
    }

    /// Whether it is of as many ports and classes as another.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        (self.classes, self.told.len()) == (other.classes, other.told.len())
    }

    /// Reports the ports from `first` on, by class if there are several. There must be no concurrent readers.
    pub(crate) fn tell(&self, net: &Net, first: u32, outputs: &[OutPort], of_classes: &[Waiting]) {
        for (i, (port, o)) in (first..).zip(outputs).enumerate() {
            let all = port as usize * self.classes;
            if of_classes.is_empty() {
                self.told[all].store(o.pressing(net.port(port)), Ordering::Relaxed);
            }
            for (c, of) in of_classes.iter().skip(i * self.classes).take(self.classes).enumerate() {
                self.told[all + c].store(of.pressing(net.port(port)), Ordering::Relaxed);
            }
        }
    }

    /// The reports of some ports, as they are sent to other processes.
    pub(crate) fn bytes(&self, ports: Range<u32>) -> Vec<u8> {
        let cells = ports.start as usize * self.classes..ports.end as usize * self.classes;
        let cells = self.told[cells].iter().map(|cell| cell.load(Ordering::Relaxed));
        cells.flat_map(u32::to_le_bytes).collect()
    }

    /// Takes the reports of ports from `first` on that another process has sent. There must be no concurrent readers.
    pub(crate) fn take(&self, first: u32, bytes: &[u8]) {
        let cells = &self.told[first as usize * self.classes..];
        for (cell, bytes) in cells.iter().zip(bytes.as_chunks().0) {
            cell.store(u32::from_le_bytes(*bytes), Ordering::Relaxed);
        }
    }

    /// The last report of a port and class.
    #[inline]
    pub(crate) fn of(&self, port: u32, class: u8) -> u32 {
        self.told[port as usize * self.classes + usize::from(class)].load(Ordering::Relaxed)
    }
}

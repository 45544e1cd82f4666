//! How a network is divided into parts, and for how long they are independent of each other.

use std::ops::Range;
use std::sync::Arc;

use crate::cut::cut;
use crate::partition::Lengths;
use crate::processes::Parts;
use crate::remote::Remote;
use crate::routing::Distances;
use crate::{ConfigError, Congestion, Net, SwitchModel};

/// The parts of a network, whatever its routing.
pub(super) struct Division<'n> {
    pub(super) lengths: Lengths,
    /// The first switch of each part, those of other processes included, and the number of switches.
    pub(super) firsts: Vec<u32>,
    /// Numbers of the parts of this process.
    pub(super) mine: Range<usize>,
    /// The first port of each part.
    pub(super) ports: Vec<u32>,
    /// The ways of notifications, if they take time.
    pub(super) note_paths: Option<Arc<Distances>>,
    /// Bytes of a packet at least, in its frame.
    pub(super) shortest: u32,
    /// Ticks that parts of this process need not wait for each other.
    pub(super) window: u64,
    /// The other processes, if there are any.
    pub(super) remote: Option<Remote<'n>>,
}

impl<'n> Division<'n> {
    /// Divides a network whose packets have at least and at most these bytes; `notes` says whether sources are notified.
    pub(super) fn new(
        net: &'n Net,
        micro: &SwitchModel,
        lanes: u8,
        [shortest, bytes]: [u32; 2],
        parts: Parts<'n>,
        notes: bool,
    ) -> Result<Self, ConfigError> {
        let lengths = Lengths::new(net, micro, lanes, bytes)?;
        let (firsts, across) = cut(net, parts.count, parts.blocks);
        let others = parts.processes.filter(|processes| processes.size() > 1);
        let remote = others.map(|all| Remote::new(all, net, &firsts, notes)).transpose()?;
        let mine = remote.as_ref().map_or(0..firsts.len() - 1, Remote::parts);
        let ports = firsts[..firsts.len() - 1].iter().map(|&s| net.base(s)).collect();
        let priced = micro.congestion != Congestion::None && micro.tuning.notes.are_priced();
        let note_paths = priced.then(|| Arc::new(Distances::new(net)));
        let shortest = micro.framing.frame(shortest).max(lengths.least).min(lengths.piece);
        // A head takes the pipeline and a cable; credits are returned when a packet is through, and a cable later.
        let through = net.quickest(shortest) / u64::from(micro.speedup) + micro.credit;
        let ahead = micro.pipeline.min(through);
        let window = |boundaries: &mut dyn Iterator<Item = usize>| {
            let quickest = boundaries.map(|part| across[part - 1]).min().unwrap_or(u32::MAX);
            ((u64::from(quickest) + ahead) / micro.tick).max(1)
        };
        let remote = remote.map(|remote| {
            let far = window(&mut remote.boundaries().iter().copied());
            remote.with_window(far)
        });
        let window = window(&mut (mine.start + 1..mine.end));
        Ok(Self { lengths, firsts, mine, ports, note_paths, shortest, window, remote })
    }
}

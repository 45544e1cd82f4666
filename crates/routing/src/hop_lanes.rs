//! Lanes that switches choose by input and output port.

use darkfiber_fabric::{Fabric, SwitchId, TerminalId};

/// The virtual lane of a packet on the channel behind an output port, by its input port: the content of the SL2VL
/// tables of switches where every service level is mapped alike. A table is independent of the lane in which a
/// packet arrived.
///
/// Ports are physical port numbers; port 0 is the switch's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HopLanes {
    /// By switch, where its table begins; one more for the end.
    start: Vec<usize>,
    /// By switch, ports and port 0.
    width: Vec<usize>,
    /// `lane[start + input * width + output]`.
    lane: Vec<u8>,
}

impl HopLanes {
    /// All in lane 0.
    pub fn new(fabric: &Fabric) -> Self {
        let width: Vec<usize> =
            fabric.switches().iter().map(|s| usize::from(s.ports) + 1).collect();
        let mut start = Vec::with_capacity(width.len() + 1);
        let mut total = 0;
        for w in &width {
            start.push(total);
            total += w * w;
        }
        start.push(total);
        Self { start, width, lane: vec![0; total] }
    }

    #[inline]
    fn slot(&self, s: SwitchId, input: u8, output: u8) -> usize {
        let s = s.index();
        self.start[s] + usize::from(input) * self.width[s] + usize::from(output)
    }

    /// The lane of packets that enter at port `input` of a switch and leave at port `output`.
    #[inline]
    pub fn get(&self, s: SwitchId, input: u8, output: u8) -> u8 {
        self.lane[self.slot(s, input, output)]
    }

    /// Sets the lane of packets that enter at port `input` of a switch and leave at port `output`.
    pub fn set(&mut self, s: SwitchId, input: u8, output: u8, lane: u8) {
        let slot = self.slot(s, input, output);
        self.lane[slot] = lane;
    }

    /// Takes the table of a switch of another fabric that has as many ports.
    pub(crate) fn take(&mut self, s: SwitchId, from: &Self, other: SwitchId) {
        let own = self.start[s.index()]..self.start[s.index() + 1];
        let others = from.start[other.index()]..from.start[other.index() + 1];
        self.lane[own].copy_from_slice(&from.lane[others]);
    }

    /// The lane of packets from a terminal that leave its switch at port `output`.
    #[inline]
    pub fn entering(&self, fabric: &Fabric, source: TerminalId, output: u8) -> u8 {
        let terminal = fabric.terminal(source);
        self.get(terminal.switch, terminal.switch_port, output)
    }

    /// The highest lane in a table, and one more.
    pub fn count(&self) -> usize {
        self.lane.iter().copied().max().map_or(1, |lane| usize::from(lane) + 1)
    }

    /// Whether all is in lane 0.
    pub fn is_one(&self) -> bool {
        self.lane.iter().all(|&lane| lane == 0)
    }
}

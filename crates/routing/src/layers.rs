//! Virtual layers of packets: by pair, or lane by lane as switches choose by input and output port, and perhaps by service level.

use darkfiber_fabric::{Fabric, SwitchId, TerminalId};

/// Virtual layer (service level = virtual lane) of a packet: by its source and the LID that it
/// is sent to, of which every one has a table row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layers {
    /// All in layer 0.
    One,
    /// By destination row: `layer[row]`.
    ByRow(Vec<u8>),
    /// By source switch and destination row: `layer[row * switches + source switch]`.
    BySourceSwitch(Vec<u8>),
    /// By source terminal and destination row: `layer[row * terminals + source terminal]`. Engines never need
    /// that; the answers of OpenSM's `path_sl` can be any such matrix.
    BySource(Vec<u8>),
    /// On each channel the switch before it chooses the lane by its input and output port, whatever the service level, or by that,
    /// too. A path changes lanes along its length, so it belongs to no layer.
    ByHop(HopLanes),
}

impl Layers {
    /// The lanes that switches choose, where they do.
    #[inline]
    pub fn by_hop(&self) -> Option<&HopLanes> {
        match self {
            Self::ByHop(lanes) => Some(lanes),
            _ => None,
        }
    }

    /// The service levels of pairs: the layers themselves, unless switches choose lanes; then those that have tables, or level 0 for all.
    #[inline]
    pub(crate) fn levels(&self) -> &Self {
        match self {
            Self::ByHop(lanes) => lanes.levels().unwrap_or(&Self::One),
            levels => levels,
        }
    }
}

/// The virtual lane of a packet on the channel behind an output port, by its input port: the content of the SL2VL
/// tables of switches. A table is independent of the lane in which a packet arrived. Either every service level is mapped alike, or
/// each has a table, and pairs have levels.
///
/// Ports are physical port numbers; port 0 is the switch's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HopLanes {
    /// By switch, where its table begins; one more for the end.
    start: Vec<usize>,
    /// By switch, ports and port 0.
    width: Vec<usize>,
    /// `lane[start + input * width + output]`, behind those of lower levels.
    lane: Vec<u8>,
    /// The service level of each pair, where levels have tables of their own.
    levels: Option<Box<Layers>>,
}

/// InfiniBand has this many service levels.
pub const LEVELS: u8 = 16;

impl HopLanes {
    /// All in lane 0, and a table for each service level; pairs have these levels, which are no lanes by hop themselves.
    pub fn with_levels(fabric: &Fabric, levels: Layers) -> Self {
        let one = Self::new(fabric);
        let lane = vec![0; one.lane.len() * usize::from(LEVELS)];
        Self { lane, levels: Some(Box::new(levels)), ..one }
    }

    /// The service level of each pair, where levels have tables of their own.
    pub fn levels(&self) -> Option<&Layers> {
        self.levels.as_deref()
    }

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
        Self { start, width, lane: vec![0; total], levels: None }
    }

    /// Entries of one level.
    fn size(&self) -> usize {
        self.start.last().copied().unwrap_or(0)
    }

    /// Number of tables of a switch: one, or one for each level.
    fn tables(&self) -> usize {
        if self.levels.is_some() { LEVELS.into() } else { 1 }
    }

    #[inline]
    fn slot(&self, level: u8, s: SwitchId, input: u8, output: u8) -> usize {
        let first = if self.levels.is_some() { usize::from(level) * self.size() } else { 0 };
        let s = s.index();
        first + self.start[s] + usize::from(input) * self.width[s] + usize::from(output)
    }

    /// The lane of packets of a service level that enter at port `input` of a switch and leave at port `output`.
    #[inline]
    pub fn get(&self, level: u8, s: SwitchId, input: u8, output: u8) -> u8 {
        self.lane[self.slot(level, s, input, output)]
    }

    /// Sets the lane of packets of a service level that enter at port `input` of a switch and leave at port `output`; of all levels
    /// where they are alike.
    pub fn set(&mut self, level: u8, s: SwitchId, input: u8, output: u8, lane: u8) {
        let slot = self.slot(level, s, input, output);
        self.lane[slot] = lane;
    }

    /// Takes the tables of a switch of another fabric that has as many ports and as many tables.
    pub(crate) fn take(&mut self, s: SwitchId, from: &Self, other: SwitchId) {
        for table in 0..self.tables() {
            let (here, there) = (table * self.size(), table * from.size());
            let own = here + self.start[s.index()]..here + self.start[s.index() + 1];
            let others = there + from.start[other.index()]..there + from.start[other.index() + 1];
            self.lane[own].copy_from_slice(&from.lane[others]);
        }
    }

    /// The lane of packets of a service level from a terminal that leave its switch at port `output`.
    #[inline]
    pub fn entering(&self, fabric: &Fabric, level: u8, source: TerminalId, output: u8) -> u8 {
        let terminal = fabric.terminal(source);
        self.get(level, terminal.switch, terminal.switch_port, output)
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

//! LIDs in blocks by orthant, so that a LID determines the orthant of its port.

use darkfiber_fabric::{Fabric, SwitchId, TerminalId};

use crate::{LidError, Lids, MAX_UNICAST_LID, Orthants};

/// Layout of the blocks of LIDs (Domke et al., "HyperX Topology: First At-Scale Implementation and Comparison
/// to the Fat-Tree", SC'19, section 3.2.4, note 9, and artifact description): terminals of orthant `q` have LIDs
/// in `q stride ..`, its switches have them in `switches + q stride ..`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LidBlocks {
    /// LIDs of a block.
    pub stride: u16,
    /// First LID of the blocks of switches.
    pub switches: u16,
}

impl LidBlocks {
    /// LIDs of a block, as in the paper.
    pub const STRIDE: u16 = 1000;
    /// First LID of the blocks of switches, as in the paper.
    pub const SWITCHES: u16 = 10_000;

    /// The orthant of the port that owns a LID.
    pub fn orthant_of(self, lid: u16) -> usize {
        let block = lid.checked_sub(self.switches).unwrap_or(lid);
        usize::from(block / self.stride.max(1))
    }
}

impl Lids {
    /// LIDs by orthant, in blocks of `stride` ([`LidBlocks::STRIDE`] is the default), within a block in the order of
    /// ids. LID 0 is reserved, so that orthant 0 begins with LID `2^lmc`.
    ///
    /// Blocks that are too small grow to the next multiple of `stride` that suffices, or, where the LID space
    /// does not allow that, to the least that does. Switches begin at [`LidBlocks::SWITCHES`], or behind the
    /// blocks of terminals if these end later.
    ///
    /// # Errors
    /// If the LMC is above 7, or the unicast space ends before the last block.
    ///
    /// # Panics
    /// If the orthants are those of a fabric with fewer switches.
    pub fn by_orthant(
        fabric: &Fabric,
        orthants: &Orthants,
        lmc: u8,
        stride: u16,
    ) -> Result<(Self, LidBlocks), LidError> {
        if lmc > 7 {
            return Err(LidError::Lmc(lmc));
        }
        let plan = BlockPlan::new(fabric, orthants, lmc);
        let usual = usize::from(stride.max(1));
        let multiples = (1..).map(|m| m * usual).take_while(|&stride| stride <= SPACE);
        let least = (1..=SPACE).filter(|&stride| plan.suffices(stride)).take(1);
        let stride = multiples
            .chain(least)
            .find(|&stride| plan.suffices(stride) && plan.end(stride) <= SPACE)
            .ok_or_else(|| plan.error())?;
        let first_switch = plan.first_switch(stride);
        let mut next: Vec<usize> = (0..orthants.count()).map(|q| plan.first(q, stride)).collect();
        let mut terminals = vec![0; fabric.terminal_count()];
        for t in (0..fabric.terminal_count()).map(TerminalId::new) {
            let lid = &mut next[orthants.of(fabric.terminal(t).switch)];
            terminals[t.index()] = *lid as u16;
            *lid += plan.width;
        }
        let mut next: Vec<usize> =
            (0..orthants.count()).map(|q| first_switch + q * stride).collect();
        let mut switches = vec![0; fabric.switch_count()];
        for s in (0..fabric.switch_count()).map(SwitchId::new) {
            let lid = &mut next[orthants.of(s)];
            switches[s.index()] = *lid as u16;
            *lid += 1;
        }
        let blocks = LidBlocks { stride: stride as u16, switches: first_switch as u16 };
        Ok((Self::from_bases(lmc, &terminals, &switches)?, blocks))
    }
}

/// LIDs that there are, 0 included.
const SPACE: usize = MAX_UNICAST_LID as usize + 1;

/// Number of ports to be placed.
struct BlockPlan {
    /// LIDs of a terminal.
    width: usize,
    /// Number of terminals by orthant.
    terminals: Vec<usize>,
    switches: Vec<usize>,
}

impl BlockPlan {
    fn new(fabric: &Fabric, orthants: &Orthants, lmc: u8) -> Self {
        let mut plan = Self {
            width: 1 << lmc,
            terminals: vec![0; orthants.count()],
            switches: vec![0; orthants.count()],
        };
        for s in (0..fabric.switch_count()).map(SwitchId::new) {
            plan.terminals[orthants.of(s)] += fabric.terminals_on(s).len();
            plan.switches[orthants.of(s)] += 1;
        }
        plan
    }

    /// First LID for terminals of orthant `q`: aligned, and not 0.
    fn first(&self, q: usize, stride: usize) -> usize {
        (q * stride).max(1).next_multiple_of(self.width)
    }

    fn first_switch(&self, stride: usize) -> usize {
        usize::from(LidBlocks::SWITCHES).max(self.terminals.len() * stride)
    }

    /// Whether every port is within its block.
    fn suffices(&self, stride: usize) -> bool {
        let fits = |(q, &n): (usize, &usize)| {
            n == 0 || self.first(q, stride) + n * self.width <= (q + 1) * stride
        };
        self.terminals.iter().enumerate().all(fits) && self.switches.iter().all(|&n| n <= stride)
    }

    /// The LID behind the last one in use.
    fn end(&self, stride: usize) -> usize {
        let end = |(q, &n): (usize, &usize)| {
            if n == 0 { 0 } else { self.first_switch(stride) + q * stride + n }
        };
        self.switches.iter().enumerate().map(end).max().unwrap_or(0)
    }

    fn error(&self) -> LidError {
        let terminals = self.terminals.iter().max().map_or(0, |n| n * self.width);
        let largest = terminals.max(self.switches.iter().copied().max().unwrap_or(0));
        LidError::Blocks { orthants: self.terminals.len(), largest }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use darkfiber_fabric::{Shape, open};

    use super::*;

    fn given(spec: &str, lmc: u8) -> Result<(Lids, LidBlocks), LidError> {
        let on = open(spec).expect("a spec");
        let Some(Shape::Grid(grid)) = &on.shape else { panic!("{spec} is no lattice") };
        let orthants = Orthants::new(grid).expect("few dimensions");
        let (lids, blocks) = Lids::by_orthant(&on.fabric, &orthants, lmc, LidBlocks::STRIDE)?;
        let mut seen = BTreeSet::new();
        for t in (0..on.fabric.terminal_count()).map(TerminalId::new) {
            let base = lids.terminal(t);
            assert!(base > 0 && usize::from(base).is_multiple_of(lids.width()), "{spec}: {base}");
            for lid in base..base + lids.width() as u16 {
                assert!(seen.insert(lid), "{spec}: {lid} twice");
                assert_eq!(blocks.orthant_of(lid), orthants.of(on.fabric.terminal(t).switch));
            }
        }
        for s in (0..on.fabric.switch_count()).map(SwitchId::new) {
            assert!(seen.insert(lids.switch(s)), "{spec}");
            assert_eq!(blocks.orthant_of(lids.switch(s)), orthants.of(s), "{spec}");
            assert!(lids.switch(s) >= blocks.switches, "{spec}");
        }
        Ok((lids, blocks))
    }

    #[test]
    fn t2hx_has_the_lids_of_the_paper() {
        let (lids, blocks) = given("@t2hx-hyperx", 2).expect("168 hosts in a block for 250");
        assert_eq!(blocks, LidBlocks { stride: 1000, switches: 10_000 });
        let on = open("@t2hx-hyperx").expect("a preset").fabric;
        let mut first = [u16::MAX; 4];
        let mut last = [0; 4];
        for t in (0..on.terminal_count()).map(|t| lids.terminal(TerminalId::new(t))) {
            let q = usize::from(t / 1000);
            first[q] = first[q].min(t);
            last[q] = last[q].max(t + 3);
        }
        assert_eq!(first, [4, 1000, 2000, 3000]);
        assert_eq!(last, [675, 1671, 2671, 3671]);
        let mut switches: Vec<u16> = (0..96).map(|s| lids.switch(SwitchId(s))).collect();
        switches.sort_unstable();
        let expected: Vec<u16> =
            (10..14).flat_map(|q| (0..24).map(move |i| q * 1000 + i)).collect();
        assert_eq!(switches, expected);
    }

    #[test]
    fn blocks_grow_with_the_fabric() {
        let stride = |spec, lmc| given(spec, lmc).map(|(_, blocks)| blocks);
        // 168 hosts of eight LIDs.
        let eight = stride("@t2hx-hyperx", 3).expect("1344 LIDs");
        assert_eq!(eight, LidBlocks { stride: 2000, switches: 10_000 });
        // The first block loses LID 0: 249 hosts are the most.
        assert_eq!(stride("hyperx:dims=2x2,t=100", 3).expect("800").stride, 1000);
        assert_eq!(stride("hyperx:dims=6x2,t=83", 2).expect("249 hosts").stride, 1000);
        assert_eq!(stride("hyperx:dims=4x2,t=125", 2).expect("250 hosts").stride, 2000);
        // Sixteen orthants: switches begin later; 32 dimensions' worth of halves leave little for each.
        assert_eq!(stride("hypercube:n=4,t=2", 3).expect("small").switches, 16_000);
        assert_eq!(stride("hypercube:n=6,t=2", 4).expect("small").stride, 48);
    }

    #[test]
    fn the_end_of_the_lid_space_is_reported() {
        let error = given("hyperx:dims=32x32,t=16", 2).expect_err("65536 LIDs");
        assert_eq!(error, LidError::Blocks { orthants: 4, largest: 16_384 });
        assert!(error.to_string().contains("0xBFFF"), "{error}");
        assert_eq!(given("hyperx:dims=2x2", 8), Err(LidError::Lmc(8)));
    }
}

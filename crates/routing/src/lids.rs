//! Local identifiers: which port owns which LIDs.

use darkfiber_fabric::{Fabric, Renumbering, SwitchId, TerminalId};
use thiserror::Error;

use crate::DestId;

/// The largest unicast LID (InfiniBand Architecture Specification, volume 1, section 4.1.3).
pub const MAX_UNICAST_LID: u16 = 0xBFFF;

/// LIDs of a fabric: every terminal owns `2^lmc` consecutive ones, every switch one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lids {
    lmc: u8,
    terminal: Vec<u16>,
    switch: Vec<u16>,
    owner: Vec<u32>,
}

/// Why LIDs could not be given out.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LidError {
    /// The unicast LID space is too small.
    #[error(
        "{needed} LIDs are needed but unicast LIDs end at 0xBFFF: at most 49151; use a smaller LMC, \
         or split the fabric into subnets"
    )]
    TooMany {
        /// Number of LIDs needed.
        needed: usize,
    },
    /// Blocks of LIDs for the orthants of a lattice do not fit.
    #[error(
        "{orthants} blocks of LIDs, the fullest of {largest}, and those of the switches do not fit below \
         the last unicast LID 0xBFFF; use a smaller LMC, or give LIDs out without blocks"
    )]
    Blocks {
        /// Blocks of terminals; there are as many of switches.
        orthants: usize,
        /// LIDs that the fullest of them needs.
        largest: usize,
    },
    /// The LMC is above 7.
    #[error("LMC {0} is out of range: 0 to 7")]
    Lmc(u8),
    /// Two ports with one LID.
    #[error("LID {lid} belongs to two ports")]
    Duplicate {
        /// LID that is out of range.
        lid: u16,
    },
    /// A LID outside of `1..=0xBFFF`, or a range that is not aligned.
    #[error("LID {lid} with LMC {lmc} is not a valid base LID")]
    Invalid {
        /// LID that is not aligned.
        lid: u16,
        /// LID mask control.
        lmc: u8,
    },
}

const NO_OWNER: u32 = u32::MAX;

impl Lids {
    /// LIDs for a fabric: those of the input where they are valid for this LMC and not taken, the
    /// smallest free ones for all others, terminals before switches.
    ///
    /// # Errors
    /// If the LMC is above 7 or the unicast space does not suffice.
    pub fn assign(fabric: &Fabric, lmc: u8) -> Result<Self, LidError> {
        if lmc > 7 {
            return Err(LidError::Lmc(lmc));
        }
        let width = 1usize << lmc;
        let needed = fabric.terminal_count() * width + fabric.switch_count();
        if needed > usize::from(MAX_UNICAST_LID) {
            return Err(LidError::TooMany { needed });
        }
        let mut lids = Self {
            lmc,
            terminal: vec![0; fabric.terminal_count()],
            switch: vec![0; fabric.switch_count()],
            owner: vec![NO_OWNER; usize::from(MAX_UNICAST_LID) + 1],
        };
        let reserved = fabric.reserved_lids();
        let is_free = |first: usize, width: usize| {
            let at = reserved.partition_point(|&lid| usize::from(lid) < first);
            reserved.get(at).is_none_or(|&lid| usize::from(lid) >= first + width)
        };
        // Inputs first, so that LIDs that the subnet manager already assigned do not move. The
        // bases of a dump made with a smaller LMC may overlap; then the later port moves.
        for (t, terminal) in fabric.terminals().iter().enumerate() {
            if let Some(lid) = terminal.lid
                && is_free(usize::from(lid) + 1, width - 1)
            {
                let _taken = lids.claim(lid, width, DestId::new(t));
            }
        }
        for (s, switch) in fabric.switches().iter().enumerate() {
            if let Some(lid) = switch.lid {
                let _taken = lids.claim(lid, 1, DestId::new(fabric.terminal_count() + s));
            }
        }
        let mut next = width;
        for t in 0..fabric.terminal_count() {
            while lids.terminal[t] == 0 {
                if next + width > usize::from(MAX_UNICAST_LID) + 1 {
                    return Err(LidError::TooMany { needed });
                }
                if is_free(next, width) {
                    let _taken = lids.claim(next as u16, width, DestId::new(t));
                }
                next += width;
            }
        }
        let mut next = 1;
        for s in 0..fabric.switch_count() {
            while lids.switch[s] == 0 {
                if next > usize::from(MAX_UNICAST_LID) {
                    return Err(LidError::TooMany { needed });
                }
                if is_free(next, 1) {
                    let owner = DestId::new(fabric.terminal_count() + s);
                    let _taken = lids.claim(next as u16, 1, owner);
                }
                next += 1;
            }
        }
        Ok(lids)
    }

    /// A complete assignment of LIDs: base LID per terminal and LID per switch (0 = none).
    ///
    /// # Errors
    /// If one is out of range, not aligned, or given twice.
    pub fn from_bases(lmc: u8, terminal: &[u16], switch: &[u16]) -> Result<Self, LidError> {
        if lmc > 7 {
            return Err(LidError::Lmc(lmc));
        }
        let mut lids = Self {
            lmc,
            terminal: vec![0; terminal.len()],
            switch: vec![0; switch.len()],
            owner: vec![NO_OWNER; usize::from(MAX_UNICAST_LID) + 1],
        };
        for (t, &lid) in terminal.iter().enumerate().filter(|(_, lid)| **lid != 0) {
            lids.claim(lid, 1 << lmc, DestId::new(t))?;
        }
        for (s, &lid) in switch.iter().enumerate().filter(|(_, lid)| **lid != 0) {
            lids.claim(lid, 1, DestId::new(terminal.len() + s))?;
        }
        Ok(lids)
    }

    /// The LIDs of what is left of the fabric.
    ///
    /// # Panics
    /// If the map is of another fabric.
    #[must_use]
    pub fn of_part(&self, map: &Renumbering) -> Self {
        let terminal: Vec<u16> = map.old_terminal.iter().map(|&t| self.terminal(t)).collect();
        let switch: Vec<u16> = map.old_switch.iter().map(|&s| self.switch(s)).collect();
        let lids = Self::from_bases(self.lmc, &terminal, &switch);
        lids.expect("LIDs of a part are as distinct as those of the whole")
    }

    fn claim(&mut self, lid: u16, width: usize, owner: DestId) -> Result<(), LidError> {
        let first = usize::from(lid);
        if first == 0
            || !first.is_multiple_of(width)
            || first + width > usize::from(MAX_UNICAST_LID) + 1
        {
            return Err(LidError::Invalid { lid, lmc: self.lmc });
        }
        if let Some(i) = self.owner[first..first + width].iter().position(|&o| o != NO_OWNER) {
            return Err(LidError::Duplicate { lid: lid + i as u16 });
        }
        self.owner[first..first + width].fill(owner.0);
        let terminals = self.terminal.len();
        if owner.index() < terminals {
            self.terminal[owner.index()] = lid;
        } else {
            self.switch[owner.index() - terminals] = lid;
        }
        Ok(())
    }

    /// LID mask control: a terminal owns `2^lmc` LIDs.
    pub fn lmc(&self) -> u8 {
        self.lmc
    }

    /// LIDs a terminal owns, `2^lmc`.
    pub fn width(&self) -> usize {
        1 << self.lmc
    }

    /// Base LID of a terminal, 0 if it has none.
    pub fn terminal(&self, t: TerminalId) -> u16 {
        self.terminal[t.index()]
    }

    /// LID of a switch, 0 if it has none.
    pub fn switch(&self, s: SwitchId) -> u16 {
        self.switch[s.index()]
    }

    /// The destination that owns a LID and the LID's index among those of its port.
    pub fn owner(&self, lid: u16) -> Option<(DestId, usize)> {
        let owner = *self.owner.get(usize::from(lid))?;
        if owner == NO_OWNER {
            return None;
        }
        let d = owner as usize;
        let base = if d < self.terminal.len() {
            self.terminal[d]
        } else {
            self.switch[d - self.terminal.len()]
        };
        Some((DestId(owner), usize::from(lid - base)))
    }

    /// Ports whose LID is another one in the fabric's own input: the port, its LID there, and its LID here.
    pub fn unlike(&self, fabric: &Fabric) -> Vec<(DestId, u16, u16)> {
        let terminals = fabric.terminals().iter().map(|t| t.lid).zip(&self.terminal);
        let switches = fabric.switches().iter().map(|s| s.lid).zip(&self.switch);
        let all = terminals.chain(switches).enumerate();
        let other = all.filter_map(|(d, (theirs, &ours))| {
            let theirs = theirs.filter(|&lid| lid != 0 && ours != 0 && lid != ours)?;
            Some((DestId::new(d), theirs, ours))
        });
        other.collect()
    }

    /// The largest LID in use, 0 if there is none.
    pub fn top(&self) -> u16 {
        self.owner.iter().rposition(|&o| o != NO_OWNER).unwrap_or(0) as u16
    }
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::{FabricBuilder, LinkClass, Switch};

    use super::*;

    /// Ports without a LID, or with more of them than the input gave, get none that is reserved.
    #[test]
    fn reserved_lids_are_given_to_nobody() {
        let mut b = FabricBuilder::new("with a router");
        let class = b.class(LinkClass::unknown());
        let s = b.add_switch(Switch { ports: 4, ..Switch::default() });
        for port in 1..=3 {
            b.add_host_on(s, port, &format!("h{port}"), class).expect("free port");
        }
        b.reserve_lids([3, 2, 9, 3]);
        let fabric = b.finish().expect("valid");
        assert_eq!(fabric.reserved_lids(), [2, 3, 9]);
        for lmc in 0..3 {
            let lids = Lids::assign(&fabric, lmc).expect("few LIDs");
            for lid in [2, 3, 9] {
                assert_eq!(lids.owner(lid), None, "LMC {lmc}, LID {lid}");
            }
            assert!((0..3).all(|t| lids.terminal(TerminalId(t)) != 0) && lids.switch(s) != 0);
        }
    }
}

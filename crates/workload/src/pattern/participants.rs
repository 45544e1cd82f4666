//! Participants of a pattern.

use darkfiber_fabric::{Fabric, Shape, SwitchId, TerminalId};

/// The participants of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Participants {
    count: u32,
    group: Option<Vec<u32>>,
}

impl Participants {
    /// Participants 0 to `count - 1`.
    pub fn all(count: u32) -> Self {
        Self { count, group: None }
    }

    /// Participants with the group of each (of a dragonfly, or other groups of the fabric).
    pub fn grouped(group: Vec<u32>) -> Self {
        Self { count: group.len() as u32, group: Some(group) }
    }

    /// These terminals, with their groups where the fabric has some.
    pub fn of(fabric: &Fabric, shape: Option<&Shape>, who: &[TerminalId]) -> Self {
        match shape {
            Some(Shape::Dragonfly(dragonfly)) => {
                let home = |&t: &TerminalId| -> SwitchId { fabric.terminal(t).switch };
                Self::grouped(who.iter().map(|t| dragonfly.group[home(t).index()]).collect())
            }
            _ => Self::all(who.len() as u32),
        }
    }

    /// Number of participants.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The group of each, if they have groups.
    pub fn groups(&self) -> Option<&[u32]> {
        self.group.as_deref()
    }
}

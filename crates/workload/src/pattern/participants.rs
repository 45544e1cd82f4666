//! Who takes part.

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

    /// Participants with the group of each (of a dragonfly, or whatever the fabric is made of).
    pub fn grouped(group: Vec<u32>) -> Self {
        Self { count: group.len() as u32, group: Some(group) }
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The group of each, if they have groups.
    pub fn groups(&self) -> Option<&[u32]> {
        self.group.as_deref()
    }
}

//! Participating hosts of a machine.

use darkfiber_fabric::Topology;
use darkfiber_workload::{Machine, Stream};

use super::error::PlanError;

/// The stream of random numbers that draws hosts; those of jobs are counted from 0.
const DRAWN: u64 = 1 << 32;

/// Participating hosts of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// By host, in the machine's order.
    takes_part: Vec<bool>,
}

impl Hosts {
    /// The first `n` hosts of a machine.
    ///
    /// # Errors
    /// If there are not this many.
    pub fn first(topology: &Topology, n: u32) -> Result<Self, PlanError> {
        let there = Machine::new(topology, 1).len();
        if n as usize > there {
            let text = format!("{n} hosts are asked for; the fabric has {there} that run jobs");
            return Err(PlanError::Hosts(text));
        }
        Ok(Self { takes_part: (0..there).map(|h| h < n as usize).collect() })
    }

    /// This many drawn at random, as on a machine that others use, too.
    ///
    /// # Errors
    /// If there are not this many.
    pub fn scattered(topology: &Topology, n: u32, seed: u64) -> Result<Self, PlanError> {
        let mut hosts = Self::first(topology, n)?;
        Stream::new(seed, DRAWN).shuffle(&mut hosts.takes_part);
        Ok(hosts)
    }

    /// The first ones of each of the first groups of a dragonfly, or of switches that a tree puts together first; fewer where
    /// a group has fewer.
    pub fn of_groups(topology: &Topology, groups: u32, each: u32) -> Self {
        let machine = Machine::new(topology, 1);
        let group = machine.domains().get(1).cloned().unwrap_or(vec![0; machine.len()]);
        let mut left = vec![each; groups as usize];
        let takes = |g: &u32| match left.get_mut(*g as usize) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        };
        Self { takes_part: group.iter().map(takes).collect() }
    }

    /// Number of participating hosts.
    pub fn len(&self) -> u32 {
        self.takes_part.iter().filter(|t| **t).count() as u32
    }

    /// Whether no host takes part.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// By host, whether it takes part.
    pub(super) fn all(&self) -> &[bool] {
        &self.takes_part
    }
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::open;

    use super::*;

    #[test]
    fn hosts_that_take_part() {
        let malbec = open("@malbec").expect("a preset");
        let first = Hosts::first(&malbec, 100).expect("there are 484");
        assert_eq!((first.len(), first.all()[99], first.all()[100]), (100, true, false));
        let drawn = Hosts::scattered(&malbec, 100, 1).expect("there are 484");
        assert_eq!(drawn.len(), 100);
        assert_ne!(drawn, Hosts::scattered(&malbec, 100, 2).expect("there are 484"));
        assert!(Hosts::first(&malbec, 485).is_err());
        let two = Hosts::of_groups(&malbec, 2, 64);
        let of_group = |g: usize| two.all()[g * 128..(g + 1) * 128].iter().filter(|t| **t).count();
        assert_eq!([two.len() as usize, of_group(0), of_group(1), of_group(2)], [128, 64, 64, 0]);
    }
}

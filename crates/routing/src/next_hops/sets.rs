//! Sets by switch and destination; equal ones are stored once.

use std::collections::BTreeMap;

use darkfiber_fabric::SwitchId;

use super::group::{Group, Groups};

/// No number: a destination without sets.
const NONE: u32 = u32::MAX;

/// For every switch and every destination, the set of channels that the switch may pick. Switches of real fabrics have few
/// different sets; equal ones are stored once, as switches do in their tables of groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextHops {
    /// Set number by destination; [`NONE`] for those without sets.
    number: Vec<u32>,
    /// By number the switch that the destination is on.
    home: Vec<SwitchId>,
    switches: usize,
    /// By number and switch, the number of the group.
    of: Vec<u32>,
    /// All groups; the first one is empty.
    groups: Vec<Group>,
}

impl NextHops {
    /// The group of next hops of a switch towards a switch with terminals, where destinations are switches; empty at the
    /// destination, where no path leads there, and towards switches without terminals.
    #[inline]
    pub fn group(&self, at: SwitchId, to: SwitchId) -> &Group {
        &self.groups[self.group_number(at, to) as usize]
    }

    /// The number of that group; a group is of one switch, so that they differ between switches, but for the empty one, which is 0.
    #[inline]
    pub fn group_number(&self, at: SwitchId, to: SwitchId) -> u32 {
        match self.number[to.index()] {
            NONE => 0,
            number => self.of[number as usize * self.switches + at.index()],
        }
    }

    /// The group of a number that [`Self::group_number`] gave.
    pub fn numbered(&self, group: u32) -> &Group {
        &self.groups[group as usize]
    }

    /// The set number of a destination: a switch, or a row of routes. `None` if it has no sets.
    #[inline]
    pub fn number(&self, destination: usize) -> Option<usize> {
        self.number.get(destination).filter(|&&number| number != NONE).map(|&n| n as usize)
    }

    /// Number of destinations that differ.
    pub fn numbers(&self) -> usize {
        self.home.len()
    }

    /// The switch that the destinations of a number are on.
    pub fn home(&self, number: usize) -> SwitchId {
        self.home[number]
    }

    /// The group of a switch towards the destinations of a number.
    #[inline]
    pub fn towards(&self, at: SwitchId, number: usize) -> &Group {
        &self.groups[self.of[number * self.switches + at.index()] as usize]
    }

    /// The same sets without the members that have failed.
    pub(crate) fn without(&self, is_alive: &dyn Fn(u32) -> bool) -> Self {
        let left = |group: &Group| {
            let members = group.members().iter().copied().filter(|&c| is_alive(c)).collect();
            group.mended(members)
        };
        Self { groups: self.groups.iter().map(left).collect(), ..self.clone() }
    }

    /// All different groups of more than one next hop.
    pub fn groups(&self) -> Groups {
        let several = self.groups.iter().filter(|g| g.members().len() > 1);
        Groups {
            count: several.clone().count(),
            largest: several.map(|g| g.members().len()).max().unwrap_or(0),
        }
    }

    /// Sets of many parts of a fabric as those of the whole: `channel` and `home` map channels and switches of a part to the whole,
    /// `rows` maps the destinations of each part to `destinations`.
    pub(crate) fn joined(switches: usize, destinations: usize, parts: &[HopsOfPart<'_>]) -> Self {
        let mut all = NextHopsBuilder::new(switches, destinations);
        for part in parts {
            let mut of = vec![Vec::new(); part.hops.numbers()];
            for (own, &row) in part.rows.iter().enumerate() {
                if let Some(number) = part.hops.number(own) {
                    of[number].push(row as usize);
                }
            }
            for (number, rows) in of.iter().enumerate() {
                let mut sets = vec![Group::default(); switches];
                for s in (0..part.hops.switches).map(SwitchId::new) {
                    let members = part.hops.towards(s, number).members();
                    let mut members: Vec<u32> =
                        members.iter().map(|&c| (part.channel)(c)).collect();
                    members.sort_unstable();
                    sets[(part.switch)(s).index()] = Group::even(members);
                }
                all.push((part.switch)(part.hops.home(number)), rows, sets);
            }
        }
        all.finish()
    }
}

/// The sets of a part of a fabric, and the mapping from the part to the whole.
pub(crate) struct HopsOfPart<'a> {
    pub(crate) hops: &'a NextHops,
    /// By destination of the part, that of the whole.
    pub(crate) rows: &'a [u32],
    pub(crate) channel: &'a dyn Fn(u32) -> u32,
    pub(crate) switch: &'a dyn Fn(SwitchId) -> SwitchId,
}

/// Sets of next hops in the making.
pub struct NextHopsBuilder {
    made: NextHops,
    known: BTreeMap<Group, u32>,
    /// By home and groups, the number.
    rows: BTreeMap<(SwitchId, Vec<u32>), u32>,
}

impl NextHopsBuilder {
    /// No sets yet, for as many destinations.
    pub fn new(switches: usize, destinations: usize) -> Self {
        Self {
            made: NextHops {
                number: vec![NONE; destinations],
                home: Vec::new(),
                switches,
                of: Vec::new(),
                groups: vec![Group::default()],
            },
            known: BTreeMap::from([(Group::default(), 0)]),
            rows: BTreeMap::new(),
        }
    }

    /// Adds destinations on a switch with their sets, one a switch.
    ///
    /// # Panics
    /// If there are not as many sets as switches.
    pub fn push(&mut self, home: SwitchId, destinations: &[usize], sets: Vec<Group>) {
        assert_eq!(sets.len(), self.made.switches, "a set a switch");
        let mut row = Vec::with_capacity(sets.len());
        for group in sets {
            let number = self.known.get(&group).copied().unwrap_or_else(|| {
                let number = self.made.groups.len() as u32;
                self.made.groups.push(group.clone());
                self.known.insert(group, number);
                number
            });
            row.push(number);
        }
        let next = self.made.home.len() as u32;
        let number = *self.rows.entry((home, row.clone())).or_insert(next);
        if number == next {
            self.made.home.push(home);
            self.made.of.extend(row);
        }
        for &destination in destinations {
            self.made.number[destination] = number;
        }
    }

    /// Returns the finished sets.
    pub fn finish(self) -> NextHops {
        self.made
    }
}

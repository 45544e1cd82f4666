//! The channels of every path, ready to be counted.

use darkfiber_fabric::{Fabric, SwitchId, TerminalId};
use darkfiber_routing::{DestId, Routes, Step, step, unwind_if_asked};
use rayon::prelude::*;
use thiserror::Error;

/// Paths are stored in a table up to this size; beyond, forwarding tables are followed again each time.
const MOST_BYTES: usize = 2 << 30;
/// Destinations that are sampled for the length of paths, before the table is made.
const PROBES: usize = 16;

/// Pairs of participants without a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{pairs} of the ordered pairs have no route, for example from terminal {} to terminal {}", example.0.0, example.1.0)]
pub struct UnreachablePairs {
    /// Number of ordered pairs.
    pub pairs: u64,
    /// One of these pairs.
    pub example: (TerminalId, TerminalId),
}

/// Sources that enter at one switch and use the same LID of every destination: their paths are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SourceClass {
    path: u16,
    switch: SwitchId,
}

/// The paths among some terminals, the **participants**, which are numbered from 0 in the order given.
///
/// Participants with the same paths form classes, so that the table has a row for each pair of classes: the
/// switch-to-switch channels of the path, padded to the longest path with the number of channels (which is no
/// channel).
#[derive(Debug)]
pub struct Paths<'a> {
    pub(super) fabric: &'a Fabric,
    pub(super) who: Vec<TerminalId>,
    /// Class of each participant as source, and as destination.
    pub(super) source_of: Vec<u32>,
    pub(super) dest_of: Vec<u32>,
    /// Participants in each class.
    pub(super) source_size: Vec<u32>,
    pub(super) dest_size: Vec<u32>,
    pub(super) store: Store<'a>,
}

#[derive(Debug)]
pub(super) enum Store<'a> {
    Narrow(Table<u16>),
    Wide(Table<u32>),
    Followed(Followed<'a>),
}

/// The channels between classes.
pub(super) trait Channels: Sync {
    /// Calls `f` with every switch-to-switch channel of the path, in order, or with the number of channels, which is
    /// none of them.
    fn each(&self, source: u32, dest: u32, f: impl FnMut(usize));
}

/// Evaluates an expression for each kind of path store.
macro_rules! with_channels {
    ($paths:expr, $name:ident => $body:expr) => {
        match &$paths.store {
            $crate::count::paths::Store::Narrow($name) => $body,
            $crate::count::paths::Store::Wide($name) => $body,
            $crate::count::paths::Store::Followed($name) => $body,
        }
    };
}
pub(super) use with_channels;

impl<'a> Paths<'a> {
    /// The paths among these participants.
    ///
    /// # Errors
    /// If a pair of participants has no route.
    ///
    /// # Panics
    /// If the routes were made for a fabric of another size.
    pub fn new(
        fabric: &'a Fabric,
        routes: &'a Routes,
        who: &[TerminalId],
    ) -> Result<Self, UnreachablePairs> {
        assert_eq!(routes.switch_count(), fabric.switch_count(), "routes of another fabric");
        assert_eq!(routes.terminal_count(), fabric.terminal_count(), "routes of another fabric");
        // By path first: a path's tables are decoded once.
        let (sources, source_of) = classes(who, |t| SourceClass {
            path: routes.path_of(t) as u16,
            switch: fabric.terminal(t).switch,
        });
        let mut used: Vec<u16> = sources.iter().map(|s| s.path).collect();
        used.sort_unstable();
        used.dedup();
        let (dests, dest_of) = classes(who, |t| {
            let row = |&path: &u16| routes.row(DestId::terminal(t), path.into()) as u32;
            (fabric.terminal(t).switch, used.iter().map(row).collect::<Vec<u32>>())
        });
        // Any member represents its class.
        let mut members = vec![TerminalId(0); dests.len()];
        for (&t, &class) in who.iter().zip(&dest_of) {
            members[class as usize] = t;
        }
        let sizes = |of: &[u32], count: usize| {
            let mut size = vec![0; count];
            for &class in of {
                size[class as usize] += 1;
            }
            size
        };
        let (source_size, dest_size) =
            (sizes(&source_of, sources.len()), sizes(&dest_of, dests.len()));
        let (store, lost) = Followed { fabric, routes, sources, members }.stored();
        if let Some(lost) = name(&lost, who, &source_of, &dest_of) {
            return Err(lost);
        }
        Ok(Self { fabric, who: who.to_vec(), source_of, dest_of, source_size, dest_size, store })
    }

    /// Terminals that take part.
    pub fn participants(&self) -> &[TerminalId] {
        &self.who
    }

    /// Number of directed switch-to-switch channels.
    pub fn channel_count(&self) -> usize {
        self.fabric.channel_count()
    }

    /// The switch-to-switch channels of the path between two participants, in order.
    pub fn path(&self, source: u32, dest: u32) -> Vec<u32> {
        let mut path = Vec::new();
        let (s, d) = (self.source_of[source as usize], self.dest_of[dest as usize]);
        let none = self.channel_count();
        with_channels!(self, channels => channels.each(s, d, |c| {
            if c != none {
                path.push(c as u32);
            }
        }));
        path
    }
}

/// The different keys in order, and which of them each participant has.
fn classes<K: Ord>(who: &[TerminalId], key: impl Fn(TerminalId) -> K) -> (Vec<K>, Vec<u32>) {
    let mut keys: Vec<K> = who.iter().map(|&t| key(t)).collect();
    keys.sort_unstable();
    keys.dedup();
    let place = |t| keys.partition_point(|k| *k < key(t)) as u32;
    let of = who.iter().map(|&t| place(t)).collect();
    (keys, of)
}

/// A pair of classes, source and destination, that has no route.
type LostClasses = (u32, u32);

/// The pairs of participants that pairs of classes are, if they are any.
fn name(
    lost: &[LostClasses],
    who: &[TerminalId],
    source_of: &[u32],
    dest_of: &[u32],
) -> Option<UnreachablePairs> {
    let members = |of: &[u32]| {
        let mut members = vec![Vec::new(); of.iter().max().map_or(0, |&class| class as usize + 1)];
        of.iter().enumerate().for_each(|(i, &class)| members[class as usize].push(i));
        members
    };
    let (by_source, by_dest) = (members(source_of), members(dest_of));
    let mut pairs = 0;
    let mut example = None;
    for &(s, d) in lost {
        for &from in &by_source[s as usize] {
            for &to in by_dest[d as usize].iter().filter(|&&to| to != from) {
                pairs += 1;
                example.get_or_insert((who[from], who[to]));
            }
        }
    }
    example.map(|example| UnreachablePairs { pairs, example })
}

/// Channels in rows of one length, by (destination class, source class).
#[derive(Debug)]
pub(super) struct Table<C> {
    sources: usize,
    stride: usize,
    channels: Vec<C>,
}

impl<C: Copy + Into<u32> + Sync> Channels for Table<C> {
    #[inline]
    fn each(&self, source: u32, dest: u32, mut f: impl FnMut(usize)) {
        let row = dest as usize * self.sources + source as usize;
        for &c in &self.channels[row * self.stride..(row + 1) * self.stride] {
            f(c.into() as usize);
        }
    }
}

/// Forwarding tables that are followed.
#[derive(Debug)]
pub(super) struct Followed<'a> {
    fabric: &'a Fabric,
    routes: &'a Routes,
    sources: Vec<SourceClass>,
    /// A member of each destination class.
    members: Vec<TerminalId>,
}

impl Channels for Followed<'_> {
    fn each(&self, source: u32, dest: u32, mut f: impl FnMut(usize)) {
        let SourceClass { switch, path } = self.sources[source as usize];
        let ports = self.ports(dest as usize, path);
        let mut at = switch;
        while let Step::To(c) = self.step(ports, dest as usize, at) {
            f(c.index());
            at = self.fabric.head(c);
        }
    }
}

/// Results of filling a table.
#[derive(Default)]
struct Filled {
    longest: usize,
    lost: Vec<LostClasses>,
}

impl<'a> Followed<'a> {
    fn ports(&self, dest: usize, path: u16) -> &'a [u8] {
        let dest = DestId::terminal(self.members[dest]);
        self.routes.ports(self.routes.row(dest, path.into()))
    }

    #[inline]
    fn step(&self, ports: &[u8], dest: usize, at: SwitchId) -> Step {
        step(self.fabric, ports, self.members[dest], at)
    }

    /// Follows the paths of all source classes to one destination class: `f` gets a source class, how many
    /// channels its path has crossed, and the next one.
    fn all(
        &self,
        dest: usize,
        next: &mut Vec<u32>,
        mut f: impl FnMut(usize, usize, u32),
    ) -> Filled {
        let mut found = Filled::default();
        let (n, heads) = (self.fabric.switch_count(), self.fabric.heads());
        let mut decoded = None;
        for (i, source) in self.sources.iter().enumerate() {
            if decoded != Some(source.path) {
                decoded = Some(source.path);
                let ports = self.ports(dest, source.path);
                next.clear();
                next.extend((0..n).map(|s| match self.step(ports, dest, SwitchId::new(s)) {
                    Step::To(c) => c.0,
                    Step::Delivers => HERE,
                    Step::Drops => NOWHERE,
                }));
            }
            let (mut at, mut length) = (source.switch.index(), 0);
            while next[at] < NOWHERE && length <= n {
                let c = next[at];
                f(i, length, c);
                length += 1;
                at = heads[c as usize] as usize;
            }
            if next[at] == HERE {
                found.longest = found.longest.max(length);
            } else {
                found.lost.push((i as u32, dest as u32));
            }
        }
        found
    }

    /// The same in a table, if that is not too large, and pairs without a route.
    fn stored(self) -> (Store<'a>, Vec<LostClasses>) {
        let (sources, dests) = (self.sources.len(), self.members.len());
        let wide = self.fabric.channel_count() > usize::from(u16::MAX);
        let probes = dests.min(PROBES);
        let longest = |i| self.all(i * dests / probes, &mut Vec::new(), |_, _, _| ()).longest;
        let mut stride = (0..probes).map(longest).max().unwrap_or(0);
        loop {
            let bytes = sources * dests * stride * if wide { 4 } else { 2 };
            if bytes > MOST_BYTES {
                let lost = (0..dests)
                    .into_par_iter()
                    .map_init(Vec::new, |next, dest| self.all(dest, next, |_, _, _| ()).lost)
                    .flatten_iter()
                    .collect();
                return (Store::Followed(self), lost);
            }
            let (store, found) = if wide {
                let (table, found) = self.table(stride, |c| c);
                (Store::Wide(table), found)
            } else {
                let (table, found) = self.table(stride, |c| c as u16);
                (Store::Narrow(table), found)
            };
            if found.longest <= stride {
                return (store, found.lost);
            }
            stride = found.longest;
        }
    }

    /// A table with rows of this length, cut off where paths are longer.
    fn table<C: Copy + Send + Sync>(
        &self,
        stride: usize,
        narrow: impl Fn(u32) -> C + Sync,
    ) -> (Table<C>, Filled) {
        let sources = self.sources.len();
        let none = narrow(self.fabric.channel_count() as u32);
        let mut channels = vec![none; sources * self.members.len() * stride];
        // Without a channel between switches there is nothing to fill in, but pairs can be lost.
        let mut rows: Vec<&mut [C]> = channels.chunks_mut((sources * stride).max(1)).collect();
        rows.resize_with(self.members.len(), Default::default);
        let found = rows
            .into_par_iter()
            .enumerate()
            .map_init(Vec::new, |next, (dest, rows)| {
                unwind_if_asked();
                self.all(dest, next, |source, length, c| {
                    if length < stride {
                        rows[source * stride + length] = narrow(c);
                    }
                })
            })
            .reduce(Filled::default, |mut a, mut b| {
                a.longest = a.longest.max(b.longest);
                a.lost.append(&mut b.lost);
                a
            });
        (Table { sources, stride, channels }, found)
    }
}

/// Instead of a channel: the packet is delivered.
const HERE: u32 = u32::MAX;
/// Instead of a channel: it is dropped.
const NOWHERE: u32 = u32::MAX - 1;

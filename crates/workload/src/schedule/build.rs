//! Construction of schedules.

use thiserror::Error;

use super::matching::{self, Unmatched};
use super::{COMPUTE, KIND, MAX_STREAMS, Node, ON_START, Op, PUT, RECV, SEND, Schedule};

/// Why operations do not make a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// Messages that have one end only.
    #[error(transparent)]
    Unmatched(#[from] Unmatched),
    /// Operations that wait for each other.
    #[error("rank {rank}: operations {} wait for each other in a cycle", listed(circle))]
    Circle {
        /// Rank of the operations.
        rank: u32,
        /// Their numbers within the rank, from 0, each waiting for the one before it.
        circle: Vec<u32>,
    },
    /// More operations or dependencies than can be numbered.
    #[error(
        "{count} {what} are too many: a schedule holds at most {most}, or fewer where less memory is free; repeat a smaller one \
         instead"
    )]
    TooMany {
        /// Kind of the excess: operations or dependencies.
        what: &'static str,
        /// Number of operations or dependencies.
        count: usize,
        /// Maximum number that is allowed.
        most: usize,
    },
}

fn listed(circle: &[u32]) -> String {
    let mut text: Vec<String> = circle.iter().take(8).map(u32::to_string).collect();
    if circle.len() > 8 {
        text.push(format!("and {} more", circle.len() - 8));
    }
    text.join(", ")
}

/// Takes operations in any order of ranks, and makes a [`Schedule`].
#[derive(Clone, Debug)]
pub struct Builder {
    rank: Vec<u32>,
    nodes: Vec<Node>,
    /// Pairs of operations: the second waits for the first.
    edges: Vec<(u32, u32)>,
    ranks: u32,
}

/// The most operations of a schedule: their numbers share 32 bits with one flag.
const MOST: usize = ON_START as usize - 1;

impl Builder {
    /// A schedule of this many ranks, without operations.
    pub fn new(ranks: u32) -> Self {
        Self { rank: Vec::new(), nodes: Vec::new(), edges: Vec::new(), ranks }
    }

    /// The number of ranks.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Number of operations so far.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no operations yet.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Adds an operation of a rank; the result identifies it in [`Builder::after`]. Operations of a rank are in
    /// program order: messages are matched in it.
    ///
    /// # Panics
    /// If the rank or its peer is not below the number of ranks, or a stream not below [`MAX_STREAMS`].
    pub fn add(&mut self, rank: u32, op: Op, stream: u8) -> u32 {
        assert!(rank < self.ranks, "rank {rank} of {}", self.ranks);
        assert!(stream < MAX_STREAMS, "stream {stream} of {MAX_STREAMS}");
        let (kind, peer, size, tag) = match op {
            Op::Send { to, bytes, tag } => (SEND, to, bytes, tag),
            Op::Recv { from, bytes, tag } => (RECV, from, bytes, tag),
            Op::Put { to, bytes } => (PUT, to, bytes, 0),
            Op::Compute { picoseconds } => (COMPUTE, 0, picoseconds, 0),
        };
        let wild = kind == RECV && peer == super::ANY;
        assert!(wild || peer < self.ranks, "peer {peer} of {}", self.ranks);
        let id = self.nodes.len() as u32;
        self.rank.push(rank);
        let kind = kind | stream << 2;
        self.nodes.push(Node { size, peer, tag, partner: id, needs: 0, after: 0, kind });
        id
    }

    /// `op` waits until `before` is done. Both must be of one rank.
    pub fn after(&mut self, op: u32, before: u32) {
        debug_assert_eq!(self.rank[op as usize], self.rank[before as usize]);
        self.edges.push((before, op));
    }

    /// `op` waits until `before` has started. Both must be of one rank.
    pub fn after_start(&mut self, op: u32, before: u32) {
        debug_assert_eq!(self.rank[op as usize], self.rank[before as usize]);
        self.edges.push((before, op | ON_START));
    }

    /// The schedule, its messages matched.
    ///
    /// # Errors
    /// If a message has one end only, operations wait for each other in a cycle, or there are too many.
    ///
    /// Complexity: O(operations log operations of a rank + dependencies).
    pub fn finish(self) -> Result<Schedule, ScheduleError> {
        let n = self.nodes.len();
        for (what, count) in [("operations", n), ("dependencies", self.edges.len())] {
            if count > MOST {
                return Err(ScheduleError::TooMany { what, count, most: MOST });
            }
        }
        let ranks = self.ranks as usize;
        let mut first = vec![0u32; ranks + 1];
        for &r in &self.rank {
            first[r as usize + 1] += 1;
        }
        for r in 0..ranks {
            first[r + 1] += first[r];
        }
        let Self { rank, mut nodes, mut edges, .. } = self;
        if !rank.is_sorted() {
            // Where each operation goes: by rank, and within a rank as they came.
            let mut next = first.clone();
            let mut to = vec![0u32; n];
            for (to, &r) in to.iter_mut().zip(&rank) {
                *to = next[r as usize];
                next[r as usize] += 1;
            }
            for (before, after) in &mut edges {
                *before = to[*before as usize];
                *after = to[(*after & !ON_START) as usize] | *after & ON_START;
            }
            move_to(&mut nodes, to);
        }
        drop(rank);
        nodes.push(Node {
            size: 0,
            peer: 0,
            tag: 0,
            partner: 0,
            needs: 0,
            after: 0,
            kind: COMPUTE,
        });
        for &(before, after) in &edges {
            nodes[before as usize + 1].after += 1;
            nodes[(after & !ON_START) as usize].needs += 1;
        }
        // Where each one's dependents begin; while they are filled in, where the next one goes.
        let mut sum = 0;
        for node in &mut nodes {
            sum += node.after;
            node.after = sum;
        }
        let mut after = vec![0u32; edges.len()];
        for &(before, op) in &edges {
            let next = &mut nodes[before as usize].after;
            after[*next as usize] = op;
            *next += 1;
        }
        for i in (1..nodes.len()).rev() {
            nodes[i].after = nodes[i - 1].after;
        }
        nodes[0].after = 0;
        let on_start = edges.iter().any(|&(_, op)| op & ON_START != 0);
        drop(edges);
        let streams = 1 + nodes.iter().map(|o| o.kind >> 2).max().unwrap_or(0);
        let mut schedule = Schedule { first, nodes, after, streams, on_start };
        acyclic(&schedule)?;
        matching::matched(&mut schedule)?;
        Ok(schedule)
    }
}

/// Moves each node to its place, in place: they may take most of the memory.
fn move_to(nodes: &mut [Node], mut to: Vec<u32>) {
    for i in 0..nodes.len() {
        while to[i] as usize != i {
            let place = to[i] as usize;
            nodes.swap(i, place);
            to.swap(i, place);
        }
    }
    for (i, node) in (0..).zip(nodes) {
        node.partner = i;
    }
}

/// Finds operations that wait for each other.
fn acyclic(schedule: &Schedule) -> Result<(), ScheduleError> {
    // Program order is the usual case.
    let forward = |i: u32| schedule.dependents(i).all(|(a, _)| a > i);
    if (0..schedule.len() as u32).all(forward) {
        return Ok(());
    }
    let mut left: Vec<u32> = schedule.nodes().iter().map(|o| o.needs).collect();
    for rank in 0..schedule.ranks() {
        let range = schedule.of(rank);
        let mut ready: Vec<u32> = range.clone().filter(|&i| left[i as usize] == 0).collect();
        let mut done = 0;
        while let Some(i) = ready.pop() {
            done += 1;
            for (a, _) in schedule.dependents(i) {
                left[a as usize] -= 1;
                if left[a as usize] == 0 {
                    ready.push(a);
                }
            }
        }
        if done < range.len() {
            return Err(ScheduleError::Circle { rank, circle: circle(schedule, &left, range) });
        }
    }
    Ok(())
}

/// One circle among the operations of a rank that are left.
fn circle(schedule: &Schedule, left: &[u32], range: std::ops::Range<u32>) -> Vec<u32> {
    let begin = range.start;
    // For each remaining operation a remaining predecessor: walking back must close a cycle.
    let mut before = vec![u32::MAX; range.len()];
    for i in range.clone().filter(|&i| left[i as usize] > 0) {
        for (a, _) in schedule.dependents(i) {
            before[(a - begin) as usize] = i;
        }
    }
    let mut at = range.clone().find(|&i| left[i as usize] > 0).unwrap_or(begin);
    let mut seen = vec![false; range.len()];
    while !std::mem::replace(&mut seen[(at - begin) as usize], true) {
        at = before[(at - begin) as usize];
    }
    let start = at;
    let mut circle = vec![at - begin];
    loop {
        at = before[(at - begin) as usize];
        if at == start {
            break;
        }
        circle.push(at - begin);
    }
    circle.reverse();
    circle
}

impl Schedule {
    /// Whether an operation is a receive.
    pub(super) fn is_recv(&self, i: u32) -> bool {
        self.nodes[i as usize].kind & KIND == RECV
    }

    /// Whether an operation is a send.
    pub(super) fn is_send(&self, i: u32) -> bool {
        self.nodes[i as usize].kind & KIND == SEND
    }
}

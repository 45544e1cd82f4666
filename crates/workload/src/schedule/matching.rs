//! Matching of sends with receives.

use std::fmt;

use rayon::prelude::*;

use super::{ANY, Op, Schedule};

/// Messages with one end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// Number of sends without a receive.
    pub sends: u64,
    /// Number of receives without a send.
    pub receives: u64,
    /// Examples: rank, number of the operation within the rank from 0, and the operation.
    pub examples: Vec<(u32, u32, Op)>,
}

/// Maximum number of examples.
const TOLD: usize = 4;

impl std::error::Error for Unmatched {}

impl fmt::Display for Unmatched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.sends, self.receives) {
            (0, 1) => f.write_str("a receive waits for a message that no rank sends")?,
            (1, 0) => f.write_str("a message is sent that no rank receives")?,
            (0, n) => {
                write!(f, "{n} receives wait for messages that no rank sends")?;
            }
            (n, 0) => {
                write!(f, "{n} messages are sent that no rank receives")?;
            }
            (s, r) => {
                let (sends, receives) = (
                    if s == 1 { "a message is".to_owned() } else { format!("{s} messages are") },
                    if r == 1 {
                        "a receive waits".to_owned()
                    } else {
                        format!("{r} receives wait")
                    },
                );
                write!(f, "{sends} sent that no rank receives, and {receives} for others")?;
            }
        }
        for (i, (rank, op, what)) in self.examples.iter().enumerate() {
            f.write_str(if i == 0 { ": " } else { "; " })?;
            write!(f, "rank {rank} operation {op} ")?;
            match *what {
                Op::Send { to, bytes, tag } => {
                    write!(f, "sends {bytes} bytes to rank {to} with tag {tag}")?;
                }
                Op::Recv { from: ANY, tag, .. } => {
                    write!(f, "receives from any rank with tag {tag}")?;
                }
                Op::Recv { from, tag: ANY, .. } => {
                    write!(f, "receives from rank {from} with any tag")?;
                }
                Op::Recv { from, tag, .. } => {
                    write!(f, "receives from rank {from} with tag {tag}")?;
                }
                Op::Put { .. } | Op::Compute { .. } => {}
            }
        }
        if self.sends + self.receives > self.examples.len() as u64 {
            f.write_str("; ...")?;
        }
        Ok(())
    }
}

/// Pairs of operations, and those left over.
struct Pairs {
    pairs: Vec<(u32, u32)>,
    lone: Vec<u32>,
}

/// Fills in the mates. Receives of any source or tag take, in their order, the remaining sends to their rank in the
/// order of the sends within their ranks, lower ranks first: a choice that a run could have made.
pub(super) fn matched(schedule: &mut Schedule) -> Result<(), Unmatched> {
    let n = schedule.len();
    let ranks = schedule.ranks() as usize;
    let mut start = vec![0u32; ranks + 1];
    for i in (0..n as u32).filter(|&i| schedule.is_send(i)) {
        start[schedule.nodes[i as usize].peer as usize + 1] += 1;
    }
    for r in 0..ranks {
        start[r + 1] += start[r];
    }
    // Sends by receiver; each with its source, which the operation itself does not say.
    let mut next = start.clone();
    let mut sends = vec![(0u32, 0u32); start[ranks] as usize];
    for rank in 0..ranks as u32 {
        for i in schedule.of(rank).filter(|&i| schedule.is_send(i)) {
            let to = schedule.nodes[i as usize].peer as usize;
            sends[next[to] as usize] = (rank, i);
            next[to] += 1;
        }
    }
    drop(next);
    let mut lone = Vec::new();
    // Process this number of ranks at a time, so that intermediate results stay small.
    for begin in (0..ranks).step_by(64) {
        let found: Vec<Pairs> = (begin..ranks.min(begin + 64))
            .into_par_iter()
            .map(|r| at_rank(schedule, r as u32, &sends[start[r] as usize..start[r + 1] as usize]))
            .collect();
        for Pairs { pairs, lone: some } in found {
            for (a, b) in pairs {
                schedule.nodes[a as usize].partner = b;
                schedule.nodes[b as usize].partner = a;
            }
            lone.extend(some);
        }
    }
    if lone.is_empty() {
        return Ok(());
    }
    lone.sort_unstable();
    let receives = lone.iter().filter(|&&i| schedule.is_recv(i)).count() as u64;
    let example = |&i: &u32| {
        let rank = schedule.rank(i);
        (rank, i - schedule.of(rank).start, schedule.op(i))
    };
    // Receives first: they cause the hang.
    let (hang, lost): (Vec<u32>, Vec<u32>) = lone.iter().partition(|&&i| schedule.is_recv(i));
    let examples = hang.iter().chain(&lost).take(TOLD).map(example).collect();
    Err(Unmatched { sends: lone.len() as u64 - receives, receives, examples })
}

fn at_rank(schedule: &Schedule, rank: u32, sends: &[(u32, u32)]) -> Pairs {
    let tag = |i: u32| schedule.nodes[i as usize].tag;
    let mut sends: Vec<(u32, u32, u32)> =
        sends.iter().map(|&(from, i)| (from, tag(i), i)).collect();
    let (mut named, mut wild) = (Vec::with_capacity(sends.len()), Vec::new());
    for i in schedule.of(rank).filter(|&i| schedule.is_recv(i)) {
        let from = schedule.nodes[i as usize].peer;
        if from == ANY || tag(i) == ANY {
            wild.push((from, tag(i), i));
        } else {
            named.push((from, tag(i), i));
        }
    }
    sends.sort_unstable();
    named.sort_unstable();
    let mut pairs = Vec::with_capacity(sends.len());
    let (mut lone, mut spare) = (Vec::new(), Vec::new());
    let mut s = sends.iter().peekable();
    for &(from, tag, i) in &named {
        while let Some(&&(f, t, j)) = s.peek()
            && (f, t) < (from, tag)
        {
            spare.push((f, t, j));
            s.next();
        }
        match s.peek() {
            Some(&&(f, t, j)) if (f, t) == (from, tag) => {
                pairs.push((i, j));
                s.next();
            }
            _ => lone.push(i),
        }
    }
    spare.extend(s);
    if !wild.is_empty() {
        let origin = |from: u32| schedule.of(from).start;
        spare.sort_unstable_by_key(|&(f, _, j)| (j - origin(f), f));
        for (from, tag, i) in wild {
            let fits = |&(f, t, _): &(u32, u32, u32)| {
                (from == ANY || from == f) && (tag == ANY || tag == t)
            };
            match spare.iter().position(fits) {
                Some(at) => pairs.push((i, spare.remove(at).2)),
                None => lone.push(i),
            }
        }
    }
    lone.extend(spare.iter().map(|&(_, _, j)| j));
    Pairs { pairs, lone }
}

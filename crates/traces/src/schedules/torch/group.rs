//! Process groups of a trace, and the corresponding groups of other ranks.

use super::event::{Args, Trace, integer, ranks, text};

/// Members of a group, in the order of their places.
pub(super) type Members = Vec<u32>;

/// The members of the group of a kernel in a world of `world` ranks.
///
/// # Errors
/// A description of what is missing.
pub(super) fn members(trace: &Trace, args: &Args, world: u32) -> Result<Members, String> {
    let size = integer(args.group_size.as_ref()).and_then(|n| usize::try_from(n).ok());
    let name = text(args.group.as_ref()).unwrap_or_default();
    let stated = ranks(args.members.as_ref());
    let configured = || {
        let groups = trace.distributed.iter().flat_map(|d| &d.pg_config);
        let mut of = groups.filter(|g| text(g.pg_name.as_ref()).as_deref() == Some(name.as_str()));
        ranks(of.next()?.ranks.as_ref())
    };
    let size = size.filter(|&n| n <= world as usize);
    let whole = |found: Option<(Members, bool)>| {
        let fits = |all: &Members| !all.is_empty() && size.is_none_or(|n| n == all.len());
        found.filter(|(all, is_cut)| !is_cut && fits(all)).map(|f| f.0)
    };
    let found = whole(stated.clone())
        .or_else(|| whole(configured()))
        .or_else(|| continued(&stated?.0, size?))
        .or_else(|| (size == Some(world as usize)).then(|| (0..world).collect()));
    let found = found.ok_or_else(|| format!("who is in process group `{name}` is not said"))?;
    let mut once = found.clone();
    once.sort_unstable();
    once.dedup();
    if once.len() < found.len() {
        return Err(format!("process group `{name}` has a rank twice"));
    }
    match found.iter().find(|&&rank| rank >= world) {
        Some(rank) => Err(format!("process group `{name}` has rank {rank} of a world of {world}")),
        None => Ok(found),
    }
}

/// Continues a truncated list with its step, if its steps are equal.
fn continued(begin: &[u32], size: usize) -> Option<Members> {
    let [first, second, ..] = *begin else { return None };
    let step = second.checked_sub(first).filter(|&step| step > 0)?;
    let is_even = begin.windows(2).all(|w| w[1].checked_sub(w[0]) == Some(step));
    (is_even && begin.len() < size)
        .then(|| (0..size as u32).map(|i| first.checked_add(i.checked_mul(step)?)).collect())?
}

/// A group as a row of a grid of ranks, as those of tensor, pipeline and data parallelism are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    step: u32,
    len: u32,
}

impl Row {
    /// The row that a group forms in a world of `world` ranks; `None` if it is not a row.
    pub(super) fn of(members: &[u32], world: u32) -> Option<Self> {
        let len = members.len() as u32;
        let step = match members {
            [] => return None,
            [_] => 1,
            [first, second, ..] => second.checked_sub(*first).filter(|&step| step > 0)?,
        };
        let row = Self { step, len };
        // The grid must hold whole rows, and this one must be among them.
        let fits = world.is_multiple_of(step.checked_mul(len)?);
        (fits && row.members(members[0]).eq(members.iter().copied())).then_some(row)
    }

    /// The first member of the row that a rank is in.
    pub(super) fn first(self, rank: u32) -> u32 {
        rank - self.step * (rank / self.step % self.len)
    }

    /// The members of the row that a rank is in.
    pub(super) fn members(self, rank: u32) -> impl Iterator<Item = u32> {
        let first = self.first(rank);
        (0..self.len).map(move |i| first + i * self.step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carried(members: &[u32], rank: u32, world: u32) -> Option<Members> {
        Some(Row::of(members, world)?.members(rank).collect())
    }

    /// 16 ranks as tensor parallelism of 2, pipelines of 2 and data parallelism of 4: each rank is in one row of each kind.
    #[test]
    fn rows_of_a_grid_are_carried_over() {
        assert_eq!(carried(&[0, 1], 7, 16), Some(vec![6, 7]));
        assert_eq!(carried(&[0, 2], 7, 16), Some(vec![5, 7]));
        assert_eq!(carried(&[0, 4, 8, 12], 7, 16), Some(vec![3, 7, 11, 15]));
        assert_eq!(carried(&[5], 7, 16), Some(vec![7]));
        let all: Vec<u32> = (0..16).collect();
        assert_eq!(carried(&all, 9, 16), Some(all));
        // No rows: not even, not from where rows begin, or not all of the world.
        assert_eq!(carried(&[0, 1, 3], 2, 16), None);
        assert_eq!(carried(&[1, 2], 3, 16), None);
        assert_eq!(carried(&[0, 1, 2], 5, 16), None);
    }

    #[test]
    fn lists_that_were_cut_off_go_on() {
        assert_eq!(continued(&[1, 5, 9], 5), Some(vec![1, 5, 9, 13, 17]));
        assert_eq!(continued(&[1, 5, 10], 5), None);
        assert_eq!(continued(&[3], 5), None);
    }
}

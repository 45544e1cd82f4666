//! Random patterns, each drawn uniformly: bisections, permutations, involutions.

use darkfiber_fabric::Params;

use crate::Stream;

use super::{Extent, Participants, Pattern, PatternError, PatternKind};

/// The distribution of pairs.
#[derive(Clone, Copy)]
enum Draw {
    /// Half of them to the other half.
    Bisect,
    /// Each sends to another one, no two to the same.
    Derangement,
    /// Partners send to each other.
    Involution,
}

/// Kind of a random pattern.
pub(super) struct Random {
    name: &'static str,
    alias: &'static [&'static str],
    summary: &'static str,
    doc: &'static str,
    draw: Draw,
}

pub(super) static BISECT: Random = Random {
    name: "bisect",
    alias: &["bisection"],
    summary: "one random half sends to the other, each to a partner of its own",
    doc: "Every participant is either sender or receiver; the n/2 pairs are drawn uniformly: shuffle, then \
          the first of two neighbours sends to the second. Nienaber, Mahapatra, Yuan, Definition 2; the \
          bisection of Hoefler, Schneider, Lumsdaine, \"Multistage switches are not crossbars\", \
          CLUSTER'08. Needs an even number.",
    draw: Draw::Bisect,
};

pub(super) static PERMUTATION: Random = Random {
    name: "permutation",
    alias: &["full-permutation", "derangement"],
    summary: "everyone sends to another rank, no two to the same",
    doc: "A permutation without fixed points, drawn uniformly: shuffles are drawn until one has none, \
          which takes e of them on average. Nienaber, Mahapatra, Yuan, Definition 3.",
    draw: Draw::Derangement,
};

pub(super) static DISSEMINATION: Random = Random {
    name: "dissemination",
    alias: &["involution"],
    summary: "random partners send to each other",
    doc: "An involution without fixed points, drawn uniformly: shuffle, then each two neighbours exchange. \
          Nienaber, Mahapatra, Yuan, Definition 4, who call it dissemination or Bruck; it is not the \
          cyclic shift of Bruck's algorithm (see bruck, barrier). Needs an even number.",
    draw: Draw::Involution,
};

impl PatternKind for Random {
    fn name(&self) -> &'static str {
        self.name
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.alias
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn doc(&self) -> &'static str {
        self.doc
    }

    fn make(&self, _: &Params, among: &Participants) -> Result<Box<dyn Pattern>, PatternError> {
        let count = among.count();
        let even = !matches!(self.draw, Draw::Derangement);
        if count < 2 || even && count % 2 == 1 {
            return Err(PatternError::Count {
                pattern: self.name,
                needs: if even { "an even number of terminals" } else { "two terminals or more" },
                count,
                hint: if count < 2 {
                    "a single node has no destination".to_owned()
                } else {
                    "leave one out, or take permutation".to_owned()
                },
                fits: (count > 2).then(|| count - 1),
            });
        }
        Ok(Box::new(Sampler { count, draw: self.draw }))
    }
}

struct Sampler {
    count: u32,
    draw: Draw,
}

impl Pattern for Sampler {
    fn extent(&self) -> Extent {
        Extent::Samples
    }

    fn is_permutation(&self) -> bool {
        true
    }

    fn fill(&self, _: u64, stream: &mut Stream, pairs: &mut Vec<[u32; 2]>) {
        pairs.clear();
        match self.draw {
            Draw::Bisect => {
                partners(self.count, stream, pairs);
            }
            Draw::Involution => {
                partners(self.count, stream, pairs);
                for i in 0..pairs.len() {
                    let [s, d] = pairs[i];
                    pairs.push([d, s]);
                }
            }
            Draw::Derangement => {
                pairs.extend((0..self.count).map(|s| [s, s]));
                while pairs.iter().any(|[s, d]| s == d) {
                    derange(stream, pairs);
                }
            }
        }
    }
}

/// Random pairs of partners, in random order and direction: a shuffle whose neighbours are pairs.
fn partners(count: u32, stream: &mut Stream, pairs: &mut Vec<[u32; 2]>) {
    pairs.extend((0..count / 2).map(|i| [2 * i, 2 * i + 1]));
    stream.shuffle(pairs.as_flattened_mut());
}

/// Shuffles the destinations, until one stays where it was.
fn derange(stream: &mut Stream, pairs: &mut [[u32; 2]]) {
    for i in (0..pairs.len()).rev() {
        let j = stream.below(i as u32 + 1) as usize;
        let (a, b) = (pairs[i][1], pairs[j][1]);
        (pairs[i][1], pairs[j][1]) = (b, a);
        // Position i is final; the rest of this shuffle would be wasted.
        if pairs[i][1] == pairs[i][0] {
            return;
        }
    }
}

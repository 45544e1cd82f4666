//! Graph500: breadth-first search.

use super::{Application, Length};
use crate::collective::Collective;

/// Share of all edges that is found in each level.
const LEVELS: [f64; 8] = [0.0001, 0.004, 0.11, 0.6, 0.25, 0.032, 0.0035, 0.0004];

/// Bytes that a rank sends to others in a search.
const TOLD: f64 = 1_073_741_824.0;

pub(in crate::traffic) static GRAPH500: Application = Application {
    name: "graph500",
    summary: "breadth-first searches: everybody to everybody in bursts, level by level",
    doc: "Graph500, 1 GiB of graph a rank, 16 searches, weak scaling (Domke et al., SC'19, section 4.3). An iteration is a \
          search by levels: each rank sends the edges that leave its part of the frontier to their owners, all at once, \
          then an Allreduce of 8 bytes asks whether there is more, and an Allgather of 8 bytes tells sizes. Assumptions: \
          edges are spread evenly over ranks; 64 Mi edges of 16 bytes a rank, 8 bytes told for either end of each, 1 GiB \
          in all; eight levels with 0.01, 0.4, 11, 60, 25, 3.2, 0.35 and 0.04 % of them, the usual shape of a Kronecker \
          graph; no change of direction, which would save most of it.",
    keys: &[],
    length: Length::Iterations(16),
    #[expect(clippy::cast_sign_loss, reason = "shares are not below zero")]
    write: |body, _| {
        let n = body.n();
        for share in LEVELS {
            let bytes = (TOLD * share / f64::from(n)) as u64;
            body.work(share);
            for by in 1..n {
                (0..n).for_each(|i| body.message(i, (i + by) % n, bytes));
            }
            body.wait();
            body.collective(Collective::Allreduce, 8);
            body.collective(Collective::Allgather, 8);
        }
        Ok(())
    },
};

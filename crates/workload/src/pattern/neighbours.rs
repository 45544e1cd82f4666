//! Nearest neighbours on a grid of processes.

use darkfiber_fabric::{Key, Params};

use super::shift::{Phases, several};
use super::{Participants, Pattern, PatternError, PatternKind};
use crate::near_cubic::near_cubic;

/// Nearest neighbours in this many dimensions.
pub(super) struct Neighbours {
    name: &'static str,
    summary: &'static str,
    dimensions: usize,
}

pub(super) static NN2D: Neighbours =
    Neighbours { name: "nn2d", summary: "exchange with the neighbours on a square", dimensions: 2 };
pub(super) static NN3D: Neighbours =
    Neighbours { name: "nn3d", summary: "exchange with the neighbours in a cube", dimensions: 3 };
pub(super) static NN4D: Neighbours = Neighbours {
    name: "nn4d",
    summary: "exchange with the neighbours in four dimensions",
    dimensions: 4,
};

impl PatternKind for Neighbours {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn doc(&self) -> &'static str {
        "Everybody sends to the next and to the previous one in every dimension, all at once: the halo \
         exchange of a stencil. Participants are numbered along the last dimension first; the grid is as \
         near to a cube as n allows (as MPI_Dims_create makes it), or dims. Round the edges unless \
         periodic=0."
    }

    fn keys(&self) -> &'static [Key] {
        const {
            &[
                Key::optional("dims", "sides of the grid, joined by x", "near to a cube"),
                Key::optional("periodic", "1: the ends of a row are neighbours; 0: not", "1"),
            ]
        }
    }

    fn make(
        &self,
        params: &Params,
        among: &Participants,
    ) -> Result<Box<dyn Pattern>, PatternError> {
        let n = several(self.name, among)?;
        let dims = match params.list("dims", &(1..=n))? {
            None => near_cubic(n, self.dimensions),
            Some(dims) => {
                let places: u64 = dims.iter().map(|&d| u64::from(d)).product();
                if dims.len() != self.dimensions || places != u64::from(n) {
                    let expected =
                        format!("{} numbers joined by x whose product is {n}", self.dimensions);
                    return Err(params.bad("dims", expected).into());
                }
                dims
            }
        };
        let periodic = params.get("periodic", 0..=1)?.unwrap_or(1) == 1;
        Ok(Phases::boxed(1, move |_, pairs| {
            let mut stride = 1;
            for &k in dims.iter().rev() {
                for s in 0..n {
                    let x = s / stride % k;
                    let at = |y: u32| s - x * stride + y * stride;
                    if x + 1 < k || periodic {
                        pairs.push([s, at((x + 1) % k)]);
                    }
                    // Two in a row are one pair of neighbours.
                    if (x > 0 || periodic) && (k > 2 || !periodic) {
                        pairs.push([s, at((x + k - 1) % k)]);
                    }
                }
                stride *= k;
            }
        }))
    }
}

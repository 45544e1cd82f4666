//! NTChem: second-order perturbation theory.

use super::{Application, Length};
use crate::collective::Collective;

/// Integrals of a batch, over all ranks.
const BATCH: u64 = 1 << 30;

pub(in crate::traffic) static NTCHEM: Application = Application {
    name: "ntchem",
    summary: "quantum chemistry: blocks round a ring, sums; strong scaling",
    doc: "NTChem-mini, MP2 solver, taxol, strong scaling (Domke et al., SC'19, section 4.2, whose table 2 names the \
          operations). An iteration is a batch of integrals: an index is broadcast, each rank's block goes to the next \
          rank while it is worked on, and partial energies are summed up. Assumptions: 1 GiB of integrals a batch, \
          divided by the ranks (strong scaling), handed on four times; 64 KiB are broadcast, 64 KiB summed up.",
    keys: &[],
    length: Length::Seconds(90),
    write: |body, _| {
        let n = body.n();
        body.collective(Collective::Bcast, 64 << 10);
        for _ in 0..4 {
            body.work(1.0);
            (0..n).for_each(|i| body.message(i, (i + 1) % n, BATCH / u64::from(n)));
            body.wait();
        }
        body.collective(Collective::Allreduce, 64 << 10);
        Ok(())
    },
};

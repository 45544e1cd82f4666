//! mVMC: variational Monte Carlo.

use super::{Application, Length};
use crate::collective::Collective;

pub(in crate::traffic) static MVMC: Application = Application {
    name: "mvmc",
    summary: "variational Monte Carlo: dominated by collectives",
    doc: "mVMC-mini, job_middle, weak scaling (Domke et al., SC'19, section 4.2, whose table 2 names the operations). An \
          iteration is a step of stochastic reconfiguration: parameters are broadcast, samples run, energies reduced to \
          the root, the matrix of overlaps summed up everywhere, the solution scattered, walkers handed to the next \
          rank. Assumptions: 1000 parameters, so 8 KB are broadcast and 8 MB summed; 64 KiB are reduced, 8 KiB \
          scattered to each and 64 KiB handed on.",
    keys: &[],
    length: Length::Seconds(90),
    write: |body, _| {
        let n = body.n();
        body.collective(Collective::Bcast, 8_000);
        body.work(8.0);
        body.collective(Collective::Reduce, 64 << 10);
        body.collective(Collective::Allreduce, 8_000_000);
        body.work(2.0);
        body.collective(Collective::Scatter, 8 << 10);
        (0..n).for_each(|i| body.message(i, (i + 1) % n, 64 << 10));
        body.wait();
        Ok(())
    },
};

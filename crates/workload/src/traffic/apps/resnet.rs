//! Training of a residual network.

use darkfiber_fabric::Key;

use super::{Application, Length};
use crate::collective::Collective;
use crate::traffic::values::size;

pub(in crate::traffic) static RESNET: Application = Application {
    name: "resnet",
    summary: "training of ResNet-50: Allreduces of gradients beside the computing",
    doc: "A residual network whose gradients are summed up by non-blocking reductions (De Sensi et al., SC'20, table I: \
          Deep500's proxy; the network is not given). Assumptions: ResNet-50, 25.6 million parameters in single precision, \
          in four equal parts (about the 25 MiB of PyTorch's DistributedDataParallel); a part is summed up while the one \
          before it in the network is computed, the last one alone. Because most of it is hidden, `share` is of the \
          time that communication would take alone.",
    keys: &[Key::optional("part", "bytes of a quarter of the gradients", "25600000")],
    length: Length::Seconds(90),
    write: |body, params| {
        let part = size(params, "part", 25_600_000)?;
        body.work(2.0);
        for _ in 0..3 {
            body.beside_work(Collective::Allreduce, part, 1.0);
        }
        body.collective(Collective::Allreduce, part);
        Ok(())
    },
};

//! From records of collectives to calls.

use darkfiber_workload::trace::{Call, Collective, CollectiveKind};

use super::calls::Rank;
use super::record::Record;
use super::sizes::Sizes;
use darkfiber_formats::ReadError;

impl Rank {
    /// Adds a collective; other calls are ignored.
    pub(super) fn collective(&mut self, record: &Record, sizes: &Sizes) -> Result<(), ReadError> {
        use CollectiveKind as K;
        let mut each = Vec::new();
        let (kind, bytes) = match record.name.as_str() {
            "Barrier" => (K::Barrier, 0),
            "Bcast" => (K::Broadcast, self.bytes(record, "count", "datatype", sizes)?),
            "Reduce" => (K::Reduce, self.bytes(record, "count", "datatype", sizes)?),
            "Allreduce" => (K::Allreduce, self.bytes(record, "count", "datatype", sizes)?),
            "Scan" => (K::Scan, self.bytes(record, "count", "datatype", sizes)?),
            "Exscan" => (K::Exscan, self.bytes(record, "count", "datatype", sizes)?),
            "Gather" | "Gatherv" => {
                (K::Gather, self.bytes(record, "sendcount", "sendtype", sizes)?)
            }
            "Scatter" | "Scatterv" => {
                (K::Scatter, self.bytes(record, "recvcount", "recvtype", sizes)?)
            }
            "Allgather" | "Allgatherv" => {
                (K::Allgather, self.bytes(record, "sendcount", "sendtype", sizes)?)
            }
            "Alltoall" => (K::Alltoall, self.bytes(record, "sendcount", "sendtype", sizes)?),
            "Alltoallv" => {
                each = self.list(record, "sendcounts", "sendtype", sizes)?;
                (K::Alltoall, 0)
            }
            "Alltoallw" => {
                let pairs = record.list("sendcounts").iter().zip(record.list("sendtypes"));
                let bytes = pairs.map(|(&n, &t)| {
                    u64::try_from(n).unwrap_or(0).saturating_mul(sizes.of(t).unwrap_or(1))
                });
                each = bytes.collect();
                (K::Alltoall, 0)
            }
            "Reduce_scatter" => {
                each = self.list(record, "recvcounts", "datatype", sizes)?;
                (K::ReduceScatter, 0)
            }
            _ => return Ok(()),
        };
        let communicator = self.communicator(record, "comm")?;
        let root = if kind.rooted() { self.number(record, "root")? } else { 0 };
        let root =
            u32::try_from(root).map_err(|_| self.fail(record, format!("has the root {root}")))?;
        let sizes = each;
        self.calls.push(Call::Collective(Box::new(Collective {
            kind,
            communicator,
            root,
            bytes,
            sizes,
        })));
        Ok(())
    }
}

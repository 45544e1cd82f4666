//! Dumps and logs of the collective library NCCL: its graphs, the topology of a host, and its log.
//!
//! `NCCL_GRAPH_DUMP_FILE` and `NCCL_TOPO_DUMP_FILE` are XML files of one host, written by one of its ranks; neither names the host.
//! With `NCCL_DEBUG=INFO` and `NCCL_DEBUG_SUBSYS=INIT,GRAPH,NET` a log has rings, connections and NICs of all hosts that write to
//! it. As written by NCCL 2.30.7 (github NVIDIA/nccl, commit 5067397c: `src/graph/{xml.cc,search.cc,rings.cc}`, `src/init.cc`,
//! `src/transport/net.cc`) and some releases before.

mod graph;
mod log;
mod topology;
mod xml;

pub use graph::{Graphs, RingGraph};
pub use log::{Direction, LogLine, LogNic, NcclLog, NetConnection};
pub use topology::{HostTopology, Nic};

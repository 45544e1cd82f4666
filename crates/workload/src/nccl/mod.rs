//! A model of the collective library NCCL with GPUs and NICs: systems, channels, trees, and the cost model by which it
//! chooses.
//!
//! Taken from NCCL's source, release 2.30.7 (github NVIDIA/nccl, commit 5067397c):
//! `src/graph/{topo.h,search.cc,connect.cc,trees.cc, tuning.cc}`, and its table of corrections for trees in commit 01afd20a.
//! NVIDIA changes these constants from release to release.
//!
//! ```
//! use darkfiber_workload::nccl::{Algorithm, Cluster, Operation, Protocol, system};
//!
//! // Four hosts with eight H100 and eight 400 Gb/s NICs each: eight rings of 48 GB/s.
//! let cluster = Cluster::new(system("dgx-h100")?, 4);
//! let ring = cluster.cost(Operation::AllReduce, Algorithm::Ring, Protocol::Simple, 8 << 30);
//! let seconds = ring.expect("rings are always possible").seconds;
//! let bus = Operation::AllReduce.bus_bandwidth(cluster.ranks(), 8 << 30, seconds);
//! assert!((bus / 1e9 - 384.0).abs() < 5.0);
//! # Ok::<(), darkfiber_fabric::Unknown>(())
//! ```

mod channels;
mod constants;
mod cost;
mod operation;
mod system;
mod tree;

pub use channels::{Channel, Connection, channels, connections};
pub use cost::{Cluster, Cost};
pub use operation::{ALGORITHMS, Algorithm, OPERATIONS, Operation, PROTOCOLS, Protocol};
pub use system::{Generation, Processor, SYSTEMS, System, system};
pub use tree::{Parent, double_tree};

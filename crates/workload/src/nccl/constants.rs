//! The constants of NCCL's cost model, release 2.30.7.
//!
//! GB/s are 10^9 bytes a second, times are microseconds. Columns of bandwidths are one, two, and more hosts; columns of latencies LL, LL128
//! and Simple.

use super::system::Generation;
use super::{Algorithm, Protocol};

/// Most channels of a graph that is searched for.
pub(super) const MOST_CHANNELS: u32 = 32;
/// Channels of a communicator at most.
pub(super) const MOST_IN_ALL: u32 = 64;

/// Speeds of a channel between hosts that are tried, from the fastest (`search.cc`).
pub(super) fn inter_speeds(generation: Generation) -> &'static [f64] {
    match generation {
        Generation::Blackwell => &[
            96.0, 86.0, 80.0, 48.0, 45.1, 42.0, 40.0, 30.0, 24.0, 22.0, 20.0, 17.5, 15.0, 12.0,
            6.0, 3.0, 2.4, 1.2, 0.24, 0.12,
        ],
        Generation::Hopper => &[
            48.0, 45.0, 42.0, 40.0, 30.0, 24.0, 22.0, 20.0, 17.5, 15.0, 12.0, 6.0, 3.0, 2.4, 1.2,
            0.24, 0.12,
        ],
        _ => &[
            48.0, 30.0, 28.0, 24.0, 20.0, 18.0, 15.0, 12.0, 10.0, 9.0, 7.0, 6.0, 5.0, 4.0, 3.0,
            2.4, 1.2, 0.24, 0.12,
        ],
    }
}

/// Speeds of a channel within a host.
pub(super) fn intra_speeds(generation: Generation) -> &'static [f64] {
    match generation {
        Generation::Blackwell => &[90.0, 80.0, 70.0, 60.0, 50.0, 40.0, 30.0, 24.0, 20.0, 18.0],
        Generation::Hopper => &[60.0, 50.0, 40.0, 30.0, 24.0, 20.0, 15.0, 12.0, 11.0, 6.0, 3.0],
        _ => &[40.0, 30.0, 20.0, 18.0, 15.0, 12.0, 10.0, 9.0, 7.0, 6.0, 5.0, 4.0, 3.0],
    }
}

/// Most that LL moves; between hosts the row is that of the processor, Intel first.
pub(super) const LL_MOST: [[f64; 3]; 4] =
    [[39.0, 39.0, 20.4], [87.7, 22.5, 19.0], [141.0, 45.0, 35.0], [282.0, 90.0, 70.0]];

/// A channel of a ring with LL128.
pub(super) const RING_LL128: [f64; 4] = [20.0, 20.0, 36.7, 40.0];

/// A channel of a tree with LL128.
pub(super) const TREE_LL128: [[f64; 3]; 4] =
    [[20.0, 20.0, 20.0], [20.0, 20.0, 20.0], [36.7, 36.7, 29.0], [55.6, 31.67, 20.0]];

/// A channel of a tree.
pub(super) const TREE: [[f64; 3]; 4] =
    [[26.5, 18.5, 10.0], [24.0, 23.6, 17.8], [38.7, 41.4, 36.0], [70.0, 42.8, 24.0]];

/// A channel of an NVLS tree of hosts.
pub(super) const NVLS_TREE: [[f64; 3]; 4] =
    [[26.5, 18.5, 10.0], [24.0, 23.6, 17.8], [0.0, 57.7, 45.5], [0.0, 96.0, 80.0]];

/// Share of NVLink's rate that sums in the switch reach; 0 where there are none.
pub(super) const NVLS_SHARE: [f64; 4] = [0.0, 0.0, 0.85, 0.74];

/// Base latency of any call.
pub(super) fn base(algorithm: Algorithm, protocol: Protocol) -> f64 {
    let row = match algorithm {
        Algorithm::Tree => [6.8, 14.0, 8.4],
        Algorithm::Ring => [6.6, 14.0, 8.4],
        Algorithm::Nvls | Algorithm::NvlsTree => [0.0; 3],
    };
    row[protocol as usize]
}

/// A step over NVLink.
pub(super) fn nvlink(algorithm: Algorithm, protocol: Protocol) -> f64 {
    let row = match algorithm {
        Algorithm::Tree => [0.6, 1.25, 4.0],
        Algorithm::Ring => [0.6, 1.9, 3.4],
        Algorithm::Nvls | Algorithm::NvlsTree => [25.0; 3],
    };
    row[protocol as usize]
}

/// A step over the network.
pub(super) fn net(algorithm: Algorithm, protocol: Protocol) -> f64 {
    let row = match algorithm {
        Algorithm::Tree => [5.0, 8.5, 14.0],
        Algorithm::Ring => [2.7, 4.0, 14.0],
        Algorithm::Nvls => [18.0; 3],
        Algorithm::NvlsTree => [20.9; 3],
    };
    row[protocol as usize]
}

/// Share of the bandwidth that trees reach by the power of two of 64 bytes; all of it beyond.
const TREE_CORRECTION: [[f64; 22]; 3] = [
    [
        1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8,
        0.9, 1.0, 1.0, 1.0,
    ],
    [
        1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.5, 0.6, 0.6, 0.7, 0.7,
        0.8, 0.9, 0.9, 1.0,
    ],
    [
        0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.6,
        0.6, 0.7, 0.8, 0.9,
    ],
];

/// Share of the bandwidth that a tree reaches with a vector of this number of bytes.
pub(super) fn tree_correction(protocol: Protocol, bytes: u64) -> f64 {
    let power = (bytes >> 6).checked_ilog2().unwrap_or(0) as usize;
    TREE_CORRECTION[protocol as usize].get(power).copied().unwrap_or(1.0)
}

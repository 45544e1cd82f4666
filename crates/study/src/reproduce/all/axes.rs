//! The compared mechanisms, the networks, and the claims of the papers that can be tested with them: data only.

use darkfiber_packetsim::Congestion;

/// A network of 240 hosts, and the routing that is there without any of the mechanisms.
pub(super) struct Network {
    /// Name in rows.
    pub(super) name: &'static str,
    /// Specification of the network.
    pub(super) spec: &'static str,
    /// The engine that others are compared with.
    pub(super) baseline: &'static str,
    /// Other engines that suit it.
    pub(super) engines: &'static [&'static str],
}

/// The networks: 240 hosts and cables of 200 Gbit/s each.
pub(super) const NETWORKS: [Network; 3] = [
    Network {
        name: "tree",
        spec: "fattree2:n=16,m=16,r=15,gbps=200",
        baseline: "ftree",
        engines: &["minhop", "dfsssp", "dmodk", "sar", "parx-minimal", "opt", "afar"],
    },
    Network {
        name: "HyperX",
        spec: "hyperx:dims=8x6,t=5,gbps=200",
        baseline: "dfsssp",
        engines: &["sar", "parx-minimal", "parx", "afar"],
    },
    Network {
        name: "dragonfly",
        spec: "dragonfly:p=5,a=6,h=5,g=8,gbps=200",
        baseline: "dragonfly-min",
        engines: &["dfsssp", "sar", "parx-minimal", "afar"],
    },
];

/// Mechanisms of packets and sources beyond tables: name, routing of packets, scheme of congestion control.
pub(super) const IN_THE_NETWORK: [(&str, &str, Congestion); 3] = [
    ("baseline, pairs", "tables", Congestion::Pairs),
    ("slingshot", "slingshot", Congestion::None),
    ("slingshot, pairs", "slingshot", Congestion::Pairs),
];

/// The job mix: name, nodes, traffic. All begin together, with a rank a node, and run once; alone each takes one to three
/// milliseconds.
pub(super) const MIX: [(&str, u32, &str); 6] = [
    ("bis", 48, "bis:bytes=1MiB,steps=1,iterations=24,compute=0us"),
    ("nn", 48, "nn:bytes=256KiB,steps=1,iterations=20,compute=0us"),
    ("pairs", 48, "pairs:bytes=1MiB,steps=1,iterations=24,compute=0us"),
    ("alltoall", 40, "imb:op=alltoall,bytes=256KiB,repeat=2"),
    ("allreduce", 32, "imb:op=allreduce,bytes=8,repeat=80"),
    ("incast", 24, "bursts:bytes=128KiB,burst=10,iterations=1"),
];
/// The job that exchanges with its other half.
pub(super) const BIS: usize = 0;
/// The job of small messages.
pub(super) const ALLREDUCE: usize = 4;

/// Allocation of hosts to jobs, and the number of jobs.
pub(super) struct Condition {
    /// Name in rows.
    pub(super) name: &'static str,
    /// An allocator; jobs come in an order that the seed draws.
    pub(super) placement: &'static str,
    /// This many of the first jobs of [`MIX`]; the hosts of others stay idle.
    pub(super) jobs: usize,
}

/// The conditions. The last one only explains differences: the part that remains without the incast.
pub(super) const CONDITIONS: [Condition; 3] = [
    Condition { name: "random", placement: "random", jobs: 6 },
    Condition { name: "linear", placement: "linear", jobs: 6 },
    Condition { name: "random, no incast", placement: "random", jobs: 5 },
];
/// Hosts at random, all jobs.
const RANDOM: usize = 0;
/// Jobs on consecutive hosts.
const LINEAR: usize = 1;
/// As [`RANDOM`], without the incast.
pub(super) const NO_INCAST: usize = 2;

/// The subject of a claim.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ClaimSubject {
    /// Increase of the run times of jobs, in the geometric mean over all.
    All,
    /// Increase of the run time of one job.
    Job(usize),
}

/// A sentence of a paper that the job mix can test: that jobs fare better with one mechanism than with another.
pub(super) struct Claim {
    /// Network, by its number in [`NETWORKS`].
    pub(super) network: usize,
    /// Condition, by its number in [`CONDITIONS`].
    pub(super) condition: usize,
    /// Mechanism without it.
    pub(super) without: &'static str,
    /// Mechanism with it.
    pub(super) with: &'static str,
    /// Subject of the comparison.
    pub(super) of: ClaimSubject,
    /// Place of the claim in the paper.
    pub(super) sentence: &'static str,
}

/// The claims, each with the sentence that it is from.
pub(super) const CLAIMS: [Claim; 6] = [
    Claim {
        network: 0,
        condition: RANDOM,
        without: "dfsssp",
        with: "sar",
        of: ClaimSubject::All,
        sentence: "SAR, conclusion: `the observable throughput for MPI-parallelized applications improves considerably`",
    },
    Claim {
        network: 1,
        condition: LINEAR,
        without: "dfsssp",
        with: "parx",
        of: ClaimSubject::Job(BIS),
        sentence: "HX, section 5.1: `we see the advantage of the non-minimal routing by PARX compared to DFSSSP for dense node allocations` (eBB)",
    },
    Claim {
        network: 0,
        condition: RANDOM,
        without: "dmodk",
        with: "opt",
        of: ClaimSubject::Job(BIS),
        sentence: "OPT, section V: `better average-case performance for common communication patterns on full bisection bandwidth [...] fat-trees`",
    },
    Claim {
        network: 0,
        condition: RANDOM,
        without: "ftree",
        with: "afar",
        of: ClaimSubject::All,
        sentence: "AFAR, section I: `In general, the performance of all benchmarks in a given workload improves`",
    },
    Claim {
        network: 2,
        condition: RANDOM,
        without: "slingshot",
        with: "slingshot, pairs",
        of: ClaimSubject::Job(ALLREDUCE),
        sentence: "SLS, section V: `applications running on Slingshot are much less affected by congestion`",
    },
    Claim {
        network: 2,
        condition: RANDOM,
        without: "dragonfly-min",
        with: "slingshot",
        of: ClaimSubject::All,
        sentence: "SLS, section V: `thanks to novel adaptive routing strategies, it provides high network utilization`",
    },
];

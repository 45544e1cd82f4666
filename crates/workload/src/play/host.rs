//! Host overheads: the o, g, O and S of LogGOPS.

use darkfiber_fabric::{Registry, Unknown};

/// Time of processors and adapters for a message, independent of the network: LogGOPS (Hoefler, Schneider, Lumsdaine:
/// "LogGOPSim - Simulating Large-Scale Applications in the LogGOPS Model", LSAP'10), whose L and G belong to the
/// wire.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// Short name for users.
    pub name: &'static str,
    /// The system it models, and the source of its numbers.
    pub doc: &'static str,
    /// Processor time to send a message (o), in picoseconds.
    pub send: u64,
    /// Processor time to receive a message (o), in picoseconds.
    pub receive: u64,
    /// Processor time for each byte (O), in picoseconds, at both ends.
    pub per_byte: f64,
    /// Least time between two messages of an adapter (g), in picoseconds.
    pub gap: u64,
    /// From this number of bytes on (S) a message waits until its receiver is ready (rendezvous): a request and a reply
    /// precede it.
    pub rendezvous: u64,
    /// Latency of the adapters of both ends together, without cables and switches, in picoseconds.
    pub adapters: u64,
    /// Latency of a switch, in picoseconds.
    pub switch: u64,
    /// Rate at which an adapter can send, and also receive, in bytes a second; `f64::INFINITY` where only the cable
    /// counts.
    pub adapter_bytes_per_second: f64,
    /// Share of a cable's data rate that carries payload.
    pub efficiency: f64,
    /// Latency between ranks of one host, in picoseconds.
    pub memory_latency: u64,
    /// Bandwidth of each message between ranks of one host, in bytes a second.
    pub memory_bytes_per_second: f64,
    /// Standard deviation of the time that computing takes, as a part of it; evenly distributed, at random for each rank and
    /// operation.
    pub noise: f64,
}

/// The registry of hosts.
pub static HOSTS: Registry<Host> = Registry::new(
    "kind of hosts",
    &[
        Host {
            name: "ideal",
            doc: "no cost at all: messages take the time that the network takes",
            send: 0,
            receive: 0,
            per_byte: 0.0,
            gap: 0,
            rendezvous: u64::MAX,
            adapters: 0,
            switch: 0,
            adapter_bytes_per_second: f64::INFINITY,
            efficiency: 1.0,
            memory_latency: 0,
            memory_bytes_per_second: f64::INFINITY,
            noise: 0.0,
        },
        Host {
            name: "qdr",
            doc: "QDR InfiniBand, hosts of 2010 with PCIe 2.0: about 1.5 us between neighbours; 12 KiB is Open MPI's \
              eager limit for openib; 100 ns a switch (Mellanox InfiniScale IV); one adapter moves at most \
              2.26 GiB/s (Domke et al., SC'19, figure 1)",
            send: 300_000,
            receive: 300_000,
            per_byte: 0.0,
            gap: 150_000,
            rendezvous: 12_288,
            adapters: 700_000,
            switch: 100_000,
            adapter_bytes_per_second: 2.26 * 1_073_741_824.0,
            efficiency: 0.85,
            memory_latency: 300_000,
            memory_bytes_per_second: 4e9,
            noise: 0.0,
        },
        Host {
            name: "aries",
            doc: "Cray XC: about 1.3 us between neighbours, 8 KiB eager limit (Cray MPICH's default), 100 ns a router \
              (Alverson et al., \"Cray XC Series Network\", 2012), 10.2 GB/s injection (De Sensi et al., SC'20, \
              section III)",
            send: 250_000,
            receive: 250_000,
            per_byte: 0.0,
            gap: 20_000,
            rendezvous: 8_192,
            adapters: 600_000,
            switch: 100_000,
            adapter_bytes_per_second: 10.2e9,
            efficiency: 1.0,
            memory_latency: 300_000,
            memory_bytes_per_second: 8e9,
            noise: 0.0,
        },
        Host {
            name: "slingshot",
            doc: "100 Gb/s ConnectX-5 on Slingshot: about 2 us between neighbours (De Sensi et al., SC'20, section II-F), \
              350 ns a switch (figure 2), 16 KiB eager limit",
            send: 300_000,
            receive: 300_000,
            per_byte: 0.0,
            gap: 10_000,
            rendezvous: 16_384,
            adapters: 950_000,
            switch: 350_000,
            adapter_bytes_per_second: 12.5e9,
            efficiency: 0.97,
            memory_latency: 300_000,
            memory_bytes_per_second: 10e9,
            noise: 0.0,
        },
    ],
);

darkfiber_fabric::named!(Host);

/// Finds the hosts of that name.
///
/// # Errors
/// If there are no such hosts.
pub fn host(name: &str) -> Result<&'static Host, Unknown> {
    HOSTS.get(name)
}

impl Host {
    /// Processor time of one end of a message.
    #[inline]
    #[expect(clippy::cast_sign_loss, reason = "costs are not below zero")]
    pub(super) fn busy(&self, fixed: u64, bytes: u64) -> u64 {
        // A multiplication less for all who leave it at zero.
        if self.per_byte > 0.0 { fixed + (self.per_byte * bytes as f64) as u64 } else { fixed }
    }

    /// Duration of a computation of this number of picoseconds with noise; `seed` seeds the random draw.
    #[inline]
    #[expect(clippy::cast_sign_loss, reason = "nothing takes less than no time")]
    pub(super) fn computing(&self, picoseconds: u64, seed: [u64; 4]) -> u64 {
        if self.noise <= 0.0 {
            return picoseconds;
        }
        // The finaliser of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
        let mixed = seed.into_iter().fold(0u64, |x, part| {
            let mut x = (x ^ part).wrapping_add(0x9e37_79b9_7f4a_7c15);
            x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            x ^ (x >> 31)
        });
        let even = (mixed >> 11) as f64 / (1u64 << 53) as f64;
        let factor = 1.0 + self.noise * 3f64.sqrt() * (2.0 * even - 1.0);
        (picoseconds as f64 * factor).max(0.0).round() as u64
    }
}

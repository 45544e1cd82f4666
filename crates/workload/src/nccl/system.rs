//! Hosts with GPUs, by data sheets.

use darkfiber_fabric::{Entry, Registry, Unknown};

/// Whose processors a host has: NCCL takes other limits for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Processor {
    /// Xeon.
    Intel,
    /// EPYC.
    Amd,
}

/// A generation of GPUs, by what NCCL's tables have a row for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Generation {
    /// Compute capability 7.0.
    Volta,
    /// 8.0.
    Ampere,
    /// 9.0.
    Hopper,
    /// 10.0.
    Blackwell,
}

/// A host with GPUs that an NVSwitch joins, and NICs; NIC i is next to the GPUs whose number is i modulo the NICs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct System {
    /// Short name.
    pub name: &'static str,
    /// What it is, and where its numbers are from.
    pub doc: &'static str,
    /// Its GPUs' generation.
    pub generation: Generation,
    /// Its processors.
    pub processor: Processor,
    /// GPUs of a host.
    pub gpus: u32,
    /// NICs of a host.
    pub nics: u32,
    /// Data rate of a NIC, in GB/s each way.
    pub nic: f64,
    /// What a GPU sends by NVLink, in GB/s, as NCCL counts links (`topo.h`).
    pub nvlink: f64,
}

/// Systems that are known by name.
pub static SYSTEMS: Registry<System> = Registry::new(
    "system of GPUs",
    &[
        System {
            name: "dgx-a100",
            doc: "DGX A100: 8 A100 of 12 NVLinks at 20 GB/s, AMD, 8 HDR NICs of 200 Gb/s (data sheet; NCCL topo.h)",
            generation: Generation::Ampere,
            processor: Processor::Amd,
            gpus: 8,
            nics: 8,
            nic: 25.0,
            nvlink: 240.0,
        },
        System {
            name: "a100-4nic",
            doc: "the same with 4 HDR NICs, one for two GPUs",
            generation: Generation::Ampere,
            processor: Processor::Amd,
            gpus: 8,
            nics: 4,
            nic: 25.0,
            nvlink: 240.0,
        },
        System {
            name: "dgx-h100",
            doc: "DGX or HGX H100, H200: 8 GPUs of 18 NVLinks at 20.6 GB/s, Intel, 8 NICs of 400 Gb/s (data sheet; NCCL \
                  topo.h)",
            generation: Generation::Hopper,
            processor: Processor::Intel,
            gpus: 8,
            nics: 8,
            nic: 50.0,
            nvlink: 370.8,
        },
        System {
            name: "h100-4nic",
            doc: "the same with 4 NICs of 400 Gb/s, one for two GPUs",
            generation: Generation::Hopper,
            processor: Processor::Intel,
            gpus: 8,
            nics: 4,
            nic: 50.0,
            nvlink: 370.8,
        },
        System {
            name: "h100-8x200g",
            doc: "the same with 8 NICs of 200 Gb/s",
            generation: Generation::Hopper,
            processor: Processor::Intel,
            gpus: 8,
            nics: 8,
            nic: 25.0,
            nvlink: 370.8,
        },
        System {
            name: "dgx-b200",
            doc: "DGX B200: 8 GPUs of 18 NVLinks at 40.1 GB/s, Intel, 8 NICs of 400 Gb/s (data sheet; NCCL topo.h)",
            generation: Generation::Blackwell,
            processor: Processor::Intel,
            gpus: 8,
            nics: 8,
            nic: 50.0,
            nvlink: 721.8,
        },
        System {
            name: "gb200-nvl72",
            doc: "GB200 NVL72: 72 GPUs of 18 NVLinks at 40.1 GB/s that one NVLink network joins, taken as one host, with a NIC of \
                  400 Gb/s each (data sheet; NCCL topo.h); its processors are Grace, and count as Intel",
            generation: Generation::Blackwell,
            processor: Processor::Intel,
            gpus: 72,
            nics: 72,
            nic: 50.0,
            nvlink: 721.8,
        },
    ],
);

impl Entry for System {
    fn name(&self) -> &str {
        self.name
    }
}

/// The system of that name.
///
/// # Errors
/// If there is none.
pub fn system(name: &str) -> Result<&'static System, Unknown> {
    SYSTEMS.get(name)
}

//! Hosts with GPUs, by data sheets.

use darkfiber_fabric::{Registry, Unknown};

/// Vendor of a host's processors: NCCL uses different limits for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Processor {
    /// Xeon processors of Intel.
    Intel,
    /// EPYC processors of AMD.
    Amd,
}

/// A generation of GPUs, as in the rows of NCCL's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Generation {
    /// Volta, of compute capability 7.0.
    Volta,
    /// Ampere, of compute capability 8.0.
    Ampere,
    /// Hopper, of compute capability 9.0.
    Hopper,
    /// Blackwell, of compute capability 10.0.
    Blackwell,
}

/// A host with GPUs that an NVSwitch joins, and NICs; NIC i is next to the GPUs whose number is i modulo the NICs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct System {
    /// Short name for users.
    pub name: &'static str,
    /// Description, and the source of its numbers.
    pub doc: &'static str,
    /// Generation of its GPUs.
    pub generation: Generation,
    /// Vendor of its processors.
    pub processor: Processor,
    /// GPUs of a host.
    pub gpus: u32,
    /// NICs of a host.
    pub nics: u32,
    /// Data rate of a NIC, in GB/s in each direction.
    pub nic: f64,
    /// Data rate of a GPU by NVLink, in GB/s, as NCCL counts links (`topo.h`).
    pub nvlink: f64,
}

/// The registry of systems.
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

darkfiber_fabric::named!(System);

/// Finds the system of that name.
///
/// # Errors
/// If there is no such system.
pub fn system(name: &str) -> Result<&'static System, Unknown> {
    SYSTEMS.get(name)
}

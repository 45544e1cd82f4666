//! Collectives of GPUs, as NCCL runs them.

use darkfiber_fabric::{Key, Params, SpecError};

use super::values::{count, size};
use super::{Ranks, Traffic, TrafficError, finished, several};
use crate::nccl::{
    ALGORITHMS, Cluster, OPERATIONS, Operation, PROTOCOLS, SYSTEMS, channels, connections,
};
use crate::schedule::{Program, Script};

/// Kind of the traffic `nccl`.
pub(super) struct Nccl;

impl Traffic for Nccl {
    fn name(&self) -> &'static str {
        "nccl"
    }

    fn summary(&self) -> &'static str {
        "a collective of GPUs as NCCL runs it: rings and trees over rails, NVLink"
    }

    fn doc(&self) -> &'static str {
        "One collective (`op`) among all ranks, `repeat` times, all beginning together; per-node of the job says how many GPUs \
         of a host take part, and rank r of a host uses its NIC r modulo the NICs. `bytes` are those of the vector as nccl-tests count: of \
         Allgather and Reduce-scatter the parts of all ranks together, of Alltoall what one rank sends to all. Algorithm and protocol are those that NCCL's cost \
         model takes for such a `system` unless they are named. Chunks of a ring follow each other closely, so each \
         connection of each channel is one flow with all of its bytes, with what the protocol adds (LL 2, LL128 128/120) and \
         what NCCL leaves of a NIC (48 GB/s of 400 Gb/s). Beside these flows a rank waits for what NCCL's model says the call takes \
         where nobody is in its way, NVLink and NVSwitch included; before both, for its latency. So the time is that of the \
         model on an idle fabric that is wide enough, and that of the flows elsewhere (NCCL 2.30.7, src/graph; Alltoall, \
         of which NCCL has no model, is bound by NICs or NVLink here: an assumption)."
    }

    fn keys(&self) -> Vec<Key> {
        vec![
            Key::required("op", "allreduce, allgather, reducescatter, alltoall"),
            Key::optional("bytes", "of the vector", "1GiB"),
            Key::optional("system", "dgx-a100, dgx-h100, ...", "dgx-h100"),
            Key::optional("algorithm", "ring, tree, nvls, nvlstree", "NCCL's choice"),
            Key::optional("protocol", "ll, ll128, simple", "NCCL's choice"),
            Key::optional("nics", "NICs of a host", "the system's"),
            Key::optional("crossnic", "0: a channel has one NIC of a host; 2: two", "2"),
            Key::optional("pxn", "0: an Alltoall leaves by the NIC of its sender", "1"),
            Key::optional("repeat", "calls", "1"),
        ]
    }

    #[expect(clippy::cast_sign_loss, reason = "times are not below zero")]
    fn program(&self, params: &Params, job: &Ranks) -> Result<Program, TrafficError> {
        let n = several(self.name(), job)?;
        let named = |key: &'static str, names: String| params.bad(key, format!("one of {names}"));
        let op = params.raw("op").unwrap_or_default();
        let operation = Operation::named(op)
            .map_err(|_| named("op", OPERATIONS.names().collect::<Vec<_>>().join(", ")))?;
        let of_system = params.raw("system").unwrap_or("dgx-h100");
        let mut system = *SYSTEMS
            .get(of_system)
            .map_err(|_| named("system", SYSTEMS.names().collect::<Vec<_>>().join(", ")))?;
        let algorithm = chosen(params, "algorithm", &ALGORITHMS)?;
        let protocol = chosen(params, "protocol", &PROTOCOLS)?;
        let bytes = size(params, "bytes", 1 << 30)?;
        let crosses = match params.get("crossnic", 0..=2)? {
            Some(1) => return Err(params.bad("crossnic", "0 or 2").into()),
            other => other != Some(0),
        };
        let pxn = params.get("pxn", 0..=1)? != Some(0);
        let repeat = count(params, "repeat", 1)?;
        // The part of a host that takes part.
        let gpus = job.per_node.min(n).max(1);
        if !n.is_multiple_of(gpus) {
            return Err(TrafficError::Ranks {
                traffic: self.name(),
                needs: "as many ranks on every host",
                ranks: n,
                hint: format!("take a multiple of {gpus}, the ranks of a host"),
            });
        }
        if gpus > system.gpus {
            return Err(TrafficError::Ranks {
                traffic: self.name(),
                needs: "a GPU for each rank",
                ranks: n,
                hint: format!(
                    "hosts of this system have {} GPUs: take per-node = {0} at most, or another system",
                    system.gpus
                ),
            });
        }
        let nics = params.get("nics", 1..=64)?;
        if nics.is_some_and(|nics| nics > system.gpus) {
            let wanted = format!("at most {}, the GPUs of a host of this system", system.gpus);
            return Err(params.bad("nics", wanted).into());
        }
        let nics = nics.unwrap_or(system.nics);
        (system.gpus, system.nics) = (gpus, nics.min(gpus));
        let cluster = Cluster::new(&system, n / gpus);
        let Some(cost) = cluster.choose(operation, algorithm, protocol, bytes) else {
            let key = if algorithm.is_some() { "algorithm" } else { "protocol" };
            return Err(params
                .bad(key, format!("what NCCL has for {op} on {} hosts of {gpus} GPUs", n / gpus))
                .into());
        };
        // A wait for the latency; then the network in parallel with the time of the model.
        let found = channels(&cluster, cost.algorithm, crosses);
        let what = (operation, cost.algorithm, cost.protocol);
        let flows = connections(&cluster, what, &found, bytes, pxn);
        let picoseconds = |seconds: f64| (seconds * 1e12).round() as u64;
        let all = job.all();
        let mut script = Script::new(n);
        for &rank in &all {
            script.compute(rank, picoseconds(cost.latency));
            script.wait(rank);
        }
        for (flow, tag) in flows.iter().zip(0..) {
            script.message(flow.from, flow.to, flow.bytes, tag);
        }
        // Behind the messages: a processor that computes posts no message.
        for &rank in &all {
            script.compute(rank, picoseconds(cost.seconds - cost.latency));
        }
        script.wait_all(&all);
        let mut program = Program::new(n);
        program.then_together(finished(self.name(), script)?, repeat.into());
        Ok(program)
    }
}

/// The component of that name, if one is named.
fn chosen<T: Copy>(
    params: &Params,
    key: &'static str,
    of: &[(&'static str, T)],
) -> Result<Option<T>, SpecError> {
    let Some(name) = params.raw(key) else { return Ok(None) };
    let found = of.iter().find(|(known, _)| *known == name);
    found.map(|&(_, found)| Some(found)).ok_or_else(|| {
        let names: Vec<&str> = of.iter().map(|(known, _)| *known).collect();
        params.bad(key, format!("one of {}", names.join(", ")))
    })
}

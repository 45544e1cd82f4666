//! Training of language models: steps of a published model, divided over GPUs.

mod stage;
mod step;

use darkfiber_fabric::{Key, Params};

use self::stage::Stage;
use self::step::Step;
use super::values::count;
use super::{Ranks, Traffic, TrafficError, finished, several};
use crate::schedule::{Program, Script};

/// Kind of the traffic `train`.
pub(super) struct Train;

impl Traffic for Train {
    fn name(&self) -> &'static str {
        "train"
    }

    fn summary(&self) -> &'static str {
        "steps of training a language model: tensor, pipeline, data, expert parallel"
    }

    fn doc(&self) -> &'static str {
        "A rank is a GPU; per-node of the job says how many a host has, and rank r of a host uses its NIC r modulo the NICs. Ranks are \
         divided over tp x cp x dp x pp, tp innermost; what is left is dp. Stages work in the order of 1F1B, with `parts` of the model \
         each in turn (Narayanan et al., SC'21, section 2.2); a step has `batches` microbatches for each copy. Between stages: micro x \
         sequence x hidden x 2 B / (tp cp). Collectives inside a host take their time at `nvlink` and \
         are messages otherwise. Tensor parallel: two Allreduces a layer each way (Megatron). Context parallel: an Allgather of keys and values, and a Reduce-scatter \
         on the way back (Llama 3, section 3.3.2). Experts: an Alltoall to them and one back, each way; tokens are spread evenly, \
         and one that several experts of a host want is sent several times. \
         Gradients of 4 B: with zero=0 an Allreduce, with 1 a Reduce-scatter, which begins when a part has done its last microbatch, \
         and an Allgather of 2 B at the end; with 3 an Allgather of parameters beside each piece of work and a Reduce-scatter of \
         2 B behind each way back. A ring is one message from each rank to the next with all that it sends; layers of a part go \
         together: latencies of steps are left out. Computing: two operations for each parameter, but for the embedding, and token and half of all \
         attention, thrice for both ways; stages and parts are equally long. What a GPU does in a second without \
         communication (`tflops`) is an assumption: half of the peak of an H100. `nvlink` is what 8 H100 reach (nccl-tests, issues 212, 290)."
    }

    fn keys(&self) -> Vec<Key> {
        vec![
            Key::required("model", "llama3-8b, llama3-405b, mixtral-8x7b, deepseek-v3, ..."),
            Key::optional("tp", "parts of each matrix", "the GPUs of a host, at most 8"),
            Key::optional("pp", "stages of the pipeline", "1"),
            Key::optional("cp", "parts of each sequence", "1"),
            Key::optional("ep", "parts of the experts", "1"),
            Key::optional("order", "data or pipeline: which varies first, after tp and cp", "data"),
            Key::optional("parts", "of the model on each stage, in turn", "1"),
            Key::optional("batches", "microbatches of a copy in a step", "2 pp"),
            Key::optional("micro", "sequences of a microbatch", "1"),
            Key::optional("sequence", "tokens", "the model's"),
            Key::optional("layers", "of a smaller model", "the model's"),
            Key::optional("zero", "0, 1 or 3: what copies share", "1"),
            Key::optional("recompute", "1: activations are computed again on the way back", "0"),
            Key::optional("tflops", "10^12 operations a second of a GPU that computes", "500"),
            Key::optional("nvlink", "bytes a second of a GPU inside its host", "370GB"),
            Key::optional("repeat", "steps", "1"),
        ]
    }

    fn program(&self, params: &Params, job: &Ranks) -> Result<Program, TrafficError> {
        let n = several(self.name(), job)?;
        let step = Step::read(params, job, n)?;
        let mut script = Script::new(n);
        for stage in 0..step.layout.stages {
            Stage::new(&step, stage).write(&mut script);
        }
        let mut program = Program::new(n);
        program.then(finished(self.name(), script)?, count(params, "repeat", 1)?.into());
        Ok(program)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::traffic;

    fn program(spec: &str, ranks: u32) -> Result<Program, TrafficError> {
        let mut job = Ranks::new(ranks);
        job.per_node = 8.min(ranks);
        traffic(spec, &job)
    }

    fn bytes(spec: &str, ranks: u32) -> f64 {
        program(spec, ranks).expect("it divides").bytes() as f64
    }

    /// Llama 3 405B on 16,384 GPUs: 12.7 GB and 6.3 GB of a GPU among copies, 33.5 MB a microbatch between stages; here with an
    /// eighth of the copies, each of which sends 15/16 instead of 127/128.
    #[test]
    fn bytes_of_llama_are_those_by_hand() {
        let spec = "train:model=llama3-405b,tp=8,pp=16,batches=16,order=pipeline";
        let found = bytes(spec, 2048);
        let local = 405.85e9 / 128.0;
        let copies = 2048.0 * 15.0 / 16.0 * local * 6.0;
        let between = 16.0 * 8.0 * 15.0 * 16.0 * 2.0 * 8192.0 * 16_384.0 * 2.0 / 8.0;
        assert!((found / (copies + between) - 1.0).abs() < 0.001, "{found} {}", copies + between);
    }

    #[test]
    fn zero_says_what_copies_send() {
        // One stage, no tensor parallelism inside a host to speak of: all messages are among copies.
        let of =
            |zero: u32| bytes(&format!("train:model=llama3-8b,tp=8,zero={zero},batches=3"), 64);
        let all = 64.0 * 7.0 / 8.0 * 8.03e9 / 8.0;
        for (zero, each) in [(0, 8.0), (1, 6.0), (3, 3.0 * 3.0 * 2.0)] {
            assert!((of(zero) / (all * each) - 1.0).abs() < 0.001, "{zero}: {}", of(zero));
        }
    }

    #[test]
    fn experts_exchange_what_tokens_take() {
        // 61 layers of which 58 have experts; FP8 there, 2 B back, both twice; 1/ep stays.
        let spec = "train:model=deepseek-v3,tp=1,ep=16,batches=1,zero=0,micro=2";
        let found = bytes(spec, 16);
        let tokens = 2.0 * 4096.0;
        let sent = 16.0 * 58.0 * tokens * 8.0 * 7168.0 * (1.0 + 2.0) * 2.0 * 8.0 / 16.0;
        let shared = 671.03e9 - 58.0 * 256.0 * 3.0 * 7168.0 * 2048.0;
        let copies = 16.0 * 2.0 * 15.0 / 16.0 * shared * 4.0;
        // Half of a group is on the same host: 8 of its 15 others get messages.
        // The shared part is the small difference of printed numbers.
        assert!((found / (sent + copies) - 1.0).abs() < 0.005, "{found} {}", sent + copies);
    }

    #[test]
    fn what_does_not_divide_is_said() {
        for (spec, ranks, text) in [
            ("train:model=llama3-8b,tp=3", 64, "train needs a multiple of tp x cp x pp"),
            ("train:model=llama3-8b,ep=2", 64, "a divisor of 1, the experts of a layer"),
            ("train:model=mixtral-8x7b,tp=1,ep=6", 48, "a divisor of 8, the experts of a layer"),
            ("train:model=llama3-8b,batches=10000000", 16, "at most 4194304 on 16 ranks"),
            ("train:model=llama3-8b,tflops=0.001,batches=1000", 16, "at most 1000 hours"),
            ("train:model=mixtral-8x7b,tp=8,ep=4", 48, "a divisor of cp x dp = 6"),
            ("train:model=llama4", 64, "one of llama3-8b"),
            ("train:model=llama3-8b,pp=4,parts=2,batches=6", 64, "a multiple of pp = 4"),
            ("train:model=llama3-8b,pp=8,parts=5,batches=8", 64, "at most 4 with pp = 8"),
            ("train:model=llama3-8b,zero=2", 64, "2 sends what 1 does"),
            ("train:model=llama3-8b,tflops=0", 64, "10^12 operations a second"),
        ] {
            let error = program(spec, ranks).err().map(|e| e.to_string()).unwrap_or_default();
            assert!(error.contains(text), "{spec}: {error}");
        }
    }
}

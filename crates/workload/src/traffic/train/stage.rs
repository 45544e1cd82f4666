//! The operations of the ranks of a stage in a step of training.

use super::step::{Step, whole};
use crate::schedule::{Op, Script};
use crate::training::{Work, pipeline};

/// Tags of rings and Alltoalls begin here; below are messages between stages.
const COLLECTIVE: u32 = 1 << 31;

/// The stream of collectives that data of go through a host's own switches.
const BESIDE: u8 = 1;

/// A stage that is written down.
pub(super) struct Stage<'a> {
    step: &'a Step,
    /// Number of the stage.
    number: u32,
    /// Ranks of the stage.
    ranks: Vec<u32>,
    /// By rank, the operations that must be done before the next piece of work, and before the end of the step.
    next: Vec<Vec<u32>>,
    last: Vec<Vec<u32>>,
    tag: u32,
}

impl<'a> Stage<'a> {
    /// A stage without any operations.
    pub(super) fn new(step: &'a Step, number: u32) -> Self {
        let ranks = step.layout.tensor_groups(number).flatten().collect();
        let all = step.layout.tensor * step.layout.context * step.layout.data * step.layout.stages;
        let none = vec![Vec::new(); all as usize];
        Self { step, number, ranks, next: none.clone(), last: none, tag: COLLECTIVE }
    }

    /// Writes the operations of its ranks in a step.
    pub(super) fn write(mut self, script: &mut Script) {
        let step = self.step;
        let order = pipeline(self.number, step.layout.stages, step.parts, step.batches);
        if let Some(&first) = order.first() {
            self.expect(script, first);
        }
        for (i, &work) in order.iter().enumerate() {
            // The input of this piece has arrived; that of the next one may arrive concurrently.
            for &rank in &self.ranks {
                script.join(rank, &std::mem::take(&mut self.next[rank as usize]));
            }
            if let Some(&next) = order.get(i + 1) {
                self.expect(script, next);
            }
            self.work(script, work);
            self.pass_on(script, work);
            if !work.forward {
                self.reduce_gradients(script, work);
            }
        }
        for &rank in &self.ranks {
            script.join(rank, &std::mem::take(&mut self.last[rank as usize]));
        }
        if step.zero == 1 {
            // The new parameters of all parts, once every gradient is there.
            let [shared, experts] = step.sizes.parameters.map(|p| 2 * p * u64::from(step.parts));
            self.among_copies(script, shared, experts, 1, false);
            for &rank in &self.ranks {
                script.join(rank, &std::mem::take(&mut self.last[rank as usize]));
            }
        }
    }

    /// The stage that a piece of work comes from or goes to, and its work there; `None` at the ends of the model.
    fn beside(&self, work: Work, behind: bool) -> Option<(u32, Work)> {
        let (stages, parts) = (self.step.layout.stages, self.step.parts);
        // Forward goes up, backward down; inputs come from the opposite direction.
        if work.forward == behind {
            match (self.number, work.part) {
                (s, part) if s + 1 < stages => Some((s + 1, Work { part, ..work })),
                (_, part) if part + 1 < parts => Some((0, Work { part: part + 1, ..work })),
                _ => None,
            }
        } else {
            match (self.number, work.part) {
                (0, 0) => None,
                (0, part) => Some((stages - 1, Work { part: part - 1, ..work })),
                (s, part) => Some((s - 1, Work { part, ..work })),
            }
        }
    }

    /// Receives the input of a piece of work.
    fn expect(&mut self, script: &mut Script, work: Work) {
        let Some((from, _)) = self.beside(work, false) else { return };
        let (bytes, tag) = (self.step.sizes.activation, self.tag_of(work));
        self.each_pair(from, |rank, peer, this| {
            if rank != peer {
                let id = script.detached(rank, Op::Recv { from: peer, bytes, tag });
                this.next[rank as usize].push(id);
            }
        });
    }

    /// Sends the output of a piece of work.
    fn pass_on(&mut self, script: &mut Script, work: Work) {
        script.wait_all(&self.ranks);
        let Some((to, next)) = self.beside(work, true) else { return };
        let (bytes, tag) = (self.step.sizes.activation, self.tag_of(next));
        self.each_pair(to, |rank, peer, this| {
            if rank != peer {
                let id = script.detached(rank, Op::Send { to: peer, bytes, tag });
                this.last[rank as usize].push(id);
            }
        });
    }

    /// Every rank of the stage with the one of another stage that has the same position in all other dimensions.
    fn each_pair(&mut self, other: u32, mut with: impl FnMut(u32, u32, &mut Self)) {
        let layout = self.step.layout;
        for d in 0..layout.data {
            for c in 0..layout.context {
                for t in 0..layout.tensor {
                    let rank = layout.rank(t, c, d, self.number);
                    with(rank, layout.rank(t, c, d, other), self);
                }
            }
        }
    }

    /// The tag of the input of a piece of work.
    fn tag_of(&self, work: Work) -> u32 {
        2 * (work.batch * self.step.parts + work.part) + u32::from(work.forward)
    }

    /// Computation, and the exchanges of the stage's ranks for it.
    fn work(&mut self, script: &mut Script, work: Work) {
        let step = self.step;
        let direction = usize::from(!work.forward);
        if step.zero == 3 {
            // Parameters arrive during the preceding work; that this is the same work is a simplification.
            let [shared, experts] = step.sizes.parameters.map(|p| 2 * p);
            self.among_copies(script, shared, experts, 1, true);
        }
        let [there, back] = step.sizes.experts;
        let c = f64::from(step.layout.context);
        let kept = whole((c - 1.0) / c * step.sizes.context as f64);
        let contexts: Vec<Vec<u32>> = step.layout.context_groups(self.number).collect();
        if !work.forward && step.again {
            // The exchanges of the forward pass are repeated.
            self.exchange_among_experts(script, there);
            for group in &contexts {
                self.ring(script, group, kept);
            }
            self.exchange_among_experts(script, back);
        }
        let (first, last) = if work.forward { (there, back) } else { (back, there) };
        self.exchange_among_experts(script, first);
        let time = if work.forward { step.forward } else { step.backward };
        let groups: Vec<Vec<u32>> = step.layout.tensor_groups(self.number).collect();
        let t = f64::from(step.layout.tensor);
        let wire = whole(2.0 * (t - 1.0) / t * step.sizes.tensor[direction] as f64);
        for group in &groups {
            for &rank in group {
                script.compute(rank, time);
            }
            script.wait_all(group);
            self.ring(script, group, wire);
        }
        for group in &contexts {
            self.ring(script, group, kept);
        }
        self.exchange_among_experts(script, last);
    }

    /// A ring that its ranks wait for; inside a host it is time.
    fn ring(&mut self, script: &mut Script, group: &[u32], bytes: u64) {
        if group.len() < 2 || bytes == 0 {
            return;
        }
        if self.step.is_inside(group) {
            for &rank in group {
                script.compute(rank, whole(bytes as f64 * self.step.nvlink));
            }
        } else {
            self.tag += 1;
            for (i, &rank) in group.iter().enumerate() {
                script.message(rank, group[(i + 1) % group.len()], bytes, self.tag);
            }
        }
        script.wait_all(group);
    }

    /// An all-to-all of the ranks that share the experts of a layer; each has this number of bytes for all of them, including
    /// itself. Traffic inside a host is time in parallel with the messages.
    fn exchange_among_experts(&mut self, script: &mut Script, bytes: u64) {
        let parts = self.step.layout.experts;
        if parts < 2 || bytes == 0 {
            return;
        }
        let groups: Vec<Vec<u32>> = self.step.layout.expert_groups(self.number).collect();
        self.tag += 1;
        let each = bytes / u64::from(parts);
        let host = |rank: u32| rank / self.step.per_node;
        for group in groups {
            for by in 1..group.len() {
                for (i, &rank) in group.iter().enumerate() {
                    let to = group[(i + by) % group.len()];
                    if host(rank) != host(to) {
                        script.message(rank, to, each, self.tag);
                    }
                }
            }
            // Behind the messages: a processor that computes posts no message.
            for &rank in &group {
                let inside =
                    group.iter().filter(|&&to| to != rank && host(to) == host(rank)).count();
                script.compute(rank, whole((each * inside as u64) as f64 * self.step.nvlink));
            }
            script.wait_all(&group);
        }
    }

    /// Gradients of a part are summed over its copies: once, behind its last microbatch, or with zero=3 behind each.
    fn reduce_gradients(&mut self, script: &mut Script, work: Work) {
        let step = self.step;
        let bytes = if step.zero == 3 { 2 } else { 4 };
        if step.zero != 3 && work.batch + 1 < step.batches {
            return;
        }
        let [shared, experts] = step.sizes.parameters.map(|p| bytes * p);
        let times = if step.zero == 0 { 2 } else { 1 };
        self.among_copies(script, shared, experts, times, false);
    }

    /// Rings among the copies of shared parameters, and of experts, concurrent with later work: each rank sends the traffic of a
    /// ring of this number of bytes, `times` times. The next piece of work waits for it if `soon`, otherwise the end of the step.
    fn among_copies(
        &mut self,
        script: &mut Script,
        shared: u64,
        experts: u64,
        times: u64,
        soon: bool,
    ) {
        let layout = self.step.layout;
        let kinds = [
            (layout.copies(self.number).collect::<Vec<_>>(), shared),
            (layout.expert_copies(self.number).collect(), experts),
        ];
        for (groups, bytes) in kinds {
            self.tag += 1;
            for group in groups.iter().filter(|group| group.len() > 1 && bytes > 0) {
                let n = group.len() as f64;
                let wire = whole(times as f64 * (n - 1.0) / n * bytes as f64);
                let inside = self.step.is_inside(group);
                for (i, &rank) in group.iter().enumerate() {
                    let ids =
                        &mut if soon { &mut self.next } else { &mut self.last }[rank as usize];
                    if inside {
                        // Data goes through the host's switches while the rank computes.
                        let picoseconds = whole(wire as f64 * self.step.nvlink);
                        ids.push(script.detached_on(rank, Op::Compute { picoseconds }, BESIDE));
                        continue;
                    }
                    let to = group[(i + 1) % group.len()];
                    let from = group[(i + group.len() - 1) % group.len()];
                    let tag = self.tag;
                    ids.push(script.detached(rank, Op::Send { to, bytes: wire, tag }));
                    ids.push(script.detached(rank, Op::Recv { from, bytes: wire, tag }));
                }
            }
        }
    }
}

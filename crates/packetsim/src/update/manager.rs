//! The subnet manager: the times at which it writes tables, and at which it waits for hosts.
//!
//! Its messages use virtual lane 15, which data cannot fill (InfiniBand Architecture Specification, volume 1, section 3.5.7):
//! management packets are modelled as delays, not as packets that wait.

use std::collections::VecDeque;

use super::adapters::{Adapters, PathChange};
use super::tables::{Blocks, Image, LiveTables};
use super::{Delays, Hosts};
use crate::{Net, Random};

/// A step of an update.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Writes every block in which the tables, as they were written last, differ from this image.
    Write(usize),
    /// From now on new connections take the paths of a generation.
    Publish(u8),
    /// All hosts move their connections to the paths of a generation, and datagrams if `datagrams`. If some do not reply in
    /// time, or a cable dies meanwhile, `otherwise` replaces all following steps, if given.
    Migrate { to: u8, datagrams: bool, otherwise: Option<Vec<(&'static str, Step)>> },
    /// Waits for a time, in picoseconds.
    Wait(u64),
}

/// The current activity of the manager.
#[derive(Debug)]
enum Activity {
    /// Idle until a time.
    Until(u64),
    /// Blocks that are still to be written, by time, and when the last one is acknowledged.
    Writing { open: VecDeque<(u64, u32, u16)>, image: usize, end: u64 },
    /// Waits for hosts, until a time at most.
    Waiting { to: u8, open: usize, answered: u64, latest: u64 },
    /// All steps are done.
    Done,
}

/// A cable that dies while tables are updated.
#[derive(Clone, Debug)]
pub(crate) struct DyingCable {
    /// When, and the ports of the network at its ends on this side.
    pub(crate) at: u64,
    pub(crate) ports: Vec<u32>,
    /// Steps against the fault when the update is over or abandoned: of an abandoned one, and of one that completed.
    pub(crate) then: [Vec<(&'static str, Step)>; 2],
}

/// State of the subnet manager.
pub(crate) struct Manager<'a> {
    net: &'a Net,
    hosts: &'a Hosts,
    delays: Delays,
    images: &'a [Image],
    blocks: &'a Blocks,
    tables: &'a LiveTables,
    /// The image that the tables show.
    shown: usize,
    steps: VecDeque<(&'static str, Step)>,
    doing: Activity,
    dying: Option<DyingCable>,
    /// Steps against a cable that has died.
    then: Option<[Vec<(&'static str, Step)>; 2]>,
    /// Hosts that are notified late, and those that never reply.
    late: Vec<bool>,
    silent: Vec<bool>,
    random: Random,
}

impl<'a> Manager<'a> {
    #[expect(clippy::too_many_arguments, reason = "each is another thing")]
    pub(crate) fn new(
        net: &'a Net,
        hosts: &'a Hosts,
        delays: Delays,
        (images, blocks, tables): (&'a [Image], &'a Blocks, &'a LiveTables),
        at: u64,
        steps: &[(&'static str, Step)],
        dying: Option<DyingCable>,
        seed: u64,
    ) -> Self {
        let mut random = Random::new(seed, 1 << 43);
        let n = net.terminal_count();
        let mut drawn: Vec<u32> = (0..n as u32).collect();
        shuffle(&mut drawn, &mut random);
        let mut chosen = drawn.into_iter();
        let mut mark = |count: u32| {
            let mut marked = vec![false; n];
            chosen.by_ref().take(count as usize).for_each(|t| marked[t as usize] = true);
            marked
        };
        let (silent, late) = (mark(hosts.silent), mark(hosts.stragglers));
        let doing =
            if steps.is_empty() && dying.is_none() { Activity::Done } else { Activity::Until(at) };
        Self {
            net,
            hosts,
            delays,
            images,
            blocks,
            tables,
            shown: 0,
            steps: steps.iter().cloned().collect(),
            doing,
            dying,
            then: None,
            late,
            silent,
            random,
        }
    }

    /// When it acts next without a trigger.
    pub(crate) fn upcoming(&self) -> Option<u64> {
        let next = match &self.doing {
            Activity::Until(at) => Some(*at),
            Activity::Writing { open, end, .. } => Some(open.front().map_or(*end, |w| w.0)),
            Activity::Waiting { open: 0, answered, .. } => Some(*answered),
            Activity::Waiting { latest, .. } => Some(*latest),
            Activity::Done => None,
        };
        next.into_iter().chain(self.dying.as_ref().map(|d| d.at)).min()
    }

    /// Hosts have followed orders: the generation, the terminal and when.
    pub(crate) fn hear(&mut self, followed: &mut Vec<(u8, u32, u64)>) {
        for (generation, host, when) in followed.drain(..) {
            if self.silent[host as usize] {
                continue;
            }
            let answer = when + drawn(&mut self.random, self.hosts.notice);
            if let Activity::Waiting { to, open, answered, .. } = &mut self.doing
                && *to == generation
            {
                *open = open.saturating_sub(1);
                *answered = answer.max(*answered);
            }
        }
    }

    /// Acts at a time, which is that of [`Manager::upcoming`].
    pub(crate) fn act(&mut self, now: u64, adapters: &mut Adapters<'_>) {
        if let Some(dying) = self.dying.take_if(|d| d.at <= now) {
            for &port in &dying.ports {
                self.tables.kill(self.net, port);
            }
            adapters.outcome.begin("cable dead", now);
            self.then = Some(dying.then);
            match self.doing {
                // A manager that waits for hosts may abandon the update; one that is writing finishes first.
                Activity::Waiting { .. } => {
                    self.give_up(now, adapters);
                }
                // The update was over.
                Activity::Done => self.doing = Activity::Until(now),
                Activity::Until(_) | Activity::Writing { .. } => {}
            }
            return;
        }
        match &mut self.doing {
            Activity::Until(_) | Activity::Waiting { open: 0, .. } => self.next_step(now, adapters),
            Activity::Writing { open, image, end } => {
                while let Some(&(_, switch, block)) = open.front().filter(|w| w.0 <= now) {
                    open.pop_front();
                    self.tables.write(self.blocks, &self.images[*image], switch, block);
                    adapters.outcome.blocks += 1;
                }
                if open.is_empty() && *end <= now {
                    self.shown = *image;
                    self.next_step(now, adapters);
                }
            }
            Activity::Waiting { open, .. } => {
                adapters.outcome.silent_hosts = *open as u64;
                if !self.give_up(now, adapters) {
                    self.next_step(now, adapters);
                }
            }
            Activity::Done => {}
        }
    }

    /// Does otherwise than wait for hosts, if the step says how.
    fn give_up(&mut self, now: u64, adapters: &mut Adapters<'_>) -> bool {
        let Some((_, Step::Migrate { otherwise: Some(otherwise), .. })) = self.steps.front() else {
            return false;
        };
        let otherwise = otherwise.clone();
        adapters.outcome.aborted = true;
        self.steps = otherwise.into();
        self.doing = Activity::Until(now);
        true
    }

    fn next_step(&mut self, now: u64, adapters: &mut Adapters<'_>) {
        // The step that waits for hosts stays in front until it is over: it holds the alternative steps.
        if let Activity::Waiting { .. } = self.doing {
            self.steps.pop_front();
        }
        loop {
            let Some((name, step)) = self.steps.front().cloned() else {
                if let Some(then) = self.then.take() {
                    let [abandoned, through] = then;
                    self.steps = if adapters.outcome.aborted { abandoned } else { through }.into();
                    if !self.steps.is_empty() {
                        adapters.outcome.mended = true;
                        continue;
                    }
                }
                if self.dying.is_none() {
                    adapters.outcome.finished = true;
                }
                adapters.outcome.begin("after", now);
                self.doing = Activity::Done;
                return;
            };
            if !matches!(step, Step::Publish(_)) {
                adapters.outcome.begin(name, now);
            }
            match step {
                Step::Publish(generation) => {
                    adapters.published = generation;
                    self.steps.pop_front();
                    continue;
                }
                Step::Wait(time) => {
                    self.steps.pop_front();
                    self.doing = Activity::Until(now + time);
                }
                Step::Write(image) => {
                    self.steps.pop_front();
                    let (open, end) = self.schedule(now, image);
                    self.doing = Activity::Writing { open, image, end };
                }
                Step::Migrate { to, datagrams, .. } => {
                    let mut open = 0;
                    for host in 0..self.net.terminal_count() as u32 {
                        let h = host as usize;
                        open += 1;
                        if self.silent[h] {
                            continue;
                        }
                        let mut at = now + drawn(&mut self.random, self.hosts.notice);
                        if self.late[h] {
                            at += self.hosts.straggle;
                        }
                        adapters.order(host, PathChange { to, datagrams, at });
                    }
                    let latest = now + self.hosts.patience;
                    self.doing = Activity::Waiting { to, open, answered: now, latest };
                    if self.then.is_some() && self.give_up(now, adapters) {
                        continue;
                    }
                }
            }
            return;
        }
    }

    /// When which block is written: block number by block number, as OpenSM sends them (Domke and Hoefler, "Scheduling-Aware
    /// Routing for Supercomputers", SC'16, section 4.3.3), the switches of one in any order; and when the last is acknowledged.
    fn schedule(&mut self, now: u64, image: usize) -> (VecDeque<(u64, u32, u16)>, u64) {
        let (before, after) = (&self.images[self.shown], &self.images[image]);
        let mut rounds: Vec<(u16, u32)> = (0..self.net.switch_count() as u32)
            .flat_map(|s| self.blocks.changed(before, after, s).map(move |block| (block, s)))
            .collect();
        rounds.sort_unstable();
        let each = self.delays.total.map(|total| total / (rounds.len() as u64).max(1));
        let (mut open, mut at) = (VecDeque::new(), now);
        for round in rounds.chunk_by_mut(|a, b| a.0 == b.0) {
            shuffle(round, &mut self.random);
            let (least, most) = self.delays.round;
            let long = least + drawn(&mut self.random, most.saturating_sub(least));
            let step = each.unwrap_or_else(|| (long / round.len() as u64).max(self.delays.block));
            for &mut (block, switch) in round {
                at += step.max(1);
                open.push_back((at, switch, block));
            }
        }
        // It is read back, or acknowledged, before anything else is done.
        (open, at + self.delays.block)
    }
}

/// Up to a time, evenly.
fn drawn(random: &mut Random, most: u64) -> u64 {
    #[expect(clippy::cast_sign_loss, reason = "parts and times are not below zero")]
    let time = (random.part() * most as f64) as u64;
    time
}

fn shuffle<T>(all: &mut [T], random: &mut Random) {
    for i in (1..all.len()).rev() {
        all.swap(i, random.below(i as u32 + 1) as usize);
    }
}

//! Cost of faults for jobs, by counting: the part of their traffic that stops, and their slowdown on repaired tables.
//!
//! A job runs at the pace of its most demanded channel, each job at the rate at which it would send in isolation (as
//! [`Heat`](crate::heat::Heat) counts). After a fault only flows whose rows changed are followed again.

use std::collections::{BTreeMap, BTreeSet};

use darkfiber_fabric::{Fabric, Faults, SwitchId, TerminalId};
use darkfiber_routing::reroute::{Change, Prepared, RerouteError, Trial, Trials};
use darkfiber_routing::{DestId, Routes, follow};
use rayon::prelude::*;

use crate::heat::Flow;
use crate::rings::speed;

/// Jobs on tables, ready for faults.
pub struct Blast<'a> {
    fabric: &'a Fabric,
    prepared: Prepared<'a>,
    /// Flows, in parts where senders choose among LIDs.
    flows: Vec<Part>,
    /// By flow its channels; empty where it has no route or stays within its host.
    paths: Vec<Vec<u32>>,
    /// By row of the tables, the flows that follow it.
    of_row: BTreeMap<u32, Vec<u32>>,
    /// By channel the flows on it; by job all that it has.
    on: Vec<Vec<u32>>,
    of_job: Vec<Vec<u32>>,
    /// By channel, the demand of jobs: 1 is its full capacity.
    wanted: Vec<f64>,
    /// By job and channel the number of its flows there.
    crossing: Vec<BTreeMap<u32, i64>>,
    /// By job the seconds of its slowest channel for the job itself.
    alone: Vec<f64>,
    /// By job its bytes over the network.
    bytes: Vec<u64>,
    /// By job its channels, the most demanded one first.
    channels: Vec<Vec<u32>>,
}

/// A flow, or the part of one that takes one of several LIDs of its destination.
#[derive(Clone, Copy)]
struct Part {
    flow: Flow,
    /// Index of the LID.
    path: usize,
}

impl Part {
    /// The parts of a flow.
    fn all(routes: &Routes, flow: Flow) -> impl Iterator<Item = Self> {
        let parts = routes.parts(flow.from, flow.to, flow.bytes);
        parts.map(move |(path, bytes)| Self { flow: Flow { bytes, ..flow }, path })
    }
}

/// The cost of a fault for one job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobLoss {
    /// The job, by number.
    pub job: usize,
    /// The share of its bytes whose path crosses what failed: none of them arrives before tables are repaired.
    pub stopped: f64,
    /// Time on repaired tables over time before the fault; `None` if the job cannot continue, since a host of
    /// it has failed or is cut off.
    pub slowdown: Option<f64>,
}

/// Effect of a fault on the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mending {
    /// No job uses what failed, nor do repairs move traffic of one.
    Unused,
    /// The tables were repaired, those of the largest part where the fabric is split.
    Mended,
    /// They cannot be.
    Impossible,
}

/// The cost of a fault for all jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct Damage {
    /// Effect on the tables.
    pub mending: Mending,
    /// Jobs that it touches, by number.
    pub jobs: Vec<JobLoss>,
}

/// Repaired tables: what they do without, and what changed.
struct Mended {
    faults: Faults,
    changes: Vec<Change>,
}

impl<'a> Blast<'a> {
    /// Follows all flows once. `prepared` has the tables.
    ///
    /// Complexity: O(flows x hops).
    pub fn new(fabric: &'a Fabric, prepared: Prepared<'a>, flows: &[Flow], jobs: usize) -> Self {
        let flows: Vec<Part> =
            flows.iter().flat_map(|flow| Part::all(prepared.routes(), *flow)).collect();
        let all = fabric.channel_count() + 2 * fabric.terminal_count();
        let (mut on, mut of_row) = (vec![Vec::new(); all], BTreeMap::<u32, Vec<u32>>::new());
        let mut paths = Vec::with_capacity(flows.len());
        let mut takes: Vec<BTreeMap<u32, f64>> = vec![BTreeMap::new(); jobs];
        let mut crossing: Vec<BTreeMap<u32, i64>> = vec![BTreeMap::new(); jobs];
        let mut bytes = vec![0; jobs];
        let mut of_job = vec![Vec::new(); jobs];
        for (i, part) in (0..).zip(&flows) {
            let flow = part.flow;
            of_job[flow.job as usize].push(i);
            let found = path(fabric, prepared.routes(), part).unwrap_or_default();
            if !found.is_empty() {
                of_row.entry(row(prepared.routes(), part)).or_default().push(i);
                bytes[flow.job as usize] += flow.bytes;
            }
            for &c in &found {
                on[c as usize].push(i);
                *crossing[flow.job as usize].entry(c).or_default() += 1;
                *takes[flow.job as usize].entry(c).or_default() +=
                    flow.bytes as f64 / speed(fabric, c);
            }
            paths.push(found);
        }
        let alone: Vec<f64> =
            takes.iter().map(|of| of.values().copied().fold(0.0, f64::max)).collect();
        let mut wanted = vec![0.0; all];
        for (of, alone) in takes.iter().zip(&alone) {
            for (&c, seconds) in of {
                wanted[c as usize] += seconds / alone;
            }
        }
        let by_want = |of: &BTreeMap<u32, f64>| {
            let mut channels: Vec<u32> = of.keys().copied().collect();
            channels
                .sort_by(|a, b| wanted[*b as usize].total_cmp(&wanted[*a as usize]).then(a.cmp(b)));
            channels
        };
        let channels = takes.iter().map(by_want).collect();
        Self {
            fabric,
            prepared,
            flows,
            paths,
            of_row,
            on,
            of_job,
            wanted,
            crossing,
            alone,
            bytes,
            channels,
        }
    }

    /// Flows of a job that cross a channel before any fault.
    fn crossing(&self, job: u32, channel: u32) -> i64 {
        self.crossing[job as usize].get(&channel).copied().unwrap_or(0)
    }

    /// The tables before any fault.
    pub fn routes(&self) -> &Routes {
        self.prepared.routes()
    }

    /// Number of flows on a channel of the fabric.
    pub fn used(&self, channel: u32) -> usize {
        self.on[channel as usize].len()
    }

    /// The cost of each of these in isolation, on all cores of the caller's pool. `done` is called after each.
    ///
    /// Complexity: for each, that of [`Prepared::reroute_on_lowest_rung`] and O(flows that change x hops); a copy of the tables for each
    /// thread.
    pub fn damages(&self, faults: &[&Faults], done: impl Fn() + Sync) -> Vec<Damage> {
        let trials = Trials::new(&self.prepared);
        let one = |faults: &&Faults| {
            let damage = trials.with(|trial| self.damage(faults, trial));
            done();
            damage
        };
        faults.par_iter().map(one).collect()
    }

    /// Calls a function on the tables repaired for each of these in isolation, on all cores of the caller's pool; `None`
    /// where there is no alternative path.
    ///
    /// Complexity: for each, that of [`Prepared::reroute_on_lowest_rung`]; a copy of the tables for each thread.
    pub fn on_mended<R: Send>(
        &self,
        faults: &[&Faults],
        look: impl Fn(usize, &Routes) -> R + Sync,
    ) -> Vec<Option<R>> {
        let trials = Trials::new(&self.prepared);
        let one = |(i, faults): (usize, &&Faults)| {
            trials.with(|trial| self.mend(faults, trial).map(|_| look(i, trial.routes())))
        };
        faults.par_iter().enumerate().map(one).collect()
    }

    /// The cost of these faults together.
    fn damage(&self, faults: &Faults, trial: &mut Trial<'_, '_>) -> Damage {
        let dead = self.dead(faults);
        let hit: BTreeSet<u32> = dead.iter().flat_map(|c| &self.on[*c as usize]).copied().collect();
        let unused = || Damage { mending: Mending::Unused, jobs: Vec::new() };
        let mut stopped: BTreeMap<u32, u64> = BTreeMap::new();
        for &i in &hit {
            let flow = &self.flows[i as usize].flow;
            *stopped.entry(flow.job).or_default() += flow.bytes;
        }
        let share = |job: u32| {
            let bytes = stopped.get(&job).copied().unwrap_or(0);
            bytes as f64 / self.bytes[job as usize].max(1) as f64
        };
        // A repair may move traffic that did not cross what failed, too.
        let Some(Mended { faults: gone, changes }) = self.mend(faults, trial) else {
            if hit.is_empty() {
                return unused();
            }
            let lost =
                |&job: &u32| JobLoss { job: job as usize, stopped: share(job), slowdown: None };
            return Damage {
                mending: Mending::Impossible,
                jobs: stopped.keys().map(lost).collect(),
            };
        };
        // Jobs whose terminals have failed or are cut off cannot continue, whatever the tables.
        let is_gone = |t: TerminalId| {
            let at = self.fabric.terminal(t).switch;
            gone.terminals.contains(&t) || gone.switches.contains(&at)
        };
        let is_split = gone.switches.len() > faults.switches.len();
        let all = is_split.then_some(0..self.flows.len() as u32).into_iter().flatten();
        let ended: BTreeSet<u32> = hit
            .iter()
            .copied()
            .chain(all)
            .map(|i| &self.flows[i as usize].flow)
            .filter(|f| is_gone(f.from) || is_gone(f.to))
            .map(|f| f.job)
            .collect();
        // Changes of channel loads, the flows that cross them now, and by job how many flows more or fewer do.
        let rows: BTreeSet<u32> = changes.iter().map(|change| change.row).collect();
        let moved = rows.iter().filter_map(|row| self.of_row.get(row)).flatten();
        // Jobs that have ended send nothing any more, wherever they did.
        let over = ended.iter().flat_map(|job| &self.of_job[*job as usize]);
        let (mut change, mut now) = (BTreeMap::<u32, f64>::new(), BTreeMap::<u32, Vec<u32>>::new());
        let mut more = BTreeMap::<(u32, u32), i64>::new();
        for &i in moved.chain(&hit).chain(over).collect::<BTreeSet<_>>() {
            let part = &self.flows[i as usize];
            let flow = &part.flow;
            let old = &self.paths[i as usize];
            let new = if ended.contains(&flow.job) {
                Vec::new()
            } else {
                path(self.fabric, trial.routes(), part).unwrap_or_default()
            };
            let want =
                |c: u32| flow.bytes as f64 / speed(self.fabric, c) / self.alone[flow.job as usize];
            for &c in old {
                *change.entry(c).or_default() -= want(c);
                *more.entry((flow.job, c)).or_default() -= 1;
            }
            for &c in &new {
                *change.entry(c).or_default() += want(c);
                *more.entry((flow.job, c)).or_default() += 1;
                now.entry(flow.job).or_default().push(c);
            }
        }
        change.retain(|_, by| by.abs() > 1e-12);
        let mut touched: BTreeSet<u32> =
            stopped.keys().copied().chain(ended.iter().copied()).collect();
        for c in change.keys() {
            touched.extend(self.on[*c as usize].iter().map(|i| self.flows[*i as usize].flow.job));
        }
        let wanted = |c: u32| self.wanted[c as usize] + change.get(&c).copied().unwrap_or(0.0);
        let jobs = touched.iter().filter_map(|&job| {
            let channels = &self.channels[job as usize];
            let before = self.wanted[*channels.first()? as usize];
            if ended.contains(&job) {
                return Some(JobLoss { job: job as usize, stopped: share(job), slowdown: None });
            }
            // Others may fill channels that the job has left.
            let is_left = |c: &u32| {
                more.get(&(job, *c)).is_some_and(|more| *more + self.crossing(job, *c) <= 0)
            };
            // The channels that did not change are in order; those that did are few.
            let unchanged = channels.iter().find(|c| !change.contains_key(c) && !is_left(c));
            let kept = unchanged.map_or(0.0, |c| wanted(*c));
            let own = channels
                .iter()
                .filter(|c| change.contains_key(c) && !dead.contains(c) && !is_left(c));
            let new = now.get(&job).into_iter().flatten();
            let after = own.chain(new).map(|c| wanted(*c)).fold(kept, f64::max);
            let loss =
                JobLoss { job: job as usize, stopped: share(job), slowdown: Some(after / before) };
            (loss.stopped > 0.0 || (after / before - 1.0).abs() > 1e-9).then_some(loss)
        });
        let jobs: Vec<JobLoss> = jobs.collect();
        if hit.is_empty() && jobs.is_empty() {
            return unused();
        }
        Damage { mending: Mending::Mended, jobs }
    }

    /// Repairs tables, those of the largest part where faults split the fabric: the rest counts as failed, too. `None` where they
    /// cannot be repaired.
    fn mend(&self, faults: &Faults, trial: &mut Trial<'_, '_>) -> Option<Mended> {
        match trial.reroute_on_lowest_rung(faults) {
            Ok((found, _)) => Some(Mended { faults: faults.clone(), changes: found.changes }),
            Err(RerouteError::CutOff { .. }) => {
                let faults = self.with_parts_cut_off(faults);
                let (found, _) = trial.reroute_on_lowest_rung(&faults).ok()?;
                Some(Mended { faults, changes: found.changes })
            }
            Err(_) => None,
        }
    }

    /// These faults, and the switches that they part from the most terminals.
    fn with_parts_cut_off(&self, faults: &Faults) -> Faults {
        let (rest, map) = self.fabric.with_faults(faults);
        let labels = rest.component_labels();
        let mut terminals = vec![0; labels.len()];
        for (s, &label) in labels.iter().enumerate() {
            terminals[label as usize] += rest.terminals_on(SwitchId::new(s)).count();
        }
        // The first of those with the most.
        let largest = (0..terminals.len()).rev().max_by_key(|&label| terminals[label]);
        let mut all = faults.clone();
        let parted = (0..labels.len()).filter(|&s| Some(labels[s] as usize) != largest);
        all.switches.extend(parted.map(|s| map.old_switch[s]));
        all
    }

    /// All channels that fail with these faults.
    fn dead(&self, faults: &Faults) -> BTreeSet<u32> {
        let (m, t) = (self.fabric.channel_count(), self.fabric.terminal_count());
        let mut dead = BTreeSet::new();
        for &c in &faults.links {
            dead.extend([c.0, self.fabric.reverse(c).0]);
        }
        for &s in &faults.switches {
            for c in self.fabric.channels_from(s) {
                dead.extend([c as u32, self.fabric.reverses()[c]]);
            }
        }
        let of_switches = faults.switches.iter().flat_map(|&s| self.fabric.terminals_on(s));
        for terminal in of_switches.chain(faults.terminals.iter().map(|t| t.index())) {
            dead.extend([(m + terminal) as u32, (m + t + terminal) as u32]);
        }
        dead
    }
}

/// The row of the tables that a flow follows.
fn row(routes: &Routes, Part { flow, path }: &Part) -> u32 {
    routes.row(DestId::terminal(flow.to), *path) as u32
}

/// The channels of a flow from the one into the network to the one out of it; `None` without a route, or within a host.
fn path(fabric: &Fabric, routes: &Routes, part: &Part) -> Option<Vec<u32>> {
    let flow = part.flow;
    if flow.bytes == 0 || fabric.host_of(flow.from) == fabric.host_of(flow.to) {
        return None;
    }
    let (m, t) = (fabric.channel_count(), fabric.terminal_count());
    let mut path_channels = vec![(m + t + flow.from.index()) as u32];
    let ports = routes.ports(row(routes, part) as usize);
    let arrives =
        follow(fabric, ports, flow.to, fabric.terminal(flow.from).switch, &mut path_channels);
    path_channels.push((m + flow.to.index()) as u32);
    arrives.then_some(path_channels)
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::{ChannelId, SwitchId, open};
    use darkfiber_routing::{Request, find_engine};

    use super::*;
    use crate::heat::Heat;

    /// The number of faults of single cables that make a job slower. The cost of every one equals that of counting everything from
    /// scratch on the tables that `reroute` makes.
    fn slower(fabric: &Fabric, prepared: &Prepared<'_>, flows: &[Flow], jobs: usize) -> usize {
        let before = Heat::of(fabric, prepared.routes(), flows, jobs);
        let blast = Blast::new(fabric, prepared.clone(), flows, jobs);
        let mut slower = 0;
        for c in (0..fabric.channel_count()).map(ChannelId::new) {
            let faults = Faults { links: vec![c], ..Faults::default() };
            let damage = blast.damages(&[&faults], || ()).remove(0);
            let mut mended = prepared.clone();
            mended.reroute_on_lowest_rung(&faults).expect("there are other ways");
            // Each job's pace by all channels, with times alone as before the fault.
            let alone = |job: usize| before.fate(job).alone;
            let mut wanted: BTreeMap<u32, f64> = BTreeMap::new();
            let mut of: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); jobs];
            for part in flows.iter().flat_map(|f| Part::all(prepared.routes(), *f)) {
                let f = part.flow;
                for c in path(fabric, mended.routes(), &part).expect("it arrives") {
                    *wanted.entry(c).or_default() +=
                        f.bytes as f64 / speed(fabric, c) / alone(f.job as usize);
                    of[f.job as usize].insert(c);
                }
            }
            for (job, of) in of.iter().enumerate() {
                let after = of.iter().map(|c| wanted[c]).fold(0.0, f64::max);
                let should = after / before.fate(job).slowdown();
                let found = damage.jobs.iter().find(|l| l.job == job).and_then(|l| l.slowdown);
                assert!(
                    (found.unwrap_or(1.0) - should).abs() < 1e-9,
                    "{c:?} {job}: {found:?} {should}"
                );
                slower += usize::from(should > 1.1);
            }
        }
        slower
    }

    /// Jobs with few flows leave channels altogether, and others fill them.
    #[test]
    fn channels_that_a_job_has_left_are_none_of_its_own() {
        let mut slow = 0;
        for (spec, engine, lanes) in [
            ("torus:dims=4x4,t=2", "dfsssp", 4),
            ("dragonfly:p=2,a=4,h=2", "dragonfly-min", 2),
            ("hyperx:dims=4x4,t=2", "parx", 8),
        ] {
            let topology = open(spec).expect("a spec");
            let fabric = &topology.fabric;
            let engine = find_engine(engine).expect("registered");
            let request = Request { shape: topology.shape.as_ref(), lanes, ..Request::default() };
            let routes = engine.route(fabric, &request).expect("it routes");
            let n = fabric.terminal_count() as u32;
            let prepared = Prepared::new(fabric, &routes, lanes).expect("sound tables");
            // Permutations, of which each job has every eighth pair.
            for times in [3, 5, 7, 11] {
                let pairs = (0..n).map(|i| (i, (times * i + 6) % n)).filter(|(i, to)| i != to);
                let flow = |(i, to)| Flow {
                    job: i % 8,
                    from: TerminalId(i),
                    to: TerminalId(to),
                    bytes: 1 << (17 + i % 4),
                };
                let flows: Vec<Flow> = pairs.map(flow).collect();
                slow += slower(fabric, &prepared, &flows, 8);
            }
        }
        assert!(slow > 0);
    }

    /// A ring of four switches: one job sends between opposite ones, and so does another, which ends with a host of it. The hosts that are
    /// left of that one send nothing any more.
    #[test]
    fn jobs_that_have_ended_load_nobody() {
        let topology = open("torus:dims=4,t=2").expect("a spec");
        let fabric = &topology.fabric;
        let routes = find_engine("minhop").expect("registered");
        let routes = routes.route(fabric, &Request::default()).expect("it routes");
        let on = |s: usize, i: usize| {
            let mut all = fabric.terminals_on(SwitchId::new(s));
            TerminalId::new(all.nth(i).expect("two a switch"))
        };
        let flow = |job, from, to| Flow { job, from, to, bytes: 1 << 20 };
        let mut flows = Vec::new();
        for (job, hosts) in [(0, vec![on(1, 0), on(3, 0)]), (1, vec![on(0, 0), on(1, 1), on(3, 1)])]
        {
            for &a in &hosts {
                flows.extend(hosts.iter().filter(|b| **b != a).map(|&b| flow(job, a, b)));
            }
        }
        let prepared = Prepared::new(fabric, &routes, 1).expect("sound tables");
        let blast = Blast::new(fabric, prepared.clone(), &flows, 2);
        // The second job's host on switch 0 fails: no table changes.
        let faults = Faults { terminals: vec![on(0, 0)], ..Faults::default() };
        let damage = blast.damages(&[&faults], || ()).remove(0);
        let ended = damage.jobs.iter().find(|l| l.job == 1).expect("it is hit");
        assert_eq!(ended.slowdown, None);
        let before = Heat::of(fabric, &routes, &flows, 2).fate(0).slowdown();
        let alone: Vec<Flow> = flows.iter().filter(|f| f.job == 0).copied().collect();
        let after = Heat::of(fabric, &routes, &alone, 2).fate(0).slowdown();
        assert!(after < before, "they share a cable: {before} {after}");
        let other = damage.jobs.iter().find(|l| l.job == 0).and_then(|l| l.slowdown);
        assert!((other.expect("it is faster now") - after / before).abs() < 1e-9, "{other:?}");
    }

    /// Two jobs on a tree, and faults that end jobs.
    #[test]
    fn as_counted_anew() {
        let topology = open("fattree2:n=4,m=4,r=4").expect("a spec");
        let fabric = &topology.fabric;
        let engine = find_engine("ftree").expect("registered");
        let request = Request { shape: topology.shape.as_ref(), ..Request::default() };
        let routes = engine.route(fabric, &request).expect("it routes trees");
        // Two jobs: a shift by five, and one by nine with half the bytes.
        let n = fabric.terminal_count() as u32;
        let flow = |job: u32, i: u32, by: u32, bytes| Flow {
            job,
            from: TerminalId(i),
            to: TerminalId((i + by) % n),
            bytes,
        };
        let flows: Vec<Flow> =
            (0..n).flat_map(|i| [flow(0, i, 5, 1 << 20), flow(1, i, 9, 1 << 19)]).collect();
        let prepared = Prepared::new(fabric, &routes, 1).expect("sound tables");
        let slower = slower(fabric, &prepared, &flows, 2);
        let blast = Blast::new(fabric, prepared, &flows, 2);
        assert!(slower > 4, "{slower}");
        // A leaf takes its hosts along; a host's cable ends its job.
        let leaf = fabric.terminal(TerminalId(0)).switch;
        let damage = |faults: Faults| blast.damages(&[&faults], || ()).remove(0);
        let gone = damage(Faults { switches: vec![leaf], ..Faults::default() });
        assert!(gone.jobs.iter().all(|l| l.slowdown.is_none()) && gone.jobs.len() == 2);
        let cable = damage(Faults { terminals: vec![TerminalId(0)], ..Faults::default() });
        assert!(cable.jobs.iter().all(|l| l.slowdown.is_none() && l.stopped > 0.1));
        // A spine does not.
        let spine = (0..fabric.switch_count()).map(SwitchId::new);
        let spine = spine.into_iter().find(|s| fabric.terminals_on(*s).is_empty()).expect("one");
        let lost = damage(Faults { switches: vec![spine], ..Faults::default() });
        assert!(lost.jobs.iter().all(|l| l.slowdown.is_some_and(|s| s >= 1.0 - 1e-9)), "{lost:?}");
    }
}

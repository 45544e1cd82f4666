//! The ladder of transition methods: the first level that is proved.

use darkfiber_fabric::{Fabric, SwitchId, TerminalId};

use super::before::Before;
use super::changes::Changes;
use super::examined::Examined;
use super::row::{Circle, Tables};
use super::verdict::{Judged, Obligation, Rung, RungJudged, Transition, Why, Witness};
use super::witness;
use crate::check::dependency::Dependencies;
use crate::check::{Report, check};
use crate::{DestId, Layers, Routes};

pub(super) fn climb(
    fabric: &Fabric,
    tables: &Tables<'_>,
    target: &Report,
    examined: Option<&Examined>,
    changes: Changes,
) -> Transition {
    let sound = examined.is_some();
    let target = if sound {
        None
    } else {
        let cyclic = target.layers.iter().filter(|l| l.cycle.is_some()).map(|l| l.layer);
        Some(Why::Unsound {
            lost: target.unreachable,
            loops: target.loops,
            cyclic: cyclic.collect(),
        })
    };
    let mut obligations = vec![Judged { obligation: Obligation::Target, fails: target }];
    let mut ranks = None;
    // Any mix of entries includes old paths, new ones, and old beginnings of new ones: if it has no cycle, these have none.
    let is_mix_free = examined.is_some_and(|e| {
        e.mixed_loop.is_none()
            && cycle(fabric, tables, &e.graphs.mixed, Obligation::Mixed).is_none()
    });
    let later = [Obligation::Steady, Obligation::Flight, Obligation::Mixed, Obligation::Ordered];
    for obligation in later {
        let fails = match examined {
            None => Some(Why::NotExamined),
            Some(e) => fails(fabric, tables, e, obligation, is_mix_free),
        };
        if let (Obligation::Ordered, None, Some(Examined { ranks: Ok(all), .. })) =
            (obligation, &fails, examined)
        {
            let of_changed = all.iter().zip(&changes.switches);
            ranks = Some(of_changed.map(|(&r, &changes)| changes.then_some(r)).collect());
        }
        obligations.push(Judged { obligation, fails });
    }
    let has_levels = tables.has_levels;
    let mut transition = Transition {
        verdict: Rung::Refuse,
        obligations,
        rungs: Vec::new(),
        ranks,
        keeps_pairs: examined.is_some_and(|e| e.keeps_pairs),
        changes,
        has_levels,
    };
    let rungs = [
        Rung::NothingChanges,
        Rung::AnyOrder,
        Rung::Stages,
        Rung::Flip,
        Rung::FivePhases,
        Rung::QuietWindow,
        Rung::DropDrain,
    ];
    for rung in rungs {
        let judged = stand(fabric, tables, &transition, rung);
        let (holds, because) = match judged {
            Ok(because) => (true, because),
            Err(because) => (false, because),
        };
        transition.rungs.push(RungJudged { rung, holds, because });
        if holds {
            transition.verdict = rung;
            break;
        }
    }
    let allow = [Obligation::Target, Obligation::Steady, Obligation::Ordered];
    if !allow.iter().all(|&o| transition.holds(o)) {
        transition.ranks = None;
    }
    transition
}

/// Why an obligation beyond the first fails.
fn fails(
    fabric: &Fabric,
    tables: &Tables<'_>,
    examined: &Examined,
    obligation: Obligation,
    is_mix_free: bool,
) -> Option<Why> {
    let graphs = &examined.graphs;
    let circle = |c: &Circle| Why::Circle {
        dest: TerminalId::new(c.dest),
        path: c.path,
        switches: c.switches.iter().map(|&s| SwitchId(s)).collect(),
    };
    let cycle = |graph: &Dependencies| {
        let found = (!is_mix_free).then(|| cycle(fabric, tables, graph, obligation));
        found.flatten().map(Why::Cycle)
    };
    match obligation {
        Obligation::Target => None,
        Obligation::Steady => cycle(&graphs.steady),
        Obligation::Flight => cycle(&graphs.flight),
        Obligation::Mixed => {
            examined.mixed_loop.as_ref().map(circle).or_else(|| cycle(&graphs.mixed))
        }
        Obligation::Ordered => examined
            .ordered_loop
            .as_ref()
            .map(circle)
            .or_else(|| {
                let switches = examined.ranks.as_ref().err()?;
                Some(Why::Contradiction(switches.iter().map(|&s| SwitchId(s)).collect()))
            })
            .or_else(|| cycle(&graphs.ordered)),
    }
}

fn cycle(
    fabric: &Fabric,
    tables: &Tables<'_>,
    graph: &Dependencies,
    obligation: Obligation,
) -> Option<Witness> {
    (0..32u8).filter(|lane| tables.every & (1 << lane) != 0).find_map(|lane| {
        let channels = graph.find_cycle(fabric, lane)?;
        let named = witness::name(fabric, tables, obligation, lane, &channels);
        Some(named.unwrap_or(Witness { lane, links: Vec::new() }))
    })
}

/// Under which conditions a level holds, or why it does not.
fn stand(
    fabric: &Fabric,
    tables: &Tables<'_>,
    t: &Transition,
    rung: Rung,
) -> Result<String, String> {
    let changes = &t.changes;
    let need = |all: &[Obligation]| match all.iter().find(|&&o| !t.holds(o)) {
        None => Ok(()),
        Some(o) => Err(format!("{} fails", o.name())),
    };
    match rung {
        Rung::NothingChanges => {
            if changes.entries > 0 {
                return Err(format!("{} entries change", changes.entries));
            }
            if changes.pairs_changed > 0 {
                return Err(format!("{} pairs change", changes.pairs_changed));
            }
            need(&[Obligation::Target, Obligation::Steady])?;
            Ok("no entry and no service level changes".to_owned())
        }
        Rung::AnyOrder => {
            need(&[Obligation::Target, Obligation::Steady, Obligation::Mixed])?;
            Ok("tables may be written in any order, block by block".to_owned())
        }
        Rung::Stages => {
            need(&[Obligation::Target, Obligation::Steady, Obligation::Ordered])?;
            let lost = "; pairs may be lost from one rank to the next, where a switch had no entry";
            let lost = if t.keeps_pairs { "" } else { lost };
            Ok(format!("each rank is written and read back before the next begins{lost}"))
        }
        Rung::Flip => {
            need(&[Obligation::Target])?;
            flip(fabric, tables, changes)
        }
        Rung::FivePhases => {
            need(&[Obligation::Target])?;
            five_phases(fabric, tables, changes)
        }
        Rung::QuietWindow => {
            need(&[Obligation::Target])?;
            quiet(changes)
        }
        Rung::DropDrain => {
            if changes.lids_cut == 0 {
                return Err("the tables in place lose no pair: there is no fault".to_owned());
            }
            if changes.lids_eased > 0 {
                return Err(format!(
                    "{} LIDs change whose rows are not cut: dropping their packets would break pairs that work",
                    changes.lids_eased
                ));
            }
            need(&[Obligation::Target, Obligation::Steady])?;
            let is_free = |b: &Before<'_>| check(fabric, b.routes).deadlock_free();
            if !tables.known_free && !tables.states.iter().all(is_free) {
                return Err("the tables in place are not free of deadlock".to_owned());
            }
            Ok("changed entries are cleared, one packet lifetime passes, then the new ones are written"
                .to_owned())
        }
        Rung::Refuse => Ok(String::new()),
    }
}

/// Lanes of connections that go to path `path`, by the given tables.
fn lanes_on(fabric: &Fabric, routes: &crate::Routes, path: usize, only_users: bool) -> u32 {
    let mut mask = 0;
    for d in 0..fabric.terminal_count() {
        let row = routes.row(DestId::new(d), path);
        for s in (0..fabric.terminal_count()).map(TerminalId::new) {
            if s.index() != d && (!only_users || routes.uses(s, path)) {
                mask |= 1 << routes.layer_on(fabric, s, row);
            }
        }
    }
    mask
}

fn flip(fabric: &Fabric, tables: &Tables<'_>, changes: &Changes) -> Result<String, String> {
    let used = |paths: &[usize], p: usize| paths.contains(&p);
    if !tables.has_levels {
        return Err("the service levels of old connections are not known".to_owned());
    }
    if tables.new.paths() < 2 {
        return Err("each port has one LID".to_owned());
    }
    let old = |p: usize| tables.sources.iter().any(|s| used(&s.paths, p));
    let new = |p: usize| used(&tables.new_sources.paths, p);
    for p in 0..tables.new.paths() {
        if old(p) && new(p) {
            return Err(format!("LID {p} of a port is used before and after"));
        }
        if old(p) && changes.planes[p] {
            return Err(format!("rows of LID {p}, which is in use, change"));
        }
    }
    let (mut before, mut after) = (0, 0);
    for p in 0..tables.new.paths() {
        for b in &tables.states {
            before |= lanes_on(fabric, b.routes, p, true);
        }
        after |= lanes_on(fabric, tables.new, p, true);
    }
    if before & after != 0 {
        return Err("old and new LIDs share lanes".to_owned());
    }
    // Old connections stay on old paths, which did not change, in lanes of their own.
    if !check(fabric, tables.in_place).deadlock_free() {
        return Err("the tables in place are not free of deadlock".to_owned());
    }
    if tables.states.len() > 1 {
        return Err("connections of several old states: not proved".to_owned());
    }
    Ok("hosts begin to use the new LIDs after all of their rows are written".to_owned())
}

fn five_phases(fabric: &Fabric, tables: &Tables<'_>, changes: &Changes) -> Result<String, String> {
    if !tables.has_levels {
        return Err("the service levels of old connections are not known".to_owned());
    }
    if tables.new.paths() < 2 {
        return Err("each port has one LID".to_owned());
    }
    // Connections go to LIDs that the tables in place may not use, and come back: levels of all LIDs and the choice among these stay.
    if !tables.states.iter().all(|b| keeps_names(fabric, b.routes, tables.new)) {
        return Err("service levels of some LID, or the choice among LIDs, change".to_owned());
    }
    let of = |p: usize| {
        let states = tables.states.iter().map(|b| b.routes);
        states.fold(lanes_on(fabric, tables.new, p, false), |mask, r| {
            mask | lanes_on(fabric, r, p, false)
        })
    };
    for plane in (0..tables.new.paths()).filter(|&p| !changes.planes[p]) {
        let others = (0..tables.new.paths()).filter(|&p| p != plane).fold(0, |m, p| m | of(p));
        if of(plane) & others != 0 {
            continue;
        }
        let mut alone = tables.in_place.clone();
        alone.set_select(vec![plane as u16; fabric.terminal_count()]);
        let report = check(fabric, &alone);
        let before = tables.states.len() == 1 && check(fabric, tables.in_place).deadlock_free();
        if report.complete() && report.deadlock_free() && before {
            return Ok(format!(
                "every host moves to LID {plane} of its peers, whose rows do not change, before the first write, \
                 and back after the last"
            ));
        }
    }
    Err("no plane of LIDs keeps its rows, reaches all pairs, and has lanes of its own".to_owned())
}

/// Whether all sources have the same service levels on all LIDs of terminals under both tables, and use the same of these LIDs.
fn keeps_names(fabric: &Fabric, old: &Routes, new: &Routes) -> bool {
    let terminals = || (0..fabric.terminal_count()).map(TerminalId::new);
    let by_terminal = [old, new].iter().any(|r| matches!(r.layers.levels(), Layers::BySource(_)));
    // Otherwise one terminal of a switch stands for all.
    let sources: Vec<TerminalId> = if by_terminal {
        terminals().collect()
    } else {
        let first = |s| fabric.terminals_on(SwitchId::new(s)).next();
        (0..fabric.switch_count()).filter_map(first).map(TerminalId::new).collect()
    };
    let level = |r: &Routes, t, d, path| r.layer_on(fabric, t, r.row(d, path));
    let levels_stay = |d: DestId| {
        (0..new.paths())
            .all(|path| sources.iter().all(|&t| level(old, t, d, path) == level(new, t, d, path)))
    };
    let uses_stay =
        terminals().all(|t| (0..new.paths()).all(|path| old.uses(t, path) == new.uses(t, path)));
    uses_stay && terminals().all(|t| levels_stay(DestId::terminal(t)))
}

fn quiet(changes: &Changes) -> Result<String, String> {
    match changes.jobs {
        None => Err(format!(
            "the jobs are not known (--jobs); {} of {} pairs change",
            changes.pairs_changed, changes.pairs
        )),
        Some(jobs) if jobs.changed > 0 => Err(format!(
            "{} of {} pairs inside of {} running jobs change: wait until they end",
            jobs.changed, jobs.pairs, jobs.jobs
        )),
        Some(jobs) => Ok(format!(
            "none of {} pairs inside of {} running jobs changes; no job may start, and nothing else may send on \
             pairs that change, until all is written",
            jobs.pairs, jobs.jobs
        )),
    }
}

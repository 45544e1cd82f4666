//! `darkfiber check --from`: what is proved of the way from old tables to new ones.

use std::path::{Path, PathBuf};

use darkfiber_analysis::Names;
use darkfiber_fabric::{Fabric, SwitchId, TerminalId};
use darkfiber_formats::manifest;
use darkfiber_report::transition::{
    ChangeFacts, HeldChannel, ObligationRow, RungRow, TransitionResult,
};
use darkfiber_routing::check::{check_any_mix, check_groups};
use darkfiber_routing::transition::{
    self, Before, Generation, Held, Judged, Obligation, Rung, RungJudged, Transition, Why,
};
use darkfiber_routing::{Layers, Lids, Routes};
use darkfiber_scenario::Listener;
use darkfiber_scenario::tables::Read;

use crate::commands::metrics;
use crate::failure::{Exit, Failure};
use crate::load::{self, Loaded};
use crate::options::{BesideFrom, BesideTables, Common};
use crate::out::Teller;
use crate::progress::Progress;
use crate::provenance;

/// Old and new tables.
pub(super) struct TransitionInput<'a> {
    /// What the fabric was loaded as.
    pub(super) fabric: &'a str,
    /// The old tables, the last in place.
    pub(super) from: &'a [PathBuf],
    /// What belongs to the last of them.
    pub(super) beside: &'a BesideFrom,
    /// Where the new ones are from.
    pub(super) to: &'a Path,
    pub(super) new: &'a Read,
}

/// Judges the way from old tables to new ones.
pub(super) fn run(
    request: &TransitionInput<'_>,
    loaded: &Loaded,
    jobs: Option<&[Vec<TerminalId>]>,
    common: &Common,
) -> Result<Exit, Failure> {
    let fabric = &loaded.topology.fabric;
    let mut old = Vec::new();
    for (number, path) in request.from.iter().enumerate() {
        let is_last = number + 1 == request.from.len();
        let beside = if is_last { request.beside.tables() } else { BesideTables::default() };
        let tables = beside.of(path);
        let read = load::tables(&tables, request.fabric, loaded, common)?;
        same_lids(path, &read, request.new.lids.as_ref())?;
        are_known(path, &read)?;
        old.push(read);
    }
    let states: Vec<Before<'_>> = (old.iter().zip(request.from))
        .map(|(read, path)| Before { routes: &read.routes, has_levels: knows_levels(read, path) })
        .collect();
    if !knows_levels(request.new, request.to) && old.iter().any(|read| read.has_levels) {
        Teller::new(common).note(&format!(
            "{}: note: the old tables have service levels, and none were given with these: their routes are taken in lane 0 (--sl)",
            request.to.display()
        ));
    }
    let progress = Progress::new(1, common.quiet);
    progress.at("judging the transition");
    groups_hold(fabric, request)?;
    any_port_holds(fabric, request, &old, common)?;
    let mut judged =
        transition::check(fabric, &states, &request.new.routes, jobs).map_err(|mismatch| {
            let hint = match mismatch {
                transition::Mismatch::LanesByHop { .. } => {
                    "stop the jobs, or give tables with service levels, or of one lane"
                }
                _ => "all tables must be of this fabric, with the same LIDs",
            };
            Failure::input(mismatch).hint(hint)
        })?;
    progress.step();
    drop(progress);
    if judged.verdict == Rung::NothingChanges
        && old.iter().any(|read| read.routes.groups != request.new.routes.groups)
    {
        groups_change(&mut judged);
    }

    let shape = loaded.topology.shape.as_ref();
    let from: Vec<String> = request.from.iter().map(|p| p.display().to_string()).collect();
    let obligations: Vec<ObligationRow> =
        judged.obligations.iter().map(|o| obligation(fabric, o)).collect();
    let rungs: Vec<RungRow> = (judged.rungs.iter())
        .map(|r| RungRow { rung: r.rung.name(), holds: r.holds, reason: r.because.clone() })
        .collect();
    let changes = &judged.changes;
    common.show(&TransitionResult {
        from: &from,
        to: &request.to.display().to_string(),
        verdict: judged.verdict.name(),
        has_levels: judged.has_levels,
        obligations: &obligations,
        rungs: &rungs,
        stages: &stages(fabric, &judged),
        changes: ChangeFacts {
            entries: changes.entries,
            switches: changes.switches.iter().filter(|c| **c).count(),
            lids: changes.lids,
            pairs: changes.pairs,
            pairs_path: changes.pairs_path,
            pairs_level: changes.pairs_level,
            pairs_changed: changes.pairs_changed,
        },
        fabric: &metrics::facts(fabric, shape, loaded.structure.as_ref(), false),
        provenance: &provenance::of(fabric, common),
    })?;
    Ok(if judged.verdict == Rung::Refuse { Exit::Finding } else { Exit::Fine })
}

/// Refuses new tables whose groups of ports do not hold whatever switches pick.
fn groups_hold(fabric: &Fabric, request: &TransitionInput<'_>) -> Result<(), Failure> {
    let Some(found) = check_groups(fabric, &request.new.routes) else { return Ok(()) };
    let wrong = match &found.sets {
        sets if sets.loops > 0 => "loop",
        sets if sets.unreachable > 0 => "lead nowhere",
        sets if !sets.deadlock_free() => "deadlock",
        _ => return Ok(()),
    };
    let to = request.to.display();
    let what =
        format!("{to}: groups of ports of the new tables can {wrong}: no way to them is sound");
    Err(Failure::new(Exit::Finding, what).hint("`darkfiber check` without --from shows where"))
}

/// Where old or new tables have groups of ports: refuses the transition unless packets may take any port of any of them, at any switch.
/// Obligations are judged by static ports, which are among these.
fn any_port_holds(
    fabric: &Fabric,
    request: &TransitionInput<'_>,
    old: &[Read],
    common: &Common,
) -> Result<(), Failure> {
    let all: Vec<&Routes> = old.iter().chain([request.new]).map(|read| &read.routes).collect();
    if all.iter().all(|routes| routes.groups.is_none()) {
        return Ok(());
    }
    let found = check_any_mix(fabric, &all);
    let knows = |(read, path): (&Read, &PathBuf)| knows_levels(read, path);
    let has_unknown_lanes = !matches!(request.new.routes.layers, Layers::One)
        && !old.iter().zip(request.from).all(knows);
    let wrong = match &found {
        _ if has_unknown_lanes => "be used in lanes that are not known, and deadlock",
        found if found.loops > 0 => "loop",
        found if found.unreachable > 0 => "lead nowhere",
        found if !found.deadlock_free() => "deadlock",
        _ => {
            Teller::new(common).note(
                "note: whichever port of old and new groups switches pick meanwhile, packets arrive and cannot deadlock; what follows is of \
                 the static ports, and packets of a pair whose group is another or new may overtake each other",
            );
            return Ok(());
        }
    };
    let what = format!(
        "groups of ports of the old and the new tables together can {wrong}: no way from one to the other is proved"
    );
    Err(Failure::new(Exit::Finding, what).hint(
        "stop what sends, or go by tables without groups: each of the two ways is judged by itself",
    ))
}

/// No entry differs, but groups of ports do, of which any mix has been shown to hold: they are written in any order.
fn groups_change(judged: &mut Transition) {
    for rung in &mut judged.rungs {
        rung.holds = false;
        "no entry differs, but groups of ports do".clone_into(&mut rung.because);
    }
    judged.rungs.push(RungJudged {
        rung: Rung::AnyOrder,
        holds: true,
        because: "whichever ports of old and new groups switches pick, packets arrive and cannot deadlock".to_owned(),
    });
    judged.verdict = Rung::AnyOrder;
}

/// Whether the service levels of connections are known: they were read, or the set that the tables are of says by having
/// none that one lane serves all.
fn knows_levels(read: &Read, path: &Path) -> bool {
    read.has_levels || path.join(manifest::MANIFEST).is_file()
}

/// Refuses old tables that lack entries which switches may have: packets go by these, and no proof holds without them.
fn are_known(path: &Path, old: &Read) -> Result<(), Failure> {
    let Some(lacks) = &old.lacks else { return Ok(()) };
    let what = format!(
        "{}: {lacks}: nothing is proved of the way from tables that are not known",
        path.display()
    );
    Err(Failure::input(what).hint(
        "dump the tables in place again; a switch that has no entries needs a table without any",
    ))
}

/// Refuses tables whose ports had other LIDs: entries cannot be compared.
fn same_lids(path: &Path, old: &Read, new: Option<&Lids>) -> Result<(), Failure> {
    match (&old.lids, new) {
        (Some(old), Some(new)) if old != new => Err(Failure::input(format!(
            "{}: LIDs were renumbered between these tables and those of --routes",
            path.display()
        ))
        .hint("make the new tables from a fabric dump of the running subnet manager, which has the LIDs in use")),
        _ => Ok(()),
    }
}

fn statement(obligation: Obligation) -> &'static str {
    match obligation {
        Obligation::Target => "new tables are sound",
        Obligation::Steady => "new paths, old and new service levels: no cycle",
        Obligation::Flight => "beside packets on old paths: no cycle",
        Obligation::Mixed => "any mix of old and new entries: no loop, no cycle",
        Obligation::Ordered => "switches written by rank: no loop, no cycle",
    }
}

fn obligation(fabric: &Fabric, judged: &Judged) -> ObligationRow {
    let names = Names::new(fabric);
    let switches = |all: &[SwitchId]| {
        let shown: Vec<String> = all.iter().take(4).map(|&s| names.switch(s)).collect();
        shown.join(", ") + if all.len() > 4 { ", ..." } else { "" }
    };
    let (mut lane, mut witness) = (None, Vec::new());
    let reason = judged.fails.as_ref().map(|why| match why {
        Why::Unsound { lost, loops, cyclic } => {
            format!("{lost} pairs lost, {loops} in loops, {} layers with a cycle", cyclic.len())
        }
        Why::NotExamined => "not examined, as the new tables are not sound".to_owned(),
        Why::Cycle(found) => {
            lane = Some(found.lane);
            witness = found.links.iter().map(|link| held(&names, link)).collect();
            format!("a cycle of {} channels in lane {}", found.links.len(), found.lane)
        }
        Why::Circle { dest, path, switches: all } => format!(
            "packets to {} (LID +{path}) loop over {}",
            names.terminal(*dest),
            switches(all)
        ),
        Why::Contradiction(all) => {
            format!("each of these would have to be written before the next: {}", switches(all))
        }
    });
    ObligationRow {
        name: judged.obligation.name(),
        statement: statement(judged.obligation),
        holds: judged.fails.is_none(),
        reason,
        lane,
        witness,
    }
}

fn held(names: &Names<'_>, link: &Held) -> HeldChannel {
    let word = |generation| match generation {
        Generation::Old => "old",
        Generation::New => "new",
    };
    HeldChannel {
        channel: names.channel(link.channel),
        held_by: word(link.held_by),
        wants_by: word(link.wants_by),
        source: names.terminal(link.source),
        destination: names.terminal(link.dest),
        lid_offset: link.path,
        level_of: word(link.level_of),
    }
}

/// The switches of each stage by name, if the verdict is stages.
fn stages(fabric: &Fabric, judged: &Transition) -> Vec<Vec<String>> {
    // An easier rung needs none.
    if judged.verdict != Rung::Stages {
        return Vec::new();
    }
    let names = Names::new(fabric);
    let mut stages = vec![Vec::new(); judged.stages()];
    for (s, rank) in judged.ranks.iter().flatten().enumerate() {
        if let Some(rank) = rank {
            stages[*rank as usize].push(names.switch(SwitchId::new(s)));
        }
    }
    stages
}

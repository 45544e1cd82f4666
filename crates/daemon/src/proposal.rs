//! A proposal on disk: its tables as OpenSM reads them, their origin, and the commands to run.

use std::fmt::Write as _;
use std::path::Path;

use darkfiber_fabric::Fabric;
use darkfiber_formats::disk::Os;
use darkfiber_formats::sets::{SetError, TableSet};
use darkfiber_formats::{guid2lid, ibnetdiscover, lft, lid_choice, output, path_bits, sl};
use darkfiber_operate::{Decision, DecisionOutcome, PlanId, Rung};
use darkfiber_routing::{Lids, Routes};

use crate::config::{Config, Origin};
use crate::inputs::WholeTables;
use crate::plan_files::{folder, placed, tables_before, tables_whole, was_placed};
use crate::work::TablePlan;

/// Folders of proposals that are kept.
const KEPT: usize = 50;

/// Writes the tables of a plan and those before it, whole or not at all; removes the oldest ones.
pub(crate) fn write(config: &Config, decision: &Decision, plan: &TablePlan) -> Result<(), String> {
    let dir = folder(config, decision.id);
    let (fabric, routes) = (plan.values.fabric.fabric(), &plan.routes);
    let lids = &plan.values.tables.lids;
    let failed = |e: &dyn std::fmt::Display| format!("{}: {e}", dir.display());
    std::fs::create_dir_all(config.state.join("plans")).map_err(|e| failed(&e))?;
    let before = &plan.values.tables.routes;
    output::replace_as_is(&tables_before(&dir), |out| lft::write(out, fabric, before, lids))
        .map_err(|e| failed(&e))?;
    if let (true, Some(whole)) = (decision.trigger.is_damage(), &plan.values.whole) {
        // A repair comes first: without these a switch that comes back may stay unused.
        let _it_may_be_missing = write_whole(&tables_whole(&dir), whole);
    }
    let mut set = TableSet::open(&Os, &dir, false).map_err(|e| failed(&e))?;
    tables_into(&mut set, fabric, routes, lids).map_err(|e| failed(&e))?;
    let summary = serde_json::to_string(decision).map_err(|e| failed(&e))?;
    set.commit(&summary).map_err(|e| failed(&e))?;
    let jobs = config.state.join("plans").join(format!("{}.jobs", decision.id));
    output::replace_as_is(&jobs, |out| out.write_all(&plan.values.jobs.text))
        .map_err(|e| failed(&e))?;
    tidy(&config.state.join("plans"));
    Ok(())
}

/// Writes the tables that were complete last.
fn write_whole(dir: &Path, whole: &WholeTables) -> Result<(), SetError> {
    let (fabric, tables) = (whole.fabric.fabric(), &whole.tables);
    let mut set = TableSet::open(&Os, dir, false)?;
    tables_into(&mut set, fabric, &tables.routes, &tables.lids)?;
    set.commit(&format!("{{\"tables\": \"{}\"}}", tables.digest)).map(drop)
}

/// Writes tables with all that belongs to them.
pub(crate) fn tables_into(
    set: &mut TableSet<'_>,
    fabric: &Fabric,
    routes: &Routes,
    lids: &Lids,
) -> Result<(), SetError> {
    set.file("lfts.dump", |out| lft::write(out, fabric, routes, lids))?;
    set.file("guid2lid", |out| guid2lid::write(out, fabric, lids))?;
    set.file("fabric.topo", |out| ibnetdiscover::write(out, fabric, Some(lids)))?;
    if routes.layer_count() > 1 {
        set.file("path-sl.rows", |out| sl::write_rows(out, fabric, routes, lids))?;
    }
    if routes.source_chooses() {
        set.file("path-bits", |out| path_bits::write(out, fabric, routes))?;
    }
    if let Some(choice) = &routes.choice {
        set.file("lid-choice", |out| lid_choice::write(out, choice, fabric, lids))?;
    }
    Ok(())
}

/// Notes that a plan was put where OpenSM finds it.
pub(crate) fn note_placed(config: &Config, plan: PlanId) -> Result<(), String> {
    let path = placed(&config.state.join("plans"), plan);
    std::fs::write(&path, "").map_err(|e| format!("{}: {e}", path.display()))
}

/// Removes the oldest proposals beyond the limit. Those that cannot be removed stay.
fn tidy(plans: &Path) {
    let entries = std::fs::read_dir(plans).into_iter().flatten().flatten();
    let number = |e: &std::fs::DirEntry| e.file_name().to_str().and_then(|n| n.parse().ok());
    let mut all: Vec<PlanId> = entries.filter_map(|e| number(&e)).collect();
    all.sort_unstable();
    // The plan in place stays, and the one before it.
    let is_placed = |plan: &&PlanId| was_placed(plans, **plan);
    let in_place = all.iter().rev().find(is_placed).copied();
    let old = all.iter().take(all.len().saturating_sub(KEPT));
    for plan in old.filter(|&&plan| Some(plan) != in_place) {
        let dir = plans.join(plan.to_string());
        let _it_may_stay = std::fs::remove_dir_all(&dir);
        let _it_may_stay = std::fs::remove_dir_all(tables_whole(&dir));
        for beside in ["jobs", "before", "stage", "placed"] {
            let _it_may_stay = std::fs::remove_file(plans.join(format!("{plan}.{beside}")));
        }
    }
}

/// The outcome of a plan that was put in place, in one line.
pub(crate) fn outcome(decision: &Decision) -> String {
    let id = decision.id;
    let changed = decision.candidate.as_ref().map_or_else(String::new, |c| {
        let entries = counted(c.entries, "entries", "entry");
        format!("{entries} in {}", counted(c.blocks, "blocks", "block"))
    });
    match decision.outcome {
        DecisionOutcome::Confirmed => format!("plan {id} is in place, as read back: {changed}"),
        _ => format!("plan {id} was twice not found in place: {changed}"),
    }
}

/// A proposal in one line.
pub(crate) fn line(decision: &Decision) -> String {
    let id = decision.id;
    let mut text = format!("proposal {id}: ");
    if let Some(c) = &decision.candidate {
        let share = 100.0 * c.gain();
        let (entries, blocks) =
            (counted(c.entries, "entries", "entry"), counted(c.blocks, "blocks", "block"));
        let (kept, new, what) = (c.kept, c.proposed, c.measure.words());
        let _infallible =
            write!(text, "{entries} in {blocks}, {what} {kept} -> {new} ({share:.1} % less)");
    }
    if let Some(v) = &decision.verdict {
        let _infallible = write!(text, ", transition {}", v.rung.name());
    }
    text
}

fn counted(n: u64, many: &str, one: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// The commands that put a proposal in place, by hand.
pub(crate) fn commands(config: &Config, decision: &Decision) -> String {
    if config.manager.is_some() {
        let id = decision.id;
        return format!("  `darkfiber operate deploy {id}` puts it in place\n");
    }
    let folder = folder(config, decision.id);
    let dir = shell(&folder);
    let rung = decision.verdict.as_ref().map(|v| v.rung);
    if rung.is_none_or(|rung| rung > Rung::AnyOrder) {
        return format!(
            "  the new tables are in {dir}; no single sweep of OpenSM is proved to be safe for \
             them\n"
        );
    }
    let tables = match &config.tables.origin {
        Origin::File(path) | Origin::Folder(path) | Origin::Socket(path) => shell(path),
        Origin::Command(_) => shell(&config.state.join("tables.read")),
    };
    let lfts = config.lfts_file.as_ref().map_or_else(|| "LFTS_FILE".to_owned(), |p| shell(p));
    let mut text =
        String::from("  to put it in place, where OpenSM runs with routing_engine file:\n");
    let levels = config.tables.sl.as_ref();
    let levels = levels.map_or_else(String::new, |sl| format!(" --from-sl {}", shell(sl)));
    let topo = shell(&folder.join("fabric.topo"));
    let check = format!("darkfiber check {topo} --from {tables}{levels} --routes {dir}");
    let put = format!("install -m 644 {} {lfts}", shell(&folder.join("lfts.dump")));
    // A plan that is damaged by then fails the check, and goes nowhere.
    let commands = [check, put, "systemctl kill -s HUP opensm".to_owned()];
    let _infallible = writeln!(text, "    {}", commands.join(" &&\n    "));
    if config.lfts_file.is_none() {
        text.push_str("  LFTS_FILE is the lfts_file of opensm.conf; [tables] lfts_file names it\n");
    }
    text
}

/// A path as a word of a shell, whatever folder it is in: absolute, and in quotation marks where it has characters that mean something.
fn shell(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,".contains(c);
    if text.chars().all(is_plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_words_of_a_shell() {
        let here = std::env::current_dir().expect("a folder");
        assert_eq!(shell(Path::new("/a/b-1.dump")), "/a/b-1.dump");
        assert_eq!(shell(Path::new("/f dir/even's")), "'/f dir/even'\\''s'");
        assert!(shell(Path::new("x")).contains(&*here.to_string_lossy()));
    }
}

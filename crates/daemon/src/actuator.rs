//! Placing a plan for OpenSM's engine `file`: checked once more, written completely or not at all, and swept.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use darkfiber_formats::qos_policy::{Policy, PolicyRefused};
use darkfiber_formats::{lft, lid_choice, output};
use darkfiber_operate::{Decision, Digest};
use darkfiber_routing::Routes;
use darkfiber_routing::check::check;

use crate::children::Children;
use crate::config::{Config, Manager};
use crate::fetch::{fetch, run};
use crate::kept_tables::tables_at;
use crate::read;
use crate::tables_digest::digest_of_tables;
use crate::value::{FabricValue, TablesValue};
use crate::work::TablePlan;
use crate::{plan_files, proposal, switch_writer};

/// Maximum time of the command that makes OpenSM sweep.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where a stage is once it is placed.
pub(crate) enum Placed {
    /// Where OpenSM finds it with its next sweep.
    ForOpenSm,
    /// In the switches, all of whose changed blocks were read back, and where OpenSM finds it; OpenSM need not know yet.
    InSwitches(Arc<TablesValue>),
    /// Where OpenSM finds it, as this program could not write the switches.
    LeftToOpenSm(String),
}

/// A stage to be placed: its plan, its number, and what was read last.
pub(crate) struct Stage<'a> {
    pub(crate) decision: &'a Decision,
    pub(crate) number: u32,
    pub(crate) plan: &'a TablePlan,
    pub(crate) known: Option<Known>,
}

/// Digests of the fabric and of the tables in place, as they were read last.
#[derive(Clone, Copy)]
pub(crate) struct Known {
    pub(crate) fabric: Digest,
    pub(crate) tables: Digest,
}

/// Replaces the tables that OpenSM reads by those of a stage, and writes them into the switches where that is configured.
///
/// Before anything is written the fabric is read once more: it must be the one of the proof. The tables are read again from
/// the folder of the plan, and must be those that were proved.
pub(crate) fn commit(
    config: &Config,
    manager: &Manager,
    stage: &Stage<'_>,
    children: &Children,
) -> Result<Placed, String> {
    let Stage { decision, plan, .. } = *stage;
    let candidate = decision.candidate.as_ref().ok_or("there are no tables")?;
    let aim = *candidate.stages.get(stage.number as usize).ok_or("there is no such stage")?;
    let is_last = stage.number as usize + 1 == candidate.stages.len();
    let Some(lfts_file) = &manager.lfts_file else {
        commit_to_plugin(config, stage, aim)?;
        put_choice(config, plan)?;
        return Ok(placed(write_switches(config, stage, children), stage, aim, is_last));
    };
    let verdict = decision.verdict.as_ref().ok_or("nothing is proved")?;
    let now = fetch(&config.fabric, children)
        .and_then(|bytes| read::fabric(&bytes, &config.fabric))
        .map_err(|e| format!("the fabric could not be read once more: {e}"))?;
    if now.digest != verdict.fabric {
        return Err("the fabric has changed since the proof".to_owned());
    }
    let policy = policy(&now, manager, &plan.routes)?;
    proposal::write(config, decision, plan)?;
    let dir = plan_files::folder(config, decision.id);
    let path = if is_last {
        dir.join("lfts.dump")
    } else {
        let of = plan.between.get(stage.number as usize);
        let of = of.ok_or("the tables of this stage are gone")?;
        let path = plan_files::tables_of_stage(&dir);
        let lids = &plan.values.tables.lids;
        output::replace_as_is(&path, |out| lft::write(out, now.fabric(), of, lids))
            .map_err(|e| format!("{}: {e}", path.display()))?;
        path
    };
    let (routes, lids) = tables_at(path.clone(), &dir, &now)?;
    expect(digest_of_tables(now.fabric(), &routes, &lids), aim)?;
    if let (Some(policy), Some(path)) = (policy, &manager.qos_policy) {
        let mut text = Vec::new();
        policy.write(&mut text, now.fabric()).map_err(|e| e.to_string())?;
        put(path, &text)?;
    }
    put_choice(config, plan)?;
    let text = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    proposal::note_placed(config, decision.id)?;
    let written = write_switches(config, stage, children);
    // Whenever OpenSM sweeps next, it finds what is in the switches.
    put(lfts_file, &text)?;
    Ok(placed(written, stage, aim, is_last))
}

/// Has senders choose among the LIDs of a port as the tables of a plan expect. Any LID leads there, whichever tables are in place.
fn put_choice(config: &Config, plan: &TablePlan) -> Result<(), String> {
    let (Some(path), Some(choice)) = (&config.tables.lid_choice, &plan.routes.choice) else {
        return Ok(());
    };
    let mut text = Vec::new();
    let (fabric, lids) = (plan.values.fabric.fabric(), &plan.values.tables.lids);
    lid_choice::write(&mut text, choice, fabric, lids).map_err(|e| e.to_string())?;
    put(path, &text)
}

/// Writes a stage into the switches if that is configured, and if fabric and tables in place are those that it was proved from;
/// whether it did.
fn write_switches(config: &Config, stage: &Stage<'_>, children: &Children) -> Result<bool, String> {
    let Some(command) = &config.write_blocks else { return Ok(false) };
    let values = &stage.plan.values;
    let stages = stage.decision.candidate.as_ref().map_or(&[][..], |c| &c.stages);
    let number = stage.number as usize;
    let (before, from) = match number.checked_sub(1) {
        None => (values.tables.digest, Some(&values.tables.routes)),
        Some(last) => (stages[last], stage.plan.between.get(last).map(|routes| &**routes)),
    };
    let to = stage.plan.between.get(number).unwrap_or(&stage.plan.routes);
    let fabric = stage.decision.verdict.as_ref().map(|verdict| verdict.fabric);
    let is_known = stage.known.is_some_and(|k| k.tables == before && Some(k.fabric) == fabric);
    let (true, Some(from)) = (is_known, from) else { return Ok(false) };
    let lids = &values.tables.lids;
    switch_writer::write(command, values.fabric.fabric(), lids, (from, to), children)?;
    Ok(true)
}

/// OpenSM has to agree after the last stage; a stage that was cut off in the middle is completed by it: any mix is proved.
fn placed(written: Result<bool, String>, stage: &Stage<'_>, aim: Digest, is_last: bool) -> Placed {
    match written {
        Ok(true) if !is_last => Placed::InSwitches(Arc::new(tables_of(stage, aim))),
        Ok(_) => Placed::ForOpenSm,
        Err(why) => Placed::LeftToOpenSm(why),
    }
}

/// The tables after a stage that is in the switches: those that were read before it, but for its blocks, which were read back.
fn tables_of(stage: &Stage<'_>, aim: Digest) -> TablesValue {
    let (plan, values) = (stage.plan, &stage.plan.values);
    let routes = plan.between.get(stage.number as usize).unwrap_or(&plan.routes);
    let before = &values.tables;
    TablesValue {
        routes: Routes::clone(routes),
        lids: before.lids.clone(),
        has_levels: before.has_levels,
        is_whole: check(values.fabric.fabric(), routes).complete(),
        digest: aim,
        fabric: values.fabric.digest,
    }
}

/// Prepares a plan for OpenSM's plugin, which requests it in the following sweep. The fabric of that sweep must be the one of
/// the proof: it gets no plan of another one.
fn commit_to_plugin(config: &Config, stage: &Stage<'_>, aim: Digest) -> Result<(), String> {
    let Stage { decision, plan, .. } = *stage;
    let of_stage = plan.between.get(stage.number as usize).unwrap_or(&plan.routes);
    let lids = &plan.values.tables.lids;
    expect(digest_of_tables(plan.values.fabric.fabric(), of_stage, lids), aim)?;
    proposal::write(config, decision, plan)?;
    proposal::note_placed(config, decision.id)
}

fn expect(found: Digest, aim: Digest) -> Result<(), String> {
    if found == aim {
        return Ok(());
    }
    Err(format!("the tables on disk are not those that were proved: {found} instead of {aim}"))
}

/// Service levels, if the tables need any.
fn policy(
    fabric: &FabricValue,
    manager: &Manager,
    routes: &Routes,
) -> Result<Option<Policy>, String> {
    if routes.layer_count() <= 1 {
        return Ok(None);
    }
    let lanes = routes.layer_count();
    if manager.qos_policy.is_none() {
        return Err(format!(
            "the tables use {lanes} lanes, and nothing tells OpenSM which pairs use which: [opensm] qos_policy names its \
             qos_policy_file"
        ));
    }
    let policy = Policy::of(fabric.fabric(), routes);
    policy.map(Some).map_err(|e: PolicyRefused| {
        format!("{e}; tables for fewer lanes (`darkfiber route --lanes`) need fewer rules")
    })
}

/// Puts a text in the place of a file, unless the file has this text already.
fn put(path: &Path, text: &[u8]) -> Result<(), String> {
    if std::fs::read(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let put = output::replace_as_is(path, |out| out.write_all(text));
    put.map_err(|e| {
        let then = match e.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "make room there",
            ErrorKind::NotFound => "its folder must be there before this program starts",
            _ => "this program must be allowed to write it, and its folder",
        };
        format!("{}: {e}; {then}", path.display())
    })
}

/// Has OpenSM sweep; the time before that.
pub(crate) fn sweep(manager: &Manager, children: &Children) -> Result<SystemTime, String> {
    let before = SystemTime::now();
    run(&manager.sweep, PATIENCE, 1 << 16, children).map(|_| before)
}

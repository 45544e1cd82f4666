//! OpenSM with the plugin takes the plans of `darkfiber operate`.

use std::fs;
use std::path::Path;

use crate::daemon::{PATIENCE, agree, beside, darkfiber, operate, put, until};
use crate::process::{Guarded, wait_for};
use crate::simulation::Simulation;
use crate::tools::{Tools, plugin, program};
use crate::{route, text};

const JOBS: &str = "JOBID ST NODELIST\n1 R cn[0001-0002]\n";

/// A configuration for the plugin; the daemon reads the fabric and the tables from the simulation.
fn configure(dir: &Path, fabric: &Simulation, tools: &Tools, manager: &Guarded) {
    let discover = program("ibnetdiscover").expect("it was there");
    let programs = (discover.as_path(), tools.dump_fts.as_path());
    let engines = ("apply-faults", "dfosm,updn,no_fallback");
    let more = ("every_s = 60\n", "[plugin]\n");
    let config = beside(engines, fabric, programs, manager, more);
    put(dir, "operate.toml", &config);
    put(dir, "jobs", JOBS);
}

/// The tables that OpenSM begins with, in `even`, and a folder for the daemon's state.
fn prepare(dir: &Path) {
    route(&["fattree2:n=6,m=3,r=4", "-e", "updn"], &dir.join("even"));
    fs::create_dir(dir.join("state")).expect("a directory");
}

/// The first plan that OpenSM took from the fault book.
fn answered(notes: &str) -> Option<u32> {
    let line = notes.lines().find(|l| l.contains("from the fault book"))?;
    line.split_once("OpenSM took plan ")?.1.split_once(", ")?.0.parse().ok()
}

/// Tables that the switches have reach all pairs without deadlock.
fn is_sound(dir: &Path, plan: u32) {
    let of = format!("state/plans/{plan}");
    let (code, checked) = darkfiber(dir, &["check", &format!("{of}/fabric.topo"), "--routes", &of]);
    assert_eq!(code, Some(0), "{checked}");
}

#[test]
fn a_dead_cable_is_answered_from_the_fault_book() {
    let (Some(tools), Some(_)) = (Tools::find(), program("ibnetdiscover")) else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let d = dir.path();
    let Some(library) = plugin(d) else { return };
    prepare(d);
    let mut fabric = Simulation::start(&tools, &d.join("even"), d.join("sim"), "plugin");
    // There is no daemon and no plan yet: the next engine routes.
    let manager = fabric.manage_with_plugin(&d.join("even"), &library, &d.join("state"));
    let log = || text(d, "sim/opensm/opensm.log");
    assert!(log().contains("dfosm: no plan fits, the next engine routes"), "{}", log());
    configure(d, &fabric, &tools, &manager);
    let daemon = operate(d);
    until(d, "notes", "fault book: ");

    // A cable dies: the answer has been prepared.
    fabric.console("Unlink \"S-0000500000010001\"[7]");
    until(d, "told", "is in place, as read back: ");
    let plan = answered(&text(d, "notes")).expect("it was in the fault book");
    until(d, "told", &format!("plan {plan} is in place, as read back: "));
    agree(&fabric, d, &format!("state/plans/{plan}/lfts.dump"));
    is_sound(d, plan);
    assert!(!text(d, "told").contains("twice"), "{}", text(d, "told"));

    // The daemon is killed: at any sweep of OpenSM the plan stays.
    drop(daemon);
    let before = fabric.read_back();
    let swept = log().matches("SUBNET UP").count();
    sweep(&manager);
    assert!(wait_for(PATIENCE, || log().matches("SUBNET UP").count() > swept), "{}", log());
    assert!(log().contains(&format!("dfosm: plan {plan} kept")), "{}", log());
    assert_eq!(fabric.read_back(), before);
    // So it does with an OpenSM that was restarted.
    drop(manager);
    let manager = fabric.manage_with_plugin(&d.join("even"), &library, &d.join("state"));
    assert!(log().contains(&format!("dfosm: plan {plan} from the plan file")), "{}", log());
    assert_eq!(fabric.read_back(), before);
    drop(manager);
}

/// Orders a sweep of OpenSM.
pub(crate) fn sweep(manager: &Guarded) {
    let id = manager.id().to_string();
    let status = std::process::Command::new("kill").args(["-HUP", &id]).status();
    assert!(status.expect("kill starts").success());
}

/// OpenSM is killed; one that stood by with the plugin and a copy of the plan takes over, and changes no entry.
#[test]
fn a_standby_with_the_plan_changes_no_entry() {
    let (Some(tools), Some(_)) = (Tools::find(), program("ibnetdiscover")) else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let d = dir.path();
    let Some(library) = plugin(d) else { return };
    prepare(d);
    let mut fabric = Simulation::start(&tools, &d.join("even"), d.join("sim"), "standby");
    fs::create_dir(d.join("copy")).expect("a directory");
    let first = fabric.manage_with_plugin(&d.join("even"), &library, &d.join("state"));
    configure(d, &fabric, &tools, &first);
    // What is copied is looked at: half of a plan is none.
    let config = text(d, "operate.toml");
    let standby = "[standby]\ncopy = [\"sh\", \"copy.sh\"]\nevery_s = 0.5\n";
    put(d, "operate.toml", &format!("{config}{standby}"));
    put(d, "copy.sh", "head -c 100 \"$1\" > copy/plan; sha256sum copy/plan");
    let daemon = operate(d);
    until(d, "notes", "fault book: ");
    // Where OpenSM was sweeping just then, its next engine makes whole tables after the first cable, and nothing is to be repaired.
    let is_in_place = || text(d, "told").contains("is in place, as read back: ");
    let repaired = [7, 8].into_iter().any(|port| {
        fabric.console(&format!("Unlink \"S-0000500000010001\"[{port}]"));
        wait_for(PATIENCE, is_in_place)
    });
    assert!(repaired, "{}", text(d, "notes"));
    until(d, "notes", "a standby subnet manager lacks the plan (sh: a standby has something else");
    put(d, "copy.sh", "cp \"$1\" copy/plan; sha256sum copy/plan");
    until(d, "notes", "standby subnet managers have the plan again");
    assert_eq!(fs::read(d.join("copy/plan")).ok(), fs::read(d.join("state/plan")).ok());
    let conf = format!(
        "event_plugin_name dfosm\nevent_plugin_options socket={0}/plugin.sock,plan={0}/plan,wait_ms=2000\n\
         routing_engine dfosm,updn,no_fallback\nqos TRUE\nsminfo_polling_timeout 500\npolling_retry_number 2\n",
        d.join("copy").display()
    );
    let host = "H-0000200000000090";
    let second = fabric.stand_by(("second", host), &d.join("even"), &conf, &library);
    let before = fabric.read_back();
    // The daemon goes with the host of the first one.
    drop((daemon, first));
    let log = || text(d, "sim/second/opensm.log");
    assert!(wait_for(PATIENCE, || log().contains("SUBNET UP")), "{}", log());
    assert!(log().contains("from the plan file"), "{}", log());
    assert_eq!(fabric.read_back(), before);
    drop(second);
}

/// A spine fails, OpenSM takes the repair, and the spine is linked again: once OpenSM no longer waits, the tables from before the fault
/// are restored, and the spine carries routes again.
#[test]
fn a_spine_that_comes_back_carries_routes_again() {
    let (Some(tools), Some(_)) = (Tools::find(), program("ibnetdiscover")) else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let d = dir.path();
    let Some(library) = plugin(d) else { return };
    prepare(d);
    let mut fabric = Simulation::start(&tools, &d.join("even"), d.join("sim"), "returns");
    let manager = fabric.manage_with_plugin(&d.join("even"), &library, &d.join("state"));
    let tables = fabric.read_back();
    configure(d, &fabric, &tools, &manager);
    let daemon = operate(d);
    until(d, "notes", "fault book: ");
    let spine = "S-0000500000020001";
    fabric.console(&format!("Unlink \"{spine}\""));
    sweep(&manager);
    until(d, "told", "is in place, as read back: ");
    assert_ne!(fabric.read_back(), tables);
    fabric.console(&format!("Relink \"{spine}\""));
    sweep(&manager);
    let is_back = || fabric.read_back() == tables;
    assert!(wait_for(2 * PATIENCE, is_back), "{}\n{}", text(d, "notes"), text(d, "told"));
    assert!(!text(d, "told").contains("panicked"), "{}", text(d, "told"));
    drop((daemon, manager));
}

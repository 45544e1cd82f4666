//! `darkfiber operate` puts tables of a routing engine in place for jobs, and tables for what their ranks send.

use std::fs;

use crate::daemon::{FILE, PATIENCE, agree, beside, darkfiber, operate, put, until};
use crate::process::wait_for;
use crate::simulation::Simulation;
use crate::tools::{Tools, plugin, program};
use crate::{route, text};

/// Three jobs that share links, as in docs/operate.md.
const JOBS: &str = "JOBID ST NODELIST\n\
    20 R cn[0009-0012,0021-0024]\n21 R cn[0005-0008,0017-0020]\n22 R cn[0001-0004,0013-0016]\n";

#[test]
fn a_job_gets_tables_made_anew_where_few_entries_leave_too_much() {
    let (Some(tools), Some(discover)) = (Tools::find(), program("ibnetdiscover")) else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let d = dir.path();
    route(&["fattree2:n=6,m=3,r=4", "-e", "ftree"], &d.join("even"));
    let fabric = Simulation::start(&tools, &d.join("even"), d.join("sim"), "remake");
    let manager = fabric.manage(&d.join("even"), &d.join("lfts"));
    let programs = (discover.as_path(), tools.dump_fts.as_path());
    // One entry is few enough to leave something.
    let more = "[policy]\ncooldown_s = 0\nmoves = 1\n[policy.route]\nengine = \"sar-best\"\nbeyond = 0.0\n";
    let engines = ("apply", "file,no_fallback");
    put(d, "operate.toml", &beside(engines, &fabric, programs, &manager, (FILE, more)));
    put(d, "jobs", JOBS);
    let program = operate(d);
    until(d, "told", " is in place, as read back: ");
    let told = text(d, "told");
    let plan = told.split(' ').nth(1).expect("a number").to_owned();
    agree(&fabric, d, &format!("state/plans/{plan}/lfts.dump"));
    let explain =
        |id: &str| darkfiber(d, &["operate", "explain", id, "--config", "operate.toml"]).1;
    let explained = explain(&plan);
    assert!(explained.contains("few entries in place of tables made anew"), "{explained}");
    let few = explained.split("considered   decision ").nth(1).expect("what was considered");
    let few = few.split(':').next().expect("a number");
    let why = format!("kept         plan {plan}, made anew, leaves less");
    assert!(explain(few).contains(&why), "{}", explain(few));
    drop((program, manager));
}

/// Two jobs on a HyperX whose ports have four LIDs, as `parx` needs them.
const HYPERX: &str = "JOBID ST NODELIST\n1 R cn[0001-0008]\n2 R cn[0017-0024]\n";

#[test]
fn ranks_that_send_much_get_more_of_the_fabric() {
    let (Some(tools), Some(discover)) = (Tools::find(), program("ibnetdiscover")) else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let d = dir.path();
    let Some(library) = plugin(d) else { return };
    let even = d.join("even");
    route(&["hyperx:dims=4x4,t=2", "-e", "parx", "--lmc", "2"], &even);
    let fabric = Simulation::start(&tools, &even, d.join("sim"), "ranks");
    // Each LID of a port has service levels of its own: the plugin answers with them, rules of a QoS policy cannot.
    let conf = format!(
        "event_plugin_name dfosm\nevent_plugin_options socket={0}/plugin.sock,plan={0}/plan,wait_ms=2000\n\
         routing_engine dfosm,file,no_fallback\nqos TRUE\nlmc 2\nlfts_file {1}\n",
        d.join("state").display(),
        even.join("lfts.dump").display()
    );
    fs::create_dir(d.join("state")).expect("a folder");
    let manager = fabric.manage_with(&even, &conf, &library);
    fs::create_dir(d.join("profiles")).expect("a folder");
    let programs = (discover.as_path(), tools.dump_fts.as_path());
    let tables = "every_s = 1\nsl = \"even/path-sl\"\nlid_choice = \"lid-choice\"\n";
    let more = "[plugin]\n[demands]\nprofiles = \"profiles\"\nevery_s = 0.1\n[policy]\ncooldown_s = 0\n\
                [policy.route]\nengine = \"parx\"\n";
    fs::copy(even.join("lid-choice"), d.join("lid-choice")).expect("a copy");
    let engines = ("apply", "dfosm,file,no_fallback");
    put(d, "operate.toml", &beside(engines, &fabric, programs, &manager, (tables, more)));
    put(d, "jobs", HYPERX);
    let program = operate(d);
    // Without a profile every pair inside a job counts alike.
    let placed = || -> Vec<String> {
        let told = text(d, "told");
        let lines = told.lines().filter(|line| line.contains(" is in place, as read back: "));
        lines.filter_map(|line| Some(line.split(' ').nth(1)?.to_owned())).collect()
    };
    assert!(wait_for(PATIENCE, || placed().len() == 1), "{}", text(d, "notes"));

    // The prolog of job 1 leaves its profile: four pairs exchange nearly everything.
    let lines = (0..8).flat_map(|a| (0..8).filter(move |&b| b != a).map(move |b| (a, b)));
    let line = |(a, b): (u32, u32)| {
        let bytes = if a ^ b == 3 { 1_000_000 } else { 100 };
        format!("{a} {b} {bytes}\n")
    };
    let profile: String = lines.map(line).collect();
    fs::write(d.join("profiles/.1"), profile).expect("a file");
    fs::rename(d.join("profiles/.1"), d.join("profiles/1")).expect("a file");
    assert!(wait_for(PATIENCE, || placed().len() == 2), "{}", text(d, "notes"));
    let plan = &placed()[1];
    agree(&fabric, d, &format!("state/plans/{plan}/lfts.dump"));
    let (_, explained) = darkfiber(d, &["operate", "explain", plan, "--config", "operate.toml"]);
    assert!(explained.contains("demand on the fullest channel"), "{explained}");
    assert!(explained.contains("demands      "), "{explained}");
    // The choice among the LIDs of a port is there for senders, and all of it passes the checks of files.
    assert_eq!(text(d, "lid-choice"), text(d, &format!("state/plans/{plan}/lid-choice")));
    let of = format!("state/plans/{plan}");
    let (code, checked) = darkfiber(d, &["check", &format!("{of}/fabric.topo"), "--routes", &of]);
    assert_eq!(code, Some(0), "{checked}");
    drop((program, manager));
}

//! What OpenSM's performance manager counts reaches `darkfiber operate` through the plugin.

use std::fs;

use crate::daemon::{PATIENCE, beside, darkfiber, operate, put};
use crate::process::wait_for;
use crate::simulation::Simulation;
use crate::tools::{Tools, plugin, program};
use crate::{route, text};

#[test]
fn sweeps_of_the_performance_manager_are_an_input() {
    let (Some(tools), Some(discover)) = (Tools::find(), program("ibnetdiscover")) else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let d = dir.path();
    let Some(library) = plugin(d) else { return };
    route(&["fattree2:n=4,m=2,r=3", "-e", "updn"], &d.join("even"));
    let fabric = Simulation::start(&tools, &d.join("even"), d.join("sim"), "counters");
    fs::create_dir(d.join("state")).expect("a directory");
    let conf = format!(
        "event_plugin_name dfosm\nevent_plugin_options socket={0}/plugin.sock,plan={0}/plan,counters={0}/ports.sock\n\
         routing_engine dfosm,updn,no_fallback\nqos TRUE\nperfmgr TRUE\nperfmgr_sweep_time_s 1\n",
        d.join("state").display()
    );
    let manager = fabric.manage_with(&d.join("even"), &conf, &library);
    let programs = (discover.as_path(), tools.dump_fts.as_path());
    // Only what the simulator's own packets leave on the counters flows here.
    let more = ("every_s = 60\n", "[plugin]\n[counters]\nsocket = \"state/ports.sock\"\n");
    let engines = ("apply-faults", "dfosm,updn,no_fallback");
    put(d, "operate.toml", &beside(engines, &fabric, programs, &manager, more));
    put(d, "jobs", "JOBID ST NODELIST\n1 R cn[0001-0002]\n");
    let daemon = operate(d);
    // A sweep under way when the daemon starts is not used; a whole one is: each channel between switches carries something.
    let journal = || fs::read_to_string(d.join("state/journal")).unwrap_or_default();
    let heard = || journal().contains("\"input\":\"counters\"");
    let is_heard = wait_for(PATIENCE, heard);
    assert!(is_heard, "{}\n{}", text(d, "notes"), text(d, "sim/opensm/opensm.log"));
    let is_used = || {
        let lines = journal();
        let of = |line: &str| {
            let (_, rest) = line.split_once("\"fullest\":")?;
            rest.split(['}', ',']).next()?.parse::<f64>().ok()
        };
        lines.lines().filter_map(of).any(|share| share > 0.0 && share < 0.01)
    };
    assert!(wait_for(PATIENCE, is_used), "{}", journal());
    let (code, status) = darkfiber(d, &["operate", "status", "--config", "operate.toml"]);
    assert_eq!(code, Some(0), "{status}");
    assert!(!status.contains("bad input"), "{status}");
    drop((daemon, manager));
}

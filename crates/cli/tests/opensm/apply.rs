//! `darkfiber operate` changes tables through OpenSM's engine `file`: for jobs that start, back by hand, and after a fault.

use crate::daemon::{FILE, PATIENCE, agree, beside, darkfiber, operate, put, until};
use crate::process::wait_for;
use crate::simulation::Simulation;
use crate::tools::{Tools, program};
use crate::{route, text};

const QUIET: &str = "JOBID ST NODELIST\n1 R cn[0001-0002]\n";
/// Three jobs that share links, as in docs/operate.md.
const BUSY: &str = "JOBID ST NODELIST\n\
    20 R cn[0009-0012,0021-0024]\n21 R cn[0005-0008,0017-0020]\n22 R cn[0001-0004,0013-0016]\n";

#[test]
fn jobs_and_a_dead_cable_lead_to_tables_in_place_that_are_those_of_the_plan() {
    let (Some(tools), Some(discover)) = (Tools::find(), program("ibnetdiscover")) else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let d = dir.path();
    route(&["fattree2:n=6,m=3,r=4", "-e", "ftree"], &d.join("even"));
    let mut fabric = Simulation::start(&tools, &d.join("even"), d.join("sim"), "apply");
    let manager = fabric.manage(&d.join("even"), &d.join("lfts"));
    let programs = (discover.as_path(), tools.dump_fts.as_path());
    let more = (FILE, "[policy]\ncooldown_s = 0\n");
    let config = beside(("apply", "file,no_fallback"), &fabric, programs, &manager, more);
    put(d, "operate.toml", &config);
    put(d, "jobs", QUIET);
    let program = operate(d);
    let ask = |words: &[&str]| {
        darkfiber(d, &[&["operate"], words, &["--config", "operate.toml"]].concat())
    };
    let status = |says: &str| {
        let found = wait_for(PATIENCE, || ask(&["status"]).1.contains(says));
        assert!(found, "{says}: {}{}", ask(&["status"]).1, text(d, "notes"));
    };
    // At the start it checks the tables; one job on one leaf leaves nothing to do.
    status("decision   2 kept");

    // Jobs start: their tables are in place without a request.
    put(d, "jobs", BUSY);
    until(d, "told", "plan 3 is in place, as read back: 4 entries in 4 blocks\n");
    agree(&fabric, d, "state/plans/3/lfts.dump");
    assert_ne!(text(d, "lfts"), text(d, "even/lfts.dump"));

    // Back, by hand, and there again: each proved again.
    assert_eq!(ask(&["rollback"]).0, Some(0));
    until(d, "told", "plan 4 is in place, as read back: 4 entries");
    agree(&fabric, d, "even/lfts.dump");
    assert_eq!(ask(&["deploy", "3"]).0, Some(0));
    until(d, "told", "plan 5 is in place, as read back: 4 entries");
    agree(&fabric, d, "state/plans/3/lfts.dump");
    let (code, refused) = ask(&["deploy", "99"]);
    assert_eq!(code, Some(3));
    assert!(refused.contains("no decision 99 is remembered"), "{refused}");

    // A cable dies: OpenSM continues to send over it until repaired tables are in place.
    fabric.console("Unlink \"S-0000500000010001\"[7]");
    until(d, "told", "plan 6 is in place, as read back: ");
    agree(&fabric, d, "state/plans/6/lfts.dump");
    let words = ["check", "state/plans/6/fabric.topo", "--routes", "state/plans/6"];
    let (code, checked) = darkfiber(d, &words);
    assert_eq!(code, Some(0), "{checked}");
    let (_, explained) = ask(&["explain", "6"]);
    assert!(explained.contains("the fabric or its tables changed"), "{explained}");

    // Its actions are in its journal, and are reproduced byte for byte.
    drop(program);
    let (code, replayed) = darkfiber(d, &["operate", "--replay", "state/journal"]);
    assert_eq!(code, Some(0), "{replayed}");
    let journal = text(d, "state/journal");
    assert_eq!(journal.split_once('\n').map(|(_, steps)| steps), Some(replayed.as_str()));
    drop(manager);
}

//! `darkfiber operate` writes stages into switches itself (`plugin/blocks`), and leaves them to OpenSM where it cannot.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::daemon::{FILE, PATIENCE, agreeing_entries, beside, darkfiber, operate, put, quoted};
use crate::process::wait_for;
use crate::simulation::Simulation;
use crate::tools::{Tools, blocks, program};
use crate::{route, text};

/// Writes down what it is given, then does it, or what the file `instead` says.
const WRAPPER: &str = "#!/bin/sh\ncd \"$(dirname \"$0\")\" || exit 9\n\
    case $1 in -g) exec ./darkfiber-blocks -g;; esac\ntee list >> lists || exit 9\n\
    [ -e instead ] && exec sh ./instead\nexec ./darkfiber-blocks < list\n";

#[test]
fn stages_are_written_into_switches() {
    let (Some(tools), Some(discover)) = (Tools::find(), program("ibnetdiscover")) else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let d = dir.path();
    let Some(_writer) = blocks(d) else { return };
    put(d, "write", WRAPPER);
    fs::set_permissions(d.join("write"), Permissions::from_mode(0o755)).expect("a program");
    route(&["fattree2:n=6,m=3,r=4", "-e", "ftree"], &d.join("even"));
    let mut fabric = Simulation::start(&tools, &d.join("even"), d.join("sim"), "blocks");
    let manager = fabric.manage(&d.join("even"), &d.join("lfts"));
    let programs = (discover.as_path(), tools.dump_fts.as_path());
    let write = format!("[switches]\nwrite = {}\n", quoted(&fabric.words(&d.join("write"))));
    let engines = ("apply-faults", "file,no_fallback");
    let config = beside(engines, &fabric, programs, &manager, (FILE, &write));
    put(d, "operate.toml", &config);
    put(d, "jobs", "JOBID ST NODELIST\n1 R cn[0001-0002]\n");
    let _program = operate(d);
    let watches = || darkfiber(d, &["operate", "status", "--config", "operate.toml"]).1;
    assert!(wait_for(PATIENCE, || watches().contains("watching")), "{}", text(d, "notes"));
    let (mut seen, mut cables_lost) = (0, 0);
    let mut after = |fabric: &mut Simulation, cable: &str| {
        fabric.console(&format!("Unlink {cable}"));
        let placed = || -> Vec<String> {
            let told = text(d, "told");
            let lines = told.lines().filter(|line| line.contains(" is in place, as read back: "));
            lines.filter_map(|line| Some(line.split(' ').nth(1)?.to_owned())).collect()
        };
        assert!(wait_for(PATIENCE, || placed().len() > seen), "{}", text(d, "notes"));
        seen = placed().len();
        let plan = placed().pop().expect("a plan");
        // 7 switches, 31 LIDs; no spine leads to another, nor need it lead to the leaf at a dead cable and its 6 hosts.
        let count = agreeing_entries(fabric, d, &format!("state/plans/{plan}/lfts.dump"));
        cables_lost += 1;
        assert!(count >= 7 * 31 - 6 - 7 * cables_lost, "plan {plan}: {count}");
        darkfiber(d, &["operate", "explain", &plan, "--config", "operate.toml"]).1
    };

    // Both stages are written, the second after the first was read back.
    let explained = after(&mut fabric, "\"S-0000500000010001\"[7]");
    assert!(explained.contains("in 2 stages"), "{explained}");
    let lists = text(d, "lists");
    assert_eq!(lists.lines().filter(|line| line.starts_with("end ")).count(), 2, "{lists}");
    assert!(!text(d, "notes").contains("is left to OpenSM"), "{}", text(d, "notes"));

    // A program that fails: OpenSM writes the stages.
    put(d, "instead", "echo no adapter >&2; exit 1");
    after(&mut fabric, "\"S-0000500000010001\"[8]");
    let notes = text(d, "notes");
    assert!(notes.contains("is left to OpenSM, as its blocks could not be written: "), "{notes}");
    assert!(notes.contains("no adapter"), "{notes}");

    // One that read back something else than it was given: OpenSM writes the stage.
    put(d, "instead", "sed 's/.. *$/ff/' list");
    after(&mut fabric, "\"S-0000500000010002\"[7]");
    let notes = text(d, "notes");
    assert!(notes.contains("it read back ") && notes.contains("not what it was given"), "{notes}");

    // A list that is cut, or has something else in it, writes nothing.
    let block = format!("- 0 {}\n", "01".repeat(64));
    for list in [block.clone(), format!("{block}end 2\n"), format!("{block}- 0 zz\nend 2\n")] {
        put(d, "cut", &list);
        let [program, words @ ..] = &fabric.words(&d.join("darkfiber-blocks"));
        let mut command = Command::new(program);
        let cut = File::open(d.join("cut")).expect("a file");
        let ended = command.args(words).stdin(cut).output().expect("it starts");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(1), "{said}");
        assert!(said.contains("the list of blocks is not whole: nothing is written"), "{said}");
    }
}

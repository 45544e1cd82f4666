//! Service levels of tables in several lanes, as OpenSM's path records give them: by the plugin, and by a QoS policy next to the
//! engine `file`.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use darkfiber_fabric::LinkClass;
use darkfiber_formats::qos_policy::Policy;
use darkfiber_formats::{detect, edges};
use darkfiber_scenario::Loaded;
use darkfiber_scenario::tables::{self, TableFiles};

use crate::daemon::{PATIENCE, beside, operate, put, until};
use crate::plugin::sweep;
use crate::process::wait_for;
use crate::simulation::Simulation;
use crate::tools::{Tools, plugin, program};
use crate::{route, text};

/// Number of pairs that are queried.
const PAIRS: usize = 40;

/// Source and destination LIDs of some pairs of hosts, and their service levels, as `route` wrote them.
fn pairs(dir: &Path) -> Vec<(u16, u16, u8)> {
    let hex = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).expect("hex");
    let cache = text(dir, "guid2lid");
    let lid = |node: u64| {
        // A port of an adapter has its GUID and one more.
        let mut lines = cache.lines().filter(|l| !l.is_empty()).map(|l| l.split(' '));
        let found = lines.find_map(|mut w| {
            (hex(w.next()?) == node + 1).then(|| hex(w.next().expect("a LID")) as u16)
        });
        found.expect("a port")
    };
    let all = text(dir, "path-sl");
    let lines: Vec<Vec<&str>> = all.lines().map(|l| l.split(' ').collect()).collect();
    let wanted = |level: &str| {
        let of = lines.iter().filter(|w| w[2] == level).collect::<Vec<_>>();
        assert!(of.len() > PAIRS, "level {level}: {} pairs", of.len());
        let step = of.len() / (PAIRS / 2);
        of.into_iter().step_by(step).take(PAIRS / 2)
    };
    let number = |word: &str| word.parse::<u16>().expect("a number");
    ["0", "1"]
        .iter()
        .flat_map(|level| wanted(level))
        .map(|w| (lid(hex(w[0])), number(w[1]), number(w[2]) as u8))
        .collect::<Vec<(u16, u16, u8)>>()
}

/// OpenSM's answers for these pairs.
fn agree(fabric: &Simulation, dir: &Path) {
    let Some(saquery) = program("saquery") else { return };
    let wanted = pairs(&dir.join("even"));
    assert_eq!(wanted.len(), PAIRS);
    let words = fabric.words(&saquery);
    for (from, to, level) in wanted {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).args(["--src-to-dst", &format!("{from}:{to}")]);
        let said = command.stdin(Stdio::null()).output().expect("saquery starts").stdout;
        let said = String::from_utf8_lossy(&said).into_owned();
        let line = said.lines().find(|l| l.trim_start().starts_with("sl."));
        let found = line.and_then(|l| l.rsplit("0x").next()?.trim().parse::<u8>().ok());
        assert_eq!(found, Some(level), "{from} to {to}: {said}");
    }
}

#[test]
fn path_records_have_the_levels_of_the_policy() {
    let Some(tools) = Tools::find() else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let d = dir.path();
    let even = d.join("even");
    route(&["dragonfly:p=2,a=4,h=2", "-e", "dfsssp"], &even);
    let options = edges::Options { hosts_per_switch: 0, class: LinkClass::unknown() };
    let bytes = fs::read(even.join("fabric.topo")).expect("a file");
    let read = detect::parse_fabric(&bytes, Path::new("fabric.topo"), &options);
    let loaded = Loaded::from(read.expect("a fabric").0);
    let read = tables::read(&TableFiles::at(even.clone()), "fabric.topo", &loaded, &mut ());
    let policy = Policy::of(&loaded.topology.fabric, &read.expect("tables").routes);
    let mut out = File::create(d.join("policy")).expect("a file");
    policy.expect("few rules").write(&mut out, &loaded.topology.fabric).expect("written");
    let fabric = Simulation::start(&tools, &even, d.join("sim"), "policy");
    let conf = format!(
        "routing_engine file,no_fallback\nlfts_file {}\nqos TRUE\nqos_policy_file {}\n",
        even.join("lfts.dump").display(),
        d.join("policy").display()
    );
    let manager = fabric.manage_with(&even, &conf, d);
    agree(&fabric, d);
    drop(manager);
}

#[test]
fn path_records_have_the_levels_of_the_plan() {
    let (Some(tools), Some(discover)) = (Tools::find(), program("ibnetdiscover")) else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let d = dir.path();
    let Some(library) = plugin(d) else { return };
    let even = d.join("even");
    route(&["dragonfly:p=2,a=4,h=2", "-e", "dfsssp"], &even);
    fs::create_dir(d.join("state")).expect("a directory");
    let fabric = Simulation::start(&tools, &even, d.join("sim"), "levels");
    let conf = format!(
        "event_plugin_name dfosm\nevent_plugin_options socket={0}/plugin.sock,plan={0}/plan,wait_ms=2000\n\
         routing_engine dfosm,file,no_fallback\nqos TRUE\nlfts_file {1}\n",
        d.join("state").display(),
        even.join("lfts.dump").display()
    );
    let manager = fabric.manage_with(&even, &conf, &library);
    let programs = (discover.as_path(), tools.dump_fts.as_path());
    let engines = ("apply-faults", "dfosm,file,no_fallback");
    let more = ("sl = \"even/path-sl\"\n", "[plugin]\n");
    let config = beside(engines, &fabric, programs, &manager, more);
    put(d, "operate.toml", &config);
    put(d, "jobs", "JOBID ST NODELIST\n1 R cn[0001-0002]\n");
    let daemon = operate(d);
    until(d, "notes", "fault book: ");
    // The tables are those in place; with the engine `file` only levels are missing.
    sweep(&manager);
    until(d, "told", "is in place, as read back: 0 entries");
    let log = || text(d, "sim/opensm/opensm.log");
    assert!(wait_for(PATIENCE, || log().contains("dfosm tables configured")), "{}", log());
    agree(&fabric, d);
    lanes_are_those_of_levels(&fabric, d);
    drop((daemon, manager));
}

/// The plan has two lanes: on every cable of a switch, service levels take them in turn.
fn lanes_are_those_of_levels(fabric: &Simulation, dir: &Path) {
    let Some(smpquery) = program("smpquery") else { return };
    let tables = text(dir, "even/lfts.dump");
    let lid = tables.lines().find_map(|l| l.split("switch Lid ").nth(1)?.split(' ').next());
    let words = fabric.words(&smpquery);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).args(["sl2vl", lid.expect("a switch"), "1"]);
    let said = command.stdin(Stdio::null()).output().expect("smpquery starts").stdout;
    let said = String::from_utf8_lossy(&said).into_owned();
    let rows: Vec<Vec<u8>> = said
        .lines()
        .filter(|line| line.contains("out"))
        .map(|line| {
            let lanes = line.split('|').skip(1).map(str::trim).filter(|word| !word.is_empty());
            lanes.map(|word| word.parse().expect("a lane")).collect()
        })
        .collect();
    // Inputs from cables; input 0 is the switch itself.
    assert!(rows.len() > 2, "{said}");
    let in_turn: Vec<u8> = (0..16).map(|level| level % 2).collect();
    assert!(rows.iter().all(|lanes| *lanes == in_turn), "{said}");
}

//! `darkfiber operate` in modes that change tables, together with a script in place of OpenSM; and other triggers of proposals than
//! jobs.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::operate::{BUSY, CONFIG, QUIET, ask, put, site, start, status, until, waiting};
use crate::run_in;
use crate::schema::is_of;

/// A configuration that changes tables: the script `sweep` is all that OpenSM does.
fn acts(mode: &str) -> String {
    let tables =
        "file = \"in-place\"\nguid2lid = \"even/guid2lid\"\nevery_s = 0.05\nlfts_file = \"lfts\"";
    let config = CONFIG
        .replace("file = \"even\"\nevery_s = 0.05\nlfts_file = \"/etc/opensm/lfts\"", tables)
        .replace("file = \"even/fabric.topo\"", "file = \"fabric.topo\"");
    format!(
        "mode = \"{mode}\"\n{config}confirm_s = 0.5\n[opensm]\nengines = \"file,no_fallback\"\n\
         sweep = [\"sh\", \"sweep\"]\nlog = \"log\"\n"
    )
}

const SWEEPS: &str = "cp lfts new-tables && mv new-tables in-place\n\
    echo 'x: file tables configured on all switches' >> log; echo SUBNET UP >> log\n";
/// OpenSM reports success without having done anything.
const IGNORES: &str = "touch in-place\necho 'x: file tables configured on all switches' >> log; echo SUBNET UP >> log\n";
/// OpenSM routes with its own engine.
const FOREIGN: &str =
    "echo 'x: nue tables configured on all switches' >> log; echo SUBNET UP >> log\n";

/// A site whose OpenSM is a script.
fn acting(mode: &str) -> tempfile::TempDir {
    let dir = site();
    let d = dir.path();
    for (from, to) in [
        ("even/fabric.topo", "fabric.topo"),
        ("even/lfts.dump", "in-place"),
        ("even/lfts.dump", "lfts"),
    ] {
        fs::copy(d.join(from), d.join(to)).expect("a copy");
    }
    put(d, "log", "");
    put(d, "sweep", SWEEPS);
    put(d, "operate.toml", &acts(mode));
    dir
}

fn text(d: &Path, name: &str) -> String {
    fs::read_to_string(d.join(name)).expect("a file")
}

#[test]
fn what_a_plan_says_is_put_in_place_and_mended_after_a_fault() {
    let dir = acting("apply-faults");
    let d = dir.path();
    put(d, "jobs", BUSY);
    let program = start(d);
    // For jobs this mode proposes only.
    status(d, "decision   2 proposed");
    assert_eq!(text(d, "in-place"), text(d, "even/lfts.dump"));
    assert!(ask(d, "explain 2").out.contains("`darkfiber operate deploy 2` puts it in place"));
    assert_eq!(ask(d, "rollback").code, 3, "nothing of it is in place");
    assert_eq!(ask(d, "deploy 2").code, 0);
    status(d, "those of plan 2");
    assert_eq!(text(d, "in-place"), text(d, "state/plans/2/lfts.dump"));
    assert_eq!(ask(d, "rollback").code, 0);
    status(d, "those of plan 3");
    assert_eq!(text(d, "in-place"), text(d, "even/lfts.dump"));
    // A cable is gone.
    let cut = run_in(d, "fabric even/fabric.topo --fail leaf001[7] -o damaged.topo -q");
    assert_eq!(cut.code, 0, "{}", cut.err);
    put(d, "fabric.topo", &text(d, "damaged.topo"));
    let output = until(d, "proposals", |text| text.contains("plan 4 is in place"));
    assert!(
        output.contains("plan 2 is in place, as read back: 4 entries in 4 blocks\n"),
        "{output}"
    );
    let checked = run_in(d, "check fabric.topo --routes in-place --guid2lid even/guid2lid");
    assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
    // A foreign fabric, which shares no GUID with this one.
    let other = run_in(d, "fabric kary:k=3,n=2 -o other.topo -q");
    assert_eq!(other.code, 0);
    let foreign = text(d, "other.topo").replace("500000", "700000").replace("200000", "600000");
    let kept = text(d, "fabric.topo");
    put(d, "fabric.topo", &foreign);
    until(d, "said", |text| {
        text.contains("critical: fabric: it shares 0 GUIDs with the one that is known")
    });
    let output = status(d, "bad input  fabric: ");
    assert!(output.contains("fabric.topo: it shares 0 of 31 known GUIDs"), "{output}");
    assert!(output.contains("7 switches, 24 terminals"), "{output}");
    put(d, "fabric.topo", &kept);
    waiting("the fabric again", || {
        let output = ask(d, "status").out;
        if output.contains("bad input") { Err(output) } else { Ok(()) }
    });
    assert_eq!(ask(d, "accept").code, 3, "there is nothing to accept");
    // Killed in between, it reads the tables in place and resumes.
    drop(program);
    let _program = start(d);
    let output = status(d, "phase      watching");
    assert!(output.contains("those of plan 4"), "{output}");
    reviewed(d);
}

/// A dump that was torn after some entries of its last switch: what it lacks is in the switches, and stays there.
#[test]
fn a_torn_dump_of_tables_takes_nothing_out_of_switches() {
    let dir = acting("apply-faults");
    let d = dir.path();
    let program = start(d);
    status(d, "decision   1 kept");
    let whole = text(d, "in-place");
    let last = whole.rfind("Unicast lids").expect("a table");
    let lines: Vec<&str> = whole[last..].lines().take(10).collect();
    let torn = format!("{}{}\n", &whole[..last], lines.join("\n"));
    put(d, "in-place", &torn);
    let output = status(d, "bad input  tables: ");
    assert!(output.contains("is cut off"), "{output}");
    // Several readings of it do not make it true.
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!(text(d, "in-place"), torn, "nothing was written");
    put(d, "in-place", &whole);
    waiting("the tables again", || {
        let output = ask(d, "status").out;
        if output.contains("bad input") { Err(output) } else { Ok(()) }
    });
    assert!(!text(d, "proposals").contains("in place"), "{}", text(d, "proposals"));
    drop(program);
}

/// The journal of that test: what was shown was taken by hand, and each part of what was put in place took its time.
fn reviewed(d: &Path) {
    let of_json = ask(d, "review state/journal --format json");
    is_of("review", &of_json.json());
    let json = of_json.json();
    // After the fault another one may have been shown.
    assert!(json["advice"]["taken"] == 1 && json["advice"]["shown"].as_u64() >= Some(1), "{json}");
    let became: Vec<_> = json["decisions"].as_array().expect("decisions").iter().collect();
    let of = |id: u64| became.iter().find(|d| d["id"] == id).expect("a decision");
    assert_eq!((&of(2)["trigger"], &of(2)["outcome"]), (&"jobs".into(), &"confirmed".into()));
    assert!(of(2)["gain"].as_f64().is_some_and(|gain| gain > 0.1));
    // The jobs of decision 2 ran on until its tables were in place.
    assert!(of(2)["valid_for"].is_null() && of(2)["in_place_after"].as_f64() > Some(0.0));
    assert!(of(4)["gain"].is_null(), "a repair gains pairs");
    let parts: Vec<&str> = json["parts"]
        .as_array()
        .expect("parts")
        .iter()
        .filter_map(|p| p["part"].as_str())
        .collect();
    assert_eq!(parts, ["route", "prove", "place", "program", "read back", "all of these"]);
    // The journal of the configuration is the default.
    let text = ask(d, "review").out;
    assert!(text.contains(" shown, 1 taken, "), "{text}");
    let csv = ask(d, "review --format csv").out;
    assert!(csv.starts_with("decision,at,trigger,gain,") && csv.lines().count() >= 4, "{csv}");
    let none = ask(d, "review nothing");
    assert!(none.code == 3 && none.err.contains("nothing"), "{}", none.err);
}

#[test]
fn who_is_not_obeyed_freezes() {
    let dir = acting("apply");
    let d = dir.path();
    put(d, "jobs", QUIET);
    put(d, "sweep", IGNORES);
    let _program = start(d);
    status(d, "decision   2 kept");
    // OpenSM does not follow the order: it is repeated once.
    put(d, "jobs", BUSY);
    let output = status(d, "phase      frozen (Mismatch)");
    assert!(output.contains("decision   3 failed"), "{output}");
    until(d, "said", |text| text.contains("critical: frozen: tables that were put in place"));
    assert_eq!(ask(d, "deploy 3").code, 3);
    put(d, "sweep", SWEEPS);
    assert_eq!(ask(d, "resume").code, 0);
    status(d, "phase      watching");
    assert_eq!(ask(d, "deploy 3").code, 0);
    waiting("the plan", || {
        let output = ask(d, "status").out;
        if output.contains("those of plan") { Ok(()) } else { Err(output) }
    });
    assert_eq!(text(d, "in-place"), text(d, "state/plans/3/lfts.dump"));
    // It may not write the file of OpenSM: nothing is half done.
    let before = text(d, "in-place");
    fs::remove_file(d.join("lfts")).expect("it was there");
    fs::create_dir(d.join("lfts")).expect("a folder in its place");
    assert_eq!(ask(d, "rollback").code, 0);
    until(d, "said", |text| text.contains("was not put in place: ") && text.contains("lfts: "));
    assert_eq!(text(d, "in-place"), before);
    // OpenSM is configured to use another engine.
    for _ in 0..3 {
        let foreign =
            std::process::Command::new("sh").args(["-c", FOREIGN]).current_dir(d).status();
        assert!(foreign.is_ok_and(|s| s.success()));
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    status(d, "phase      frozen (Foreign)");
}

/// GUID and port of each host by its name, as a switch sends to it.
fn ports_of(dump: &str, switch: &str) -> (String, Vec<(String, String, u8)>) {
    let block = dump.split("Unicast lids").find(|b| b.contains(&format!("'{switch}'")));
    let block = block.expect("the switch has a table");
    let guid = block.split("guid ").nth(1).and_then(|rest| rest.split(' ').next());
    let hosts = block.lines().skip(1).filter_map(|line| {
        let port = line.split(' ').nth(1)?.parse().ok()?;
        let (guid, rest) = line.split_once("Channel Adapter portguid ")?.1.split_once(": '")?;
        Some((rest.split(' ').next()?.to_owned(), guid.to_owned(), port))
    });
    (guid.expect("a GUID").to_owned(), hosts.collect())
}

#[test]
fn counters_alone_lead_to_a_proposal() {
    let dir = site();
    let d = dir.path();
    let (leaf, hosts) = ports_of(&text(d, "even/lfts.dump"), "leaf001");
    let far: Vec<_> = hosts.iter().filter(|(name, ..)| name.as_str() > "cn0006").collect();
    let (one, other) =
        (far[0], far[1..].iter().find(|h| h.2 == far[0].2).expect("a shared uplink"));
    // Two hosts of a leaf send to two that are reached over the same uplink, each half of its capacity.
    put(d, "jobs", &format!("JOBID ST NODELIST\n1 R cn0001,{}\n2 R cn0002,{}\n", one.0, other.0));
    let counters = |minutes: u64| {
        let bytes = minutes * 60 * 25_000_000_000 * 45 / 100;
        let at = 1_700_000_000_000 + minutes * 60_000;
        let mut text = String::new();
        let mut line = |kind: &str, way: &str, guid: &str, port: u8, bytes: u64| {
            let _infallible = writeln!(
                text,
                "infiniband_{kind}_port_{way}_data_bytes_total{{guid=\"{guid}\",port=\"{port}\"}} {bytes} {at}"
            );
        };
        for (name, guid, _) in &hosts {
            let sends = name == "cn0001" || name == "cn0002";
            let receives = *name == one.0 || *name == other.0;
            line("hca", "transmit", guid, 1, if sends { bytes } else { 0 });
            line("hca", "receive", guid, 1, if receives { bytes } else { 0 });
        }
        line("switch", "transmit", &leaf, one.2, 2 * bytes);
        text
    };
    put(d, "counters", &counters(0));
    let config = CONFIG.replace("[policy]\n", "[counters]\nfile = \"counters\"\nevery_s = 0.05\n[policy]\nhot_for_s = 0.01\nmin_gain = 0.2\n");
    put(d, "operate.toml", &config);
    let _program = start(d);
    status(d, "decision   1 ");
    // The proposal for jobs alone is there; now counters show more.
    for minutes in 1..4 {
        std::thread::sleep(std::time::Duration::from_millis(200));
        put(d, "counters", &counters(minutes));
    }
    let line = until(d, "proposals", |text| text.contains("bytes on the fullest channel"));
    assert!(line.contains("(50.0 % less), transition any-order"), "{line}");
    let entries =
        line.lines().last().and_then(|l| l.split(": ").nth(1)?.split(' ').next()?.parse().ok());
    assert!(entries.is_some_and(|n: u32| (1..=8).contains(&n)), "{line}");
    put(d, "counters", "garbage\n");
    status(d, "bad input  counters: ");
}

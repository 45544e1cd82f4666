//! `darkfiber simulate`: scenarios with closed forms, output files, and invalid scenarios.

#![expect(clippy::float_cmp, reason = "small whole numbers are exact")]

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::Value;

use crate::{Run, folder, run_in};

/// Two switches with two hosts each and one cable of 10 GB/s between them, hosts without costs.
const TWO: &str = "fabric = \"hyperx:dims=2,t=2,gbps=80\"\n[routes]\nengine = \"minhop\"\n";

fn simulate(scenario: &str, options: &str) -> Run {
    let dir = folder(&[("s.toml", scenario)]);
    run_in(dir.path(), &format!("simulate s.toml -q {options}"))
}

/// The result of a scenario that can be run.
pub(crate) fn result(scenario: &str, options: &str) -> Value {
    let run = simulate(scenario, &format!("--format json {options}"));
    assert_eq!(run.code, 0, "{scenario}: {}", run.err);
    run.json()
}

pub(crate) fn number(json: &Value, at: &str) -> f64 {
    json.pointer(at).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {at}: {json}"))
}

pub(crate) fn near(is: f64, should: f64) {
    assert!((is - should).abs() <= 1e-6 * should, "{is}, not {should}");
}

/// A job of two ranks that send 10 MB to each other.
fn pair(hosts: &str, more: &str) -> String {
    format!("[[job]]\ntraffic = \"mpigraph:bytes=10MB\"\nhosts = \"{hosts}\"\n{more}\n")
}

/// Two jobs that interfere, with blocking sends, empty messages and ranks of one host, on switches that report their
/// queues.
const MEET: &str = "depth = \"packet\"\nfabric = \"dragonfly:p=2,a=4,h=2\"\nhosts = \"slingshot\"\n[routes]\nengine = \"minhop\"\n\
                    [packets]\nswitches = \"rosetta\"\nrouting = \"ugal-global\"\n[keep]\ninterval = \"2us\"\n\
                    messages = true\n[[job]]\ntraffic = \"alltoall:bytes=3000\"\nnodes = 30\nper-node = 2\nclass = \"quick\"\n\
                    placement = \"random\"\n[[job]]\ntraffic = \"mpigraph:bytes=64KiB\"\nnodes = 20\nstart = \"7us\"\n\
                    [[job]]\ntraffic = \"imb:op=barrier\"\nnodes = 8\nclass = \"quick\"\n";

/// The result of a run, without the parts that differ between runs.
fn printed(run: &Run) -> String {
    assert_eq!(run.code, 0, "{}", run.err);
    let mut json = run.json();
    let all = json.as_object_mut().expect("an object");
    assert!(all.remove("wall_seconds").is_some() && all.remove("provenance").is_some());
    json.to_string()
}

#[test]
fn threads_do_not_matter() {
    let run =
        |threads: u32| printed(&simulate(MEET, &format!("--format json --threads {threads}")));
    let one = run(1);
    // Classes have all of their jobs.
    let json: Value = serde_json::from_str(&one).expect("JSON");
    let sum = |key: &str| {
        number(&json, &format!("/jobs/0/{key}")) + number(&json, &format!("/jobs/2/{key}"))
    };
    for key in ["messages", "bytes", "packets/packets"] {
        assert_eq!(number(&json, &format!("/classes/0/{key}")), sum(key), "{key}");
    }
    assert!(number(&json, "/classes/0/message_p99") <= number(&json, "/classes/0/message_max"));
    for key in ["message_p999", "\"packets\":{", "round_percent"] {
        assert!(one.contains(key), "{key}: {one}");
    }
    for threads in [2, 3, 5] {
        assert_eq!(run(threads), one, "{threads}");
    }
}

#[test]
fn a_run_that_was_kept_goes_on() {
    let dir = folder(&[("s.toml", MEET)]);
    let run = |more: &str| {
        let line = format!("simulate s.toml -q --format json {more}");
        run_in(dir.path(), &line)
    };
    let whole = printed(&run("-o whole"));
    // Saved repeatedly, in two parts; and once more where that ended.
    let kept = "--store kept --store-every 1ns";
    assert_eq!(printed(&run(&format!("{kept} --threads 2 -o first"))), whole);
    let file = dir.path().join("kept/simulate.run.zst");
    assert!(file.is_file());
    assert_eq!(printed(&run(&format!("{kept} --threads 1 -o again"))), whole);
    let table =
        |folder: &str, name: &str| fs::read(dir.path().join(folder).join(name)).expect("it");
    for name in ["timeline.svg", "messages.parquet", "pairs.parquet"] {
        assert!(table("whole", name) == table("again", name), "{name}");
    }
    let error = |more: &str| {
        let run = run(&format!("{kept} {more}"));
        assert_ne!(run.code, 0, "{}", run.out);
        run.err
    };
    assert_snapshot!(error("--seed 2"), @r"
    error: kept/simulate.run.zst: the run that was kept there is another one: its seed is 1, not 2
    hint: remove it to start over, or name another folder
    ");
    assert_snapshot!(error("--depth flow"), @r"
    error: kept/simulate.run.zst: the run that was kept there is another one: its depth is packet, not flow
    hint: remove it to start over, or name another folder
    ");
    fs::write(&file, b"nothing of the kind").expect("written");
    assert_snapshot!(error(""), @r"
    error: kept/simulate.run.zst: this is no run that was kept: it is cut or altered: it is too short
    hint: remove it to start over, or name another folder
    ");
}

#[test]
fn packets_lock_on_tables_with_cycles() {
    let scenario = |engine: &str, more: &str| {
        format!(
            "fabric = \"torus:dims=8,t=4\"\n[routes]\nengine = \"{engine}\"\n{more}\n[packets]\n\
             switches = \"booksim-iq\"\nsize = \"16B\"\nbuffer = \"32B\"\n\
             [[job]]\ntraffic = \"alltoall:bytes=1KiB\"\n"
        )
    };
    let locked = simulate(&scenario("sssp", ""), "--depth packet");
    assert_eq!(locked.code, 4, "{}", locked.err);
    assert!(locked.err.contains("deadlock: each of these buffers is full"), "{}", locked.err);
    let layered = simulate(&scenario("dfsssp", ""), "--depth packet");
    assert!(layered.code == 0 && layered.out.contains("switches crossed"), "{}", layered.err);
    let error = |more: &str, code: i32| {
        let run = simulate(&scenario("dfsssp", more), "--depth packet");
        assert_eq!(run.code, code, "{}", run.err);
        run.err
    };
    assert_snapshot!(error("lids = \"split\"", 4), @r"
    error: s.toml: lids: split and adaptive are for flows; packets adapt by a routing, such as minimal, ugal or dal
    ");
    // Counts of ports during a step equal the loads of channels.
    let steps = |more: &str| {
        let text = scenario("dfsssp", "[keep]\ninterval = \"1us\"");
        let dir = folder(&[("s.toml", &text)]);
        let line =
            format!("simulate s.toml --depth packet -q --format json --steps steps.csv {more}");
        let run = run_in(dir.path(), &line);
        let csv = std::fs::read_to_string(dir.path().join("steps.csv")).expect("written");
        let sum = |column: usize| -> f64 {
            let cells = csv.lines().skip(1).filter_map(|l| l.split(',').nth(column));
            cells.filter_map(|c| c.parse::<f64>().ok()).sum()
        };
        (run.json()["channels"].clone(), sum(5), sum(6))
    };
    let (channels, bytes, held) = steps("");
    let carried = number(&channels, "/bytes_mean") * number(&channels, "/channels");
    assert!((bytes / carried - 1.0).abs() < 1e-9 && held > 0.0, "{bytes} of {carried}, {held}");
    let few = scenario("dfsssp", "").replace("[packets]", "[packets]\nlanes = 1");
    assert_snapshot!(simulate(&few, "--depth packet").err, @r"
    error: s.toml: this routing needs 2 virtual lanes to be free of deadlock, and there are 1: give as many, or take another routing
    ");
    let unknown = scenario("dfsssp", "").replace("booksim-iq", "rosita");
    assert_snapshot!(simulate(&unknown, "").err, @r"
    error: s.toml: line 6: packets: switches: no switch is called 'rosita'
    hint: did you mean rosetta?
    ");
    let unknown = scenario("dfsssp", "").replace("[packets]", "[packets]\ncongestion = \"pair\"");
    assert_snapshot!(simulate(&unknown, "").err, @r"
    error: s.toml: line 6: packets: congestion: no congestion control is called 'pair'
    hint: did you mean pairs?
    ");
}

#[test]
fn flows_of_one_cable_share_it() {
    // Hosts 1 and 2 are on one switch, 3 and 4 on the other; cables have two directions.
    let alone = result(&format!("{TWO}{}", pair("cn0001,cn0003", "")), "");
    near(number(&alone, "/seconds"), 1e-3);
    near(number(&alone, "/jobs/0/pair_bandwidth"), 1e10);
    assert_eq!(number(&alone, "/jobs/0/messages"), 2.0);
    assert_eq!(number(&alone, "/channels/bytes_max"), 1e7);
    near(number(&alone, "/channels/busy_max_percent"), 100.0);
    let both =
        format!("{TWO}{}{}", pair("cn0001,cn0003", ""), pair("cn0002,cn0004", "name = \"b\""));
    let shared = result(&both, "");
    for job in 0..2 {
        near(number(&shared, &format!("/jobs/{job}/run_mean")), 2e-3);
        near(number(&shared, &format!("/jobs/{job}/pair_bandwidth")), 5e9);
    }
    // Packets take the same, and the latency of their switches.
    let packets = result(&both, "--depth packet");
    for job in 0..2 {
        let seconds = number(&packets, &format!("/jobs/{job}/run_mean"));
        assert!((2e-3..2.001e-3).contains(&seconds), "{seconds}");
    }
    assert_eq!(number(&packets, "/channels/bytes_max"), 2e7);
    assert_eq!(number(&packets, "/effort/packets"), 4.0 * (1e7f64 / 2048.0).ceil());
    // Ports of switches carried both, and as much waited for them, also where the last interval is not over.
    for interval in ["100us", "700us", "3ms"] {
        let dir = folder(&[("s.toml", &format!("keep.interval = \"{interval}\"\n{both}"))]);
        let run = run_in(dir.path(), "simulate s.toml -q --steps steps.csv");
        assert_eq!(run.code, 0, "{}", run.err);
        let steps = fs::read_to_string(dir.path().join("steps.csv")).expect("written");
        let lines: Vec<Vec<&str>> = steps.lines().map(|l| l.split(',').collect()).collect();
        assert_eq!(lines.len(), 1 + 2 * 2, "{steps}");
        assert_eq!(lines[0], ["seed", "job", "step", "switch", "port", "bytes", "held", "seconds"]);
        for line in &lines[1..] {
            let number = |i: usize| line[i].parse::<f64>().expect("a number");
            near(number(5), 2e7);
            near(number(6), 2e7);
            near(number(7), 2e-3);
        }
    }
    let run = simulate(&both, "--steps steps.csv");
    assert!(run.code == 3 && run.err.contains("keeps none"), "{}", run.err);
    // Without contention each is alone.
    near(number(&result(&both, "--depth loggp"), "/seconds"), 1e-3);
    let again = result(&format!("{TWO}{}", pair("cn0001,cn0003", "repeat-until = \"2.5ms\"")), "");
    assert_eq!(
        (number(&again, "/jobs/0/runs"), number(&again, "/jobs/0/runs_in_time")),
        (3.0, 2.0)
    );
    // On one switch there is nothing to share.
    let aside = format!("{TWO}{}{}", pair("cn0001,cn0002", ""), pair("cn0003,cn0004", ""));
    let aside = result(&aside, "");
    near(number(&aside, "/seconds"), 1e-3);
    assert_eq!(number(&aside, "/channels/dark_percent"), 100.0);
    assert_eq!(aside["jobs"][1]["name"], "mpigraph:bytes=10MB (job 2)", "names are told apart");
}

#[test]
fn jobs_that_are_alike_are_reported_once() {
    let job = "[[job]]\nname = \"p\"\ntraffic = \"mpigraph:bytes=10MB\"\nnodes = 2\n";
    let two = result(&format!("{TWO}{job}count = 2\n"), "");
    assert_eq!(two.pointer("/jobs/1/name").and_then(Value::as_str), Some("p 2"));
    assert_eq!(two.pointer("/jobs/2"), None);
    // Each has separate hosts, on one switch.
    assert_eq!(number(&two, "/channels/bytes_max"), 0.0);
    let none = simulate(&format!("{TWO}{job}count = 0\n"), "");
    assert_eq!(none.code, 3);
    assert!(none.err.trim_end().ends_with("job 1: count 0 must be at least 1"), "{}", none.err);
    let three = simulate(&format!("{TWO}{job}count = 3\n"), "");
    assert_eq!(three.code, 4);
}

#[test]
fn jobs_by_themselves_are_reported_beside() {
    let both =
        format!("{TWO}{}{}", pair("cn0001,cn0003", ""), pair("cn0002,cn0004", "name = \"b\""));
    let json = result(&both, "--isolated");
    for job in 0..2 {
        near(number(&json, &format!("/jobs/{job}/run_isolated")), 1e-3);
        near(number(&json, &format!("/jobs/{job}/slowdown")), 2.0);
    }
    let text = simulate(&both, "--isolated").out;
    assert!(text.contains("isolated") && text.contains("100.0 %"), "{text}");
    assert!(!simulate(&both, "").out.contains("isolated"));
}

/// Two jobs, channels by interval and all messages.
const BUSY: &str = "title = \"A & B\"\nfabric = \"kary:k=4,n=2\"\nhosts = \"qdr\"\n[routes]\n\
    engine = \"dmodk\"\n[keep]\ninterval = \"10us\"\nmessages = true\n[[job]]\nname = \"<first>\"\n\
    traffic = \"imb:op=alltoall,bytes=64KiB\"\nnodes = 8\nplacement = \"random\"\n[[job]]\n\
    traffic = \"ebb:samples=5,bytes=1MiB\"\n";

#[test]
fn results_do_not_depend_on_threads() {
    let bytes = |threads: u32| {
        let dir = folder(&[("s.toml", BUSY)]);
        let line = format!("simulate s.toml -q -o out --threads {threads} --format json");
        let run = run_in(dir.path(), &line);
        assert_eq!(run.code, 0, "{}", run.err);
        let mut files = Vec::new();
        for name in FILES.iter().filter(|name| !name.contains(".json")) {
            files.push(fs::read(dir.path().join("out").join(name)).expect("written"));
        }
        // All but the time that it took.
        let kept = |text: &str| -> Vec<String> {
            let lines = text.lines().filter(|l| !l.contains("wall_seconds"));
            lines.filter(|l| !l.contains("\"threads\"")).map(str::to_owned).collect()
        };
        let text = fs::read_to_string(dir.path().join("out/simulate.json")).expect("written");
        assert_eq!(text, run.out, "what is printed is what is written");
        (kept(&text), files)
    };
    assert!(bytes(1) == bytes(2));
}

const FILES: [&str; 8] = [
    "simulate.json",
    "pairs.svg",
    "timeline.svg",
    "channels.svg",
    "runs.parquet",
    "pairs.parquet",
    "channels.parquet",
    "messages.parquet",
];

#[test]
fn a_directory_holds_all_results() {
    let dir = folder(&[("s.toml", BUSY), ("plain.toml", TWO)]);
    let d = dir.path();
    let line = "simulate s.toml -q -o out --pairs p.svg --timeline t.svg --channels c.svg";
    let run = run_in(d, line);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert!(run.out.contains("A & B: routes of dmodk (1 layer), hosts qdr, depth flow, "));
    let mut there: Vec<String> = fs::read_dir(d.join("out"))
        .expect("a directory")
        .map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    there.sort_unstable();
    let mut should = FILES.map(str::to_owned);
    should.sort_unstable();
    assert_eq!(there, should);
    for name in FILES.iter().filter(|name| name.ends_with(".parquet")) {
        let bytes = fs::read(d.join("out").join(name)).expect("written");
        assert!(
            bytes.len() > 200 && bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"),
            "{name}"
        );
    }
    for (own, of_directory) in [("p", "pairs"), ("t", "timeline"), ("c", "channels")] {
        let svg = fs::read_to_string(d.join(format!("{own}.svg"))).expect("written");
        well_formed(&svg, of_directory);
        let other = fs::read_to_string(d.join(format!("out/{of_directory}.svg"))).expect("written");
        assert_eq!(svg, other);
        assert!(svg.contains("A &amp; B"), "{svg}");
        match own {
            "p" => assert_eq!(svg.matches(">from rank</text>").count(), 2, "a panel for each job"),
            "t" => assert!(svg.contains("&lt;first&gt;") && svg.contains("the busiest on top")),
            _ => assert_eq!(svg.matches("% busy").count(), 2, "both axes"),
        }
    }

    // Without an interval there is no map, and without a wish no messages.
    let plain = BUSY.replace("interval = \"10us\"\nmessages = true\n", "");
    fs::write(d.join("plain.toml"), plain).expect("a file");
    assert_eq!(run_in(d, "simulate plain.toml -q -o plain").code, 0);
    assert!(
        !d.join("plain/messages.parquet").exists() && d.join("plain/channels.parquet").exists()
    );
    let timeline = fs::read_to_string(d.join("plain/timeline.svg")).expect("written");
    well_formed(&timeline, "timeline");
    assert!(!timeline.contains("the busiest on top"));
}

/// Every element is closed by its own end tag, values are quoted, and special characters are escaped.
fn well_formed(svg: &str, what: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = svg;
    while let Some(begin) = rest.find('<') {
        let text = &rest[..begin];
        assert!(!text.contains('>') && entities(text), "{what}: {text}");
        let end = begin + rest[begin..].find('>').unwrap_or_else(|| panic!("{what}: {rest}"));
        let tag = &rest[begin + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{what}");
        } else if !tag.starts_with(['?', '!']) {
            assert!(tag.matches('"').count().is_multiple_of(2) && entities(tag), "{what}: {tag}");
            if !tag.ends_with('/') {
                open.push(tag.split_whitespace().next().unwrap_or_default());
            }
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{what}: {open:?} {rest}");
}

fn entities(text: &str) -> bool {
    let known = ["amp;", "lt;", "gt;", "quot;", "apos;", "#"];
    text.split('&').skip(1).all(|after| known.iter().any(|name| after.starts_with(name)))
}

#[test]
fn tables_for_people_and_for_programs() {
    let csv = simulate(BUSY, "--format csv").out;
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].starts_with("job,ranks,nodes,begin,end,runs,runs_in_time,run_mean,"));
    assert_eq!((lines.len(), lines[1].starts_with("<first>,8,8,0,")), (3, true), "{csv}");
    let table = simulate(BUSY, "").out;
    assert!(table.contains("fullest channels") && table.contains(" rates recomputed "), "{table}");
    // The command line goes before the file.
    let seed = |option: &str| result(BUSY, option)["jobs"][0]["run_mean"].clone();
    assert_ne!(seed("--seed 2"), seed("--seed 3"));
    assert_eq!(seed(""), seed("--seed 1"));
    let written = BUSY.replace("title", "seed = 2\ntitle");
    assert_eq!(result(&written, "")["jobs"][0]["run_mean"], seed("--seed 2"));
}

#[test]
fn tables_of_a_directory_are_followed() {
    let dir = folder(&[("s.toml", "")]);
    let d = dir.path();
    assert_eq!(run_in(d, "route kary:k=4,n=2 -e dmodk -o tables -q").code, 0);
    let text = |fabric: &str, fails: u32| {
        format!(
            "fabric = \"{fabric}\"\nfail-links = {fails}\n[routes]\ntables = \"tables\"\n[[job]]\n\
             traffic = \"mpigraph\"\n"
        )
    };
    // Files are searched in the folder of the scenario.
    fs::create_dir(d.join("below")).expect("a directory");
    fs::write(d.join("s.toml"), text("tables/fabric.topo", 0)).expect("a file");
    let run = run_in(&d.join("below"), "simulate ../s.toml --format json -q");
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(run.json()["routes"], "tables");
    // Tables that lose messages.
    fs::write(d.join("s.toml"), text("tables/fabric.topo", 3)).expect("a file");
    let run = run_in(d, "simulate s.toml -q -o out");
    assert_eq!((run.code, d.join("out").exists()), (4, false), "{}", run.err);
    assert!(run.err.starts_with("error: s.toml: the tables have no route from "), "{}", run.err);
}

/// Every scenario of the folder of examples, long ones cut short.
#[test]
fn examples_run() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let dir = folder(&[]);
    let mut count = 0;
    let mut names: Vec<String> = fs::read_dir(&examples)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    // Traces before the scenarios that read them.
    names.sort_by_key(|name| !name.ends_with(".json.gz"));
    for name in names {
        if name.ends_with(".json.gz") {
            fs::copy(examples.join(&name), dir.path().join(&name)).expect("a trace");
        }
        let Some(stem) = name.strip_suffix(".toml") else { continue };
        let mut text = fs::read_to_string(examples.join(&name)).expect("a file");
        assert!(
            text.contains(&format!("darkfiber simulate examples/{name}")),
            "{name}: its command"
        );
        text = match stem {
            "capacity" | "cab" => shortened(&text),
            "llama3-405b" => {
                text.replace("units=16", "units=2").replace("nodes = 2048", "nodes = 256")
            }
            // All jobs begin, and one step of MILC is timed.
            "milc" => [
                ("\"1s\"", "\"60ms\""),
                ("\"700ms\"", "\"60ms\""),
                ("\"400ms\"", "\"50ms\""),
                ("\"120ms\"", "\"20ms\""),
                ("milc:iterations=3", "milc:iterations=1"),
            ]
            .iter()
            .fold(text, |text, (long, short)| text.replace(long, short)),
            _ => text,
        };
        fs::write(dir.path().join(&name), text).expect("a file");
        let run = run_in(dir.path(), &format!("simulate {name} --format json -q -o {stem}"));
        assert_eq!(run.code, 0, "{name}: {}", run.err);
        assert!(number(&run.json(), "/seconds") > 0.0);
        well_formed(
            &fs::read_to_string(dir.path().join(stem).join("timeline.svg")).expect("written"),
            &name,
        );
        count += 1;
    }
    assert!(count >= 8, "{count}");
}

/// One short run of each job instead of three hours, or of ten steps.
fn shortened(capacity: &str) -> String {
    let line = |line: &str| {
        let traffic = line.strip_prefix("traffic = \"");
        match traffic.and_then(|spec| spec.split([':', '"']).next()) {
            Some("muppp") => "traffic = \"muppp:bytes=1MiB,repeat=1\"".to_owned(),
            Some("hpl") => "traffic = \"hpl:iterations=1,stages=2,length=1s\"".to_owned(),
            Some(name @ ("bis" | "nn" | "pairs" | "fft-proxy")) => {
                format!("traffic = \"{name}:steps=1,iterations=1\"")
            }
            Some(name) => format!("traffic = \"{name}:iterations=1\""),
            None => line.replace("\"3h\"", "\"1ms\"").replace("\"1min\"", "\"1s\""),
        }
    };
    capacity.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// The error for a scenario that cannot be run; nothing is written.
fn refused(scenario: &str, code: i32) -> String {
    let dir = folder(&[("s.toml", scenario)]);
    let line = "simulate s.toml -q -o out --pairs p.svg --timeline t.svg --channels c.svg";
    let run = run_in(dir.path(), line);
    assert_eq!((run.code, run.out.as_str()), (code, ""), "{scenario}: {}", run.err);
    assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 1, "{scenario}: written");
    run.err
}

/// The texts of errors are tested in the library.
#[test]
fn a_scenario_that_cannot_be_run_leaves_nothing() {
    assert_snapshot!(refused(&format!("{TWO}lnaes = 2\n"), 3), @"
    error: s.toml: line 4: routes: unknown field `lnaes`, expected one of `engine`, `tables`, `sl`, `sl2vl`, `path-bits`, `lid-choice`, `groups`, `guid2lid`, `ecmp`, `lmc`, `lanes`, `lids`, `follow`, `roots`
    hint: `darkfiber help scenario` has all keys
    ");
    let tables = TWO.replace("engine = \"minhop\"", "tables = \"nowhere\"");
    let all = "[[job]]\ntraffic = \"mpigraph\"\n";
    assert_snapshot!(refused(&format!("{tables}{all}"), 3), @"error: s.toml: line 3: routes: tables: cannot read nowhere: No such file or directory (os error 2)");
    assert_snapshot!(refused(&format!("{TWO}{all}nodes = 5\n"), 4), @"error: s.toml: line 4: job 1: linear finds no 5 hosts: 4 of 4 are free");
    let dir = folder(&[]);
    assert_eq!(run_in(dir.path(), "simulate nowhere.toml").code, 3);
    assert_eq!(run_in(dir.path(), "simulate").code, 2);
}

#[test]
fn collectives_of_gpus_take_the_time_of_their_model_on_an_idle_fabric() {
    const WIDE: &str = "fattree2:n=8,m=8,r=16,gbps=400";
    // Rings: 2 (n - 1) / n of the vector through each NIC, at the 48 GB/s that NCCL counts on of 400 Gbit/s.
    let scenario = |nodes: u32, fabric: &str, placement: &str| {
        format!(
            "fabric = \"{fabric}\"\n[routes]\nengine = \"updn\"\n[[job]]\nnodes = {nodes}\nplacement = \"{placement}\"\n\
             traffic = \"nccl:op=allreduce,bytes=8GiB,system=dgx-h100,algorithm=ring,protocol=simple\"\n"
        )
    };
    let seconds = |nodes: u32, fabric: &str, placement: &str| {
        let dir = folder(&[("s.toml", &scenario(nodes, fabric, placement))]);
        let json = run_in(dir.path(), "simulate s.toml --format json -q").json();
        json["jobs"][0]["run_mean"].as_f64().expect("a time")
    };
    for nodes in [8, 64] {
        let n = f64::from(nodes);
        let expected = 2.0 * (n - 1.0) / n * 8.0 * f64::from(1 << 30) / 48e9;
        let found = seconds(nodes, WIDE, "linear");
        let ratio = found / expected;
        assert!((0.99..1.02).contains(&ratio), "{nodes}: {found} s, not {expected} s");
    }
    // Rings whose hosts are random, with an eighth of the cables between switches.
    let narrow = seconds(64, "fattree2:n=8,m=1,r=16,gbps=400", "random");
    assert!(narrow > 5.0 * seconds(64, WIDE, "linear"), "{narrow} s");
}

/// Weights of flows do nothing where there are no flows, nor switches where there are no packets; a note says so.
#[test]
fn keys_of_other_depths_are_told() {
    let text = "fabric = \"fattree2:n=2,m=2,r=3\"\n[routes]\nengine = \"dmodk\"\n[[job]]\ntraffic = \"imb:op=alltoall,bytes=1KiB\"\nweight = 3.0\n";
    let dir = folder(&[("w.toml", text)]);
    for (depth, is_told) in [("flow", false), ("packet", true), ("loggp", true), ("count", true)] {
        let run = run_in(dir.path(), &format!("simulate w.toml --depth {depth}"));
        let note = format!("not used at depth `{depth}`: `job.weight`");
        assert_eq!((run.code, run.err.contains(&note)), (0, is_told), "{depth}: {}", run.err);
    }
    let run = run_in(dir.path(), "simulate w.toml --set packets.routing=minimal,ugal");
    assert!(run.err.contains("not used at depth `flow`: `packets.routing`"), "{}", run.err);
}

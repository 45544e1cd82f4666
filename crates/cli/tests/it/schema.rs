//! The output of `--format json` agrees with `docs/schema`: no key without a description, none missing.

mod validate;

use std::path::Path;

use serde_json::Value;

use crate::{PAIR, folder, run_in};
use validate::{valid, violation};

fn schema(kind: &str) -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/schema/{kind}.json"));
    let text = std::fs::read_to_string(file).expect("a schema");
    serde_json::from_str(&text).expect("JSON")
}

/// Checks that a value is of a kind.
pub(crate) fn is_of(kind: &str, value: &Value) {
    valid(&schema(kind), value, kind);
}

/// Runs commands in a folder of a few files; each result must be of its kind and have some keys.
fn hold(kind: &str, runs: &[(&str, &[&str])]) {
    let step = |i: u32| format!("{},{},{}\n", i / 10, i * 7 % 11, i * 7 % 11 + i % 3);
    let steps: String = (0..100).map(step).collect();
    let steps = format!("run,stalls,s\n{steps}");
    let files = [
        ("pair.topo", PAIR),
        ("split", "a b\nc d\n"),
        ("ring", "a b\nb c\nc d\nd e\ne a\n"),
        ("running", "cn1 7\ncn2 7\n"),
        ("month", "JobID|Start|End|NodeList\n1|1000000000|1000000050|cn[1-2]\n"),
        ("torn", "0x0002c90000000101 8\n"),
        (
            "operate.toml",
            "state = \"s\"\n[fabric]\nfile = \"pair.topo\"\n[tables]\nfile = \"tables\"\n[jobs]\nfile = \"running\"\n",
        ),
        ("scenario", SCENARIO),
        ("crossing", CROSSING),
        ("steps", &steps),
        ("runs", "gb,s\n1,1\n2,1\n3,1\n4,2\n5,3\n6,4\n"),
    ];
    let dir = folder(&files);
    assert_eq!(run_in(dir.path(), "route pair.topo -e minhop -o tables -q").code, 0);
    for (fabric, tables) in
        [("kary:k=4,n=2 -e updn", "tree"), ("torus:dims=5x5,t=1 -e nue --lanes 1", "one-lane")]
    {
        assert_eq!(run_in(dir.path(), &format!("route {fabric} -o {tables} -q")).code, 0);
    }
    let schema = schema(kind);
    for (line, keys) in runs {
        let json = run_in(dir.path(), &format!("{line} --format json -q")).json();
        valid(&schema, &json, line);
        for key in *keys {
            let found = json.pointer(key).unwrap_or(&Value::Null);
            assert!(*found != Value::Null, "{line}: no {key}: {json}");
        }
    }
}

#[test]
fn rehearsals() {
    hold(
        "rehearsal",
        &[("operate rehearse --config operate.toml --jobs month", &["/total/started", "/days/0"])],
    );
}

#[test]
fn eased_tables() {
    hold(
        "ease",
        &[
            (
                "route pair.topo -e ease --from tables --jobs running",
                &["/bound", "/after/effective_efi"],
            ),
            ("route pair.topo -e ease --from tables --jobs running --moves 0", &["/steps"]),
        ],
    );
}

#[test]
fn fault_books() {
    hold(
        "survive",
        &[
            ("survive torus:dims=5x5,t=1 --routes one-lane", &["/cables/untouched_percent"]),
            ("survive kary:k=4,n=2 -e updn --faults switches", &["/switches/faults", "/faults/0"]),
        ],
    );
}

#[test]
fn fabrics() {
    hold(
        "fabric",
        &[
            ("fabric hyperx:dims=4x3,t=2", &["/shape", "/diameter"]),
            ("fabric pair.topo", &["/recognised/text", "/link_classes/0/label"]),
            ("fabric split", &["/unrecognised/0", "/findings/0/sizes"]),
            ("fabric pair.topo --storage 0x2c90000000212", &["/roles/storage"]),
            ("fabric kary:k=3,n=2", &[]),
            ("fabric @shandy", &["/peaks/bisection", "/peaks/all_to_all"]),
        ],
    );
}

#[test]
fn routes_and_checks() {
    hold(
        "route",
        &[
            ("route torus:dims=5,t=1 -e minhop", &["/findings/0/cycle/0/route/source"]),
            ("route ring -e dmodk", &["/refused"]),
            ("route ring -e dmodk+dfsssp --spread-lanes", &["/chain/1", "/layers_needed"]),
            ("route torus:dims=5x5,t=1 -e dfsssp --layer-by destination", &["/layers_by_pair"]),
            ("check pair.topo --routes tables", &["/efi/stddev"]),
            (
                "check pair.topo --routes tables --jobs running",
                &["/effective_efi/max", "/gamma_max_mean", "/links_per_job_mean"],
            ),
            (
                "check pair.topo --routes tables --fail torn",
                &["/findings/0/sizes", "/findings/1/examples/0/at"],
            ),
        ],
    );
}

#[test]
fn comparisons() {
    let line = "route ring -e minhop -e dmodk -e updn";
    hold("comparison", &[(line, &["/engines/0/hops/max", "/engines/1/refused"])]);
}

#[test]
fn sweeps() {
    let line = "sweep ring kary:k=2,n=2 -e updn -e dmodk --fail-percent 1,40 --seeds 2";
    let keys = ["/runs/0/efi_max", "/runs/1/refused", "/summary/0/layers/mean"];
    hold("sweep", &[(line, &keys)]);
}

#[test]
fn studies() {
    let dir = folder(&[(
        "s.toml",
        "fabric = [\"kary:k=2,n=2\", \"torus:dims=5,t=1\"]\n[routes]\nengine = [\"updn\", \"dmodk\"]\n",
    )]);
    let line = "study run s.toml --format json";
    let json = run_in(dir.path(), line).json();
    valid(&schema("study"), &json, line);
    let rows = json["rows"].as_array().expect("rows");
    assert!(rows.iter().any(|row| row["error"].is_string()) && rows.len() == 4, "{json}");
}

#[test]
fn measurements() {
    let opt = "measure fattree2:n=3,m=4,r=4 -e opt --metric worst,abb,ebb,fair --samples 50 --link-speeds";
    let keys =
        ["/worst_slowdown", "/worst_channel/from", "/abb/ci_low", "/patterns/0/load_histogram/1"];
    let odd = "measure ring -e updn --pattern ring --metric share,finish_rate";
    hold("measure", &[(opt, &keys), (odd, &["/patterns/0/finish_rate/mean"])]);
    let two = "measure kary:k=4,n=2 -e dmodk -e torus --samples 20";
    let keys = ["/engines/0/adb/mean", "/engines/1/refused", "/engines/0/patterns/0/bounds/cut"];
    hold("measure-comparison", &[(two, &keys)]);
    let search = "optimise fattree2:n=3,m=3,r=4 --for abb --steps 100";
    hold("optimise", &[(search, &["/better", "/verdict", "/engines/0/worst"])]);
}

#[test]
fn experiments() {
    hold(
        "framing",
        &[
            ("framing", &["/framings/1/printed_header_bytes", "/framings/1/messages/0/efficiency"]),
            ("framing none -b 8", &["/framings/0/messages/0/on_channel"]),
        ],
    );
    let two = "diff kary:k=4,n=2 kary:k=4,n=2";
    let example = |name: &str| format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"));
    let blast = format!("blast {} --flap-rate 0.01", example("gpus.toml"));
    hold("blast", &[(&blast, &["/faults/0", "/jobs/0"])]);
    let rings = format!(
        "nccl {} -e minhop --graph luna-[0001,0102,0002,0103]={}",
        example("selene-compute.topo.gz"),
        example("nccl-graph.xml")
    );
    hold("nccl", &[(&rings, &["/jobs/0", "/shared/0"])]);
    let hashes = "ecmp torus:dims=5,t=2 --draws 2 --flaps 1";
    hold("ecmp", &[(hashes, &["/hashes/0/moved", "/sets/cycle/0", "/tiers"])]);
    let crossing = "rails rails:hosts_per_unit=2,units=2,nics=2,spines=2 -e rails";
    hold("rails", &[(crossing, &["/pairs/crossing", "/switches/0", "/cables/0", "/rails/planes"])]);
    hold("doctor", &[("doctor kary:k=4,n=2", &["/exams/0/verdict", "/fabric"])]);
    hold("diff", &[(two, &["/paired/by_guid", "/by"])]);
    hold("reproduce", &[("reproduce OPT-T1", &["/rows/0/within", "/class", "/verdict"])]);
    let several = "reproduce OPT-T1 OPT-TH";
    hold("reproduce-all", &[(several, &["/experiments/1/rows/0/ours"])]);
}

#[test]
fn jobs_and_months() {
    let month = "replay --fabric pair.topo --jobs month -e updn,sar --every 10s";
    let keys = ["/log/used", "/improvements/0/max_percent", "/reconfigurations/engines/0/engine"];
    let placed = format!("{month} --place best-fit");
    hold("replay", &[(month, &keys), (&placed, &["/log/placed/by", "/means/1/efi_max"])]);
    let now = "jobs report --fabric pair.topo --routes tables --jobs running -e sar,ftree";
    let keys =
        ["/jobs/0/at/from", "/channels/0/jobs/0/routes", "/engines/0/then/links_per_job_mean"];
    hold("jobs-report", &[(now, &keys)]);
}

#[test]
fn reroutes() {
    let mended = "reroute kary:k=4,n=2 --routes tree --fail-links 1 --compare";
    let keys = ["/switches/0/step", "/scratch/entries_changed", "/after/efi/max"];
    let anew = "reroute torus:dims=5x5,t=1 --routes one-lane --fail-links 2 --seed 1 --lanes 1";
    hold("reroute", &[(mended, &keys), (anew, &["/coexistence/verdict", "/failed/links"])]);
}

#[test]
fn simulations() {
    let keys = ["/jobs/1/runs_in_time", "/channels/busy_mean_percent", "/fullest/0/from", "/title"];
    hold("simulate", &[("simulate scenario", &keys), ("simulate scenario --depth loggp", &keys)]);
    let keys = ["/wall_seconds", "/done", "/messages", "/depth"];
    hold("estimate", &[("simulate scenario --estimate", &keys)]);
    let line = "simulate scenario crossing --set hosts=qdr,ideal --seeds 2";
    let keys = ["/jobs/0/scenarios/1/difference/percent_low", "/scenarios/1/differs", "/seeds/1"];
    hold("simulate-comparison", &[(line, &keys), ("simulate scenario --seeds 1", &["/title"])]);
}

#[test]
fn hot_channels() {
    let keys =
        ["/channels/0/jobs/0/job", "/channels/0/from_guid", "/jobs/0/slowdown", "/now/seconds"];
    let moves = ["/moves/0/lids/0", "/moves/0/relieves/to_port", "/coexistence/verdict"];
    hold("hot", &[("hot scenario", &keys), ("hot crossing", &moves)]);
}

#[test]
fn explanations() {
    let keys = ["/lines/at", "/lines/r2_cross_validated", "/findings/0"];
    let learned = ["/learned/models/2/error", "/learned/importance/0/feature", "/findings/0"];
    let by_load = "explain runs --load gb --time s";
    hold("explain", &[(by_load, &keys), ("explain steps --time s --run run", &learned)]);
}

#[test]
fn loads() {
    let keys = ["/curves/0/points/0/p999", "/curves/0/lanes", "/curves/1/most_accepted"];
    let line = "load hyperx:dims=3x3,t=2 -r minimal,dal --loads 0.2 --measure 20us --warmup 5us";
    let locked =
        "load torus:dims=8,t=2 -e sssp --switches booksim-iq --packet 16 --buffer 32B --loads 0.9";
    let cycle = ["/curves/0/deadlock/0/from_port", "/curves/0/deadlock/2/lane"];
    hold("load", &[(line, &keys), (locked, &cycle)]);
}

#[test]
fn victims_and_aggressors() {
    let keys = ["/cells/0/isolated/ci_high", "/cells/0/impact", "/rule/limit", "/mechanisms/0/max"];
    let small =
        "congest dragonfly:p=2,a=4,h=2,g=4,gbps=200 --warmup 10us --limit 1ms --iterations 6";
    let barrier = format!("{small} --victims barrier --aggressors incast --split 8/8");
    let milc = format!("{small} --victims milc,barrier --split 6/8 --congestion none");
    hold("congest", &[(&barrier, &keys), (&milc, &["/cells/0/refused", "/victims/0/traffic"])]);
}

#[test]
fn crossings_of_rails() {
    let keys = ["/pairs/crossing", "/switches/0/crossing", "/cables/0/kept", "/deadlock_free"];
    let line = "rails rails:hosts_per_unit=4,units=2,nics=2,spines=2 -e rails";
    hold("rails", &[(line, &keys)]);
}

#[test]
fn placements() {
    let keys = ["/proposed", "/placements/0/alone_seconds", "/hosts/0", "/free"];
    let line = "place crossing --traffic pairs:steps=1 --nodes 2 --per-node 2";
    hold("place", &[(line, &keys)]);
}

/// Scenarios are written by users: those of the examples agree with the schema, and a misspelt key does not.
#[test]
fn scenarios() {
    let schema = schema("scenario");
    let read = |text: &str| -> Value { toml::from_str(text).expect("TOML") };
    let mut texts = vec![("here".to_owned(), SCENARIO.to_owned())];
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for entry in std::fs::read_dir(examples).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|e| e == "toml") {
            let text = std::fs::read_to_string(&path).expect("a file");
            texts.push((path.display().to_string(), text));
        }
    }
    assert!(texts.len() > 12, "there are examples");
    for (name, text) in &texts {
        valid(&schema, &read(text), name);
    }
    files_of_studies();
    let kinds = ["list traffic", "list collectives", "list hosts", "list allocators"];
    hold("list", &kinds.map(|line| (line, &["/items/0"][..])));
    let wrong = |from: &str, to: &str| {
        assert!(SCENARIO.contains(from));
        violation(&schema, &read(&SCENARIO.replace(from, to))).expect("it is wrong")
    };
    wrong("lmc", "lcm");
    wrong("lmc = 1", "lmc = true");
    wrong("\"loggp\"", "\"logp\"");
    wrong("per-node", "per_node");
    wrong("per-node = 2", "per-node = -2");
    wrong("weight = 0.5", "weight = \"heavy\"");
    wrong("fabric =", "fabirc =");
    wrong("[routes]", "[rutes]");
    wrong("[[job]]", "[[jobs]]");
    let incast = include_str!("../../../../examples/incast.toml");
    let congestion = |scheme: &str| read(&incast.replace(r#""pairs""#, scheme));
    for scheme in [r#""qcn""#, r#""reserve:turn=1/2""#, r#"{ scheme = "reserve", turn = 0.5 }"#] {
        assert!(incast.contains(r#"congestion = "pairs""#));
        valid(&schema, &congestion(scheme), scheme);
    }
    for scheme in [r#""red""#, r#""reserve:turn""#, r#"{ scheme = "reserve", trun = 0.5 }"#] {
        violation(&schema, &congestion(scheme)).expect("it is wrong");
    }
}

/// Every key of a scenario but those that would contradict others.
const CROSSING: &str = include_str!("../../../../examples/crossing.toml");

const SCENARIO: &str = r#"
title = "all"
depth = "loggp"
seed = 3
fabric = "hyperx:dims=3x3,t=4"
fail-links = 1
hosts = "qdr"

[routes]
engine = "dfsssp"
lmc = 1
lanes = 4
lids = "turns"
follow = "nothing"

[cost]
send = "1us"
receive = "1us"
gap = "10ns"
rendezvous = "8KiB"
adapters = "1us"
switch = "100ns"
adapter-rate = "3GB/s"
link-rate = "2GB/s"
efficiency = 0.9
memory-latency = "200ns"
memory-rate = "5GB/s"
small = "64B"
precision = 0.001

[keep]
interval = "100us"
messages = true

[[job]]
name = "first"
traffic = "imb:op=allreduce,bytes=64KiB"
nodes = 8
per-node = 2
placement = "random"
library = "mpich"
repeat-until = "1ms"

[[job]]
traffic = "mpigraph:bytes=64KiB"
hosts = "cn[0001-0004]"
start = "100us"
weight = 0.5
limit = "1GB/s"
"#;

#[test]
fn lists() {
    let kinds =
        ["engines", "families", "presets", "patterns", "formats", "metrics", "engines dfsssp"];
    for kind in kinds {
        hold("list", &[(&format!("list {kind}"), &["/items/0"])]);
    }
    hold("list", &[("reproduce", &["/items/0"])]);
}

#[test]
fn transitions() {
    let dir = folder(&[]);
    for set in ["a", "b --roots 0x50000010000b"] {
        let line = format!("route torus:dims=4x4,t=1 -e updn -q -o {set}");
        assert_eq!(run_in(dir.path(), &line).code, 0);
    }
    let line = "check torus:dims=4x4,t=1 --from a --routes b --format json";
    let run = run_in(dir.path(), line);
    valid(&schema("transition"), &run.json(), line);
    assert_eq!(run.json()["obligations"][2]["witness"][0]["lid_offset"], 0);
}

#[test]
fn every_schema_is_tested() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    let mut kinds: Vec<String> = std::fs::read_dir(folder)
        .expect("a directory")
        .map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    kinds.sort_unstable();
    assert_eq!(
        kinds,
        [
            "blast.json",
            "comparison.json",
            "congest.json",
            "decision.json",
            "diff.json",
            "doctor.json",
            "ease.json",
            "ecmp.json",
            "estimate.json",
            "explain.json",
            "fabric.json",
            "framing.json",
            "hot.json",
            "jobs-report.json",
            "list.json",
            "load.json",
            "measure-comparison.json",
            "measure.json",
            "nccl.json",
            "optimise.json",
            "place.json",
            "rails.json",
            "rehearsal.json",
            "replay.json",
            "reproduce-all.json",
            "reproduce.json",
            "reroute.json",
            "review.json",
            "route.json",
            "scenario.json",
            "simulate-comparison.json",
            "simulate.json",
            "status.json",
            "study-file.json",
            "study.json",
            "survive.json",
            "sweep.json",
            "transition.json"
        ]
    );
}

/// The judge itself: a result that is changed anywhere is no longer valid.
#[test]
fn what_is_wrong_is_found() {
    let dir = folder(&[]);
    let right = run_in(dir.path(), "route torus:dims=5,t=1 -e minhop --format json").json();
    let schema = schema("route");
    assert_eq!(violation(&schema, &right), None);
    let wrong = |change: &dyn Fn(&mut Value)| {
        let mut json = right.clone();
        change(&mut json);
        violation(&schema, &json).expect("it is wrong")
    };
    wrong(&|json| json["surprise"] = 1.into());
    wrong(&|json| json["hops"]["median"] = 1.into());
    wrong(&|json| json["layers"] = "one".into());
    wrong(&|json| json["layers"] = (-1).into());
    wrong(&|json| json["efi"]["max"] = 1.5.into());
    wrong(&|json| json["pairs"] = Value::Null);
    wrong(&|json| json["findings"][0]["severity"] = "dire".into());
    wrong(&|json| json["findings"][0]["cycle"][0]["channel"]["to_guid"] = "0x1".into());
    wrong(&|json| drop(json.as_object_mut().expect("an object").remove("fabric")));
    wrong(&|json| drop(json["fabric"].as_object_mut().expect("an object").remove("hosts")));
}

/// Files of studies of the examples, beyond their scenarios.
fn files_of_studies() {
    let schema = schema("study-file");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/studies");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("a directory") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a file");
        let Ok(mut file) = toml::from_str::<toml::Table>(&text) else { continue };
        file.retain(|key, _| ["study", "expect"].contains(&key));
        let file = serde_json::to_value(file).expect("JSON");
        valid(&schema, &file, &path.display().to_string());
        count += 1;
    }
    assert!(count > 3, "there are studies");
    let wrong: Value = toml::from_str("[study]\nseed = 5").expect("TOML");
    violation(&schema, &wrong).expect("the key is seeds");
}

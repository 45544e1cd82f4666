//! What `--format json` prints is what `docs/schema` says: no key without a description, none missing.

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

/// Runs commands in a folder of a few files; each result must be of its kind and have some keys.
fn hold(kind: &str, runs: &[(&str, &[&str])]) {
    let files = [
        ("pair.topo", PAIR),
        ("split", "a b\nc d\n"),
        ("ring", "a b\nb c\nc d\nd e\ne a\n"),
        ("running", "cn1 7\ncn2 7\n"),
        ("month", "JobID|Start|End|NodeList\n1|1000000000|1000000050|cn[1-2]\n"),
        ("torn", "0x0002c90000000101 8\n"),
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
fn fabrics() {
    hold(
        "fabric",
        &[
            ("fabric hyperx:dims=4x3,t=2", &["/shape", "/diameter"]),
            ("fabric pair.topo", &["/recognised/text", "/link_classes/0/label"]),
            ("fabric split", &["/unrecognised/0", "/findings/0/sizes"]),
            ("fabric pair.topo --storage 0x2c90000000212", &["/roles/storage"]),
            ("fabric kary:k=3,n=2", &[]),
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
            ("route ring -e dmodk,dfsssp --spread-lanes", &["/chain/1", "/layers_needed"]),
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
fn lists() {
    let kinds =
        ["engines", "families", "presets", "patterns", "formats", "metrics", "engines dfsssp"];
    for kind in kinds {
        hold("list", &[(&format!("list {kind}"), &["/items/0"])]);
    }
    hold("list", &[("reproduce", &["/items/0"])]);
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
            "comparison.json",
            "fabric.json",
            "jobs-report.json",
            "list.json",
            "measure-comparison.json",
            "measure.json",
            "optimise.json",
            "replay.json",
            "reproduce-all.json",
            "reproduce.json",
            "reroute.json",
            "route.json",
            "sweep.json"
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

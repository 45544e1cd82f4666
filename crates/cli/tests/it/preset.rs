//! Commands that are studies: `--write-study`, and the agreement of both.

use std::fs;

use crate::study::rows;
use crate::{folder, run_in};

#[test]
fn commands_are_studies_with_the_same_figures() {
    let dir = folder(&[]);
    let d = dir.path();
    let write = |line: &str| {
        let run = run_in(d, &format!("{line} --write-study made.toml"));
        assert_eq!((run.code, run.out.as_str()), (0, ""), "{line}: {}", run.err);
        let printed = run_in(d, &format!("{line} --write-study -")).out;
        assert_eq!(fs::read_to_string(d.join("made.toml")).expect("written"), printed);
        run_in(d, &format!("{line} --format json -q")).json()
    };
    let number = |row: &serde_json::Value, key: &str| row["found"][key].as_f64();
    // A sweep.
    let sweep = write(
        "sweep kary:k=4,n=2 torus:dims=4x4,t=2 -e updn,dfsssp --fail-percent 5,40 --seeds 3 --lanes 4 --seed 5",
    );
    let found = rows(d, "study run made.toml", "routes");
    let mut compared = 0;
    for run in sweep["runs"].as_array().expect("runs") {
        let is_same = |row: &&serde_json::Value| {
            let family = row["set"]["fabric"].as_str().and_then(|name| name.split(':').next());
            run["fabric"].as_str().is_some_and(|name| name.starts_with(family.unwrap_or("?")))
                && row["set"]["routes.engine"] == run["engine"]
                && row["set"]["fail-percent"].as_f64() == run["percent"].as_f64()
                && row["seed"] == run["seed"]
        };
        let row = found.iter().find(is_same).expect("a row");
        for key in ["efi_max", "hops_mean", "layers", "lost"] {
            assert_eq!(number(row, key), run[key].as_f64(), "{key} of {run}");
            compared += 1;
        }
    }
    assert_eq!(compared, 4 * (4 + 24));
    // Measurements of patterns.
    let measured = write(
        "measure kary:k=4,n=2 -e updn --metric worst,ebb --pattern shift --samples 300 --fail-links 3",
    );
    let found = rows(d, "study run made.toml", "patterns");
    let of = |name: &str| found.iter().find(|row| row["of"] == name).expect("a row");
    assert_eq!(number(of("worst"), "value"), measured["worst"].as_f64());
    assert_eq!(number(of("ebb"), "value"), measured["ebb"]["mean"].as_f64());
    // Curves, of tables and of routings without tables.
    let curves = write(
        "saturate hyperx:dims=3x3,t=2 -r minimal,valiant -e dfsssp --loads 0.3,0.7 --packet 64B --message 128B",
    );
    let found = rows(d, "study run made.toml", "latency");
    let curves = curves["curves"].as_array().expect("curves");
    assert_eq!((curves.len(), found.len()), (3, 6));
    for curve in curves {
        let routing = curve["routing"].as_str().expect("a name");
        let routing = if routing.starts_with("tables") { "tables" } else { routing };
        for point in curve["points"].as_array().expect("points") {
            let is_same = |row: &&serde_json::Value| {
                row["set"]["packets.routing"] == routing
                    && row["found"]["offered"] == point["offered"]
            };
            let row = found.iter().find(is_same).expect("a row");
            assert_eq!(number(row, "mean"), point["mean"].as_f64(), "{routing}");
        }
    }
    // Victims with aggressors.
    let congest = write(
        "congest dragonfly:p=2,a=4,h=2,gbps=200 --victims allreduce:8B --aggressors incast --split 50 --nodes 32 --scattered \
         --congestion none,pairs --routing tables,minimal --limit 2ms --iterations 20 --fail-links 2",
    );
    let found = rows(d, "study run made.toml", "impact");
    let cells = congest["cells"].as_array().expect("cells");
    assert_eq!((cells.len(), found.len()), (4, 4));
    for cell in cells {
        let is_same = |row: &&serde_json::Value| {
            row["set"]["packets.congestion"] == cell["congestion"]
                && row["set"]["packets.routing"] == cell["routing"]
        };
        let row = found.iter().find(is_same).expect("a row");
        assert_eq!(number(row, "impact"), cell["impact"].as_f64(), "{cell}");
    }
    // A log.
    fs::write(d.join("log.swf"), crate::replay::swf(400)).expect("written");
    let replay = write(
        "replay --fabric kary:k=4,n=2 --jobs log.swf --every 1h --from 1d --for 3d -e updn,dfsssp,sar --scale 0.5 --fail-links 3",
    );
    let found = rows(d, "study run made.toml", "replay");
    let gains = replay["improvements"].as_array().expect("gains");
    assert_eq!((gains.len(), found.len()), (8, 8));
    for (row, gain) in found.iter().zip(gains) {
        assert_eq!(row["found"]["over"], gain["over"]);
        assert_eq!(number(row, "gain"), gain["mean"].as_f64(), "{gain}");
        assert_eq!(number(row, "gain_percent"), gain["mean_percent"].as_f64(), "{gain}");
        assert_eq!(number(row, "gain_max"), gain["max"].as_f64(), "{gain}");
    }
    // A log that gives the nodes of jobs, to its end.
    fs::write(d.join("jobs.log"), crate::replay::LOG).expect("written");
    let replay = write("replay --fabric kary:k=4,n=2 --jobs jobs.log -e updn,sar");
    let found = rows(d, "study run made.toml", "replay");
    let gains = replay["improvements"].as_array().expect("gains");
    assert_eq!((gains.len(), found.len()), (4, 4));
    for (row, gain) in found.iter().zip(gains) {
        assert_eq!(number(row, "gain"), gain["mean"].as_f64(), "{gain}");
    }
    // Who takes part, by the speed of links, and pairs from a file.
    fs::write(d.join("who"), "0-9\n").expect("written");
    fs::write(d.join("pairs"), "0 5\n3 7\n").expect("written");
    let measured = write(
        "measure kary:k=4,n=2 -e updn,dfsssp --link-speeds --among who --pattern pairs --pattern shift --metric worst,share",
    );
    let found = rows(d, "study run made.toml", "patterns");
    assert_eq!(found.len(), 6);
    for (row, engine) in found.chunks(3).zip(measured["engines"].as_array().expect("rows")) {
        assert_eq!(number(&row[0], "value"), engine["worst"].as_f64(), "{engine}");
        for (row, pattern) in row[1..].iter().zip(engine["patterns"].as_array().expect("patterns"))
        {
            assert_eq!(row["of"], pattern["pattern"]);
            assert_eq!(number(row, "share"), pattern["share"]["mean"].as_f64(), "{pattern}");
        }
    }
    // Options that a study cannot express are reported.
    let line = "sweep kary:k=4,n=2 -e updn --fail-links 2 --write-study made.toml";
    let none = run_in(d, line);
    assert!(none.code == 2 && none.err.contains("--fail-links"), "{}", none.err);
    let line = "measure kary:k=4,n=2 -e updn --routes tables --write-study made.toml";
    let none = run_in(d, line);
    assert!(none.code == 2 && none.err.contains("an engine beside tables"), "{}", none.err);
}

/// Faults of the options are removed once: figures are those of a file without the failed elements.
#[test]
fn commands_take_faults_away_once() {
    let dir = folder(&[("log.swf", &crate::replay::swf(60))]);
    let d = dir.path();
    let fabric = "dragonfly:p=2,a=4,h=2,gbps=200";
    for faults in ["--fail-links 4 --seed 3", "--fail g03r01 --seed 3"] {
        // Hosts of a switch that failed are a finding.
        let made = run_in(d, &format!("fabric {fabric} {faults} -o damaged.topo -q"));
        assert!(made.code <= 1, "{}", made.err);
        for (line, keys) in [
            ("sweep FABRIC -e updn --fail-percent 0 --seeds 1", "/runs/0/efi_max"),
            ("measure FABRIC -e updn --metric worst,abb --samples 100", "/worst /abb/mean"),
            (
                "saturate FABRIC -e updn --loads 0.2,0.9 --measure 5us",
                "/curves/0/points/0/mean /curves/0/points/1/accepted",
            ),
            (
                "congest FABRIC -e updn --victims allreduce:8B --aggressors incast --split 8/8 --routing tables --iterations 6 \
                 --congestion none --warmup 50us --limit 2ms",
                "/cells/0/impact",
            ),
            (
                "replay --fabric FABRIC --jobs log.swf -e updn,dfsssp --every 6h",
                "/means/0/efi_max /means/1/gamma_max_mean",
            ),
        ] {
            let run = |fabric: &str| {
                let line = line.replace("FABRIC", fabric);
                let run = run_in(d, &format!("{line} --format json -q"));
                assert_eq!(run.code, 0, "{line}: {}", run.err);
                run.json()
            };
            let (with, without) =
                (run(&format!("{fabric} {faults}")), run("damaged.topo --seed 3"));
            for key in keys.split(' ') {
                let number = with.pointer(key).and_then(serde_json::Value::as_f64);
                assert!(number.is_some(), "{key}: {with}");
                assert_eq!(with.pointer(key), without.pointer(key), "{line} {faults}: {key}");
            }
        }
    }
}

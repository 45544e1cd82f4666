//! Studies, as their users meet them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{folder, run_in};

/// Two fabrics, two engines, three shares of failed cables, three seeds.
const FAULTS: &str = "fabric = [\"kary:k=4,n=2\", \"torus:dims=4x4,t=2\"]\nfail-percent = [0, 5, 40]\n\
                      [routes]\nengine = [\"updn\", \"dfsssp\"]\n[study]\nquestions = [\"routes\"]\nseeds = 3\n";

pub(crate) fn write(dir: &Path, name: &str, text: &str) {
    fs::write(dir.join(name), text).expect("written");
}

/// The files of a store that have answers of many cells.
fn kept(store: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(store.join("packs")).expect("a store");
    let mut all: Vec<PathBuf> = files.map(|file| file.expect("an entry").path()).collect();
    all.sort();
    all
}

/// The rows of a question that a study prints.
pub(crate) fn rows(dir: &Path, line: &str, question: &str) -> Vec<serde_json::Value> {
    let run = run_in(dir, &format!("{line} --format json -q"));
    assert_eq!(run.code, 0, "{}", run.err);
    let json = run.json();
    let rows = json["rows"].as_array().expect("rows").iter();
    rows.filter(|row| row["question"] == question).cloned().collect()
}

#[test]
fn a_study_of_faults_has_the_figures_of_a_sweep() {
    let dir = folder(&[]);
    write(dir.path(), "s.toml", FAULTS);
    let study = run_in(dir.path(), "study run s.toml --format json -q").json();
    let sweep = "sweep kary:k=4,n=2 torus:dims=4x4,t=2 -e updn,dfsssp --fail-percent 5,40 --seeds 3 --format json -q";
    let sweep = run_in(dir.path(), sweep).json();
    let mut compared = 0;
    for run in sweep["runs"].as_array().expect("runs") {
        let is_same = |row: &&serde_json::Value| {
            let set = &row["set"];
            // A fabric is named by its spec, whose defaults the sweep names, too.
            let fabric = set["fabric"].as_str().expect("a name");
            let family = fabric.split(':').next().expect("a word");
            run["fabric"].as_str().expect("a name").starts_with(family)
                && set["routes.engine"] == run["engine"]
                && set["fail-percent"].as_f64() == run["percent"].as_f64()
                && row["seed"] == run["seed"]
        };
        let rows: Vec<_> = study["rows"].as_array().expect("rows").iter().filter(is_same).collect();
        let [row] = rows[..] else { panic!("{} rows of {run}", rows.len()) };
        for key in ["efi_max", "hops_mean", "layers", "deadlock_free", "pairs", "lost"] {
            if run.get("refused").is_none() {
                assert_eq!(row["found"][key], run[key], "{key} of {run}");
                compared += 1;
            }
        }
    }
    assert!(compared >= 6 * 20, "{compared}");
    assert_eq!(study["cells"], 36);
}

#[test]
fn shards_and_interruptions_lose_nothing() {
    let dir = folder(&[]);
    write(dir.path(), "s.toml", FAULTS);
    let whole = run_in(dir.path(), "study run s.toml --format csv -q");
    assert_eq!((whole.code, whole.out.lines().count()), (0, 37), "{}", whole.err);
    // One of three parts; then two processes do the rest in parallel, and their shared work does no harm.
    let part = run_in(dir.path(), "study run s.toml -o store --shard 2/3 -q");
    assert_eq!(part.code, 0, "{}", part.err);
    let status = run_in(dir.path(), "study status s.toml -s store --format csv").out;
    let counts = status.lines().nth(1).expect("a row");
    assert!(counts.starts_with("36,12,0,24,"), "{status}");
    // Cells of a truncated file are open again, and answered again.
    let files = kept(&dir.path().join("store"));
    let text = fs::read(&files[0]).expect("cells");
    fs::write(&files[0], &text[..text.len() / 2]).expect("cut");
    let status = run_in(dir.path(), "study status s.toml -s store --format csv");
    assert!(status.err.contains("cut or altered"), "{}", status.err);
    assert!(status.out.contains("36,0,0,36,"), "{}", status.out);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| assert_eq!(run_in(dir.path(), "study run s.toml -o store -q").code, 0));
        }
    });
    let collected = run_in(dir.path(), "study collect s.toml -s store --format csv");
    assert_eq!(collected.out, whole.out);
    // Nothing is computed twice: a run over a complete store changes no file.
    let before = kept(&dir.path().join("store"));
    let times = |paths: &[PathBuf]| -> Vec<_> {
        paths.iter().map(|p| fs::metadata(p).and_then(|m| m.modified()).expect("a time")).collect()
    };
    let written = times(&before);
    assert_eq!(run_in(dir.path(), "study run s.toml -o store --format csv -q").out, whole.out);
    assert_eq!(times(&before), written);
    // One file of all.
    let csv = run_in(dir.path(), "study collect s.toml -s store -o all.csv");
    assert_eq!(csv.code, 0, "{}", csv.err);
    assert_eq!(fs::read_to_string(dir.path().join("all.csv")).expect("written"), whole.out);
    assert_eq!(run_in(dir.path(), "study collect s.toml -s store -o all.parquet").code, 0);
    let bytes = fs::read(dir.path().join("all.parquet")).expect("written");
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
}

#[test]
fn threads_do_not_change_a_byte() {
    let dir = folder(&[]);
    write(dir.path(), "s.toml", FAULTS);
    let of =
        |n: u32| run_in(dir.path(), &format!("study run s.toml --format csv -q --threads {n}")).out;
    assert_eq!(of(1), of(3));
}

#[test]
fn a_scenario_is_a_study_of_its_jobs() {
    let dir = folder(&[]);
    let text = "fabric = \"fattree2:n=4,m=4,r=8\"\nhosts = \"qdr\"\n[routes]\nengine = \"updn\"\n\
                [[job]]\nname = \"a\"\ntraffic = \"imb:op=alltoall,bytes=64KiB\"\nnodes = 16\n\
                [[job]]\nname = \"b\"\ntraffic = \"imb:op=allreduce,bytes=1MiB\"\nnodes = 16\n";
    write(dir.path(), "s.toml", text);
    let study = run_in(
        dir.path(),
        "study run s.toml --set routes.engine=updn,dmodk --set depth=flow --format json",
    );
    let rows = study.json()["rows"].as_array().expect("rows").clone();
    assert_eq!(rows.len(), 4);
    for engine in ["updn", "dmodk"] {
        write(dir.path(), "one.toml", &text.replace("updn", engine));
        let alone = run_in(dir.path(), "simulate one.toml --format json").json();
        for job in alone["jobs"].as_array().expect("jobs") {
            let row =
                rows.iter().find(|r| r["set"]["routes.engine"] == engine && r["of"] == job["name"]);
            let found = &row.expect("a row")["found"];
            for key in ["run_mean", "run_max", "end", "messages", "bytes"] {
                assert_eq!(found[key].as_f64(), job[key].as_f64(), "{key} of {job}");
            }
        }
    }
    // A cell without an answer is a row, and the others are there.
    let line = "study run s.toml --set job.1.nodes=16,4000 --format json";
    let run = run_in(dir.path(), line);
    assert_eq!(run.code, 0, "{}", run.err);
    let json = run.json();
    assert_eq!((&json["cells"], &json["failed"]), (&2.into(), &1.into()));
    let errors: Vec<_> =
        json["rows"].as_array().expect("rows").iter().filter_map(|r| r["error"].as_str()).collect();
    assert!(matches!(errors[..], [e] if e.contains("finds no 4000 hosts")), "{errors:?}");
}

#[test]
fn patterns_are_as_measured() {
    let dir = folder(&[]);
    write(
        dir.path(),
        "s.toml",
        "fabric = \"kary:k=4,n=2\"\n[routes]\nengine = \"updn\"\n[study]\nquestions = [{ ask = \"patterns\", \
         metric = [\"worst\", \"ebb\"], pattern = \"shift\", samples = 500 }]\n",
    );
    let study = run_in(dir.path(), "study run s.toml --format json").json();
    let value = |of: &str, column: &str| {
        let rows = study["rows"].as_array().expect("rows");
        let row = rows.iter().find(|r| r["of"] == of).expect("a row");
        row["found"][column].as_f64().expect("a number")
    };
    let line = "measure kary:k=4,n=2 -e updn --metric worst,ebb,share --pattern shift --samples 500 --format json";
    let measured = run_in(dir.path(), line).json();
    assert_eq!(Some(value("worst", "value")), measured["worst"].as_f64());
    assert_eq!(Some(value("ebb", "value")), measured["ebb"]["mean"].as_f64());
    let patterns = measured["patterns"].as_array().expect("patterns");
    let shift = patterns.iter().find(|p| p["pattern"] == "shift").expect("shift");
    assert_eq!(Some(value("shift", "share")), shift["share"]["mean"].as_f64());
}

#[test]
fn axes_go_together_and_cells_are_left_out() {
    let dir = folder(&[]);
    let text = format!(
        "{}zip = [[\"fabric\", \"routes.engine\"]]\nexclude = [{{ fabric = \"kary:k=4,n=2\", fail-percent = [5, 40] }}]\n",
        FAULTS.replace("seeds = 3", "seeds = 1")
    );
    write(dir.path(), "s.toml", &text);
    let json = run_in(dir.path(), "study run s.toml --format json").json();
    let cells: Vec<String> = json["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|r| format!("{} {}", r["set"]["routes.engine"], r["set"]["fail-percent"]))
        .collect();
    assert_eq!(cells, ["\"updn\" 0", "\"dfsssp\" 0", "\"dfsssp\" 5", "\"dfsssp\" 40"]);
}

#[test]
fn questions_are_asked_of_some_cells() {
    let dir = folder(&[]);
    let text = "fabric = [\"kary:k=4,n=2\", \"torus:dims=4x4,t=2\"]\nfail-percent = 20\n[routes]\nengine = [\"updn\", \"dfsssp\"]\n\
                [study]\nseeds = 4\nquestions = [\n\
                { ask = \"routes\", only = { \"routes.engine\" = \"updn\" } },\n\
                { ask = \"patterns\", as = \"half\", metric = \"ebb\", seeds = 2, only = { fabric = \"kary:k=4,n=2\" } }]\n";
    write(dir.path(), "s.toml", text);
    let routes = rows(dir.path(), "study run s.toml", "routes");
    let half = rows(dir.path(), "study run s.toml", "half");
    assert_eq!((routes.len(), half.len()), (2 * 4, 2 * 2));
    assert!(routes.iter().all(|row| row["set"]["routes.engine"] == "updn"));
    assert!(half.iter().all(|row| row["set"]["fabric"] == "kary:k=4,n=2"));
    // Eight cells of one, four of the other, of which two are equal; a point without a question is no cell.
    let status = "study status s.toml -s store --format csv";
    assert_eq!(run_in(dir.path(), "study run s.toml -o store -q").code, 0);
    assert!(
        run_in(dir.path(), status).out.contains("\n10,10,0,0,"),
        "{}",
        run_in(dir.path(), status).out
    );
    // The figures are those of a study with all questions for all cells.
    let all = text.replace(", only = { \"routes.engine\" = \"updn\" }", "");
    write(dir.path(), "all.toml", &all);
    let of_all = rows(dir.path(), "study run all.toml", "routes");
    let same = |row: &&serde_json::Value| row["set"]["routes.engine"] == "updn";
    let figures = |rows: &mut dyn Iterator<Item = &serde_json::Value>| -> Vec<_> {
        rows.map(|row| row["found"].clone()).collect()
    };
    assert_eq!(figures(&mut of_all.iter().filter(same)), figures(&mut routes.iter()));
}

#[test]
fn run_times_of_relief_begin_with_the_job() {
    let dir = folder(&[]);
    let text = "fabric = \"kary:k=4,n=2\"\n[routes]\nengine = \"updn\"\n[[job]]\nname = \"a\"\ntraffic = \"imb:op=alltoall,bytes=64KiB\"\n\
                nodes = 8\nstart = [\"0s\", \"1ms\"]\n[study]\nquestions = [\"relief\"]\n";
    write(dir.path(), "s.toml", text);
    let all = rows(dir.path(), "study run s.toml", "relief");
    let jobs: Vec<&serde_json::Value> = all.iter().filter(|row| row["of"] == "a").collect();
    assert_eq!(jobs.len(), 2);
    for row in &jobs {
        // In isolation it is as fast as without the others.
        let by_alone = row["found"]["before_by_alone"].as_f64().expect("a number");
        assert!((by_alone - 1.0).abs() < 1e-9, "{row}");
    }
    assert_eq!(jobs[0]["found"]["after"], jobs[1]["found"]["after"]);
}

#[test]
fn what_is_no_study_is_said() {
    let dir = folder(&[]);
    write(dir.path(), "good.toml", FAULTS);
    let cases: &[(&str, &str, &[&str])] = &[
        ("fabrik = [\"a\"]\n", "", &["line 1", "fabrik"]),
        ("fabric = []\n", "", &["line 1", "fabric", "no value"]),
        (
            "fabric = \"kary:k=2,n=2\"\n[routes]\nengine = [\"updn\", \"updm\"]\n",
            "",
            &["line 3", "updm"],
        ),
        ("fabric = \"kary:k=2,n=2\"\n[study]\nquestions = [\"rotes\"]\n", "", &["rotes", "routes"]),
        (
            "fabric = \"kary:k=2,n=2\"\n[study]\nquestions = [{ ask = \"patterns\", patern = \"shift\" }]\n",
            "",
            &["patern", "pattern"],
        ),
        (
            "fabric = [\"kary:k=2,n=2\", \"kary:k=4,n=2\"]\n[study]\nquestions = [{ ask = \"routes\", only = { fabrik = 1 } }]\n",
            "",
            &["routes", "only", "fabrik", "fabric"],
        ),
        (
            "fabric = \"kary:k=2,n=2\"\n[study]\nquestions = [{ ask = \"routes\", seeds = 0 }]\n",
            "",
            &["seeds = 0", "1 or more"],
        ),
        (
            "fabric = \"kary:k=2,n=2\"\n[study]\nquestions = [{ ask = \"replay\", engines = [] }]\n",
            "",
            &["engines", "which are compared"],
        ),
        (
            "fabric = \"kary:k=2,n=2\"\n[routes]\nengine = [\"updn\", \"nue\"]\n[study]\nquestions = [\"routes\"]\n[[expect]]\n\
             quantity = \"q\"\ncolumn = \"efi_max\"\nwhere = { \"routes.engin\" = \"updn\" }\n",
            "",
            &["expect", "routes.engin", "routes.engine"],
        ),
        ("fabric = \"kary:k=2,n=2\"\n[study]\nseed = 3\n", "", &["line 3", "seed"]),
        ("fabric = \"kary:k=2,n=2\"\n[study]\nzip = [[\"fabric\", \"seed\"]]\n", "", &["fabric"]),
        ("fabric = \"x\"\n[study]\nseeds = 1000000000\n", "", &["1000000000 cells", "--max-cells"]),
        ("fabric = \"x\"\n", "--set routes.engin=updn", &["routes.engin", "routes.engine"]),
        ("fabric = \"x\"\n", "--set job.2.nodes=3", &["job"]),
        ("fabric = \"x\"\n", "-o st --shard 3/2", &["3/2", "I/N"]),
    ];
    for (text, options, words) in cases {
        write(dir.path(), "bad.toml", text);
        let run = run_in(dir.path(), &format!("study run bad.toml {options}"));
        assert!(matches!(run.code, 2 | 3), "{text}: {} {}", run.code, run.err);
        for word in *words {
            assert!(run.err.contains(word), "{text}: no {word} in {}", run.err);
        }
    }
    // A store is of one study.
    assert_eq!(run_in(dir.path(), "study run good.toml -o st -q").code, 0);
    write(dir.path(), "other.toml", &FAULTS.replace("seeds = 3", "seeds = 4"));
    let other = run_in(dir.path(), "study run other.toml -o st -q");
    assert_eq!(other.code, 3);
    assert!(other.err.contains("another study") && other.err.contains("seeds"), "{}", other.err);
}

#[test]
fn seeds_are_added_until_a_mean_is_known() {
    let dir = folder(&[]);
    let text = "fabric = [\"kary:k=4,n=2\", \"torus:dims=4x4,t=2\"]\nfail-percent = 20\n[routes]\nengine = \"updn\"\n[study]\n\
                questions = [\"routes\"]\nuntil = { quantity = \"efi_max\", relative = 0.1, at-most = 40 }\n";
    write(dir.path(), "s.toml", text);
    let all = rows(dir.path(), "study run s.toml", "routes");
    let until = rows(dir.path(), "study run s.toml", "until");
    assert_eq!(until.len(), 2);
    // The same seeds one by one, and the interval by hand.
    let grid = text
        .replace("until = { quantity = \"efi_max\", relative = 0.1, at-most = 40 }", "seeds = 40");
    write(dir.path(), "grid.toml", &grid);
    let grid = rows(dir.path(), "study run grid.toml", "routes");
    for told in &until {
        let of = |row: &&serde_json::Value| row["set"] == told["set"];
        let values = |rows: &[serde_json::Value], n: usize| -> Vec<f64> {
            let efi = |row: &serde_json::Value| row["found"]["efi_max"].as_f64().expect("a number");
            rows.iter().filter(of).take(n).map(efi).collect()
        };
        let samples = told["found"]["samples"].as_u64().expect("a count") as usize;
        let found = values(&all, usize::MAX);
        assert_eq!(found.len(), samples);
        assert_eq!(found, values(&grid, samples));
        // Student's t of 95 % for 4, 7, 11, 17, 26 and 39 degrees of freedom, from a printed table.
        let t = [(5, 2.776), (8, 2.365), (12, 2.201), (18, 2.110), (27, 2.056), (40, 2.023)];
        let half = |n: usize| {
            let x = &found[..n];
            let mean = x.iter().sum::<f64>() / n as f64;
            let squares: f64 = x.iter().map(|x| (x - mean).powi(2)).sum();
            let t = t.iter().find(|(of, _)| *of == n).expect("a round").1;
            t * (squares / (n - 1) as f64 / n as f64).sqrt() / mean
        };
        for (n, _) in t.iter().take_while(|(n, _)| *n < samples) {
            assert!(half(*n) > 0.1, "{n} seeds were enough: {told}");
        }
        let width = told["found"]["half_width_percent"].as_f64().expect("a number");
        assert!((width - 100.0 * half(samples)).abs() < 0.01 * width, "{width}: {told}");
        assert_eq!(told["found"]["settled"], half(samples) <= 0.1);
    }
    // A study that resumes from a store requests the same.
    assert_eq!(run_in(dir.path(), "study run s.toml -o store --shard 1/2 -q").code, 0);
    let again = rows(dir.path(), "study run s.toml -o store", "routes");
    assert_eq!(again, all);
    let csv = run_in(dir.path(), "study collect s.toml -s store --format csv").out;
    assert_eq!(run_in(dir.path(), "study run s.toml --format csv -q").out, csv);
    assert_eq!(run_in(dir.path(), "study collect s.toml -s store -o all.csv").code, 0);
    assert_eq!(fs::read_to_string(dir.path().join("all.csv")).expect("written"), csv);
    let status = run_in(dir.path(), "study status s.toml -s store --format csv").out;
    assert!(status.contains(&format!("{},{},0,0,", all.len(), all.len())), "{status}");
}

#[test]
fn the_least_value_is_found_that_a_grid_has() {
    let dir = folder(&[]);
    let study = |what: &str| {
        format!(
            "fabric = [\"kary:k=4,n=2\", \"hyperx:dims=4x4,t=2\"]\n[routes]\nengine = \"dfsssp\"\n{what}"
        )
    };
    let find = "[study]\nquestions = [\"routes\"]\nseeds = 3\nfind = { axis = \"fail-percent\", from = 40, to = 60, within = 1, \
                quantity = \"lost\", above = 0 }\n";
    write(dir.path(), "find.toml", &study(find));
    let values: Vec<String> = (40..=60).map(|p| p.to_string()).collect();
    let grid = "[study]\nquestions = [\"routes\"]\nseeds = 3\n";
    write(dir.path(), "grid.toml", &study(grid));
    let grid = format!("study run grid.toml --set fail-percent={}", values.join(","));
    let grid = rows(dir.path(), &grid, "routes");
    let found = rows(dir.path(), "study run find.toml -o store", "find");
    assert_eq!(found.len(), 2);
    for told in &found {
        // Losses grow with the share: cables of a smaller one are among those of a larger.
        let lost = |row: &&serde_json::Value| {
            row["set"]["fabric"] == told["set"]["fabric"] && row["found"]["lost"].as_u64() > Some(0)
        };
        let least =
            grid.iter().filter(lost).filter_map(|row| row["set"]["fail-percent"].as_u64()).min();
        assert_eq!(told["found"]["least"].as_f64(), least.map(|p| p as f64), "{told}");
        assert!(told["found"]["trials"].as_u64() < Some(8), "{told}");
    }
    // Trials are rows with their value; a resumed run requests no others.
    let all = rows(dir.path(), "study run find.toml", "routes");
    assert!(all.iter().all(|row| row["set"]["fail-percent"].is_u64()));
    assert_eq!(rows(dir.path(), "study run find.toml -o store", "routes"), all);
}

#[test]
fn questions_have_the_figures_of_the_commands() {
    let dir = folder(&[]);
    let some = |json: &serde_json::Value, key: &str| json[key].as_f64();
    // Latencies by load.
    let text = "fabric = \"dragonfly:p=2,a=4,h=2\"\n[packets]\nordered = false\nrouting = [\"minimal\", \"ugal\"]\n[study]\n\
                questions = [{ ask = \"latency\", loads = [0.2, 0.6], pattern = \"adversarial\" }]\n";
    write(dir.path(), "latency.toml", text);
    let found = rows(dir.path(), "study run latency.toml", "latency");
    let line = "saturate dragonfly:p=2,a=4,h=2 -r minimal,ugal --pattern adversarial --loads 0.2,0.6 --format json -q";
    let curves = run_in(dir.path(), line).json();
    let mut compared = 0;
    for curve in curves["curves"].as_array().expect("curves") {
        for point in curve["points"].as_array().expect("points") {
            let is_same = |row: &&serde_json::Value| {
                row["set"]["packets.routing"] == curve["routing"]
                    && row["found"]["offered"] == point["offered"]
            };
            let row = found.iter().find(is_same).expect("a row");
            for key in ["mean", "p99", "accepted", "hops", "packets"] {
                assert_eq!(some(&row["found"], key), some(point, key), "{key} of {point}");
                compared += 1;
            }
            assert_eq!(row["found"]["saturated"], point["saturated"]);
        }
    }
    assert_eq!(compared, 20);
    // Where it saturates: a load that does not, and a hundredth more that does.
    let find = text.replace("loads = [0.2, 0.6]", "find = \"saturation\"");
    write(dir.path(), "find.toml", &find);
    for row in rows(dir.path(), "study run find.toml", "latency") {
        let load = row["found"]["offered"].as_f64().expect("a load");
        assert_eq!(row["found"]["saturated"], false, "{row}");
        let routing = row["set"]["packets.routing"].as_str().expect("a name");
        let line = format!(
            "saturate dragonfly:p=2,a=4,h=2 -r {routing} --pattern adversarial --loads {},{load} --format json -q",
            (load + 0.01).min(1.0)
        );
        let curves = run_in(dir.path(), &line).json();
        assert_eq!(curves["curves"][0]["points"][1]["saturated"], true, "{row}");
    }
    // Victims with aggressors.
    let text = "fabric = \"dragonfly:p=2,a=4,h=2,gbps=200\"\nhosts = \"slingshot\"\n[packets]\nswitches = \"rosetta\"\n\
                routing = \"four-ways\"\ncongestion = [\"none\", \"pairs\"]\n[study]\nquestions = [{ ask = \"impact\", \
                victim = [\"allreduce:8B\", \"alltoall:128B\"], aggressor = \"incast\", split = \"18/54\", limit = \"5ms\", iterations = 20 }]\n";
    write(dir.path(), "impact.toml", text);
    let found = rows(dir.path(), "study run impact.toml", "impact");
    let line = "congest dragonfly:p=2,a=4,h=2,gbps=200 --victims allreduce:8B,alltoall:128B --aggressors incast --split 18/54 \
                --limit 5ms --iterations 20 --format json -q";
    let cells = run_in(dir.path(), line).json();
    let cells = cells["cells"].as_array().expect("cells");
    assert_eq!((cells.len(), found.len()), (4, 4));
    for cell in cells {
        let of = format!("{} beside incast", cell["victim"].as_str().expect("a name"));
        let is_same = |row: &&serde_json::Value| {
            row["of"] == of.as_str() && row["set"]["packets.congestion"] == cell["congestion"]
        };
        let row = found.iter().find(is_same).expect("a row");
        for key in ["impact", "p95_inflation", "p99_inflation"] {
            assert_eq!(some(&row["found"], key), some(cell, key), "{key} of {cell}");
        }
    }
    // Single faults.
    let text = "fabric = \"hyperx:dims=4x4,t=2\"\n[routes]\nengine = [\"updn\", \"dfsssp\"]\n[study]\nquestions = [\"faults\"]\n";
    write(dir.path(), "faults.toml", text);
    for row in rows(dir.path(), "study run faults.toml", "faults") {
        let engine = row["set"]["routes.engine"].as_str().expect("a name");
        let book = run_in(
            dir.path(),
            &format!("survive hyperx:dims=4x4,t=2 -e {engine} --format json -q"),
        )
        .json();
        let book = &book[row["of"].as_str().expect("a name")];
        for key in
            ["faults", "any_order", "steps", "drop_drain", "untouched_percent", "efi_max_after"]
        {
            assert_eq!(some(&row["found"], key), some(book, key), "{key} of {engine}");
        }
    }
}

#[test]
fn answers_of_another_study_are_taken_over() {
    let dir = folder(&[]);
    write(dir.path(), "s.toml", FAULTS);
    assert_eq!(run_in(dir.path(), "study run s.toml -o one -q").code, 0);
    // Fewer of one axis, more of another: 2 x 2 x 2 x 3 cells are the same.
    let other =
        FAULTS.replace("[0, 5, 40]", "[5, 40]").replace("\"dfsssp\"]", "\"dfsssp\", \"lash\"]");
    write(dir.path(), "other.toml", &other);
    let whole = run_in(dir.path(), "study run other.toml --format csv -q").out;
    let run = run_in(dir.path(), "study run other.toml -o two --reuse one --format csv -q");
    assert_eq!((run.code, run.out), (0, whole.clone()), "{}", run.err);
    assert_eq!(run_in(dir.path(), "study collect other.toml -s two --format csv").out, whole);
    let none = run_in(dir.path(), "study run other.toml -o three --reuse nowhere");
    assert!(none.code == 3 && none.err.contains("nowhere"), "{}", none.err);
}

#[test]
fn a_plan_names_what_is_largest() {
    let dir = folder(&[]);
    write(dir.path(), "s.toml", FAULTS);
    let plan = run_in(dir.path(), "study plan s.toml --format csv");
    assert_eq!(plan.code, 0, "{}", plan.err);
    let lines: Vec<Vec<&str>> = plan.out.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 6, "{}", plan.out);
    assert!(plan.out.starts_with("fabric,routes.engine,cells,"), "{}", plan.out);
    // Fabrics have commas in them.
    assert_eq!(plan.out.lines().filter(|line| line.contains(",9,")).count(), 4, "{}", plan.out);
    assert!(plan.out.lines().last().expect("a sum").starts_with("all,,36,"), "{}", plan.out);
    // Counts and times are numbers, and what the sum has none of is null.
    let json = run_in(dir.path(), "study plan s.toml --format json").json();
    let items = json["items"].as_array().expect("a list");
    assert!(items.iter().all(|i| i["cells"].is_u64() && i["CPU_hours"].is_f64()), "{json}");
    assert!(items[0]["seconds_a_cell"].is_f64() && items[0]["fabric"].is_string(), "{json}");
    assert!(items[4]["seconds_a_cell"].is_null() && items[4]["no_answer"] == "", "{json}");
}

#[test]
fn a_store_is_not_called_as_the_standard_output() {
    let dir = folder(&[]);
    write(dir.path(), "s.toml", FAULTS);
    let refused = run_in(dir.path(), "study run s.toml -o - -q");
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(refused.err.starts_with("error: - is no name of a file or folder"), "{}", refused.err);
    assert!(!dir.path().join("-").exists());
}

#[test]
fn what_cannot_be_looked_for_is_said() {
    let dir = folder(&[]);
    for (part, words) in [
        ("until = { quantity = \"efi_mx\" }", ["line", "efi_max"]),
        ("until = { quantity = \"efi_max\", relative = 2.0 }", ["until", "below 1"]),
        (
            "find = { axis = \"fail-percnt\", from = 0, to = 9, quantity = \"lost\", above = 0 }",
            ["find", "fail-percent"],
        ),
        (
            "find = { axis = \"fail-percent\", from = 0, to = 9, quantity = \"lost\" }",
            ["find", "above or below"],
        ),
        (
            "find = { axis = \"fabric\", from = 0, to = 9, quantity = \"lost\", above = 0 }",
            ["fabric", "axis"],
        ),
        (
            "find = { axis = \"seed\", from = 9, to = 3, quantity = \"lost\", above = 0 }",
            ["find", "not below"],
        ),
    ] {
        let text = format!(
            "fabric = [\"kary:k=2,n=2\", \"kary:k=3,n=2\"]\n[routes]\nengine = \"updn\"\n[study]\nquestions = [\"routes\"]\n{part}\n"
        );
        write(dir.path(), "bad.toml", &text);
        let run = run_in(dir.path(), "study run bad.toml");
        assert!(matches!(run.code, 2 | 3), "{part}: {} {}", run.code, run.err);
        for word in words {
            assert!(run.err.contains(word), "{part}: no {word} in {}", run.err);
        }
    }
}

#[test]
fn pictures_are_of_what_is_answered() {
    let dir = folder(&[]);
    write(dir.path(), "s.toml", FAULTS);
    let read = |name: &str| fs::read_to_string(dir.path().join(name)).expect("a picture");
    let ran = run_in(dir.path(), "study run s.toml -o st -q --svg run.svg");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    // A panel for each fabric, a line for each engine; the same from the store.
    let svg = read("run.svg");
    assert_eq!(svg.matches("<polyline").count(), 4, "{svg}");
    assert!(svg.contains(">dfsssp<") && svg.contains(">torus:dims=4x4,t=2<"), "{svg}");
    assert!(svg.contains("95 % confidence interval of the mean of 3 seeds"), "{svg}");
    let plotted = run_in(dir.path(), "study plot s.toml -s st -o plot.svg");
    assert_eq!((plotted.code, plotted.out.as_str(), plotted.err.as_str()), (0, "", ""));
    assert_eq!(read("plot.svg"), svg);
    let line =
        "study plot s.toml -s st -o bars.svg --x fabric --y hops_mean --only fail-percent=40";
    assert_eq!(run_in(dir.path(), line).code, 0);
    let bars = read("bars.svg");
    assert!(bars.contains(">hops_mean<") && !bars.contains("<polyline"), "{bars}");
    // The means are those of the table.
    let csv = run_in(dir.path(), "study collect s.toml -s st --format csv").out;
    let mut lines = csv.lines();
    let heading: Vec<&str> = lines.next().expect("a heading").split(',').collect();
    let at = heading.iter().position(|name| *name == "hops_mean").expect("a column");
    let behind = heading.len() - at;
    let mut values = Vec::new();
    for line in lines.filter(|l| l.contains("kary") && l.contains(",40,updn,")) {
        // The name of the fabric contains commas, so this is counted from the right.
        let cells: Vec<&str> = line.split(',').collect();
        values.push(cells[cells.len() - behind].parse::<f64>().expect("a number"));
    }
    assert_eq!(values.len(), 3, "{csv}");
    let mean = format!(">{:.3}<", values.iter().sum::<f64>() / 3.0);
    assert!(bars.contains(&mean), "{mean}: {bars}");
    // Missing answers are reported.
    let part = run_in(dir.path(), "study run s.toml -o part --shard 1/2 -q");
    assert_eq!(part.code, 0, "{}", part.err);
    let plotted = run_in(dir.path(), "study plot s.toml -s part -o part.svg");
    assert_eq!(plotted.code, 0);
    assert!(
        plotted.err.contains("not answered yet") && plotted.err.contains("18"),
        "{}",
        plotted.err
    );
}

#[test]
fn pictures_that_cannot_be_are_said_before_anything_is_computed() {
    let dir = folder(&[]);
    write(dir.path(), "s.toml", FAULTS);
    for (options, words) in [
        ("--svg p.svg --x fabrik", "did you mean fabric?"),
        ("--svg p.svg --by routes.engin", "did you mean routes.engine?"),
        ("--svg p.svg --y efi", "did you mean efi_max?"),
        ("--svg p.svg --question runs", "there are routes"),
        ("--svg p.svg --only fabrik=a", "did you mean fabric?"),
        ("--svg p.svg --only fabric", "--only fabric: there is no ="),
        ("--svg p.svg --shape pie", "possible values: lines, bars, map"),
        ("--svg nowhere/else/p.svg/x --y layers", "cannot write"),
        ("--y layers", "--svg FILE draws it"),
        ("--svg p.png", "pictures are SVG"),
    ] {
        let run = run_in(dir.path(), &format!("study run s.toml -o st {options}"));
        assert!(matches!(run.code, 2 | 3) || options.contains("nowhere"), "{options}: {}", run.err);
        assert!(run.err.contains(words) || options.contains("nowhere"), "{options}: {}", run.err);
        assert!(!dir.path().join("st").exists() || options.contains("nowhere"), "{options}");
    }
}

/// Questions that differ only in their cells are one question: no cell counts twice, whatever cells they share.
#[test]
fn cells_that_two_questions_share_count_once() {
    let dir = folder(&[]);
    let head = "fabric = \"kary:k=4,n=2\"\nfail-percent = [0, 40]\n[routes]\nengine = [\"updn\", \"dfsssp\"]\n[study]\nseeds = 3\n";
    write(dir.path(), "plain.toml", &format!("{head}questions = [\"routes\"]\n"));
    let plain = run_in(dir.path(), "study run plain.toml --format csv -q").out;
    for (name, questions) in [
        (
            "over.toml",
            "[{ ask = \"routes\", seeds = 1, only = { \"routes.engine\" = \"updn\" } }, \"routes\"]",
        ),
        ("twice.toml", "[\"routes\", \"routes\"]"),
    ] {
        write(dir.path(), name, &format!("{head}questions = {questions}\n"));
        let run = run_in(dir.path(), &format!("study run {name} --format csv -q"));
        assert_eq!((run.code, &run.out), (0, &plain), "{name}: {}", run.err);
    }
    // Others are asked beside each other.
    write(
        dir.path(),
        "two.toml",
        &format!("{head}questions = [\"routes\", {{ ask = \"routes\", as = \"again\" }}]\n"),
    );
    let two = run_in(dir.path(), "study run two.toml --format csv -q");
    assert_eq!(two.code, 0, "{}", two.err);
    assert_eq!(two.out.lines().count() - 1, 2 * (plain.lines().count() - 1));
}

#[test]
fn shares_are_of_the_time_in_which_all_run() {
    let scenario = r#"
fabric = "fattree2:n=2,m=1,r=2"
[routes]
engine = "updn"
[[job]]
name = "a"
traffic = "imb:op=alltoall,bytes=16KiB,repeat=50"
hosts = "cn0001,cn0003"
[[job]]
name = "b"
traffic = "imb:op=alltoall,bytes=16KiB,repeat=450"
hosts = "cn0002,cn0004"
[study]
questions = [{ask = "shares", settle = "0s", interval = "INTERVAL"}]
"#;
    // The jobs share a cable evenly for less than a millisecond, after which one has it alone.
    let dir = folder(&[
        ("fine.toml", &scenario.replace("INTERVAL", "1us")),
        ("coarse.toml", &scenario.replace("INTERVAL", "500us")),
    ]);
    let fine = run_in(dir.path(), "study run fine.toml -q --format csv");
    assert_eq!(fine.code, 0, "{}", fine.err);
    assert_eq!(fine.out.matches(",50,").count(), 2, "{}", fine.out);
    let coarse = run_in(dir.path(), "study run coarse.toml -q");
    assert!(
        format!("{}{}", coarse.out, coarse.err).contains("less than 4 intervals of 500 us"),
        "{}{}",
        coarse.out,
        coarse.err
    );
}

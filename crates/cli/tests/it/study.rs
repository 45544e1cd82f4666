//! Studies, as their users meet them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{folder, run_in};

/// Two fabrics, two engines, three shares of failed cables, three seeds.
const FAULTS: &str = "fabric = [\"kary:k=4,n=2\", \"torus:dims=4x4,t=2\"]\nfail-percent = [0, 5, 40]\n\
                      [routes]\nengine = [\"updn\", \"dfsssp\"]\n[study]\nquestions = [\"routes\"]\nseeds = 3\n";

fn write(dir: &Path, name: &str, text: &str) {
    fs::write(dir.join(name), text).expect("written");
}

/// The cells of a store.
fn kept(store: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for folder in fs::read_dir(store.join("cells")).expect("a store") {
        let files = fs::read_dir(folder.expect("an entry").path()).expect("a folder");
        all.extend(files.map(|file| file.expect("an entry").path()));
    }
    all.sort();
    all
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
            // A fabric is called by its spec, whose defaults the sweep names, too.
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
    // One of three parts; then two processes side by side have what it left, and what they share does no harm.
    let part = run_in(dir.path(), "study run s.toml -o store --shard 2/3 -q");
    assert_eq!(part.code, 0, "{}", part.err);
    let status = run_in(dir.path(), "study status s.toml -s store --format csv").out;
    let counts = status.lines().nth(1).expect("a row");
    assert!(counts.starts_with("36,12,0,24,"), "{status}");
    // A cell that was cut is open again, and answered again.
    let cells = kept(&dir.path().join("store"));
    let text = fs::read(&cells[0]).expect("a cell");
    fs::write(&cells[0], &text[..text.len() / 2]).expect("cut");
    let status = run_in(dir.path(), "study status s.toml -s store --format csv");
    assert!(status.err.contains("cut or altered"), "{}", status.err);
    assert!(status.out.contains("36,11,0,25,"), "{}", status.out);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| assert_eq!(run_in(dir.path(), "study run s.toml -o store -q").code, 0));
        }
    });
    assert_eq!(kept(&dir.path().join("store")).len(), 36);
    let collected = run_in(dir.path(), "study collect s.toml -s store --format csv");
    assert_eq!(collected.out, whole.out);
    // Nothing is computed twice: a run over a whole store changes no file.
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
    // What cannot be answered is a row, and the others are there.
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
        // The name of the fabric has commas of its own, so this is counted from the right.
        let cells: Vec<&str> = line.split(',').collect();
        values.push(cells[cells.len() - behind].parse::<f64>().expect("a number"));
    }
    assert_eq!(values.len(), 3, "{csv}");
    let mean = format!(">{:.2}<", values.iter().sum::<f64>() / 3.0);
    assert!(bars.contains(&mean), "{mean}: {bars}");
    // What is not answered yet is said.
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
    ] {
        let run = run_in(dir.path(), &format!("study run s.toml -o st {options}"));
        assert!(matches!(run.code, 2 | 3) || options.contains("nowhere"), "{options}: {}", run.err);
        assert!(run.err.contains(words) || options.contains("nowhere"), "{options}: {}", run.err);
        assert!(!dir.path().join("st").exists() || options.contains("nowhere"), "{options}");
    }
}

//! `darkfiber simulate` of several scenarios: the same figures as of each alone, differences, intervals, refusals.

use std::path::Path;

use serde_json::Value;

use crate::{Run, folder, run_in};

/// Two jobs on hosts that the seed draws.
const SCENARIO: &str = "fabric = \"torus:dims=4x4,t=2\"\nhosts = \"qdr\"\n[routes]\nengine = \"updn\"\n\
     [[job]]\nname = \"a\"\ntraffic = \"imb:op=alltoall,bytes=64KiB\"\nnodes = 12\nplacement = \"random\"\n\
     [[job]]\ntraffic = \"imb:op=allreduce,bytes=1MiB\"\nnodes = 12\nplacement = \"random\"\n";

fn json(d: &Path, line: &str) -> Value {
    let run = run_in(d, &format!("{line} --format json -q"));
    assert_eq!(run.code, 0, "{line}: {}", run.err);
    run.json()
}

/// The mean times of runs of jobs that a scenario alone has.
fn alone(d: &Path, line: &str) -> Vec<f64> {
    let json = json(d, line);
    json["jobs"]
        .as_array()
        .expect("jobs")
        .iter()
        .map(|job| job["run_mean"].as_f64().expect("a time"))
        .collect()
}

/// The same of a scenario of a comparison, by its place.
fn compared(json: &Value, scenario: usize) -> Vec<f64> {
    let jobs = json["jobs"].as_array().expect("jobs").iter();
    jobs.map(|job| job["scenarios"][scenario]["run"]["mean"].as_f64().expect("a mean")).collect()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

#[test]
fn scenarios_side_by_side_have_the_figures_of_each_alone() {
    let other =
        SCENARIO.replace("updn", "dfsssp").replace("64KiB", "32KiB").replace("1MiB", "2MiB");
    let dir = folder(&[("a.toml", SCENARIO), ("b.toml", &other)]);
    let d = dir.path();
    // Files.
    let both = json(d, "simulate a.toml b.toml");
    let (a, b) = (alone(d, "simulate a.toml"), alone(d, "simulate b.toml"));
    assert_eq!((compared(&both, 0), compared(&both, 1)), (a.clone(), b.clone()));
    for (j, job) in both["jobs"].as_array().expect("jobs").iter().enumerate() {
        let percent = job["scenarios"][1]["difference"]["percent"].as_f64().expect("a difference");
        assert!(near(percent, 100.0 * (b[j] / a[j] - 1.0)), "{job}");
        assert_eq!(job["scenarios"][0]["difference"], Value::Null);
        assert_eq!(job["scenarios"][1]["run"]["ci_low"], Value::Null);
    }
    // Jobs without a name are called by their traffic, and are the same all the same.
    assert_eq!(both["jobs"][1]["job"], "imb:op=allreduce,bytes=1MiB | imb:op=allreduce,bytes=2MiB");
    let differs = both["scenarios"][1]["differs"].as_object().expect("keys");
    let keys: Vec<&str> = differs.keys().map(String::as_str).collect();
    assert_eq!(keys, ["job.1.traffic", "job.2.traffic", "routes.engine"]);
    // Values of a key, and both.
    let values = json(d, "simulate a.toml --set routes.engine=updn,dfsssp,nue --depth loggp");
    for (i, engine) in ["updn", "dfsssp", "nue"].into_iter().enumerate() {
        assert_eq!(values["scenarios"][i]["name"], engine);
        let one = format!("simulate a.toml --set routes.engine={engine} --set depth=loggp");
        assert_eq!(compared(&values, i), alone(d, &one), "{engine}");
    }
    let all = json(d, "simulate a.toml b.toml --set job.1.nodes=8,12");
    let names: Vec<&str> = all["scenarios"]
        .as_array()
        .expect("scenarios")
        .iter()
        .filter_map(|s| s["name"].as_str())
        .collect();
    assert_eq!(names, ["a: 8", "a: 12", "b: 8", "b: 12"]);
    assert_eq!(compared(&all, 3), b);
    // One value is a scenario as any other.
    let csv = |line: &str| run_in(d, &format!("{line} --format csv -q")).out;
    let changed = SCENARIO.replace(
        "nodes = 12\nplacement = \"random\"\n[[job]]",
        "nodes = 9\nplacement = \"random\"\n[[job]]",
    );
    std::fs::write(d.join("c.toml"), changed).expect("written");
    let set = csv("simulate a.toml --set job.1.nodes=9");
    assert!(set.lines().count() == 3 && set != csv("simulate a.toml"), "{set}");
    assert_eq!(set, csv("simulate c.toml"));
    let text = |line: &str| {
        run_in(d, &format!("{line} -q"))
            .out
            .lines()
            .skip(3)
            .take(4)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(text("simulate a.toml --set job.1.nodes=9"), text("simulate c.toml"));
}

#[test]
fn intervals_over_seeds_are_those_of_students_and_welchs() {
    let dir = folder(&[("a.toml", SCENARIO)]);
    let d = dir.path();
    let both = json(d, "simulate a.toml --set routes.engine=updn,dfsssp --seeds 5 --seed 3");
    assert_eq!(both["seeds"], serde_json::json!([3, 4, 5, 6, 7]));
    // By hand, from each run alone.
    let of = |engine: &str| -> Vec<Vec<f64>> {
        let one =
            |seed| alone(d, &format!("simulate a.toml --set routes.engine={engine} --seed {seed}"));
        (3..8).map(one).collect()
    };
    let (first, second) = (of("updn"), of("dfsssp"));
    let moments = |all: &[Vec<f64>], job: usize| {
        let times: Vec<f64> = all.iter().map(|times| times[job]).collect();
        let mean = times.iter().sum::<f64>() / 5.0;
        (mean, times.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / 4.0 / 5.0)
    };
    for job in 0..2 {
        let ((a, of_a), (b, of_b)) = (moments(&first, job), moments(&second, job));
        assert!(of_a > 0.0 && of_b > 0.0, "seeds change nothing");
        let shown = &both["jobs"][job]["scenarios"];
        let number = |path: &str| shown.pointer(path).and_then(Value::as_f64).expect("a number");
        assert!(near(number("/0/run/mean"), a) && near(number("/1/run/mean"), b), "{shown}");
        // 2.77645 is the quantile for four degrees of freedom.
        let half = number("/1/run/ci_high") - b;
        assert!((half / of_b.sqrt() - 2.776_45).abs() < 1e-3, "{half} {of_b}");
        let percent = number("/1/difference/percent");
        assert!(near(percent, 100.0 * (b - a) / a), "{percent}");
        // Between four and eight degrees of freedom: from 2.30600 to 2.77645.
        let half = (number("/1/difference/percent_high") - percent) / 100.0 * a;
        let t = half / (of_a + of_b).sqrt();
        assert!((2.305..2.7775).contains(&t), "{t}");
    }
    // Of seeds of one scenario, too.
    let one = json(d, "simulate a.toml --seeds 5 --seed 3");
    assert_eq!(one["jobs"][1]["scenarios"][0]["run"], both["jobs"][1]["scenarios"][0]["run"]);
    let text = run_in(d, "simulate a.toml --seeds 5 --seed 3").out;
    assert!(text.contains("seeds 3 to 7") && text.contains("Student's t)"), "{text}");
    assert!(!text.contains("difference"), "{text}");
    // The same bytes on any number of threads.
    let line =
        "simulate a.toml --set routes.engine=updn,dfsssp --seeds 3 --format csv -q --threads";
    assert_eq!(run_in(d, &format!("{line} 1")).out, run_in(d, &format!("{line} 3")).out);
}

#[test]
fn pictures_and_what_has_no_result() {
    let dir = folder(&[("a.toml", SCENARIO)]);
    let d = dir.path();
    let run = run_in(d, "simulate a.toml --set job.2.nodes=12,4000 --svg both.svg -q");
    assert_eq!(run.code, 4, "{}", run.err);
    assert!(
        run.out.contains("no result of 4000, seed 1:") && run.out.contains("finds no 4000 hosts"),
        "{}",
        run.out
    );
    let svg = std::fs::read_to_string(d.join("both.svg")).expect("drawn");
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"), "{svg}");
    // The page, two of the legend, the two jobs of the scenario that has hosts.
    assert_eq!(svg.matches("<rect").count(), 5);
    let csv = run_in(d, "simulate a.toml --set job.2.nodes=12,4000 --format csv -q").out;
    assert_eq!(csv.lines().count(), 1 + 2 * 2 + 1, "{csv}");
    assert_eq!(run_in(d, "simulate a.toml --set job.2.nodes=3000,4000 -q").code, 4);
}

#[test]
fn what_makes_no_sense_for_several_is_refused() {
    let study = format!("{SCENARIO}[study]\nseeds = 3\n");
    let listed = SCENARIO.replace("\"updn\"", "[\"updn\", \"nue\"]");
    let dir = folder(&[
        ("a.toml", SCENARIO),
        ("b.toml", SCENARIO),
        ("s.toml", &study),
        ("l.toml", &listed),
    ]);
    let run = |line: &str| run_in(dir.path(), line);
    for option in [
        "--isolated",
        "--resolved f",
        "-o f",
        "--steps f",
        "--pairs f",
        "--timeline f",
        "--channels f",
        "--html f",
        "--store f",
        "--progress",
    ] {
        let Run { code, err, .. } = run(&format!("simulate a.toml b.toml {option}"));
        let name = option.split(' ').next().expect("a name");
        assert_eq!(code, 2, "{option}: {err}");
        assert!(err.contains(&format!("{name} is for one scenario")), "{option}: {err}");
        assert!(!dir.path().join("f").exists(), "{option}");
    }
    for (line, code, words) in [
        ("simulate a.toml --svg f.svg", 2, "there is one"),
        ("simulate a.toml --set routes.engin=updn,nue", 2, "routes.engine"),
        ("simulate a.toml --set routes.engine=updn,updm", 3, "no engine is called 'updm'"),
        (
            "simulate a.toml --set routes.engine=updm",
            3,
            "a.toml: as set, not as in the file: routes",
        ),
        ("simulate a.toml --set depth=flow,loggp --depth flow", 2, "leave one out"),
        ("simulate a.toml --set depth=flow --set depth=loggp", 2, "set twice"),
        ("simulate a.toml --set seed=1,2 --seeds 3", 2, "--seeds"),
        ("simulate a.toml --set seed=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", 2, "more than 16"),
        ("simulate s.toml a.toml", 3, "darkfiber study run s.toml"),
        ("simulate l.toml --set hosts=qdr", 3, "routes.engine is a list"),
        ("simulate a.toml none.toml", 3, "none.toml"),
        ("simulate", 2, "SCENARIO"),
    ] {
        let run = run(line);
        assert_eq!(run.code, code, "{line}: {}", run.err);
        assert!(run.err.contains(words), "{line}: {}", run.err);
    }
    // Scenarios of one name are distinguished.
    let names = run("simulate a.toml a.toml b.toml --format csv -q").out;
    for name in ["a (a.toml)", "a (a.toml) #2", ",b,"] {
        assert!(names.contains(name), "{name}: {names}");
    }
}

//! `darkfiber measure`, `optimise` and `reproduce`.

use insta::assert_snapshot;

use crate::{folder, run, run_in};

#[test]
fn engines_side_by_side() {
    let line = "measure fattree2:n=4,m=4,r=6 -e dmodk -e opt --metric worst,abb,ebb --samples 200";
    let result = run(line);
    assert_eq!((result.code, result.err.as_str()), (0, ""));
    // The second column is a time.
    let rows: Vec<Vec<&str>> = result
        .out
        .lines()
        .filter(|l| ["dmodk ", "opt ", "(at most)"].iter().any(|name| l.starts_with(name)))
        .map(|l| l.split_whitespace().collect())
        .collect();
    assert_eq!(rows[0][3..], ["4", "0.5758", "0.8833"]);
    assert_eq!(rows[1][3..], ["2", "0.5550", "0.8404"]);
    assert_eq!(rows[2][2..], ["1.0000"]);
    assert!(result.out.contains("dmodk: 4 flows on leaf001 port 5 -> spine001 port 1"));
    assert!(result.out.contains("200 random samples, 99 % confidence intervals"));
}

#[test]
fn patterns_side_by_side() {
    let line = "measure kary:k=4,n=2 -e dmodk -e smodk --pattern shift --pattern incast:to=3 \
                --metric share,fair_rate";
    assert_snapshot!(run(line).out, @r"
    kary:k=4,n=2: 8 switches, 16 terminals, 16 switch links; 2-level tree, switches by level 4 + 4
    16 terminals take part

    shift      phases or  fullest        share    fair
                 samples     mean  max            rate
    ---------- ---------- -------- ---- ------- -------
    dmodk             15     1.00    1  1.0000  1.0000
    smodk             15     1.00    1  1.0000  1.0000
    (at most)                           1.0000

    incast:to=3  phases or  fullest        share    fair
                   samples     mean  max            rate
    ------------ ---------- -------- ---- ------- -------
    dmodk                1     15.0   15  0.0667  0.0667
    smodk                1     15.0   15  0.0667  0.0667
    (at most)                             0.0667
    ");
}

#[test]
fn keys_that_scripts_rely_on() {
    let line = "measure fattree2:n=3,m=4,r=4 -e opt -e torus --metric worst,abb,afpb,adb,ebb,fair,finish \
                --samples 100 --pattern tornado --format json";
    let json = run(line).json();
    let opt = &json["engines"][0];
    assert_eq!((&opt["engine"], &opt["worst"]), (&"opt".into(), &2.into()));
    assert_eq!(opt["worst_pairs"].as_array().map(Vec::len), Some(2));
    for metric in ["abb", "afpb", "adb", "ebb", "fair", "finish"] {
        let e = &opt[metric];
        let [low, mean, high] = ["ci_low", "mean", "ci_high"].map(|k| e[k].as_f64().expect(k));
        assert!(low <= mean && mean <= high && mean <= 1.0, "{metric}: {e}");
        assert_eq!((&e["samples"], &e["confidence"]), (&100.into(), &0.99.into()));
    }
    let tornado = &opt["patterns"][3];
    assert_eq!((&tornado["pattern"], &tornado["share"]["samples"]), (&"tornado".into(), &1.into()));
    assert_eq!(tornado["share"]["confidence"], 1.0);
    assert!(json["engines"][1]["refused"].is_string());
    let csv = run("measure kary:k=2,n=2 -e dmodk --metric worst --pattern ring --format csv").out;
    assert!(csv.starts_with("engine,pattern,metric,value"), "{csv}");
    assert!(csv.contains("dmodk,ring,share,1,1,1,1,"), "{csv}");
}

#[test]
fn tables_are_measured_as_engines_are() {
    let dir = folder(&[]);
    let d = dir.path();
    let spec = "fattree2:n=4,m=4,r=6";
    assert_eq!(run_in(d, &format!("route {spec} -e opt -o out -q")).code, 0);
    let json = run_in(d, &format!("measure {spec} -e opt --routes out --format json -q")).json();
    let [a, b] = [0, 1].map(|i| json["engines"][i].clone());
    for key in ["worst", "abb", "afpb", "adb", "ebb"] {
        assert!(!a[key].is_null() && a[key] == b[key], "{key}: {} {}", a[key], b[key]);
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let line = "measure dragonfly:p=2,a=4,h=2 -e dfsssp --pattern adversarial --metric abb,worst,fair_rate";
    let of = |threads: u8| {
        let mut json = run(&format!("{line} --format json --threads {threads}")).json();
        json["seconds"] = 0.into();
        json
    };
    assert_eq!(of(1), of(2));
}

#[test]
fn some_of_the_terminals_and_pairs_from_a_file() {
    let dir = folder(&[
        ("pairs", "# two on one leaf, two across\nh1-1 h1-2\n2 h2-1 # by number\n"),
        ("nodes", "h1-1 h1-2\nh2-1\n"),
        ("wrong", "h1-1 nobody\n"),
        ("half", "h1-1\n"),
    ]);
    let d = dir.path();
    let named = run_in(d, "fabric fattree2:n=2,m=2,r=3 --to edges -q");
    assert_eq!(named.code, 0);
    let first = run_in(
        d,
        "measure fattree2:n=2,m=2,r=3 -e dmodk --pattern permutation --among 0-3 --format json",
    );
    assert_eq!(first.json()["participants"], 4);
    for (line, code, text) in [
        ("--pattern wrong", 3, "wrong: line 1: there is no host"),
        ("--pattern half", 3, "half: line 1: 1 words, not two"),
        ("--among 0-99", 3, "--among: there is no host '0-99'"),
        ("--pattern shift --among 2", 4, "shift needs two terminals or more; there are 1"),
        ("--pattern bit-reverse", 4, "--among 0-3 takes 4 of them"),
        ("--among 0-4", 4, "--among 0-3 takes 4 of them"),
        ("--pattern shit", 2, "did you mean shift"),
        ("--pattern shift:buy=2", 2, "did you mean by"),
        ("--metric wurst", 2, "did you mean worst"),
        ("--metric share", 2, "share of what? --pattern is missing"),
        ("--pattern adversarial", 4, "group=16"),
        ("--precision 0", 2, "a number above 0"),
    ] {
        let result = run_in(d, &format!("measure fattree2:n=2,m=2,r=3 -e dmodk {line}"));
        assert_eq!(result.code, code, "{line}: {}", result.err);
        assert!(result.err.contains(text), "{line}: {}", result.err);
        assert!(result.out.is_empty(), "{line}");
    }
    assert_eq!(run_in(d, "measure fattree2:n=2,m=2,r=3").code, 2);
}

#[test]
fn pictures_show_the_pattern() {
    let dir = folder(&[]);
    let d = dir.path();
    let line =
        "measure hyperx:dims=3x3,t=2 -e dfsssp -e nue --pattern bisect --samples 50 --svg load.svg";
    assert_eq!(run_in(d, line).code, 0);
    let svg = std::fs::read_to_string(d.join("load.svg")).expect("written");
    for text in ["dfsssp", "nue", "bisect among 18 terminals", "by coordinates", "mean flows"] {
        assert!(svg.contains(text), "{text}");
    }
    assert_eq!(run_in(d, "measure kary:k=2,n=2 -e dmodk --metric worst --svg x.svg").code, 2);
    assert!(!d.join("x.svg").exists());
}

#[test]
fn searches_beat_rules_or_say_that_they_do_not() {
    let dir = folder(&[]);
    let d = dir.path();
    let won =
        run_in(d, "optimise fattree2:n=7,m=7,r=8 --for worst --steps 2000 -o out --format json -q");
    assert_eq!(won.code, 0, "{}", won.err);
    let json = won.json();
    assert_eq!((&json["better"], &json["engines"][0]["worst"]), (&true.into(), &3.into()));
    let again =
        run_in(d, "measure fattree2:n=7,m=7,r=8 --routes out --metric worst --format json -q");
    assert_eq!(again.json()["worst"], 3);
    let lost = run_in(d, "optimise fattree2:n=4,m=4,r=8 --for worst --steps 2000 -o none -q");
    assert_eq!(lost.code, 4);
    assert!(lost.out.contains("nothing better found"), "{}", lost.out);
    assert!(!d.join("none").exists());
    let torus = run("optimise torus:dims=4x4,t=1 --for abb");
    assert_eq!(torus.code, 4);
    assert!(torus.err.contains("needs a fat-tree"), "{}", torus.err);
    assert_eq!(run("optimise kary:k=2,n=2").code, 2);
}

#[test]
fn experiments_are_listed_and_run() {
    let list = run("reproduce");
    for id in ["OPT-T1", "OPT-T2", "OPT-TXT", "OPT-TH"] {
        assert!(list.out.contains(id), "{}", list.out);
    }
    let one = run("reproduce opt-t1 --format json");
    assert_eq!(one.code, 0, "{}", one.err);
    let json = one.json();
    assert_eq!((&json["id"], &json["verdict"]), (&"OPT-T1".into(), &"reproduced".into()));
    let row = &json["rows"][0];
    assert_eq!(row["quantity"], "T(9+9,18) WORST of OPT");
    assert_eq!(
        (&row["paper"], &row["ours"], &row["within"]),
        (&3.0.into(), &3.0.into(), &true.into())
    );
    let unknown = run("reproduce OPT-T9");
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("no experiment is called 'OPT-T9'"), "{}", unknown.err);
}

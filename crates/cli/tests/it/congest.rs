//! `darkfiber congest`: results, stored runs, and refusals.

use std::fs;

use insta::assert_snapshot;

use crate::{Run, folder, run_in};

fn congest(line: &str) -> Run {
    run_in(folder(&[]).path(), &format!("congest {line} -q"))
}

const SMALL: &str = "dragonfly:p=2,a=4,h=2,g=4,gbps=200 --warmup 100us --limit 5ms --iterations 20";

#[test]
fn control_keeps_victims_from_harm() {
    let line = format!("{SMALL} --victims allreduce:8B,silo:service=2us --aggressors incast");
    let run = congest(&format!("{line} --split 50 --place interleaved --format json"));
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let json = run.json();
    let cells = json["cells"].as_array().expect("a list");
    assert_eq!(cells.len(), 4);
    let of = |congestion: &str, victim: &str| {
        let is = |c: &&serde_json::Value| c["congestion"] == congestion && c["victim"] == victim;
        cells.iter().find(is).expect("a cell").clone()
    };
    let impact = |c: &serde_json::Value| c["impact"].as_f64().expect("a number");
    let none = of("none", "allreduce:8B");
    let pairs = of("pairs", "allreduce:8B");
    assert!(impact(&none) > 1.5 * impact(&pairs), "{none} {pairs}");
    for c in cells {
        let (alone, beside) = (&c["isolated"]["mean"], &c["congested"]["mean"]);
        let ratio = beside.as_f64().expect("a number") / alone.as_f64().expect("a number");
        assert!((impact(c) - ratio).abs() < 1e-9);
        assert_eq!((&c["victim_nodes"], &c["aggressor_nodes"]), (&16.into(), &16.into()));
    }
    assert_eq!(of("none", "silo:service=2us")["timed"], "requests");
    let one = congest(&format!("{line} --split 50 --format csv --threads 1"));
    let two = congest(&format!("{line} --split 50 --format csv --threads 2"));
    assert_eq!(one.out, two.out);
    assert_eq!(one.out.lines().count(), 5);
}

#[test]
fn tables_say_what_did_not_settle_and_what_did_not_run() {
    let run = congest(&format!(
        "{SMALL} --victims milc,barrier,halo3d:iterations=100000 --aggressors incast --split 15/16 --congestion none"
    ));
    assert_eq!(run.code, 0, "{}", run.err);
    let cell = |name: &str| run.out.lines().find(|l| l.starts_with(name)).unwrap_or("").to_owned();
    assert!(cell("milc").ends_with('-'), "{}", run.out);
    assert!(run.out.contains("milc on 15 beside incast on 16: milc needs a power of two of ranks"));
    assert!(run.out.contains("the victim alone does not end within --limit"), "{}", run.out);
    assert!(cell("barrier").trim_end().ends_with(|c: char| c.is_ascii_digit() || c == '*'));
}

#[test]
fn runs_with_classes_of_their_own_are_kept_apart() {
    let dir = folder(&[]);
    let line = format!(
        "congest {SMALL} -q --victims alltoall:8KiB --aggressors incast --split 8/8 --congestion none,none+classes --format csv"
    );
    let plain = run_in(dir.path(), &line).out;
    let rows: Vec<&str> = plain.lines().skip(1).collect();
    assert_ne!(rows[0].replace("none", ""), rows[1].replace("none+classes", ""), "{plain}");
    for _ in 0..2 {
        assert_eq!(run_in(dir.path(), &format!("{line} --store kept")).out, plain);
    }
}

#[test]
fn runs_that_are_kept_are_not_run_again() {
    let dir = folder(&[]);
    let line = format!(
        "congest {SMALL} -q --victims barrier --aggressors incast,bursts:burst=10,gap=5us --split 8/8 --congestion none \
         --store there -o results --svg heat.svg --format csv"
    );
    let first = run_in(dir.path(), &line);
    assert_eq!((first.code, first.err.as_str()), (0, ""));
    let kept = || {
        let all = fs::read_dir(dir.path().join("there")).expect("a folder");
        let mut names: Vec<_> = all.map(|e| e.expect("an entry").path()).collect();
        names.sort();
        names
    };
    let files = kept();
    assert_eq!(files.len(), 3, "the victim alone once");
    // Stored results are not written again.
    let written = || -> Vec<_> {
        let time = |file| fs::metadata(file).and_then(|m| m.modified()).expect("a file");
        kept().into_iter().map(time).collect()
    };
    let before = written();
    let second = run_in(dir.path(), &line);
    assert_eq!((&second.out, kept(), written()), (&first.out, files.clone(), before.clone()));
    // An altered file is not used: that is reported, and it is run again.
    let text = fs::read_to_string(&files[0]).expect("a file");
    let altered = text.replace("settled\\\":true", "settled\\\":false");
    for damaged in [altered.as_str(), "{", "", &text[..text.len() / 2]] {
        fs::write(&files[0], damaged).expect("a file");
        let again = run_in(dir.path(), &line);
        assert_eq!((again.code, &again.out), (0, &first.out), "{}", again.err);
        let name = files[0].file_name().expect("a name").to_string_lossy().into_owned();
        for words in [&name, "it is cut or altered", "it is run again"] {
            assert!(again.err.contains(words), "{words}: {}", again.err);
        }
        assert_eq!(fs::read_to_string(&files[0]).expect("a file"), text);
    }
    fs::remove_file(&files[0]).expect("removed");
    let again = run_in(dir.path(), &line);
    assert_eq!((again.out, fs::read_to_string(&files[0]).expect("a file")), (first.out, text));
    assert_eq!(written()[1..], before[1..]);
    // Another seed is another run.
    let third = run_in(dir.path(), &format!("{line} --seed 2"));
    assert_eq!((third.code, kept().len()), (0, 6));
    for (name, what) in [
        ("heat.svg", "bursts:burst=10,gap=5us"),
        ("results/heat.svg", "barrier"),
        ("results/violins.svg", "none"),
        ("results/times.svg", "alone on 8"),
        ("results/congest.json", "\"impact\""),
        ("results/congest.csv", "isolated_mean"),
        ("results/times.csv", "barrier,incast,none,four-ways,linear,8,8,"),
    ] {
        let text = fs::read_to_string(dir.path().join(name)).expect(name);
        assert!(text.contains(what) && !text.contains("NaN"), "{name}");
    }
}

#[test]
fn what_is_wrong_is_told() {
    let bare = |line: &str| {
        let run = congest(&format!("dragonfly:p=2,a=4,h=2,g=4 {line}"));
        assert!(run.out.is_empty(), "{}", run.out);
        format!("{}: {}", run.code, run.err.trim())
    };
    let message_of = |line: &str| bare(&format!("--warmup 100us --limit 5ms {line}"));
    assert_snapshot!(message_of("--victims alreduce:8B"), @"
    2: error: no victim is called 'alreduce'
    hint: did you mean one of allreduce, reduce?
    ");
    assert_snapshot!(message_of("--aggressors incst"), @"
    2: error: no aggressor is called 'incst'
    hint: did you mean incast?
    ");
    assert_snapshot!(message_of("--aggressors bursts:burst=0"), @"
    2: error: bursts: burst=0: expected a whole number from 1 to 10000000
    hint: `darkfiber list traffic` shows what there is
    ");
    assert_snapshot!(message_of("--victims allreduce:lots"), @"
    2: error: imb: bytes=lots: expected bytes, at most 1TiB, e.g. 64, 64KiB, 1MiB, 0.5GiB
    hint: `darkfiber list traffic` shows what there is
    ");
    assert_snapshot!(message_of("--split 30/3"), @"
    4: error: 30/3 are more than the 32 hosts that take part
    hint: give --split as VICTIM/AGGRESSOR, or --nodes
    ");
    assert_snapshot!(message_of("--split 0"), @"2: error: split: 0 must be above 0 and below 100 percent, so that both have hosts");
    assert_snapshot!(message_of("--split most"), @"
    2: error: split: most is neither a share nor VICTIM/AGGRESSOR
    hint: 90 gives the victim 90 % of the hosts; 460/52 gives it 460, the aggressor 52
    ");
    assert_snapshot!(message_of("--nodes 33"), @"
    4: error: 33 hosts are asked for; the fabric has 32 that run jobs
    hint: give --split as VICTIM/AGGRESSOR, or --nodes
    ");
    assert_snapshot!(message_of("--congestion pair"), @"
    2: error: no congestion control is called 'pair'
    hint: did you mean pairs?
    ");
    assert_snapshot!(message_of("--routing ugall"), @"
    2: error: no routing is called 'ugall'
    hint: did you mean ugal?
    ");
    assert_snapshot!(message_of("--place liner"), @"
    2: error: no allocator is called 'liner'
    hint: did you mean linear?
    ");
    assert_snapshot!(message_of("--hosts slingshoot"), @"
    2: error: no kind of hosts is called 'slingshoot'
    hint: did you mean slingshot?
    ");
    assert_snapshot!(message_of("--victims barrier,barrier"), @"2: error: victim barrier is given twice");
    assert_snapshot!(message_of("--victims milc --split 15/16"), @"4: error: milc needs a power of two of ranks; there are 15 ranks: take 8 or 16");
    assert_snapshot!(bare("--limit 0s"), @"
    2: error: --limit and --warmup must be at most 1000 s, and --limit above 0
    hint: 50ms is some: packets take minutes for a second
    ");
    assert_snapshot!(bare("--warmup soon"), @r#"2: error: --warmup: "soon" is no time: write a number and a unit, for example 100ms, 1.2us or 3h"#);
    assert_snapshot!(message_of("--routing dal --split 8/8"), @"4: error: dal needs a whole HyperX");
}

/// A scheme with parameters is another one, and each row has its own; scenarios take the same text.
#[test]
fn schemes_have_parameters() {
    let line = format!("{SMALL} --victims alltoall:8KiB --aggressors incast --split 8/8");
    let run = congest(&format!(
        "{line} --congestion reserve:first=1/4,notes=priced,reserve,ecn:kmin=2us --format json"
    ));
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let json = run.json();
    let of = |name: &str| {
        let mut cells = json["cells"].as_array().expect("a list").iter();
        let cell = cells.find(|c| c["congestion"] == name).unwrap_or_else(|| panic!("{name}"));
        cell["isolated"]["mean"].as_f64().expect("a number")
    };
    let times = ["reserve:first=1/4,notes=priced", "reserve", "ecn:kmin=2us"].map(of);
    assert!(times.iter().all(|&t| t > 0.0), "{times:?}");
    assert_ne!(times[0].to_bits(), times[1].to_bits(), "{times:?}");
    let refused = congest(&format!("{line} --congestion reserve:firsts=1"));
    assert_ne!(refused.code, 0);
    let known = "has no parameter";
    assert!(refused.err.contains("firsts") || refused.err.contains(known), "{}", refused.err);
}

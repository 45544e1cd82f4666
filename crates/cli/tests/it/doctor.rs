//! `darkfiber doctor`: problems area by area, and what to do.

use std::path::Path;

use insta::assert_snapshot;

use crate::{folder, run, run_in};

#[test]
fn a_fabric_alone() {
    let found = run("doctor fattree2:n=6,m=6,r=12");
    assert_eq!(found.code, 0, "{}", found.err);
    assert_snapshot!(found.out, @r#"
    fattree2:n=6,m=6,r=12: 18 switches, 72 terminals, 72 switch links; 2-level tree, switches by level 12 + 6

    cabling     ok       144 cables, as generated
    speeds      ok       144 cables, none slower than those like it (4xHDR)
    names       ok       72 hosts, each with a name of its own

    not looked at:
      LIDs: the file has no LIDs; ibnetdiscover prints them
      routes, deadlock, balance, dark fiber: give --routes: OpenSM's lfts dump, or its dump directory
      bad cables: give --counters: what ibqueryerrors or perfquery printed
      hot cables: give --counters: perfquery -x of all ports, before and after
      jobs: give --routes and --jobs: squeue, scontrol, a PBS list
    "#);
}

/// A tree with bad tables, a slow cable, a bad cable that two jobs cross.
#[test]
fn a_bad_morning() {
    let dir = folder(&[(
        "jobs",
        "cn0001 1\ncn0009 1\ncn0013 1\ncn0002 2\ncn0008 2\ncn0005 3\ncn0006 3\n",
    )]);
    assert_eq!(run_in(dir.path(), "fabric kary:k=4,n=2 -o whole.topo").code, 0);
    assert_eq!(run_in(dir.path(), "route whole.topo -e minhop -o t --seed 3").code, 0);
    let text = std::fs::read_to_string(dir.path().join("whole.topo")).expect("a dump");
    let guid = |line: &str| {
        let start = line.find("\"S-").expect("a switch") + 3;
        line[start..start + 16].to_owned()
    };
    let first = guid(text.lines().find(|l| l.starts_with("Switch")).expect("a switch"));
    let errors = format!(
        "Errors for 0x{first} \"leaf001\"\n   GUID 0x{first} port 5: [SymbolErrorCounter == 65535]\n"
    );
    std::fs::write(dir.path().join("errors"), errors).expect("written");
    let found = run_in(dir.path(), "doctor whole.topo --routes t --jobs jobs --counters errors");
    assert_eq!(found.code, 1, "{}", found.err);
    assert_snapshot!(found.out, @r#"
    whole: 8 switches, 16 terminals, 16 switch links; two-level fat-tree, 4 leaves, 4 spines

    cabling     ok       32 cables; they make a complete two-level fat-tree, 4 leaves, 4 spines
    speeds      ok       32 cables, none slower than those like it (4xHDR)
    names       ok       16 hosts, each with a name of its own
    routes      ok       all 240 pairs reach, in 2.60 hops in the mean
    deadlock    ok       no cyclic channel dependency in 1 lane
    balance     ok       the fullest channel has 12 routes; ftree would have 12
    dark fiber  ok       0.0 % of 32 channels between switches carry no route
    bad cables  ERROR    1 cable has too many symbol errors, crossed by 1 job: leaf001 port 5 to spine001 port 1 (jobs 1)
                         -> replace them; until then `darkfiber reroute --fail FILE` leads routes around them
    jobs        ok       3 jobs, 2 on several switches, 2 of their routes on the fullest channel; no two share a channel

    not looked at:
      LIDs: the file has no LIDs; ibnetdiscover prints them
      hot cables: no file of --counters says what ports carried (perfquery -x)
    "#);
    // Routes are not led around the cable of a host; a table says as much as ibqueryerrors does.
    for (port, advice) in [
        (5, "until then `darkfiber reroute --fail FILE` leads routes around them"),
        (1, "replace them: routes cannot be led around the cable of a host's port"),
    ] {
        let table = format!("guid,port,SymbolErrorCounter\n0x{first},{port},65535\n");
        std::fs::write(dir.path().join("errors.csv"), table).expect("written");
        let found = run_in(dir.path(), "doctor whole.topo --routes t --counters errors.csv");
        assert!(found.code == 1 && found.out.contains(advice), "{}{}", found.out, found.err);
    }
    let csv = run_in(dir.path(), "doctor whole.topo --format csv");
    assert!(csv.out.starts_with("area,verdict,message,action\ncabling,ok,"), "{}", csv.out);
}

#[test]
fn a_slow_cable_and_a_lid_twice() {
    let dir = folder(&[]);
    assert_eq!(run_in(dir.path(), "fabric kary:k=4,n=2 -o whole.topo").code, 0);
    assert_eq!(run_in(dir.path(), "route whole.topo -e minhop -o t").code, 0);
    let text = std::fs::read_to_string(dir.path().join("t/fabric.topo")).expect("a dump");
    // One cable trains at another rate, as both of its ends print.
    let cable = "\"leaf001\"";
    assert!(text.contains(cable), "{text}");
    let slow = text.replacen("4xHDR", "1xSDR", 1).replace("lid 5 ", "lid 6 ");
    std::fs::write(dir.path().join("slow.topo"), slow).expect("written");
    let found = run_in(dir.path(), "doctor slow.topo");
    assert_snapshot!(found.out, @r#"
    slow: 8 switches, 16 terminals, 16 switch links; two-level fat-tree, 4 leaves, 4 spines

    cabling     warning  the input is incomplete (1 line left out or guessed), for example line 18: the ends of a cable differ: port 1 of "cn0001 HCA-1" says 1xSDR, port 1 of "leaf001" says 4xHDR
                         -> the reader's remarks name the lines; make a new dump if in doubt
    speeds      warning  1 cable is slower than those like it: leaf001 port 1 to cn0001: 1xSDR instead of 4xHDR
                         -> reseat or replace them; `ibportstate` shows supported and enabled widths and speeds
    names       ok       16 hosts, each with a name of its own
    LIDs        ERROR    1 taken twice: cn0006: LID 6 is of cn0005, too
                         -> two subnets in one file, or two subnet managers: `sminfo` shows who is master

    not looked at:
      routes, deadlock, balance, dark fiber: give --routes: OpenSM's lfts dump, or its dump directory
      bad cables: give --counters: what ibqueryerrors or perfquery printed
      hot cables: give --counters: perfquery -x of all ports, before and after
      jobs: give --routes and --jobs: squeue, scontrol, a PBS list
    "#);
}

#[test]
fn files_that_say_nothing_are_refused() {
    let dir = folder(&[("nothing", "some words\n")]);
    let found = run_in(dir.path(), "doctor kary:k=4,n=2 --counters nothing");
    assert_eq!(found.code, 3, "{}", found.out);
    assert!(found.err.contains("nothing"), "{}", found.err);
}

#[test]
fn many_slow_cables_are_no_faults_of_single_ones() {
    let dir = folder(&[]);
    assert_eq!(run_in(dir.path(), "fabric kary:k=4,n=2 -o whole.topo").code, 0);
    let text = std::fs::read_to_string(dir.path().join("whole.topo")).expect("a dump");
    let of_spines = |line: &str| line.contains("spine001") || line.contains("spine002");
    let mut inside = false;
    let slow: Vec<String> = (text.lines())
        .map(|line| {
            if line.starts_with("Switch") || line.starts_with("Ca") {
                inside = of_spines(line);
            }
            let is_slow = inside || of_spines(line);
            if is_slow { line.replace("4xHDR", "4xFDR") } else { line.to_owned() }
        })
        .collect();
    std::fs::write(dir.path().join("mixed.topo"), slow.join("\n") + "\n").expect("written");
    let found = run_in(dir.path(), "doctor mixed.topo").out;
    let speeds = found.lines().find(|line| line.starts_with("speeds")).expect("a line");
    assert!(speeds.contains("note") && speeds.contains("8 4xHDR and 8 4xFDR"), "{found}");
}

/// OpenSM may give service levels that nobody has told the program.
#[test]
fn a_cycle_in_lane_0_alone_is_a_warning_until_levels_are_given() {
    let dir = folder(&[]);
    let torus = "torus:dims=5x5,t=1";
    assert_eq!(run_in(dir.path(), &format!("route {torus} -e dfsssp -o t -q")).code, 0);
    let line = format!("doctor {torus} --routes t/lfts.dump");
    let unknown = run_in(dir.path(), &line);
    let verdict = |out: &str| {
        let line = out.lines().find(|line| line.starts_with("deadlock")).expect("a line");
        line.split_whitespace().nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!((unknown.code, verdict(&unknown.out)), (0, "warning".to_owned()));
    let known = run_in(dir.path(), &format!("{line} --sl t/path-sl"));
    assert_eq!((known.code, verdict(&known.out)), (0, "ok".to_owned()));
}

#[test]
fn a_fabric_of_one_switch_is_called_that() {
    let dir = folder(&[("one.edges", "host a s0\nhost b s0\n")]);
    let run = run_in(dir.path(), "doctor one.edges");
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(run.out.contains("2 cables, all on one switch"), "{}", run.out);
}

/// `doctor` names what a damaged fabric lacks, whatever file it is read from; cables that were taken away are not called generated.
#[test]
fn a_damaged_fabric_in_any_form() {
    let dir = folder(&[]);
    let d = dir.path();
    let line = "fabric hyperx:dims=4x4,t=2 --fail-links 3 -q -o";
    for file in ["f.topo", "f.json"] {
        assert_eq!(run_in(d, &format!("{line} {file}")).code, 0);
        let found = run_in(d, &format!("doctor {file}"));
        assert!(found.out.contains("missing for a complete"), "{file}: {}", found.out);
    }
    let found = run("doctor hyperx:dims=3x3,t=2 --fail-links 3 -q");
    assert!(found.out.contains("33 cables of those generated"), "{}", found.out);
}

/// Counters most of which ran backwards are of files out of order, or were cleared: cables are not called cool by them.
#[test]
fn counters_out_of_order_are_no_good_news() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/counters");
    let dir = folder(&[]);
    let of = |first: &str, second: &str| {
        let path = |name: &str| data.join(name).display().to_string();
        let (fabric, first, second) = (path("fabric.topo"), path(first), path(second));
        let run = run_in(
            dir.path(),
            &format!("doctor {fabric} --counters {first} {second} --format json -q"),
        );
        let exams = run.json()["exams"].as_array().expect("exams").clone();
        let hot = exams.into_iter().find(|exam| exam["area"] == "hot-cables");
        hot.expect("it is looked at")["verdict"].as_str().expect("a word").to_owned()
    };
    assert_eq!(of("perfquery-before.txt", "perfquery-after.txt"), "good");
    assert_eq!(of("perfquery-after.txt", "perfquery-before.txt"), "warning");
}

/// A set that says that it has one lane says all about lanes: then a cycle is certain.
#[test]
fn a_cycle_in_a_set_of_one_lane_is_an_error() {
    let dir = folder(&[]);
    let d = dir.path();
    let routed = run_in(d, "route torus:dims=5x5,t=2 -e minhop --allow-deadlock -o set -q");
    assert!(d.join("set/lfts.dump").exists(), "{}", routed.err);
    let verdict = |tables: &str| {
        let run = run_in(d, &format!("doctor torus:dims=5x5,t=2 --routes {tables} -q"));
        let line = run.out.lines().find(|line| line.starts_with("deadlock")).unwrap_or_default();
        (run.code, line.split_whitespace().nth(1).unwrap_or_default().to_owned())
    };
    assert_eq!(verdict("set"), (1, "ERROR".to_owned()));
    std::fs::copy(d.join("set/lfts.dump"), d.join("lfts.dump")).expect("copied");
    assert_eq!(verdict("lfts.dump"), (0, "warning".to_owned()));
}

/// Adapters of the other plane are no fault of this one, and planes have LIDs of their own.
#[test]
fn planes_are_healthy_alone_and_together() {
    let dir = folder(&[]);
    let d = dir.path();
    let fabric = "fattree2:n=2,m=2,r=4,planes=2";
    for plane in [1, 2] {
        let wrote = run_in(d, &format!("route {fabric} --plane {plane} -e updn -o p{plane} -q"));
        assert_eq!(wrote.code, 0, "{}", wrote.err);
        for of in
            [format!("{fabric} --plane {plane}"), format!("p{plane}/fabric.topo --routes p{plane}")]
        {
            let run = run_in(d, &format!("doctor {of} -q"));
            assert_eq!(run.code, 0, "{of}: {}{}", run.out, run.err);
        }
    }
    // Both in one file: every LID is there twice, once a plane.
    let both = ["p1", "p2"]
        .map(|p| std::fs::read_to_string(d.join(p).join("fabric.topo")).expect("written"));
    std::fs::write(d.join("both.topo"), both.concat()).expect("written");
    let run = run_in(d, "doctor both.topo -q");
    assert!(run.out.contains("LIDs        ok"), "{}{}", run.out, run.err);
}

/// Which cables a random graph lacks nobody knows, but where.
#[test]
fn a_random_graph_that_lacks_cables_is_not_complete() {
    let dir = folder(&[]);
    let d = dir.path();
    for (lost, said) in [(0, "they make a complete random-looking"), (4, "4 cables with ends at")] {
        let fabric = format!("fabric jellyfish:n=16,d=4,p=2 --fail-links {lost} -o f.topo -q");
        assert_eq!(run_in(d, &fabric).code, 0);
        let run = run_in(d, "doctor f.topo -q");
        assert!(run.out.contains(said), "{}", run.out);
    }
}

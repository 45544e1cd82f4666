//! `darkfiber route` and `darkfiber check`.

use insta::assert_snapshot;
use serde_json::Value;

use crate::{PAIR, folder, run, run_in};

fn keys_are_there(json: &Value) {
    for key in [
        "engine",
        "seconds",
        "pairs",
        "unreachable",
        "loops",
        "layers",
        "deadlock_free",
        "dark_fiber_percent",
    ] {
        assert!(!json[key].is_null(), "{key}: {json}");
    }
    for key in ["mean", "max"] {
        assert!(json["hops"][key].is_number(), "hops.{key}");
    }
    for key in ["max", "mean", "min", "stddev"] {
        assert!(json["efi"][key].is_number(), "efi.{key}");
    }
}

#[test]
fn one_engine_is_one_object() {
    let result = run("route hyperx:dims=3x3,t=2 -e dfsssp --format json");
    assert_eq!((result.code, result.err.as_str()), (0, ""));
    let json = result.json();
    keys_are_there(&json);
    assert_eq!(json["engine"], "dfsssp");
    assert_eq!(json["pairs"], 18 * 17);
    assert_eq!(json["fabric"]["switches"], 9);
}

#[test]
fn several_engines_are_a_list() {
    let json = run("route kary:k=3,n=2 -e minhop -e ftree -e dor --format json").json();
    let engines = json["engines"].as_array().expect("a list");
    assert_eq!(engines.len(), 3);
    keys_are_there(&engines[0]);
    keys_are_there(&engines[1]);
}

#[test]
fn csv_has_a_line_an_engine() {
    let csv = run("route torus:dims=5,t=1 -e minhop -e ftree --format csv").out;
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 3, "{csv}");
    let columns = lines[0].split(',').count();
    assert!(lines[1].starts_with("minhop,") && lines[1].split(',').count() == columns);
    assert!(lines[2].starts_with("ftree,"));
}

#[test]
fn the_table_shows_engines_side_by_side() {
    let result = run("route torus:dims=5,t=1 -e minhop -e dfsssp");
    // A cycle is no fault of an engine that promises nothing.
    assert_eq!(result.code, 0);
    let no_time: Vec<String> = result
        .out
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(no_time[0], "torus:dims=5,t=1: 5 switches, 5 terminals, 5 switch links; 5 torus");
    assert!(
        no_time[5].starts_with("minhop ")
            && no_time[5].ends_with("all 20 2.50 3 1 NO 3 3.00 0.00 0 %"),
        "{}",
        no_time[5]
    );
    assert!(no_time[6].contains(" 2 yes "), "{}", no_time[6]);
}

#[test]
fn a_chain_falls_back_and_says_why() {
    let result = run("route torus:dims=5,t=1 -e dmodk+dfsssp --format json");
    assert_eq!(result.code, 0);
    let json = result.json();
    assert_eq!(json["engine"], "dfsssp");
    assert_eq!(json["chain"], serde_json::json!(["dmodk", "dfsssp"]));
    assert_eq!(json["refusals"][0]["engine"], "dmodk");
    let table = run("route torus:dims=5,t=1 -e dmodk+dfsssp").out;
    assert!(table.contains("dmodk refused, so dfsssp routed: "), "{table}");
}

#[test]
fn if_nobody_can_route_the_code_is_4() {
    let result = run("route torus:dims=5,t=1 -e dmodk --format json");
    assert_eq!(result.code, 4);
    assert!(result.json()["refused"].is_string());
    assert_eq!(run("route torus:dims=5,t=1 -e dmodk -e minhop").code, 0);
    assert_eq!(run("route torus:dims=5,t=1 -e dfsssp --lanes 1").code, 4);
}

#[test]
fn threads_change_nothing_but_the_time() {
    let result = |threads: u32| {
        let line = format!(
            "route @t2hx-hyperx -e minhop -e updn -e sssp -e dfsssp --format json --threads {threads}"
        );
        let mut json = run(&line).json();
        for engine in json["engines"].as_array_mut().expect("a list") {
            engine.as_object_mut().expect("an object").remove("seconds");
        }
        json
    };
    assert_eq!(result(1), result(2));
}

#[test]
fn what_route_writes_check_reads() {
    let dir = folder(&[]);
    let d = dir.path();
    let fabric = "kary:k=4,n=3";
    let made = run_in(d, &format!("route {fabric} -e updn -e dfsssp -o out --lmc 1 --format json"));
    assert_eq!(made.code, 0, "{}", made.err);
    for engine in made.json()["engines"].as_array().expect("a list") {
        let name = engine["engine"].as_str().expect("a name");
        for file in ["lfts.dump", "guid2lid", "fabric.topo", "subnet.lst", "fdbs"] {
            assert!(d.join("out").join(name).join(file).is_file(), "{name}/{file}");
        }
        // In one layer all service levels are 0.
        assert!(!d.join("out").join(name).join("path-sl").exists(), "{name}");
        let report =
            std::fs::read_to_string(d.join("out").join(name).join("route.json")).expect("a report");
        keys_are_there(&serde_json::from_str(&report).expect("JSON"));
        // The written fabric, and the requested fabric; the directory, and single files.
        for line in [
            format!("check out/{name}/fabric.topo --routes out/{name}"),
            format!("check {fabric} --routes out/{name}"),
            format!("check out/{name}/fabric.topo --routes out/{name}/fdbs"),
            format!("check out/{name}/subnet.lst --routes out/{name}/lfts.dump"),
        ] {
            let checked = run_in(d, &format!("{line} --format json"));
            assert_eq!(checked.code, 0, "{line}: {}", checked.err);
            let json = checked.json();
            for key in [
                "pairs",
                "unreachable",
                "loops",
                "hops",
                "layers",
                "deadlock_free",
                "efi",
                "dark_fiber_percent",
            ] {
                assert_eq!(json[key], engine[key], "{line}: {key}");
            }
            assert!(json["seconds"].is_null());
        }
    }
}

#[test]
fn service_levels_are_written_where_there_are_several() {
    let dir = folder(&[]);
    let d = dir.path();
    let made = run_in(d, "route torus:dims=5x5,t=2 -e lash -o out --format json");
    assert_eq!(made.code, 0, "{}", made.err);
    let layers = &made.json()["layers"];
    assert!(layers.as_u64().expect("a number") > 1);
    for tables in ["out", "out/lfts.dump --sl out/path-sl", "out/fdbs --sl out/path-sl"] {
        let checked = run_in(d, &format!("check out/fabric.topo --routes {tables} --format json"));
        assert_eq!((checked.code, &checked.json()["layers"]), (0, layers), "{tables}");
    }
    // Tables of one layer written in their place leave none of them.
    assert_eq!(run_in(d, "route torus:dims=5x5,t=2 -e updn -o out -q").code, 0);
    assert!(!d.join("out/path-sl").exists());
}

#[test]
fn equal_seeds_write_equal_tables() {
    let dir = folder(&[]);
    for (out, threads) in [("a", 1), ("b", 2)] {
        let line = format!("route @t2hx-hyperx -e dfsssp -o {out} --threads {threads} -q");
        assert_eq!(run_in(dir.path(), &line).code, 0);
    }
    for file in ["lfts.dump", "guid2lid", "fabric.topo", "subnet.lst", "fdbs", "path-sl"] {
        let read = |out: &str| std::fs::read(dir.path().join(out).join(file)).expect(file);
        assert_eq!(read("a"), read("b"), "{file}");
    }
}

#[test]
fn routes_that_failed_the_check_are_not_written() {
    let dir = folder(&[]);
    let refused = run_in(dir.path(), "route torus:dims=5,t=1 -e minhop -o out");
    assert_eq!(refused.code, 1);
    assert_snapshot!(refused.err, @"
    error: minhop: these routes can deadlock, so nothing is written
    hint: use updn or dfsssp; --allow-deadlock writes them all the same
    ");
    assert!(!dir.path().join("out").exists());
    let forced = run_in(dir.path(), "route torus:dims=5,t=1 -e minhop -o out --allow-deadlock");
    assert_eq!(forced.code, 0, "{}", forced.err);

    // The written tables have a credit loop, and `check` reports that as a finding.
    let checked = run_in(dir.path(), "check out/fabric.topo --routes out --format json");
    assert_eq!(checked.code, 1);
    let json = checked.json();
    assert_eq!(json["deadlock_free"], false);
    assert_eq!(json["findings"][0]["kind"], "credit-loop");
    assert_eq!(json["findings"][0]["severity"], "error");
    assert_eq!(json["findings"][0]["cycle"].as_array().map(Vec::len), Some(5));
}

#[test]
fn routes_for_analysis_only_are_not_written() {
    let dir = folder(&[]);
    let refused = run_in(dir.path(), "route fattree2:n=130,m=4,r=2 -e opt-balanced -o out");
    assert_eq!(refused.code, 4);
    assert!(refused.err.contains("130 LIDs a port would be needed"), "{}", refused.err);
    assert!(!dir.path().join("out").exists());
    assert_eq!(run("route fattree2:n=130,m=4,r=2 -e opt-balanced").code, 0);
}

#[test]
fn routes_by_source_are_written_with_path_bits() {
    let dir = folder(&[]);
    let d = dir.path();
    for engine in ["opt", "opt-rect", "opt-balanced", "smodk"] {
        let spec = "fattree2:n=6,m=6,r=4";
        let routed = run_in(d, &format!("route {spec} -e {engine} -o {engine} --format json"));
        assert_eq!(routed.code, 0, "{}", routed.err);
        let checked = run_in(d, &format!("check {spec} --routes {engine} --format json"));
        assert_eq!(checked.code, 0, "{}", checked.err);
        assert_eq!(routed.json()["efi"], checked.json()["efi"], "{engine}");
        // Without path bits all use the base LID.
        std::fs::remove_file(d.join(engine).join("path-bits")).expect("it was written");
        assert_eq!(run_in(d, &format!("check {spec} --routes {engine}")).code, 3, "{engine}");
        std::fs::remove_file(d.join(engine).join("route.json")).expect("it was written");
        let plain = run_in(d, &format!("check {spec} --routes {engine} --format json"));
        assert_ne!(routed.json()["efi"], plain.json()["efi"], "{engine}");
    }
    let few = run_in(d, "route fattree2:n=9,m=16,r=4 -e opt --lmc 1");
    assert_eq!(few.code, 4);
    assert!(few.out.contains("4 LIDs a port are needed here: take --lmc 2"), "{}", few.out);
    let written = run_in(d, "route fattree2:n=6,m=6,r=4 -e opt -o out -q");
    assert_eq!(written.code, 0);
    // Tables of an engine without path bits leave none behind.
    assert_eq!(run_in(d, "route fattree2:n=6,m=6,r=4 -e updn -o out -q").code, 0);
    assert!(!d.join("out/path-bits").exists());
}

#[test]
fn tables_older_than_the_fabric_lose_pairs() {
    let dir = folder(&[("pair.topo", PAIR), ("dead", "0x2c90000000101 8\n")]);
    let d = dir.path();
    assert_eq!(run_in(d, "route pair.topo -e minhop -o out -q").code, 0);
    let checked = run_in(d, "check pair.topo --routes out --fail dead --format json");
    assert_eq!(checked.code, 1);
    let json = checked.json();
    assert_eq!(json["unreachable"], 2);
    let kinds: Vec<&str> = json["findings"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|f| f["kind"].as_str())
        .collect();
    assert_eq!(kinds, ["components", "unreachable"]);
    assert!(
        json["findings"][1]["message"].as_str().expect("text").contains("cn2 -> cn1"),
        "{json}"
    );
}

#[test]
fn roots_are_taken_or_refused() {
    let dir = folder(&[("pair.topo", PAIR), ("roots", "0x0002c90000000101\n")]);
    let d = dir.path();
    assert_eq!(run_in(d, "route pair.topo -e updn --roots roots").code, 0);
    assert_eq!(
        run_in(d, "route pair.topo -e updn --roots 0x2c90000000102,0x2c90000000101").code,
        0
    );
    let wrong = run_in(d, "route pair.topo -e updn --roots 0x5");
    assert_eq!(wrong.code, 3);
    let missing = run_in(d, "route pair.topo -e updn --roots nowhere");
    assert_eq!(missing.code, 3);
    assert_snapshot!(missing.err, @"
    error: --roots nowhere: there is no such file
    hint: GUIDs are a file with one on each line, or 0x... separated by commas
    ");
}

/// What one engine wrote is not left beside what several write.
#[test]
fn a_set_is_not_kept_beside_those_of_several_engines() {
    let dir = folder(&[]);
    let d = dir.path();
    assert_eq!(run_in(d, "route kary:k=4,n=2 -e updn -o keep").code, 0);
    let before = std::fs::read(d.join("keep/lfts.dump")).expect("tables");
    let refused = run_in(d, "route kary:k=4,n=2 --fail-links 2 -e minhop,ftree -o keep");
    assert_eq!((refused.code, refused.out.as_str()), (2, ""));
    assert_snapshot!(refused.err, @"
    error: keep has tables of its own, which would stay beside those of several engines, in folders of theirs
    hint: give another directory, or remove this one first
    ");
    assert_eq!(std::fs::read(d.join("keep/lfts.dump")).expect("tables"), before);
    // And what nobody needs is not called written; -q hears nothing of it.
    let spare = run_in(d, "route kary:k=4,n=2 -e updn --write path-sl,lfts -o some");
    assert_snapshot!(spare.err, @"
    warning: path-sl is not written: these routes have nothing to say there
    wrote the routes of updn to some
    ");
    let lanes = "route torus:dims=5x5,t=1 -e dfsssp --write lfts -o lanes";
    assert!(run_in(d, lanes).err.contains("does not say all service levels"));
    assert_eq!(run_in(d, &format!("{lanes} -q")).err, "");
}

#[test]
fn the_picture_has_a_panel_an_engine() {
    let dir = folder(&[]);
    let made = run_in(dir.path(), "route torus:dims=4x4,t=1 -e minhop -e dfsssp --svg load.svg -q");
    assert_eq!(made.code, 0);
    let svg = std::fs::read_to_string(dir.path().join("load.svg")).expect("a picture");
    assert!(svg.starts_with("<svg") && svg.contains(">minhop<") && svg.contains(">dfsssp<"));
}

/// The last line of the table, which states how the routes were made.
fn note(line: &str) -> String {
    let result = run(line);
    assert_eq!(result.code, 0, "{line}: {}{}", result.out, result.err);
    result.out.lines().last().unwrap_or_default().to_owned()
}

#[test]
fn nue_steps_in_where_lanes_are_short() {
    let line = "route torus:dims=5x5,t=1 -e dfsssp+nue --lanes 1";
    assert_snapshot!(note(line), @"dfsssp refused, so nue routed: needs at least 3 virtual lanes, --lanes allows 1; raise it or use nue, which takes what there is");
    let json = run(&format!("{line} --format json")).json();
    assert_eq!((&json["engine"], &json["layers"]), (&"nue".into(), &1.into()));
    assert_eq!(json["deadlock_free"], true);
    assert_eq!(json["refusals"][0]["engine"], "dfsssp");
}

#[test]
fn layers_by_destination_are_compared_with_layers_by_pair() {
    let line = "route torus:dims=5x4,t=2 -e dfsssp --layer-by destination";
    assert_snapshot!(note(line), @"dfsssp: a layer depends on one end alone; by pair it takes 2");
    let json = run(&format!("{line} --format json")).json();
    let by_pair = run("route torus:dims=5x4,t=2 -e dfsssp --format json").json();
    assert_eq!(json["layers_by_pair"], by_pair["layers"]);
    assert_eq!(json["deadlock_free"], true);
    assert!(by_pair["layers_by_pair"].is_null());
    // Its layers are by destination in either case.
    let nue = run("route torus:dims=5x4,t=2 -e nue --layer-by destination --format json").json();
    assert!(nue["layers_by_pair"].is_null(), "{nue}");
}

#[test]
fn idle_lanes_are_dealt_out_on_request() {
    let line = "route torus:dims=5x4,t=2 -e dfsssp --spread-lanes --lanes 6";
    assert_snapshot!(note(line), @"dfsssp: needs 2 of these layers; dealt out over idle lanes");
    let spread = run(&format!("{line} --format json")).json();
    let plain = run("route torus:dims=5x4,t=2 -e dfsssp --lanes 6 --format json").json();
    assert_eq!(spread["layers"], 6);
    assert_eq!(spread["layers_needed"], plain["layers"]);
    assert!(plain["layers_needed"].is_null());
    assert_eq!((&spread["efi"], &spread["hops"]), (&plain["efi"], &plain["hops"]));
    assert_eq!(spread["deadlock_free"], true);
    // The written files keep them.
    let dir = folder(&[]);
    assert_eq!(run_in(dir.path(), &format!("{line} -o out -q")).code, 0);
    let checked = run_in(dir.path(), "check out/fabric.topo --routes out --format json").json();
    assert_eq!((&checked["layers"], &checked["deadlock_free"]), (&6.into(), &true.into()));
}

/// Tables that need service levels say which file lists them; those of one layer need none, on damaged trees, too.
#[test]
fn written_tables_say_whether_they_need_service_levels() {
    let dir = folder(&[]);
    let several = run_in(dir.path(), "route dragonfly:p=2,a=4,h=2 -e dfsssp -o d");
    let note = "note: the 2 layers are service levels, which path-sl lists";
    assert!(several.err.contains(note), "{}", several.err);
    let line = "route fattree2:n=8,m=2,r=8 --fail leaf001[9] --fail leaf002[10] -e updn -o u";
    let one = run_in(dir.path(), line);
    assert!(one.code == 0 && !one.err.contains("service levels"), "{}", one.err);
    let check = run_in(dir.path(), "check u/fabric.topo --routes u/lfts.dump -q");
    assert!(check.code == 0 && check.out.contains("no findings"), "{}", check.out);
}

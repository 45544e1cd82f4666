//! Invalid input: one clear error or finding each, and the documented exit code.

use insta::assert_snapshot;

use crate::{PAIR, folder, run, run_in};

/// The standard error of a run that must fail with exit code 3 and print no result.
fn unreadable(files: &[(&str, &str)], line: &str) -> String {
    let dir = folder(files);
    let run = run_in(dir.path(), line);
    assert_eq!((run.code, run.out.as_str()), (3, ""), "{}", run.err);
    run.err
}

#[test]
fn empty_file() {
    let empty = |command: &str| unreadable(&[("f", "")], command);
    assert_snapshot!(empty("fabric f"), @"
    error: f: this is an empty file; expected a fabric (ibnetdiscover, ibnetdiscover-p, iblinkinfo, subnet.lst, db_csv, ufm-links, json, lldp-json, lldp-table, sonic-links, netbox, netbench, anynet, cray, codes, netloc, edges)
    hint: ibnetdiscover writes nothing if it has no rights on /dev/infiniband or no link
    ");
    assert_eq!(empty("route f -e minhop"), empty("fabric f"));
    let tables = unreadable(&[("f", PAIR), ("t", "")], "check f --routes t");
    assert!(tables.starts_with("error: t: this looks like an empty file"), "{tables}");
}

#[test]
fn html() {
    let page = "<!DOCTYPE html>\n<html><body>Please log in</body></html>\n";
    assert_snapshot!(unreadable(&[("f", page)], "route f -e minhop"), @"
    error: f: line 1 looks like HTML or XML; expected a fabric (ibnetdiscover, ibnetdiscover-p, iblinkinfo, subnet.lst, db_csv, ufm-links, json, lldp-json, lldp-table, sonic-links, netbox, netbench, anynet, cray, codes, netloc, edges)
    hint: was a login or error page downloaded instead of the file?
    ");
}

#[test]
fn dump_of_another_tool() {
    let conf = "SwitchName=leaf1 Nodes=cn[1-4]\nSwitchName=top Switches=leaf1\n";
    assert_snapshot!(unreadable(&[("f", conf)], "fabric f"), @"
    error: f: line 1 looks like a SLURM topology.conf; expected a fabric (ibnetdiscover, ibnetdiscover-p, iblinkinfo, subnet.lst, db_csv, ufm-links, json, lldp-json, lldp-table, sonic-links, netbox, netbench, anynet, cray, codes, netloc, edges)
    hint: it has no ports and no parallel cables: give the output of ibnetdiscover
    ");
    assert_snapshot!(unreadable(&[("f", PAIR), ("t", conf)], "check f --routes t"), @"
    error: t: this looks like a SLURM topology.conf; expected forwarding tables
    hint: OpenSM's lfts dump, dump_lfts.sh, ibroute, osm.fdbs, ibdiagnet2.far or netloc paths
    ");
}

#[test]
fn a_file_that_is_not_there() {
    assert_snapshot!(unreadable(&[], "fabric ./nowhere.topo"), @"
    error: there is no file ./nowhere.topo, and it is no preset or generator spec
    hint: a FABRIC is a file, @preset (darkfiber list presets) or family:key=value,... (darkfiber list families)
    ");
    let err = unreadable(&[("f", PAIR)], "check f --routes nowhere");
    assert!(err.starts_with("error: cannot read nowhere: No such file"), "{err}");
}

/// A pipe is read once: a second input that is said to come from it is no empty file.
#[test]
fn standard_input_stands_for_one_input() {
    let dir = folder(&[("f", PAIR)]);
    let through = |line: &str| {
        let line = format!("exec {} {line} < f", env!("CARGO_BIN_EXE_darkfiber"));
        let mut shell = std::process::Command::new("sh");
        let output = shell.args(["-c", &line]).current_dir(dir.path()).output().expect("a shell");
        (output.status.code(), String::from_utf8(output.stderr).expect("text"))
    };
    assert_eq!(through("fabric - -q"), (Some(0), String::new()));
    let (code, err) = through("check - --routes -");
    assert_eq!(code, Some(3));
    assert_snapshot!(err, @"
    error: -: standard input is read already, as another input; expected a file
    hint: - can stand for one of them
    ");
}

#[test]
fn a_fabric_in_json_that_was_cut_is_called_that() {
    let dir = folder(&[]);
    let d = dir.path();
    assert_eq!(run_in(d, "fabric kary:k=2,n=2 -o k.json -q").code, 0);
    let whole = std::fs::read_to_string(d.join("k.json")).expect("a file");
    std::fs::write(d.join("k.json"), &whole[..whole.len() / 2]).expect("a file");
    let run = run_in(d, "fabric k.json");
    assert_eq!(run.code, 3, "{}", run.err);
    assert!(run.err.contains("hint: the file was cut short"), "{}", run.err);
    std::fs::create_dir(d.join("there")).expect("a directory");
    let run = run_in(d, "fabric kary:k=2,n=2 -o there");
    assert!(run.code == 3 && run.err.contains("name a file in it"), "{}", run.err);
}

#[test]
fn ports_that_get_other_lids_are_named() {
    let twice = PAIR.replace("lid 4 ", "lid 3 ");
    let dir = folder(&[("twice.topo", &twice), ("pair.topo", PAIR)]);
    let run = |line: &str| run_in(dir.path(), line);
    let moved = run("route twice.topo -e minhop -o out");
    assert_eq!(moved.code, 0, "{}", moved.err);
    assert!(
        moved.err.contains("minhop: warning: 1 port has another LID in these tables")
            && moved.err.contains(" instead of 3;"),
        "{}",
        moved.err
    );
    assert!(!run("route pair.topo -e minhop -o sound").err.contains("another LID"));
}

#[test]
fn a_line_that_is_none_of_an_edge_list_is_named() {
    let dir = folder(&[("k.edges", "s0 s1\nhost \"a b\" s0\n")]);
    let run = run_in(dir.path(), "fabric k.edges");
    assert_eq!(run.code, 3, "{}", run.err);
    assert!(
        run.err.starts_with(
            "error: k.edges: line 2: the fourth word of a host line is not a speed such as 4xHDR"
        ),
        "{}",
        run.err
    );
}

#[test]
fn notes_do_not_hide_an_error() {
    let odd = PAIR.replace("port 0 lid 1 ", "port 0 lid 65535 ");
    let dir = folder(&[("odd.topo", &odd)]);
    let run = |line: &str| run_in(dir.path(), line);
    let note = "odd.topo: line 6: note: LID 65535 is none";
    assert!(run("fabric odd.topo").err.starts_with(note));
    let failed = run("check odd.topo --routes nowhere");
    assert_eq!(failed.code, 3);
    assert!(failed.err.starts_with("error: cannot read nowhere: "), "{}", failed.err);
    let all = run("check odd.topo --routes nowhere -v");
    assert!(all.err.starts_with(note), "{}", all.err);
    assert!(all.err.contains("\nerror: cannot read nowhere: "), "{}", all.err);
}

#[test]
fn truncated_dump() {
    let end = PAIR.find("Ca\t1 \"H-0002c90000000201\"").expect("there is a host") + 10;
    let dir = folder(&[("cut.topo", &PAIR[..end])]);
    let run = run_in(dir.path(), "fabric cut.topo --format json");
    assert!(run.err.contains("the file ends in the middle of a line"), "{}", run.err);
    let json = run.json();
    assert_eq!((json["switches"].as_u64(), json["terminals"].as_u64()), (Some(2), Some(2)));
    let kinds: Vec<&str> = json["findings"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|f| f["kind"].as_str())
        .collect();
    assert_eq!(kinds, ["input"]);
    assert!(!json["diagnostics"].as_array().expect("a list").is_empty());
}

#[test]
fn two_switches_with_one_guid() {
    let twice = PAIR
        .replace("0002c90000000102", "0002c90000000101")
        .replace("2c90000000102", "2c90000000101");
    let dir = folder(&[("f", &twice)]);
    for line in ["fabric f", "route f -e minhop", "check f --routes f"] {
        let run = run_in(dir.path(), line);
        assert_eq!(run.code, if line.starts_with("check") { 3 } else { 1 }, "{line}: {}", run.err);
        assert!(run.err.contains("GUID 0x0002c90000000101 already belongs"), "{line}: {}", run.err);
    }
    // Tables of what the fabric is not would leave hosts out.
    let refused = writes_nothing(&[("f", &twice)], "route f -e minhop -q -o out", 1);
    assert!(refused.contains("minhop: the input is damaged"), "{refused}");
    assert!(refused.contains("so nothing is written"), "{refused}");
}

#[test]
fn a_dump_that_is_cut_among_its_switches() {
    // The last switch has lost its cable, and the hosts have no records of their own.
    let end = PAIR.find("[8]\t\"S-0002c90000000101\"").expect("the cable of the right switch");
    let cut = &PAIR[..end];
    let dir = folder(&[("cut.topo", cut), ("f", PAIR)]);
    let d = dir.path();
    assert_eq!(run_in(d, "route f -e minhop -o t -q").code, 0);
    for line in [
        "fabric cut.topo",
        "route cut.topo -e minhop",
        "check cut.topo --routes t",
        "measure cut.topo -e minhop --metric worst",
        "survive cut.topo -e minhop",
    ] {
        let run = run_in(d, line);
        assert_eq!(run.code, 1, "{line}: {}{}", run.out, run.err);
        let said =
            "cut.topo: line 15: error: the dump was cut short in the record of switch \"right\"";
        assert!(run.err.contains(said), "{line}: {}", run.err);
    }
    for line in ["route f -e minhop -q -o out", "reroute f --routes t -q -o out"] {
        assert_eq!(run_in(d, &line.replace(" f ", " cut.topo ")).code, 1, "{line}");
        assert!(!d.join("out").exists(), "{line}");
    }
    let refused = writes_nothing(&[("f", cut)], "route f -e minhop -q -o out", 1);
    assert!(refused.contains("for example line 15: the dump was cut short"), "{refused}");
    assert!(refused.contains("so nothing is written"), "{refused}");
}

const TWO_PIECES: &str = "s0 s1\ns2 s3\nhost a s0\nhost b s1\nhost c s2\nhost d s3\n";

#[test]
fn several_components() {
    let dir = folder(&[("f", TWO_PIECES)]);
    let looked = run_in(dir.path(), "fabric f --format json");
    assert_eq!(looked.code, 1);
    let json = looked.json();
    assert_eq!(
        (&json["components"], &json["findings"][0]["kind"]),
        (&2.into(), &"components".into())
    );
    let routed = run_in(dir.path(), "route f -e minhop -e dfsssp");
    assert_eq!(routed.code, 4);
    assert!(
        routed.out.contains("minhop refused: the fabric is in 2 pieces (switches: 2"),
        "{}",
        routed.out
    );
}

#[test]
fn a_host_without_a_switch() {
    let lone = "\nvendid=0x2c9\ndevid=0x673c\nsysimgguid=0x2c90000000303\ncaguid=0x2c90000000301\n\
                Ca\t2 \"H-0002c90000000301\"\t\t# \"cn3 HCA-1\"\n";
    let dir = folder(&[("f", &format!("{PAIR}{lone}"))]);
    let looked = run_in(dir.path(), "fabric f");
    assert_eq!(looked.code, 1);
    assert!(
        looked.out.contains("ERROR: 1 adapter is without a cable to a switch: cn3 HCA-1"),
        "{}",
        looked.out
    );
    // The others can be routed all the same.
    assert_eq!(run_in(dir.path(), "route f -e minhop").code, 0);
}

#[test]
fn zero_hosts() {
    let looked = run("fabric hyperx:dims=3x3,t=2,hosts=0 --format json");
    let dir = folder(&[("f", "s0 s1\ns1 s2\n")]);
    let (looked, routed) = if looked.code == 2 {
        (
            run_in(dir.path(), "fabric f --hosts-per-switch 0 --format json"),
            run_in(dir.path(), "route f --hosts-per-switch 0 -e minhop"),
        )
    } else {
        (looked, run("route hyperx:dims=3x3,t=2,hosts=0 -e minhop"))
    };
    assert_eq!(looked.code, 1, "{}", looked.err);
    assert_eq!(looked.json()["findings"][0]["kind"], "no-hosts");
    assert_eq!(routed.code, 4, "{}", routed.out);
    assert!(routed.out.contains("minhop refused: the fabric has no"), "{}", routed.out);
}

/// Two switches with a cable and no host; tables between the switches.
const NO_HOSTS: (&str, &str) = (
    "Switch\t36 \"S-1\"\t\t# \"one\" enhanced port 0 lid 1 lmc 0\n[1]\t\"S-2\"[1]\t\t# \"two\" lid 2 4xFDR\n\
     Switch\t36 \"S-2\"\t\t# \"two\" enhanced port 0 lid 2 lmc 0\n[1]\t\"S-1\"[1]\t\t# \"one\" lid 1 4xFDR\n",
    "Unicast lids [0x0-0x2] of switch Lid 1 guid 0x1 (one):\n0x0001 000\n0x0002 001\n2 lids dumped\n\
     Unicast lids [0x0-0x2] of switch Lid 2 guid 0x2 (two):\n0x0001 001\n0x0002 000\n2 lids dumped\n",
);

/// Nothing is lost where there is nobody: that is no good news about tables.
#[test]
fn a_fabric_without_hosts_is_neither_mended_nor_measured() {
    let (fabric, tables) = NO_HOSTS;
    for line in ["reroute f --routes t", "survive f --routes t", "measure f -e minhop"] {
        let err = unreadable(&[("f", fabric), ("t", tables)], line);
        assert!(
            err.starts_with("error: the fabric has no host with a cable to a switch"),
            "{line}: {err}"
        );
    }
}

#[test]
fn options_that_would_do_nothing_are_refused() {
    let log = "JobID|Start|End|State|NNodes|NodeList\n1|2026-01-01T00:00:00|2026-01-02T00:00:00|COMPLETED|1|a\n";
    let refused = |line: &str| {
        let run = run_in(folder(&[("f", PAIR), ("log", log)]).path(), line);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{line}: {}", run.err);
        run.err
    };
    for option in ["--scale 2", "--processors-per-host 4"] {
        let err = refused(&format!("replay --fabric f --jobs log -e minhop {option}"));
        assert!(err.starts_with("error: log says where jobs ran, and "), "{err}");
    }
    let err = refused("congest f -e updn --victims barrier --aggressors incast --split 1/1");
    assert!(
        err.starts_with("error: --engine updn makes tables, and --routing four-ways follows none"),
        "{err}"
    );
    let err = refused("measure f -e minhop --metric worst --svg load.svg");
    assert!(err.starts_with("error: --svg draws a pattern, and none is counted"), "{err}");
    let err = refused("measure f -e minhop --metric worst --samples 100");
    assert!(err.starts_with("error: --samples are of random patterns, and none"), "{err}");
    let err = refused("survive f --routes tables --roots nowhere");
    assert!(err.starts_with("error: --roots is for engines"), "{err}");
    let err = refused("route f -e minhop --moves 3");
    assert!(err.starts_with("error: --moves limits what -e ease changes"), "{err}");
    let err = refused("jobs allocate f --hosts 1 --processors-per-host 4");
    assert!(err.starts_with("error: --processors-per-host divides"), "{err}");
    let err = refused("route f -e dfsssp --from tables --layer-by destination");
    assert!(err.starts_with("error: --layer-by destination: layers are chosen"), "{err}");
    let err = refused("route f -e nue --protect --layer-by destination");
    assert!(err.starts_with("error: --layer-by destination: --protect chooses a layer"), "{err}");
    for option in ["--survive 99", "--layer-by source", "--roots 0x1"] {
        let err = refused(&format!("route f -e ease --from tables {option}"));
        assert!(err.contains("is for new tables: -e ease changes entries"), "{option}: {err}");
    }
    for line in [
        "man --format json",
        "completions bash --format csv",
        "jobs allocate --fabric f --hosts 1 --format json",
    ] {
        let err = refused(line);
        assert!(err.ends_with("in one form\nhint: leave --format out\n"), "{line}: {err}");
    }
}

#[test]
fn tables_of_another_fabric() {
    let dir = folder(&[("pair.topo", PAIR)]);
    assert_eq!(run_in(dir.path(), "route kary:k=3,n=2 -e minhop -o other -q").code, 0);
    let run = run_in(dir.path(), "check pair.topo --routes other/lfts.dump");
    assert_eq!((run.code, run.out.as_str()), (3, ""));
    assert_snapshot!(run.err, @"
    error: other/lfts.dump: 0 of the 6 switches of this dump are in fabric 'pair' with its 2 switches; expected tables of this fabric
    hint: read the fabric from the same sweep as the tables, or check that the two files belong together
    ");
}

#[test]
fn more_lids_than_there_are() {
    let dir = folder(&[]);
    // 54 switches, 648 hosts with 128 LIDs each.
    let line = "route fattree2:n=18,m=18,r=36 -e minhop --lmc 7 -o out";
    let run = run_in(dir.path(), line);
    assert_eq!(run.code, 4);
    assert!(run.out.contains("all 419,256"), "the analysis goes on: {}", run.out);
    assert_snapshot!(run.err, @"
    minhop: note: 648 of 648 terminals have fewer than 128 different paths for their 128 LIDs
    error: minhop: nothing is written: 82998 LIDs are needed but unicast LIDs end at 0xBFFF: at most 49151; use a smaller LMC, or split the fabric into subnets
    ");
    assert!(!dir.path().join("out").exists());
}

#[test]
fn a_directory_is_no_fabric_and_not_always_routes() {
    let dir = folder(&[("pair.topo", PAIR)]);
    assert_eq!(run_in(dir.path(), "fabric .").code, 3);
    let run = run_in(dir.path(), "check pair.topo --routes .");
    assert_snapshot!(run.err, @"
    error: .: there is neither lfts.dump nor opensm-lfts.dump in this directory
    hint: give the table file itself, a directory that `darkfiber route -o` wrote, or OpenSM's dump directory
    ");
}

/// The message of a run that must end with this code and write nothing to `out`: the last line of its table, or its
/// standard error.
fn writes_nothing(files: &[(&str, &str)], line: &str, code: i32) -> String {
    let dir = folder(files);
    let run = run_in(dir.path(), line);
    assert_eq!(run.code, code, "{line}: {}{}", run.out, run.err);
    assert!(!dir.path().join("out").exists(), "{line}: written");
    let said = if run.err.is_empty() { run.out.lines().last() } else { Some(run.err.as_str()) };
    said.unwrap_or_default().to_owned()
}

#[test]
fn lanes_out_of_range() {
    let line = |lanes: u8| format!("route torus:dims=5,t=1 -e dfsssp --lanes {lanes} -o out");
    assert_snapshot!(writes_nothing(&[], &line(0), 2), @"
    error: invalid value '0' for '--lanes <N>': 0 is not in 1..=15

    For more information, try '--help'.
    ");
    assert_snapshot!(writes_nothing(&[], &line(16), 2), @"
    error: invalid value '16' for '--lanes <N>': 16 is not in 1..=15

    For more information, try '--help'.
    ");
    assert_eq!(run("sweep torus:dims=5,t=1 -e dfsssp --seeds 1 --lanes 16").code, 2);
    // What is wrong with a number is said, not how to pass one that begins with a dash.
    for (value, said) in [
        ("-1", "invalid value '-1' for '--lanes <N>': -1 is not in 1..=15"),
        ("NaN", "invalid value 'NaN' for '--lanes <N>': a whole number is expected"),
    ] {
        let run = run(&format!("route torus:dims=5,t=1 -e dfsssp --lanes {value}"));
        assert_eq!(run.code, 2, "{value}: {}", run.err);
        assert!(run.err.contains(said) && !run.err.contains("tip:"), "{}", run.err);
    }
}

#[test]
fn engines_of_another_family() {
    let refused = |line: &str| writes_nothing(&[], &format!("{line} -o out"), 4);
    assert_snapshot!(refused("route torus:dims=4x4,t=1 -e dmodk"), @"dmodk refused: needs a fat-tree with known labels: this fabric is none");
    assert_snapshot!(refused("route kary:k=3,n=2 -e torus"), @"torus refused: needs a torus or mesh with known coordinates: this fabric is none");
    assert_snapshot!(refused("route torus:dims=4x4,t=1 -e hyperx-min"), @"hyperx-min refused: needs a HyperX with known coordinates: this fabric is none");
    assert_snapshot!(refused("route hyperx:dims=3x3,t=1 -e dragonfly-min"), @"dragonfly-min refused: needs a dragonfly with known groups: this fabric is none");
}

#[test]
fn too_few_lanes_say_how_many_and_who_takes_fewer() {
    let refused = |line: &str| writes_nothing(&[], &format!("{line} -o out"), 4);
    assert_snapshot!(refused("route torus:dims=5x5,t=1 -e dfsssp --lanes 1"), @"dfsssp refused: needs at least 3 virtual lanes, --lanes allows 1; raise it or use nue, which takes what there is");
    assert_snapshot!(refused("route torus:dims=5x5,t=1 -e torus+lash --lanes 1"), @"torus+lash refused: torus: needs at least 3 virtual lanes, --lanes allows 1; raise it or use nue, which takes what there is; lash: needs at least 3 virtual lanes, --lanes allows 1; raise it or use nue, which takes what there is");
}

#[test]
fn layers_that_follow_the_source_are_refused_by_destination() {
    let line = "route torus:dims=5x5,t=1 -e torus --layer-by destination -o out";
    assert_snapshot!(writes_nothing(&[], line, 4), @"torus refused: its layers depend on source and destination here; assign them by pair, or use nue, dfsssp or lash, which can assign them by destination");
}

#[test]
fn faults_that_do_not_exist() {
    let files = [("other", "0x5 1\n0x6\n"), ("f", PAIR)];
    assert_snapshot!(writes_nothing(&files, "route f -e minhop --fail other -o out", 3), @"
    error: --fail other: no line names a node of this fabric; expected a list of its faults
    hint: the file may belong to another fabric; GUIDs are those of its nodes and ports
    ");
    let missing = writes_nothing(&files, "route f -e minhop --fail nowhere -o out", 3);
    assert!(missing.starts_with("error: --fail nowhere: there is no file"), "{missing}");
    // Where some exist the others are reported, by line.
    let dir = folder(&[("f", PAIR), ("some", "0x2c90000000101 7\n0x5 1\n")]);
    let run = run_in(dir.path(), "route f -e minhop --fail some");
    assert_eq!(run.code, 0);
    assert_snapshot!(run.err, @"
    some: line 1: warning: port 7 of switch 0x0002c90000000101 leads nowhere already
    some: line 2: warning: no node of the fabric has GUID 0x0000000000000005
    ");
}

#[test]
fn a_port_that_a_switch_does_not_have() {
    let files = [("f", PAIR)];
    let refused = writes_nothing(&files, "route f -e minhop --fail 0x2c90000000101:99 -o out", 3);
    assert!(refused.contains("has ports 1 to") && refused.contains("no port 99"), "{refused}");
}

#[test]
fn what_is_read_is_not_replaced() {
    let scenario = "fabric = \"f\"\n[routes]\nengine = \"minhop\"\n[[job]]\ntraffic = \"alltoall\"\nnodes = 2\n";
    let files =
        [("f", PAIR), ("s.toml", scenario), ("jobs", "JOBID STATE NODELIST\n1 RUNNING cn1\n")];
    let dir = folder(&files);
    std::fs::create_dir(dir.path().join("set")).expect("a folder");
    std::fs::copy(dir.path().join("f"), dir.path().join("set/fabric.topo")).expect("a copy");
    for line in [
        "fabric f --anonymize -o ./f",
        "fabric f --map f",
        "route f -e minhop --svg f",
        "route f -e minhop --html f",
        "measure f -e minhop --metric worst --svg f",
        "measure f -e minhop --metric worst --write-study f",
        "sweep f -e minhop --seeds 1 -o f",
        "saturate f -r minimal --loads 0.1 --svg f",
        "simulate s.toml --resolved s.toml",
        "simulate s.toml --resolved f",
        "simulate s.toml --timeline s.toml",
        "simulate s.toml --channels f",
        "jobs allocate f --hosts 1 -o f",
        "jobs filter f --jobs jobs --fabric f",
        "jobs filter jobs --jobs jobs --fabric f",
        "route set/fabric.topo --fail-links 0 --fail right -e minhop -o set",
        "study run s.toml --svg f",
        "fabric f -o new --map new",
    ] {
        let run = run_in(dir.path(), line);
        assert!([2, 3, 4].contains(&run.code), "{line}: {} {}", run.code, run.err);
        let is_named = ["replaced", "two outputs", "name another"];
        assert!(is_named.iter().any(|word| run.err.contains(word)), "{line}: {}", run.err);
        for (name, text) in files {
            let now = std::fs::read_to_string(dir.path().join(name)).expect("still there");
            assert_eq!(now, text, "{line}");
        }
    }
    let kept = std::fs::read_to_string(dir.path().join("set/fabric.topo")).expect("still there");
    assert_eq!(kept, PAIR);
    // A set that was made of its own fabric is made anew.
    for _ in 0..2 {
        let run = run_in(dir.path(), "route f -e minhop -o own -q");
        assert_eq!(run.code, 0, "{}", run.err);
        let run = run_in(dir.path(), "route own/fabric.topo -e updn -o own -q");
        assert_eq!(run.code, 0, "{}", run.err);
    }
    // Another name of the same file is not lost.
    std::fs::hard_link(dir.path().join("f"), dir.path().join("other.topo")).expect("a link");
    assert_eq!(run_in(dir.path(), "fabric f -o other.topo -q").code, 0);
    // Devices take what anybody writes.
    let run = run_in(dir.path(), "fabric f -o /dev/null --map /dev/null");
    assert_eq!(run.code, 0, "{}", run.err);
}

#[test]
fn files_beside_a_fabric_that_are_empty_or_binary() {
    let files = [("f", PAIR), ("empty", "\n"), ("binary", "\0\u{1}\u{2}\u{3}")];
    let dir = folder(&files);
    assert_eq!(run_in(dir.path(), "route f -e minhop -o t -q").code, 0);
    for option in ["--counters", "--jobs", "--sl"] {
        for (file, what) in [("empty", "this is an empty file"), ("binary", "binary")] {
            let run = run_in(dir.path(), &format!("doctor f --routes t/lfts.dump {option} {file}"));
            assert_eq!(run.code, 3, "{option} {file}: {}", run.out);
            assert!(run.err.contains(what), "{option} {file}: {}", run.err);
        }
    }
}

#[test]
fn what_stands_in_the_wrong_place_is_named() {
    let dir = folder(&[("f", PAIR)]);
    assert_eq!(run_in(dir.path(), "route f -e minhop,updn -o several -q").code, 0);
    let several = run_in(dir.path(), "check f --routes several");
    assert_eq!(several.code, 3);
    assert!(several.err.contains("such as several/minhop"), "{}", several.err);
    assert_eq!(run_in(dir.path(), "fabric f -o f.topo -q").code, 0);
    for line in ["simulate f.topo", "study run f.topo"] {
        let fabric = run_in(dir.path(), line);
        assert_eq!(fabric.code, 3, "{line}");
        assert!(fabric.err.contains("and no scenario"), "{line}: {}", fabric.err);
    }
}

/// A scenario whose fourth line is invalid.
fn odd_scenario(line: &str, of_job: &str) -> String {
    format!(
        "fabric = \"kary:k=2,n=2\"\n[routes]\nengine = \"updn\"\n{line}\n\n[[job]]\nname = \"a\"\n{of_job}\n"
    )
}

#[test]
fn numbers_of_scenarios_that_no_machine_has() {
    let traffic = "traffic = \"mpigraph\"\n";
    for (line, of_job, at) in [
        ("lmc = 8", traffic, "line 4: routes: lmc 8 is more than 7"),
        (
            "[cost]\nsend = \"9223372036854775807ps\"",
            traffic,
            "line 5: cost: send 92233720368547758",
        ),
        (
            "",
            "traffic = \"mpigraph\"\ncount = 4294967295\n",
            "line 9: job 1: count 4294967295 is more than",
        ),
        (
            "",
            "per-node = 4294967295\ntraffic = \"mpigraph\"\n",
            "line 8: job 1: per-node 4294967295 is more than",
        ),
        ("", "traffic = \"mpigraph\"\nnodes = 0\n", "line 9: job 1: nodes 0 must be at least 1"),
        ("", "traffic = \"mpigraph:iterations=4294967295\"\n", "line 8: job 1: traffic: "),
        ("", "traffic = \"hpl:nominal=0\"\n", "line 8: job 1: traffic: "),
        (
            "",
            "traffic = \"bis\"\nnodes = 2\n[[job]]\ntraffic = \"bis\"\nweight = -1\n",
            "line 12: job 2: weight -1",
        ),
    ] {
        for depth in ["flow", "packet"] {
            let err = unreadable(
                &[("s.toml", &odd_scenario(line, of_job))],
                &format!("simulate s.toml -q --depth {depth}"),
            );
            assert!(err.starts_with(&format!("error: s.toml: {at}")), "{at}: {err}");
        }
    }
    for huge in ["4294967295", "18446744073709551615"] {
        let run = run(&format!("fabric kary:k=2,n=2 --fail-links {huge}"));
        assert!(matches!(run.code, 2..=4) && run.err.contains("cables cannot fail"), "{}", run.err);
    }
}

/// Said before any work is done, and not when it is lost.
#[test]
fn runs_that_cannot_be_kept() {
    let scenario = "fabric = \"torus:dims=4x4,t=1\"\n[routes]\nengine = \"updn\"\n[[job]]\ntraffic = \"bis\"\n";
    let update = format!(
        "{scenario}[update]\nfrom = \"updn\"\nto = \"dfsssp\"\nhow = \"naive\"\nat = \"1us\"\n"
    );
    let update = update.replace("engine = \"updn\"", "");
    for (text, depth, why) in [
        (scenario.to_owned(), "count", "counting is over before it could be kept"),
        (update, "packet", "a run with [update] cannot be kept and resumed"),
        (
            format!("{scenario}[cost]\nprecision = 0.01\n"),
            "packet",
            "a run of packets with `precision` in [cost] cannot be kept and resumed",
        ),
    ] {
        let dir = folder(&[("s.toml", &text)]);
        let line = format!("simulate s.toml -q --depth {depth} --store kept");
        let run = run_in(dir.path(), &line);
        assert_eq!(run.code, 2, "{line}: {}", run.err);
        assert!(run.err.contains(&format!("--store: {why}")), "{line}: {}", run.err);
    }
}

#[test]
fn devices_without_an_end() {
    for line in [
        "fabric /dev/zero",
        "fabric kary:k=2,n=2 --compute /dev/zero",
        "route kary:k=2,n=2 -e sar --jobs /dev/full",
    ] {
        let begin = std::time::Instant::now();
        let err = unreadable(&[], line);
        assert!(err.contains("nothing but zero bytes"), "{line}: {err}");
        assert!(begin.elapsed().as_secs() < 5, "{line} reads gigabytes");
    }
}

/// What is read but helps nothing is reported: pairs of an empty list, tables of LIDs that a dump does not have, marks of other editors.
#[test]
fn what_cannot_help_is_told() {
    let dir = folder(&[("none.txt", "# nothing\n")]);
    assert_eq!(run_in(dir.path(), "fabric fattree2:n=2,m=2,r=3 -q -o site.topo").code, 0);
    assert_eq!(run_in(dir.path(), "route site.topo -e ftree -q -o rt").code, 0);
    let empty = run_in(dir.path(), "measure site.topo -e updn --pattern none.txt -q");
    assert!(
        empty.code == 3 && empty.err.contains("none.txt: there is no pair in it"),
        "{}",
        empty.err
    );
    let without = run_in(dir.path(), "check site.topo --routes rt/fdbs -q");
    assert!(without.out.contains("LIDs that the dump does not have"), "{}", without.out);
    let dump = std::fs::read(dir.path().join("rt/lfts.dump")).expect("written");
    let marked = [b"\xef\xbb\xbf", &dump[..]].concat();
    std::fs::write(dir.path().join("marked.dump"), marked).expect("a file");
    let whole = run_in(dir.path(), "check site.topo --routes marked.dump -q");
    assert!(whole.code == 0 && whole.out.contains("no findings"), "{}", whole.out);
}

/// Hosts of a job whose line cannot be read, or of a batch system that does not answer, seem to be free.
#[test]
fn free_hosts_are_known_to_be_free() {
    let failed = r#"{"jobs": [], "errors": [{"error": "Unable to contact slurm controller", "error_number": 1007}]}"#;
    let cut = "JOBID STATE NODELIST\n1 RUNNING cn1\nsqueue: error: something happened\n";
    let dir = folder(&[("f", PAIR), ("failed", failed), ("cut", cut)]);
    for (list, why) in [("failed", "a batch system that failed"), ("cut", "line 3 cannot be read")]
    {
        let run = run_in(dir.path(), &format!("jobs allocate f --hosts 1 --avoid {list}"));
        assert_eq!((run.code, run.out.as_str()), (3, ""), "{list}: {}", run.err);
        assert!(run.err.contains(why), "{list}: {}", run.err);
    }
    let run = run_in(dir.path(), "fabric f --fail failed");
    assert_ne!(run.code, 0, "{}", run.err);
}

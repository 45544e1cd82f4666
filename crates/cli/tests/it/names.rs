//! Names of hosts: maps, aliases, and descriptions that are no names.

use std::fmt::Write as _;
use std::fs;

use super::{PAIR, folder, run_in};

/// The factory description of a card.
const FACTORY: &str = "MT4129 ConnectX7   Mellanox Technologies";

/// One switch with a host that has a name, and three that are indistinguishable.
fn factory() -> String {
    let hosts = ["cn1 HCA-1", FACTORY, FACTORY, FACTORY];
    let mut text = "switchguid=0xa0(a0)\nSwitch\t8 \"S-00000000000000a0\"\t# \"SwitchX\" base port 0 lid 1 lmc 0\n".to_owned();
    for (i, name) in hosts.iter().enumerate() {
        let _ = writeln!(
            text,
            "[{}]\t\"H-00000000000000b{i}\"[1](c{i})\t# \"{name}\" lid {} 4xHDR",
            i + 1,
            i + 2
        );
    }
    for (i, name) in hosts.iter().enumerate() {
        let _ = writeln!(
            text,
            "\ncaguid=0xb{i}\nCa\t1 \"H-00000000000000b{i}\"\t# \"{name}\"\n[1](c{i})\t\"S-00000000000000a0\"[{}]\t# lid {} lmc 0 \"SwitchX\" lid 1 4xHDR",
            i + 1,
            i + 2
        );
    }
    text
}

const MAP: &str = "# all\r\n0xb1 \"cn2 HCA-1\"\r\n0x00000000000000b2 \"cn3 HCA-1\"\r\n0xb3 \"login\"\r\n0xa0 \"leaf 1\"\r\n";

#[test]
fn a_shared_description_names_nobody() {
    let fabric = factory();
    let jobs = format!("JobID|State|NodeList\n1|RUNNING|{FACTORY}\n");
    let dir = folder(&[("f.topo", &fabric), ("jobs", &jobs), ("map", MAP)]);
    let d = dir.path();
    let run = run_in(d, "fabric f.topo");
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(run.out.contains(&format!("3 hosts share the description '{FACTORY}'")), "{}", run.out);
    assert!(run.out.contains("--node-name-map"), "{}", run.out);
    let json = run_in(d, "fabric f.topo --format json").json();
    let finding =
        json["findings"].as_array().expect("a list").iter().find(|f| f["kind"] == "shared-names");
    assert_eq!(finding.expect("it is told")["count"], 3);

    // Names of hosts are written as GUIDs where necessary.
    let placed = run_in(d, "jobs place --fabric f.topo --hosts 4");
    assert_eq!(
        placed.out, "0x00000000000000b1\n0x00000000000000b2\n0x00000000000000b3\ncn1\n",
        "{}",
        placed.err
    );
    fs::write(d.join("hostfile"), "0x00000000000000b2 1\ncn1 1\n").expect("written");
    let busy = run_in(d, "jobs place --fabric f.topo --hosts 2 --avoid hostfile");
    assert_eq!(busy.out, "0x00000000000000b1\n0x00000000000000b3\n", "{}", busy.err);

    // A list of jobs that names the description names three hosts at once.
    for line in [
        "route f.topo -e minhop --jobs jobs",
        "jobs report --fabric f.topo --jobs jobs",
        "jobs filter running --fabric f.topo --jobs jobs",
    ] {
        let run = run_in(d, line);
        assert_eq!(run.code, 3, "{line}: {}{}", run.out, run.err);
        let said = format!("'{FACTORY}' is the description of 3 hosts, and the name of none");
        assert!(
            run.err.contains(&said) && run.err.contains("--node-name-map"),
            "{line}: {}",
            run.err
        );
    }
    // So does its first word, which is the part that a list of nodes has of it.
    fs::write(d.join("words"), "MT4129 1\ncn1 1\n").expect("written");
    for line in ["route f.topo -e minhop --jobs words", "measure f.topo -e minhop --among MT4129"] {
        let run = run_in(d, line);
        assert_eq!(run.code, 3, "{line}: {}", run.err);
        let said = "'MT4129' begins the description of 3 hosts, and is the name of none";
        assert!(run.err.contains(said), "{line}: {}", run.err);
    }
}

#[test]
fn a_map_names_switches_and_hosts_everywhere() {
    let fabric = factory();
    let dir = folder(&[
        ("f.topo", &fabric),
        ("map", MAP),
        ("jobs", "cn2 1\nlogin 1\ncn1 2\ncn3 2\n"),
        (
            "s.toml",
            "fabric = \"f.topo\"\nnode-name-map = \"map\"\n[routes]\nengine = \"minhop\"\n[[job]]\nname = \"j\"\ntraffic = \"alltoall:bytes=1KiB\"\nhosts = \"cn[1-3]!cn2\"\n",
        ),
    ]);
    let d = dir.path();
    let run = run_in(d, "fabric f.topo --node-name-map map --to topology.conf");
    assert_eq!(
        run.out, "# topology/tree of f\nSwitchName=leaf_1 Nodes=cn[1-3],login\n",
        "{}",
        run.err
    );
    assert!(!run.err.contains("share the description"), "{}", run.err);
    let placed = run_in(d, "jobs place --fabric f.topo --node-name-map map --hosts 4");
    assert_eq!(placed.out, "cn1\ncn2\ncn3\nlogin\n", "{}", placed.err);
    for line in [
        "route f.topo -e minhop --jobs jobs --node-name-map map -o t",
        "check f.topo --routes t --jobs jobs --node-name-map map",
        "jobs report --fabric f.topo --jobs jobs --node-name-map map -e minhop",
        "measure f.topo -e minhop --among cn[1-2] --node-name-map map",
        "reroute f.topo --routes t --fail 0xb1 --node-name-map map",
        "sweep f.topo -e minhop --fail-percent 0 --seeds 1 --node-name-map map",
        "simulate s.toml",
        "hot s.toml",
    ] {
        let run = run_in(d, line);
        assert_eq!(run.code, 0, "{line}: {}{}", run.out, run.err);
        assert!(!run.err.contains("not in the fabric"), "{line}: {}", run.err);
    }
    // The written fabric is read with its names.
    let copy = run_in(d, "fabric f.topo --node-name-map map -o named.topo");
    assert_eq!(copy.code, 0, "{}", copy.err);
    assert_eq!(run_in(d, "jobs place --fabric named.topo --hosts 4").out, placed.out);
}

#[test]
fn spoilt_maps_are_refused_by_file_and_line() {
    for (map, said) in [
        (
            "0x2c90000000201 \"a\"\n0x2c90000000201 \"b\"\n",
            "map: line 2: 0x0002c90000000201 is called 'b', but 'a' in line 1",
        ),
        (
            "0x2c90000000201 \"a\"\n0x2c90000000202 \"a\"\n",
            "map: line 2: 0x0002c90000000202 is called 'a' as is 0x0002c90000000201 in line 1",
        ),
        ("\n0x2c90000000201 \"a\n", "map: line 2: the quotes of 'a' are left open"),
        ("0x77 \"a\"\n", "map: line 1: no node of the fabric has GUID 0x0000000000000077"),
        ("nonsense here\n", "map: line 1: 'nonsense' is not a GUID"),
    ] {
        let dir = folder(&[("pair.topo", PAIR), ("map", map)]);
        let run = run_in(dir.path(), "route pair.topo -e minhop --node-name-map map");
        assert_eq!((run.code, run.out.as_str()), (3, ""), "{map:?}");
        assert!(run.err.contains(said), "{map:?}: {}", run.err);
        assert_eq!(run.err.matches("error: ").count(), 1, "{}", run.err);
    }
    // An unknown GUID among known ones is one warning.
    let map = "0x2c90000000201 \"a\"\r\n0x77 \"b\"\r\n0x78 \"c\"\r\n";
    let dir = folder(&[("pair.topo", PAIR), ("map", map)]);
    let run = run_in(dir.path(), "fabric pair.topo --node-name-map map");
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(run.err.matches("warning").count(), 1, "{}", run.err);
    assert!(run.err.contains("map: line 2: warning: no node of the fabric has GUID 0x0000000000000077, nor 1 GUID of other lines"), "{}", run.err);
}

#[test]
fn files_of_names_are_no_fabrics() {
    let pairs = (0..86).fold(String::new(), |text, i| format!("{text}node{i} host{i}\n"));
    let dir = folder(&[("map", "0xb1 \"cn2 HCA-1\"\n"), ("pairs", &pairs)]);
    for (file, said) in [
        ("map", "line 1 looks like a node name map"),
        ("pairs", "a network of 86 pieces of at most two switches: it looks like a list of pairs"),
    ] {
        let run = run_in(dir.path(), &format!("fabric {file}"));
        assert_eq!(run.code, 3, "{}", run.err);
        assert!(run.err.contains(said) && run.err.contains("--node-name-map"), "{}", run.err);
    }
}

#[test]
fn aliases_come_in_any_order_and_name_groups() {
    let fabric = factory();
    let dir = folder(&[
        ("f.topo", &fabric),
        (
            "aliases",
            "a1 cn1\n0xb1 a2\n\"H-00000000000000b2\", a3\n00000000000000b3 a4\n@pair a[2-3]\nrest: a[1-4]!@pair\n",
        ),
        ("jobs", "JobID|State|NodeList\n1|RUNNING|@pair\n2|RUNNING|a[1-4/3]\n"),
        ("open", "a1 \"cn1\n"),
        ("twice", "a1 cn1\na1 0xb1\n"),
    ]);
    let d = dir.path();
    let run = run_in(d, "route f.topo -e minhop --jobs jobs --aliases aliases -v");
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(!run.err.contains("warning"), "{}", run.err);
    let pairs = |who: &str| {
        let line = format!(
            "measure f.topo -e minhop --metric worst --aliases aliases --among {who} --format json"
        );
        let run = run_in(d, &line);
        assert_eq!(run.code, 0, "{who}: {}", run.err);
        run.json()["participants"].clone()
    };
    assert_eq!(pairs("@rest,a2"), 3);
    // Scenarios and the filter support aliases and groups, too.
    let scenario = "fabric = \"f.topo\"\naliases = \"aliases\"\n[routes]\nengine = \"minhop\"\n[[job]]\n\
                    traffic = \"imb:op=alltoall,bytes=1KiB\"\nhosts = \"@rest,a2\"\n";
    fs::write(d.join("s.toml"), scenario).expect("written");
    let run = run_in(d, "simulate s.toml --format json");
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(run.json()["jobs"][0]["ranks"], 3, "{}", run.out);
    fs::write(d.join("s.toml"), scenario.replace("@rest,a2", "@nobody")).expect("written");
    let run = run_in(d, "simulate s.toml");
    assert!(run.code == 3 && run.err.contains("@nobody"), "{}", run.err);
    let listed = "JobID|State|NodeList\n1|RUNNING|a[1-2]\n";
    fs::write(d.join("now"), listed).expect("written");
    let run = run_in(d, "jobs filter map --fabric f.topo --jobs now --aliases aliases");
    assert_eq!((run.code, run.err.as_str()), (1, ""), "{}", run.out);
    let run = run_in(d, "jobs filter map --fabric f.topo --jobs now");
    assert!(run.err.contains("a1") || run.err.contains("a2"), "{}", run.err);

    let open = run_in(d, "route f.topo -e minhop --jobs jobs --aliases open");
    assert_eq!(open.code, 3);
    assert!(open.err.contains("open: line 1: the quotes of 'cn1' are left open"), "{}", open.err);
    let twice = run_in(d, "route f.topo -e minhop --jobs jobs --aliases twice");
    assert!(
        twice.err.contains("twice: line 2: warning: alias 'a1' is given twice"),
        "{}",
        twice.err
    );
    let huge = run_in(d, "measure f.topo -e minhop --among n[1-4000000000]");
    assert_eq!(huge.code, 3);
    assert!(huge.err.contains("more than 1000000 hosts"), "{}", huge.err);
}

#[test]
fn rates_without_a_name_survive_writing_and_reading() {
    let dir = tempfile::tempdir().expect("a directory");
    let d = dir.path();
    let rates = |fabric: &str| {
        let run = run_in(d, &format!("fabric {fabric} --format json"));
        let mut links = run.json()["link_classes"].as_array().expect("rates").clone();
        links.sort_by_key(ToString::to_string);
        links.iter().map(|l| l["gbit_per_second"].to_string()).collect::<Vec<_>>()
    };
    // More hosts than the lines that determine the format of a file.
    let spec = "dragonfly:p=4,a=8,h=2,gbps=7,host_gbps=3";
    let before = rates(spec);
    for file in ["f.topo", "f.edges", "f.json"] {
        let run = run_in(d, &format!("fabric {spec} -o {file}"));
        assert_eq!(run.code, 0, "{}", run.err);
        assert_eq!(rates(file), before, "{file}");
        assert_eq!(
            run.err.contains("port numbers, GUIDs and LIDs"),
            file == "f.edges",
            "{}",
            run.err
        );
    }
}

#[test]
fn a_dead_switch_takes_its_hosts() {
    let dir = tempfile::tempdir().expect("a directory");
    let d = dir.path();
    assert_eq!(run_in(d, "fabric fattree2:n=3,m=3,r=4 -o f.topo").code, 0);
    assert_eq!(run_in(d, "route f.topo -e updn -o t").code, 0);
    let fabric = run_in(d, "fabric f.topo --to topology.conf").out;
    let line = fabric.lines().find(|l| l.contains(" Nodes=")).expect("a leaf").to_owned();
    let leaf = line.split(['=', ' ']).nth(1).expect("its name").to_owned();
    let run = run_in(d, &format!("reroute f.topo --routes t --fail {leaf} --format json"));
    assert_eq!(run.code, 0, "{}", run.err);
    let lost = run.json()["terminals_lost"].as_array().expect("a list").clone();
    assert_eq!(lost.len(), 3, "{lost:?}");
    assert!(
        lost.iter().all(|t| t["switch"] == leaf.as_str() && t["host_lost"] == true),
        "{lost:?}"
    );
    let table = run_in(d, &format!("reroute f.topo --routes t --fail {leaf}")).out;
    let first = lost[0]["name"].as_str().expect("a name");
    assert!(table.contains(&format!("terminals lost     3: {first}, ")), "{table}");
    let none = run_in(d, "reroute f.topo --routes t --fail-links 1 --format json");
    assert_eq!(none.json()["terminals_lost"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_pair_of_cabinets_that_is_not_there_is_no_group() {
    // Groups 0, 1 and 3 of one router each, each with two nodes.
    let groups = [0, 1, 3];
    let mut text = String::new();
    let router = |g: u32, tile: u32| format!("c{}-0c0s0a0l0{tile}({g}:0:0)", 2 * g);
    for (i, &g) in groups.iter().enumerate() {
        for (j, &h) in groups.iter().enumerate().filter(|(j, _)| *j != i) {
            let _ = writeln!(text, "{} blue -> {}", router(g, j as u32), router(h, i as u32));
        }
        for tile in [4, 5, 6, 7] {
            let _ = writeln!(text, "{} ptile -> processor", router(g, tile));
        }
    }
    let dir = folder(&[("links", &text)]);
    let run = run_in(dir.path(), "fabric links --format json");
    assert_eq!(run.code, 0, "{}", run.err);
    let json = run.json();
    assert!(run.err.contains("there are 3 groups, and none of number 2"), "{}", run.err);
    let text = json.to_string();
    assert!(text.contains("\"bisection\":"), "{text}");
    assert_eq!(json["switches"], 3);
}

/// Adapters of one description count as one host, and a note says so: two hosts may have been given one name.
#[test]
fn two_hosts_of_one_name_are_told() {
    let dir = folder(&[]);
    assert_eq!(run_in(dir.path(), "fabric fattree2:n=2,m=2,r=3 -q -o site.topo").code, 0);
    let site = fs::read_to_string(dir.path().join("site.topo")).expect("written");
    let doubled = site.replace("cn0006 HCA-1", "cn0001 HCA-1");
    assert_ne!(site, doubled);
    fs::write(dir.path().join("doubled.topo"), doubled).expect("a file");
    let said = "several adapters have one description, and are taken to be in one host: 'cn0001 HCA-1' (2)";
    for (file, is_told) in [("site.topo", false), ("doubled.topo", true)] {
        let run = run_in(dir.path(), &format!("doctor {file} -q"));
        assert_eq!(run.out.contains(said), is_told, "{}", run.out);
    }
}

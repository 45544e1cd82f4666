//! `darkfiber diff`: plans and dumps, cable by cable.

use insta::assert_snapshot;

use crate::{folder, run, run_in};

const PLAN: &str = "#StartDevice,StartPort,EndDevice,EndPort,LinkType
leaf001,Port 1,cn0001,cn0001 HCA-1,Data
leaf001,Port 2,cn0002,cn0002 HCA-1,Data
leaf001,Port 3,spine001,Port 1,Data
leaf001,Port 4,spine002,Port 2,Data
leaf002,Port 1,cn0003,cn0003 HCA-1,Data
leaf002,Port 2,cn0004,cn0004 HCA-1,Data
leaf002,Port 3,spine001,Port 3,Data
leaf002,Port 4,spine002,Port 1,Data
leaf002,Port 9,spine003,Port 3,Data
";

#[test]
fn a_plan_is_compared_port_by_port() {
    let dir = folder(&[("plan.ndt", PLAN)]);
    assert_eq!(run_in(dir.path(), "fabric kary:k=2,n=2 -o dump.topo").code, 0);
    let found = run_in(dir.path(), "diff plan.ndt dump.topo");
    assert_eq!(found.code, 1, "{}", found.err);
    assert_snapshot!(found.out, @r#"
    expected  plan.ndt: 9 devices, 9 cables
    found     dump.topo: 8 devices, 8 cables
    compared  port by port
    devices   0 by GUID, 8 by name, 0 by their cables
    as is     5 cables
    differ    1 device missing, 1 pair of cables swapped, 1 cable moved

    at              what            expected         found            to do
    --------------- --------------- ---------------- ---------------- -----------------------------------------------------------------------------------------------------
    spine003        device missing  1 cable          -                is it powered, and its firmware up? Its cables are not listed one by one
    leaf001 port 4  cables swapped  spine002 port 2  spine002 port 1  exchange the ends at spine002 port 2 and spine002 port 1 (the other cable is that of leaf002 port 4)
    leaf002 port 3  cable moved     spine001 port 3  spine001 port 2  move the end at spine001 port 2 to spine001 port 3
    "#);
    let csv = run_in(dir.path(), "diff plan.ndt dump.topo --format csv");
    assert_snapshot!(csv.out, @r#"
    kind,at,expected,found,action
    device-missing,spine003,1 cable,,"is it powered, and its firmware up? Its cables are not listed one by one"
    cables-swapped,leaf001 port 4,spine002 port 2,spine002 port 1,exchange the ends at spine002 port 2 and spine002 port 1 (the other cable is that of leaf002 port 4)
    cable-moved,leaf002 port 3,spine001 port 3,spine001 port 2,move the end at spine001 port 2 to spine001 port 3
    "#);
}

/// A pipe is a dump like any other, not a generator of which only the structure counts.
#[test]
fn a_dump_may_come_through_a_pipe() {
    let dir = folder(&[]);
    for made in ["-o whole.topo", "--fail-links 1 -o less.topo"] {
        let made = format!("fabric fattree2:n=2,m=2,r=3 {made}");
        assert_eq!(run_in(dir.path(), &made).code, 0);
    }
    let file = run_in(dir.path(), "diff whole.topo less.topo --format csv");
    assert_eq!(file.code, 1, "{}", file.err);
    let pipe = "cat less.topo | \"$0\" diff whole.topo /dev/stdin --format csv";
    let piped = std::process::Command::new("sh")
        .args(["-c", pipe, env!("CARGO_BIN_EXE_darkfiber")])
        .current_dir(dir.path())
        .output()
        .expect("a shell");
    assert_eq!(String::from_utf8_lossy(&piped.stdout), file.out);
    assert_eq!(piped.status.code(), Some(1));
}

#[test]
fn a_generator_is_compared_by_structure() {
    let dir = folder(&[]);
    let degraded = "fabric fattree2:n=6,m=6,r=12 --fail-links 3 --anonymize -o dump.topo";
    assert_eq!(run_in(dir.path(), degraded).code, 0);
    let found = run_in(dir.path(), "diff fattree2:n=6,m=6,r=12 dump.topo");
    assert_eq!(found.code, 1, "{}", found.err);
    let differences = run_in(dir.path(), "diff fattree2:n=6,m=6,r=12 dump.topo --format json");
    let json = differences.json();
    assert_eq!(json["by"], "structure");
    assert_eq!(json["differences"].as_array().map(Vec::len), Some(3), "{}", found.out);
}

#[test]
fn what_cannot_be_compared_is_said() {
    let other = run("diff kary:k=2,n=3 nothing.topo");
    assert_eq!(other.code, 3);
    let dir =
        folder(&[("plan.ndt", PLAN), ("empty.ndt", "#StartDevice,StartPort,EndDevice,EndPort\n")]);
    let text = PLAN.replace("cn00", "host").replace("leaf", "tor");
    std::fs::write(dir.path().join("strange.ndt"), text).expect("written");
    let strange = run_in(dir.path(), "diff strange.ndt torus:dims=4x4,t=1");
    assert_eq!(strange.code, 4);
    assert_snapshot!(strange.err, @r#"
    error: strange.ndt and torus:dims=4x4,t=1 have no GUID and no name in common
    hint: names of a plan must be the node descriptions of the fabric: --node-name-map FILE gives them
    "#);
    let empty = run_in(dir.path(), "diff empty.ndt kary:k=2,n=2");
    assert_eq!(empty.code, 3);
    assert_snapshot!(empty.err, @r#"
    error: empty.ndt: no line describes a cable; expected a network description of UFM (device,port,device,port,type on each line)
    "#);
    let as_fabric = run_in(dir.path(), "fabric plan.ndt");
    assert_eq!(as_fabric.code, 3);
    assert_snapshot!(as_fabric.err, @r#"
    error: plan.ndt: line 1 looks like a network description of UFM (.ndt); expected a fabric (ibnetdiscover, ibnetdiscover-p, iblinkinfo, subnet.lst, db_csv, ufm-links, json, lldp-json, lldp-table, sonic-links, netbox, netbench, anynet, cray, codes, netloc, edges)
    hint: a plan names no GUIDs and cannot be routed; `darkfiber diff PLAN FABRIC` compares a fabric with it
    "#);
}

#[test]
fn nothing_differs() {
    let same = run("diff hyperx:dims=3x3,t=1 hyperx:dims=3x3,t=1");
    assert_eq!(same.code, 0, "{}", same.err);
    assert!(same.out.ends_with("\nNothing differs.\n"), "{}", same.out);
}

/// Lists of `iblinkinfo` have GUIDs of ports where `ibnetdiscover` has those of nodes: that is no difference of the fabric.
#[test]
fn lists_with_port_guids_do_not_differ() {
    let path =
        |name: &str| format!("{}/../../tests/data/iblinkinfo/{name}", env!("CARGO_MANIFEST_DIR"));
    let [dump, list] = ["stage.topo.gz", "stage.txt.gz"].map(path);
    for [expected, found] in [[&dump, &list], [&list, &dump]] {
        let same = run(&format!("diff {expected} {found}"));
        assert_eq!(same.code, 0, "{expected} {found}: {}{}", same.out, same.err);
        assert!(same.out.ends_with("\nNothing differs.\n"), "{expected} {found}: {}", same.out);
    }
    // Without lines of hosts there is no GUID of an adapter, and none that differs.
    let switches = path("stage-switches-only.txt.gz");
    let found = run(&format!("diff {dump} {switches} --format csv"));
    assert!(!found.out.contains("device-replaced"), "{}", found.out);
}

/// The port of one adapter may have the GUID of another adapter's node: each is paired with itself.
#[test]
fn an_adapter_is_not_another_ones_port() {
    let of = |hosts: &[(&str, u64, u8)]| {
        let cable = |(name, guid, port): &(&str, u64, u8)| {
            format!(
                "[{port}]\t\"H-{guid:016x}\"[1]({:x})\t# \"{name} HCA-1\" lid {port} 4xHDR\n",
                guid + 1
            )
        };
        let adapter = |(name, guid, port): &(&str, u64, u8)| {
            format!(
                "caguid=0x{guid:x}\nCa\t1 \"H-{guid:016x}\"\t# \"{name} HCA-1\"\n\
                 [1]({:x})\t\"S-0000000000000501\"[{port}]\t# lid {port} lmc 0 \"s\" lid 9 4xHDR\n\n",
                guid + 1
            )
        };
        let cables: String = hosts.iter().map(cable).collect();
        let adapters: String = hosts.iter().map(adapter).collect();
        format!(
            "switchguid=0x501(501)\nSwitch\t8 \"S-0000000000000501\"\t# \"s\" enhanced port 0 lid 9 lmc 0\n{cables}\n{adapters}"
        )
    };
    let before = of(&[("x", 0x250, 1), ("y", 0x251, 2)]);
    let replaced = of(&[("x", 0x950, 1), ("y", 0x251, 2)]);
    let gone = of(&[("y", 0x251, 2)]);
    let dir = folder(&[("before", &before), ("replaced", &replaced), ("gone", &gone)]);
    for (after, kind, at) in
        [("replaced", "device-replaced", "x HCA-1"), ("gone", "device-missing", "x HCA-1")]
    {
        let found = run_in(dir.path(), &format!("diff before {after} --format csv -q"));
        let rows: Vec<&str> = found.out.lines().skip(1).collect();
        assert!(
            rows.len() == 1 && rows[0].starts_with(&format!("{kind},{at},")),
            "{after}: {}{}",
            found.out,
            found.err
        );
    }
}

/// Boards of directors are compared chip by chip and port by port, and names in whatever letters.
#[test]
fn boards_of_directors_are_compared_by_their_chips() {
    let dump = "Switch\t36 \"S-0000000000000001\"\t\t# \"MF0;leaf1-ib0:MQM8700/U1\" enhanced port 0 lid 1 lmc 0\n\
        [21]\t\"S-0000000000000002\"[20]\t\t# \"MF0;core1:MCS8500/L16/U2\" lid 2 4xHDR\n\
        [22]\t\"S-0000000000000003\"[20]\t\t# \"MF0;core1:MCS8500/L16/U1\" lid 3 4xHDR\n\n\
        Switch\t36 \"S-0000000000000002\"\t\t# \"MF0;core1:MCS8500/L16/U2\" enhanced port 0 lid 2 lmc 0\n\
        [20]\t\"S-0000000000000001\"[21]\t\t# \"MF0;leaf1-ib0:MQM8700/U1\" lid 1 4xHDR\n\n\
        Switch\t36 \"S-0000000000000003\"\t\t# \"MF0;core1:MCS8500/L16/U1\" enhanced port 0 lid 3 lmc 0\n\
        [20]\t\"S-0000000000000001\"[22]\t\t# \"MF0;leaf1-ib0:MQM8700/U1\" lid 1 4xHDR\n";
    let plan = "#StartDevice,StartPort,EndDevice,EndPort,LinkType\n\
        LEAF1-IB0,Port 21,CORE1,Blade 16_Port 2/20,Data\nLEAF1-IB0,Port 22,CORE1,Blade 16_Port 1/20,Data\n";
    let dir = folder(&[("plan.ndt", plan), ("dump.topo", dump)]);
    let same = run_in(dir.path(), "diff plan.ndt dump.topo -q");
    assert_eq!((same.code, same.err.as_str()), (0, ""), "{}", same.out);
    assert!(same.out.contains("as is     2 cables"), "{}", same.out);
    let other = plan.replace("2/20", "2/19");
    std::fs::write(dir.path().join("plan.ndt"), other).expect("a plan");
    let moved = run_in(dir.path(), "diff plan.ndt dump.topo -q");
    assert!(moved.code == 1 && moved.out.contains("1 cable moved"), "{}", moved.out);
}

/// Of two dumps names count as they are written: devices are known by their GUIDs.
#[test]
fn letters_count_between_dumps() {
    let dump = |first: &str, second: &str| {
        format!(
            "Switch\t4 \"S-0000000000000001\"\t\t# \"{first}\" enhanced port 0 lid 1 lmc 0\n\
             [1]\t\"S-0000000000000002\"[1]\t\t# \"{second}\" lid 2 4xHDR\n\n\
             Switch\t4 \"S-0000000000000002\"\t\t# \"{second}\" enhanced port 0 lid 2 lmc 0\n\
             [1]\t\"S-0000000000000001\"[1]\t\t# \"{first}\" lid 1 4xHDR\n"
        )
    };
    let (two, swapped) = (dump("leaf1", "LEAF1"), dump("LEAF1", "leaf1"));
    let dir = folder(&[("two.topo", two.as_str()), ("swapped.topo", swapped.as_str())]);
    let found = run_in(dir.path(), "diff two.topo swapped.topo -q");
    assert!(found.code == 1 && found.out.contains("2 devices renamed"), "{}", found.out);
}

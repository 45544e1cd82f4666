//! Dumps as they come: damaged, contradictory, captured from terminals.

use darkfiber_fabric::Role;
use darkfiber_testkit::lines;

use crate::support::dump;

/// Two switches, one host, both ends listed.
const SOUND: &str = r#"
vendid=0x2c9
devid=0xd2f0
sysimgguid=0x51
switchguid=0x51(51)
Switch	4 "S-0000000000000051"		# "left" enhanced port 0 lid 1 lmc 0
[1]	"S-0000000000000052"[1]		# "right" lid 2 4xHDR
[2]	"S-0000000000000052"[2]		# "right" lid 2 4xHDR
[3]	"H-0000000000000021"[1](21) 		# "cn1 HCA-1" lid 3 4xHDR

switchguid=0x52(52)
Switch	4 "S-0000000000000052"		# "right" base port 0 lid 2 lmc 0
[1]	"S-0000000000000051"[1]		# "left" lid 1 4xHDR
[2]	"S-0000000000000051"[2]		# "left" lid 1 4xHDR

caguid=0x21
Ca	1 "H-0000000000000021"		# "cn1 HCA-1"
[1](21) 	"S-0000000000000051"[3]		# lid 3 lmc 0 "left" lid 1 4xHDR
"#;

fn edited(from: &str, to: &str) -> String {
    assert!(SOUND.contains(from), "{from}");
    SOUND.replacen(from, to, 1)
}

#[test]
fn a_sound_dump_has_no_remarks() {
    let (f, d) = dump(SOUND);
    assert_eq!(lines(&d.0), "");
    assert_eq!((f.switch_count(), f.switch_link_count(), f.terminal_count()), (2, 2, 1));
}

#[test]
fn terminal_captures_read_the_same() {
    let (sound, _) = dump(SOUND);
    let captured = format!(
        "Last login: Mon Jan  1\r\n[root@n1 ~]# ibnetdiscover\r\n{}[root@n1 ~]# exit\r\n",
        SOUND.replace('\t', "").replace('\n', "\r\n")
    );
    let (f, d) = dump(&captured);
    assert_eq!(f, sound);
    insta::assert_snapshot!(lines(&d.0), @r"
    line 1: note: not a line of ibnetdiscover: Last login: Mon Jan  1 (ignored)
    line 2: note: not a line of ibnetdiscover: [root@n1 ~]# ibnetdiscover (ignored)
    line 21: note: not a line of ibnetdiscover: [root@n1 ~]# exit (ignored)
    ");
}

#[test]
fn contradicting_ends() {
    let (f, d) = dump(&edited("[2]\t\"S-0000000000000051\"[2]", "[2]\t\"S-0000000000000051\"[4]"));
    assert_eq!(f.switch_link_count(), 2);
    insta::assert_snapshot!(lines(&d.0), @r#"line 14: error: port 2 of "right" leads to port 4 of "left" here, but line 8 joins port 2 of "left" and port 2 of "right" (the other line is kept; cables may have been moved during the dump, make a new one)"#);
}

#[test]
fn one_end_only() {
    let (f, d) = dump(&edited("[2]\t\"S-0000000000000051\"[2]\t\t# \"left\" lid 1 4xHDR\n", ""));
    assert_eq!(f.switch_link_count(), 2);
    insta::assert_snapshot!(lines(&d.0), @r#"line 8: warning: only one end is listed: port 2 of "left" leads to port 2 of "right", which has no line (the cable is made; make a new dump if it should not be there)"#);
}

#[test]
fn one_guid_twice() {
    let twice = format!(
        "{SOUND}\nSwitch 4 \"S-51\" # \"copy\" base port 0 lid 9\n[4] \"S-52\"[3] # \"right\"\n"
    );
    let (f, d) = dump(&twice);
    assert_eq!((f.switch_count(), f.switch_link_count()), (2, 2));
    insta::assert_snapshot!(lines(&d.0), @r"line 20: error: GUID 0x0000000000000051 already belongs to the node of line 6; this one is dropped (two nodes cannot share a GUID; are these several dumps in one file?)");
}

#[test]
fn cut_dumps_are_mended_from_the_neighbours() {
    let cut = &SOUND[..SOUND.find("caguid").expect("there") + 9];
    let (f, d) = dump(cut);
    assert_eq!((f.terminal_count(), f.terminals()[0].lid), (1, Some(3)));
    assert_eq!(f.hosts()[0].name, "cn1");
    insta::assert_snapshot!(lines(&d.0), @r#"
    line 9: warning: adapter "H-0000000000000021" "cn1 HCA-1" is never described; it is made of what its neighbour says (the dump was cut short or damaged; make a new one)
    line 16: warning: cut or damaged line: caguid=0x (the line is left out; make a new dump if cables are missing)
    line 16: warning: the file ends in the middle of a line (the dump was cut short; make a new one)
    "#);
    let cut = &SOUND[..SOUND.find("\"S-0000000000000052\"[2]").expect("there") + 9];
    let (f, d) = dump(cut);
    assert_eq!((f.switch_count(), f.switch_link_count()), (2, 1));
    insta::assert_snapshot!(lines(&d.0), @r#"
    line 7: warning: switch "S-0000000000000052" "right" is never described; it is made of what its neighbours say (the dump was cut short or damaged; make a new one)
    line 8: warning: cut or damaged line: [2] "S-000000 (the line is left out; make a new dump if cables are missing)
    line 8: error: the dump was cut short in the record of switch "left" (hosts may be missing that no other line names; make a new one)
    "#);
}

#[test]
fn dumps_cut_among_the_switches_are_errors() {
    // Behind a whole line of the last switch, within the description of a line, and between two
    // switches.
    for (at, more, said) in [
        (
            "[2]\t\"S-0000000000000051\"[2]",
            0,
            "line 13: error: the dump was cut short in the record of switch \"right\": other records name 1 port that it does not list",
        ),
        (
            "[2]\t\"S-0000000000000051\"[2]",
            32,
            "line 14: error: the dump was cut short in the record of switch \"right\" (hosts may be missing",
        ),
        (
            "\nswitchguid=0x52",
            0,
            "line 9: error: the dump was cut short: switch \"right\" has no record (hosts may be missing",
        ),
    ] {
        let end = SOUND.find(at).expect("there") + more;
        let (_, d) = dump(&SOUND[..end]);
        let all = lines(&d.0);
        assert!(all.contains(said), "{said}: {all}");
        assert_eq!(all.matches(": error: ").count(), 1, "{all}");
    }
    // The host from which the fabric was discovered comes first.
    let (switches, adapter) = SOUND.split_at(SOUND.find("\ncaguid").expect("there"));
    let switches = &switches[..switches.find("\nswitchguid=0x52").expect("there")];
    let (_, d) = dump(&format!("{adapter}{switches}"));
    let all = lines(&d.0);
    assert!(all.contains("error: the dump was cut short: switch \"right\" has no record"), "{all}");
    // After the last switch nothing is missing that the switches do not name.
    let (f, d) = dump(&SOUND[..SOUND.find("\ncaguid").expect("there")]);
    assert_eq!(f.terminal_count(), 1);
    assert!(!lines(&d.0).contains(": error: "), "{}", lines(&d.0));
}

#[test]
fn speeds() {
    let (f, d) = dump(&edited("\"left\" lid 1 4xHDR", "\"left\" lid 1 2xHDR"));
    assert_eq!(f.classes()[0].label, "2xHDR");
    insta::assert_snapshot!(lines(&d.0), @r#"
    line 7: warning: cable runs at 2xHDR, another between the same switches at 4xHDR (look at the cable)
    line 13: warning: the ends of a cable differ: port 1 of "left" says 4xHDR, port 1 of "right" says 2xHDR (2xHDR is taken; look at the cable)
    "#);
    let (f, d) = dump(&SOUND.replace("4xHDR", "4xWARP"));
    assert_eq!(f.classes()[0].label, "?");
    insta::assert_snapshot!(lines(&d.0), @r#"line 7: warning: unknown link width and speed "4xWARP" (it counts as 4xQDR; expected one like 4xHDR)"#);
    let (_, d) = dump(&SOUND.replace(" 4xHDR", ""));
    insta::assert_snapshot!(lines(&d.0), @r"note: 3 cables state no speed (they count as 4xQDR)");
}

#[test]
fn lids_that_are_none() {
    let (f, d) = dump(
        &SOUND
            .replace("port 0 lid 1 ", "port 0 lid 65535 ")
            .replace("port 0 lid 2 ", "port 0 lid 49152 ")
            .replace("# lid 3 lmc 0", "# lid 0 lmc 9"),
    );
    assert_eq!((f.switches()[0].lid, f.switches()[1].lid), (None, None));
    // The switch's line has it.
    assert_eq!(f.terminals()[0].lid, Some(3));
    insta::assert_snapshot!(lines(&d.0), @r"
    line 6: note: LID 65535 is none: no subnet manager has given this port one (the first such port; if LIDs matter, make the dump once the subnet is up)
    line 12: warning: 49152 is not a unicast LID (1 to 49151) (read as none)
    line 18: warning: LMC 9 is out of range: 0 to 7 (read as 0)
    ");
}

#[test]
fn routers_adapter_cables_and_damaged_lines() {
    let odd = format!(
        "{SOUND}
rtguid=0x91
Rt	2 \"R-0000000000000091\"		# \"gate\"
[1](91)	\"S-0000000000000051\"[4]		# lid 8 lmc 0 \"left\" lid 1 4xHDR
caguid=0x22
Ca	2 \"H-0000000000000022\"		# \"cn2 HCA-1\"
[1](23)	\"H-0000000000000024\"[1](25)		# lid 8 lmc 0 \"cn3 HCA-1\" lid 9 4xHDR
[2](23)	\"S-00000000000
[3](23)	\"S-0000000000000051\"[9]		# lid 8 lmc 0 \"left\" lid 1 4xHDR
[9]	\"S-0000000000000052\"[9]
ibwarn: [77] _do_madrpc: recv failed: Connection timed out
caguid=0x24
Ca	2 \"H-00000000000000
[1](25)	\"H-0000000000000022\"[1](23)		# lid 9
caguid=0x26
Ca	2 \"H-0000000000000026\"		# \"lonely HCA-1\"
"
    );
    let (f, d) = dump(&odd);
    assert_eq!((f.switch_count(), f.terminal_count(), f.adapters().len()), (2, 1, 4));
    // LIDs of what is left out are nobody else's.
    assert_eq!(f.reserved_lids(), [8, 9]);
    insta::assert_snapshot!(lines(&d.0), @r#"
    line 21: warning: router "gate" is left out, and so are its cables: 1 (routes between subnets are not modelled; tables for this fabric have no entry for its LID)
    line 24: note: adapter "cn2 HCA-1" has no link to a switch (it stays, without a terminal)
    line 25: warning: adapter "H-0000000000000024" "cn3 HCA-1" is never described; it is made of what its neighbour says (the dump was cut short or damaged; make a new one)
    line 25: warning: cable between two adapters: port 1 of "cn2 HCA-1" and port 1 of "cn3 HCA-1" (it carries no traffic of the fabric and is left out)
    line 26: warning: cut or damaged line: [2](23) "S-00000000000 (the line is left out; make a new dump if cables are missing)
    line 27: error: "cn2 HCA-1" has 2 ports, port 3 does not exist (the line is left out)
    line 28: error: "cn2 HCA-1" has 2 ports, port 9 does not exist (the line is left out)
    line 29: warning: message of the tool itself: ibwarn: [77] _do_madrpc: recv failed: Connection timed out (ibnetdiscover may not have seen the whole fabric)
    line 31: warning: cut or damaged line: Ca 2 "H-00000000000000 (the line is left out; make a new dump if cables are missing)
    line 34: note: adapter "lonely HCA-1" has no link to a switch (it stays, without a terminal)
    "#);
}

#[test]
fn an_adapter_on_two_switches_and_shared_names() {
    let text = r#"
Switch 4 "S-51" # "x" base port 0 lid 1 lmc 0
[1] "H-21"[1](31) # "MT4123 ConnectX6   Mellanox Technologies" lid 3 4xHDR
[2] "H-22"[1](32) # "MT4123 ConnectX6   Mellanox Technologies" lid 4 4xHDR
[3] "H-23"[1](33) # "localhost mlx5_0" lid 5 4xHDR
[4] "H-24"[1](34) # "Mellanox Technologies Aggregation Node" lid 5 4xHDR
Switch 4 "S-52" # "x" base port 0 lid 2 lmc 0
[1] "H-21"[2](35) # "MT4123 ConnectX6   Mellanox Technologies" lid 8 4xHDR
[2] "H-25"[1](36) # "localhost mlx5_0" lid 9 4xHDR
sysimgguid=0x90
caguid=0x21
Ca 2 "H-21" # "MT4123 ConnectX6   Mellanox Technologies"
[1](31) "S-51"[1] # lid 3 lmc 2 "x" lid 1 4xHDR
[2](35) "S-52"[1] # lid 8 lmc 2 "x" lid 2 4xHDR
sysimgguid=0x90
caguid=0x22
Ca 1 "H-22" # "MT4123 ConnectX6   Mellanox Technologies"
[1](32) "S-51"[2] # lid 4 lmc 2 "x" lid 1 4xHDR
sysimgguid=0x91
caguid=0x23
Ca 1 "H-23" # "localhost mlx5_0"
[1](33) "S-51"[3] # lid 5 lmc 0 "x" lid 1 4xHDR
sysimgguid=0x51
caguid=0x24
Ca 1 "H-24" # "Mellanox Technologies Aggregation Node"
[1](34) "S-51"[4] # lid 6 lmc 0 "x" lid 1 4xHDR
sysimgguid=0x92
caguid=0x25
Ca 1 "H-25" # "localhost mlx5_0"
[1](36) "S-52"[2] # lid 9 lmc 0 "x" lid 2 4xHDR
"#;
    let (f, d) = dump(text);
    assert_eq!(lines(&d.0), "");
    assert_eq!(f.terminal_count(), 6);
    assert_eq!(f.terminals()[0].lmc, 2);
    assert_eq!(f.terminals()[3].role, Role::Aggregation);
    let hosts: Vec<u32> = f.adapters().iter().map(|a| a.host.0).collect();
    assert_eq!(hosts, [0, 0, 1, 2, 3]);
}

#[test]
fn guids_that_nobody_should_have() {
    // The largest GUID must not overflow where port GUIDs are derived; 0 is none; equal port GUIDs.
    let text = r#"
Switch 4 "S-0" # "zero" base port 0 lid 1 lmc 0
[1] "H-ffffffffffffffff"[1] # "a HCA-1" lid 3 4xHDR
[2] "H-ffffffffffffffff"[2](7) # "a HCA-1" lid 4 4xHDR
[3] "H-ffffffffffffffff"[3](7) # "a HCA-1" lid 5 4xHDR
Ca 3 "H-ffffffffffffffff" # "a HCA-1"
"#;
    let (f, d) = dump(text);
    assert_eq!(f.terminal_count(), 3);
    insta::assert_snapshot!(lines(&d.0), @r#"
    line 3: warning: only one end is listed: port 1 of "zero" leads to port 1 of "a HCA-1", which has no line (the cable is made; make a new dump if it should not be there)
    line 4: warning: only one end is listed: port 2 of "zero" leads to port 2 of "a HCA-1", which has no line (the cable is made; make a new dump if it should not be there)
    line 5: warning: only one end is listed: port 3 of "zero" leads to port 3 of "a HCA-1", which has no line (the cable is made; make a new dump if it should not be there)
    line 5: error: port GUID 0x0000000000000007 belongs to two ports (port 3 of "a HCA-1" gets 0x0000000000000002)
    "#);
}

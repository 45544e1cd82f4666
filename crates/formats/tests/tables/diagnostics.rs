//! Diagnostics of readers for broken dumps.

use std::path::Path;

use darkfiber_fabric::{Fabric, FabricBuilder, Guid, LinkClass, Switch};
use darkfiber_formats::{fdbs, guid2lid, guids, lft, path_bits, sl, tables};
use darkfiber_routing::{DestId, Lids, Routes, find_engine};

use crate::shared::{lines, written};

fn path() -> &'static Path {
    Path::new("dump")
}

/// Two switches with two hosts each. LIDs: hosts 1 to 4, switches 5 and 6.
fn pair() -> Fabric {
    let mut b = FabricBuilder::new("pair");
    let class = b.class(LinkClass::unknown());
    let ids: Vec<_> = (0..2u64)
        .map(|i| {
            b.add_switch(Switch {
                guid: Guid(0x500 + i),
                ports: 8,
                description: format!("s{i}"),
                lid: Some(5 + i as u16),
                ..Switch::default()
            })
        })
        .collect();
    b.link_switches((ids[0], 8), (ids[1], 8), class).expect("free");
    b.link_switches((ids[0], 5), (ids[0], 6), class).expect("free");
    for i in 0..4u8 {
        b.add_host_on(ids[usize::from(i / 2)], 1 + i % 2, &format!("n{i}"), class).expect("free");
    }
    b.finish().expect("sound")
}

fn lids() -> Lids {
    Lids::from_bases(0, &[1, 2, 3, 4], &[5, 6]).expect("sound")
}

#[test]
fn a_dump_of_opensm_looks_like_this() {
    let fabric = pair();
    let routes = find_engine("minhop")
        .expect("built in")
        .route(&fabric, &darkfiber_routing::Request::default())
        .expect("connected");
    insta::assert_snapshot!(written(|out| lft::write(out, &fabric, &routes, &lids())), @"
    Unicast lids [0-6] of switch Lid 5 guid 0x0000000000000500 ('s0'):
    0x0001 001 # Channel Adapter portguid 0x0000200000000011: 'n0 HCA-1'
    0x0002 002 # Channel Adapter portguid 0x0000200000000021: 'n1 HCA-1'
    0x0003 008 # Channel Adapter portguid 0x0000200000000031: 'n2 HCA-1'
    0x0004 008 # Channel Adapter portguid 0x0000200000000041: 'n3 HCA-1'
    0x0005 000 # Switch portguid 0x0000000000000500: 's0'
    0x0006 008 # Switch portguid 0x0000000000000501: 's1'
    6 lids dumped
    Unicast lids [0-6] of switch Lid 6 guid 0x0000000000000501 ('s1'):
    0x0001 008 # Channel Adapter portguid 0x0000200000000011: 'n0 HCA-1'
    0x0002 008 # Channel Adapter portguid 0x0000200000000021: 'n1 HCA-1'
    0x0003 001 # Channel Adapter portguid 0x0000200000000031: 'n2 HCA-1'
    0x0004 002 # Channel Adapter portguid 0x0000200000000041: 'n3 HCA-1'
    0x0005 008 # Switch portguid 0x0000000000000500: 's0'
    0x0006 000 # Switch portguid 0x0000000000000501: 's1'
    6 lids dumped
    ");
    insta::assert_snapshot!(written(|out| fdbs::write(out, &fabric, &routes, &lids())), @"
    dump_ucast_routes: Switch 0x0000000000000500
    LID    : Port : Hops : Optimal
    0x0001 : 001  : 01   : yes
    0x0002 : 002  : 01   : yes
    0x0003 : 008  : 02   : yes
    0x0004 : 008  : 02   : yes
    0x0005 : 000  : 00   : yes
    0x0006 : 008  : 01   : yes

    dump_ucast_routes: Switch 0x0000000000000501
    LID    : Port : Hops : Optimal
    0x0001 : 008  : 02   : yes
    0x0002 : 008  : 02   : yes
    0x0003 : 001  : 01   : yes
    0x0004 : 002  : 01   : yes
    0x0005 : 008  : 01   : yes
    0x0006 : 000  : 00   : yes
    ");
}

#[test]
fn every_tool_s_dump_is_read() {
    let dump = "\
Unicast lids [0x0-0x6] of switch DR path slid 0; dlid 0; 0,1,5 guid 0x0000000000000500 (s (a) 'b'):\r
  Lid  Out   Destination\r
       Port     Info \r
0x0001 001 : (Channel Adapter portguid 0x0000200000000011: 'n0 portguid 0x99 HCA-1')\r
0x0002 002 : (path #1 out of 4: portguid 0x0000200000000021)\r
0x0003 255 : unreachable\r
2 valid lids dumped \r
Unicast lids [0-6] of switch Lid 6 guid 0x501 ('s1'):
# a comment
 0x3 1
0X4	002:
4 lids dumped
Multicast mlids [0xc000-0xc3ff] of switch Lid 6 guid 0x501 ('s1'):
0xc000 1
Unicast lids guid 0x502
0x1 1";
    let (read, found) = lft::read(dump, path()).expect("a dump");
    assert_eq!(
        lines(&found),
        "line 15: warning: switch 0x0000000000000502 is cut off: no 'lids dumped' line at its end (dump again; its last entries may be missing)"
    );
    let table = &read.switches[0];
    assert_eq!((table.name.as_str(), table.lid), ("s (a) 'b'", None));
    let first = table.entries[0];
    assert_eq!(
        (first.lid, first.port, first.portguid(), first.line()),
        (1, 1, Some(Guid(0x2000_0000_0011)), 4)
    );
    assert_eq!(table.entries[1].portguid(), Some(Guid(0x2000_0000_0021)));
    let table = &read.switches[1];
    assert_eq!((table.name.as_str(), table.lid), ("s1", Some(6)));
    let entries: Vec<_> = table.entries.iter().map(|e| (e.lid, e.port)).collect();
    assert_eq!(entries, [(3, 1), (4, 2)]);
}

#[test]
fn broken_entries_are_named() {
    let dump = "\
0x0001 001
Unicast lids [0-6] of switch Lid 5 ('s0'):
0xzz 5
0x0001 five
0x0001
0x0000 001
0xfffff 001
0x0001 256
0x0001x 1
3 valid lids dumped
";
    let (read, found) = lft::read(dump, path()).expect("a dump");
    assert_eq!(read.entry_count(), 0);
    insta::assert_snapshot!(lines(&found), @"
    line 1: warning: 1 entry before the first switch left out (the head of the dump is missing)
    line 2: warning: switch without ' guid 0x...' (it is matched by LID or name; OpenSM would skip it)
    line 3: error: broken entry '0xzz 5' (expected 0xLID PORT; OpenSM refuses a whole file for one such line)
    line 4: error: broken entry '0x0001 five' (expected 0xLID PORT; OpenSM refuses a whole file for one such line)
    line 5: error: broken entry '0x0001' (expected 0xLID PORT; OpenSM refuses a whole file for one such line)
    line 6: error: 0x0000 is not a unicast LID (expected 0xLID PORT; OpenSM refuses a whole file for one such line)
    line 7: error: 0xfffff is not a unicast LID (expected 0xLID PORT; OpenSM refuses a whole file for one such line)
    line 8: error: port 256 of LID 0x0001 is above 255 (expected 0xLID PORT; OpenSM refuses a whole file for one such line)
    line 9: error: broken entry '0x0001x 1' (expected 0xLID PORT; OpenSM refuses a whole file for one such line)
    line 10: warning: 3 valid lids dumped, but 0 are here (the dump was cut or edited)
    ");
    let error = lft::read("0x0000200000000011 0x0001 0x0001\n", path()).expect_err("guid2lid");
    insta::assert_snapshot!(error, @"dump: no line starts with 'Unicast lids'; expected a forwarding table dump (opensm-lfts.dump, dump_lfts, ibroute) (OpenSM writes opensm-lfts.dump with -D 0x43)");
}

#[test]
fn binding_reports_what_does_not_fit() {
    let dump = "\
Unicast lids [0-6] of switch Lid 5 guid 0x0000000000000500 ('s0'):
0x0001 001
0x0002 001
0x0003 009
0x0004 007
0x0004 008
0x0005 000
0x0006 005
0x0009 001
Unicast lids [0-6] of switch Lid 6 ('whatever'):
0x0003 001 # Channel Adapter portguid 0x0000200000000099: 'gone'
0x0004 000
0x0103 002 # Channel Adapter portguid 0x0000200000000041: 'n3'
0x0009 001
Unicast lids [0-6] of switch Lid 5 guid 0x0000000000000599 ('new'):
0x0001 001
Unicast lids [0-6] of switch guid 0x0000000000000500 ('s0'):
0x0001 001
";
    let fabric = pair();
    let (read, found) = lft::read(dump, path()).expect("a dump");
    insta::assert_snapshot!(lines(&found), @"line 10: warning: switch without ' guid 0x...' (it is matched by LID or name; OpenSM would skip it)");
    let (routes, found) =
        tables::to_routes(&fabric, &read, Some(&lids()), "x", path()).expect("this fabric");
    insta::assert_snapshot!(lines(&found), @r#"
    line 1: warning: switch 0x0000000000000500 "s0" has no entry for 1 LID of hosts, the first 0x0003 (they cannot be reached from there)
    line 3: warning: 1 entry for port 1 of switch 0x0000000000000500 "s0", where another host is (such packets are lost)
    line 4: error: 1 entry for port 9 of switch 0x0000000000000500 "s0", which has 8 ports (left out; OpenSM refuses a whole file for one such entry)
    line 5: warning: 1 entry for port 7 of switch 0x0000000000000500 "s0", which has no cable (such packets are lost)
    line 6: warning: 1 entry of switch 0x0000000000000500 "s0" for a LID that it already has (the last one counts)
    line 8: warning: 1 entry for port 5 of switch 0x0000000000000500 "s0", whose cable leads back to the switch (such packets are lost)
    line 9: warning: LID 0x0009 belongs to no port of the fabric; 2 entries left out
    line 10: warning: switch with LID 6 has no entry for 2 LIDs of hosts, the first 0x0001 (they cannot be reached from there)
    line 10: note: switch with LID 6 has no entry for 2 LIDs of switches (only management traffic goes there)
    line 11: warning: port GUID 0x0000200000000099 of LID 0x0003 is not in the fabric (1 entry) (the port that has this LID now is taken instead, as OpenSM does)
    line 12: warning: 1 entry for port 0 of switch with LID 6, the switch itself, which does not own the LID (such packets are lost)
    line 13: warning: 1 entry of switch with LID 6 for a LID that it already has (the last one counts)
    line 15: warning: switch 0x0000000000000599 "new" is not in the fabric; its table of 1 entry was left out (was it added after the fabric was read?)
    line 17: warning: second table of switch 0x0000000000000500 "s0" (its entries replace those of the first)
    line 17: warning: switch 0x0000000000000500 "s0" has no entry for 1 LID of hosts, the first 0x0003 (they cannot be reached from there)
    "#);
    // The entry was remapped by its port GUID, after the one that came by LID.
    let s1 = darkfiber_fabric::SwitchId(1);
    assert_eq!(routes.lft_entry(&fabric, s1, DestId(3), 0), Some(2));
    assert_eq!(routes.lft_entry(&fabric, s1, DestId(2), 0), Some(1));
}

#[test]
fn missing_switches_are_reported_and_names_suffice() {
    let fabric = pair();
    let (read, _) = lft::read("Unicast lids of switch guid 0x500\n0x1 1\n", path()).expect("dump");
    let (_, found) =
        tables::to_routes(&fabric, &read, Some(&lids()), "x", path()).expect("this fabric");
    insta::assert_snapshot!(lines(&found), @r#"
    warning: switch 0x0000000000000501 "s1" has no table in the dump (they drop everything, and OpenSM's file engine would clear their tables; if the dump was cut short, make it anew)
    line 1: warning: switch 0x0000000000000500 has no entry for 3 LIDs of hosts, the first 0x0002 (they cannot be reached from there)
    line 1: note: switch 0x0000000000000500 has no entry for 2 LIDs of switches (only management traffic goes there)
    "#);
}

#[test]
fn lids_come_from_port_guids() {
    let fabric = pair();
    let lids = Lids::from_bases(2, &[8, 12, 16, 20], &[5, 6]).expect("sound");
    let mut routes = darkfiber_routing::Routes::empty("x", &fabric, 4);
    let s0 = darkfiber_fabric::SwitchId(0);
    for path in 0..4 {
        routes.set_lft_entry(&fabric, s0, DestId(2), path, 8);
    }
    let dump = written(|out| lft::write(out, &fabric, &routes, &lids));
    let (read, _) = lft::read(&dump, path()).expect("a dump");
    let (derived, found) = tables::lids_of(&fabric, &read);
    assert_eq!(derived.lmc(), 2);
    assert_eq!(derived.terminal(darkfiber_fabric::TerminalId(2)), 16);
    assert_eq!(lines(&found), "");
}

/// A table of another sweep, in which a port had other LIDs, does not widen the range of the first.
#[test]
fn a_table_of_another_sweep_gives_a_port_no_further_lids() {
    let fabric = pair();
    let table = |switch: usize, bases: &[u16]| {
        let lids = Lids::from_bases(2, bases, &[5, 6]).expect("sound");
        let mut routes = darkfiber_routing::Routes::empty("x", &fabric, 4);
        for path in 0..4 {
            routes.set_lft_entry(
                &fabric,
                darkfiber_fabric::SwitchId(switch as u32),
                DestId(2),
                path,
                8,
            );
        }
        let dump = written(|out| lft::write(out, &fabric, &routes, &lids));
        lft::read(&dump, path()).expect("a dump").0.switches.swap_remove(switch)
    };
    let read =
        tables::Tables { switches: vec![table(0, &[8, 12, 16, 20]), table(1, &[8, 12, 48, 20])] };
    let (derived, _) = tables::lids_of(&fabric, &read);
    assert_eq!(derived.lmc(), 2);
    assert_eq!(derived.terminal(darkfiber_fabric::TerminalId(2)), 16);
}

#[test]
fn fdbs_problems_are_reported() {
    let text = "\
0x0001 : 001  : 01   : yes
dump_ucast_routes: Switch zero
osm_ucast_mgr_dump_ucast_routes: Switch 0x0000000000000500
LID    : Port : Hops : Optimal
0x0001 : 001  : 01   : yes
0x0002 : UNREACHABLE
0x0003 : 008  : 04   : No 2 hop path possible via port 8!
0x0004 : 300  : 04   : yes
0xC001 : 3  : 04   : yes
0x0004 : 255  : 04   : yes
";
    let (read, found) = fdbs::read(text, path()).expect("an fdbs file");
    insta::assert_snapshot!(lines(&found), @"
    line 2: warning: switch without a GUID (its table cannot be used)
    line 8: error: broken entry '0x0004 : 300  : 04   : yes' (expected 0xLID : PORT : HOPS : yes)
    line 9: error: broken entry '0xC001 : 3  : 04   : yes' (expected 0xLID : PORT : HOPS : yes)
    note: 1 entry not on shortest paths, says the dump
    ");
    let entries: Vec<_> =
        read.switches[1].entries.iter().map(|e| (e.lid, e.port, e.hops)).collect();
    assert_eq!(entries, [(1, 1, Some(1)), (3, 8, Some(4))]);
    insta::assert_snapshot!(fdbs::read("x", path()).expect_err("none"), @"dump: no line has 'dump_ucast_routes: Switch'; expected an opensm.fdbs file (OpenSM writes it with -D 0x43)");
}

#[test]
fn guid2lid_problems_are_reported() {
    let text = "\
0x0000200000000011 0x0004 0x0007

0x0000200000000021 0x0006 0x0009
0x0000200000000031 0x000c 0x000e
0x0000200000000041 0x0000 0x0000
0x0000000000000500 0x0001 0x0001
0x0000000000000501 0x0005 0x0005
0x0000000000000999 0x0002 0x0002
0x1 0x2
0x0000200000000031 0x0009 0x0008
0x0000200000000031 9 z
";
    let (ranges, found) = guid2lid::read(text, path()).expect("guid2lid");
    insta::assert_snapshot!(lines(&found), @"
    line 5: warning: '0x0000' is not a unicast LID (expected 0x<port GUID> 0x<first LID> 0x<last LID>; left out)
    line 9: warning: 2 words in '0x1 0x2' (expected 0x<port GUID> 0x<first LID> 0x<last LID>; left out)
    line 10: warning: the last LID comes before the first in '0x0000200000000031 0x0009 0x0008' (expected 0x<port GUID> 0x<first LID> 0x<last LID>; left out)
    line 11: warning: 'z' is not a unicast LID (expected 0x<port GUID> 0x<first LID> 0x<last LID>; left out)
    ");
    let (lids, found) = guid2lid::to_lids(&pair(), &ranges, path()).expect("half of its ports");
    insta::assert_snapshot!(lines(&found), @"
    warning: port 0x0000200000000031 of the fabric has no LIDs in the list (OpenSM would give it free ones)
    warning: port 0x0000200000000041 of the fabric has no LIDs in the list (OpenSM would give it free ones)
    line 3: error: LID 0x0006 with LMC 2 of port 0x0000200000000021 is not a valid base LID (the port is left without a LID)
    line 4: warning: 3 LIDs of port 0x0000200000000031: not a power of two up to 128 (left out)
    line 7: error: LID 0x0005 with LMC 2 of port 0x0000000000000501 is of port 0x0000200000000011, too (the port is left without a LID)
    line 8: note: no linked port of the fabric has GUID 0x0000000000000999
    ");
    assert_eq!(lids.lmc(), 2);
    insta::assert_snapshot!(guid2lid::read("x y z\n", path()).expect_err("none"), @"dump: no line has a GUID and two LIDs; expected OpenSM's guid2lid");
    assert_eq!(guid2lid::read("", path()).expect("empty").0, []);
}

#[test]
fn guid2lid_of_another_fabric_is_refused() {
    let text = "0x0000000000000999 0x0002 0x0002\n0x0000000000000500 0x0001 0x0001\n";
    let (ranges, _) = guid2lid::read(text, path()).expect("guid2lid");
    let error = guid2lid::to_lids(&pair(), &ranges, path()).expect_err("one port of six");
    insta::assert_snapshot!(error, @"dump: it has no LIDs for 5 of the 6 ports of the fabric; expected OpenSM's guid2lid of fabric 'pair' (fabric, tables and LIDs must be of one sweep)");
}

#[test]
fn guid_list_problems_are_reported() {
    let text = "# roots\n0x500 # first\n\n0000000000000501 text\nroot\n0x500\n0x77\n";
    let (list, found) = guids::read(text, path()).expect("GUIDs");
    insta::assert_snapshot!(lines(&found), @"line 5: warning: 'root' is not a GUID (expected 0x and up to 16 hexadecimal digits)");
    let (ids, found) = guids::switches(&pair(), &list);
    assert_eq!(ids.len(), 2);
    insta::assert_snapshot!(lines(&found), @"
    line 6: note: 0x0000000000000500 is listed twice
    line 7: warning: no switch of the fabric has GUID 0x0000000000000077 (node GUIDs of switches are expected here)
    ");
    let (list, _) = guids::read("0x200000000011\n0x200000000010\n0x200000000020\n0x500", path())
        .expect("GUIDs");
    let (ids, found) = guids::terminals(&pair(), &list);
    assert_eq!(ids.len(), 2);
    insta::assert_snapshot!(lines(&found), @"
    line 2: note: 0x0000200000000010 is listed twice
    line 4: warning: no linked port of the fabric has GUID 0x0000000000000500 (port GUIDs of hosts are expected here)
    ");
    insta::assert_snapshot!(guids::read("0x5\nSwitch 8\n[1]\n", path()).expect_err("a dump"), @"dump: 2 lines have no GUID, for example line 2; expected one GUID a line, as OpenSM's root_guid_file");
    insta::assert_snapshot!(guids::read("no\n", path()).expect_err("none"), @"dump: no line has a GUID; expected one GUID a line, as OpenSM's root_guid_file");
}

#[test]
fn service_level_problems_are_reported() {
    let fabric = pair();
    let text = "# x\nlids 1 2 3 9\n1 012\n2 0f!3\n9 0000\nword\n3 1111\n";
    let read = |text| {
        let mut routes = Routes::empty("x", &fabric, 1);
        sl::read(text, path(), &fabric, &lids(), &mut routes).map(|found| (routes.layers, found))
    };
    let (_, found) = read(text).expect("rows");
    insta::assert_snapshot!(lines(&found), @"
    line 2: warning: '9' is not the LID of a terminal of the fabric (left out)
    line 3: warning: 3 digits for 4 destinations (the file was cut or edited)
    line 4: warning: 1 digit is not hexadecimal (SL 0 is taken for these destinations)
    line 5: warning: '9' is not the LID of a terminal or switch, nor the GUID of a switch (left out)
    line 6: warning: line without a row of digits (left out)
    warning: 7 pairs of a source and a LID have no service level (SL 0 is taken, OpenSM's default)
    ");
    let error = |text| read(text).expect_err("none");
    insta::assert_snapshot!(error("lids 7 8\n"), @"dump: line 1: none of its 2 LIDs is a terminal's; expected service levels of fabric 'pair' (fabric, tables and service levels must be of one sweep; columns are LIDs of terminals)");
    insta::assert_snapshot!(error("lids 1 7-9\n1 0000\n"), @"dump: 3 of its 4 LIDs are not of this fabric; expected service levels of fabric 'pair' (fabric, tables and service levels must be of one sweep; columns are LIDs of terminals)");
    insta::assert_snapshot!(error("lids 1\n1 0\n"), @"dump: line 1: its LIDs are of 1 terminal, and the fabric has 4; expected service levels of fabric 'pair' (fabric, tables and service levels must be of one sweep; columns are LIDs of terminals)");
    insta::assert_snapshot!(error("lids 1-4\n1 0123\n2 01"), @"dump: line 3: the file was cut short: 2 digits for 4 destinations; expected a digit for each LID of the line 'lids' (the service levels of the other pairs are unknown: dump them again)");
    insta::assert_snapshot!(error("1 2\n"), @"dump: no line is a path; expected service levels of fabric 'pair' (fabric, tables and service levels must be of one sweep; each line is 0x<CA node GUID> <decimal DLID> <decimal SL>)");
}

#[test]
fn path_list_problems_are_reported() {
    let fabric = pair();
    let text = "\
0x0000200000000010 2 1
0x0000200000000010 3 16
0x0000200000000010 0x4 1
0x0000200000000011 2 1
0x0000200000000020 9 1
0x0000200000000020 5 1
";
    let read = |text| {
        let mut routes = Routes::empty("x", &fabric, 1);
        sl::read(text, path(), &fabric, &lids(), &mut routes).map(|found| (routes.layers, found))
    };
    let (layers, found) = read(text).expect("paths");
    insta::assert_snapshot!(lines(&found), @"
    line 2: warning: '0x0000200000000010 3 16' is not a path (expected 0x<CA node GUID> <decimal DLID> <decimal SL>)
    line 3: warning: '0x0000200000000010 0x4 1' is not a path (expected 0x<CA node GUID> <decimal DLID> <decimal SL>)
    line 4: warning: no linked adapter has node GUID 0x0000200000000011 (port GUIDs do not count here)
    line 5: error: 1 path names a LID that no port of the fabric has, here 9 (left out; fabric, tables and service levels must be of one sweep)
    warning: 11 pairs of a source and a LID have no service level (SL 0 is taken, OpenSM's default)
    ");
    assert_eq!(layers, {
        // By switch and row: the second terminal from the first one's switch.
        let mut l = vec![0; 2 * 6];
        l[2] = 1;
        darkfiber_routing::Layers::BySourceSwitch(l)
    });
    let other = read("0x0000200000000010 2 1\n0x0000200000000010 9 1\n0x0000200000000077 2 1\n");
    let other = other.expect_err("another fabric").to_string();
    assert!(other.starts_with("dump: 2 of its 3 paths are not of this fabric; "), "{other}");
    let error = read("0x0000200000000020 5 1");
    insta::assert_snapshot!(error.expect_err("none"), @"dump: none of this fabric among 1 path; expected service levels of fabric 'pair' (fabric, tables and service levels must be of one sweep; each line is 0x<CA node GUID> <decimal DLID> <decimal SL>)");
}

#[test]
fn path_records_of_saquery_are_read() {
    let fabric = pair();
    let read = |text| {
        let mut routes = Routes::empty("x", &fabric, 1);
        sl::read(text, path(), &fabric, &lids(), &mut routes).map(|found| (routes, found))
    };
    let text = "\
--- saquery --src-to-dst
PathRecord dump:
\t\tdgid....................fe80::2000:0:441
\t\tdlid....................3
\t\tslid....................1
\t\tsl......................0x1
PathRecord dump:
\t\tdlid....................9
\t\tslid....................1
\t\tsl......................0x1
PathRecord dump:
\t\tdlid....................3
\t\tslid....................2
";
    let (routes, found) = read(text).expect("records");
    let source = |t| darkfiber_fabric::TerminalId(t);
    assert_eq!(routes.layer(&fabric, source(0), source(2)), 1);
    assert_eq!(routes.layer(&fabric, source(1), source(2)), 0);
    insta::assert_snapshot!(lines(&found), @"
    line 11: warning: a path record without slid, dlid or sl (left out; was the file cut?)
    line 7: error: 1 path names a LID that no port of the fabric has, here 9 (left out; fabric, tables and service levels must be of one sweep)
    warning: 11 pairs of a source and a LID have no service level (SL 0 is taken, OpenSM's default)
    ");
    let twice = "PathRecord dump:\n\tdlid..3\n\tslid..1\n\tsl..0x1\nPathRecord dump:\n\tdlid..3\n\tslid..1\n\tsl..0x2\n";
    let (_, found) = read(twice).expect("records");
    assert!(
        lines(&found)
            .starts_with("line 5: warning: a second service level of the path from LID 1 to LID 3"),
        "{found:?}"
    );
    let error = read("PathRecord dump:\n\tdlid..5\n\tslid..1\n\tsl..1\n").expect_err("a switch");
    insta::assert_snapshot!(error, @"dump: none of this fabric among 1 path record; expected service levels of fabric 'pair' (fabric, tables and service levels must be of one sweep; saquery --src-to-dst prints one for a pair)");
}

/// What a later line says otherwise is named in every form of levels and choices.
#[test]
fn second_lines_are_reported() {
    let fabric = pair();
    let routes = darkfiber_routing::Routes::empty("x", &fabric, 4);
    let first = fabric.terminal(darkfiber_fabric::TerminalId(0)).guid;
    let text = format!("{first} 3\n{first} 3\n{first} 2\n");
    let (bits, found) = path_bits::read(&text, path(), &fabric, &routes).expect("some");
    assert_eq!(bits[0], 2);
    assert!(lines(&found).starts_with("line 3: warning: other path bits of a port above"));
    let mut routes = find_engine("minhop")
        .expect("known")
        .route(&fabric, &darkfiber_routing::Request::default())
        .expect("routes");
    let rows = "lids 1-4\n1 0011\n2 0000\n3 0000\n4 0000\n1 0110\n";
    let found = sl::read(rows, path(), &fabric, &lids(), &mut routes).expect("rows");
    assert!(
        lines(&found).contains("line 6: warning: 2 paths have another service level above"),
        "{found:?}"
    );
}

#[test]
fn path_bits_problems_are_reported() {
    let fabric = pair();
    let routes = darkfiber_routing::Routes::empty("x", &fabric, 4);
    let first = fabric.terminal(darkfiber_fabric::TerminalId(0)).guid;
    let text = format!("# bits\n{first} 3\n{first} 4\n0x1 0\n{first}\nnobody 1\n");
    let (bits, found) = path_bits::read(&text, path(), &fabric, &routes).expect("some");
    insta::assert_snapshot!(lines(&found), @"
    line 3: warning: '4' is not below 4, the LIDs of a port (expected 0x<port GUID> <path bits>; left out)
    line 4: warning: no linked port of the fabric has GUID 0x0000000000000001 (expected 0x<port GUID> <path bits>; left out)
    line 5: warning: 1 words in '0x0000200000000011' (expected 0x<port GUID> <path bits>; left out)
    line 6: warning: 'nobody' is not a GUID (expected 0x<port GUID> <path bits>; left out)
    warning: 3 terminals have no path bits (the base LID is taken for these)
    ");
    assert_eq!(bits, [3, 0, 0, 0]);
    let error = path_bits::read("0x1 0\n", path(), &fabric, &routes).expect_err("none");
    insta::assert_snapshot!(error, @"dump: no line names a port of the fabric and its path bits; expected path bits for fabric 'pair' (tables and path bits must be of one sweep)");
}

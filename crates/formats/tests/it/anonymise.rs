//! Anonymous fabrics are the same fabrics, and texts follow.

use std::collections::HashSet;
use std::path::Path;

use darkfiber_fabric::{Fabric, Guid, SwitchId};
use darkfiber_formats::anonymise::Anonymiser;
use darkfiber_formats::{ibnetdiscover, input};
use proptest::prelude::*;

use crate::roundtrip::{fabric, plans};
use crate::support::shipped;

/// All that must not change.
fn structure(f: &Fabric) -> impl PartialEq + std::fmt::Debug + use<> {
    let switches: Vec<_> =
        f.switches().iter().map(|s| (s.ports, s.lid, s.enhanced_port0)).collect();
    let terminals: Vec<_> = f
        .terminals()
        .iter()
        .map(|t| (t.switch, t.switch_port, t.adapter, t.port, t.lid, t.lmc, t.role, t.class))
        .collect();
    let adapters: Vec<_> = f.adapters().iter().map(|a| (a.host, a.ports)).collect();
    let channels = (f.tails().to_vec(), f.heads().to_vec(), f.tail_ports().to_vec());
    (switches, terminals, adapters, channels, f.loopbacks().to_vec(), f.classes().to_vec())
}

fn stage() -> (String, Fabric) {
    let path = shipped("stage-sx6036.topo");
    let text = input::read_text(&path).expect("shipped");
    let (t, _) = ibnetdiscover::read(&text, &path).expect("a dump");
    (text, t.fabric)
}

#[test]
fn a_rewritten_dump_is_the_dump_of_the_anonymous_fabric() {
    let (text, f) = stage();
    let a = Anonymiser::new(&f, 7);
    let rewritten = a.rewrite_text(&text);
    assert!(!rewritten.contains("stage") && !rewritten.contains("SX6036"));
    assert!(!rewritten.contains("24be05ff") && !rewritten.contains("f45214"));
    let (t, d) = ibnetdiscover::read(&rewritten, Path::new("anonymous.topo")).expect("a dump");
    assert!(d.is_empty(), "{d:?}");
    assert_eq!(&t.fabric, a.fabric());
    assert_eq!(structure(&f), structure(a.fabric()));
}

/// GUIDs as tools write them, and names of hosts in capitals.
#[test]
fn gids_and_other_spellings_follow() {
    let (_, f) = stage();
    let a = Anonymiser::new(&f, 7);
    let (host, port) = (a.host_name("stage114").expect("a host"), f.terminals()[0].guid);
    let new = a.guid(port).expect("its GUID").0;
    let gid = |guid: u64| std::net::Ipv6Addr::from_bits(0xfe80 << 112 | u128::from(guid));
    let groups = |guid: u64| {
        let [a, b, c, d] = [48, 32, 16, 0].map(|at| guid >> at & 0xffff);
        format!("{a:04x}:{b:04x}:{c:04x}:{d:04x}")
    };
    let text = |guid: u64, host: &str| {
        let (short, long) = (gid(guid), groups(guid));
        format!(
            "dgid....................{short}\nSTAGE9999 fe80:0000:0000:0000:{long}/64 0X{guid:016x} {host}.example"
        )
    };
    let rewritten = a.rewrite_text(&text(port.0, "STAGE114"));
    assert_eq!(
        rewritten,
        text(new, host)
            .replace(&format!("fe80:0000:0000:0000:{}", groups(new)), &gid(new).to_string())
    );
}

/// Names between marks that batch systems and tools write, and what belongs to no node of the fabric.
#[test]
fn names_between_marks_follow() {
    let (_, f) = stage();
    let a = Anonymiser::new(&f, 7);
    let of = |old: &str| a.host_name(old).unwrap_or_else(|| panic!("{old}")).to_owned();
    let (one, two) = (of("stage114"), of("stage115"));
    let switch = a.switch_name("MF0;ib5:SX6036/U1").expect("a switch");
    for (old, new) in [
        ("stage114/0*8+stage115/0*8", format!("{one}/0*8+{two}/0*8")),
        ("\"48*stage114:48*stage115\"", format!("\"48*{one}:48*{two}\"")),
        ("stage114* stage115- stage114~ stage115$", format!("{one}* {two}- {one}~ {two}$")),
        ("NodeDescription.........stage114 HCA-9", format!("NodeDescription.........{one} HCA-9")),
        ("NodeDescription.........MF0;ib5:SX6036/U1", format!("NodeDescription.........{switch}")),
        ("stage114.example.com:4", format!("{one}.example.com:4")),
        ("12:34:56 10.0.0.1 ::1 2001:db8::1 0x0007 2026-11-29 0xfe80000000000000", String::new()),
    ] {
        let new = if new.is_empty() { old.to_owned() } else { new };
        assert_eq!(a.rewrite_text(old), new);
    }
    let system = a.rewrite_text("SwitchName=ib5 Nodes=stage114");
    assert!(system.starts_with("SwitchName=system") && system.ends_with(&one), "{system}");
    // Another port of a vendor of the fabric's: the same new GUID every time, and not the old one.
    let foreign = f.terminals()[0].guid.0 ^ 0xff_ffff;
    assert_eq!(a.guid(Guid(foreign)), None);
    let rewritten = a.rewrite_text(&format!("R-{foreign:016x} 0x{foreign:016x}"));
    let (first, second) = rewritten.split_once(' ').expect("two words");
    assert_eq!(first.strip_prefix("R-"), second.strip_prefix("0x"));
    assert!(!rewritten.contains(&format!("{foreign:016x}")), "{rewritten}");
}

#[test]
fn job_lists_tables_and_guid_lists_follow() {
    let (_, f) = stage();
    let a = Anonymiser::new(&f, 7);
    let host = a.host_name("stage114").expect("a host");
    let switch = a.switch_name("MF0;ib5:SX6036/U1").expect("a switch");
    let guid = a.guid(f.switches()[0].guid).expect("its GUID");
    let text = "stage114,stage114:2;stage9999 'stage114 mlx4_0' (\"MF0;ib5:SX6036/U1\")\n\
                0xf4521403001165a0 S-f4521403001165a0 f452:1403:0011:65a0 MF0;ib5:SX6036/U1 114 0x0001\r\n";
    let hex = format!("{:016x}", guid.0);
    let colons = format!("{}:{}:{}:{}", &hex[..4], &hex[4..8], &hex[8..12], &hex[12..]);
    assert_eq!(
        a.rewrite_text(text),
        format!(
            "{host},{host}:2;stage9999 '{host} HCA-1' (\"{switch}\")\n\
             0x{hex} S-{hex} {colons} {switch} 114 0x0001\r\n"
        )
    );
    assert_eq!(a.switch(SwitchId(0)), "sw0001");
    assert_eq!((a.guid(Guid(1)), a.host_name("x"), a.switch_name("x")), (None, None, None));
}

#[test]
fn seeds_decide() {
    let (_, f) = stage();
    let guid = |seed| Anonymiser::new(&f, seed).guid(f.switches()[0].guid);
    assert_eq!(guid(1), guid(1));
    assert_ne!(guid(1), guid(2));
}

proptest! {
    #[test]
    fn structure_stays(plan in plans(), seed in any::<u64>()) {
        let f = fabric(&plan);
        let a = Anonymiser::new(&f, seed);
        prop_assert_eq!(structure(a.fabric()), structure(&f));
        let old: HashSet<Guid> = f.switches().iter().map(|s| s.guid).collect();
        for s in a.fabric().switches() {
            prop_assert!(!old.contains(&s.guid));
            prop_assert!(s.description.starts_with("sw"));
        }
    }
}

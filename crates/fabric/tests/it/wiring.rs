//! Names, GUIDs and ports, written down by hand for a few places of each family.

use darkfiber_fabric::{AtPort, Fabric, Guid, SwitchId};

use crate::support::{spec, switches};

fn find(f: &Fabric, name: &str) -> SwitchId {
    switches(f)
        .find(|&s| f.switch(s).description == name)
        .unwrap_or_else(|| panic!("no switch {name}"))
}

/// The neighbour at port `port` of switch `name`: `name[port]`.
fn at(f: &Fabric, name: &str, port: u8) -> String {
    match f.at_port(find(f, name), port) {
        AtPort::Switch(c, s) => format!("{}[{}]", f.switch(s).description, f.head_port(c)),
        AtPort::Terminal(t) => {
            let t = f.terminal(t);
            format!("{}[{}]", f.adapter(t.adapter).description, t.port)
        }
        AtPort::Loopback => "loopback".into(),
        AtPort::Nothing => "-".into(),
    }
}

#[test]
fn two_level_tree() {
    let f = spec("fattree2:n=12,m=12,r=18,link=4xQDR").fabric;
    assert_eq!(at(&f, "leaf001", 1), "cn0001 HCA-1[1]");
    assert_eq!(at(&f, "leaf002", 12), "cn0024 HCA-1[1]");
    assert_eq!(at(&f, "leaf003", 13), "spine001[3]");
    assert_eq!(at(&f, "leaf018", 24), "spine012[18]");
    assert_eq!(at(&f, "spine001", 19), "-");
    assert_eq!(f.switch(SwitchId(0)).guid, Guid(0x5000_0001_0001));
    assert_eq!(f.switch(SwitchId(18)).guid, Guid(0x5000_0002_0001));
    assert_eq!(f.terminals()[1].guid, Guid(0x2000_0000_0021));
    assert_eq!(f.hosts()[1].name, "cn0002");
    assert!(f.switches().iter().all(|s| s.ports == 24));
    assert_eq!(f.classes().len(), 1);
    assert_eq!(f.classes()[0].label, "4xQDR");
}

#[test]
fn parallel_cables_lie_side_by_side() {
    let f = spec("clos3:k=36,pods=4").fabric;
    // mid001 .. mid018 are pod 1; each is joined to two cores by nine cables.
    assert_eq!(at(&f, "mid001", 19), "core001[1]");
    assert_eq!(at(&f, "mid001", 27), "core001[9]");
    assert_eq!(at(&f, "mid001", 28), "core019[1]");
    assert_eq!(at(&f, "mid019", 19), "core001[10]");
    assert_eq!(at(&f, "mid018", 36), "core036[9]");
}

#[test]
fn hosts_with_several_ports() {
    let f = spec("pgft:m=3x2,w=2x1,p=2x1").fabric;
    assert_eq!(f.hosts().len(), 6);
    assert_eq!(f.adapters().len(), 6);
    assert_eq!(f.terminal_count(), 24);
    assert_eq!(at(&f, "leaf001", 2), "cn0001 HCA-1[2]");
    assert_eq!(at(&f, "leaf002", 1), "cn0001 HCA-1[3]");
}

#[test]
fn hyperx_ports_skip_the_own_coordinate() {
    let f = spec("hyperx:dims=12x8,t=7").fabric;
    assert_eq!(at(&f, "sw00_00", 7), "cn0007 HCA-1[1]");
    assert_eq!(at(&f, "sw00_00", 8), "sw01_00[8]");
    assert_eq!(at(&f, "sw05_02", 8), "sw00_02[12]");
    assert_eq!(at(&f, "sw05_02", 13), "sw06_02[13]");
    assert_eq!(at(&f, "sw05_02", 18), "sw11_02[13]");
    assert_eq!(at(&f, "sw05_02", 19), "sw05_00[20]");
    assert_eq!(at(&f, "sw05_02", 25), "sw05_07[21]");
}

#[test]
fn torus_ports_are_plus_then_minus() {
    let f = spec("torus:dims=4x2,t=1,trunk=2").fabric;
    assert_eq!(at(&f, "sw00_00", 2), "sw01_00[4]");
    assert_eq!(at(&f, "sw00_00", 3), "sw01_00[5]");
    assert_eq!(at(&f, "sw00_00", 4), "sw03_00[2]");
    assert_eq!(at(&f, "sw00_00", 6), "sw00_01[8]");
    assert_eq!(at(&f, "sw00_00", 8), "-");
}

#[test]
fn dragonfly_palm_tree() {
    let f = spec("dragonfly:p=2,a=4,h=2").fabric;
    assert_eq!(at(&f, "g00r00", 2), "cn0002 HCA-1[1]");
    assert_eq!(at(&f, "g00r00", 3), "g00r01[3]");
    assert_eq!(at(&f, "g00r02", 4), "g00r01[4]");
    // Channel 0 of group 0 meets the last channel of group 1; the last one the first of group 8.
    assert_eq!(at(&f, "g00r00", 6), "g01r03[7]");
    assert_eq!(at(&f, "g00r03", 7), "g08r00[6]");
}

#[test]
fn dragonfly_plus_ports() {
    let f = spec("dragonflyplus:p=2,leaves=3,spines=2,h=2").fabric;
    assert_eq!(at(&f, "g00leaf01", 2), "cn0002 HCA-1[1]");
    assert_eq!(at(&f, "g00leaf03", 3), "g00spine01[3]");
    assert_eq!(at(&f, "g00leaf03", 4), "g00spine02[3]");
    assert_eq!(at(&f, "g01leaf01", 1), "cn0007 HCA-1[1]");
    // As the palm tree of a dragonfly, with spines: end 0 of group 0 meets the last one of group 1.
    assert_eq!(at(&f, "g00spine01", 4), "g01spine02[5]");
    assert_eq!(at(&f, "g00spine02", 5), "g04spine01[4]");
}

#[test]
fn slim_fly_ports_are_hosts_own_column_other_half() {
    // q = 5: X = {1, 4}, X' = {2, 3}.
    let f = spec("slimfly:q=5").fabric;
    assert_eq!(at(&f, "h0c00r00", 4), "cn0004 HCA-1[1]");
    assert_eq!(at(&f, "h0c00r00", 5), "h0c00r01[6]");
    assert_eq!(at(&f, "h0c00r00", 6), "h0c00r04[5]");
    assert_eq!(at(&f, "h1c03r01", 5), "h1c03r03[6]");
    // 4 = 3 x 2 + 3.
    assert_eq!(at(&f, "h0c02r04", 10), "h1c03r03[9]");
    assert_eq!(f.switch(SwitchId(0)).guid, Guid(0x5000_0030_0001));
}

#[test]
fn rails_of_a_host_lie_on_neighbouring_switches() {
    let f = spec("dragonfly:p=2,a=4,h=2,nics=2").fabric;
    assert_eq!(f.hosts().len(), 36);
    assert_eq!(at(&f, "g00r00", 1), "cn0001 HCA-1[1]");
    assert_eq!(at(&f, "g00r01", 1), "cn0001 HCA-2[1]");
    assert_eq!(at(&f, "g00r02", 2), "cn0004 HCA-1[1]");
}

#[test]
fn cascade_ports_are_hosts_green_black_blue() {
    let f = spec("cascade:groups=15,radix=48").fabric;
    assert_eq!(at(&f, "g00r00", 4), "cn0004 HCA-1[1]");
    assert_eq!(at(&f, "g00r00", 5), "g00r01[5]");
    assert_eq!(at(&f, "g00r00", 19), "g00r15[5]");
    assert_eq!(at(&f, "g00r00", 20), "g00r16[20]");
    assert_eq!(at(&f, "g00r00", 22), "g00r16[22]");
    assert_eq!(at(&f, "g00r00", 34), "g00r80[22]");
    assert!(at(&f, "g00r00", 35).starts_with("g01r"));
    assert_eq!(at(&f, "g00r00", 45), "-");
}

#[test]
fn fewer_hosts_leave_the_last_places_empty() {
    let f = spec("hyperx:dims=3x2,t=2,hosts=7,radix=12").fabric;
    let on: Vec<usize> = switches(&f).map(|s| f.terminals_on(s).len()).collect();
    assert_eq!(on, [2, 2, 2, 1, 0, 0]);
    assert!(f.switches().iter().all(|s| s.ports == 12));
    assert_eq!(f.hosts().len(), 7);
}

#[test]
fn link_rates() {
    let f = spec("hyperx:dims=2,gbps=81.6,host_link=4xEDR").fabric;
    assert_eq!(f.classes()[0].bytes_per_second, 10_200_000_000);
    assert_eq!(f.classes()[0].label, "81.6G");
    assert_eq!(f.terminal_class(darkfiber_fabric::TerminalId(0)).label, "4xEDR");
    // One rate for all cables means all: also those that a family distinguishes.
    assert_eq!(spec("cascade:groups=2,gbps=100").fabric.classes().len(), 1);
}

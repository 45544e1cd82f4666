//! Machines of papers, as scenarios of packets.

use darkfiber_packetsim::{SwitchModel, preset};
use darkfiber_scenario::value::{Bytes, Chosen};
use darkfiber_scenario::{Case, Chain, Depth, Folder, PacketsPart, Scenario};

/// A dragonfly with minimal tables, by the names of its fabric, host model and switches, with the bytes of a packet.
pub(super) fn dragonfly(fabric: &str, [hosts, switches]: [&str; 2], packet: u64) -> Case {
    let known = "names in the source are registered";
    let scenario = Scenario {
        fabric: fabric.to_owned(),
        depth: Depth::Packet,
        hosts: Chosen::named(hosts).expect(known),
        packets: PacketsPart {
            switches: Some(Chosen::named(switches).expect(known)),
            size: Some(Bytes(packet)),
            // The setting of the judged runs, though RoCE needs order.
            ordered: Some(false),
            ..PacketsPart::default()
        },
        ..Scenario::default()
    };
    let case = scenario.open(&Folder::default(), &mut ()).expect("a preset");
    let engine = Chain::parse("dragonfly-min").expect(known);
    let tables = case.route(&engine).expect("it routes dragonflies");
    case.with(tables)
}

/// Switches whose packets may overtake each other under adaptive routing: the setting of the judged runs, though RoCE needs order.
pub(super) fn free(switches: &str) -> SwitchModel {
    SwitchModel { ordered: false, ..preset(switches).expect("registered").micro() }
}

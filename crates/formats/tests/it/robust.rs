//! No input makes a reader panic, nor code that uses its result.

use std::path::Path;

use darkfiber_fabric::CableEnd;
use darkfiber_fabric::SwitchId;
use darkfiber_fabric::Topology;
use darkfiber_formats::cables::{lldp_json, lldp_table, netbox};
use darkfiber_formats::detect::parse_fabric;
use darkfiber_formats::edges::{self, Options};
use darkfiber_formats::plans::{ibdm, ndt};
use darkfiber_formats::{
    Diagnostics, ReadError, anynet, codes, cray, ibnetdiscover, json, netbench,
};
use proptest::prelude::*;

/// Runs all readers and uses their results.
pub(crate) fn try_all(text: &str) {
    let path = Path::new("x");
    let options = Options::default();
    let used = |result: Result<(Topology, Diagnostics), ReadError>| match result {
        Ok((t, _)) => {
            let f = t.fabric;
            for s in 0..f.switch_count() {
                for p in 0..=f.switches()[s].ports {
                    let _ = f.at_port(SwitchId::new(s), p);
                }
            }
            let mut out = Vec::new();
            ibnetdiscover::write(&mut out, &f, None).expect("memory");
            let again = String::from_utf8(out).expect("text");
            // Without any node there is no file.
            if f.switch_count() + f.adapters().len() > 0 {
                let (g, _) =
                    ibnetdiscover::read(&again, path).expect("what was written is readable");
                assert_eq!(g.fabric.link_count(), f.link_count());
            }
        }
        Err(e) => assert!(!e.to_string().is_empty()),
    };
    used(ibnetdiscover::read(text, path));
    used(ibnetdiscover::read_ports(text, path));
    used(edges::read(text, path, &options));
    used(json::read(text, path).map(|t| (t, Diagnostics::default())));
    used(cray::read(text, path));
    used(netbench::read(text, path, &options));
    used(anynet::read(text, path, &options));
    used(edges::read(text, Path::new("n8d3.edges"), &options));
    used(lldp_json::read(text, path, &options));
    used(lldp_table::read(text, path, &options));
    used(netbox::read(text, path, &options));
    used(parse_fabric(text, path, &options));
    for plan in [ndt::read(text, path), ibdm::read(text, path)] {
        match plan {
            // Each cable has both of its ends among the devices, and no port has two.
            Ok((plan, _)) => {
                let mut ends: Vec<CableEnd> = plan.cables.iter().flat_map(|c| c.ends).collect();
                assert!(ends.iter().all(|end| end.device < plan.devices.len()));
                ends.retain(|end| end.port.is_some());
                ends.sort_unstable();
                assert!(ends.windows(2).all(|two| two[0] != two[1]), "{text}");
            }
            Err(e) => assert!(!e.to_string().is_empty()),
        }
    }
    // Any bytes can be the two halves of a network.
    let bytes = text.as_bytes();
    for cut in [bytes.len() / 2, bytes.len() / 24 * 12] {
        let (inter, intra) = bytes.split_at(cut);
        used(codes::assemble((inter, path), (intra, path), &options));
    }
}

const SMALL: &str = include_str!("../../../../tests/data/fabrics/ibtopotool_3.topo");

const NDT: &str = "#StartDevice,StartPort,EndDevice,EndPort,LinkType
leaf1,Port 21,core1,Blade 16_Port 2/20,Data
node1,node1 ibp11s0f0,leaf1,Port 1,Data
leaf1,Port 2,leaf2,Port 3,Data
leaf2,Port 1,leaf3,Port 1,Data
";
const IBDM: &str = "MTS S1
  L1/P1 -4X-10G-> HCA H-1 P1
  L1/P2 -> HCA H-2 P1
  P9 -> MTS S2 P4
MTS S2
  P4 -> MTS S1 P9
";
const CRAY: &str = include_str!("../../../../fuzz/corpus/links/cray");
const NETBENCH: &str = include_str!("../../../../fuzz/corpus/links/netbench");
const CODES: &[u8] = include_bytes!("../../../../fuzz/corpus/links/codes");

/// Methods to corrupt a text.
#[derive(Clone, Debug)]
enum Spoil {
    DropLine(usize),
    DoubleLine(usize),
    SwapLines(usize, usize),
    Cut(usize),
    Put(usize, char),
    Remove(usize),
}

fn spoils() -> impl Strategy<Value = Spoil> {
    prop_oneof![
        any::<usize>().prop_map(Spoil::DropLine),
        any::<usize>().prop_map(Spoil::DoubleLine),
        any::<(usize, usize)>().prop_map(|(a, b)| Spoil::SwapLines(a, b)),
        any::<usize>().prop_map(Spoil::Cut),
        (
            any::<usize>(),
            prop::sample::select("[]\"#()SH-0159af \t\nx\u{e4}=".chars().collect::<Vec<_>>())
        )
            .prop_map(|(a, c)| Spoil::Put(a, c)),
        any::<usize>().prop_map(Spoil::Remove),
    ]
}

fn spoil(text: &str, how: &[Spoil]) -> String {
    let mut text = text.to_owned();
    for step in how {
        let mut lines: Vec<&str> = text.lines().collect();
        let chars = text.chars().count();
        if lines.is_empty() || chars == 0 {
            break;
        }
        let n = lines.len();
        text = match *step {
            Spoil::DropLine(i) => {
                lines.remove(i % n);
                lines.join("\n")
            }
            Spoil::DoubleLine(i) => {
                lines.insert(i % n, lines[(i / 7) % n]);
                lines.join("\n")
            }
            Spoil::SwapLines(a, b) => {
                lines.swap(a % n, b % n);
                lines.join("\n")
            }
            Spoil::Cut(i) => text.chars().take(chars / 2 + i % chars).collect(),
            Spoil::Put(i, c) => text
                .chars()
                .enumerate()
                .map(|(k, old)| if k == i % chars { c } else { old })
                .collect(),
            Spoil::Remove(i) => {
                text.chars().enumerate().filter(|(k, _)| *k != i % chars).map(|(_, c)| c).collect()
            }
        };
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn spoilt_dumps(how in prop::collection::vec(spoils(), 1..12)) {
        try_all(&spoil(SMALL, &how));
    }

    #[test]
    fn any_text(text in ".{0,200}") {
        try_all(&text);
    }

    #[test]
    fn words_of_the_formats(words in prop::collection::vec(prop::sample::select(vec![
        "Switch", "Ca", "Rt", " 4 ", "\"S-1\"", "\"S-2\"", "\"H-3\"", "[1]", "[2]", "[4]", "(5)", "#", "\"x\"",
        " lid 3 ", "4xHDR", "\n", "switchguid=0x1", "a", "b", "host", ",", "7", "{", "}", "SW 1 1 0x51 4x HDR - ",
        "CA 2 1 0x21", " ( 'a' - 'b' )",
    ]), 0..60)) {
        try_all(&words.concat());
    }

    #[test]
    fn spoilt_json(how in prop::collection::vec(spoils(), 1..4)) {
        let (t, _) = ibnetdiscover::read(SMALL, Path::new("x")).expect("a dump");
        let mut out = Vec::new();
        json::write(&mut out, &t).expect("memory");
        try_all(&spoil(&String::from_utf8(out).expect("text"), &how));
    }

    #[test]
    fn spoilt_link_lists(how in prop::collection::vec(spoils(), 1..8)) {
        try_all(&spoil(CRAY, &how));
        try_all(&spoil(NETBENCH, &how));
    }

    #[test]
    fn spoilt_plans(how in prop::collection::vec(spoils(), 1..8)) {
        try_all(&spoil(NDT, &how));
        try_all(&spoil(IBDM, &how));
    }

    #[test]
    fn spoilt_binaries(how in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6)) {
        let mut bytes = CODES.to_vec();
        for (i, byte) in how {
            let i = i.index(bytes.len());
            bytes[i] = byte;
        }
        // Bytes below 0x80 are text as they are.
        try_all(&String::from_utf8_lossy(&bytes));
    }
}

//! Written files are read back equal.

use darkfiber_testkit::lines;
use std::path::Path;

use darkfiber_fabric::{
    Adapter, DragonflyShape, FAMILIES, Fabric, FabricBuilder, GridKind, GridShape, GroupKind, Guid,
    HostId, LinkClass, Pgft, Role, Shape, Switch, SwitchId, Terminal, Topology, TreeShape,
    parse_spec,
};
use darkfiber_formats::edges::{self, Options};
use darkfiber_formats::{ibnetdiscover, json};
use darkfiber_routing::Lids;
use proptest::prelude::*;

use crate::support::{shared, shipped};

/// Steps that modify a fabric, in order; steps that do not fit are skipped.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    switches: Vec<(u8, bool, Option<u16>)>,
    cables: Vec<(usize, usize, usize)>,
    adapters: Vec<(usize, u8, bool)>,
    terminals: Vec<(usize, usize, u8, usize)>,
}

pub(crate) fn plans() -> impl Strategy<Value = Plan> {
    let switch = (2u8..20, any::<bool>(), proptest::option::of(1u16..0xBFFF));
    (
        prop::collection::vec(switch, 1..8),
        prop::collection::vec((0usize..8, 0usize..8, 0usize..4), 0..30),
        prop::collection::vec((0usize..6, 1u8..4, any::<bool>()), 0..12),
        prop::collection::vec((0usize..12, 0usize..8, 0u8..8, 0usize..4), 0..24),
    )
        .prop_map(|(switches, cables, adapters, terminals)| Plan {
            switches,
            cables,
            adapters,
            terminals,
        })
}

/// A fabric with parallel cables, loopbacks, adapters of several ports, some of them unlinked, hosts
/// with several adapters, and aggregation adapters. Everything is in the order in which a reader of
/// dumps finds it, so that equality can be required.
pub(crate) fn fabric(plan: &Plan) -> Fabric {
    let labels = ["4xHDR", "4xEDR", "1xSDR", "aries-nic@10200000001B/s"];
    let mut next = vec![1u8; plan.switches.len()];
    let mut taken = std::collections::HashSet::new();
    let mut port = |s: usize| {
        let p = next[s];
        (p <= plan.switches[s].0).then(|| next[s] = p + 1).map(|()| p)
    };
    // (switch, port) -> what hangs there, to number classes in that order.
    let mut links = Vec::new();
    for &(a, b, class) in &plan.cables {
        let (a, b) = (a % plan.switches.len(), b % plan.switches.len());
        if let Some(p) = port(a)
            && let Some(q) = port(b)
        {
            links.push((a.min(b), a, p, b, q, class));
        }
    }
    let mut terminals = Vec::new();
    if !plan.adapters.is_empty() {
        for &(a, s, p, class) in &plan.terminals {
            let (a, s) = (a % plan.adapters.len(), s % plan.switches.len());
            let adapter_port = p % plan.adapters[a].1 + 1;
            if !taken.contains(&(a, adapter_port))
                && let Some(q) = port(s)
            {
                taken.insert((a, adapter_port));
                terminals.push((s, q, a, adapter_port, class));
            }
        }
    }
    let mut order: Vec<(usize, u8, usize)> = links
        .iter()
        .map(|l| if (l.3, l.4) < (l.1, l.2) { (l.3, l.4, l.5) } else { (l.1, l.2, l.5) })
        .chain(terminals.iter().map(|t| (t.0, t.1, t.4)))
        .collect();
    order.sort_unstable();

    let mut b = FabricBuilder::new("dump");
    let mut class = [None; 4];
    for (_, _, c) in order {
        class[c] = Some(b.class(LinkClass::of_word(labels[c]).expect("known")));
    }
    let class = |c: usize| class[c].expect("numbered above");
    let mut lids = std::collections::HashSet::new();
    for (i, &(ports, enhanced_port0, lid)) in plan.switches.iter().enumerate() {
        b.add_switch(Switch {
            ports,
            description: format!(" MF0;sw \"{}\":#x/U1", i / 2),
            enhanced_port0,
            lid: lid.filter(|l| lids.insert(*l)),
            vendor: 0x2c9,
            device: 0xd2f0,
            system_guid: Guid(0xabc0 + (i as u64) / 2),
            ..Switch::default()
        });
    }
    let mut hosts: Vec<(usize, HostId)> = Vec::new();
    for &(h, ports, aggregation) in &plan.adapters {
        let (host, description) = if aggregation {
            let text = "Mellanox Technologies Aggregation Node";
            (b.add_host(text), text.to_owned())
        } else {
            let known = hosts.iter().find(|x| x.0 == h).map(|x| x.1);
            let host = known.unwrap_or_else(|| {
                let id = b.add_host(format!("cn{h}"));
                hosts.push((h, id));
                id
            });
            (host, format!("cn{h} mlx5_{}", b.adapters().len()))
        };
        b.add_adapter(Adapter {
            description,
            ports,
            host,
            vendor: 0x2c9,
            device: 0x101b,
            ..Adapter::default()
        });
    }
    for &(s, q, a, port, c) in &terminals {
        let aggregation = plan.adapters[a].2;
        b.link_terminal(Terminal {
            adapter: darkfiber_fabric::AdapterId::new(a),
            port,
            guid: Guid(0),
            switch: SwitchId::new(s),
            switch_port: q,
            lid: Some(100 + a as u16 * 8 + u16::from(port)),
            lmc: port % 3,
            role: if aggregation { Role::Aggregation } else { Role::Compute },
            class: class(c),
        })
        .expect("a free port");
    }
    links.sort_by_key(|l| (l.0, l.2));
    for &(_, a, p, t, q, c) in &links {
        b.link_switches((SwitchId::new(a), p), (SwitchId::new(t), q), class(c))
            .expect("free ports");
    }
    b.finish().expect("a fabric")
}

fn through_dump(f: &Fabric) -> (Fabric, String) {
    let mut out = Vec::new();
    ibnetdiscover::write(&mut out, f, None).expect("memory");
    let text = String::from_utf8(out).expect("text");
    let path = format!("{}.topo", f.name());
    let (t, d) = ibnetdiscover::read(&text, Path::new(&path)).expect("a dump");
    let odd = d.0.iter().filter(|d| {
        !d.what.contains("has no link") && !d.what.contains("runs at") && !d.what.contains("1xSDR")
    });
    assert_eq!(odd.count(), 0, "{}", lines(&d.0));
    (t.fabric, text)
}

fn through_json(t: &Topology) -> Topology {
    let mut out = Vec::new();
    json::write(&mut out, t).expect("memory");
    let text = String::from_utf8(out).expect("text");
    json::read(&text, Path::new("x.json")).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn dumps(plan in plans()) {
        let f = fabric(&plan);
        let (again, text) = through_dump(&f);
        prop_assert_eq!(&again, &f, "{}", text);
        prop_assert_eq!(again.digest(), f.digest());
    }

    #[test]
    fn native(plan in plans(), with_shape in any::<bool>()) {
        let f = fabric(&plan);
        let shape = with_shape.then(|| Shape::Dragonfly(DragonflyShape {
            group: vec![3; f.switch_count()],
            member: (0..f.switch_count() as u32).collect(),
            inside: GroupKind::Grid { rows: 6, columns: 16 },
        }));
        let t = Topology { fabric: f.renamed("a \"b\"\n"), shape };
        prop_assert_eq!(through_json(&t), t);
    }

    #[test]
    fn edge_lists_keep_the_graph(plan in plans()) {
        let f = fabric(&plan);
        // Without hosts in the list, the reader adds some.
        if f.terminal_count() == 0 {
            return Ok(());
        }
        let mut out = Vec::new();
        edges::write(&mut out, &f).expect("memory");
        let text = String::from_utf8(out).expect("text");
        let (t, d) = edges::read(&text, Path::new("dump.edges"), &Options::default()).expect("edges");
        prop_assert_eq!(lines(&d.0), "");
        let g = t.fabric;
        prop_assert_eq!(g.loopbacks().len(), f.loopbacks().len());
        let ends = |f: &Fabric| {
            let mut e: Vec<_> = (0..f.channel_count()).map(|c| (f.tails()[c], f.heads()[c])).collect();
            e.sort_unstable();
            e
        };
        prop_assert_eq!(ends(&g), ends(&f), "{}", text);
        let homes = |f: &Fabric| f.terminals().iter().map(|t| t.switch).collect::<Vec<_>>();
        prop_assert_eq!(homes(&g), homes(&f));
        let rates = |f: &Fabric| {
            let all = (0..f.terminal_count()).map(darkfiber_fabric::TerminalId::new);
            all.map(|t| f.terminal_class(t).clone()).collect::<Vec<_>>()
        };
        prop_assert_eq!(rates(&g), rates(&f));
    }
}

#[test]
fn real_files_are_written_as_they_were_read() {
    for name in ["stage-sx6036.topo", "ufm_small_topo_file.txt", "ibtopotool_3.topo"] {
        let path = shipped(name);
        let text = darkfiber_formats::input::read_text(&path).expect("shipped");
        let (t, _) = ibnetdiscover::read(&text, &path).expect("a dump");
        assert_eq!(through_dump(&t.fabric).0, t.fabric, "{name}");
        assert_eq!(through_json(&t), t);
    }
    for name in ["data/fabrics/selene.compute.txt", "data/fabrics/selene.storage.txt"] {
        let Some(path) = shared(name) else { return };
        let text = darkfiber_formats::input::read_text(&path).expect("present");
        let (t, _) = ibnetdiscover::read(&text, &path).expect("a dump");
        assert_eq!(through_dump(&t.fabric).0, t.fabric, "{name}");
        assert_eq!(through_json(&t), t);
    }
}

#[test]
fn lids_given_to_the_writer_replace_those_of_the_fabric() {
    let path = shipped("ibtopotool_3.topo");
    let text = darkfiber_formats::input::read_text(&path).expect("shipped");
    let (t, _) = ibnetdiscover::read(&text, &path).expect("a dump");
    let lids = Lids::assign(&t.fabric, 2).expect("few enough");
    let mut out = Vec::new();
    ibnetdiscover::write(&mut out, &t.fabric, Some(&lids)).expect("memory");
    let text = String::from_utf8(out).expect("text");
    assert!(text.lines().all(|l| l.len() < 255));
    let (again, _) = ibnetdiscover::read(&text, &path).expect("a dump");
    for (i, t) in again.fabric.terminals().iter().enumerate() {
        let id = darkfiber_fabric::TerminalId::new(i);
        assert_eq!((t.lid, t.lmc), (Some(lids.terminal(id)), 2));
    }
    for (i, s) in again.fabric.switches().iter().enumerate() {
        assert_eq!(s.lid, Some(lids.switch(SwitchId::new(i))));
    }
    // ibsim attaches the subnet manager to the first node of the file.
    let first = text.lines().find(|l| l.starts_with("Ca") || l.starts_with("Switch"));
    assert!(first.is_some_and(|l| l.starts_with("Ca")));
}

#[test]
fn shapes_survive_in_json() {
    let mut b = FabricBuilder::new("x");
    let class = b.class(LinkClass::other("light", 7));
    let s = b.add_switch(Switch { ports: 4, ..Switch::default() });
    b.add_host_on(s, 1, "cn1", class).expect("free");
    let fabric = b.finish().expect("a fabric");
    let pgft = Pgft { m: vec![1], w: vec![1], p: vec![1], digits: vec![0], index: vec![0] };
    for shape in [
        Shape::Tree(TreeShape { level: vec![1], pgft: Some(pgft) }),
        Shape::Tree(TreeShape { level: vec![1], pgft: None }),
        Shape::Grid(GridShape { kind: GridKind::Torus, dims: vec![1, 2], coords: vec![0, 1] }),
    ] {
        let t = Topology { fabric: fabric.clone(), shape: Some(shape) };
        assert_eq!(through_json(&t), t);
    }
}

#[test]
fn every_family_survives_in_json_with_its_shape() {
    for family in &FAMILIES {
        for text in [family.example().to_owned(), format!("{},planes=3", family.example())] {
            let t = parse_spec(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert!(t.shape.is_some());
            assert_eq!(through_json(&t), t, "{text}");
        }
    }
}

#[test]
fn dumps_tell_the_planes_of_a_host() {
    let t = parse_spec("rails:hosts_per_unit=3,spines=0,nics=4").expect("a spec");
    let (again, _) = through_dump(&t.fabric);
    assert_eq!(again.digest(), t.fabric.digest());
    assert_eq!((again.hosts().len(), again.adapters().len()), (3, 12));
}

#[test]
fn json_is_strict() {
    let good = r#"{"format":"darkfiber-fabric","version":1,"classes":[{"label":"x","bytes_per_second":1}],
        "switches":[{"description":"a","ports":2}],"links":[]"#;
    let read = |rest: &str| {
        json::read(&format!("{good}{rest}}}"), Path::new("x.json")).map_err(|e| e.to_string())
    };
    assert!(read("").is_ok());
    let errors: Vec<String> = [
        r#","colour":1"#,
        r#","loopbacks":[[0,1,9,0]]"#,
        r#","loopbacks":[[0,1,1,0]]"#,
        r#","loopbacks":[[0,1,2,4]]"#,
        r#","loopbacks":[[7,1,2,0]]"#,
        r#","adapters":[{"description":"x","ports":1,"host":0}]"#,
        r#","terminals":[{"adapter":0,"port":1,"switch":0,"switch_port":1,"class":0}]"#,
        r#","shape":{"tree":{"level":[1,2],"pgft":null}}"#,
        r#","shape":{"tree":{"level":[1],"pgft":null,"colour":1}}"#,
    ]
    .iter()
    .map(|rest| read(rest).expect_err(rest))
    .collect();
    insta::assert_snapshot!(errors.join("\n"), @r#"
    x.json: unknown field `colour`, expected one of `format`, `version`, `name`, `classes`, `switches`, `hosts`, `adapters`, `terminals`, `links`, `loopbacks`, `shape` at line 2 column 70; expected a darkfiber fabric in JSON (format "darkfiber-fabric", version 1)
    x.json: loopback 0: switch 0x0000500000000001 "a" has 2 ports, port 9 does not exist; expected a darkfiber fabric in JSON (format "darkfiber-fabric", version 1) (the file contradicts itself)
    x.json: loopback 0: port 1 of "a" (0x0000500000000001) already has a cable; expected a darkfiber fabric in JSON (format "darkfiber-fabric", version 1) (the file contradicts itself)
    x.json: there is no class 4; expected a darkfiber fabric in JSON (format "darkfiber-fabric", version 1) (the file contradicts itself)
    x.json: there is no switch 7; expected a darkfiber fabric in JSON (format "darkfiber-fabric", version 1) (the file contradicts itself)
    x.json: adapter "x" is in host 0, which does not exist; expected a darkfiber fabric in JSON (format "darkfiber-fabric", version 1) (the file contradicts itself)
    x.json: there is no adapter 0; expected a darkfiber fabric in JSON (format "darkfiber-fabric", version 1) (the file contradicts itself)
    x.json: shape: not of a fabric with 1 switches and 0 terminals; expected a darkfiber fabric in JSON (format "darkfiber-fabric", version 1) (leave "shape" out to have it recognised)
    x.json: shape: unknown or missing keys; expected a darkfiber fabric in JSON (format "darkfiber-fabric", version 1) (leave "shape" out to have it recognised)
    "#);
    let later =
        json::read(r#"{"format":"darkfiber-fabric","version":2,"new":1}"#, Path::new("x.json"));
    assert!(later.expect_err("a later version").to_string().contains("version 2"));
}

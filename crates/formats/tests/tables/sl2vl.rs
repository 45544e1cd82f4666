//! Lanes by input and output port.

use std::path::Path;

use darkfiber_fabric::{AtPort, Fabric, SwitchId};
use darkfiber_formats::sl2vl;
use darkfiber_routing::check::check;
use darkfiber_routing::{
    ENGINES, HopLanes, Layers, Lids, Request, Routes, find_engine, layers_by_hop,
};
use darkfiber_testkit::{connected_fabric, families};
use proptest::prelude::*;

use crate::shared::{lines, written};

fn read(text: &str, fabric: &Fabric) -> (Layers, String) {
    let (layers, _, found) =
        sl2vl::read(text, Path::new("sl2vl"), fabric, Layers::One).expect("tables");
    (layers, lines(&found))
}

#[test]
fn what_engines_get_is_read_back_on_every_family() {
    let mut several = 0;
    for spec in families::small() {
        let on = families::topology(spec);
        let lids = Lids::assign(&on.fabric, 0).expect("few");
        for engine in &ENGINES {
            let request = Request { shape: on.shape.as_ref(), lanes: 15, ..Request::default() };
            let Ok(mut routes) = engine.route(&on.fabric, &request) else { continue };
            if layers_by_hop(&on.fabric, &mut routes, 15).is_err() {
                continue;
            }
            let Layers::ByHop(lanes) = &routes.layers else { continue };
            several += 1;
            let text = written(|out| sl2vl::write(out, &on.fabric, lanes, &lids));
            let (again, found) = read(&text, &on.fabric);
            assert_eq!(found, "", "{spec} {}", engine.name());
            assert_eq!(again, routes.layers, "{spec} {}", engine.name());
        }
    }
    assert!(several > 5, "{several}");
}

proptest! {
    #[test]
    fn any_lanes_are_read_back(
        fabric in connected_fabric(), drawn in prop::collection::vec(0u8..15, 1..30)
    ) {
        let mut lanes = HopLanes::new(&fabric);
        let mut drawn = drawn.iter().cycle();
        for s in (0..fabric.switch_count()).map(SwitchId::new) {
            let has = |&port: &u8| fabric.at_port(s, port) != AtPort::Nothing;
            for output in (1..=fabric.switch(s).ports).filter(has) {
                for input in std::iter::once(0).chain((1..=fabric.switch(s).ports).filter(has)) {
                    lanes.set(0, s, input, output, *drawn.next().expect("some"));
                }
            }
        }
        let lids = Lids::assign(&fabric, 0).expect("few");
        let text = written(|out| sl2vl::write(out, &fabric, &lanes, &lids));
        let (again, found) = read(&text, &fabric);
        prop_assert_eq!(found, "");
        let expected = if lanes.is_one() { Layers::One } else { Layers::ByHop(lanes) };
        prop_assert_eq!(again, expected);
    }
}

/// A small dragonfly with two lanes, and its written tables.
fn dragonfly() -> (Fabric, Routes, String) {
    let on = families::topology("dragonfly:p=1,a=2,h=1");
    let request = Request { shape: on.shape.as_ref(), ..Request::default() };
    let route = find_engine("dragonfly-min").expect("an engine").route(&on.fabric, &request);
    let mut routes = route.expect("routes");
    layers_by_hop(&on.fabric, &mut routes, 15).expect("lanes");
    let lids = Lids::assign(&on.fabric, 0).expect("few");
    let lanes = routes.layers.by_hop().expect("two lanes");
    let text = written(|out| sl2vl::write(out, &on.fabric, lanes, &lids));
    (on.fabric, routes, text)
}

#[test]
fn it_has_the_form_of_opensm() {
    let (fabric, _, text) = dragonfly();
    let mut lines = text.lines();
    let switch = &fabric.switches()[0];
    let title = lines.next().expect("a line");
    assert!(title.starts_with(&format!("Switch {}, base LID ", switch.guid)), "{title}");
    assert!(title.ends_with(&format!("\"{}\"", switch.description)), "{title}");
    assert_eq!(lines.next(), Some("#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15"));
    assert!(lines.next().is_some_and(|line| line.starts_with("#---")));
    let entry = "0   1   : 0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0 ";
    assert_eq!(lines.next(), Some(entry));
}

#[test]
fn what_is_odd_is_said_with_its_line() {
    let (fabric, routes, text) = dragonfly();
    let first = text.lines().position(|line| line.starts_with("1   2 ")).expect("an entry");
    let with = |line: &str| {
        let mut all: Vec<&str> = text.lines().collect();
        all[first] = line;
        read(&all.join("\n"), &fabric).1
    };
    let number = first + 1;
    let alike = |lane: &str| [lane; 16].join(" ");
    for (line, expected) in [
        (format!("1 2 : {}", &alike("0")[2..]), "is no entry of an SL2VL table"),
        (format!("1 2 : {} 0", alike("0")), "is no entry of an SL2VL table"),
        (format!("1 2 : {}", alike("16")), "is no entry of an SL2VL table"),
        (format!("1 x : {}", alike("0")), "is no entry of an SL2VL table"),
        (format!("1 77 : {}", alike("0")), "port 77 of switch"),
        (format!("1 2 : 0 1 {}", &alike("0")[4..]), "1 entry has other lanes"),
        (
            "Switch 0x77, base LID 1, \"odd\"".to_owned(),
            "switch 0x0000000000000077 is not in the fabric",
        ),
        ("Switch, odd".to_owned(), "is no entry of an SL2VL table"),
    ] {
        let found = with(&line);
        assert!(found.contains(expected) && found.contains(&number.to_string()), "{line}: {found}");
    }
    // Left out, or twice.
    assert!(with("").contains("1 pair of ports has no entry"), "{}", with(""));
    let twice = format!("{text}1 2 : {}\n1 2 : {}\n", alike("1"), alike("0"));
    assert!(read(&twice, &fabric).1.contains("already"));
    // Tables of adapters are passed over.
    let more = format!("{text}Channel Adapter 0x77, base LID 1, \"x\"\n0 0 : {}\n", alike("3"));
    assert_eq!(read(&more, &fabric), (routes.layers.clone(), String::new()));
}

/// Pairs whose packets meet an entry of VL 15 are lost, the last hop to a host included; entries that no pair's level meets do no harm.
#[test]
fn what_switches_discard_is_lost() {
    let on = families::topology("torus:dims=4x4,t=1");
    let engine = find_engine("updn").expect("an engine");
    let routes = engine.route(&on.fabric, &Request::default()).expect("routes");
    let lids = Lids::assign(&on.fabric, 0).expect("few");
    let lanes = HopLanes::new(&on.fabric);
    let text = written(|out| sl2vl::write(out, &on.fabric, &lanes, &lids));
    let rows = routes.row_count();
    let lost = |levels: Layers, edit: &dyn Fn(&str) -> String| {
        let text: Vec<String> = text.lines().map(edit).collect();
        let read = sl2vl::read(&text.join("\n"), Path::new("sl2vl"), &on.fabric, levels.clone());
        let mut with = routes.clone();
        with.layers = levels;
        read.expect("tables").1.lost(&on.fabric, &with)
    };
    let discards = |level: usize, what: &'static str| {
        move |line: &str| {
            let Some((ports, lanes)) = line.split_once(" : ") else { return line.to_owned() };
            let output = ports.split_whitespace().nth(1);
            if output.is_none_or(|output| !what.is_empty() && output != what)
                || line.starts_with('#')
            {
                return line.to_owned();
            }
            let mut lanes: Vec<&str> = lanes.split_whitespace().collect();
            lanes[level] = "15";
            format!("{ports} : {}", lanes.join(" "))
        }
    };
    assert_eq!(lost(Layers::One, &|line| line.to_owned()), None);
    // All entries of level 0; of another level; of a level that all have.
    let all = lost(Layers::One, &discards(0, "")).expect("all are lost");
    assert!(all.contains("VL 15 of SL 0") && all.contains("240 pairs of ports"), "{all}");
    assert_eq!(lost(Layers::One, &discards(3, "")), None);
    assert_eq!(lost(Layers::ByRow(vec![3; rows]), &discards(0, "")), None);
    let all = lost(Layers::ByRow(vec![3; rows]), &discards(3, "")).expect("all are lost");
    assert!(all.contains("VL 15 of SL 3") && all.contains("240 pairs of ports"), "{all}");
    // The port of each host alone: it is the last hop of all.
    let host = on.fabric.terminals()[0].switch_port.to_string();
    assert!(on.fabric.terminals().iter().all(|t| t.switch_port.to_string() == host));
    let host: &'static str = Box::leak(host.into_boxed_str());
    let last = lost(Layers::One, &discards(0, host)).expect("all are lost");
    assert!(last.contains("240 pairs of ports"), "{last}");
}

#[test]
fn tables_of_another_fabric_are_refused() {
    let (_, _, text) = dragonfly();
    let other = families::topology("kary:k=2,n=2").fabric;
    let foreign = text.replace("0x0000", "0x0077");
    for text in [foreign.as_str(), "", "nothing of the kind"] {
        let error =
            sl2vl::read(text, Path::new("sl2vl"), &other, Layers::One).expect_err("foreign");
        assert!(error.to_string().contains("this fabric"), "{error}");
    }
}

#[test]
fn lanes_that_were_altered_deadlock() {
    let (fabric, mut routes, text) = dragonfly();
    assert!(check(&fabric, &routes).deadlock_free());
    let ones: String =
        text.replace(" 1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  1 ", &" 0 ".repeat(16));
    routes.layers = read(&ones, &fabric).0;
    assert_eq!(routes.layers, Layers::One);
    assert!(!check(&fabric, &routes).deadlock_free());
}

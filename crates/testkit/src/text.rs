//! A small text language for fabrics in tests.

use std::collections::BTreeMap;

use darkfiber_fabric::{Fabric, FabricBuilder, LinkClass, Switch, SwitchId};

/// A fabric from text: items separated by `;`, where `a-b` is a cable between switches `a` and `b`,
/// `a-b x3` are three, and `h@a` is a host `h` on switch `a` (`h@a x4`: four hosts). Switches are
/// numbered in order of first appearance and have as many ports as they use.
///
/// # Panics
/// If the text is not of that form.
pub fn fabric(text: &str) -> Fabric {
    let mut names: Vec<&str> = Vec::new();
    let mut degree: BTreeMap<&str, u8> = BTreeMap::new();
    let mut items = Vec::new();
    for item in text.split(';').map(str::trim).filter(|i| !i.is_empty()) {
        let (body, times) = item.split_once(" x").map_or((item, 1), |(body, n)| {
            (body.trim(), n.trim().parse::<u8>().expect("a number after x"))
        });
        let (a, b, host) = if let Some((host, switch)) = body.split_once('@') {
            (switch, switch, Some(host))
        } else {
            let (a, b) = body.split_once('-').expect("a-b or h@a");
            (a, b, None)
        };
        for name in if host.is_some() { vec![a] } else { vec![a, b] } {
            if !names.contains(&name) {
                names.push(name);
            }
            *degree.entry(name).or_default() += times;
        }
        items.push((a, b, host, times));
    }
    let mut builder = FabricBuilder::new(text);
    let class = builder.class(LinkClass::infiniband("4xHDR").expect("a known label"));
    for name in &names {
        builder.add_switch(Switch {
            ports: degree[name],
            description: (*name).to_owned(),
            ..Switch::default()
        });
    }
    let id = |name: &str| {
        SwitchId::new(names.iter().position(|n| *n == name).expect("every name was collected"))
    };
    let mut used: BTreeMap<&str, u8> = BTreeMap::new();
    for (a, b, host, times) in items {
        for i in 0..times {
            let mut port = |name| {
                let p = used.entry(name).or_default();
                *p += 1;
                *p
            };
            if let Some(host) = host {
                let name = if times == 1 { host.to_owned() } else { format!("{host}{i}") };
                builder.add_host_on(id(a), port(a), &name, class).expect("ports were counted");
            } else {
                let (pa, pb) = (port(a), port(b));
                builder.link_switches((id(a), pa), (id(b), pb), class).expect("counted");
            }
        }
    }
    builder.finish().expect("generated GUIDs are unique")
}

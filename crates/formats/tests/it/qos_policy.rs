//! Service levels as rules of OpenSM's QoS policy.

use darkfiber_fabric::{Fabric, TerminalId, open};
use darkfiber_formats::qos_policy::{Policy, PolicyRefused};
use darkfiber_routing::{Request, Routes, find_engine};

fn routed(spec: &str, engine: &str) -> (Fabric, Routes) {
    let topology = open(spec).expect(spec);
    let engine = find_engine(engine).expect("an engine");
    let request = Request { shape: topology.shape.as_ref(), ..Request::default() };
    let routes = engine.route(&topology.fabric, &request).expect("routes");
    (topology.fabric, routes)
}

/// The first rule that matches, found in the text alone.
fn level_in(text: &str, from: &str, to: &str) -> u8 {
    let group = |name: &str, guid: &str| {
        let block = text.split("port-group\n").find(|b| b.contains(&format!("name: {name}\n")));
        block.expect("a group").contains(&format!("port-guid: {guid}\n"))
    };
    let rules = text.split("  qos-match-rule\n").skip(1);
    for rule in rules {
        let key = |key: &str| rule.lines().find_map(|l| l.trim().strip_prefix(key));
        let is_from = key("source: ").is_none_or(|name| group(name, from));
        if is_from && group(key("destination: ").expect("a destination"), to) {
            let level = key("qos-level-name: SL").expect("a level").parse().expect("a number");
            let defined = format!("name: SL{level}\n    sl: {level}\n");
            assert!(text.contains(&defined), "{defined}");
            return level;
        }
    }
    0
}

#[test]
fn rules_give_every_pair_its_level() {
    for (spec, engine) in [
        ("dragonfly:p=2,a=4,h=2", "dfsssp"),
        ("torus:dims=5x5,t=1", "lash"),
        ("torus:dims=5x5,t=2", "dfsssp"),
    ] {
        let (fabric, routes) = routed(spec, engine);
        assert!(routes.layer_count() > 1, "{spec}");
        let policy = Policy::of(&fabric, &routes).expect("few rules");
        let mut text = Vec::new();
        policy.write(&mut text, &fabric).expect("written");
        let text = String::from_utf8(text).expect("text");
        let all = || (0..fabric.terminal_count()).map(TerminalId::new);
        for (from, to) in all().flat_map(|from| all().map(move |to| (from, to))) {
            if from == to {
                continue;
            }
            let wanted = routes.layer(&fabric, from, to);
            assert_eq!(policy.level(from, to), wanted, "{spec}");
            // The text is long to search: some pairs do.
            if (from.0 * 7 + to.0) % 11 == 0 {
                let guid = |t: TerminalId| fabric.terminal(t).guid.to_string();
                assert_eq!(level_in(&text, &guid(from), &guid(to)), wanted, "{spec}");
            }
        }
        assert_eq!(text.matches("  qos-match-rule\n").count(), policy.rules());
        assert!(policy.rules() < 130, "{spec}: {} rules", policy.rules());
    }
}

#[test]
fn one_lane_needs_no_rule() {
    let (fabric, routes) = routed("fattree2:n=6,m=3,r=4", "ftree");
    assert_eq!(Policy::of(&fabric, &routes).map(|p| p.rules()), Ok(0));
    let refused = PolicyRefused::TooMany { rules: 2_140 }.to_string();
    assert!(
        refused.contains("2140 rules would be needed") && refused.contains("at most 300"),
        "{refused}"
    );
}

//! Section II-B and figure 3: the largest system; section III: the systems that are measured.

use darkfiber_analysis::diameter;
use darkfiber_fabric::{ChannelId, Shape, SwitchId, Topology, open};

use super::PAPER;
use crate::reproduce::{Allowed, Class, Context, Experiment, Row, USUAL};

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "SLS-TOPO",
    title: "Slingshot's largest dragonfly, Shandy, Malbec and Crystal (sections II-B, II-G and III)",
    paper: PAPER,
    setup: "Counted on the presets; the diameter of 17,440 switches is searched. Where the paper contradicts itself, the number \
     that its formulae use is the reading.",
    class: Class::Exact,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let exact = |what: &str, paper: f64, ours: f64| Row::new(what, paper, ours, Allowed::Nothing);
    (context.at)("the largest system");
    let most = open("@slingshot-max").expect("a preset");
    let ports = |s: SwitchId| {
        let f = &most.fabric;
        (f.terminals_on(s).len() + f.channels_from(s).len()) as f64
    };
    let limited = open("@slingshot-511").expect("a preset").fabric;
    let shandy = open("@shandy").expect("a preset");
    let malbec = open("@malbec").expect("a preset");
    let crystal = open("@crystal").expect("a preset");
    vec![
        exact("largest: ports of a switch", 64.0, ports(SwitchId(0))),
        exact("largest: groups", 545.0, groups(&most)),
        exact("largest: endpoints", 279_040.0, most.fabric.terminal_count() as f64),
        exact("largest: global cables of a group", 544.0, of_group(&most)),
        exact("largest: switch-to-switch hops", 3.0, diameter(&most.fabric) as f64)
            .noted("`up to three inter-switch hops` of figure 4 count switches"),
        exact("as addresses reach: endpoints", 261_632.0, limited.terminal_count() as f64),
        exact("Shandy: nodes", 1024.0, shandy.fabric.hosts().len() as f64),
        exact("Shandy: groups", 8.0, groups(&shandy)),
        exact("Shandy: global cables towards each other group", 8.0, of_pair(&shandy)).noted(
            "section III prints 56 `to each other group`; they are those of a group, as in II-G",
        ),
        exact("Shandy: global cables of a group", 56.0, of_group(&shandy)),
        exact("Shandy: global cables of all groups, by both ends", 448.0, {
            groups(&shandy) * of_group(&shandy)
        }),
        exact("Malbec: nodes", 484.0, malbec.fabric.hosts().len() as f64),
        exact("Malbec: groups", 4.0, groups(&malbec)),
        exact("Malbec: global cables of a group", 48.0, of_group(&malbec))
            .noted("printed as `to each other group`; by the rule of Shandy those of a group"),
        exact("Crystal: nodes", 698.0, crystal.fabric.hosts().len() as f64),
        exact("Crystal: groups", 2.0, groups(&crystal)),
    ]
}

fn group(t: &Topology, s: SwitchId) -> u32 {
    let Some(Shape::Dragonfly(d)) = &t.shape else { unreachable!("all of them are dragonflies") };
    d.group[s.index()]
}

fn groups(t: &Topology) -> f64 {
    let all = (0..t.fabric.switch_count()).map(|s| group(t, SwitchId::new(s)));
    f64::from(all.max().map_or(0, |most| most + 1))
}

/// Cables that leave the first group, and those of them that go to the second.
fn leaving(t: &Topology, to: Option<u32>) -> f64 {
    let f = &t.fabric;
    let counts = |c: ChannelId| {
        let (from, into) = (group(t, f.tail(c)), group(t, f.head(c)));
        from == 0 && into != 0 && to.is_none_or(|to| to == into)
    };
    (0..f.channel_count()).filter(|&c| counts(ChannelId::new(c))).count() as f64
}

fn of_group(t: &Topology) -> f64 {
    leaving(t, None)
}

fn of_pair(t: &Topology) -> f64 {
    leaving(t, Some(1))
}

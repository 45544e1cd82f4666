//! Fabrics for recognition: damaged, without names, and in another order.

use std::collections::BTreeMap;

use darkfiber_fabric::{
    ChannelId, Fabric, FabricBuilder, Faults, Missing, Recognition, Shape, Switch, SwitchId,
    TerminalId, Topology, recognise,
};

use crate::support::{cables, switches};

/// A SplitMix64 generator.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    pub(crate) fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, self.below(i + 1));
        }
        order
    }
}

/// Amount of damage to a fabric.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Damage {
    /// Per mille of the switch-to-switch cables.
    pub(crate) cables: usize,
    /// Whether a switch is lost.
    pub(crate) switch: bool,
    /// Percent of the hosts.
    pub(crate) hosts: usize,
    pub(crate) seed: u64,
}

/// A damaged and shuffled copy.
pub(crate) struct Case {
    /// The true shape, for the ids of `fabric`.
    pub(crate) truth: Shape,
    pub(crate) fabric: Fabric,
    /// Cables lost between switches that are left.
    pub(crate) lost: BTreeMap<(u32, u32), u32>,
}

fn pairs(fabric: &Fabric, id: impl Fn(SwitchId) -> Option<u32>) -> BTreeMap<(u32, u32), u32> {
    let mut pairs = BTreeMap::new();
    for (s, v) in cables(fabric) {
        if let (Some(s), Some(v)) = (id(s), id(v)) {
            *pairs.entry((s.min(v), s.max(v))).or_default() += 1;
        }
    }
    pairs
}

impl Case {
    pub(crate) fn new(base: &Topology, damage: Damage) -> Self {
        let mut random = Random(damage.seed);
        let full = &base.fabric;
        // A switch whose loss leaves the rest connected.
        let pieces = full.components().len();
        let faults = (0..50)
            .map(|_| {
                let gone = SwitchId::new(random.below(full.switch_count()));
                Faults { switches: vec![gone], ..Faults::default() }
            })
            .find(|f| full.with_faults(f).0.components().len() <= pieces)
            .filter(|_| damage.switch)
            .unwrap_or_default();
        let (rest, first) = base.with_faults(&faults);
        let count = rest.fabric.switch_link_count() * damage.cables / 1000;
        let links = Faults::random_links(&rest.fabric, count, damage.seed).expect("still joined");
        let left = rest.with_faults(&links).0;
        let order = random.order(left.fabric.switch_count());
        let fabric = shuffled(&left.fabric, &order, damage.hosts, &mut random);

        let mut place = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            place[old] = new as u32;
        }
        let new_id = |s: SwitchId| first.switch[s.index()].map(|s| place[s.index()]);
        let mut lost = pairs(full, new_id);
        for (pair, count) in pairs(&fabric, |s| Some(s.0)) {
            *lost.get_mut(&pair).expect("no cable is new") -= count;
        }
        lost.retain(|_, count| *count > 0);
        let truth = left.shape.expect("generated").restricted(&darkfiber_fabric::Renumbering {
            switch: Vec::new(),
            terminal: Vec::new(),
            old_switch: order.iter().map(|&s| SwitchId::new(s)).collect(),
            old_terminal: Vec::new(),
        });
        Self { truth, fabric, lost }
    }

    /// Recognises it and compares the missing parts: cables by their exact ends, so that the supposed structure is
    /// the true one.
    pub(crate) fn recognised(&self, what: &str) -> Recognition {
        let found = recognise(&self.fabric).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert!(found.shape.fits(&self.fabric), "{what}: {}", found.text);
        assert_eq!(found.extra, [], "{what}: {}", found.summary(&self.fabric));
        found
    }

    /// As `recognised`, and the missing cables must be those that were lost.
    pub(crate) fn exactly(&self, what: &str, vacant: usize) -> Recognition {
        let found = self.recognised(what);
        let mut named = BTreeMap::new();
        let mut places = 0;
        for missing in &found.missing {
            match missing {
                Missing::Cables { ends: (s, v), count } => {
                    *named.entry((s.0.min(v.0), s.0.max(v.0))).or_default() += count;
                }
                Missing::Between { .. } | Missing::Somewhere { .. } => {
                    panic!("{what}: {missing:?}")
                }
                Missing::Switch { .. } => places += 1,
            }
        }
        let close = self.as_good(&named);
        assert!(
            close || named == self.lost,
            "{what}: {}, {named:?} for {:?}",
            found.text,
            self.lost
        );
        assert_eq!(places, vacant, "{what}: {:?}", found.missing);
        found
    }
}

impl Case {
    /// Whether the named cables put one switch in another place than it was in, or exchange two, and explain the
    /// fabric with no more lost cables, so that the two cannot be distinguished. In a torus, a switch that kept two
    /// cables, to switches that are diagonal to each other, fits at either of the two corners between them.
    fn as_good(&self, named: &BTreeMap<(u32, u32), u32>) -> bool {
        let sum = |cables: &BTreeMap<_, u32>| cables.values().sum::<u32>();
        let differ: Vec<(u32, u32)> = (named.keys().chain(self.lost.keys()))
            .filter(|&pair| named.get(pair) != self.lost.get(pair))
            .copied()
            .collect();
        let Some(&(a, b)) = differ.first() else { return true };
        let without = |s: u32| differ.iter().find(|&&(x, y)| x != s && y != s);
        let two = |s: u32| {
            let Some(&(c, d)) = without(s) else { return true };
            let all =
                |t: u32| differ.iter().all(|&(x, y)| [s, t].iter().any(|&z| z == x || z == y));
            all(c) || all(d)
        };
        sum(named) <= sum(&self.lost) && (two(a) || two(b))
    }
}

/// The same network: switches in another order, ports renumbered, without names and GUIDs; some hosts
/// left out.
fn shuffled(fabric: &Fabric, order: &[usize], without: usize, random: &mut Random) -> Fabric {
    let mut b = FabricBuilder::new("shuffled");
    let class = b.class(fabric.classes()[0].clone());
    let mut place = vec![SwitchId(0); order.len()];
    let mut port: Vec<Vec<u8>> = Vec::new();
    for &old in order {
        let ports = fabric.switch(SwitchId::new(old)).ports;
        place[old] = b.add_switch(Switch { ports, ..Switch::default() });
        port.push(random.order(usize::from(ports)).iter().map(|&p| p as u8 + 1).collect());
    }
    let mut next = vec![0; order.len()];
    let mut end = |s: SwitchId| {
        let s = place[s.index()];
        next[s.index()] += 1;
        (s, port[s.index()][next[s.index()] - 1])
    };
    let all: Vec<ChannelId> = (0..fabric.channel_count())
        .map(ChannelId::new)
        .filter(|&c| c < fabric.reverse(c))
        .collect();
    for i in random.order(all.len()) {
        let (s, v) = (end(fabric.tail(all[i])), end(fabric.head(all[i])));
        b.link_switches(s, v, class).expect("free ports");
    }
    let hosts: Vec<_> = fabric.hosts().iter().map(|_| b.add_host("")).collect();
    for s in switches(fabric) {
        for t in fabric.terminals_on(s) {
            if random.below(100) >= without {
                let (s, port) = end(s);
                let host = hosts[fabric.host_of(TerminalId::new(t)).index()];
                b.add_adapter_on(host, s, port, "", class).expect("free port");
            }
        }
    }
    b.finish().expect("a copy of a fabric")
}

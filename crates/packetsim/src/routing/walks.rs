//! Packets walked one by one past outputs with random queues: what they would wait for, and how far they go.

use std::collections::{BTreeMap, BTreeSet};

use darkfiber_fabric::{Topology, open};

use super::{
    AnyRouting, Distances, ROUTINGS, Routing, RoutingContext, SwitchView, WithRouting, make,
};
use crate::packet::{NOBODY, Packet};
use crate::{Buffer, Net, OutPort, Peer, Random, preset};

/// The results of the walks.
#[derive(Default)]
pub(super) struct WalkResults {
    /// By buffer, those that a packet in it waited for.
    waits: BTreeMap<Buffer, BTreeSet<Buffer>>,
    /// Channels between switches of the longest walk.
    pub(super) most: u8,
    /// Number of walks, and of those that were non-minimal.
    pub(super) walks: u32,
    pub(super) nonminimal: u32,
    /// Walks that were longer than the shortest, by channels.
    longer: u32,
}

impl WalkResults {
    /// Whether buffers can be numbered so that packets wait for higher ones only.
    fn rises(mut self) -> bool {
        let mut behind: BTreeMap<Buffer, u32> = BTreeMap::new();
        for &next in self.waits.values().flatten() {
            *behind.entry(next).or_default() += 1;
        }
        let is_first = |b: &Buffer| !behind.contains_key(b);
        let mut first: Vec<Buffer> = self.waits.keys().copied().filter(is_first).collect();
        while let Some(buffer) = first.pop() {
            for next in self.waits.remove(&buffer).unwrap_or_default() {
                let left = behind.get_mut(&next).expect("it was counted");
                *left -= 1;
                if *left == 0 {
                    first.push(next);
                }
            }
        }
        self.waits.is_empty()
    }
}

/// Walks from all switches to all others, this many each, with this many lanes.
struct Walks<'n> {
    net: &'n Net,
    lanes: u8,
    each: u32,
}

impl WithRouting<'_> for Walks<'_> {
    type Out = WalkResults;

    fn with<R: Routing>(self, routing: &R) -> WalkResults {
        let Self { net, lanes, each } = self;
        let distances = Distances::new(net);
        let mut random = Random::new(7, 0);
        let mut shown = WalkResults::default();
        let n = net.terminal_count() as u32;
        for pair in 0..n * n {
            for _ in 0..each {
                walk(
                    (net, &distances),
                    lanes,
                    routing,
                    [pair / n, pair % n],
                    &mut random,
                    &mut shown,
                );
            }
        }
        shown
    }
}

fn walk<R: Routing>(
    (net, distances): (&Net, &Distances),
    lanes: u8,
    routing: &R,
    [from, to]: [u32; 2],
    random: &mut Random,
    shown: &mut WalkResults,
) {
    let mut packet = Packet {
        born: 0,
        at: 0,
        from,
        to,
        message: 0,
        via: NOBODY,
        bytes: 16,
        back: 0,
        pad: 0,
        next: NOBODY,
        beside: NOBODY,
        input: 0,
        flowlet: 0,
        mark: 0,
        out: 0,
        group: 0,
        path: routing.path_of(from),
        lane: 0,
        next_lane: 0,
        hops: 0,
        phase: 0,
        round: false,
    };
    let mut switch = net.switch_of(from);
    let mut at: Option<Buffer> = None;
    let mut outputs: Vec<OutPort> = Vec::new();
    loop {
        outputs.clear();
        outputs.resize(net.radix(switch) as usize, OutPort::default());
        for out in &mut outputs {
            out.used = [0, 16, 1 << 12, random.below(512)][random.below(4) as usize];
        }
        let board = &crate::QueueBoard::new(net.port_count(), 1);
        let mut here = SwitchView::new(net, (switch, 0), lanes, &outputs, random, board);
        let (out, lane) = routing.route(&mut here, &mut packet);
        assert!(out < net.radix(switch) && lane < lanes, "output {out}, lane {lane} of {lanes}");
        match net.port(net.base(switch) + out).peer() {
            Peer::Terminal(t) => {
                assert_eq!(t, to);
                break;
            }
            Peer::Port(port) => {
                let next = (port, lane);
                if let Some(at) = at {
                    shown.waits.entry(at).or_default().insert(next);
                }
                (at, packet.lane) = (Some(next), lane);
                packet.hops += 1;
                switch = net.port(port).switch;
            }
        }
    }
    shown.most = shown.most.max(packet.hops);
    shown.walks += 1;
    shown.nonminimal += u32::from(packet.round);
    let shortest = distances.hops(net.switch_of(from), switch);
    shown.longer += u32::from(packet.hops > shortest);
}

/// A fabric to walk on.
pub(super) struct WalkFixture {
    topology: Topology,
    net: Net,
}

impl WalkFixture {
    pub(super) fn new(fabric: &str) -> Self {
        let topology = open(fabric).expect("a fabric");
        let net = Net::new(&topology.fabric, &preset("qdr").expect("a preset").micro());
        Self { topology, net }
    }

    pub(super) fn context(&self) -> RoutingContext<'_> {
        let Topology { fabric, shape, .. } = &self.topology;
        RoutingContext {
            net: &self.net,
            fabric,
            shape: shape.as_ref(),
            routes: None,
            bytes: 16,
            adaptive: crate::routing::Adaptive::default(),
        }
    }

    /// The routing of a name, if it suits.
    pub(super) fn made(&self, name: &str) -> Option<AnyRouting<'_>> {
        make(super::kind(name).expect("registered"), &self.context()).ok()
    }

    /// Walks packets, with `more` lanes above those needed.
    pub(super) fn walk(&self, made: &AnyRouting<'_>, more: u8, each: u32) -> WalkResults {
        made.with(Walks { net: &self.net, lanes: made.lanes() + more, each })
    }
}

/// No packet waits in a cycle, whatever is full, and with any number of lanes.
#[test]
fn what_packets_wait_for_rises() {
    for fabric in [
        "dragonfly:p=1,a=4,h=2",
        "dragonfly:p=1,a=3,h=1",
        "dragonfly:p=1,a=4,g=3,per_pair=4",
        "cascade:groups=3,rows=2,cols=4,p=1,blue=8",
        "dragonflyplus:leaves=3,spines=3,p=1,h=1",
        "hyperx:dims=5,t=1",
        "hyperx:dims=4x3,t=1",
        "hyperx:dims=3x2x4,t=1",
        "hyperx:dims=4x4,t=1,trunk=2x1",
        "torus:dims=4x4,t=1",
        "torus:dims=7,t=1",
        "torus:dims=6x2x3,t=1",
        "mesh:dims=3x4,t=1",
    ] {
        let fixture = WalkFixture::new(fabric);
        let mut suited = 0;
        for kind in &ROUTINGS {
            let Some(made) = fixture.made(kind.name) else { continue };
            suited += 1;
            for more in [0, 1, 3] {
                let shown = fixture.walk(&made, more, 20);
                assert!(shown.walks > 0 && shown.most > 0);
                // A dragonfly's shortest paths have one channel between groups, though two may be shorter.
                let counts = fabric.starts_with(['h', 't', 'm']);
                assert!(!counts || shown.nonminimal == shown.longer, "{fabric} {}", kind.name);
                assert!(shown.rises(), "{fabric} {} {more}", kind.name);
            }
        }
        assert!(suited > 6, "{fabric}: {suited}");
    }
}

/// An order that does not rise is detected: one lane of a ring.
#[test]
fn a_ring_does_not_rise() {
    let fixture = WalkFixture::new("torus:dims=4x4,t=1");
    let made = fixture.made("dor").expect("it suits");
    assert_eq!(made.lanes(), 2);
    let shown = made.with(Walks { net: &fixture.net, lanes: 1, each: 20 });
    assert!(!shown.rises());
}

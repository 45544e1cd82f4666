//! Jobs on a fabric of several planes: the terminals that they use, and messages that are divided over all planes.

use std::fmt;

use darkfiber_fabric::{Fabric, HostId, Planes, TerminalId};
use darkfiber_workload::play::{self, Delivery, Departure, Wire};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error as _, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Job;
use crate::run::Resumable;

/// The planes that a job uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanePart {
    /// One of them, from 1.
    Number(u8),
    /// All: every message is divided into equal parts, one for each plane.
    Striped,
}

const STRIPED: &str = "striped";

impl Serialize for PlanePart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_u8(*number),
            Self::Striped => serializer.serialize_str(STRIPED),
        }
    }
}

impl<'de> Deserialize<'de> for PlanePart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = PlanePart;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a plane from 1, or \"striped\"")
            }

            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<PlanePart, E> {
                match u8::try_from(value) {
                    Ok(number @ 1..) => Ok(PlanePart::Number(number)),
                    _ => Err(E::custom(format!("{value} is no plane: they are numbered from 1"))),
                }
            }

            fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<PlanePart, E> {
                if value == STRIPED {
                    return Ok(PlanePart::Striped);
                }
                Err(E::custom(format!(
                    "\"{value}\" is no plane: expected 1, 2, ... or \"striped\""
                )))
            }
        }
        deserializer.deserialize_any(Any).map_err(D::Error::custom)
    }
}

impl JsonSchema for PlanePart {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PlanePart".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 64 }, { "const": STRIPED }]
        })
    }
}

/// The terminals of hosts by plane.
#[derive(Debug)]
pub(crate) struct Rails {
    planes: Planes,
    /// By host and plane.
    of_host: Vec<Vec<Vec<TerminalId>>>,
    /// By terminal, the terminals of its host that stand for it in each plane; empty where one has none.
    peers: Vec<Vec<TerminalId>>,
}

impl Rails {
    pub(crate) fn new(fabric: &Fabric) -> Self {
        let planes = Planes::of(fabric);
        let mut of_host = vec![vec![Vec::new(); planes.count()]; fabric.hosts().len()];
        for t in (0..fabric.terminal_count()).map(TerminalId::new) {
            of_host[fabric.host_of(t).index()][planes.of_terminal(fabric, t)].push(t);
        }
        // The nth of a host in one plane goes with the nth in the others.
        let peers = |t: TerminalId| {
            let host: &Vec<Vec<TerminalId>> = &of_host[fabric.host_of(t).index()];
            let own = &host[planes.of_terminal(fabric, t)];
            let nth = own.iter().position(|&other| other == t).unwrap_or(0);
            let peer = |of: &Vec<TerminalId>| of.get(nth % of.len().max(1)).copied();
            host.iter().map(peer).collect::<Option<Vec<_>>>().unwrap_or_default()
        };
        let peers = (0..fabric.terminal_count()).map(TerminalId::new).map(peers).collect();
        Self { planes, of_host, peers }
    }

    pub(crate) fn count(&self) -> usize {
        self.planes.count()
    }

    /// By plane, the terminals that stand for this one.
    pub(crate) fn peers(&self, t: TerminalId) -> &[TerminalId] {
        &self.peers[t.index()]
    }
}

/// What part `i` of `of` of a message has of its bytes.
pub(crate) fn part(bytes: u64, i: usize, of: usize) -> u64 {
    let up_to = |i: usize| (u128::from(bytes) * i as u128 / of as u128) as u64;
    up_to(i + 1) - up_to(i)
}

/// The jobs as each plane sees them: one that is divided over the planes is a job in each of them.
pub(crate) fn in_each_plane(jobs: &[Job], fabric: &Fabric) -> Vec<play::Job> {
    let rails = Rails::new(fabric);
    let mut all = Vec::with_capacity(jobs.len());
    for job in jobs {
        if !job.striped {
            all.push(job.play.clone());
            continue;
        }
        for plane in 0..rails.count() {
            let terminals = job.play.terminals.iter().map(|&t| rails.peers(t)[plane]).collect();
            all.push(play::Job { terminals, ..job.play.clone() });
        }
    }
    all
}

/// A [`Wire`] that divides the messages of some jobs into equal parts, one for each plane of the fabric. A message has left, and
/// arrived, when its last part has. Messages within a host, and those of fewer bytes than there are planes, go as they are.
pub(crate) struct Striped<'a, W> {
    pub(crate) inner: W,
    fabric: &'a Fabric,
    rails: Rails,
    /// By job.
    striped: Vec<bool>,
    /// By message, its parts under way, and when the last one left and arrived.
    parts: Vec<(u32, u64, u64)>,
    departures: Vec<Departure>,
    delivered: Vec<Delivery>,
}

/// What changes of it while it is simulated.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct StripedState<S> {
    inner: S,
    parts: Vec<(u32, u64, u64)>,
}

impl<'a, W: Wire> Striped<'a, W> {
    pub(crate) fn new(inner: W, fabric: &'a Fabric, jobs: &[Job]) -> Self {
        let striped: Vec<bool> = jobs.iter().map(|job| job.striped).collect();
        let rails = Rails::new(fabric);
        let (parts, departures, delivered) = (Vec::new(), Vec::new(), Vec::new());
        Self { inner, fabric, rails, striped, parts, departures, delivered }
    }

    /// Puts together what the parts have become.
    fn join(&mut self, delivered: &mut Vec<Delivery>) {
        let planes = self.rails.count() as u32;
        for d in self.delivered.drain(..) {
            let message = d.message / planes;
            let (open, left, arrives) = &mut self.parts[message as usize];
            *open -= 1;
            *left = d.left.max(*left);
            *arrives = d.arrives.max(*arrives);
            if *open == 0 {
                delivered.push(Delivery { message, left: *left, arrives: *arrives });
            }
        }
    }
}

impl<W: Wire> Wire for Striped<'_, W> {
    fn latency(&self, from: TerminalId, to: TerminalId) -> u64 {
        self.inner.latency(from, to)
    }

    fn depart(&mut self, now: u64, departures: &[Departure], delivered: &mut Vec<Delivery>) {
        let planes = self.rails.count();
        for d in departures {
            let place = d.message as usize;
            if self.parts.len() <= place {
                self.parts.resize(place + 1, (0, 0, 0));
            }
            let is_whole = !self.striped[d.job as usize]
                || d.bytes < planes as u64
                || self.fabric.host_of(d.from) == self.fabric.host_of(d.to);
            let count = if is_whole { 1 } else { planes };
            self.parts[place] = (count as u32, 0, 0);
            for i in 0..count {
                let end = |t: TerminalId| if is_whole { t } else { self.rails.peers(t)[i] };
                self.departures.push(Departure {
                    message: d.message * planes as u32 + i as u32,
                    from: end(d.from),
                    to: end(d.to),
                    bytes: part(d.bytes, i, count),
                    ..*d
                });
            }
        }
        self.inner.depart(now, &self.departures, &mut self.delivered);
        self.departures.clear();
        self.join(delivered);
    }

    fn upcoming(&mut self) -> Option<u64> {
        self.inner.upcoming()
    }

    fn advance(&mut self, now: u64, delivered: &mut Vec<Delivery>) {
        self.inner.advance(now, &mut self.delivered);
        self.join(delivered);
    }
}

impl<W: Resumable> Resumable for Striped<'_, W> {
    type State = StripedState<W::State>;

    fn fits(&self, state: &Self::State) -> bool {
        let planes = self.rails.count() as u32;
        self.inner.fits(&state.inner) && state.parts.iter().all(|(open, ..)| *open <= planes)
    }

    fn take(&mut self) -> Self::State {
        StripedState { inner: self.inner.take(), parts: std::mem::take(&mut self.parts) }
    }

    fn restore(&mut self, state: Self::State) {
        self.inner.restore(state.inner);
        self.parts = state.parts;
    }
}

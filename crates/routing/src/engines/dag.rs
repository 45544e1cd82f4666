//! Candidate graphs: for one destination switch, which channels each switch may send on.
//!
//! An engine is a rule for the candidates (all shortest paths, legal Up*/Down* paths, dimension order,
//! ...) and a rule to choose among them (least loaded port, least loaded path, ...). A [`Dag`] is the
//! first half. It depends on the destination's *switch* only, so it is made once for all LIDs that hang
//! there.

use darkfiber_fabric::{Fabric, SwitchId};

use crate::Refusal;

/// No distance: the destination cannot be reached.
pub(crate) const FAR: u32 = u32::MAX;

/// The candidates towards one destination switch.
pub(crate) struct Dag {
    /// Hops to the destination switch; [`FAR`] if there is no way.
    pub(crate) dist: Vec<u32>,
    /// Reached switches, each after all heads of its candidates; the destination first.
    pub(crate) order: Vec<u32>,
    /// Candidate channels of `order[i]` are `channels[start[i]..start[i + 1]]`.
    pub(crate) start: Vec<u32>,
    /// Candidates, by rising channel id within a switch.
    pub(crate) channels: Vec<u32>,
}

impl Dag {
    /// An empty graph for a fabric of that size.
    pub(crate) fn new(fabric: &Fabric) -> Self {
        let n = fabric.switch_count();
        Self {
            dist: vec![FAR; n],
            order: Vec::with_capacity(n),
            start: Vec::with_capacity(n + 1),
            channels: Vec::with_capacity(fabric.channel_count()),
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.dist.fill(FAR);
        self.order.clear();
        self.start.clear();
        self.channels.clear();
    }

    /// All shortest paths to `dest`: one breadth-first search, O(channels).
    pub(crate) fn shortest(&mut self, fabric: &Fabric, dest: SwitchId) {
        self.clear();
        let (starts, heads) = (fabric.channel_starts(), fabric.heads());
        self.dist[dest.index()] = 0;
        self.order.push(dest.0);
        let mut next = 0;
        while next < self.order.len() {
            let s = self.order[next] as usize;
            next += 1;
            let d = self.dist[s];
            self.start.push(self.channels.len() as u32);
            for c in starts[s]..starts[s + 1] {
                let v = heads[c as usize] as usize;
                // Cables are symmetric: a neighbour one closer is known before this switch.
                if self.dist[v] == FAR {
                    self.dist[v] = d + 1;
                    self.order.push(v as u32);
                } else if self.dist[v] + 1 == d {
                    self.channels.push(c);
                }
            }
        }
        self.start.push(self.channels.len() as u32);
    }

    /// Candidates of the `i`-th switch in order.
    #[inline]
    pub(crate) fn candidates(&self, i: usize) -> &[u32] {
        &self.channels[self.start[i] as usize..self.start[i + 1] as usize]
    }
}

/// Refuses a fabric with nothing to route, or in pieces.
pub(crate) fn require_connected(fabric: &Fabric) -> Result<(), Refusal> {
    if fabric.switch_count() == 0 {
        return Err(Refusal::Empty { what: "switch" });
    }
    if fabric.terminal_count() == 0 {
        return Err(Refusal::Empty {
            what: "host with a link to a switch",
        });
    }
    let sizes = fabric.components();
    if sizes.len() > 1 {
        let mut text: Vec<String> = sizes.iter().take(5).map(ToString::to_string).collect();
        if sizes.len() > 5 {
            text.push("...".to_owned());
        }
        return Err(Refusal::Disconnected {
            components: sizes.len(),
            sizes: text.join(", "),
        });
    }
    Ok(())
}

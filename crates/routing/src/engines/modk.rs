//! D-mod-k and S-mod-k: fat-tree paths from the number of the destination or of the source.

use darkfiber_fabric::{Fabric, Pgft, Shape, SwitchId};

use super::dag::{Candidate, Dag, MOST_BYTES, for_each_dag, require_routable};
use super::order::UpDown;
use super::strays::by_order;
use super::updn::legal_rows;
use crate::{DELIVER, Deadlock, Engine, FabricRequirement, Refusal, Request, Routes};

/// The engine `dmodk`; see [`Engine::doc`].
pub(crate) struct DModK;

/// The engine `smodk`; see [`Engine::doc`].
pub(crate) struct SModK;

impl Engine for DModK {
    fn name(&self) -> &'static str {
        "dmodk"
    }

    fn summary(&self) -> &'static str {
        "fat-trees: the up port is the destination's number modulo the ports"
    }

    fn doc(&self) -> &'static str {
        "At a switch of level l the path to terminal d climbs by up port floor(d / (w1*..*wl)) mod \
         (w(l+1)*p(l+1)) of a parallel-port generalized fat-tree; the way down is forced but for \
         parallel cables, which the same number picks. On a full tree every down port of a leaf serves \
         one destination and shift permutations are free of contention. Where a cable is missing the \
         next parent in cyclic order takes over; pairs without a way up and down go as in ftree. Needs the tree's \
         parameters: stated by a generator, or recognised in a dump (else use ftree). With LMC the i-th LID of a port is routed as terminal d + i.\n\n\
         Complexity: O(LIDs x candidates)."
    }

    fn paper(&self) -> &'static str {
        "Zahavi: Fat-tree routing and node ordering providing contention free traffic for MPI global \
         collectives, JPDC 72(11), 2012"
    }

    fn needs(&self) -> FabricRequirement {
        FabricRequirement::FatTree
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::Free
    }

    fn compute(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        require_routable(self.name(), fabric, request)?;
        let tree = Tree::of(self, fabric, request.shape)?;
        let routes = Routes::empty(self.name(), fabric, request.paths());
        legal_rows(self.name(), fabric, request, routes, &tree.updown, |dag, dest, path, ports| {
            // A switch's own LID goes by the switch's number.
            let number = dest.as_terminal(fabric).map_or_else(
                || dest.home(fabric).index(),
                |t| tree.pgft.index[t.index()] as usize + path,
            );
            tree.send(fabric, dag, |level| tree.port(number, level), ports);
        })
    }
}

impl Engine for SModK {
    fn name(&self) -> &'static str {
        "smodk"
    }

    fn summary(&self) -> &'static str {
        "as dmodk, but by the number of the source: a LID for each class of sources"
    }

    fn doc(&self) -> &'static str {
        "The up port follows from the source's number instead of the destination's. Forwarding tables \
         look at the destination only, so every port gets one LID for each class of sources that climb \
         alike, and each source uses the LID of its class (the file path-bits of `route -o`).\n\n\
         Complexity: O(leaf switches x classes x candidates)."
    }

    fn paper(&self) -> &'static str {
        "Nienaber, Mahapatra, Yuan: Improving Performance of Deterministic Single-path Routing on \
         2-Level Generalized Fat-trees, section III-A"
    }

    fn needs(&self) -> FabricRequirement {
        FabricRequirement::FatTree
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::Free
    }

    fn by_source(&self) -> bool {
        true
    }

    fn compute(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        require_routable(self.name(), fabric, request)?;
        let tree = Tree::of(self, fabric, request.shape)?;
        // Sources that take the same up port at every level form a class.
        let mut classes: Vec<Vec<u32>> = Vec::new();
        let mut class_of = Vec::with_capacity(fabric.terminal_count());
        let mut known = std::collections::BTreeMap::new();
        for t in 0..fabric.terminal_count() {
            let s = tree.pgft.index[t] as usize;
            let climb: Vec<u32> = (1..tree.pgft.m.len()).map(|l| tree.port(s, l)).collect();
            let class = *known.entry(climb.clone()).or_insert_with(|| {
                classes.push(climb);
                classes.len() - 1
            });
            class_of.push(class as u16);
        }
        if classes.len() > usize::from(u16::MAX) {
            return Err(Refusal::TooLarge {
                engine: self.name(),
                bytes: classes.len() as u64 * (fabric.switch_count() as u64).pow(2),
                hint: "use a smaller tree, or dmodk",
            });
        }
        let port = |class: usize, _: usize, level: usize| {
            classes[class].get(level - 1).copied().unwrap_or(0)
        };
        by_class(self.name(), fabric, request, &tree, class_of, Rows::OfSwitches, port)
    }
}

/// Sharing of rows among destinations.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rows {
    /// Those on one switch.
    OfSwitches,
    /// No two destinations share a row.
    OfTerminals,
}

/// Routes in which sources of class `i` use LID `i` of every destination, and packets for number `d` climb by
/// up port `port(i, d, level)` from a switch of that level. Where a cable is missing the next parent in cyclic
/// order takes over.
pub(crate) fn route_by_class(
    engine: &'static str,
    fabric: &Fabric,
    request: &Request<'_>,
    tree: &Tree<'_>,
    class_of: Vec<u16>,
    port: impl Fn(usize, usize, usize) -> u32 + Sync,
) -> Result<Routes, Refusal> {
    by_class(engine, fabric, request, tree, class_of, Rows::OfTerminals, port)
}

fn by_class(
    engine: &'static str,
    fabric: &Fabric,
    request: &Request<'_>,
    tree: &Tree<'_>,
    class_of: Vec<u16>,
    share: Rows,
    port: impl Fn(usize, usize, usize) -> u32 + Sync,
) -> Result<Routes, Refusal> {
    require_routable(engine, fabric, request)?;
    let paths = class_of.iter().max().map_or(1, |&c| usize::from(c) + 1);
    let n = fabric.switch_count();
    // One row for each class and terminal (leaf, if its terminals share rows), and one for each switch.
    let mut row_of = vec![0; fabric.terminal_count() * paths];
    let mut first_row = Vec::with_capacity(n);
    let mut rows = 0u32;
    for s in (0..n).map(SwitchId::new) {
        first_row.push(rows);
        let here = fabric.terminals_on(s);
        for (i, t) in here.clone().enumerate() {
            let i = if share == Rows::OfTerminals { i } else { 0 };
            for path in 0..paths {
                row_of[t * paths + path] = rows + (i * paths + path) as u32;
            }
        }
        let groups = if share == Rows::OfTerminals { here.len() } else { here.len().min(1) };
        rows += ((groups * paths).max(1)) as u32;
    }
    let bytes = u64::from(rows) * n as u64;
    if bytes > MOST_BYTES {
        return Err(Refusal::TooLarge { engine, bytes, hint: "use a smaller tree, or dmodk" });
    }
    row_of.extend(&first_row);
    let mut routes = Routes::with_shared_rows(engine, fabric, paths, row_of, rows as usize);
    if paths > 1 {
        routes.set_select(class_of);
    }
    let homes: Vec<(SwitchId, u32)> =
        (0..n).map(SwitchId::new).zip(first_row.iter().copied()).collect();
    let tables = by_order(engine, fabric, request, routes, &tree.updown, |order, routes| {
        let mut strays = Vec::new();
        let legal = |dag: &mut Dag, home| order.legal(fabric, dag, home);
        for_each_dag(&homes, legal, |&(home, first), dag| {
            let here = fabric.terminals_on(home);
            // Paths to a switch without terminals need no class, and no layer.
            if here.is_empty() {
                let number = home.index();
                tree.send(
                    fabric,
                    dag,
                    |level| tree.port(number, level),
                    routes.ports_mut(first as usize),
                );
                return;
            }
            let groups = if share == Rows::OfTerminals { here.len() } else { 1 };
            for i in 0..groups {
                let number = tree.pgft.index[here.start + i] as usize;
                for path in 0..paths {
                    let row = first as usize + i * paths + path;
                    tree.send(
                        fabric,
                        dag,
                        |level| port(path, number, level),
                        routes.ports_mut(row),
                    );
                    strays.extend(dag.strays(fabric).map(|s| (row as u32, s)));
                }
            }
        });
        strays
    })?;
    Ok(tables.routes)
}

/// A fat-tree with known labels and its legal paths.
pub(crate) struct Tree<'a> {
    pgft: &'a Pgft,
    level: &'a [u8],
    updown: UpDown,
}

impl<'a> Tree<'a> {
    pub(crate) fn of(
        engine: &dyn Engine,
        fabric: &Fabric,
        shape: Option<&'a Shape>,
    ) -> Result<Self, Refusal> {
        let refuse = |reason: &str| Refusal::wrong_fabric(engine, reason);
        match shape {
            Some(Shape::Tree(tree)) => match &tree.pgft {
                Some(pgft) => Ok(Self {
                    pgft,
                    level: &tree.level,
                    updown: UpDown::from_levels(
                        fabric,
                        &tree.level.iter().map(|&l| u32::from(l)).collect::<Vec<_>>(),
                    ),
                }),
                None => Err(refuse("this tree is not regular; use ftree")),
            },
            Some(_) => Err(refuse("this fabric is none")),
            None => Err(refuse("nothing is known of this fabric's levels; use ftree")),
        }
    }

    /// The tree's parameters and labels.
    pub(crate) fn pgft(&self) -> &'a Pgft {
        self.pgft
    }

    /// The up port that terminal number `x` stands for at a switch of `level` (1 = leaf).
    fn port(&self, x: usize, level: usize) -> u32 {
        let below: u64 = self.pgft.w[..level].iter().map(|&w| u64::from(w)).product();
        let ports = u64::from(self.pgft.w[level]) * u64::from(self.pgft.p[level]);
        (x as u64 / below % ports) as u32
    }

    /// Sends from every switch by the port number of its level: which parent, and which of the
    /// parallel cables.
    fn send(&self, fabric: &Fabric, dag: &Dag, port: impl Fn(usize) -> u32, ports: &mut [u8]) {
        ports[dag.order[0] as usize] = DELIVER;
        let h = self.pgft.m.len();
        // The ways that are nearest to the wanted parent.
        let mut near: Vec<Candidate> = Vec::new();
        for i in 1..dag.order.len() {
            let s = dag.order[i] as usize;
            let candidates = dag.candidates(i);
            let up = self.level[candidates[0].head as usize] > self.level[s];
            // Number of the cable bundle's lower level.
            let below = if up { self.level[s] } else { self.level[s] - 1 } as usize;
            let (w, p) = (self.pgft.w[below], self.pgft.p[below]);
            let q = port(below);
            let wanted = q % w;
            let mut least = u32::MAX;
            for &c in candidates {
                let parent = u32::from(self.pgft.digits[c.head as usize * h + below]);
                let detour = match up {
                    true if parent < wanted => parent + w - wanted,
                    true => parent - wanted,
                    false => 0,
                };
                if detour < least {
                    least = detour;
                    near.clear();
                }
                if detour == least {
                    near.push(c);
                }
            }
            let turn = |c: &&Candidate| {
                let bundle = near.iter().filter(|x| x.head == c.head);
                let place = bundle.take_while(|x| x.channel != c.channel).count() as u32;
                (place + p - q / w % p) % p
            };
            let best = near.iter().min_by_key(turn);
            let c = best.expect("a switch at a distance has a way").channel;
            ports[s] = fabric.tail_ports()[c as usize];
        }
    }
}

//! OPT: two-level trees that minimize the load of the worst permutation.

use darkfiber_fabric::{Fabric, SwitchId, TerminalId};

use super::dag::require_routable;
use super::two_level::TwoLevel;
use crate::{Deadlock, Engine, FabricRequirement, Refusal, Request, Routes};

const PAPER: &str = "Nienaber, Mahapatra, Yuan: Improving Performance of Deterministic Single-path Routing on \
                     2-Level Generalized Fat-trees, sections III and IV";

/// Most terminals for which every pair is treated individually.
const MOST_TERMINALS: usize = 1 << 14;

/// The engine `opt`; see [`Engine::doc`].
pub(crate) struct Opt;

/// The engine `opt-balanced`; see [`Engine::doc`].
pub(crate) struct OptBalanced;

/// The engine `opt-rect`; see [`Engine::doc`].
pub(crate) struct OptRect;

/// Slot of a pair: sources of a leaf are in `rows` groups, destinations in `columns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Grid {
    rows: u32,
    columns: u32,
    /// Groups of equal size but for the last, as the paper has them; or as even as can be.
    even: bool,
}

impl Grid {
    /// The square of the paper.
    fn square(tree: &TwoLevel) -> Self {
        let side = tree.slots.isqrt().max(1);
        Self { rows: side, columns: side, even: false }
    }

    /// The rectangle with the least worst permutation, then most slots, then fewest rows, which are LIDs.
    fn rectangle(tree: &TwoLevel, most_rows: u32) -> Self {
        let n = tree.size.iter().copied().max().unwrap_or(1);
        let worst = |rows: u32, columns: u32| n.div_ceil(rows).max(n.div_ceil(columns));
        (1..=tree.slots.min(most_rows).min(n.max(1)))
            .map(|rows| Self { rows, columns: (tree.slots / rows).min(n.max(1)), even: true })
            .min_by_key(|g| {
                (worst(g.rows, g.columns), std::cmp::Reverse(g.rows * g.columns), g.rows)
            })
            .unwrap_or(Self { rows: 1, columns: 1, even: true })
    }

    fn group(self, place: u32, size: u32, groups: u32) -> u32 {
        if self.even { place * groups / size } else { place / size.div_ceil(groups) }
    }

    fn row(self, fabric: &Fabric, tree: &TwoLevel, t: TerminalId) -> u32 {
        self.group(tree.place[t.index()], tree.leaf_size(fabric, t), self.rows)
    }

    fn column(self, fabric: &Fabric, tree: &TwoLevel, t: TerminalId) -> u32 {
        self.group(tree.place[t.index()], tree.leaf_size(fabric, t), self.columns)
    }

    /// Routes with a LID for each row.
    fn route(
        self,
        engine: &dyn Engine,
        fabric: &Fabric,
        request: &Request<'_>,
        tree: &TwoLevel,
    ) -> Result<Routes, Refusal> {
        require_lids(engine, request, self.rows)?;
        let terminals = || (0..fabric.terminal_count()).map(TerminalId::new);
        let class = terminals().map(|t| self.row(fabric, tree, t) as u16).collect();
        let column: Vec<u32> = terminals().map(|t| self.column(fabric, tree, t)).collect();
        tree.route(engine.name(), fabric, request, class, |_, row, d| {
            row as u32 * self.columns + column[d.index()]
        })
    }
}

/// Refuses if the request has fewer LIDs than there are classes of sources.
fn require_lids(engine: &dyn Engine, request: &Request<'_>, needed: u32) -> Result<(), Refusal> {
    if request.lmc > 0 && needed > request.paths() as u32 {
        return Err(Refusal::Parameter {
            engine: engine.name(),
            problem: format!(
                "{needed} LIDs a port are needed here: take --lmc {} or leave it to the engine",
                needed.next_power_of_two().ilog2()
            ),
        });
    }
    Ok(())
}

impl Engine for Opt {
    fn name(&self) -> &'static str {
        "opt"
    }

    fn summary(&self) -> &'static str {
        "two-level trees: bounded load under the worst permutation"
    }

    fn doc(&self) -> &'static str {
        "With m ways up and n terminals on a leaf, k = floor(sqrt(m)): the terminals of a leaf fall into k \
         groups of ceil(n/k), and the path from a terminal of group i to one of group j climbs to top switch \
         i k + j. An up channel then carries the flows of one group of sources, a down channel those to one \
         group of destinations: no permutation puts more than ceil(n/k) flows on a channel, where D-mod-k \
         can be made to put n where there are enough other leaves. Only k*k top switches are used. That is the \
         least possible where k*k = m, k divides n, and leaves are as many as their terminals (the paper's Theorem \
         1); with few leaves dmodk may be milder.\n\n\
         The path depends on the group of the source, and a forwarding table does not see it: every port \
         gets k LIDs, and a source of group i uses LID i of every destination (the file path-bits of `route \
         -o` says so for each port; an MPI library or the path records must follow it). The paper does not \
         say how InfiniBand would do it. LMC is the least that suffices unless --lmc asks for more.\n\n\
         Leaves may differ in size: groups are k to a leaf. Parallel cables to a top switch count as ways up \
         of their own. Where a cable is missing the next way takes over.\n\nComplexity: O(LIDs x candidates)."
    }

    fn paper(&self) -> &'static str {
        PAPER
    }

    fn needs(&self) -> FabricRequirement {
        FabricRequirement::TwoLevels
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::Free
    }

    fn by_source(&self) -> bool {
        true
    }

    fn takes_roots(&self) -> bool {
        true
    }

    fn compute(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        require_routable(self.name(), fabric, request)?;
        let tree = TwoLevel::of(self, fabric, request)?;
        Grid::square(&tree).route(self, fabric, request, &tree)
    }
}

impl Engine for OptRect {
    fn name(&self) -> &'static str {
        "opt-rect"
    }

    fn summary(&self) -> &'static str {
        "as opt, on a rectangle of groups that uses more top switches"
    }

    fn doc(&self) -> &'static str {
        "As opt, but the terminals of a leaf fall into a groups as sources and b groups as destinations, \
         a b <= m: group i of sources to group j of destinations takes top switch i b + j. Of all a and b those \
         with the least worst permutation, max(ceil(n/a), ceil(n/b)), are taken; of these, those that use most \
         top switches; of these, the fewest LIDs a port, which are a. Same bound as opt with all of the top \
         switches where opt leaves some dark, so that random permutations do better. --lmc N allows at most \
         2^N groups of sources. Not in the paper.\n\nComplexity: O(LIDs x candidates)."
    }

    fn paper(&self) -> &'static str {
        PAPER
    }

    fn needs(&self) -> FabricRequirement {
        FabricRequirement::TwoLevels
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::Free
    }

    fn by_source(&self) -> bool {
        true
    }

    fn takes_roots(&self) -> bool {
        true
    }

    fn compute(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        require_routable(self.name(), fabric, request)?;
        let tree = TwoLevel::of(self, fabric, request)?;
        let most = if request.lmc > 0 { request.paths() as u32 } else { u32::MAX };
        Grid::rectangle(&tree, most).route(self, fabric, request, &tree)
    }
}

impl Engine for OptBalanced {
    fn name(&self) -> &'static str {
        "opt-balanced"
    }

    fn summary(&self) -> &'static str {
        "as opt, with some pairs moved to the top switches that opt leaves dark"
    }

    fn doc(&self) -> &'static str {
        "The paper balances opt where m is no square: it moves pairs to unused top switches, \"round-robin\", and \
         keeps what rule it used to itself. This is a rule **recovered** from the numbers it prints: let f be \
         the share of top switches that opt does not use; the pairs of the q-th used one are walked by rising \
         source, then destination, with a sum that grows by f; whenever it reaches 1, 1 is taken away and the \
         pair moves to unused switch q (counted round). All 18 numbers of the paper's Table II that it \
         concerns follow within 1.5 %; that the authors did just this is not proven. The worst permutation \
         grows: the bound of opt is not kept, whatever the paper says.\n\n\
         The choice depends on the single source, so each port gets as many LIDs as a leaf has terminals: on \
         large leaves more than InfiniBand's 128. Use opt-rect on a real machine.\n\n\
         Complexity: O(terminals^2)."
    }

    fn paper(&self) -> &'static str {
        PAPER
    }

    fn needs(&self) -> FabricRequirement {
        FabricRequirement::TwoLevels
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::Free
    }

    fn by_source(&self) -> bool {
        true
    }

    fn takes_roots(&self) -> bool {
        true
    }

    fn compute(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        require_routable(self.name(), fabric, request)?;
        let tree = TwoLevel::of(self, fabric, request)?;
        let largest = tree.size.iter().copied().max().unwrap_or(1);
        require_lids(self, request, largest)?;
        let n = fabric.terminal_count();
        if n > MOST_TERMINALS || largest > u32::from(u16::MAX) {
            return Err(Refusal::TooLarge {
                engine: self.name(),
                bytes: 2 * (n as u64).pow(2),
                hint: "every pair is treated individually; use opt-rect",
            });
        }
        let slot = balanced(fabric, &tree);
        // The source of each leaf and place.
        let mut source = vec![u32::MAX; fabric.switch_count() * largest as usize];
        let at = |s: SwitchId, place: usize| s.index() * largest as usize + place;
        for t in (0..n).map(TerminalId::new) {
            source[at(fabric.terminal(t).switch, tree.place[t.index()] as usize)] = t.0;
        }
        let class = tree.place.iter().map(|&place| place as u16).collect();
        tree.route(self.name(), fabric, request, class, |s, place, d| {
            match source.get(at(s, place)) {
                Some(&t) if t != u32::MAX => u32::from(slot[t as usize * n + d.index()]),
                _ => place as u32,
            }
        })
    }
}

/// The slot of every pair, by source and destination, after balancing.
fn balanced(fabric: &Fabric, tree: &TwoLevel) -> Vec<u16> {
    let n = fabric.terminal_count();
    let grid = Grid::square(tree);
    let terminals = || (0..n).map(TerminalId::new);
    let row: Vec<u32> = terminals().map(|t| grid.row(fabric, tree, t)).collect();
    let column: Vec<u32> = terminals().map(|t| grid.column(fabric, tree, t)).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_unstable_by_key(|&t| tree.number[t]);
    let mut used = vec![false; tree.slots as usize];
    for &i in &row {
        for &j in &column {
            used[(i * grid.columns + j) as usize] = true;
        }
    }
    let unused: Vec<u16> = (0..tree.slots as u16).filter(|&v| !used[usize::from(v)]).collect();
    // Which used slot each one is.
    let mut rank = vec![0; used.len()];
    (0..used.len()).filter(|&v| used[v]).enumerate().for_each(|(q, v)| rank[v] = q);
    let mut sum = vec![0; used.len()];
    let mut slot = vec![0; n * n];
    for &s in &order {
        for &d in &order {
            let leaf = |t| fabric.terminal(TerminalId::new(t)).switch;
            if leaf(s) == leaf(d) {
                continue;
            }
            let v = (row[s] * grid.columns + column[d]) as usize;
            sum[v] += unused.len();
            slot[s * n + d] = if !unused.is_empty() && sum[v] >= used.len() {
                sum[v] -= used.len();
                unused[rank[v] % unused.len()]
            } else {
                v as u16
            };
        }
    }
    slot
}

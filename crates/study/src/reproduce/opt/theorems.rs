//! Theorems 1 to 3.

use darkfiber_analysis::count::Paths;
use darkfiber_workload::Stream;

use super::{Tree, name};
use crate::reproduce::{Allowed, Class, Context, Experiment, Row, USUAL};

/// Random trees for each theorem.
const TREES: u64 = 60;

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "OPT-TH",
    title: "the three theorems on random trees that meet their conditions",
    paper: "Nienaber, Mahapatra, Yuan: Improving Performance of Deterministic Single-path Routing on 2-Level \
     Generalized Fat-trees, Theorems 1 to 3",
    setup: "60 random trees for each theorem. 1: no engine's WORST is below n/sqrt(m) (its floor where that is no \
     integer; read as printed), for dmodk, minhop, updn, opt, opt-rect and opt-balanced. 2: WORST of dmodk \
     is n, and the permutation of the proof, {(t, (i+t) m)}, puts n flows on the channel from the first leaf \
     to the first top switch. 3: WORST of opt is n/sqrt(m).",
    class: Class::Exact,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let holds = |label: &str,
                 theorem: u64,
                 condition: fn(u32, u32, u32) -> bool,
                 proven: fn((u32, u32, u32)) -> bool| {
        (context.at)(label);
        let mut stream = Stream::new(context.seed, theorem);
        let mut held = 0;
        let mut missed = None;
        for _ in 0..TREES {
            let tree = draw(&mut stream, condition);
            if proven(tree) {
                held += 1;
            } else {
                missed.get_or_insert(name(tree));
            }
        }
        let row = Row::derived(label, TREES as f64, f64::from(held), Allowed::Nothing);
        match missed {
            Some(tree) => row.noted(format!("does not hold on {tree}")),
            None => row,
        }
    };
    vec![
        holds("Theorem 1: trees on which no engine is below the bound", 1, general, bound_holds),
        holds("Theorem 2: trees on which WORST of D-mod-k is n", 2, theorem_2, dmodk_is_n),
        holds("Theorem 2: trees on which its permutation does it", 2, theorem_2, witness),
        holds("Theorem 3: trees on which WORST of OPT is n/sqrt(m)", 3, theorem_3, opt_is_optimal),
    ]
}

/// A random tree that meets the conditions.
fn draw(stream: &mut Stream, condition: fn(u32, u32, u32) -> bool) -> (u32, u32, u32) {
    loop {
        let (n, m, r) = (2 + stream.below(11), 1 + stream.below(25), 2 + stream.below(24));
        if condition(n, m, r) {
            return (n, m, r);
        }
    }
}

fn general(n: u32, m: u32, r: u32) -> bool {
    m < n * n && r >= n && (r - 1) * n > 2 * m
}

fn theorem_2(n: u32, m: u32, r: u32) -> bool {
    let i = n.div_ceil(m);
    r * n >= i * m && (r * n - i * m) / m >= n
}

fn theorem_3(n: u32, m: u32, r: u32) -> bool {
    let root = m.isqrt();
    general(n, m, r) && root * root == m && n.is_multiple_of(root)
}

fn bound_holds(tree: (u32, u32, u32)) -> bool {
    let (n, m, _) = tree;
    // floor(n / sqrt(m)): the largest x with x * x * m <= n * n. Where the division is exact that is all.
    let bound = (0..=n).rev().find(|x| x * x * m <= n * n).unwrap_or(0);
    ["dmodk", "minhop", "updn", "opt", "opt-rect", "opt-balanced"]
        .iter()
        .all(|engine| Tree::new(tree, engine).worst() >= bound)
}

fn dmodk_is_n(tree: (u32, u32, u32)) -> bool {
    Tree::new(tree, "dmodk").worst() >= tree.0
}

fn witness(size: (u32, u32, u32)) -> bool {
    let (n, m, _) = size;
    let tree = Tree::new(size, "dmodk");
    let paths: Paths<'_> = tree.paths();
    let i = n.div_ceil(m);
    let first: Vec<u32> =
        (0..n).filter_map(|t| paths.path(t, (i + t) * m).first().copied()).collect();
    first.len() == n as usize && first.windows(2).all(|w| w[0] == w[1])
}

fn opt_is_optimal(tree: (u32, u32, u32)) -> bool {
    Tree::new(tree, "opt").worst() == tree.0 / tree.1.isqrt()
}

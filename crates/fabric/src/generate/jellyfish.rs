//! Jellyfish: a random regular graph of switches.

use crate::{SpecError, Topology};

use super::expander::{Draw, Expander, join};
use super::{Family, Key, Params};

/// Swaps tried for each cable. Each touches two, so that after these a cable of a sparse graph has been moved about
/// twenty times, and no trace of the initial graph is left.
const SWAPS: usize = 10;

/// Generator of the family `jellyfish`.
pub(super) struct Jellyfish;

impl Family for Jellyfish {
    fn name(&self) -> &'static str {
        "jellyfish"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["rrg"]
    }

    fn summary(&self) -> &'static str {
        "Jellyfish: a random regular graph of n switches with d cables each"
    }

    fn doc(&self) -> &'static str {
        "A ring lattice of degree d in which pairs of cables exchange ends, ten times as often as there \
         are cables: no two cables are parallel, and whatever fell apart is joined by a last exchange. \
         The paper joins random free ports instead, which leaves some free; both sample random regular \
         graphs. Equal seeds give equal fabrics on every machine. Hosts are on ports 1..p, then the \
         neighbours by rising number. n*d must be even."
    }

    fn paper(&self) -> &'static str {
        "Singla, Hong, Popa, Godfrey, \"Jellyfish: networking data centers randomly\", NSDI'12; \
         exchanges: Milo et al., \"On the uniform generation of random graphs with prescribed degree \
         sequences\", 2003"
    }

    fn keys(&self) -> &'static [Key] {
        const {
            &[
                Key::required("n", "switches"),
                Key::required("d", "cables of a switch to others"),
                Key::optional("p", "hosts of a switch", "1"),
                Key::optional("seed", "which random graph", "1"),
            ]
        }
    }

    fn example(&self) -> &'static str {
        "jellyfish:n=16,d=4,p=2"
    }

    fn generate(&self, params: &Params) -> Result<Topology, SpecError> {
        let n = params.need("n", 3..=1 << 24)?;
        let d = params.need("d", 2..=254.min(n - 1))?;
        if n % 2 == 1 && d % 2 == 1 {
            return Err(params.bad("d", format!("an even number, as n={n} is odd")));
        }
        let p = params.get("p", 0..=254)?.unwrap_or(1);
        let mut draw = Draw::new(params)?;
        Expander { n, p, degree: d, lift: None }.generate(params, || {
            let mut edges = shuffled(n, d, &mut draw);
            join(n, &mut edges, |_| 0);
            edges
        })
    }
}

/// A ring of `n` nodes, each joined with its `d / 2` next ones, and with its opposite one for odd `d`.
fn lattice(n: u32, d: u32) -> Vec<(u32, u32)> {
    let ring = (0..n).flat_map(|s| (1..=d / 2).map(move |k| (s, (s + k) % n)));
    let opposite = (0..if d % 2 == 1 { n / 2 } else { 0 }).map(|s| (s, s + n / 2));
    ring.chain(opposite).collect()
}

/// A simple graph of degree `d`: the lattice after its exchanges.
fn shuffled(n: u32, d: u32, draw: &mut Draw) -> Vec<(u32, u32)> {
    let mut edges = lattice(n, d);
    let width = d as usize;
    let mut near = vec![0; n as usize * width];
    let mut filled = vec![0; n as usize];
    for (a, b) in edges.iter().flat_map(|&(a, b)| [(a, b), (b, a)]) {
        near[a as usize * width + filled[a as usize]] = b;
        filled[a as usize] += 1;
    }
    let row = |s: u32| s as usize * width..(s as usize + 1) * width;
    for _ in 0..SWAPS * edges.len() {
        let (i, j) = (draw.below(edges.len()), draw.below(edges.len()));
        let ((a, b), (mut c, mut d)) = (edges[i], edges[j]);
        if draw.below(2) == 1 {
            (c, d) = (d, c);
        }
        // a-b, c-d become a-d, c-b.
        let loops = a == d || c == b || i == j;
        if loops || near[row(a)].contains(&d) || near[row(c)].contains(&b) {
            continue;
        }
        for (s, old, new) in [(a, b, d), (b, a, c), (c, d, b), (d, c, a)] {
            if let Some(entry) = near[row(s)].iter_mut().find(|x| **x == old) {
                *entry = new;
            }
        }
        (edges[i], edges[j]) = ((a, d), (c, b));
    }
    edges
}

//! Max-min shares: the cost of an arriving and of a departing flow.
//!
//! `cargo bench -p darkfiber-flowsim --bench maxmin`

use darkfiber_flowsim::{FlowId, MaxMin};
use darkfiber_workload::Stream;
use divan::Bencher;
use divan::counter::ItemsCount;

fn main() {
    divan::main();
}

const FLOWS: [usize; 4] = [100, 1_000, 10_000, 100_000];

/// Flows over five channels drawn at random, a channel for each flow.
fn flows(n: usize) -> Vec<[u32; 5]> {
    let mut stream = Stream::new(1, 0);
    let path = |_| loop {
        let path: [u32; 5] = std::array::from_fn(|_| stream.below(n as u32));
        if (1..5).all(|i| !path[..i].contains(&path[i])) {
            return path;
        }
    };
    (0..n).map(path).collect()
}

fn shared(n: usize) -> (MaxMin, Vec<FlowId>) {
    let mut shares = MaxMin::new(&vec![1.0; n]);
    let ids = flows(n).iter().map(|p| shares.add(p, 1.0, f64::INFINITY)).collect();
    shares.share(&mut Vec::new());
    (shares, ids)
}

/// Adds all flows at once.
#[divan::bench(args = FLOWS)]
fn all(bencher: Bencher<'_, '_>, n: usize) {
    bencher.counter(ItemsCount::new(n)).bench(|| shared(n));
}

/// A hundred that go and come again, one after the other.
#[divan::bench(args = FLOWS)]
fn one_by_one(bencher: Bencher<'_, '_>, n: usize) {
    let paths = flows(n);
    bencher.counter(ItemsCount::new(100usize)).with_inputs(|| shared(n)).bench_values(
        |(mut shares, mut ids)| {
            let mut changed = Vec::new();
            for (id, path) in ids.iter_mut().zip(&paths).take(100) {
                shares.remove(*id);
                shares.share(&mut changed);
                *id = shares.add(path, 1.0, f64::INFINITY);
                shares.share(&mut changed);
            }
            shares
        },
    );
}

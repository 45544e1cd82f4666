//! Figures 4a to 4f: collectives of the Intel MPI benchmarks.

use rayon::prelude::*;

use super::PAPER;
use super::lab::{ALL, Lab, MPI_LAYER, gain, program, seconds};
use crate::reproduce::{Allowed, Class, Context, Drawn, Experiment, Figure, Row, Table, USUAL};

/// The collective of a figure.
struct Collective {
    name: &'static str,
    /// Largest message, in bytes.
    largest: u64,
    expects: fn(&Measured) -> Vec<Row>,
    /// What only an order is printed of, by five seeds.
    orders: fn(&Lab, &Context<'_>) -> Vec<Row>,
}

/// PARX with what its choice of LIDs costs, behind the five combinations.
const LAYERED: usize = ALL.len();
/// Draws of what only an order is printed of.
const SEEDS: u64 = 5;

/// What the figures have in common.
const FIGURE: Experiment = Experiment {
    paper: PAPER,
    setup: "One call at 7 to 672 nodes and 16 B to 4 MiB (less where the memory of a rank would not hold it), algorithms \
         as Open MPI 1.10 chooses them, on all five combinations; gain = time on FT/ftree/linear over time, less one. \
         The cells of the figure are lost; what its text says is judged by sign and within a tenth. PARX without the \
         cost of its MPI layer, which made it the slowest for small messages, and beside it, told, with that cost as a \
         parameter that T2HX-F5b sets.",
    class: Class::Shape,
    seconds: 200.0,
    ..USUAL
};

/// A figure of which no order is printed.
fn none(_: &Lab, _: &Context<'_>) -> Vec<Row> {
    Vec::new()
}

/// Node counts of section 4.4.2.
const NODES: [u32; 8] = [7, 14, 28, 56, 112, 224, 448, 672];
/// Gains that are on par.
const NEAR: Allowed = Allowed::Between(-0.1, 0.1);
const SIZES: [u64; 7] = [16, 256, 4 << 10, 32 << 10, 256 << 10, 1 << 20, 4 << 20];

pub(in crate::reproduce) const BCAST: Experiment = Experiment {
    id: "T2HX-F4a",
    title: "MPI_Bcast: gain over the Fat-Tree by nodes and message size (figure 4a)",
    run: |context| {
        Collective {
            name: "bcast",
            largest: 4 << 20,
            expects: |m| {
                let layer = "its MPI layer costs what is not known";
                let parx = m.mean_row(4, "HX/PARX/clustered: mean gain", None, layer);
                m.on_par().into_iter().chain([parx]).collect()
            },
            orders: none,
        }
        .reproduce(context)
    },
    ..FIGURE
};

pub(in crate::reproduce) const GATHER: Experiment = Experiment {
    id: "T2HX-F4b",
    title: "MPI_Gather: gain over the Fat-Tree by nodes and message size (figure 4b)",
    run: |context| {
        Collective {
            name: "gather",
            largest: 1 << 20,
            expects: |m| m.large("better from 512 KiB on is printed"),
            orders: none,
        }
        .reproduce(context)
    },
    ..FIGURE
};

pub(in crate::reproduce) const SCATTER: Experiment = Experiment {
    id: "T2HX-F4c",
    title: "MPI_Scatter: gain over the Fat-Tree by nodes and message size (figure 4c)",
    run: |context| {
        Collective {
            name: "scatter",
            largest: 1 << 20,
            expects: |m| m.large("better on larger node counts is printed"),
            orders: none,
        }
        .reproduce(context)
    },
    ..FIGURE
};

pub(in crate::reproduce) const REDUCE: Experiment = Experiment {
    id: "T2HX-F4d",
    title: "MPI_Reduce: gain over the Fat-Tree by nodes and message size (figure 4d)",
    run: |context| {
        Collective {
            name: "reduce",
            // Open MPI cuts its vectors into segments of 1 KiB: a million messages for 1 MiB on 672 nodes.
            largest: 256 << 10,
            expects: |m| m.on_par().to_vec(),
            orders: none,
        }
        .reproduce(context)
    },
    ..FIGURE
};

pub(in crate::reproduce) const ALLREDUCE: Experiment = Experiment {
    id: "T2HX-F4e",
    title: "MPI_Allreduce: gain over the Fat-Tree by nodes and message size (figure 4e)",
    run: |context| {
        Collective {
            name: "allreduce",
            largest: 4 << 20,
            expects: |m| {
                vec![
                    Row::expected(
                        "HX/DFSSSP/linear: mean gain below 4 MiB",
                        m.mean(2, |_, size| size < 4 << 20),
                        NEAR,
                    )
                    .noted("below 4 MiB the Fat-Tree is slightly ahead in print"),
                    m.mean_row(3, "HX/DFSSSP/random: mean gain, all cells", None, ""),
                ]
            },
            orders: none,
        }
        .reproduce(context)
    },
    ..FIGURE
};

pub(in crate::reproduce) const ALLTOALL: Experiment = Experiment {
    id: "T2HX-F4f",
    title: "MPI_Alltoall: gain over the Fat-Tree by nodes and message size (figure 4f)",
    run: |context| {
        Collective {
            name: "alltoall",
            largest: 256 << 10,
            expects: |m| {
                let at = |c: usize, nodes: u32| m.cell(c, nodes, 256 << 10).unwrap_or(0.0);
                vec![
                    Row::expected(
                        "14 nodes, 256 KiB, HX/DFSSSP/linear: gain",
                        at(2, 14),
                        Allowed::AtMost(-0.3),
                    )
                    .noted("two switches and one cable; the value is lost, the text says that it is bad"),
                    Row::told("672 nodes, 256 KiB, HX/DFSSSP/linear: gain", at(2, 672))
                        .noted("spikes both ways are printed"),
                ]
            },
            orders: two_switches,
        }
        .reproduce(context)
    },
    ..FIGURE
};

/// PARX beside DFSSSP where two switches share a cable: 14 nodes, 256 KiB, by seed.
fn two_switches(lab: &Lab, context: &Context<'_>) -> Vec<Row> {
    let by_seed: Vec<f64> = (0..SEEDS)
        .map(|i| {
            let seed = context.seed + i;
            let program =
                program("imb:op=alltoall,bytes=262144", 14, seed).expect("any number of ranks");
            let [dfsssp, parx] =
                [2, 4].map(|c| seconds(&lab.alone(&ALL[c], program.clone(), seed)));
            dfsssp / parx
        })
        .collect();
    vec![Row::order("14 nodes, 256 KiB, HX/DFSSSP/linear over HX/PARX/clustered, time", &by_seed)]
}

/// Nodes and size, by number, and seconds by combination.
type Cell = ((usize, usize), Vec<Option<f64>>);

/// Gains over the baseline.
struct Measured {
    sizes: Vec<u64>,
    /// By combination after the first, nodes, size.
    gains: Vec<Vec<Vec<Option<f64>>>>,
}

impl Measured {
    fn cell(&self, combination: usize, nodes: u32, size: u64) -> Option<f64> {
        let n = NODES.iter().position(|&n| n == nodes)?;
        let s = self.sizes.iter().position(|&s| s == size)?;
        self.gains[combination - 1][n][s]
    }

    fn mean(&self, combination: usize, takes: impl Fn(u32, u64) -> bool) -> f64 {
        let (mut sum, mut count) = (0.0, 0.0);
        for &nodes in &NODES {
            for &size in self.sizes.iter().filter(|&&s| takes(nodes, s)) {
                if let Some(gain) = self.cell(combination, nodes, size) {
                    (sum, count) = (sum + gain, count + 1.0);
                }
            }
        }
        if count > 0.0 { sum / count } else { 0.0 }
    }

    fn mean_row(&self, c: usize, what: &str, allowed: Option<Allowed>, note: &str) -> Row {
        let mean = self.mean(c, |_, _| true);
        let row = match allowed {
            Some(allowed) => Row::expected(what, mean, allowed),
            None => Row::told(what, mean),
        };
        if note.is_empty() { row } else { row.noted(note) }
    }

    /// DFSSSP on the HyperX in both allocations, of which the paper prints that they are on par with the tree.
    fn on_par(&self) -> [Row; 2] {
        [(2, "HX/DFSSSP/linear"), (3, "HX/DFSSSP/random")].map(|(c, name)| {
            let what = format!("{name}: mean gain, all cells");
            self.mean_row(c, &what, Some(NEAR), "on par is printed")
        })
    }

    /// PARX with the cost of its choice of LIDs: all cells, and small messages, of which the text says that it is the slowest.
    fn layered(&self) -> [Row; 2] {
        let note = format!("{MPI_LAYER} ps at each end of a message: not printed, set by T2HX-F5b");
        let row = |what: &str, most: u64| {
            let mean = self.mean(LAYERED, |_, size| size <= most);
            Row::told(format!("{}: mean gain, {what}", called(LAYERED)), mean).noted(note.clone())
        };
        [row("all cells", u64::MAX), row("up to 256 B", 256)]
    }

    /// Large messages on many nodes: at least as good, within a tenth.
    fn large(&self, note: &str) -> Vec<Row> {
        [2, 3]
            .map(|c| {
                let mean = self.mean(c, |nodes, size| size >= 512 << 10 && nodes >= 56);
                let what = format!("{}: mean gain, 512 KiB or more, 56 nodes or more", ALL[c].name);
                Row::expected(what, mean, Allowed::AtLeast(-0.1)).noted(note)
            })
            .to_vec()
    }
}

impl Collective {
    fn reproduce(&self, context: &Context<'_>) -> Vec<Row> {
        let lab = Lab::new();
        let layered = Lab::new()
            .with_host(|h| (h.send, h.receive) = (h.send + MPI_LAYER, h.receive + MPI_LAYER));
        let sizes: Vec<u64> = SIZES.iter().copied().filter(|&s| s <= self.largest).collect();
        let cells: Vec<(usize, usize)> =
            (0..NODES.len()).rev().flat_map(|n| (0..sizes.len()).map(move |s| (n, s))).collect();
        let times: Vec<Cell> = cells
            .into_par_iter()
            .with_max_len(1)
            .map(|(n, s)| {
                (context.at)(&format!("{} nodes, {} bytes", NODES[n], sizes[s]));
                let spec = format!("imb:op={},bytes={}", self.name, sizes[s]);
                let program = program(&spec, NODES[n], context.seed);
                let time =
                    |lab: &Lab, c| program.clone().map(|p| seconds(&lab.alone(c, p, context.seed)));
                let mut times: Vec<Option<f64>> = ALL.iter().map(|c| time(&lab, c)).collect();
                times.push(time(&layered, &ALL[LAYERED - 1]));
                ((n, s), times)
            })
            .collect();
        let mut gains = vec![vec![vec![None; sizes.len()]; NODES.len()]; LAYERED];
        for ((n, s), times) in times {
            for c in 1..=LAYERED {
                gains[c - 1][n][s] = times[0].zip(times[c]).map(|(base, time)| gain(base, time));
            }
        }
        let measured = Measured { sizes, gains };
        (context.draw)(Figure {
            name: self.name,
            title: format!("MPI {}: gain over FT/ftree/linear", self.name),
            subtitle:
                "one call, by nodes and bytes; 0 is as fast, 1 twice as fast, -0.5 half as fast"
                    .to_owned(),
            what: Drawn::Gains(
                (1..=LAYERED)
                    .map(|c| Table {
                        title: called(c),
                        rows: NODES.iter().map(u32::to_string).collect(),
                        columns: measured.sizes.iter().map(|&s| size(s)).collect(),
                        cells: measured.gains[c - 1].iter().flatten().copied().collect(),
                        texts: Vec::new(),
                    })
                    .collect(),
            ),
        });
        let mut rows = (self.expects)(&measured);
        rows.extend(measured.layered());
        rows.extend((self.orders)(&lab, context));
        rows
    }
}

/// The name of a combination, or of PARX with the cost of its MPI layer.
fn called(c: usize) -> String {
    match ALL.get(c) {
        Some(combination) => combination.name.to_owned(),
        None => format!("HX/PARX/clustered, {:.2} us an end", MPI_LAYER as f64 * 1e-6),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        b if b >= 1 << 20 => format!("{} MiB", b >> 20),
        b if b >= 1 << 10 => format!("{} KiB", b >> 10),
        b => format!("{b} B"),
    }
}

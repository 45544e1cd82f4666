//! Figure 5: half of the time there and back by layer of software.

use darkfiber_workload::play::{Host, host};

use super::PAPER;
use super::distance::halves;
use super::lab::Quiet;
use crate::reproduce::{Class, Context, Drawn, Experiment, Figure, Row, USUAL};

/// Overhead of a layer at each end of a message.
struct Layer {
    name: &'static str,
    /// Processor time of a message, in picoseconds.
    fixed: u64,
    /// Processor time of a byte, in picoseconds: copies between a user's memory and a kernel's.
    per_byte: f64,
    /// Messages of this many bytes wait for their receiver.
    rendezvous: u64,
}

/// Nothing of it is printed except that MPI adds only marginally to libfabric, so all are decisions: 300 ns are the o of the hosts
/// called `slingshot`, which stand for MPI; the layers below omit MPI's matching and libfabric's completions; kernels cost a
/// microsecond and more, and a copy.
const LAYERS: [Layer; 5] = [
    Layer { name: "verbs", fixed: 200_000, per_byte: 0.0, rendezvous: u64::MAX },
    Layer { name: "libfabric", fixed: 250_000, per_byte: 0.0, rendezvous: u64::MAX },
    Layer { name: "MPI", fixed: 300_000, per_byte: 0.0, rendezvous: 16_384 },
    Layer { name: "UDP", fixed: 2_000_000, per_byte: 100.0, rendezvous: u64::MAX },
    Layer { name: "TCP", fixed: 3_000_000, per_byte: 150.0, rendezvous: u64::MAX },
];

const SIZES: [(u64, &str); 5] = [
    (8, "8 B"),
    (1 << 10, "1 KiB"),
    (16 << 10, "16 KiB"),
    (128 << 10, "128 KiB"),
    (1 << 20, "1 MiB"),
];

/// Partners on other switches of the group.
const PARTNERS: [u32; 3] = [16, 50, 84];

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "SLS-F5",
    title: "Half of the time there and back by layer of software (figure 5)",
    paper: PAPER,
    setup: "Quiet Malbec, as SLS-F4: two terminals of a group, packet by packet, the median of 24 messages there and back. A layer is what each \
     end of a message costs: 200 ns for verbs, 250 for libfabric, 300 for MPI, which waits for its receiver from 16 KiB on; 2 us and \
     0.1 ns a byte for UDP, 3 us and 0.15 ns a byte for TCP. The paper prints no number, only that `MPI adds only a marginal overhead to \
     libfabric` for small messages: these are parameters, and nothing is judged, since what is judged would be what was put in.",
    class: Class::Substitute,
    seconds: 5.0,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let quiet = Quiet::new("@malbec");
    let slingshot = host("slingshot").expect("known");
    let mut rows = Vec::new();
    let mut lines: Vec<(String, Vec<(f64, f64)>)> =
        LAYERS.iter().map(|l| (l.name.to_owned(), Vec::new())).collect();
    for (bytes, size) in SIZES {
        (context.at)(size);
        let times = LAYERS.each_ref().map(|layer| {
            let host = Host {
                send: layer.fixed,
                receive: layer.fixed,
                per_byte: layer.per_byte,
                rendezvous: layer.rendezvous,
                ..slingshot.clone()
            };
            let mut all = halves(&quiet, &host, bytes, &PARTNERS);
            all.sort_unstable_by(f64::total_cmp);
            all[all.len() / 2]
        });
        for ((layer, us), line) in LAYERS.iter().zip(times).zip(&mut lines) {
            rows.push(Row::told(format!("{size}, {}: half there and back, us", layer.name), us));
            line.1.push(((bytes as f64).log2(), us.log10()));
        }
        let [_, libfabric, mpi, ..] = times;
        let more = 100.0 * (mpi / libfabric - 1.0);
        rows.push(
            Row::told(format!("{size}: MPI over libfabric, % more"), more)
                .noted("only a marginal overhead for small messages, no number"),
        );
    }
    (context.draw)(Figure {
        name: "layers",
        title: "Half of the time there and back on quiet Malbec".to_owned(),
        subtitle: "by layer of software; what each costs is a parameter".to_owned(),
        what: Drawn::Lines { x: "log2 bytes", y: "log10 us", lines },
    });
    rows
}

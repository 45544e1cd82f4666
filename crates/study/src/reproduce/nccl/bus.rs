//! Allreduce of GPUs: bus bandwidths as published and by NCCL's cost model, the worst first.

use darkfiber_scenario::{Folder, ScenarioFile};
use darkfiber_workload::nccl::{Algorithm, Cluster, Operation, system};
use darkfiber_workload::quantity::bytes as size;

use super::measured::Measured;
use crate::reproduce::{Allowed, Class, Context, Experiment, Row, USUAL};

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "NCCL-BUS",
    title: "Allreduce of GPUs: published bus bandwidths against NCCL's cost model, the worst first",
    paper: "Published measurements with nccl-tests: issues, READMEs and pull requests, each named in its row",
    setup: "NCCL 2.30.7's cost model with rates of data sheets, one set of parameters for all. It was fixed on two systems \
     (DGX A100 with 8 x HDR; 4 hosts of H100 with 8 x 400G) and then left alone. Within 10 % from 256 MiB, within 30 % \
     below. The last rows simulate four hosts as flows on rails: on an idle fabric that must give what the model says.",
    class: Class::Substitute,
    seconds: 1.0,
    run: reproduce,
    ..USUAL
};

fn reproduce(_: &Context<'_>) -> Vec<Row> {
    let mut all = Measured::all();
    all.sort_by(|a, b| b.error().abs().total_cmp(&a.error().abs()));
    let mut rows: Vec<Row> = all.iter().map(row).collect();
    rows.extend(SIMULATED.map(|bytes| {
        let model = model(bytes);
        let what = format!("4 x 8 H100, ring, {bytes}, flows on rails: GB/s");
        Row::derived(what, model, simulated(bytes), Allowed::Relative(0.01))
            .noted("expected is the model's; the fabric is idle and wide enough")
    }));
    rows
}

/// A measurement and the value of the model.
fn row(m: &Measured) -> Row {
    let (cost, ours) = m.ours();
    let quantity = format!(
        "{}, {} x {}, {}, {}: GB/s",
        m.system,
        m.cluster.nodes,
        m.cluster.system.gpus,
        m.given(),
        m.size
    );
    let t = m.tolerance();
    let allowed = Allowed::Between(m.bus[0] * (1.0 - t), m.bus[1] * (1.0 + t));
    let fixed = if m.is_fixed_on { "; the model was fixed on this system" } else { "" };
    let why = reason(m).map_or(String::new(), |why| format!("; off: {why}"));
    let (algorithm, protocol) = (cost.algorithm.name(), cost.protocol.name());
    let note = if m.note.is_empty() { String::new() } else { format!("; {}", m.note) };
    let note = format!("{}{note}; ours is {algorithm}/{protocol}{fixed}{why}", m.source);
    Row::new(quantity, m.bus[1], ours, allowed).noted(note)
}

/// The known reason why ours is off, where it is.
fn reason(m: &Measured) -> Option<&'static str> {
    let error = m.error();
    (error.abs() > m.tolerance()).then(|| {
        let is_small = m.bytes < 256 << 20;
        match m.algorithms.as_slice() {
            _ if m.note.contains("TCPXO") => {
                "the plugin's own times; the model knows NICs with RDMA only"
            }
            _ if m.cluster.system.gpus > 8 => {
                "the model has no latency that grows with the GPUs of one NVLink network"
            }
            _ if is_small => "the model's latency is less than such a call takes",
            [Algorithm::Tree] => "not known; a ring on the same system is as the model says",
            _ => "not known; others measured what the model says on hosts like these",
        }
    })
}

/// Sizes that are simulated, too.
const SIMULATED: [&str; 2] = ["1GiB", "64MiB"];

/// Result of the model for four hosts.
fn model(bytes: &str) -> f64 {
    let known = "part of the program";
    let cluster = Cluster::new(system("dgx-h100").expect(known), 4);
    let bytes = size(bytes).expect(known);
    let ring = Some(Algorithm::Ring);
    let cost = cluster.choose(Operation::AllReduce, ring, None, bytes).expect(known);
    Operation::AllReduce.bus_bandwidth(cluster.ranks(), bytes, cost.seconds) / 1e9
}

/// Time of traffic `nccl` at depth flow on four hosts of one unit of a rail-optimised fabric.
fn simulated(bytes: &str) -> f64 {
    let text = format!(
        "fabric = \"rails:hosts_per_unit=4,spines=4,gbps=400\"\ndepth = \"flow\"\n[routes]\nengine = \"updn\"\n\
         [[job]]\nnodes = 4\nper-node = 8\ntraffic = \"nccl:op=allreduce,algorithm=ring,bytes={bytes}\"\n"
    );
    let known = "a scenario of this program";
    let file = ScenarioFile::parse(&text, "NCCL-BUS").expect(known);
    let case = file.resolve(&Folder::default(), &mut ()).expect(known);
    let end = case.run(None, &mut |_| ()).expect(known).end;
    let bytes = size(bytes).expect(known);
    Operation::AllReduce.bus_bandwidth(32, bytes, end as f64 / 1e12) / 1e9
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::fs;
    use std::path::Path;

    use super::*;

    const BEGIN: &str = "<!-- tested: cargo test -p darkfiber-study nccl -->\n";

    /// The comparison as the documentation shows it.
    fn table() -> String {
        let mut all = Measured::all();
        all.sort_by(|a, b| b.error().abs().total_cmp(&a.error().abs()));
        let mut text = "| system | hosts x GPUs | algorithm | size | measured GB/s | ours | error | verdict |\n\
                        |---|--:|---|--:|--:|--:|--:|---|\n"
            .to_owned();
        for m in &all {
            let (cost, ours) = m.ours();
            let [least, most] = m.bus;
            let measured = if most > least { format!("{least}-{most}") } else { format!("{most}") };
            let verdict = if reason(m).is_some() { "**off**" } else { "within" };
            let fixed = if m.is_fixed_on { " (fixed on it)" } else { "" };
            let _infallible = writeln!(
                text,
                "| {} | {} x {} | {}: {}/{} | {} | {measured} | {ours:.1} | {:+.0} % | {verdict}{fixed} |",
                m.system,
                m.cluster.nodes,
                m.cluster.system.gpus,
                m.given(),
                cost.algorithm.name(),
                cost.protocol.name(),
                m.size,
                100.0 * m.error(),
            );
        }
        text
    }

    /// After a change that is meant: `DARKFIBER_UPDATE_DOCS=1 cargo test -p darkfiber-study nccl`.
    #[test]
    fn docs_hold_the_comparison() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ai.md");
        let text = fs::read_to_string(&path).expect("docs/ai.md");
        let (before, rest) = text.split_once(BEGIN).expect("the comment before the table");
        let end = rest.find("\n\n").map_or(rest.len(), |i| i + 1);
        let should = format!("{before}{BEGIN}{}{}", table(), &rest[end..]);
        if std::env::var_os("DARKFIBER_UPDATE_DOCS").is_some() {
            fs::write(&path, &should).expect("written");
        } else {
            assert!(text == should, "DARKFIBER_UPDATE_DOCS=1 writes docs/ai.md anew");
        }
    }
}

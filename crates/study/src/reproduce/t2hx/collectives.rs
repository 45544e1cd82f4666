//! Figure 4: collectives, by nodes and message size.

use super::PAPER;
use super::records::CALLED;
use crate::grid::{Record, Value};
use crate::reproduce::paper::{Paper, paper};
use crate::reproduce::{Class, Context, Drawn, Experiment, Figure, Row, Table, USUAL};

/// Common fields of the figures.
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

const BCAST_STUDY: Paper = paper!("t2hx-f4a");
const GATHER_STUDY: Paper = paper!("t2hx-f4b");
const SCATTER_STUDY: Paper = paper!("t2hx-f4c");
const REDUCE_STUDY: Paper = paper!("t2hx-f4d");
const ALLREDUCE_STUDY: Paper = paper!("t2hx-f4e");
const ALLTOALL_STUDY: Paper = paper!("t2hx-f4f");
/// Results of which only an order is printed, by five seeds.
const TWO_SWITCHES: Paper = paper!("t2hx-f4f-seeds");

pub(in crate::reproduce) const BCAST: Experiment = Experiment {
    id: "T2HX-F4a",
    title: "MPI_Bcast: gain over the Fat-Tree by nodes and message size (figure 4a)",
    papers: &[BCAST_STUDY],
    run: |context| reproduced("bcast", &BCAST_STUDY, context),
    ..FIGURE
};

pub(in crate::reproduce) const GATHER: Experiment = Experiment {
    id: "T2HX-F4b",
    title: "MPI_Gather: gain over the Fat-Tree by nodes and message size (figure 4b)",
    papers: &[GATHER_STUDY],
    run: |context| reproduced("gather", &GATHER_STUDY, context),
    ..FIGURE
};

pub(in crate::reproduce) const SCATTER: Experiment = Experiment {
    id: "T2HX-F4c",
    title: "MPI_Scatter: gain over the Fat-Tree by nodes and message size (figure 4c)",
    papers: &[SCATTER_STUDY],
    run: |context| reproduced("scatter", &SCATTER_STUDY, context),
    ..FIGURE
};

pub(in crate::reproduce) const REDUCE: Experiment = Experiment {
    id: "T2HX-F4d",
    title: "MPI_Reduce: gain over the Fat-Tree by nodes and message size (figure 4d)",
    papers: &[REDUCE_STUDY],
    run: |context| reproduced("reduce", &REDUCE_STUDY, context),
    ..FIGURE
};

pub(in crate::reproduce) const ALLREDUCE: Experiment = Experiment {
    id: "T2HX-F4e",
    title: "MPI_Allreduce: gain over the Fat-Tree by nodes and message size (figure 4e)",
    papers: &[ALLREDUCE_STUDY],
    run: |context| reproduced("allreduce", &ALLREDUCE_STUDY, context),
    ..FIGURE
};

pub(in crate::reproduce) const ALLTOALL: Experiment = Experiment {
    id: "T2HX-F4f",
    title: "MPI_Alltoall: gain over the Fat-Tree by nodes and message size (figure 4f)",
    papers: &[ALLTOALL_STUDY, TWO_SWITCHES],
    run: |context| {
        let mut rows = reproduced("alltoall", &ALLTOALL_STUDY, context);
        rows.extend(TWO_SWITCHES.rows(context));
        rows
    },
    ..FIGURE
};

/// The rows of a figure, and its picture.
fn reproduced(name: &'static str, paper: &Paper, context: &Context<'_>) -> Vec<Row> {
    let (study, records) = paper.records(context);
    (context.draw)(Figure {
        name,
        title: format!("MPI {name}: gain over FT/ftree/linear"),
        subtitle: "one call, by nodes and bytes; 0 is as fast, 1 twice as fast, -0.5 half as fast"
            .to_owned(),
        what: Drawn::Gains(tables(&records)),
    });
    study.judged(&records)
}

/// Gains over the first combination, a table for each of the others: nodes by bytes.
fn tables(records: &[Record]) -> Vec<Table> {
    // Values of an axis in the order of the study.
    let values = |key: &str| {
        let mut all: Vec<&Value> = Vec::new();
        for record in records {
            let value = record.set.iter().find(|(name, _)| name == key).map(|(_, value)| value);
            all.extend(value.filter(|value| !all.contains(value)));
        }
        all
    };
    let (nodes, traffic) = (values("job.1.nodes"), values("job.1.traffic"));
    let has = |record: &Record, value: &Value| record.set.iter().any(|(_, v)| v == value);
    // Combinations are the outermost axis.
    let mut points: Vec<Vec<&Record>> = vec![Vec::new(); CALLED.len()];
    let each = records.len() / CALLED.len();
    for (i, record) in records.iter().enumerate() {
        points[(i / each.max(1)).min(CALLED.len() - 1)].push(record);
    }
    let time = |combination: &[&Record], nodes: &Value, traffic: &Value| {
        let record = combination.iter().find(|r| has(r, nodes) && has(r, traffic))?;
        record.answers.first()?.get("run_mean")?.number()
    };
    let gains = |combination: &[&Record]| -> Vec<Option<f64>> {
        let cells = nodes.iter().flat_map(|n| traffic.iter().map(move |t| (n, t)));
        cells.map(|(n, t)| Some(time(&points[0], n, t)? / time(combination, n, t)? - 1.0)).collect()
    };
    let bytes = |traffic: &&Value| {
        let text = traffic.to_string();
        text.rsplit_once('=').and_then(|(_, n)| n.parse().ok()).map_or(text, size)
    };
    CALLED
        .iter()
        .zip(&points)
        .skip(1)
        .map(|(title, combination)| Table {
            title: (*title).to_owned(),
            rows: nodes.iter().map(ToString::to_string).collect(),
            columns: traffic.iter().map(bytes).collect(),
            cells: gains(combination),
            texts: Vec::new(),
        })
        .collect()
}

fn size(bytes: u64) -> String {
    match bytes {
        b if b >= 1 << 20 => format!("{} MiB", b >> 20),
        b if b >= 1 << 10 => format!("{} KiB", b >> 10),
        b => format!("{b} B"),
    }
}

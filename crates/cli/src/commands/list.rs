//! `darkfiber list`: what there is, from the registries.

use std::fmt::Write as _;

use darkfiber_analysis::count::{self, Bandwidth};
use darkfiber_fabric::{COMMON_KEYS, FAMILIES, Key, PRESETS};
use darkfiber_packetsim::routing::{Kind, ROUTINGS};
use darkfiber_packetsim::{CONGESTIONS, FRAMINGS, MICROS};
use darkfiber_report::simulate::{bytes, seconds};
use darkfiber_report::{Listed, Style, comma, json, table};
use darkfiber_routing::ENGINES;
use darkfiber_workload::PATTERNS;
use darkfiber_workload::collective::{COLLECTIVES, Collective};
use darkfiber_workload::placement::{ALLOCATORS, allocator};
use darkfiber_workload::play::{HOSTS, host};
use darkfiber_workload::traffic::TRAFFICS;

use crate::args::{Common, Format, ListCommand};
use crate::failure::{Exit, Failure};
use crate::out;

/// A list: a heading and rows, the first column being the name.
struct List {
    what: &'static str,
    heading: &'static [&'static str],
    rows: Vec<Vec<String>>,
    doc: fn(&str) -> String,
}

/// The lists that there are.
pub(super) const KINDS: &[&str] = &[
    "engines",
    "families",
    "presets",
    "patterns",
    "traffic",
    "collectives",
    "hosts",
    "routings",
    "switches",
    "congestion",
    "framing",
    "allocators",
    "formats",
    "metrics",
];

pub(crate) fn run(args: &ListCommand, common: &Common) -> Result<Exit, Failure> {
    let list = match args.kind.as_str() {
        "engines" | "engine" => engines(),
        "families" | "family" => families(),
        "presets" | "preset" => presets(),
        "formats" | "format" => {
            fixed("format", &["format", "read", "written", "what it is"], FORMATS)
        }
        "patterns" | "pattern" => patterns(),
        "allocators" | "allocator" => allocators(),
        "traffic" => traffic(),
        "collectives" | "collective" => collectives(),
        "hosts" | "host" => hosts(),
        "routings" | "routing" => routings(),
        "switches" | "switch" => switches(),
        "congestion" => congestion(),
        "framing" | "framings" => framing(),
        "metrics" | "metric" => metrics(),
        other => return Err(Failure::unknown("list", other, KINDS)),
    };
    let Some(name) = &args.name else {
        if list.what == "engine" && common.format == Format::Table {
            out::print(&engine_paragraphs(&list.rows))?;
            return Ok(Exit::Fine);
        }
        out::print(&show(list.heading, &list.rows, common))?;
        return Ok(Exit::Fine);
    };
    let wanted = if list.what == "preset" && !name.starts_with('@') {
        format!("@{name}")
    } else {
        name.clone()
    };
    let Some(row) = list.rows.iter().find(|row| row[0] == wanted) else {
        let known: Vec<&str> = list.rows.iter().map(|row| row[0].as_str()).collect();
        return Err(Failure::unknown(list.what, &wanted, &known));
    };
    out::print(&match common.format {
        Format::Table => {
            let doc = (list.doc)(&wanted);
            let width = list.heading.iter().map(|h| h.len()).max().unwrap_or(0);
            let mut text = String::new();
            for (key, value) in list.heading.iter().zip(row) {
                let _infallible = writeln!(text, "{key:<width$}  {value}");
            }
            if !doc.is_empty() {
                text.push('\n');
                text.push_str(&wrapped(&doc, 96));
            }
            text
        }
        _ => show(list.heading, std::slice::from_ref(row), common),
    })?;
    Ok(Exit::Fine)
}

fn show(heading: &[&str], rows: &[Vec<String>], common: &Common) -> String {
    match common.format {
        Format::Table => table::plain(heading, rows, &[], Style::of_stdout()),
        Format::Csv => {
            let mut lines = vec![heading.iter().map(|&h| h.to_owned()).collect::<Vec<_>>()];
            lines.extend(rows.iter().cloned());
            comma::text(&lines)
        }
        Format::Json => {
            let keys = || heading.iter().map(|h| h.replace(' ', "_"));
            let items = rows.iter().map(|row| keys().zip(row.iter().cloned()).collect());
            json::text(&Listed { items: items.collect() })
        }
    }
}

fn engines() -> List {
    List {
        what: "engine",
        heading: &["engine", "needs", "deadlock", "what it does", "paper"],
        rows: ENGINES
            .iter()
            .map(|e| {
                let lids = if e.by_source() { " (several LIDs a port)" } else { "" };
                [e.name(), e.needs().label(), e.deadlock().label()]
                    .map(str::to_owned)
                    .into_iter()
                    .chain([format!("{}{lids}", e.summary()), e.paper().to_owned()])
                    .collect()
            })
            .collect(),
        doc: |name| {
            ENGINES.iter().find(|e| e.name() == name).map_or(String::new(), |e| e.doc().to_owned())
        },
    }
}

/// Engines for people: papers are too long for a column.
fn engine_paragraphs(rows: &[Vec<String>]) -> String {
    let width = rows.iter().map(|row| row[0].len()).max().unwrap_or(0);
    let mut text = String::new();
    for row in rows {
        let _infallible = writeln!(
            text,
            "{:<width$}  {}\n{:width$}  needs {}; deadlock: {}\n{:width$}  {}",
            row[0], row[3], "", row[1], row[2], "", row[4]
        );
    }
    text
}

fn routings() -> List {
    let doc = |name: &str| {
        let known = ROUTINGS.iter().find(|k| k.name == name);
        known.map_or(String::new(), |k| format!("{} {}.", k.doc, k.paper))
    };
    let row = |k: &Kind| vec![k.name.to_owned(), k.summary.to_owned()];
    List {
        what: "routing",
        heading: &["routing", "where packets go"],
        rows: ROUTINGS.iter().map(row).collect(),
        doc,
    }
}

fn congestion() -> List {
    let doc = |name: &str| {
        let known = CONGESTIONS.iter().find(|c| c.name == name);
        known.map_or(String::new(), |c| format!("{} {}.", c.doc, c.paper))
    };
    List {
        what: "congestion control",
        heading: &["congestion", "what holds sources back"],
        rows: CONGESTIONS.iter().map(|c| vec![c.name.to_owned(), c.summary.to_owned()]).collect(),
        doc,
    }
}

fn framing() -> List {
    let doc = |name: &str| {
        let known = FRAMINGS.iter().find(|f| f.name == name);
        known.map_or(String::new(), |f| format!("{} {}.", f.doc, f.paper))
    };
    List {
        what: "framing",
        heading: &["framing", "what packets have on channels beside data"],
        rows: FRAMINGS.iter().map(|f| vec![f.name.to_owned(), f.summary.to_owned()]).collect(),
        doc,
    }
}

fn switches() -> List {
    List {
        what: "switch",
        heading: &["switches", "what they are like"],
        rows: MICROS.iter().map(|m| vec![m.name.to_owned(), m.summary.to_owned()]).collect(),
        doc: |name| {
            MICROS.iter().find(|m| m.name == name).map_or(String::new(), |m| m.doc.to_owned())
        },
    }
}

fn patterns() -> List {
    List {
        what: "pattern",
        heading: &["pattern", "who sends to whom"],
        rows: PATTERNS.iter().map(|k| vec![k.name().to_owned(), k.summary().to_owned()]).collect(),
        doc: |name| {
            let Some(k) = PATTERNS.iter().find(|k| k.name() == name) else { return String::new() };
            format!("{}{}", k.doc(), keys(k.keys()))
        },
    }
}

/// Keys of a spec, a line each.
fn keys(keys: &[Key]) -> String {
    let mut text = String::new();
    for key in keys {
        let default = key.default.unwrap_or("required");
        let head = if text.is_empty() { "\n\nKeys:\n" } else { "" };
        let _infallible =
            writeln!(text, "{head}  {:<10} {} (default: {default})", key.name, key.meaning);
    }
    text
}

fn traffic() -> List {
    List {
        what: "traffic",
        heading: &["traffic", "what ranks do"],
        rows: TRAFFICS.iter().map(|t| vec![t.name().to_owned(), t.summary().to_owned()]).collect(),
        doc: |name| {
            TRAFFICS
                .iter()
                .find(|t| t.name() == name)
                .map_or(String::new(), |t| format!("{}{}", t.doc(), keys(&t.keys())))
        },
    }
}

fn collectives() -> List {
    List {
        what: "collective",
        heading: &["collective", "what it does", "algorithms"],
        rows: COLLECTIVES
            .iter()
            .map(|c| {
                let names: Vec<&str> = c.algorithms().iter().map(|a| a.name).collect();
                vec![c.name().to_owned(), c.doc().to_owned(), names.join(", ")]
            })
            .collect(),
        doc: |name| {
            let Some(collective) = Collective::named(name) else { return String::new() };
            let mut text = String::from("Algorithms:\n");
            for a in collective.algorithms() {
                let _infallible = writeln!(text, "  {:<10} {} ({})", a.name, a.doc, a.source);
            }
            text
        },
    }
}

fn hosts() -> List {
    List {
        what: "kind of hosts",
        heading: &["hosts", "send", "receive", "gap", "rendezvous", "adapters", "switch"],
        rows: HOSTS
            .iter()
            .map(|h| {
                let time = |ps: u64| seconds(ps as f64 * 1e-12);
                let rendezvous = match h.rendezvous {
                    u64::MAX => "never".to_owned(),
                    size => bytes(size as f64),
                };
                let times = [h.send, h.receive, h.gap].map(time);
                let mut row = vec![h.name.to_owned()];
                row.extend(times);
                row.extend([rendezvous, time(h.adapters), time(h.switch)]);
                row
            })
            .collect(),
        doc: |name| host(name).map_or(String::new(), |h| h.doc.to_owned()),
    }
}

fn allocators() -> List {
    List {
        what: "allocator",
        heading: &["allocator", "which hosts a job gets"],
        rows: ALLOCATORS.iter().map(|a| vec![a.name.to_owned(), a.summary.to_owned()]).collect(),
        doc: |name| allocator(name).map_or(String::new(), |a| a.doc.to_owned()),
    }
}

/// Metrics of routes, then those of patterns.
fn metrics() -> List {
    let mut list = fixed("metric", &["metric", "meaning"], METRICS);
    let of_patterns = count::METRICS.iter().map(|m| (m.name, m.summary));
    let bandwidths = Bandwidth::ALL.map(|b| (b.name(), b.summary()));
    let row = |(name, text): (&str, &str)| vec![name.to_owned(), text.to_owned()];
    list.rows.extend(of_patterns.chain(bandwidths).map(row));
    list
}

fn families() -> List {
    List {
        what: "family",
        heading: &["family", "what it is", "example"],
        rows: FAMILIES
            .iter()
            .map(|f| [f.name(), f.summary(), f.example()].map(str::to_owned).to_vec())
            .collect(),
        doc: |name| {
            let Some(f) = FAMILIES.iter().find(|f| f.name() == name) else { return String::new() };
            let mut text = format!("{}\n\nPaper: {}\n\nKeys:\n", f.doc(), f.paper());
            for key in f.keys().iter().chain(COMMON_KEYS) {
                let default =
                    key.default.map_or("required".to_owned(), |d| format!("default: {d}"));
                let _infallible = writeln!(text, "  {:<10} {} ({default})", key.name, key.meaning);
            }
            text
        },
    }
}

fn presets() -> List {
    List {
        what: "preset",
        heading: &["preset", "what it is"],
        rows: PRESETS.iter().map(|p| vec![format!("@{}", p.name), p.summary.to_owned()]).collect(),
        doc: |name| {
            let Some(p) = PRESETS.iter().find(|p| name.strip_prefix('@') == Some(p.name)) else {
                return String::new();
            };
            let spec = p.spec().map_or(String::new(), |s| format!("\n\nSpec: {s}"));
            format!("{}{spec}\n\nPaper: {}\n", p.doc, p.paper)
        },
    }
}

const FORMATS: &[&[&str]] = &[
    &["ibnetdiscover", "yes", "yes", "output of ibnetdiscover, also -p; ibsim net files"],
    &["subnet.lst", "yes", "route -o", "OpenSM's opensm-subnet.lst, read by ibdm tools"],
    &["json", "yes", "yes", "darkfiber's own: everything that is known about a fabric"],
    &["edges", "yes", "yes", "edge list: `a b [count] [speed]`, `host h s` on each line"],
    &["graph-golf", "yes", "no", "edge lists called n<order>d<degree>...: simple graphs"],
    &["netbench", "yes", "no", ".topology files: |V|=, ToRs=, then `a b` both ways"],
    &["cray", "yes", "no", "link list of a Cray XC: `c0-0c0s0a0l00(0:0:0) green -> ...`"],
    &[
        "codes",
        "yes",
        "no",
        "binary pairs x_inter, x_intra (give either): dragonfly and dragonfly+",
    ],
    &["dot", "no", "yes", "Graphviz"],
    &["netloc", "yes", "no", "netloc nodes files, and paths files with check --routes"],
    &["lfts", "check", "route -o", "OpenSM's lfts dump, dump_lfts.sh, ibroute"],
    &["fdbs", "check", "route -o", "OpenSM's osm.fdbs"],
    &["guid2lid", "check", "route -o", "OpenSM's cache of LIDs"],
    &["path-sl", "check", "route -o", "service level of every path, as ibdmchk reads it"],
    &[
        "jobs",
        "yes",
        "jobs place",
        "--jobs: squeue, scontrol, sacct -P, slurmrestd, PBS, Batsim, SWF, node job pairs",
    ],
    &["topology.conf", "jobs filter", "yes", "SLURM's tree of switches and nodes"],
    &["path-bits", "check", "route -o", "LID of its destinations that each port uses, with LMC"],
    &["guids", "yes", "no", "one GUID a line: --roots, --compute, --storage"],
    &["scenario", "simulate", "no", "TOML: a fabric, its routes, jobs and what they send"],
    &["goal", "simulate", "no", "schedules of GOAL, as text or compiled"],
    &["dumpi", "simulate", "no", "traces of DUMPI, also as dumpi2ascii prints them"],
    &["simgrid", "simulate", "no", "time-independent traces of SimGrid"],
    &["chakra", "simulate", "no", "execution traces of Chakra"],
    &["matrix", "simulate", "no", "bytes between ranks: mpiP's graphs, tables, lists"],
    &["parquet", "no", "simulate -o", "runs, pairs of ranks, channels by interval, messages"],
];

const METRICS: &[&[&str]] = &[
    &["pairs", "ordered pairs of different terminals"],
    &["unreachable", "pairs whose packets end nowhere or at a wrong port"],
    &["loops", "pairs whose packets go round for ever"],
    &["hops", "switches crossed by a terminal pair, as OpenSM counts: mean and max"],
    &["layers", "virtual layers (service level = virtual lane) in use"],
    &[
        "deadlock_free",
        "no layer has a cycle of channel dependencies (Dally and Seitz 1987); cycles are shown",
    ],
    &[
        "efi",
        "edge forwarding index: routes that cross a directed switch-to-switch channel; max, mean, \
         min, stddev over all such channels (Domke and Hoefler, SC'16, Definition 7)",
    ],
    &[
        "dark_fiber_percent",
        "share of those channels that no route crosses (Domke and Hoefler, SC'16, Definition 8)",
    ],
    &["seconds", "wall time of computing routes and layers, nothing else"],
    &[
        "effective_efi",
        "with --jobs: routes between terminals of one job over a directed switch-to-switch channel; max, mean, \
         min, stddev (Domke and Hoefler, SC'16, Definition 7)",
    ],
    &[
        "gamma_max_mean",
        "with --jobs: mean over multi-switch jobs of the most of its own routes on a channel",
    ],
    &[
        "links_per_job_mean",
        "with --jobs: mean over multi-switch jobs of the channels that its routes cross",
    ],
    &[
        "effective_dark_fiber_percent",
        "with --jobs: share of channels that no route inside a job crosses (Definition 8)",
    ],
];

fn fixed(
    what: &'static str,
    heading: &'static [&'static str],
    rows: &'static [&'static [&'static str]],
) -> List {
    List {
        what,
        heading,
        rows: rows.iter().map(|row| row.iter().map(|&c| c.to_owned()).collect()).collect(),
        doc: |_| String::new(),
    }
}

/// Paragraphs broken into lines; lines that are indented stay as they are.
fn wrapped(text: &str, width: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        if line.starts_with(' ') {
            out.push_str(line);
            out.push('\n');
            continue;
        }
        let mut used = 0;
        for word in line.split_whitespace() {
            let length = word.chars().count();
            if used > 0 && used + 1 + length > width {
                out.push('\n');
                used = 0;
            } else if used > 0 {
                out.push(' ');
                used += 1;
            }
            out.push_str(word);
            used += length;
        }
        out.push('\n');
    }
    out
}

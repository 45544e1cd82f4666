//! `darkfiber list`: what there is, from the registries.

use std::fmt::Write as _;

use clap::Args;
use darkfiber_analysis::count::{self, Bandwidth};
use darkfiber_fabric::{COMMON_KEYS, Entry, FAMILIES, Key, PRESETS, Registry};
use darkfiber_formats::format::{Reading, Writing};
use darkfiber_formats::{FORMATS, Format};
use darkfiber_packetsim::routing::ROUTINGS;
use darkfiber_packetsim::{CONGESTIONS, FRAMINGS, MICROS, Scheme};
use darkfiber_report::listing::Listing;
use darkfiber_report::quantity::{bytes, seconds};
use darkfiber_routing::ENGINES;
use darkfiber_routing::ecmp::{ECMP_KEYS, HASHES};
use darkfiber_study::grid::QUESTIONS;
use darkfiber_study::reproduce::EXPERIMENTS;
use darkfiber_traces::jobs;
use darkfiber_traces::schedules::FORMS;
use darkfiber_workload::PATTERNS;
use darkfiber_workload::collective::COLLECTIVES;
use darkfiber_workload::placement::ALLOCATORS;
use darkfiber_workload::play::HOSTS;
use darkfiber_workload::traffic::TRAFFICS;

use crate::failure::{Exit, Failure};
use crate::options::Common;
use crate::terminal::wrapped;

#[derive(Args, Debug)]
pub(crate) struct ListCommand {
    /// engines, families, presets, patterns, traffic, collectives, hosts, routings, hashes, switches, congestion,
    /// framing, allocators, experiments, questions, formats or metrics [default: which lists there are]
    #[arg(value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// One of them, in full
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
Examples:
  darkfiber list engines
  darkfiber list engines dfsssp     all that is known about one
  darkfiber list families hyperx
  darkfiber list traffic milc
  darkfiber list presets";

/// A list: a heading and rows, the first column being the name.
struct List {
    what: &'static str,
    heading: &'static [&'static str],
    rows: Vec<Vec<String>>,
    /// By row, what `list KIND NAME` says beside it.
    docs: Vec<String>,
}

impl List {
    /// The components of a registry: their columns, and their documentation.
    fn of<T: Entry>(
        registry: &Registry<T>,
        heading: &'static [&'static str],
        row: impl Fn(&T) -> Vec<String>,
        doc: impl Fn(&T) -> String,
    ) -> Self {
        let rows = registry.iter().map(row).collect();
        Self { what: registry.kind(), heading, rows, docs: registry.iter().map(doc).collect() }
    }

    /// What is listed elsewhere than in a registry.
    fn fixed(what: &'static str, heading: &'static [&'static str], rows: &[&[&str]]) -> Self {
        let row = |row: &&[&str]| row.iter().map(|&c| c.to_owned()).collect();
        Self { what, heading, rows: rows.iter().map(row).collect(), docs: Vec::new() }
    }
}

/// Columns that are summaries, where these are not the second.
const SUMMARIES: [&str; 2] = ["what it does", "what it is"];

/// The words for a list, the first of them in messages, and what makes it.
type Choice = (&'static [&'static str], fn() -> List);

/// The lists that there are.
const LISTS: &[Choice] = &[
    (&["engines", "engine"], engines),
    (&["families", "family"], families),
    (&["presets", "preset"], presets),
    (&["patterns", "pattern"], || {
        List::of(
            &PATTERNS,
            &["pattern", "who sends to whom"],
            |k| texts([k.name(), k.summary()]),
            |k| format!("{}{}", k.doc(), keys(k.keys())),
        )
    }),
    (&["traffic"], || {
        List::of(
            &TRAFFICS,
            &["traffic", "what ranks do"],
            |t| texts([t.name(), t.summary()]),
            |t| format!("{}{}", t.doc(), keys(&t.keys())),
        )
    }),
    (&["collectives", "collective"], collectives),
    (&["hosts", "host"], hosts),
    (&["routings", "routing"], || {
        List::of(
            &ROUTINGS,
            &["routing", "where packets go"],
            |k| texts([k.name, k.summary]),
            |k| format!("{} {}.", k.doc, k.paper),
        )
    }),
    (&["hashes", "hash"], || {
        List::of(
            &HASHES,
            &["hash", "what switches pick next hops by (ECMP)"],
            |h| texts([h.name, h.summary]),
            |h| format!("{}{}", h.doc, keys(ECMP_KEYS)),
        )
    }),
    (&["switches", "switch"], || {
        List::of(
            &MICROS,
            &["switches", "what they are like"],
            |m| texts([m.name, m.summary]),
            |m| m.doc.to_owned(),
        )
    }),
    (&["congestion"], || {
        List::of(
            &CONGESTIONS,
            &["congestion", "what holds sources back"],
            |c| texts([c.name, c.summary]),
            |c| format!("{} {}.{}", c.doc, c.paper, parameters(c)),
        )
    }),
    (&["framing", "framings"], || {
        List::of(
            &FRAMINGS,
            &["framing", "what packets have on channels beside data"],
            |f| texts([f.name, f.summary]),
            |f| format!("{} {}.", f.doc, f.paper),
        )
    }),
    (&["allocators", "allocator"], || {
        List::of(
            &ALLOCATORS,
            &["allocator", "which hosts a job gets"],
            |a| texts([a.name, a.summary]),
            |a| a.doc.to_owned(),
        )
    }),
    (&["experiments", "experiment"], || {
        List::of(
            &EXPERIMENTS,
            &["experiment", "class", "what it is"],
            |e| texts([e.id, e.class.label(), e.title]),
            |e| e.paper.to_owned(),
        )
    }),
    (&["questions", "question"], || {
        List::of(
            &QUESTIONS,
            &["question", "what it finds out"],
            |q| texts([q.name(), q.summary()]),
            |q| {
                let mut text = String::new();
                let lists = [("Parameters", q.parameters()), ("Columns", q.columns())];
                for (title, rows) in lists.into_iter().filter(|list| !list.1.is_empty()) {
                    let _infallible = writeln!(text, "{title}:");
                    for (name, meaning) in rows {
                        let _infallible = writeln!(text, "  {name:<15} {meaning}");
                    }
                }
                text
            },
        )
    }),
    (&["formats", "format"], formats),
    (&["metrics", "metric"], metrics),
];

/// What `darkfiber list` can list.
pub(crate) fn kinds() -> Vec<&'static str> {
    LISTS.iter().map(|(words, _)| words[0]).collect()
}

/// Names of one of the lists, with their summaries; empty where there is no such list.
pub(crate) fn names(kind: &str) -> Vec<(String, String)> {
    let Some((_, make)) = LISTS.iter().find(|(words, _)| words.contains(&kind)) else {
        return Vec::new();
    };
    let list = make();
    let column = list.heading.iter().position(|h| SUMMARIES.contains(h)).unwrap_or(1);
    let named = list.rows.into_iter().map(|row| {
        let summary = row.get(column).cloned().unwrap_or_default();
        (row.into_iter().next().unwrap_or_default(), summary)
    });
    named.collect()
}

pub(crate) fn run(args: &ListCommand, common: &Common) -> Result<Exit, Failure> {
    let Some(kind) = &args.kind else {
        let rows: Vec<Vec<String>> = (LISTS.iter())
            .map(|(words, make)| {
                let list = make();
                vec![words[0].to_owned(), list.rows.len().to_string(), list.heading[1..].join(", ")]
            })
            .collect();
        common.show(&Listing::of(&["list", "entries", "says of each"], &rows))?;
        return Ok(Exit::Fine);
    };
    let (_, make) = LISTS
        .iter()
        .find(|(words, _)| words.contains(&kind.as_str()))
        .ok_or_else(|| Failure::unknown("list", kind, &kinds()))?;
    let list = make();
    let Some(name) = &args.name else {
        let text = (list.what == ENGINES.kind()).then(|| engine_paragraphs(&list.rows));
        common.show(&Listing { text, ..Listing::of(list.heading, &list.rows) })?;
        return Ok(Exit::Fine);
    };
    let wanted = if list.what == PRESETS.kind() && !name.starts_with('@') {
        format!("@{name}")
    } else {
        name.clone()
    };
    let Some(number) = list.rows.iter().position(|row| row[0] == wanted) else {
        let known: Vec<&str> = list.rows.iter().map(|row| row[0].as_str()).collect();
        return Err(Failure::unknown(list.what, &wanted, &known));
    };
    let row = &list.rows[number];
    let doc = list.docs.get(number).map_or("", String::as_str);
    let width = list.heading.iter().map(|h| h.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (key, value) in list.heading.iter().zip(row) {
        let _infallible = writeln!(text, "{key:<width$}  {value}");
    }
    if !doc.is_empty() {
        text.push('\n');
        text.push_str(&wrapped(doc, 96));
    }
    let text = Some(text);
    common.show(&Listing { text, ..Listing::of(list.heading, std::slice::from_ref(row)) })?;
    Ok(Exit::Fine)
}

fn texts<const N: usize>(columns: [&str; N]) -> Vec<String> {
    columns.map(str::to_owned).to_vec()
}

fn engines() -> List {
    List::of(
        &ENGINES,
        &["engine", "needs", "deadlock", "what it does", "paper", "lanes"],
        |e| {
            let lids = if e.by_source() { " (several LIDs a port)" } else { "" };
            let summary = format!("{}{lids}", e.summary());
            let deadlock = e.deadlock();
            let [promise, lanes] = [deadlock.label(), deadlock.reach()];
            texts([e.name(), e.needs().label(), promise, &summary, e.paper(), lanes])
        },
        |e| e.doc().to_owned(),
    )
}

/// Engines for people: papers are too long for a column.
fn engine_paragraphs(rows: &[Vec<String>]) -> String {
    let width = rows.iter().map(|row| row[0].len()).max().unwrap_or(0);
    let mut text = String::new();
    for row in rows {
        let _infallible = writeln!(
            text,
            "{:<width$}  {}\n{:width$}  needs {}; deadlock: {}\n{:width$}  lanes: {}\n{:width$}  {}",
            row[0], row[3], "", row[1], row[2], "", row[5], "", row[4]
        );
    }
    text
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

/// Parameters of a scheme of congestion control: default, range, meaning and source of each.
fn parameters(scheme: &Scheme) -> String {
    let mut text = String::new();
    for p in scheme.all_parameters() {
        let head = if text.is_empty() { "\n\nParameters:\n" } else { "" };
        let _infallible = writeln!(
            text,
            "{head}  {:<10} {} (default: {}; {}; source: {})",
            p.name,
            p.meaning,
            p.default_text(),
            p.range_text(),
            p.source
        );
    }
    text
}

fn collectives() -> List {
    List::of(
        &COLLECTIVES,
        &["collective", "what it does", "algorithms"],
        |c| {
            let names: Vec<&str> = c.algorithms().iter().map(|a| a.name).collect();
            texts([c.name(), c.doc(), &names.join(", ")])
        },
        |c| {
            let mut text = String::from("Algorithms:\n");
            for a in c.algorithms() {
                let _infallible = writeln!(text, "  {:<10} {} ({})", a.name, a.doc, a.source);
            }
            text
        },
    )
}

fn hosts() -> List {
    let time = |ps: u64| seconds(ps as f64 * 1e-12);
    List::of(
        &HOSTS,
        &["hosts", "send", "receive", "gap", "rendezvous", "adapters", "switch"],
        |h| {
            let rendezvous = match h.rendezvous {
                u64::MAX => "never".to_owned(),
                size => bytes(size as f64),
            };
            let [send, receive, gap, adapters, switch] =
                [h.send, h.receive, h.gap, h.adapters, h.switch].map(time);
            vec![h.name.to_owned(), send, receive, gap, rendezvous, adapters, switch]
        },
        |h| h.doc.to_owned(),
    )
}

/// What the crate of scenarios reads.
const SCENARIO: Format = Format {
    name: "scenario",
    summary: "TOML: a fabric, its routes, jobs and what they send",
    read: Reading::By("simulate"),
    ..Format::NONE
};

/// What the crate of reports writes.
const PARQUET: Format = Format {
    name: "parquet",
    summary: "runs, pairs of ranks, channels by interval, messages",
    write: Writing::By("simulate -o"),
    ..Format::NONE
};

/// Formats of fabrics and what belongs to them, then those of jobs and of what ranks do.
fn formats() -> List {
    let used = FORMATS.iter().filter(|f| f.is_used()).chain([&SCENARIO, &PARQUET]);
    let rows = used.map(|f| [f.name, f.reader_label(), f.writer_label(), f.summary]);
    let written =
        |log: &jobs::JobLog| if *log == jobs::pairs::LOG { "jobs allocate" } else { "no" };
    let rows =
        rows.chain(jobs::LOGS.iter().map(|log| [log.name, "--jobs", written(log), log.what]));
    let rows = rows.chain(FORMS.iter().map(|form| [form.name, "simulate", "no", form.what]));
    List {
        what: FORMATS.kind(),
        heading: &["format", "read", "written", "what it is"],
        rows: rows.map(texts).collect(),
        docs: Vec::new(),
    }
}

/// Metrics of routes, then those of patterns.
fn metrics() -> List {
    let mut list = List::fixed("metric", &["metric", "meaning"], METRICS);
    let of_patterns = count::METRICS.iter().map(|m| (m.name, m.summary));
    let bandwidths = Bandwidth::ALL.map(|b| (b.name(), b.summary()));
    list.rows.extend(of_patterns.chain(bandwidths).map(|(name, text)| texts([name, text])));
    list
}

fn families() -> List {
    List::of(
        &FAMILIES,
        &["family", "what it is", "example"],
        |f| texts([f.name(), f.summary(), f.example()]),
        |f| {
            let mut text = format!("{}\n\nPaper: {}\n\nKeys:\n", f.doc(), f.paper());
            for key in f.keys().iter().chain(COMMON_KEYS) {
                let default =
                    key.default.map_or("required".to_owned(), |d| format!("default: {d}"));
                let _infallible = writeln!(text, "  {:<10} {} ({default})", key.name, key.meaning);
            }
            text
        },
    )
}

fn presets() -> List {
    List::of(
        &PRESETS,
        &["preset", "what it is"],
        |p| vec![format!("@{}", p.name), p.summary.to_owned()],
        |p| {
            let spec = p.spec().map_or(String::new(), |s| format!("\n\nSpec: {s}"));
            format!("{}{spec}\n\nPaper: {}\n", p.doc, p.paper)
        },
    )
}

const METRICS: &[&[&str]] = &[
    &["pairs", "ordered pairs of different terminals"],
    &[
        "unreachable",
        "pairs whose packets end nowhere or at a wrong port, of each LID (paths times pairs)",
    ],
    &["loops", "pairs whose packets loop forever"],
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

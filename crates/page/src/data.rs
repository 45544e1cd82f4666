//! The data of a page: from a [`Page`] to named arrays.

use darkfiber_fabric::{ChannelId, SwitchId, TerminalId};
use darkfiber_routing::DestId;
use serde::Serialize;

use crate::blob::Blob;
use crate::chart::{Axis, Chart, Form, Sheet};
use crate::escape::line;
use crate::layout::{Curve, DOT, Layout, cables};
use crate::model::{NO_LANE, Origin, Page, PageFinding, Unit};

/// Larger tables (entries) are left out, and the page says so.
const TABLES: usize = 1_500_000;

#[derive(Serialize)]
struct About {
    title: String,
    subtitle: String,
    facts: Vec<(String, String)>,
    origin: Origin,
    layout: LayoutFacts,
    views: Vec<ViewFacts>,
    jobs: Vec<JobFacts>,
    findings: Vec<NoteFacts>,
    charts: Vec<ChartFacts>,
    sheets: Vec<SheetFacts>,
    tables: Tables,
}

#[derive(Serialize)]
struct LayoutFacts {
    kind: &'static str,
    bounds: [f32; 4],
    dot: f32,
    room: f32,
    curves: Vec<Curve>,
    captions: Vec<(String, f32, f32)>,
    group_word: &'static str,
    groups: u32,
}

#[derive(Serialize)]
struct ViewFacts {
    name: String,
    unit: Unit,
    /// Seconds of an interval, if there is a series.
    interval: Option<f64>,
    begins: Option<i64>,
    full: Option<f64>,
    /// Whether channels have lanes.
    lanes: bool,
}

#[derive(Serialize)]
struct ChartFacts {
    title: String,
    x: Axis,
    y: Axis,
    form: Form,
    /// Offset that is subtracted from all numbers of the horizontal axis, to keep precision.
    origin: f64,
    names: Vec<String>,
    lines: Vec<String>,
}

#[derive(Serialize)]
struct SheetFacts {
    title: String,
    heading: Vec<String>,
    rows: Vec<Vec<String>>,
}

#[derive(Serialize)]
struct JobFacts {
    name: String,
    fact: String,
    runs: Vec<(f64, f64)>,
    views: Vec<usize>,
}

#[derive(Serialize)]
struct NoteFacts {
    severity: &'static str,
    message: String,
    hint: String,
    /// Directed cables: twice the number of the cable, and one more for its upper channel.
    channels: Vec<u32>,
    switches: Vec<u32>,
    pairs: Vec<(u32, u32)>,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Tables {
    /// There are no routes.
    None,
    /// They are too large for a page.
    Large { entries: usize },
    /// The page holds the routes.
    Held { paths: usize, engine: String },
}

/// The data of a page, and by channel its number there: twice the number of its cable, and one more for the upper one.
pub(crate) fn of(page: &Page<'_>, layout: &Layout) -> String {
    let fabric = page.fabric;
    let mut blob = Blob::default();
    let m = fabric.channel_count();
    let mut directed = vec![0u32; m];
    let all: Vec<ChannelId> = cables(fabric).collect();
    for (cable, &c) in (0u32..).zip(&all) {
        directed[c.index()] = 2 * cable;
        directed[fabric.reverse(c).index()] = 2 * cable + 1;
    }
    // Switches.
    blob.f32("switch.x", layout.at.iter().map(|p| p.x));
    blob.f32("switch.y", layout.at.iter().map(|p| p.y));
    blob.u32("switch.group", &layout.group);
    blob.text("switch.name", fabric.switches().iter().map(|s| line(&s.description)));
    guids(&mut blob, "switch", fabric.switches().iter().map(|s| s.guid.0));
    // Cables.
    let of_cable = |f: &dyn Fn(ChannelId) -> u32| all.iter().map(|&c| f(c)).collect::<Vec<u32>>();
    blob.u32("cable.from", &of_cable(&|c| fabric.tail(c).0));
    blob.u32("cable.to", &of_cable(&|c| fabric.head(c).0));
    let ports = |f: &dyn Fn(ChannelId) -> u8| all.iter().map(|&c| f(c)).collect::<Vec<u8>>();
    blob.u8("cable.port", &ports(&|c| fabric.tail_port(c)));
    blob.u8("cable.head_port", &ports(&|c| fabric.head_port(c)));
    blob.u8("cable.curve", &layout.curve_of);
    // Hosts.
    let terminals = fabric.terminals();
    blob.u32("terminal.switch", &terminals.iter().map(|t| t.switch.0).collect::<Vec<_>>());
    blob.u8("terminal.port", &terminals.iter().map(|t| t.switch_port).collect::<Vec<_>>());
    let name = |t| line(&fabric.host(fabric.host_of(t)).name);
    blob.text("terminal.name", (0..terminals.len()).map(|t| name(TerminalId::new(t))));
    guids(&mut blob, "terminal", terminals.iter().map(|t| t.guid.0));
    let lid = |t: &darkfiber_fabric::Terminal| t.lid.unwrap_or(0);
    if terminals.iter().any(|t| t.lid.is_some()) {
        blob.u16("terminal.lid", &terminals.iter().map(lid).collect::<Vec<_>>());
    }
    views(&mut blob, page, &directed);
    let charts = charts(&mut blob, page);
    jobs(&mut blob, page, &directed);
    let tables = tables(&mut blob, page);
    let (low, high) = layout.extent(fabric);
    let note = |n: &PageFinding| NoteFacts {
        severity: n.severity,
        message: line(&n.message),
        hint: line(&n.hint),
        channels: n.channels.iter().map(|c| directed[c.index()]).collect(),
        switches: n.switches.iter().map(|s: &SwitchId| s.0).collect(),
        pairs: n.pairs.iter().map(|(a, b)| (a.0, b.0)).collect(),
    };
    let about = About {
        title: line(&page.title),
        subtitle: line(&page.subtitle),
        facts: page.facts.iter().map(|(a, b)| (line(a), line(b))).collect(),
        origin: page.origin.clone(),
        layout: LayoutFacts {
            kind: layout.kind,
            bounds: [low.x, low.y, high.x, high.y],
            dot: DOT,
            room: layout.room,
            curves: layout.curves.clone(),
            captions: layout.captions.iter().map(|c| (c.text.clone(), c.at.x, c.at.y)).collect(),
            group_word: layout.group_word,
            groups: layout.groups,
        },
        views: (page.views.iter())
            .map(|v| ViewFacts {
                name: line(&v.name),
                unit: v.unit,
                interval: v.series.as_ref().map(|s| s.interval),
                begins: v.series.as_ref().and_then(|s| s.begins),
                full: v.series.as_ref().and_then(|s| s.full),
                lanes: !v.lanes.is_empty(),
            })
            .collect(),
        jobs: (page.jobs.iter())
            .map(|j| JobFacts {
                name: line(&j.name),
                fact: line(&j.fact),
                runs: j.runs.clone(),
                views: j.views.clone(),
            })
            .collect(),
        findings: page.findings.iter().map(note).collect(),
        charts,
        sheets: page.sheets.iter().map(sheet).collect(),
        tables,
    };
    blob.finish(&about)
}

fn guids(blob: &mut Blob, of: &str, guids: impl Iterator<Item = u64> + Clone) {
    blob.u32(
        &format!("{of}.guid_high"),
        &guids.clone().map(|g| (g >> 32) as u32).collect::<Vec<_>>(),
    );
    blob.u32(&format!("{of}.guid_low"), &guids.map(|g| g as u32).collect::<Vec<_>>());
}

fn views(blob: &mut Blob, page: &Page<'_>, directed: &[u32]) {
    for (i, view) in page.views.iter().enumerate() {
        let mut load = vec![0f32; directed.len()];
        for (&at, &value) in directed.iter().zip(&view.load) {
            load[at as usize] = value as f32;
        }
        blob.f32(&format!("view{i}.load"), load.into_iter());
        if let Some(series) = &view.series {
            blob.u32(&format!("view{i}.start"), &series.start);
            let channels: Vec<u32> = series.channel.iter().map(|&c| directed[c as usize]).collect();
            blob.u32(&format!("view{i}.channel"), &channels);
            blob.u16(&format!("view{i}.share"), &series.share);
        }
        if !view.lanes.is_empty() {
            let mut lanes = vec![NO_LANE; directed.len()];
            for (&at, &lane) in directed.iter().zip(&view.lanes) {
                lanes[at as usize] = lane;
            }
            blob.u8(&format!("view{i}.lane"), &lanes);
        }
    }
}

fn charts(blob: &mut Blob, page: &Page<'_>) -> Vec<ChartFacts> {
    let axis = |a: &Axis| Axis { label: line(&a.label), ..a.clone() };
    let one = |(i, chart): (usize, &Chart)| {
        let origin = chart.at.first().copied().unwrap_or(0.0);
        blob.f32(&format!("chart{i}.x"), chart.at.iter().map(|x| (x - origin) as f32));
        for (j, l) in chart.lines.iter().enumerate() {
            let values = l.values.iter().map(|v| v.map_or(f32::NAN, |v| v as f32));
            blob.f32(&format!("chart{i}.line{j}"), values);
        }
        ChartFacts {
            title: line(&chart.title),
            x: axis(&chart.x),
            y: axis(&chart.y),
            form: chart.form,
            origin,
            names: chart.names.iter().map(|n| line(n)).collect(),
            lines: chart.lines.iter().map(|l| line(&l.name)).collect(),
        }
    };
    page.charts.iter().enumerate().map(one).collect()
}

fn sheet(sheet: &Sheet) -> SheetFacts {
    let lines = |texts: &[String]| texts.iter().map(|t| line(t)).collect::<Vec<_>>();
    SheetFacts {
        title: line(&sheet.title),
        heading: lines(&sheet.heading),
        rows: sheet.rows.iter().map(|row| lines(row)).collect(),
    }
}

fn jobs(blob: &mut Blob, page: &Page<'_>, directed: &[u32]) {
    let (mut hosts, mut hosts_at) = (Vec::new(), vec![0u32]);
    let (mut channel, mut load, mut load_at) = (Vec::new(), Vec::new(), vec![0u32]);
    for job in &page.jobs {
        hosts.extend(job.terminals.iter().map(|t| t.0));
        hosts_at.push(hosts.len() as u32);
        channel.extend(job.load.iter().map(|&(c, _)| directed[c as usize]));
        load.extend(job.load.iter().map(|&(_, value)| value as f32));
        load_at.push(load.len() as u32);
    }
    blob.u32("job.host_start", &hosts_at);
    blob.u32("job.host", &hosts);
    blob.u32("job.load_start", &load_at);
    blob.u32("job.channel", &channel);
    blob.f32("job.load", load.into_iter());
}

fn tables(blob: &mut Blob, page: &Page<'_>) -> Tables {
    let Some(routes) = page.routes else { return Tables::None };
    let (s, t, paths) = (routes.switch_count(), routes.terminal_count(), routes.paths());
    // Rows that terminals use, each once.
    let mut number = vec![u32::MAX; routes.row_count()];
    let mut used = Vec::new();
    let mut row_of = Vec::with_capacity(t * paths);
    for d in (0..t).map(|t| DestId::terminal(TerminalId::new(t))) {
        for path in 0..paths {
            let row = routes.row(d, path);
            if number[row] == u32::MAX {
                number[row] = used.len() as u32;
                used.push(row);
            }
            row_of.push(number[row]);
        }
    }
    let entries = used.len() * s;
    if entries > TABLES {
        return Tables::Large { entries };
    }
    let table: Vec<u8> = used.iter().flat_map(|&row| routes.ports(row).iter().copied()).collect();
    blob.u8("table.port", &table);
    blob.u32("table.row", &row_of);
    if routes.source_chooses() {
        let select = (0..t).map(|t| routes.path_of(TerminalId::new(t)) as u16);
        blob.u16("table.select", &select.collect::<Vec<_>>());
    }
    Tables::Held { paths, engine: line(&routes.engine) }
}

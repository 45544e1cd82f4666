//! `darkfiber fabric`: look at a fabric, convert it, degrade it, make it anonymous.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use darkfiber_analysis::{Finding, Severity, finding};
use darkfiber_fabric::{Shape, Topology};
use darkfiber_formats::anonymise::Anonymiser;
use darkfiber_formats::{dot, edges, ibnetdiscover, json as native, topology_conf};
use darkfiber_report::{FabricResult, Style, comma, findings, json, table};

use super::{metrics, share};
use crate::args::{Common, FabricCommand, Format, WRITABLE};
use crate::failure::{Exit, Failure};
use crate::progress::Progress;
use crate::{load, out, provenance, save};

pub(crate) fn run(args: &FabricCommand, common: &Common) -> Result<Exit, Failure> {
    let form = form(args)?;
    let progress = Progress::new(2, common.quiet);
    progress.at("reading");
    let loaded = load::fabric(&args.fabric, common)?;
    progress.step();
    progress.at("measuring");
    let mut topology = loaded.topology;
    let mut found = finding::of_fabric(&topology.fabric);
    found.extend(metrics::of_input(&loaded.diagnostics));
    let mut structure = loaded.structure;
    found.extend(metrics::of_structure(structure.as_ref()));
    let exit = if found.iter().any(|f| f.severity == Severity::Error) {
        Exit::Finding
    } else {
        Exit::Fine
    };
    if args.anonymise {
        let anonymiser = Anonymiser::new(&topology.fabric, common.seed());
        topology.fabric = anonymiser.fabric().clone();
        // What is said of it names switches.
        structure = structure.map(|_| load::structure(&topology.fabric).0);
        if let Some(target) = &args.output {
            share::rewrite(&anonymiser, target, &args.tables, &args.jobs, common)?;
        }
    }
    if let Some(target) = &args.output {
        if let Some(parent) = target.parent().filter(|p| !p.as_os_str().is_empty()) {
            save::directory(parent)?;
        }
        save::file(target, |out| write(out, &topology, form))?;
        if !common.quiet {
            out::tell(&format!("wrote {} ({form})", target.display()));
        }
    } else if args.to.is_some() || args.anonymise {
        drop(progress);
        out::print_with(|out| write(out, &topology, form))?;
        out_findings(&found, common);
        return Ok(exit);
    }

    let fabric = &topology.fabric;
    let result = FabricResult {
        fabric: metrics::facts(fabric, topology.shape.as_ref(), structure.as_ref(), true),
        // Findings name nodes; what is shared must not.
        findings: if args.anonymise {
            let mut found = finding::of_fabric(fabric);
            found.extend(metrics::of_structure(structure.as_ref()));
            found
        } else {
            found
        },
        diagnostics: if args.anonymise {
            Vec::new()
        } else {
            loaded.diagnostics.0.iter().map(ToString::to_string).collect()
        },
        provenance: provenance::of(fabric, common),
    };
    drop(progress);
    out::print(&match common.format {
        Format::Json => json::text(&result),
        Format::Csv => comma::fabric(&result.fabric),
        Format::Table => {
            let style = Style::of_stdout();
            let digest = &result.provenance.fabric_digest;
            let mut text = table::fabric(&result.fabric, digest, style);
            if common.verbose && !result.fabric.unrecognised.is_empty() {
                text.push_str("\nnot recognised:\n");
                for reason in &result.fabric.unrecognised {
                    let _infallible = writeln!(text, "    {reason}");
                }
            }
            if !result.findings.is_empty() {
                text.push('\n');
                text.push_str(&findings::text(&result.findings, common.verbose));
            }
            text
        }
    })?;
    Ok(exit)
}

fn out_findings(found: &[Finding], common: &Common) {
    if !common.quiet && !found.is_empty() {
        out::tell(findings::text(found, common.verbose).trim_end());
    }
}

/// The form to write: as told, or as the name of the file says.
fn form(args: &FabricCommand) -> Result<&'static str, Failure> {
    if let Some(to) = &args.to {
        return WRITABLE
            .iter()
            .copied()
            .find(|form| form == to)
            .ok_or_else(|| Failure::unknown("form to write", to, WRITABLE));
    }
    let name = args.output.as_deref().and_then(Path::file_name).unwrap_or_default();
    let name = name.to_string_lossy();
    let stem = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    Ok(match stem.rsplit_once('.').map(|(_, ext)| ext) {
        Some("json") => "json",
        Some("dot" | "gv") => "dot",
        Some("edges") => "edges",
        Some("conf") => "topology.conf",
        _ => "ibnetdiscover",
    })
}

/// The level of each switch, 1 = leaf; without a tree all are of one level, next to each other.
fn levels(topology: &Topology) -> Vec<u8> {
    match &topology.shape {
        Some(Shape::Tree(tree)) => tree.level.clone(),
        _ => vec![1; topology.fabric.switch_count()],
    }
}

fn write(out: &mut dyn Write, topology: &Topology, form: &str) -> io::Result<()> {
    match form {
        "json" => native::write(out, topology),
        "dot" => dot::write(out, &topology.fabric, dot::Options::default()),
        "edges" => edges::write(out, &topology.fabric),
        "topology.conf" => topology_conf::write(out, &topology.fabric, &levels(topology)),
        _ => ibnetdiscover::write(out, &topology.fabric, None),
    }
}

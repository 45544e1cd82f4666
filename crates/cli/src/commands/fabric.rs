//! `darkfiber fabric`: look at a fabric, convert it, degrade it, make it anonymous.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use darkfiber_analysis::{Finding, Severity, finding};
use darkfiber_fabric::Topology;
use darkfiber_formats::anonymise::Anonymiser;
use darkfiber_formats::format::{Format, ToWrite, Writer};
use darkfiber_formats::slurm_nodes::{self, SlurmNames};
use darkfiber_formats::{FORMATS, ibnetdiscover, input};
use darkfiber_page::Page;
use darkfiber_report::{FabricResult, findings};

use super::{metrics, share};
use crate::failure::{Exit, Failure};
use crate::options::{Common, FabricArgs, PageArgs};
use crate::progress::Progress;
use crate::{load, out, page, provenance, save};

#[derive(Args, Debug)]
pub(crate) struct FabricCommand {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// Write the fabric to a file (compressed if it ends in .gz or .zst)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Format to write: one that `darkfiber list formats` marks as written [default: by the name of the file, else
    /// ibnetdiscover, which ibsim reads, too]; without -o it goes to standard output
    #[arg(long, value_name = "FORM")]
    pub(crate) to: Option<String>,
    /// Write only nodes that SLURM knows: output of `scontrol show node` or `sinfo`, or hostlists; for forms of SLURM
    #[arg(long, value_name = "FILE")]
    pub(crate) slurm_nodes: Option<PathBuf>,
    /// Replace names and GUIDs, consistently; equal seeds give equal names
    #[arg(long = "anonymize", alias = "anonymise")]
    pub(crate) anonymise: bool,
    /// Tables to rewrite with the same names, into the folder of -o: files, or directories of files
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "anonymise", requires = "output")]
    pub(crate) tables: Vec<PathBuf>,
    /// Job lists to rewrite with the same names, into the folder of -o
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "anonymise", requires = "output")]
    pub(crate) jobs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
Examples:
  darkfiber fabric my-fabric.topo
  darkfiber fabric @t2hx-hyperx --format json
  darkfiber fabric hyperx:dims=4x4,t=4 -o small.topo             an ibsim net file
  darkfiber fabric @t2hx-hyperx --html map.html                  a map to open in a browser
  darkfiber fabric my-fabric.topo --to dot -o my-fabric.dot
  darkfiber fabric my-fabric.topo --fail-links 15 --seed 7 -o degraded.topo
  SLURM's tree, of nodes that it knows; and names and GUIDs replaced in all:
  darkfiber fabric my-fabric.topo --node-name-map names -o topology.conf \\
            --slurm-nodes sinfo.txt
  darkfiber fabric my-fabric.topo --anonymize -o shared/fabric.topo \\
            --tables opensm-lfts.dump --jobs jobs.txt

Exit code 1 if the fabric has a fault: several pieces, no hosts, adapters without a cable.";

pub(crate) fn run(args: &FabricCommand, common: &Common) -> Result<Exit, Failure> {
    let form = form(args)?;
    if let Some(target) = &args.output {
        if let Some(parent) = target.parent().filter(|p| !p.as_os_str().is_empty()) {
            save::directory(parent)?;
        }
        save::expect(args.output.as_ref())?;
    }
    args.page.expect()?;
    let mut problems = save::Unwritten::default();
    let progress = Progress::new(2, common.quiet);
    progress.at("reading");
    let loaded = load::fabric(&args.fabric, common)?;
    progress.step();
    progress.at("measuring");
    let mut topology = loaded.topology;
    let mut found = finding::of_fabric(&topology.fabric);
    found.extend(metrics::of_input(&loaded.diagnostics));
    found.extend(metrics::of_names(&topology.fabric, &loaded.shared));
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
    let nodes = slurm_nodes(args, &topology, form, common)?;
    if args.output.is_some() || args.to.is_some() {
        tell_lost(&topology, form, common);
    }
    let content =
        ToWrite { topology: &topology, nodes: nodes.as_ref().map(|known| &known.of_host) };
    let write = |out: &mut dyn Write| (form.1.write)(out, &content);
    if let Some(target) = &args.output {
        let result = save::file(target, write);
        let is_written = result.is_ok();
        problems.note(result);
        if is_written && !common.quiet {
            out::eprint_line(&format!("wrote {} ({})", target.display(), form.0.name));
        }
    } else if args.to.is_some() || args.anonymise {
        problems.note(page(args, &topology, &found, common));
        drop(progress);
        out::print_with(write)?;
        out_findings(&found, common);
        return problems.end(exit);
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
    problems.note(page(args, &topology, &result.findings, common));
    drop(progress);
    common.show(&result)?;
    problems.end(exit)
}

/// Draws the map, with what was found on it.
fn page(
    args: &FabricCommand,
    topology: &Topology,
    findings: &[Finding],
    common: &Common,
) -> Result<(), Failure> {
    let provenance = provenance::of(&topology.fabric, common);
    args.page.write(|| Page {
        findings: page::Notes::new(&topology.fabric).of(findings),
        ..page::of(topology.fabric.name(), topology, &provenance)
    })
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn out_findings(found: &[Finding], common: &Common) {
    if !common.quiet && !found.is_empty() {
        out::eprint_line(findings::text(found, common.verbose).trim_end());
    }
}

/// A format that a fabric can be written in, and how.
type Form = (&'static Format, &'static Writer);

/// All of them.
fn forms() -> impl Iterator<Item = Form> {
    FORMATS.iter().filter_map(|format| Some((format, format.writer()?)))
}

/// The formats that a fabric can be written in, by name.
pub(crate) fn writable() -> Vec<&'static str> {
    forms().map(|(format, _)| format.name).collect()
}

/// The form to write: as told, or as the name of the file says.
fn form(args: &FabricCommand) -> Result<Form, Failure> {
    if let Some(to) = &args.to {
        let unknown = || Failure::unknown("form to write", to, &writable());
        return forms().find(|(format, _)| format.name == to).ok_or_else(unknown);
    }
    let name = args.output.as_deref().and_then(Path::file_name).unwrap_or_default();
    let name = name.to_string_lossy();
    let stem = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    let ending = stem.rsplit_once('.').map_or("", |(_, ending)| ending);
    forms()
        .find(|(_, writer)| writer.endings.contains(&ending))
        .or_else(|| forms().find(|(format, _)| **format == ibnetdiscover::FORMAT))
        .ok_or_else(|| Failure::unknown("form to write", ending, &writable()))
}

/// The hosts that SLURM knows, by its names for them; says which it does not, and which the fabric does not.
fn slurm_nodes(
    args: &FabricCommand,
    topology: &Topology,
    (_, writer): Form,
    common: &Common,
) -> Result<Option<SlurmNames>, Failure> {
    let Some(path) = &args.slurm_nodes else { return Ok(None) };
    if !writer.for_slurm {
        return Err(Failure::usage("--slurm-nodes is for files that SLURM reads")
            .hint("give --to topology.conf, topology/block or topology.yaml"));
    }
    let names = slurm_nodes::read(&input::read_text(path)?, path)?;
    let known = slurm_nodes::find(&topology.fabric, &names);
    let source = path.display();
    if known.of_host.is_empty() {
        return Err(Failure::input(format!(
            "{source}: none of SLURM's {} is a host of the fabric that runs jobs, for example {}",
            counted(names.len(), "node", "nodes"),
            names[0]
        ))
        .hint("--node-name-map FILE gives hosts the names that SLURM knows"));
    }
    if let (Some(first), false) = (known.strange.first(), common.quiet) {
        out::eprint_line(&format!(
            "{source}: warning: {} of SLURM no hosts of the fabric that run jobs, for example {first}; SLURM places \
             no jobs on nodes that its tree lacks",
            counted(known.strange.len(), "node is", "nodes are")
        ));
    }
    Ok(Some(known))
}

/// Says what the form cannot hold.
fn tell_lost(topology: &Topology, (format, writer): Form, common: &Common) {
    let lost = (writer.omits)(topology);
    if !lost.is_empty() && !common.quiet {
        out::eprint_line(&format!("note: {} does not hold {}", format.name, lost.join(", ")));
    }
}

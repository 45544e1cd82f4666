//! `darkfiber jobs filter`: has anything changed that routing should follow?

use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::sync::mpsc::channel;
use std::time::Duration;

use clap::Args;
use darkfiber_formats::places::Places;
use darkfiber_formats::{explained, input, topology_conf};
use darkfiber_traces::jobs::{self as lists, State};
use darkfiber_workload::Mapping;

use crate::failure::{Exit, Failure};
use crate::jobs::ASK_FOR_NODES;
use crate::options::{Common, FabricArgs, NamesArgs};
use crate::{jobs, load, out, save, signals};

#[derive(Args, Debug)]
pub(crate) struct FilterCommand {
    /// The file with `node job` on each line to compare with, and to write if it differs
    #[arg(value_name = "MAPPING")]
    pub(crate) mapping: PathBuf,
    /// Jobs and their nodes, of any kind that is known [default: standard input]
    #[arg(long, value_name = "FILE", conflicts_with = "poll")]
    pub(crate) jobs: Option<PathBuf>,
    /// Command that prints them: `squeue -a -o "%i %T %N"`
    #[arg(long, value_name = "COMMAND")]
    pub(crate) poll: Option<String>,
    /// Take a list without any line, an empty file, for an idle machine; without it, such a list is refused, since
    /// failing batch systems print the same. A heading alone says that no job runs
    #[arg(long)]
    pub(crate) empty_is_idle: bool,
    /// Seconds to wait for its answer
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) timeout: u64,
    /// SLURM's topology.conf, which tells the switch of each node
    #[arg(long, value_name = "FILE", conflicts_with = "fabric")]
    pub(crate) topology: Option<PathBuf>,
    /// The fabric, which tells the switch of each node: a file, @preset or family:key=value,...
    #[arg(long, value_name = "FABRIC")]
    pub(crate) fabric: Option<String>,
    /// Other names of hosts: an alias and the name or GUID in the fabric on each line, in any order
    #[arg(long, value_name = "FILE", requires = "fabric")]
    pub(crate) aliases: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) names: NamesArgs,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
The filter of Domke and Hoefler, \"Scheduling-Aware Routing for Supercomputers\", SC'16, figure 5: of the jobs that
run those on two switches or more; ids do not matter, so a job in the place of another on the same nodes is no
change. MAPPING is replaced atomically, and only if it differs. If the answer of the batch system is invalid or
late, the old one stays; single rows that cannot be read are left out, with a warning.

Examples:
  squeue -a -o '%i %T %N' | darkfiber jobs filter running --topology /etc/slurm/topology.conf
  darkfiber jobs filter running --poll 'squeue --json' --timeout 30 --fabric my-fabric.topo

Exit code 0: same; 1: changed, MAPPING is new; 3: the jobs could not be read, MAPPING is as it was.";

pub(super) fn run(args: &FilterCommand, common: &Common) -> Result<Exit, Failure> {
    filter(args, common).map_err(|failure| {
        let kept = args.mapping.exists();
        let what = if kept { "the old mapping is kept" } else { "no mapping is written" };
        Failure { message: format!("{}; {what}", failure.message), ..failure }
    })
}

fn filter(args: &FilterCommand, common: &Common) -> Result<Exit, Failure> {
    let (switches, places) = switches(args, common)?;
    let mut now = Mapping::default();
    let (mut running, mut nowhere, mut elsewhere) = (0, 0, 0);
    let mut placed = BTreeSet::new();
    let mut strangers = BTreeSet::new();
    let mut take = |record: lists::Record| {
        // A list without states is of jobs that run, but for those that it says have ended, or have no nodes.
        let is_idle = || record.nodes.as_ref().is_some_and(Vec::is_empty);
        let may_run = record.state == State::Unknown && record.end.is_none() && !is_idle();
        if record.state != State::Running && !may_run {
            return;
        }
        running += 1;
        let Some(nodes) = record.nodes.as_ref().filter(|nodes| !nodes.is_empty()) else {
            nowhere += 1;
            return;
        };
        placed.extend(nodes.iter().cloned());
        let is_unknown = |node: &&String| switches(node).is_empty();
        let unknown: Vec<&String> = nodes.iter().filter(is_unknown).collect();
        // topology.conf may lack nodes that there are; a fabric has all of its own.
        if places.is_some() && unknown.len() == nodes.len() {
            elsewhere += 1;
        } else {
            now.add(nodes, &switches);
        }
        strangers.extend(unknown.into_iter().cloned());
    };
    match (&args.poll, &args.jobs) {
        (Some(command), _) => {
            let text = polled(command, Duration::from_secs(args.timeout))?;
            let name = Path::new("answer of the batch system");
            let mut reader = text.as_slice();
            if !(args.empty_is_idle && is_empty(&mut reader, name)?) {
                let found = lists::read_from(&mut reader, name, &mut take)?;
                out::diagnostics("answer of the batch system", &found, common);
            }
        }
        (None, path) => {
            let path = path.as_deref().unwrap_or(Path::new("-"));
            let mut reader = BufReader::with_capacity(1 << 16, input::open(path)?);
            if !(args.empty_is_idle && is_empty(&mut reader, path)?) {
                let found = lists::read_from(&mut reader, path, &mut take)?;
                out::diagnostics(&path.display().to_string(), &found, common);
            }
        }
    }
    if let Some(places) = &places {
        jobs::refuse_shared("the list of jobs", strangers.iter().map(String::as_str), places)?;
    }
    // Nodes of other machines say nothing of what runs on this one.
    let placed = placed.len();
    let shown = |most: usize| {
        let names: Vec<&str> = strangers.iter().take(most).map(String::as_str).collect();
        names.join(", ")
    };
    if placed > 0 && placed == strangers.len() {
        let source = known_by(args);
        return Err(Failure::input(format!(
            "{source}: none of the {placed} nodes of running jobs is in it, for example {}",
            shown(3)
        ))
        .hint("it seems to be of another machine; give the one whose jobs these are"));
    }
    if nowhere > 0 && placed == 0 {
        return Err(Failure::input("no job says on which nodes it runs").hint(ASK_FOR_NODES));
    }
    if !common.quiet {
        if nowhere > 0 {
            out::eprint_line(&format!(
                "warning: {nowhere} of {running} jobs do not say where they run"
            ));
        }
        if !strangers.is_empty() {
            out::eprint_line(&format!(
                "warning: {} nodes are attached to no known switch, for example {}",
                strangers.len(),
                shown(10)
            ));
        }
    }
    save::refuse_input(&args.mapping)?;
    let old = old(&args.mapping)?;
    let same = old.as_ref().is_some_and(|old| old.is_like(&now));
    if !same {
        save::update(&args.mapping, |file| {
            if now.jobs().len() == 0 {
                // An empty file may be one that was cut short.
                writeln!(file, "{}", lists::pairs::HEADING)?;
            }
            for (i, nodes) in now.jobs().enumerate() {
                for node in nodes {
                    writeln!(file, "{node} {}", i + 1)?;
                }
            }
            Ok(())
        })?;
    }
    let verdict = if same { "same" } else { "changed" };
    let others = if elsewhere == 0 { String::new() } else { format!(", {elsewhere} elsewhere") };
    out::print(&format!(
        "{verdict}: {running} jobs run, {} on several switches, {} on one{others}\n",
        now.jobs().len(),
        now.on_one_switch()
    ))?;
    Ok(if same { Exit::Fine } else { Exit::Finding })
}

/// Whether a list has no line but, perhaps, the heading of `squeue` or `sacct`.
fn is_empty(reader: &mut dyn BufRead, path: &Path) -> Result<bool, Failure> {
    let unreadable = |e| Failure::input(format!("cannot read {}: {e}", path.display()));
    let head = String::from_utf8_lossy(reader.fill_buf().map_err(unreadable)?);
    let mut lines = head.lines().filter(|line| !line.trim().is_empty());
    let heading = |line: &str| line.trim_start().to_ascii_uppercase().starts_with("JOBID");
    Ok(lines.next().is_none_or(heading) && lines.next().is_none())
}

/// What says which switch a node hangs on.
fn known_by(args: &FilterCommand) -> String {
    match (&args.topology, &args.fabric) {
        (Some(path), _) => path.display().to_string(),
        (None, fabric) => fabric.clone().unwrap_or_default(),
    }
}

/// Tells the switches of a node.
type SwitchesOf = Box<dyn Fn(&str) -> Vec<u32>>;

/// What is known of nodes and switches, and of names, where there is a fabric.
fn switches(
    args: &FilterCommand,
    common: &Common,
) -> Result<(SwitchesOf, Option<Rc<Places>>), Failure> {
    if let Some(path) = &args.topology {
        let text = input::read_text(path)?;
        let read = topology_conf::read(&text, path);
        let (topology, found) = read.map_err(|error| explained(error, &text))?;
        out::diagnostics(&path.display().to_string(), &found, common);
        let mut of: HashMap<String, Vec<u32>> = HashMap::new();
        for (i, switch) in (0..).zip(&topology.switches) {
            for node in &switch.nodes {
                of.entry(node.clone()).or_default().push(i);
            }
        }
        let of: SwitchesOf = Box::new(move |node| of.get(node).cloned().unwrap_or_default());
        return Ok((of, None));
    }
    let Some(fabric) = &args.fabric else {
        return Err(Failure::usage("which nodes hang on which switch?")
            .hint("give --topology topology.conf, or --fabric FABRIC"));
    };
    let loaded = load::fabric(&FabricArgs::whole(fabric, &args.names), common)?;
    let fabric = loaded.topology.fabric;
    let aliases = jobs::aliases(args.aliases.as_deref(), &fabric, common)?;
    let places = Rc::new(Places::new(&fabric, aliases));
    let names = Rc::clone(&places);
    let of: SwitchesOf = Box::new(move |node| {
        let mut on: Vec<u32> =
            places.of(node).iter().map(|&t| fabric.terminal(t).switch.0).collect();
        // Rails of one host on several switches are one place each.
        on.truncate(1);
        on
    });
    Ok((of, Some(names)))
}

/// The mapping that was written last, if any.
fn old(path: &Path) -> Result<Option<Mapping>, Failure> {
    if !path.exists() {
        return Ok(None);
    }
    let mut mapping = Mapping::default();
    // All of its jobs are on several switches, whichever.
    let mut take = |record: lists::Record| {
        mapping.add(record.nodes.as_deref().unwrap_or_default(), |_| Vec::new());
    };
    if std::fs::metadata(path).is_ok_and(|about| about.len() == 0) {
        return Ok(None);
    }
    let read = lists::pairs::LOG.jobs(&mut *input::open(path)?, path, &mut take);
    // It may be anything, such as the fabric.
    let what = match read {
        Ok(found) => match found.0.iter().find(|d| d.left_out) {
            None => return Ok(Some(mapping)),
            Some(line) => format!("{}: {line}", path.display()),
        },
        Err(error) => error.to_string(),
    };
    Err(Failure::input(what).hint("name another MAPPING, or remove this one"))
}

/// What a command prints, if it does so in time and ends well.
fn polled(command: &str, patience: Duration) -> Result<Vec<u8>, Failure> {
    let mut child = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        // Whatever it starts ends with it.
        .process_group(0)
        .spawn()
        .map_err(|e| Failure::input(format!("cannot run '{command}': {e}")))?;
    let group = signals::Group::of(&child);
    let mut stdout = child.stdout.take();
    let (done, wait) = channel();
    std::thread::spawn(move || {
        let result = stdout.as_mut().map_or(Ok(Vec::new()), input::all_of);
        let _nobody_waits_any_more = done.send(result);
    });
    let answer = wait.recv_timeout(patience);
    let Ok(bytes) = answer else {
        group.kill();
        let _it_is_gone = child.wait();
        return Err(Failure::input(format!(
            "'{command}' gave no answer within {} s",
            patience.as_secs()
        )));
    };
    let status = child.wait().map_err(|e| Failure::input(format!("'{command}': {e}")))?;
    let bytes = bytes.map_err(|e| Failure::input(format!("'{command}': {e}")))?;
    if !status.success() {
        return Err(Failure::input(format!("'{command}' failed: {status}")));
    }
    Ok(bytes)
}

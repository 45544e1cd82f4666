//! From what the user typed to a fabric: file, preset or generator spec; roles; faults.
//!
//! All that the command line knows about reading fabrics is in this file.

use std::path::Path;

use darkfiber_fabric::{
    FAMILIES, Fabric, Faults, Guid, LinkClass, PRESETS, Role, Shape, SharedName, SpecError,
    SwitchId, Topology,
};
use darkfiber_formats::guids::{self, GuidList};
use darkfiber_formats::{Diagnostics, detect, edges, input, node_names};
use darkfiber_report::Recognised;

use crate::args::{Common, FabricArgs, NamesArgs};
use crate::failure::Failure;
use crate::{faults, out};

/// A fabric as the user wants it, and how it came to be.
pub(crate) struct Loaded {
    pub(crate) topology: Topology,
    /// What the reader had to say, already shown.
    pub(crate) diagnostics: Diagnostics,
    /// The text of the file, for formats that refer to it.
    pub(crate) text: Option<String>,
    /// Whether cables were taken away.
    pub(crate) degraded: bool,
    /// What a file was recognised as that does not say what it is.
    pub(crate) structure: Option<Structure>,
    /// Names that several hosts have, and that none of them is called by.
    pub(crate) shared: Vec<SharedName>,
}

/// What a fabric was recognised as, or for each family why it is not that.
pub(crate) type Structure = Result<Recognised, Vec<String>>;

/// Finds out what a fabric is.
pub(crate) fn structure(fabric: &Fabric) -> (Structure, Option<Shape>) {
    match darkfiber_fabric::recognise(fabric) {
        Ok(found) => {
            let missing = found.missing.iter().map(|m| m.describe(fabric)).collect();
            let extra = found.extra_cables(fabric);
            (Ok(Recognised { text: found.text, missing, extra }), Some(found.shape))
        }
        Err(nothing) => {
            let reasons = nothing.reasons.iter().map(|(family, why)| format!("{family}: {why}"));
            (Err(reasons.collect()), None)
        }
    }
}

/// Reads or makes the fabric, recognises what it is if nobody says so, takes one plane of it, sets roles,
/// takes faults away; shows what the readers had to say.
pub(crate) fn fabric(args: &FabricArgs, common: &Common) -> Result<Loaded, Failure> {
    let (mut topology, diagnostics, text) = open(args)?;
    out::diagnostics(&args.fabric, &diagnostics, common);
    let shared;
    (topology.fabric, shared) = named(topology.fabric, &args.options.names, common)?;
    let mut found = None;
    if topology.shape.is_none() {
        let (told, shape) = structure(&topology.fabric);
        topology.shape = shape;
        found = Some(told);
    }
    if let Some(plane) = args.options.plane {
        topology = one_plane(&topology, plane)?;
    }
    topology.fabric = roles(topology.fabric, args, common)?;
    let mut gone = Faults::default();
    if let Some(path) = &args.options.fail {
        let (named, remarks) = faults::read(&topology.fabric, path)?;
        out::diagnostics(&path.display().to_string(), &remarks, common);
        gone = named;
    }
    let degraded = !gone.is_empty() || args.options.fail_links.is_some_and(|n| n > 0);
    if !gone.is_empty() {
        topology = topology.with_faults(&gone).0;
    }
    if let Some(count) = args.options.fail_links.filter(|&n| n > 0) {
        let drawn = Faults::random_links(&topology.fabric, count, common.seed())
            .map_err(|e| Failure::infeasible(e).hint("give --fail-links a smaller number"))?;
        topology = topology.with_faults(&drawn).0;
    }
    Ok(Loaded { topology, diagnostics, text, degraded, structure: found, shared })
}

/// The fabric under the names of a map, and hosts that still share a name under their GUIDs.
fn named(
    mut fabric: Fabric,
    names: &NamesArgs,
    common: &Common,
) -> Result<(Fabric, Vec<SharedName>), Failure> {
    if let Some(path) = &names.node_name_map {
        let (map, mut found) = node_names::read(&input::read_text(path)?, path)?;
        let more;
        (fabric, more) = map.apply(fabric, path)?;
        found.0.extend(more.0);
        out::diagnostics(&path.display().to_string(), &found, common);
    }
    Ok(fabric.with_distinct_hosts())
}

/// Plane `number`, counted from 1.
fn one_plane(topology: &Topology, number: usize) -> Result<Topology, Failure> {
    let planes = topology.plane_count();
    let plane = number.checked_sub(1).filter(|_| planes > 1).and_then(|i| topology.plane(i));
    plane.ok_or_else(|| {
        let (what, hint) = match planes {
            1 => (
                format!("--plane {number}: this fabric is not known to have several planes"),
                "planes are told by a generator's planes=N, or recognised by the hosts they share"
                    .to_owned(),
            ),
            _ => (format!("there is no plane {number}"), format!("there are planes 1 to {planes}")),
        };
        Failure::usage(what).hint(hint)
    })
}

/// Whether there is something of that name, though it may not be readable: a link into nothing, or to itself, is a file
/// that cannot be read, not a fabric by another name.
fn is_there(path: &Path) -> bool {
    path.exists() || path.symlink_metadata().is_ok()
}

type Opened = (Topology, Diagnostics, Option<String>);

fn open(args: &FabricArgs) -> Result<Opened, Failure> {
    let name = args.fabric.as_str();
    let path = Path::new(name);
    if !name.starts_with('@') && (name == "-" || is_there(path)) {
        if path.is_dir() {
            return Err(Failure::input(format!("{name} is a directory")).hint(
                "a directory that `darkfiber route -o` wrote has its fabric in fabric.topo",
            ));
        }
        let options = edges::Options {
            hosts_per_switch: args.options.hosts_per_switch,
            class: LinkClass::unknown(),
        };
        let content = input::read(path)?;
        let (topology, found) = detect::parse_fabric(&content, path, &options)?;
        return Ok((topology, found, Some(input::text(&content).into_owned())));
    }
    match darkfiber_fabric::open(name) {
        Ok(topology) => Ok((topology, Diagnostics::default(), None)),
        Err(error) => Err(explain(name, &error)),
    }
}

fn explain(name: &str, error: &SpecError) -> Failure {
    let message = error.to_string();
    // The library puts the close names behind the message.
    let (what, hint) = message.split_once("; did you mean ").map_or_else(
        || (message.as_str(), String::new()),
        |(what, names)| (what, format!("did you mean {names}")),
    );
    match error {
        SpecError::NotASpec { .. } => {
            let what = format!("there is no file {name}, and it is no preset or generator spec");
            // A path that does not exist is a file that cannot be read.
            let looks_like_a_path = name.contains(['/', '.']);
            let failure =
                if looks_like_a_path { Failure::input(what) } else { Failure::usage(what) };
            failure.hint(if hint.is_empty() {
                "a FABRIC is a file, @preset (darkfiber list presets) or family:key=value,... \
                 (darkfiber list families)"
                    .to_owned()
            } else {
                hint
            })
        }
        SpecError::UnknownPreset { .. } if hint.is_empty() => Failure::usage(what).hint(format!(
            "`darkfiber list presets` shows all {}, e.g. @{}",
            PRESETS.len(),
            PRESETS.first().map_or("", |p| p.name)
        )),
        SpecError::MissingKey { family, .. } | SpecError::BadValue { family, .. } => {
            let example = FAMILIES.iter().find(|f| f.name() == *family).map_or("", |f| f.example());
            Failure::usage(what).hint(format!(
                "for example {example}; `darkfiber list families {family}` shows all keys"
            ))
        }
        _ => Failure::usage(what).hint(hint),
    }
}

fn roles(fabric: Fabric, args: &FabricArgs, common: &Common) -> Result<Fabric, Failure> {
    if args.options.compute.is_none() && args.options.storage.is_none() {
        return Ok(fabric);
    }
    let listed = |option: &str, given: &Option<String>| -> Result<Option<Vec<bool>>, Failure> {
        let Some(text) = given else { return Ok(None) };
        let (list, source) = guid_list(text)?;
        let (ids, found) = guids::terminals(&fabric, &list);
        out::diagnostics(&source, &found, common);
        if ids.is_empty() && !list.0.is_empty() {
            return Err(Failure::input(format!(
                "{option} {text}: none of its {} GUIDs is in the fabric",
                list.0.len()
            ))
            .hint("port or node GUIDs of hosts are expected, as `ibnetdiscover` prints them"));
        }
        let mut set = vec![false; fabric.terminal_count()];
        for t in ids {
            set[t.index()] = true;
        }
        Ok(Some(set))
    };
    let compute = listed("--compute", &args.options.compute)?;
    let storage = listed("--storage", &args.options.storage)?;
    Ok(fabric.with_roles(|t, terminal| {
        let has = |set: &Option<Vec<bool>>| set.as_ref().map(|s| s[t.index()]);
        match (has(&compute), has(&storage)) {
            _ if terminal.role == Role::Aggregation => Role::Aggregation,
            (Some(true), _) => Role::Compute,
            (_, Some(true)) => Role::Storage,
            (Some(false), _) => Role::Other,
            (None, _) => terminal.role,
        }
    }))
}

/// The switches that `--roots` names.
pub(crate) fn roots(
    fabric: &Fabric,
    text: &str,
    common: &Common,
) -> Result<Vec<SwitchId>, Failure> {
    let (list, source) = guid_list(text)?;
    let (ids, found) = guids::switches(fabric, &list);
    out::diagnostics(&source, &found, common);
    if ids.is_empty() {
        return Err(Failure::input(format!(
            "--roots {text}: none of its {} GUIDs is a switch of the fabric",
            list.0.len()
        ))
        .hint("node GUIDs of switches are expected, as `ibnetdiscover` prints them"));
    }
    Ok(ids)
}

/// GUIDs from a file, or separated by commas on the command line.
fn guid_list(text: &str) -> Result<(GuidList, String), Failure> {
    let guid = |word: &str| {
        let word = word.trim();
        let digits = word.strip_prefix("0x")?;
        u64::from_str_radix(digits, 16).ok().map(Guid)
    };
    let inline: Option<Vec<(Guid, usize)>> =
        text.split(',').map(|word| guid(word).map(|g| (g, 0))).collect();
    if let Some(list) = inline {
        return Ok((GuidList(list), "command line".to_owned()));
    }
    let path = Path::new(text);
    if !is_there(path) {
        return Err(Failure::input(format!("there is no file {text}"))
            .hint("GUIDs are a file with one on each line, or 0x... separated by commas"));
    }
    let (list, found) = guids::read(&input::read_text(path)?, path)?;
    if let Some(worst) = found.0.iter().max_by_key(|d| d.severity) {
        out::tell(&format!("{text}: {worst}"));
    }
    Ok((list, text.to_owned()))
}

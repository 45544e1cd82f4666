//! From a name to a fabric: a file, a preset or a generator's spec; names, planes, roles and faults.

use std::path::{Path, PathBuf};

use darkfiber_fabric::{
    ChannelId, FAMILIES, Fabric, Faults, Guid, LinkClass, PRESETS, Planes, Role, Shape, SharedName,
    SpecError, SwitchId, TerminalId, Topology,
};
use darkfiber_formats::guids::{self, GuidList};
use darkfiber_formats::{Diagnostics, detect, edges, input, node_names};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Error, Listener, faults};

/// The source of a fabric, and modifications of it.
#[derive(Clone, Debug, Default)]
pub struct FabricSource {
    /// A file, `@preset` or `family:key=value,...`; `-` is standard input.
    pub name: String,
    /// Names of switches and hosts: `0xGUID "name"` on each line.
    pub node_name_map: Option<PathBuf>,
    /// GUIDs (a file, or separated by commas) of the ports or nodes that run jobs; all others do not.
    pub compute: Option<String>,
    /// GUIDs of storage ports or nodes.
    pub storage: Option<String>,
    /// Only this plane of a fabric of several, from 1.
    pub plane: Option<usize>,
    /// As many random cables between switches fail, keeping the fabric connected.
    pub fail_links: Option<usize>,
    /// This part of all cables between switches, in percent, has failed, even if that splits the fabric.
    pub fail_percent: Option<f64>,
    /// Faults: files and words as [`faults`] reads them.
    pub fail: Vec<String>,
    /// Cables of such a file with more symbol errors have failed; [`darkfiber_fabric::SYMBOL_ERRORS_OF_A_BAD_CABLE`] without.
    pub symbol_errors: Option<u64>,
    /// Hosts on every switch of a file without hosts.
    pub hosts_per_switch: u8,
    /// Seed of the faults.
    pub seed: u64,
}

/// What a fabric was recognised as.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Recognised {
    /// The structure without damage, in a line.
    pub text: String,
    /// Cables and switches that the structure has and the fabric lacks, by name.
    pub missing: Vec<String>,
    /// Cables that the structure does not have, by name.
    pub extra: Vec<String>,
}

/// A fabric as the user wants it, and how it came to be.
pub struct Loaded {
    /// The network, and its shape.
    pub topology: Topology,
    /// Diagnostics of the reader, already shown.
    pub diagnostics: Diagnostics,
    /// The text of the file, for formats that refer to it.
    pub text: Option<String>,
    /// Whether cables were taken away.
    pub degraded: bool,
    /// The planes before, if that took the network apart: pairs between its pieces are lost then, and not in planes by design.
    pub torn: Option<usize>,
    /// The result of recognition for a file, or a generated fabric of no known structure.
    pub structure: Option<Structure>,
    /// Names that several hosts have, and which were therefore replaced.
    pub shared: Vec<SharedName>,
}

impl Loaded {
    /// What to say where speeds matter: how many cables state none, unless the reader has said so.
    pub fn unknown_speeds(&self) -> Option<String> {
        let fabric = &self.topology.fabric;
        let unknown = LinkClass::unknown();
        let is_unknown = |class: &LinkClass| class.label == unknown.label;
        let of_switches = (0..fabric.channel_count())
            .filter(|&c| is_unknown(fabric.class_of(ChannelId::new(c))))
            .count();
        let of_hosts = (0..fabric.terminal_count())
            .filter(|&t| is_unknown(fabric.terminal_class(TerminalId::new(t))))
            .count();
        let cables = of_switches / 2 + of_hosts;
        let is_said = || self.diagnostics.0.iter().any(|d| d.what.contains("no speed"));
        (cables > 0 && !is_said()).then(|| {
            let rate = unknown.bytes_per_second as f64 * 8e-9;
            format!(
                "{cables} of {} cables state no speed: they count as 4xQDR, {rate:.0} Gbit/s",
                fabric.link_count()
            )
        })
    }
}

impl From<Topology> for Loaded {
    /// A fabric that is there already.
    fn from(topology: Topology) -> Self {
        let (diagnostics, shared) = (Diagnostics::default(), Vec::new());
        let (degraded, torn) = (false, None);
        Self { topology, diagnostics, text: None, degraded, torn, structure: None, shared }
    }
}

/// The recognised structure of a fabric, or for each family why it was rejected.
pub type Structure = Result<Recognised, Vec<String>>;

/// Recognises the structure of a fabric.
pub fn structure(fabric: &Fabric) -> (Structure, Option<Shape>) {
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

impl Loaded {
    /// The same without the text of its file, which only formats that refer to it need.
    #[must_use]
    pub fn without_text(&self) -> Self {
        Self {
            topology: self.topology.clone(),
            diagnostics: self.diagnostics.clone(),
            text: None,
            degraded: self.degraded,
            torn: self.torn,
            structure: self.structure.clone(),
            shared: self.shared.clone(),
        }
    }
}

impl FabricSource {
    /// Whether anything of it has failed.
    pub fn has_faults(&self) -> bool {
        !self.fail.is_empty()
            || self.fail_links.is_some_and(|n| n > 0)
            || self.fail_percent.is_some_and(|percent| percent > 0.0)
    }
}

/// Reads or generates the fabric, recognises its structure if it is not given, takes one plane of it, sets roles,
/// removes faults; shows the diagnostics of the readers.
///
/// # Errors
/// If there is no such fabric, or a modification is impossible.
pub fn load(source: &FabricSource, listener: &mut dyn Listener) -> Result<Loaded, Error> {
    let whole = load_whole(source, listener)?;
    with_faults(whole, source, listener)
}

/// As [`load`], before any fault.
///
/// # Errors
/// If there is no such fabric, or a modification is impossible.
pub fn load_whole(source: &FabricSource, listener: &mut dyn Listener) -> Result<Loaded, Error> {
    let (mut topology, diagnostics, text) = open(source)?;
    listener.remarks(&source.name, &diagnostics);
    let shared;
    let map = source.node_name_map.as_deref();
    (topology.fabric, shared) = named(topology.fabric, map, listener)?;
    let mut found = None;
    // A file may state a structure whose cables it does not all have.
    if topology.shape.is_none() || text.is_some() {
        let (recognised, shape) = structure(&topology.fabric);
        topology.shape = topology.shape.or(shape);
        found = Some(recognised);
    }
    if let Some(plane) = source.plane {
        topology = one_plane(&topology, plane)?;
        // What the others lack is not its fault.
        found = found.map(|_| structure(&topology.fabric).0);
    }
    topology.fabric = roles(topology.fabric, source, listener)?;
    let (degraded, torn) = (false, None);
    Ok(Loaded { topology, diagnostics, text, degraded, torn, structure: found, shared })
}

/// Takes faults away from a fabric that is whole.
///
/// # Errors
/// If they are not of this fabric, or too many.
pub fn with_faults(
    whole: Loaded,
    source: &FabricSource,
    listener: &mut dyn Listener,
) -> Result<Loaded, Error> {
    let mut topology = whole.topology;
    let planes = Planes::of(&topology.fabric).count();
    let mut gone = Faults::default();
    for word in &source.fail {
        let named = faults::in_fabric(&topology.fabric, word, source.symbol_errors);
        let (named, remarks) = named.map_err(|error| error.of_option("--fail"))?;
        listener.remarks(word, &remarks);
        gone.extend(named);
    }
    let degraded = !gone.is_empty()
        || source.fail_links.is_some_and(|n| n > 0)
        || source.fail_percent.is_some_and(|percent| percent > 0.0);
    if !gone.is_empty() {
        topology = topology.with_faults(&gone).0;
    }
    if let Some(count) = source.fail_links.filter(|&n| n > 0) {
        let drawn = Faults::random_links(&topology.fabric, count, source.seed)
            .map_err(|e| Error::infeasible(e).hint("take away fewer cables"))?;
        topology = topology.with_faults(&drawn).0;
    }
    if let Some(percent) = source.fail_percent.filter(|&percent| percent > 0.0) {
        let count = faults::failing(percent, topology.fabric.switch_link_count());
        topology = topology.with_faults(&Faults::any_links(&topology.fabric, count, source.seed)).0;
    }
    let pieces = if degraded { Planes::of(&topology.fabric).count() } else { planes };
    let torn = (pieces > planes).then_some(planes);
    if torn.is_some() {
        listener.note(&format!(
            "warning: what fails takes the network apart, into {pieces} networks from {planes}: pairs between them are lost, and not counted"
        ));
    }
    Ok(Loaded { topology, degraded, torn, ..whole })
}

/// The fabric under the names of a map, and hosts that still share a name under their GUIDs.
fn named(
    mut fabric: Fabric,
    map: Option<&Path>,
    listener: &mut dyn Listener,
) -> Result<(Fabric, Vec<SharedName>), Error> {
    if let Some(path) = map {
        let (map, mut found) = node_names::read(&input::read_text(path)?, path)?;
        let more;
        (fabric, more) = map.apply(fabric, path)?;
        found.0.extend(more.0);
        listener.remarks(&path.display().to_string(), &found);
    }
    Ok(fabric.with_distinct_hosts())
}

/// Plane `number`, counted from 1.
fn one_plane(topology: &Topology, number: usize) -> Result<Topology, Error> {
    let planes = topology.plane_count();
    let plane = number.checked_sub(1).filter(|_| planes > 1).and_then(|i| topology.plane(i));
    plane.ok_or_else(|| {
        let (what, hint) = match planes {
            1 => (
                format!("--plane {number}: this fabric is not known to have several planes"),
                "planes are given by a generator's planes=N, or recognised by the hosts they share"
                    .to_owned(),
            ),
            _ => (
                format!("--plane {number}: there is no such plane"),
                format!("there are planes 1 to {planes}"),
            ),
        };
        Error::usage(what).hint(hint)
    })
}

/// Whether a path of that name exists, though it may not be readable: a dangling or circular link is a file that cannot
/// be read, not a fabric by another name.
fn is_there(path: &Path) -> bool {
    path.exists() || path.symlink_metadata().is_ok()
}

type Opened = (Topology, Diagnostics, Option<String>);

fn open(source: &FabricSource) -> Result<Opened, Error> {
    let name = source.name.as_str();
    let path = Path::new(name);
    if !name.starts_with('@') && (name == "-" || is_there(path)) {
        if path.is_dir() {
            return Err(Error::input(format!("{name} is a directory")).hint(
                "a directory that `darkfiber route -o` wrote has its fabric in fabric.topo",
            ));
        }
        let options = edges::Options {
            hosts_per_switch: source.hosts_per_switch,
            class: LinkClass::unknown(),
        };
        let content = input::read(path)?;
        let (topology, mut found) = detect::parse_fabric(&content, path, &options)?;
        if source.hosts_per_switch != 1 {
            let options = edges::Options { hosts_per_switch: 1, ..options };
            let (usual, _) = detect::parse_fabric(&content, path, &options)?;
            if usual.fabric.terminal_count() == topology.fabric.terminal_count() {
                let what = "--hosts-per-switch changes nothing: the file has hosts of its own";
                found.warn(0, what, "leave it out");
            }
        }
        return Ok((topology, found, Some(input::text(&content).into_owned())));
    }
    match darkfiber_fabric::open(name) {
        Ok(_) if source.hosts_per_switch != 1 => {
            let what = format!("--hosts-per-switch is for files without hosts, not for {name}");
            Err(Error::usage(what)
                .hint("a generator has a key for its hosts, see `darkfiber list families`"))
        }
        Ok(topology) => Ok((topology, Diagnostics::default(), None)),
        Err(error) => Err(explain(name, &error)),
    }
}

fn explain(name: &str, error: &SpecError) -> Error {
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
            let failure = if looks_like_a_path { Error::input(what) } else { Error::usage(what) };
            failure.hint(if hint.is_empty() {
                "a FABRIC is a file, @preset (darkfiber list presets) or family:key=value,... \
                 (darkfiber list families)"
                    .to_owned()
            } else {
                hint
            })
        }
        SpecError::UnknownPreset { .. } if hint.is_empty() => Error::usage(what).hint(format!(
            "`darkfiber list presets` shows all {}, e.g. @{}",
            PRESETS.len(),
            PRESETS.first().map_or("", |p| p.name)
        )),
        SpecError::MissingKey { family, .. } | SpecError::BadValue { family, .. } => {
            let example = FAMILIES.iter().find(|f| f.name() == *family).map_or("", |f| f.example());
            Error::usage(what).hint(format!(
                "for example {example}; `darkfiber list families {family}` shows all keys"
            ))
        }
        _ => Error::usage(what).hint(hint),
    }
}

fn roles(
    fabric: Fabric,
    asked: &FabricSource,
    listener: &mut dyn Listener,
) -> Result<Fabric, Error> {
    if asked.compute.is_none() && asked.storage.is_none() {
        return Ok(fabric);
    }
    let mut listed = |option: &str, given: &Option<String>| -> Result<Option<Vec<bool>>, Error> {
        let Some(text) = given else { return Ok(None) };
        let (list, source) = guid_list(option, text, listener)?;
        let (ids, found) = guids::terminals(&fabric, &list);
        listener.remarks(&source, &found);
        // Storage may be on no host; jobs have to run on some.
        if ids.is_empty() && (option == "--compute" || !list.0.is_empty()) {
            return Err(Error::input(format!(
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
    let compute = listed("--compute", &asked.compute)?;
    let storage = listed("--storage", &asked.storage)?;
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

/// The switches that `--roots` names: GUIDs, or a file of them.
///
/// # Errors
/// If they cannot be read, or none is a switch.
pub fn roots(
    fabric: &Fabric,
    text: &str,
    listener: &mut dyn Listener,
) -> Result<Vec<SwitchId>, Error> {
    let (list, source) = guid_list("--roots", text, listener)?;
    let (ids, found) = guids::switches(fabric, &list);
    listener.remarks(&source, &found);
    if ids.is_empty() {
        return Err(Error::input(format!(
            "--roots {text}: none of its {} GUIDs is a switch of the fabric",
            list.0.len()
        ))
        .hint("node GUIDs of switches are expected, as `ibnetdiscover` prints them"));
    }
    Ok(ids)
}

/// GUIDs from a file, or separated by commas, that are given by an option.
fn guid_list(
    option: &str,
    text: &str,
    listener: &mut dyn Listener,
) -> Result<(GuidList, String), Error> {
    let guid = |word: &str| {
        let word = word.trim();
        let digits = word.strip_prefix("0x")?;
        u64::from_str_radix(digits, 16).ok().map(Guid)
    };
    let inline: Option<Vec<(Guid, usize)>> =
        text.split(',').map(|word| guid(word).map(|g| (g, 0))).collect();
    if let Some(list) = inline {
        return Ok((GuidList(list), "given GUIDs".to_owned()));
    }
    let path = Path::new(text);
    if !is_there(path) {
        return Err(Error::input(format!("{option} {text}: there is no such file"))
            .hint("GUIDs are a file with one on each line, or 0x... separated by commas"));
    }
    let (list, found) = guids::read(&input::read_text(path)?, path)?;
    listener.remarks(text, &found);
    Ok((list, text.to_owned()))
}

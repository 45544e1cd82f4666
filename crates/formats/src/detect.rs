//! What a file is, by its content; and reading a fabric from whatever it is.

use std::path::Path;

use darkfiber_fabric::Topology;

use crate::edges::Options;
use crate::{
    Diagnostics, ReadError, codes, cray, edges, ibnetdiscover, input, json, netbench, netloc,
    node_names, subnet_lst,
};

/// Kinds of files that this crate can tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// `ibnetdiscover` topology or ibsim input.
    IbnetDiscover,
    /// `ibnetdiscover -p` port list.
    PortList,
    /// OpenSM `subnet.lst`.
    SubnetLst,
    /// netloc nodes.
    NetlocNodes,
    /// netloc paths: routes.
    NetlocPaths,
    /// This project's own format.
    Json,
    /// JSON of something else.
    OtherJson,
    /// OpenSM or `dump_fts` forwarding tables (`Unicast lids [...]`).
    Lft,
    /// OpenSM `osm.fdbs` forwarding tables (`dump_ucast_routes`).
    Fdbs,
    /// OpenSM `guid2lid`.
    Guid2Lid,
    /// A list of GUIDs.
    GuidList,
    /// Names of nodes by GUID, as infiniband-diags take them.
    NodeNameMap,
    /// `a b` lines.
    EdgeList,
    /// Link list of a Cray XC.
    CrayLinks,
    /// One half of a CODES network: binary, known by its name alone.
    CodesLinks,
    /// Parameters of a CODES simulation.
    CodesParameters,
    /// netbench `.topology`.
    Netbench,
    /// ibdm `.topo`.
    IbdmTopo,
    /// SLURM `topology.conf`, as SHARP also writes it.
    SlurmTopology,
    /// Graphviz.
    Dot,
    /// A web page, or XML.
    Html,
    /// Compressed data (inside of what was already decompressed), an archive, or any other binary.
    Binary,
    /// Nothing at all.
    Empty,
}

impl FileKind {
    /// What it is, for people.
    pub fn describe(self) -> &'static str {
        match self {
            Self::IbnetDiscover => "an ibnetdiscover file",
            Self::PortList => "a port list of `ibnetdiscover -p`",
            Self::SubnetLst => "an OpenSM subnet.lst",
            Self::NetlocNodes => "a netloc nodes file",
            Self::NetlocPaths => "a netloc paths file, which holds routes",
            Self::Json => "a darkfiber fabric in JSON",
            Self::OtherJson => "JSON, but not a fabric",
            Self::Lft => "a routing table (LFT dump)",
            Self::Fdbs => "a routing table (osm.fdbs)",
            Self::Guid2Lid => "OpenSM's guid2lid",
            Self::GuidList => "a list of GUIDs",
            Self::NodeNameMap => "a node name map",
            Self::EdgeList => "an edge list",
            Self::CrayLinks => "a link list of a Cray XC",
            Self::CodesLinks => "links of a CODES network",
            Self::CodesParameters => "parameters of a CODES simulation",
            Self::Netbench => "a netbench topology",
            Self::IbdmTopo => "an ibdm topology file (.topo)",
            Self::SlurmTopology => "a SLURM topology.conf",
            Self::Dot => "a Graphviz file",
            Self::Html => "HTML or XML",
            Self::Binary => "binary or compressed data",
            Self::Empty => "an empty file",
        }
    }

    /// What to do with such a file where a fabric was wanted, or empty.
    fn hint(self) -> &'static str {
        match self {
            Self::NetlocPaths | Self::Lft | Self::Fdbs => {
                "give it with --routes, and its fabric as an ibnetdiscover file"
            }
            Self::Guid2Lid | Self::GuidList => "give the output of ibnetdiscover",
            Self::NodeNameMap => {
                "give the output of ibnetdiscover, and this file with --node-name-map"
            }
            Self::IbdmTopo => {
                "it names systems, not switches: simulate it with ibdm's ibmgtsim or dump the real \
                 fabric with ibnetdiscover"
            }
            Self::SlurmTopology => {
                "it has no ports and no parallel cables: give the output of ibnetdiscover"
            }
            Self::Html => "was a login or error page downloaded instead of the file?",
            Self::Binary => "gzip and zstandard are undone once; unpack archives first",
            Self::Empty => {
                "ibnetdiscover writes nothing if it has no rights on /dev/infiniband or no link"
            }
            Self::OtherJson => "a fabric starts with {\"format\": \"darkfiber-fabric\"",
            Self::Dot => "Graphviz files are only written",
            _ => "",
        }
    }
}

/// How many lines are looked at before giving up.
const LINES: usize = 400;

/// What kind of file this is, from its content (text or bytes) alone. Only binaries that have no mark
/// of their own are told by their name. `None` if it is like nothing known.
pub fn detect(content: &(impl AsRef<[u8]> + ?Sized), path: &Path) -> Option<FileKind> {
    detect_text(&input::text(content.as_ref()), path)
}

fn detect_text(text: &str, path: &Path) -> Option<FileKind> {
    match kind_of(text)?.0 {
        FileKind::Binary if codes::is_named(path) => Some(FileKind::CodesLinks),
        kind => Some(kind),
    }
}

/// The kind and the line that shows it.
fn kind_of(text: &str) -> Option<(FileKind, usize)> {
    let start: &str = head(text, 4096);
    if start.trim().is_empty() {
        let blank = text.trim().is_empty();
        return blank.then_some((FileKind::Empty, 0)).or_else(|| by_lines(text));
    }
    if is_binary(start) {
        return Some((FileKind::Binary, 1));
    }
    let body = start.trim_start_matches('\u{feff}').trim_start();
    let line = 1 + start[..start.len() - body.len()].matches('\n').count();
    if body.starts_with(['{', '['])
        && let Some(kind) = json_kind(body)
    {
        return Some((kind, line));
    }
    let lower = head(body, 64).to_ascii_lowercase();
    if ["<!doctype", "<html", "<?xml", "<head", "<body"].iter().any(|t| lower.starts_with(t)) {
        return Some((FileKind::Html, line));
    }
    by_lines(text)
}

fn head(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|&n| text.is_char_boundary(n));
    &text[..end.unwrap_or(0)]
}

fn is_binary(start: &str) -> bool {
    let odd = start
        .chars()
        .filter(|&c| {
            c == '\u{fffd}'
                || (c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\x1b' | '\x0c'))
        })
        .count();
    start.contains('\0') || odd * 10 > start.chars().count()
}

fn json_kind(body: &str) -> Option<FileKind> {
    if let Some(next) = body.strip_prefix('[') {
        // Port lines and shell prompts start with a bracket, too.
        let next = next.trim_start();
        return next.starts_with(['{', '"']).then_some(FileKind::OtherJson);
    }
    let compact: String = body.chars().filter(|c| !c.is_whitespace()).take(2000).collect();
    if compact.contains("\"format\":\"darkfiber-fabric\"") {
        Some(FileKind::Json)
    } else if compact.contains("\"node_info\":") {
        Some(FileKind::NetlocNodes)
    } else if compact.starts_with("{\"path_info\":") {
        Some(FileKind::NetlocPaths)
    } else if compact.starts_with("{\"") || compact == "{}" {
        // The nodes of netloc may come after a long first member.
        Some(FileKind::OtherJson)
    } else {
        None
    }
}

fn by_lines(text: &str) -> Option<(FileKind, usize)> {
    let mut guids = None;
    for (i, line) in text.lines().enumerate().take(LINES) {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        if let Some(kind) = line_kind(line) {
            return Some((kind, i + 1));
        }
        if guids.is_none() && is_guid(line) {
            guids = Some(i + 1);
        }
    }
    if let Some(line) = guids {
        return Some((FileKind::GuidList, line));
    }
    edges::looks_like(text).map(|line| (FileKind::EdgeList, line))
}

fn is_guid(word: &str) -> bool {
    let digits = word.strip_prefix("0x").unwrap_or(word);
    (word.len() > digits.len() || digits.len() == 16)
        && (8..=16).contains(&digits.len())
        && digits.bytes().all(|b| b.is_ascii_hexdigit())
}

/// The kind of file that a line is typical of.
fn line_kind(line: &str) -> Option<FileKind> {
    if ibnetdiscover::is_node_line(line) {
        return Some(FileKind::IbnetDiscover);
    }
    if ibnetdiscover::is_port_list_line(line) {
        return Some(FileKind::PortList);
    }
    if line.starts_with("Unicast lids [") || line.starts_with("Multicast mlids [") {
        return Some(FileKind::Lft);
    }
    if line.starts_with("dump_ucast_routes:") {
        return Some(FileKind::Fdbs);
    }
    if line.starts_with('{') && line.contains("NodeGUID:") {
        return Some(FileKind::SubnetLst);
    }
    if line.get(..11).is_some_and(|key| key.eq_ignore_ascii_case("SwitchName=")) {
        return Some(FileKind::SlurmTopology);
    }
    if node_names::is_line(line) {
        return Some(FileKind::NodeNameMap);
    }
    if netbench::is_line(line) {
        return Some(FileKind::Netbench);
    }
    if codes::is_parameters(line) {
        return Some(FileKind::CodesParameters);
    }
    if cray::is_line(line) {
        return Some(FileKind::CrayLinks);
    }
    let mut words = line.split_whitespace();
    let first = words.next()?;
    if matches!(first, "graph" | "digraph" | "strict") && line.ends_with('{') {
        return Some(FileKind::Dot);
    }
    let lid = |w: &str| w.starts_with("0x") && w.len() == 6;
    if let (Some(a), Some(b), None) = (words.next(), words.next(), words.next())
        && first.starts_with("0x")
        && is_guid(first)
        && lid(a)
        && lid(b)
    {
        return Some(FileKind::Guid2Lid);
    }
    // `L1/P1 -4X-10G-> MT23108 H-1 P1`: from a port to system type, system and port.
    let mut words = line.split_whitespace().skip(1);
    let arrow = words.next()?;
    (arrow.starts_with('-') && arrow.ends_with("->") && words.count() >= 3)
        .then_some(FileKind::IbdmTopo)
}

/// The error for a text that is not what was expected.
pub(crate) fn not_such(text: &str, path: &Path, expected: &str) -> ReadError {
    match kind_of(text) {
        Some((FileKind::Empty, _)) => {
            ReadError::not_such(path, "the file is empty", expected, FileKind::Empty.hint())
        }
        Some((kind, line)) => ReadError::not_such(
            path,
            format!("line {line} looks like {}", kind.describe()),
            expected,
            kind.hint(),
        ),
        None => {
            let first = text
                .lines()
                .enumerate()
                .find(|(_, l)| !l.trim().is_empty() && !l.trim_start().starts_with('#'));
            let what = match first {
                Some((i, line)) => format!(
                    "line {} is like nothing known: {}",
                    i + 1,
                    ibnetdiscover::excerpt(line)
                ),
                None => "there are only comments".to_owned(),
            };
            ReadError::not_such(path, what, expected, "give the output of ibnetdiscover")
        }
    }
}

/// What [`read_fabric`] takes.
const FABRICS: &str = "a fabric (ibnetdiscover, `ibnetdiscover -p`, subnet.lst, netloc nodes, \
                       darkfiber JSON, edge list; links of Cray, CODES or netbench)";

/// Reads a fabric from a file of any kind that holds one, gzip and zstandard undone; `-` is standard
/// input. `options` are for files without hosts.
///
/// # Errors
/// If the file cannot be read or holds no fabric.
pub fn read_fabric(path: &Path, options: &Options) -> Result<(Topology, Diagnostics), ReadError> {
    parse_fabric(&input::read(path)?, path, options)
}

/// As [`read_fabric`], from the content of a file. The second file of a network that has two
/// ([`codes`]) is read from beside `path`.
///
/// # Errors
/// If it holds no fabric, or the second file cannot be read.
pub fn parse_fabric(
    content: &(impl AsRef<[u8]> + ?Sized),
    path: &Path,
    options: &Options,
) -> Result<(Topology, Diagnostics), ReadError> {
    let bytes = content.as_ref();
    let text = &*input::text(bytes);
    match detect_text(text, path) {
        Some(FileKind::IbnetDiscover) => ibnetdiscover::read(text, path),
        Some(FileKind::PortList) => ibnetdiscover::read_ports(text, path),
        Some(FileKind::SubnetLst) => subnet_lst::read(text, path),
        Some(FileKind::NetlocNodes) => netloc::read_nodes(text, path),
        Some(FileKind::Json) => json::read(text, path).map(|t| (t, Diagnostics::default())),
        Some(FileKind::EdgeList) => edges::read(text, path, options),
        Some(FileKind::CrayLinks) => cray::read(text, path),
        Some(FileKind::CodesLinks) => codes::read(bytes, path, options),
        Some(FileKind::Netbench) => netbench::read(text, path, options),
        Some(FileKind::CodesParameters) => Err(codes::refuse_parameters(text, path, FABRICS)),
        _ => Err(not_such(text, path, FABRICS)),
    }
}

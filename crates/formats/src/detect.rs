//! All formats; detection of a file's format by its content; and reading a fabric from any of them.

use std::path::Path;

use darkfiber_fabric::{Registry, Topology};

use crate::cables::{lldp_json, lldp_table, netbox, sonic};
use crate::diagnostic::excerpt;
use crate::format::{Content, Format, Options, Reading};
use crate::known_by::recognise;
use crate::plans::{ibdm, ndt};
use crate::{
    Diagnostics, ReadError, anynet, codes, cray, db_csv, dot, edges, far, fdbs, foreign,
    graph_golf, guid2lid, guids, iblinkinfo, ibnetdiscover, input, json, lft, netbench, netloc,
    node_names, path_bits, sl, sl2vl, slurm_topology, subnet_lst, topology_conf, ufm_links,
};

/// The formats of fabrics and of related files. If two match the same file, the first is taken. Logs of jobs and
/// schedules, which `darkfiber-traces` reads, have separate registries.
pub static FORMATS: Registry<Format> = Registry::new(
    "format",
    &[
        foreign::EMPTY,
        ibnetdiscover::FORMAT,
        ibnetdiscover::PORT_LIST,
        iblinkinfo::FORMAT,
        subnet_lst::FORMAT,
        db_csv::FORMAT,
        ufm_links::FORMAT,
        json::FORMAT,
        lldp_json::FORMAT,
        lldp_table::FORMAT,
        sonic::FORMAT,
        netbox::FORMAT,
        netbench::FORMAT,
        anynet::FORMAT,
        cray::FORMAT,
        codes::FORMAT,
        codes::PARAMETERS,
        netloc::NODES,
        netloc::PATHS,
        // A list of GUIDs would make an edge list of switches without cables.
        guids::FORMAT,
        foreign::METIS,
        edges::FORMAT,
        graph_golf::FORMAT,
        dot::FORMAT,
        topology_conf::FORMAT,
        slurm_topology::BLOCKS,
        slurm_topology::YAML,
        lft::FORMAT,
        fdbs::FORMAT,
        far::FORMAT,
        node_names::FORMAT,
        guid2lid::FORMAT,
        sl::FORMAT,
        sl2vl::FORMAT,
        path_bits::FORMAT,
        ndt::FORMAT,
        foreign::BINARY,
        foreign::JSON,
        foreign::GRAPHML,
        foreign::HTSIM,
        foreign::HTML,
        foreign::NET_DUMP,
        ibdm::FORMAT,
    ],
);

/// Detects the format of a file from its content (text or bytes) alone. Only binaries that have no signature are
/// recognised by their name. `None` if the format is unrecognised.
pub fn detect(content: &(impl AsRef<[u8]> + ?Sized), path: &Path) -> Option<&'static Format> {
    recognise(&FORMATS, &input::text(content.as_ref()), path).map(|(format, _)| format)
}

/// Reads a fabric from a file of any kind that holds one, gzip and zstandard undone; `-` is standard
/// input. `options` are for files without hosts.
///
/// # Errors
/// If the file cannot be read or holds no fabric.
pub fn read_fabric(path: &Path, options: &Options) -> Result<(Topology, Diagnostics), ReadError> {
    parse_fabric(&input::read(path)?, path, options)
}

/// As [`read_fabric`], from the content of a file. The second file of a network that has two
/// ([`codes`]) is read from the folder of `path`.
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
    let read = match recognise(&FORMATS, text, path).map(|(format, _)| format.read) {
        Some(Reading::Fabric(read)) => read(&Content { bytes, text, path, options }),
        Some(Reading::Refused(why)) => {
            let (what, hint) = why(text);
            Err(ReadError::not_such(path, what, a_fabric(), hint))
        }
        _ => Err(ReadError::wrong_format(path, "this holds no fabric", a_fabric())),
    };
    read.map_err(|error| look(error, text, true))
}

/// The kinds of input that [`read_fabric`] accepts.
fn a_fabric() -> String {
    let holds_one = |f: &&Format| matches!(f.read, Reading::Fabric(_));
    let names: Vec<&str> = FORMATS.iter().filter(holds_one).map(|f| f.name).collect();
    format!("a fabric ({})", names.join(", "))
}

/// A reader that finds nothing of its format does not know other formats: this adds what the text is. Other errors are
/// unchanged.
pub fn explained(error: ReadError, text: &str) -> ReadError {
    look(error, text, false)
}

/// As [`explained`], with what to do if a `fabric` was wanted.
fn look(error: ReadError, text: &str, fabric: bool) -> ReadError {
    let ReadError::Unlike { path, expected, .. } = error else { return error };
    let (what, hint) = match recognise(&FORMATS, text, &path) {
        Some((format, 0)) => (format!("this is {}", format.what), format.hint),
        Some((format, line)) => (format!("line {line} looks like {}", format.what), format.hint),
        None => {
            if let Some((line, why)) = edges::odd_line(text, &path) {
                let edges = "an edge list: `a b`, `a b 2 4xHDR` or `host h a` on each line";
                return ReadError::not_such(&path, format!("line {line}: {why}"), edges, "");
            }
            let is_said = |l: &str| !l.trim().is_empty() && !l.trim_start().starts_with('#');
            let what = match text.lines().enumerate().find(|(_, l)| is_said(l)) {
                Some((i, line)) => {
                    format!("line {}: unrecognised format: {}", i + 1, excerpt(line))
                }
                None => "there are only comments".to_owned(),
            };
            (
                what,
                "give the output of ibnetdiscover, or an edge list: a line for each cable, `a b`",
            )
        }
    };
    ReadError::not_such(&path, what, expected, if fabric { hint } else { "" })
}

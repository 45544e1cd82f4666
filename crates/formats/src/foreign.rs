//! What is given by mistake: known only in order to say what it is.

use std::path::Path;

use crate::format::Format;
use crate::known_by::{Begin, KnownBy};

/// Nothing at all.
pub(crate) const EMPTY: Format = Format {
    name: "empty",
    what: "an empty file",
    hint: "ibnetdiscover writes nothing if it has no rights on /dev/infiniband or no link",
    known_by: &[KnownBy::Begin(|b| b.text.trim().is_empty())],
    ..Format::NONE
};

/// Compressed data (inside of what was already decompressed), an archive, or any other binary.
pub(crate) const BINARY: Format = Format {
    name: "binary",
    what: "binary or compressed data",
    hint: "gzip and zstandard are undone once; unpack archives first",
    known_by: &[KnownBy::Begin(|b| b.is_binary)],
    ..Format::NONE
};

/// What a text is of which no reader can make anything, empty or binary; `None` if it may be something.
pub fn nothing_to_read(text: &str, path: &Path) -> Option<String> {
    let begin = Begin::new(text, path);
    let is_known = |mark: &KnownBy| matches!(mark, KnownBy::Begin(is_it) if is_it(&begin));
    let found = [EMPTY, BINARY].into_iter().find(|format| format.known_by.iter().any(is_known));
    found.map(|format| format!("this is {}", format.what))
}

/// ibdiagnet's ports for people.
pub(crate) const NET_DUMP: Format = Format {
    name: "net_dump",
    what: "ibdiagnet's list of ports (net_dump)",
    hint: "give ibdiagnet2.db_csv, which is beside it, or the output of ibnetdiscover",
    known_by: &[KnownBy::Line(|l| {
        let mut cells = l.trim_start_matches('#').split(':').map(str::trim);
        l.starts_with('#')
            && cells.by_ref().nth(1) == Some("IB#")
            && cells.any(|c| c == "Neighbor Guid")
    })],
    ..Format::NONE
};

/// JSON of something else.
pub(crate) const JSON: Format = Format {
    name: "other JSON",
    what: "JSON, but not a fabric",
    hint: "a fabric starts with {\"format\": \"darkfiber-fabric\"",
    known_by: &[KnownBy::Begin(is_json)],
    ..Format::NONE
};

/// A graph in XML.
pub(crate) const GRAPHML: Format = Format {
    name: "graphml",
    what: "a graph in XML (GraphML or GEXF)",
    hint: "write it as an edge list: a line for each cable, `a b`",
    known_by: &[KnownBy::Begin(is_graphml)],
    ..Format::NONE
};

/// The description of a fat-tree that htsim makes.
pub(crate) const HTSIM: Format = Format {
    name: "htsim",
    what: "parameters of a fat-tree of htsim (.topo), without links",
    hint: "give a generator spec, such as fattree2:n=4,m=2,r=8 (`darkfiber list families fattree2`)",
    known_by: &[KnownBy::Begin(is_htsim)],
    ..Format::NONE
};

/// A graph with a line for each vertex.
pub(crate) const METIS: Format = Format {
    name: "metis",
    what: "a graph of METIS, whose lines are the neighbours of a vertex each",
    hint: "write it as an edge list: a line for each cable, `a b`",
    known_by: &[KnownBy::Whole(metis)],
    ..Format::NONE
};

/// A web page, or XML.
pub(crate) const HTML: Format = Format {
    name: "html",
    what: "HTML or XML",
    hint: "was a login or error page downloaded instead of the file?",
    known_by: &[KnownBy::Begin(is_html)],
    ..Format::NONE
};

/// Any JSON that can be told from other texts: port lines and shell prompts start with a bracket, too.
fn is_json(b: &Begin<'_>) -> bool {
    let json = b.json();
    ["[{", "[\"", "{\""].iter().any(|start| json.starts_with(start)) || json == "{}"
}

fn is_graphml(b: &Begin<'_>) -> bool {
    !b.is_binary && (b.body.contains("<graphml") || b.body.contains("<gexf"))
}

fn is_htsim(b: &Begin<'_>) -> bool {
    let has = |key: &str| {
        let mut words =
            b.body.lines().filter_map(|line| line.trim().split_once(char::is_whitespace));
        words.any(|(word, number)| word == key && number.trim().parse::<u32>().is_ok())
    };
    has("Nodes") && has("Tiers")
}

/// The first line of a graph of METIS: the numbers of vertices and edges, which its lines have, each edge from both ends.
fn metis(text: &str) -> Option<usize> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.starts_with('%'));
    let numbers = |line: &str| -> Option<Vec<usize>> {
        line.split_whitespace().map(|word| word.parse().ok()).collect()
    };
    let (first, heading) = lines.find(|(_, line)| !line.trim().is_empty())?;
    let [vertices, edges] = numbers(heading)?.try_into().ok()?;
    let mut near = Vec::new();
    for (_, line) in lines {
        // A vertex without an edge has an empty line; others may follow the last one.
        if near.len() < vertices || !line.trim().is_empty() {
            near.push(numbers(line)?);
        }
    }
    let from_both = |(v, of): (usize, &Vec<usize>)| {
        of.iter().all(|&u| u != v && u > 0 && near.get(u - 1).is_some_and(|of| of.contains(&v)))
    };
    let ends: usize = near.iter().map(Vec::len).sum();
    let is_graph = near.len() == vertices && ends == 2 * edges && edges > 0;
    (is_graph && (1..).zip(&near).all(from_both)).then_some(first)
}

fn is_html(b: &Begin<'_>) -> bool {
    let starts_with = |tag: &&str| {
        let start = b.body.as_bytes().get(..tag.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(tag.as_bytes()))
    };
    !b.is_binary && ["<!doctype", "<html", "<?xml", "<head", "<body"].iter().any(starts_with)
}

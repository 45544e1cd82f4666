//! Documents and attributes as NCCL writes them.

use std::path::Path;

use roxmltree::{Document, Node};

use darkfiber_formats::ReadError;

/// The document, whose root element is `root` and has version 1.
pub(super) fn document<'a>(
    text: &'a str,
    path: &Path,
    root: &str,
    what: &str,
) -> Result<Document<'a>, ReadError> {
    let refuse = |why: String| ReadError::not_such(path, why, what, "");
    let document = Document::parse(text).map_err(|e| {
        let at = e.pos();
        refuse(format!("line {}: this is not XML that can be read: {e}", at.row))
    })?;
    let found = document.root_element();
    let name = found.tag_name().name();
    if name != root {
        let hint = match name {
            "graphs" => "this is what NCCL_GRAPH_DUMP_FILE writes: give it as --graph",
            "system" => "this is what NCCL_TOPO_DUMP_FILE writes: give it as --topo",
            _ => "",
        };
        return Err(ReadError::not_such(path, format!("the document is a <{name}>"), what, hint));
    }
    match found.attribute("version") {
        // RCCL, which has more attributes, counts on: what is read here is the same.
        Some("1" | "2") => Ok(document),
        version => {
            let version = version.unwrap_or("not said");
            Err(refuse(format!("its version is {version}, not 1 (NCCL) or 2 (RCCL)")))
        }
    }
}

/// The line of a node.
pub(super) fn line(node: Node<'_, '_>) -> usize {
    node.document().text_pos_at(node.range().start).row as usize
}

/// An attribute that is a number, in decimals, or with `0x` in hexadecimals.
pub(super) fn number(node: Node<'_, '_>, name: &str) -> Option<u64> {
    let text = node.attribute(name)?;
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

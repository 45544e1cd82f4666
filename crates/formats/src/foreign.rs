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

/// JSON of something else.
pub(crate) const JSON: Format = Format {
    name: "other JSON",
    what: "JSON, but not a fabric",
    hint: "a fabric starts with {\"format\": \"darkfiber-fabric\"",
    known_by: &[KnownBy::Begin(is_json)],
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

fn is_html(b: &Begin<'_>) -> bool {
    let starts_with = |tag: &&str| {
        let start = b.body.as_bytes().get(..tag.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(tag.as_bytes()))
    };
    !b.is_binary && ["<!doctype", "<html", "<?xml", "<head", "<body"].iter().any(starts_with)
}

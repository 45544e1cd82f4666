//! GUID lists: one a line, as OpenSM's `--root_guid_file` (`-a`), `--cn_guid_file` and
//! `--io_guid_file` take them. `#` starts a comment; text after the GUID is ignored.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use darkfiber_fabric::{Fabric, Guid, SwitchId, TerminalId};

use crate::format::{Format, Reading};
use crate::known_by::{KnownBy, first_line};
use crate::{Diagnostics, ReadError};

/// The entry of this format.
pub const FORMAT: Format = Format {
    name: "guids",
    what: "a list of GUIDs",
    summary: "one GUID a line: --roots, --compute, --storage",
    hint: "give the output of ibnetdiscover",
    known_by: &[KnownBy::Whole(|text| first_line(text, is_guid))],
    read: Reading::By("--roots"),
    ..Format::NONE
};

/// Whether a word cannot be anything but a GUID: digits that are marked as hexadecimal, or all sixteen.
pub(crate) fn is_guid(word: &str) -> bool {
    let digits = word.strip_prefix("0x").unwrap_or(word);
    (word.len() > digits.len() || digits.len() == 16)
        && (8..=16).contains(&digits.len())
        && digits.bytes().all(|b| b.is_ascii_hexdigit())
}

/// A list of GUIDs in the order of the file, each with its line number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuidList(pub Vec<(Guid, usize)>);

/// Reads a GUID list.
///
/// # Errors
/// If there are lines but no GUID on any of them. An empty file is an empty list.
pub fn read(text: &str, path: &Path) -> Result<(GuidList, Diagnostics), ReadError> {
    let mut list = GuidList::default();
    let mut found = Diagnostics::default();
    for (i, line) in text.lines().enumerate() {
        let content = line.split('#').next().unwrap_or_default();
        let Some(word) = content.split_whitespace().next() else {
            continue;
        };
        match parse_guid(word) {
            Some(guid) => list.0.push((guid, i + 1)),
            None => found.warn(
                i + 1,
                format!("'{word}' is not a GUID"),
                "expected 0x and up to 16 hexadecimal digits",
            ),
        }
    }
    let odd = found.0.len();
    if odd > list.0.len() && !list.0.is_empty() {
        return Err(ReadError::not_such(
            path,
            format!("{odd} lines have no GUID, for example line {}", found.0[0].line),
            "one GUID a line, as OpenSM's root_guid_file",
            "",
        ));
    }
    if list.0.is_empty() && !found.is_empty() {
        return Err(ReadError::not_such(
            path,
            "no line has a GUID",
            "one GUID a line, as OpenSM's root_guid_file",
            "",
        ));
    }
    Ok((list, found))
}

/// The switches that a list names, in its order, each once. GUIDs that are no switch's are reported.
pub fn switches(fabric: &Fabric, list: &GuidList) -> (Vec<SwitchId>, Diagnostics) {
    let by_guid: HashMap<Guid, SwitchId> =
        (0..fabric.switch_count()).map(SwitchId::new).map(|s| (fabric.switch(s).guid, s)).collect();
    let mut listed = vec![false; fabric.switch_count()];
    let mut ids = Vec::new();
    let mut found = Diagnostics::default();
    for &(guid, line) in &list.0 {
        match by_guid.get(&guid) {
            Some(s) if listed[s.index()] => found.note(line, format!("{guid} is listed twice"), ""),
            Some(&s) => {
                listed[s.index()] = true;
                ids.push(s);
            }
            None => found.warn(
                line,
                format!("no switch of the fabric has GUID {guid}"),
                "node GUIDs of switches are expected here",
            ),
        }
    }
    (ids, found)
}

/// The terminals that a list names, in its order, each once: by port GUID, or by the node GUID of an
/// adapter, which names all its linked ports. GUIDs that are neither are reported.
pub fn terminals(fabric: &Fabric, list: &GuidList) -> (Vec<TerminalId>, Diagnostics) {
    let mut by_guid: HashMap<Guid, Vec<TerminalId>> = HashMap::new();
    for (t, terminal) in fabric.terminals().iter().enumerate() {
        let node = fabric.adapter(terminal.adapter).guid;
        by_guid.entry(node).or_default().push(TerminalId::new(t));
    }
    // Port GUIDs are what OpenSM expects, so they take precedence where the two coincide.
    for (t, terminal) in fabric.terminals().iter().enumerate() {
        by_guid.insert(terminal.guid, vec![TerminalId::new(t)]);
    }
    let mut listed = vec![false; fabric.terminal_count()];
    let mut ids = Vec::new();
    let mut found = Diagnostics::default();
    for &(guid, line) in &list.0 {
        let Some(named) = by_guid.get(&guid) else {
            found.warn(
                line,
                format!("no linked port of the fabric has GUID {guid}"),
                "port GUIDs of hosts are expected here",
            );
            continue;
        };
        let fresh = named.iter().filter(|t| !listed[t.index()]).count();
        if fresh == 0 {
            found.note(line, format!("{guid} is listed twice"), "");
        }
        for &t in named {
            if !std::mem::replace(&mut listed[t.index()], true) {
                ids.push(t);
            }
        }
    }
    (ids, found)
}

/// Writes a GUID list.
///
/// # Errors
/// Any error of `out`.
pub fn write(out: &mut dyn Write, guids: impl IntoIterator<Item = Guid>) -> io::Result<()> {
    for guid in guids {
        writeln!(out, "{guid}")?;
    }
    Ok(())
}

/// A GUID: 1 to 16 hexadecimal digits with or without `0x`.
pub(crate) fn parse_guid(word: &str) -> Option<Guid> {
    parse_hex(word).map(Guid)
}

/// A GUID as people and tools write it: `0x` and hexadecimal digits, 8 to 16 digits alone, or with the `H-` and `S-`
/// of ibnetdiscover before them.
pub(crate) fn node_guid(word: &str) -> Option<Guid> {
    let marked = ["H-", "S-", "h-", "s-"].iter().find_map(|mark| word.strip_prefix(mark));
    let digits = marked.unwrap_or(word);
    let bare = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    // A short word may be a name: `cafe`.
    let plain = (8..=16).contains(&digits.len());
    (bare.is_some() || plain).then(|| parse_guid(digits)).flatten()
}

/// A hexadecimal number with or without `0x`, at most 64 bits.
pub(crate) fn parse_hex(word: &str) -> Option<u64> {
    let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")).unwrap_or(word);
    // `from_str_radix` takes a sign; no file format here does.
    if digits.starts_with('+') {
        return None;
    }
    u64::from_str_radix(digits, 16).ok()
}

/// Text for a line-oriented format: control characters become blanks.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

//! Files that list failed elements.
//!
//! One fault a line: `GUID PORT` is the cable at that port, `GUID` alone a whole switch or adapter. A GUID is that of a node
//! or of a host's port; text after `#` is a comment. Or the output of `ibqueryerrors` or `perfquery`: cables with more
//! symbol errors than a limit have failed.

use std::collections::BTreeMap;
use std::path::Path;

use darkfiber_fabric::{
    AtPort, Fabric, Faults, Guid, SYMBOL_ERRORS_OF_A_BAD_CABLE, Switch, SwitchId, TerminalId,
};
use darkfiber_formats::counters::symbol_errors;
use darkfiber_formats::{Diagnostics, ReadError, Severity, input};

use crate::Error;

/// Number of `cables` that fail if `percent` of them do: the nearest number, but at least one for any
/// share above zero.
///
/// ```
/// let counts: Vec<usize> = [0.0, 0.1, 2.5, 100.0].map(|p| darkfiber_scenario::faults::failing(p, 100)).into();
/// assert_eq!(counts, [0, 1, 3, 100]);
/// ```
#[expect(clippy::cast_sign_loss, reason = "a negative or undefined share is none")]
pub fn failing(percent: f64, cables: usize) -> usize {
    let nearest = (percent / 100.0 * cables as f64).round() as usize;
    if percent > 0.0 { nearest.max(1).min(cables) } else { 0 }
}

enum Node {
    Switch(SwitchId),
    Terminals(Vec<TerminalId>),
}

/// The faults that a word of the command line or of a scenario names, in a fabric that may have lost them already: a node
/// that a file names and that does not exist is reported. Of files of counters, cables with more than `most` symbol
/// errors; the default is [`SYMBOL_ERRORS_OF_A_BAD_CABLE`].
///
/// # Errors
/// If a file cannot be read, or is not a list of faults or of symbol errors of this fabric, or a word names no
/// element.
pub fn in_fabric(
    fabric: &Fabric,
    word: &str,
    most: Option<u64>,
) -> Result<(Faults, Diagnostics), Error> {
    Ok(read(fabric, &text_of(fabric, word)?, word, most)?)
}

/// The text of a file, or a word as a line of one.
fn text_of(fabric: &Fabric, word: &str) -> Result<String, Error> {
    let path = Path::new(word);
    if is_text(path) { Ok(input::read_text(path)?) } else { line(fabric, word) }
}

/// Whether a word is a file, or a pipe, and not the name of an element.
fn is_text(path: &Path) -> bool {
    path.exists() && !path.is_dir()
}

fn read(
    fabric: &Fabric,
    text: &str,
    word: &str,
    most: Option<u64>,
) -> Result<(Faults, Diagnostics), ReadError> {
    let path = Path::new(word);
    if is_text(path) && text.trim().is_empty() {
        let mut found = Diagnostics::default();
        let hint = "did the command that wrote it fail? A comment, # none, says that nothing does";
        found.warn(0, "it is empty: nothing fails", hint);
        return Ok((Faults::default(), found));
    }
    if is_text(path) && symbol_errors::is_such(text) {
        bad_cables(fabric, text, path, most)
    } else {
        parse(fabric, text, path)
    }
}

/// Cables with too many symbol errors, and the diagnostics of reading them.
fn bad_cables(
    fabric: &Fabric,
    text: &str,
    path: &Path,
    most: Option<u64>,
) -> Result<(Faults, Diagnostics), ReadError> {
    let (counted, mut found) = symbol_errors::read(text, path)?;
    let most = most.unwrap_or(SYMBOL_ERRORS_OF_A_BAD_CABLE);
    let (faults, more) = symbol_errors::bad(fabric, None, &counted, most, path)?;
    found.0.extend(more.0);
    Ok((faults, found))
}

/// The faults that words of the command line name: `GUID:PORT`, `NAME[PORT]`, `GUID`, `NAME`, or a file. Unlike in a
/// file that describes a fabric, each must exist. Of files of counters, cables with more than `most` symbol errors;
/// the default is [`SYMBOL_ERRORS_OF_A_BAD_CABLE`].
///
/// # Errors
/// If a word names no element of the fabric.
pub fn named(fabric: &Fabric, words: &[String], most: Option<u64>) -> Result<Faults, Error> {
    let mut all = Faults::default();
    for word in words {
        let absent = |message: String| {
            Error::input(format!("--fail {message}"))
                .hint("all that fails must be in FABRIC, the fabric from before the fault")
        };
        let text = text_of(fabric, word)?;
        let (faults, found) =
            read(fabric, &text, word, most).map_err(|error| absent(error.to_string()))?;
        if let Some(first) = found.0.iter().find(|d| d.severity > Severity::Note) {
            let message = if is_text(Path::new(word)) {
                format!("{word}: {first}")
            } else {
                first.what.clone()
            };
            return Err(absent(message));
        }
        all.extend(faults);
    }
    Ok(all)
}

/// The switches with this description.
fn called<'a>(fabric: &'a Fabric, name: &'a str) -> impl Iterator<Item = &'a Switch> {
    fabric.switches().iter().filter(move |s| s.description == name)
}

/// A word as a line of a file.
fn line(fabric: &Fabric, word: &str) -> Result<String, Error> {
    let expected = |what: String| {
        Error::input(format!("--fail {word}: {what}"))
            .hint("expected GUID:PORT or NAME[PORT] (a cable), GUID or NAME (a switch), or a file")
    };
    let is_name = called(fabric, word).next().is_some();
    let split = word
        .strip_suffix(']')
        .filter(|_| !is_name)
        .and_then(|word| word.rsplit_once('['))
        .or_else(|| word.starts_with("0x").then(|| word.rsplit_once(':')).flatten());
    let (node, port) = match split {
        Some((node, port)) => (node, Some(port)),
        None => (word, None),
    };
    let number = port.map(str::parse::<u8>);
    if matches!(number, Some(Err(_))) {
        return Err(expected("this is no port number".to_owned()));
    }
    let node = node.trim_matches('"');
    let guid = if let Some(digits) = node.strip_prefix("0x") {
        let guid = u64::from_str_radix(digits, 16);
        Guid(guid.map_err(|_| expected(format!("'{node}' is no GUID")))?)
    } else {
        let mut switches = called(fabric, node);
        match (switches.next(), switches.next()) {
            (Some(one), None) => one.guid,
            (None, _) => return Err(expected(format!("there is no file and no switch '{node}'"))),
            (Some(_), Some(_)) => {
                return Err(expected(format!("several switches are called '{node}'")));
            }
        }
    };
    let switch = fabric.switches().iter().find(|s| s.guid == guid);
    if let (Some(switch), Some(Ok(port))) = (switch, number)
        && !(1..=switch.ports).contains(&port)
    {
        return Err(expected(format!(
            "'{}' has ports 1 to {}, no port {port}",
            switch.description, switch.ports
        )));
    }
    Ok(format!("{guid} {}", port.unwrap_or_default()))
}

fn parse(fabric: &Fabric, text: &str, path: &Path) -> Result<(Faults, Diagnostics), ReadError> {
    let nodes = nodes(fabric);
    let mut faults = Faults::default();
    let mut found = Diagnostics::default();
    let (mut lines, mut understood, mut known) = (0, 0, 0);
    for (i, line) in text.lines().enumerate() {
        let number = i + 1;
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        let Some(first) = words.next() else { continue };
        lines += 1;
        let digits = first.strip_prefix("0x").unwrap_or(first);
        let guid = u64::from_str_radix(digits, 16).map(Guid);
        let port = words.next().map(str::parse::<u8>).transpose();
        let (Ok(guid), Ok(port), None) = (guid, port, words.next()) else {
            found.error(
                number,
                format!("expected a GUID and a port number, or a GUID, not: {}", line.trim()),
                "such a line fails nothing",
            );
            continue;
        };
        understood += 1;
        known += usize::from(nodes.contains_key(&guid));
        match (nodes.get(&guid), port) {
            (None, _) => {
                found.warn(number, format!("no node of the fabric has GUID {guid}"), "");
            }
            (Some(Node::Switch(s)), None) => faults.switches.push(*s),
            (Some(Node::Switch(s)), Some(port)) => match fabric.at_port(*s, port) {
                AtPort::Switch(c, _) => faults.links.push(c),
                AtPort::Terminal(t) => faults.terminals.push(t),
                AtPort::Nothing | AtPort::Loopback => found.warn(
                    number,
                    format!("port {port} of switch {guid} leads nowhere already"),
                    "",
                ),
            },
            (Some(Node::Terminals(all)), port) => {
                let hit: Vec<TerminalId> = all
                    .iter()
                    .copied()
                    .filter(|&t| port.is_none_or(|p| fabric.terminal(t).port == p))
                    .collect();
                if hit.is_empty() {
                    found.warn(number, format!("adapter {guid} has no cable at that port"), "");
                }
                faults.terminals.extend(hit);
            }
        }
    }
    if lines > 0 && understood == 0 {
        return Err(ReadError::NotSuchAFile {
            path: path.to_owned(),
            what: "no line names a node".to_owned(),
            expected: "a list of faults".to_owned(),
            hint: "`GUID PORT` (a cable) or `GUID` (a node) on each line".to_owned(),
        });
    }
    // Continuing would give results for the whole fabric instead of a damaged one.
    if lines > 0 && known == 0 {
        return Err(ReadError::NotSuchAFile {
            path: path.to_owned(),
            what: "no line names a node of this fabric".to_owned(),
            expected: "a list of its faults".to_owned(),
            hint: "the file may belong to another fabric; GUIDs are those of its nodes and ports"
                .to_owned(),
        });
    }
    Ok((faults, found))
}

fn nodes(fabric: &Fabric) -> BTreeMap<Guid, Node> {
    let mut nodes = BTreeMap::new();
    for t in (0..fabric.terminal_count()).map(TerminalId::new) {
        let terminal = fabric.terminal(t);
        let adapter = fabric.adapter(terminal.adapter).guid;
        if let Node::Terminals(all) =
            nodes.entry(adapter).or_insert_with(|| Node::Terminals(Vec::new()))
        {
            all.push(t);
        }
    }
    for t in (0..fabric.terminal_count()).map(TerminalId::new) {
        nodes.entry(fabric.terminal(t).guid).or_insert_with(|| Node::Terminals(vec![t]));
    }
    for s in (0..fabric.switch_count()).map(SwitchId::new) {
        nodes.insert(fabric.switch(s).guid, Node::Switch(s));
    }
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cables_and_nodes() {
        let fabric = darkfiber_fabric::open("torus:dims=4x4,t=1").expect("valid").fabric;
        let s = fabric.switch(SwitchId(5)).guid;
        let port = fabric.tail_port(darkfiber_fabric::ChannelId(0));
        let s0 = fabric.switch(SwitchId(0)).guid;
        let text = format!("# two\n{s0} {port} # cable\n\n{s}\n0x77 1\nnonsense here too\n");
        let (faults, found) = parse(&fabric, &text, Path::new("f")).expect("is a list");
        assert_eq!((faults.links.len(), faults.switches.as_slice()), (1, &[SwitchId(5)][..]));
        let lines: Vec<usize> = found.0.iter().map(|d| d.line).collect();
        assert_eq!(lines, [5, 6]);
        let left = fabric.with_faults(&faults).0;
        assert_eq!((left.switch_count(), left.switch_link_count()), (15, 32 - 4 - 1));
    }

    #[test]
    fn other_files_are_refused() {
        let fabric = darkfiber_fabric::open("torus:dims=4x4,t=1").expect("valid").fabric;
        assert!(parse(&fabric, "<html>\n<body>\n", Path::new("f")).is_err());
        assert!(parse(&fabric, "0x77 1\n0x78\n", Path::new("f")).is_err());
        assert!(parse(&fabric, "", Path::new("f")).expect("empty").0.is_empty());
    }
}

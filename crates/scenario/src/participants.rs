//! Participating terminals, and pairs of them that a file names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use darkfiber_fabric::{Fabric, Role, TerminalId};
use darkfiber_formats::hostlist::expand_with;
use darkfiber_formats::input;
use darkfiber_formats::places::{Aliases, Places};
use darkfiber_workload::{Pattern, listed_pairs};

use crate::{Error, Files};

/// The terminals that jobs can use, or those that `among` names; with aliases of hosts, and groups.
///
/// # Errors
/// If a name is unknown.
pub fn terminals(
    fabric: &Fabric,
    among: Option<&str>,
    aliases: Aliases,
    files: &dyn Files,
) -> Result<Vec<TerminalId>, Error> {
    let all = (0..fabric.terminal_count()).map(TerminalId::new);
    let compute: Vec<TerminalId> =
        all.filter(|&t| fabric.terminal(t).role == Role::Compute).collect();
    let Some(among) = among else { return Ok(compute) };
    let file = files.locate(among);
    let sets: Vec<(usize, String)> = if file.is_file() {
        let text = input::read_text(&file)?;
        let line = |(i, line): (usize, &str)| {
            let line = line.split('#').next().unwrap_or_default();
            line.split_whitespace().map(|set| (i + 1, set.to_owned())).collect::<Vec<_>>()
        };
        text.lines().enumerate().flat_map(line).collect()
    } else {
        vec![(0, among.to_owned())]
    };
    let groups = aliases.groups().clone();
    let names = Named { places: Places::new(fabric, aliases), numbers: compute };
    let mut taken = BTreeSet::new();
    let mut who = Vec::new();
    for (line, set) in sets {
        let at = if line > 0 { format!("{among}: line {line}") } else { "--among".to_owned() };
        let words = expand_with(&set, &groups).map_err(|e| Error::input(format!("{at}: {e}")))?;
        for word in words {
            let found = names.get(&word).ok_or_else(|| {
                Error::input(format!("{at}: {}", names.places.why_unknown(&word))).hint(
                    "names of hosts, GUIDs of ports or nodes, or numbers from 0 (0-99), separated by commas, \
                     or a file of them",
                )
            })?;
            who.extend(found.into_iter().filter(|&t| taken.insert(t)));
        }
    }
    Ok(who)
}

/// Terminals by user-visible names: as in [`Places`], or by number.
struct Named {
    places: Places,
    numbers: Vec<TerminalId>,
}

impl Named {
    fn new(fabric: &Fabric, numbers: &[TerminalId]) -> Self {
        Self { places: Places::new(fabric, Aliases::new()), numbers: numbers.to_vec() }
    }

    /// A name, `7` or `0-99`.
    fn get(&self, word: &str) -> Option<Vec<TerminalId>> {
        let named = self.places.of(word);
        if !named.is_empty() {
            return Some(named.to_vec());
        }
        let (from, to) = word.split_once('-').unwrap_or((word, word));
        let (from, to): (usize, usize) = (from.parse().ok()?, to.parse().ok()?);
        (from <= to).then(|| self.numbers.get(from..=to).map(<[_]>::to_vec)).flatten()
    }
}

/// Pairs from a file, a source and a destination on each line.
///
/// # Errors
/// If a line is not a pair.
pub fn pairs(fabric: &Fabric, who: &[TerminalId], path: &Path) -> Result<Box<dyn Pattern>, Error> {
    let names = Named::new(fabric, who);
    let place: BTreeMap<TerminalId, u32> = who.iter().zip(0..).map(|(&t, i)| (t, i)).collect();
    let mut pairs = Vec::new();
    for (i, line) in input::read_text(path)?.lines().enumerate() {
        let at = |what: String| {
            Error::input(format!("{}: line {}: {what}", path.display(), i + 1)).hint(
                "a line is a source and a destination: names of hosts, GUIDs of ports, or numbers of \
                 participants from 0",
            )
        };
        let text = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = text.split([' ', '\t', ',']).filter(|w| !w.is_empty()).collect();
        let &[source, dest] = words.as_slice() else {
            if words.is_empty() {
                continue;
            }
            return Err(at(format!("{} words, not two", words.len())));
        };
        let one = |word: &str| -> Result<u32, Error> {
            let found = names.get(word);
            match found.as_deref() {
                Some(&[t]) => {
                    place.get(&t).copied().ok_or_else(|| at(format!("'{word}' does not take part")))
                }
                Some(all) => Err(at(format!("'{word}' are {} ports; name one", all.len()))),
                None => Err(at(names.places.why_unknown(word))),
            }
        };
        pairs.push([one(source)?, one(dest)?]);
    }
    if pairs.is_empty() {
        return Err(Error::input(format!("{}: there is no pair in it", path.display()))
            .hint("expected a line for each pair: source and destination, by name"));
    }
    listed_pairs(pairs, who.len() as u32)
        .map_err(|e| Error::input(format!("{}: {e}", path.display())))
}

//! Lists of hosts: SLURM's hostlists `cn[01-17],login1`, and the node sets of ClusterShell, which has steps, operators
//! and groups besides: `cn[0-16/2]!cn4,@rack7`.
//!
//! A list is names between commas; a name may hold brackets, each with numbers and ranges of numbers between
//! commas. Numbers keep the width they are written in: `[08-11]` is 08, 09, 10, 11. With several brackets
//! the last runs fastest: `r[1-2]n[1-2]` is `r1n1 r1n2 r2n1 r2n2`. `[0-10/2]` is every second number.
//!
//! Where there are operators, names are a set, in the order in which they come in: `,` adds, `!` removes, `&`
//! intersects, `^` is the symmetric difference; from left to right, without precedence. `@rack7` is a group of hosts:
//! see [`Groups`].
//!
//! A list is never expanded beyond [`MOST_HOSTS`] names.
//!
//! The library `nodeset` (0.6) is not suitable here: its sets are sorted (`login,cn[08-10,3]` begins with `cn3`) and have a name
//! once, where the order of a list is that of the ranks; numbers end with 32 bits; groups come only from ClusterShell's own files;
//! the expansion of a list is not bounded; a step of 0 makes it panic (`n[1-9/0]`), an operator at the end is silently dropped
//! (`n[1-2]&`); and it brings its own command line. (Of 169,000 random texts without steps of 0 none broke it.)

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use thiserror::Error;

/// Maximum number of names of a list.
pub const MOST_HOSTS: usize = 1_000_000;

/// Most pairs of brackets in one name.
const MOST_BRACKETS: usize = 16;

/// Maximum nesting depth of groups.
const MOST_NESTED: usize = 16;

/// Most digits of a number; this many fit into 64 bits.
const MOST_DIGITS: usize = 18;

/// Why a text is no hostlist.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HostlistError {
    /// `[` without `]`: the list was cut off.
    #[error("'[' without ']' in '{0}'")]
    Unclosed(String),
    /// A `]` without `[`.
    #[error("']' without '[' in '{0}'")]
    Unopened(String),
    /// `[` inside of brackets.
    #[error("'[' within brackets in '{0}'")]
    Nested(String),
    /// `[]`, `[1,]`, `[-3]`, `[a]`.
    #[error("'{0}' in brackets is not a number or a range of numbers")]
    NotANumber(String),
    /// A range such as `[7-3]`.
    #[error("range '{0}' runs backward")]
    Backward(String),
    /// A name with more brackets than any cluster has dimensions.
    #[error("more than {MOST_BRACKETS} pairs of brackets in '{0}'")]
    TooManyBrackets(String),
    /// A step of 0 such as `[1-9/0]`.
    #[error("'{0}' in brackets has no step from 1 on behind '/'")]
    NoStep(String),
    /// An undefined `@group`.
    #[error("there is no group '{0}'; give its hosts in a file of --aliases: '@group hosts'")]
    NoGroup(String),
    /// A group that is made of itself.
    #[error("group '{0}' is made of itself, or of more than {MOST_NESTED} groups in each other")]
    Circular(String),
    /// The list has too many names.
    #[error("'{0}' stands for more than {MOST_HOSTS} hosts")]
    TooMany(String),
}

/// Groups of hosts by name without the `@`: the list of each, which may name other groups.
pub type Groups = BTreeMap<String, String>;

/// The names of a hostlist, in its order, with repetitions. Blanks around names and empty names are ignored. Groups
/// are not expanded (`@rack7`), since their members are unknown.
///
/// # Errors
/// If brackets do not match, contain anything but numbers, or stand for more than [`MOST_HOSTS`] names; or if
/// operators apply to groups.
///
/// ```
/// use darkfiber_formats::hostlist::expand;
///
/// assert_eq!(expand("cn[08-10,3],login").unwrap(), ["cn08", "cn09", "cn10", "cn3", "login"]);
/// assert_eq!(expand("r[1-2]n[1-2]-ib0").unwrap(), ["r1n1-ib0", "r1n2-ib0", "r2n1-ib0", "r2n2-ib0"]);
/// assert_eq!(expand("cn[0-8/2]!cn4").unwrap(), ["cn0", "cn2", "cn6", "cn8"]);
/// assert_eq!(expand("cn[1-").unwrap_err().to_string(), "'[' without ']' in 'cn[1-'");
/// ```
pub fn expand(text: &str) -> Result<Vec<String>, HostlistError> {
    let terms = split(text)?;
    if terms.iter().all(|(operator, _)| *operator == ',') {
        let mut names = Vec::new();
        for (_, word) in terms {
            expand_word(word, &mut names)?;
        }
        return Ok(names);
    }
    Evaluation { groups: &Groups::new(), total: 0 }.set(text, 0)
}

/// The names of a node set, each once, with its groups resolved.
///
/// # Errors
/// As [`expand`], or if a group is not in `groups` or contains itself.
///
/// ```
/// use darkfiber_formats::hostlist::{Groups, expand_with};
///
/// let groups = Groups::from([("rack1".to_owned(), "cn[1-3]".to_owned())]);
/// assert_eq!(expand_with("@rack1!cn2,cn9", &groups).unwrap(), ["cn1", "cn3", "cn9"]);
/// assert!(expand_with("@rack2", &groups).is_err());
/// ```
pub fn expand_with(text: &str, groups: &Groups) -> Result<Vec<String>, HostlistError> {
    Evaluation { groups, total: 0 }.set(text, 0)
}

struct Evaluation<'a> {
    groups: &'a Groups,
    /// Names of all terms so far, whether they stay or not: the work is bounded, too.
    total: usize,
}

impl Evaluation<'_> {
    fn set(&mut self, text: &str, depth: usize) -> Result<Vec<String>, HostlistError> {
        let mut names: Vec<String> = Vec::new();
        let mut has: HashSet<String> = HashSet::new();
        for (operator, word) in split(text)? {
            let term = self.term(word, depth)?;
            match operator {
                '!' => {
                    let gone: HashSet<String> = term.into_iter().collect();
                    names.retain(|name| !gone.contains(name));
                }
                '&' => {
                    let kept: HashSet<String> = term.into_iter().collect();
                    names.retain(|name| kept.contains(name));
                }
                '^' => {
                    let other: HashSet<String> = term.iter().cloned().collect();
                    names.retain(|name| !other.contains(name));
                    let mut seen = HashSet::new();
                    let fresh = term.into_iter().filter(|t| !has.contains(t));
                    names.extend(fresh.filter(|t| seen.insert(t.clone())));
                }
                _ => names.extend(term.into_iter().filter(|t| has.insert(t.clone()))),
            }
            if operator != ',' {
                has = names.iter().cloned().collect();
            }
        }
        Ok(names)
    }

    fn term(&mut self, word: &str, depth: usize) -> Result<Vec<String>, HostlistError> {
        if depth > MOST_NESTED {
            return Err(HostlistError::Circular(shown(word)));
        }
        let mut names = Vec::new();
        expand_word(word, &mut names)?;
        self.count(names.len(), word)?;
        if !word.starts_with('@') {
            return Ok(names);
        }
        let mut members = Vec::new();
        for group in names {
            let list = self.groups.get(&group[1..]);
            let list = list.ok_or_else(|| HostlistError::NoGroup(shown(&group)))?;
            members.extend(self.set(list, depth + 1)?);
            self.count(members.len(), word)?;
        }
        Ok(members)
    }

    fn count(&mut self, names: usize, word: &str) -> Result<(), HostlistError> {
        self.total += names;
        if self.total > MOST_HOSTS { Err(HostlistError::TooMany(shown(word))) } else { Ok(()) }
    }
}

/// Whether brackets match; a cheap test for likely hostlists.
pub fn is_likely(text: &str) -> bool {
    !text.contains(char::is_whitespace) && split(text).is_ok()
}

/// The operands outside of brackets, each with the operator before it; `,` before the first.
fn split(text: &str) -> Result<Vec<(char, &str)>, HostlistError> {
    let mut words = Vec::new();
    let (mut start, mut inside, mut operator) = (0, false, ',');
    for (i, c) in text.char_indices() {
        match c {
            '[' if inside => return Err(HostlistError::Nested(shown(&text[start..]))),
            '[' => inside = true,
            ']' if !inside => return Err(HostlistError::Unopened(shown(&text[start..]))),
            ']' => inside = false,
            ',' | '!' | '&' | '^' if !inside => {
                words.push((operator, text[start..i].trim()));
                start = i + 1;
                operator = c;
            }
            _ => {}
        }
    }
    if inside {
        return Err(HostlistError::Unclosed(shown(&text[start..])));
    }
    words.push((operator, text[start..].trim()));
    // Two consecutive operators, or one at an end, have an empty operand.
    words.retain(|(operator, word)| !word.is_empty() || *operator == '&');
    Ok(words)
}

fn shown(text: &str) -> String {
    text.chars().take(60).collect()
}

/// A range of numbers, written at least `width` digits wide.
struct Range {
    first: u64,
    last: u64,
    step: u64,
    width: usize,
}

fn expand_word(word: &str, names: &mut Vec<String>) -> Result<(), HostlistError> {
    // Text, brackets, text, brackets, ..., text.
    let mut parts: Vec<(&str, Vec<Range>)> = Vec::new();
    let mut rest = word;
    let mut total = 1u64;
    // Most bytes of a name.
    let mut length = 0;
    while let Some((before, after)) = rest.split_once('[') {
        let (inside, behind) =
            after.split_once(']').ok_or_else(|| HostlistError::Unclosed(shown(word)))?;
        let ranges = inside.split(',').map(range).collect::<Result<Vec<_>, _>>()?;
        let count =
            ranges.iter().fold(0u64, |n, r| n.saturating_add(1 + (r.last - r.first) / r.step));
        total = total.saturating_mul(count);
        let digits = ranges.iter().map(|r| r.width).max().unwrap_or(0).max(MOST_DIGITS);
        length += before.len() + digits;
        parts.push((before, ranges));
        rest = behind;
    }
    if parts.len() > MOST_BRACKETS {
        return Err(HostlistError::TooManyBrackets(shown(word)));
    }
    if total.saturating_add(names.len() as u64) > MOST_HOSTS as u64 {
        return Err(HostlistError::TooMany(shown(word)));
    }
    // Neither may a long name, many times over, fill the memory.
    if total.saturating_mul((length + rest.len()) as u64) > 64 * MOST_HOSTS as u64 {
        return Err(HostlistError::TooMany(shown(word)));
    }
    let mut made = vec![String::new()];
    for (before, ranges) in &parts {
        let mut next = Vec::new();
        for stem in &made {
            for r in ranges {
                // The count above fits into memory, so a step fits into a pointer, or is the only one.
                for n in (r.first..=r.last).step_by(usize::try_from(r.step).unwrap_or(usize::MAX)) {
                    let mut name = String::with_capacity(stem.len() + before.len() + r.width);
                    let _ = write!(name, "{stem}{before}{n:0width$}", width = r.width);
                    next.push(name);
                }
            }
        }
        made = next;
    }
    for mut name in made {
        name.push_str(rest);
        names.push(name);
    }
    Ok(())
}

fn range(text: &str) -> Result<Range, HostlistError> {
    let text = text.trim();
    let bad = || HostlistError::NotANumber(shown(text));
    let number = |word: &str| -> Result<u64, HostlistError> {
        let fits =
            (1..=MOST_DIGITS).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_digit());
        if fits { word.parse().map_err(|_| bad()) } else { Err(bad()) }
    };
    let (numbers, step) = text.split_once('/').unwrap_or((text, "1"));
    let (first, last) = numbers.split_once('-').unwrap_or((numbers, numbers));
    let step = number(step).ok().filter(|&s| s > 0);
    let step = step.ok_or_else(|| HostlistError::NoStep(shown(text)))?;
    let range = Range { first: number(first)?, last: number(last)?, step, width: first.len() };
    if range.last < range.first {
        return Err(HostlistError::Backward(shown(text)));
    }
    Ok(range)
}

/// A hostlist for names, whose expansion is the same list in the same order. As SLURM writes them, only
/// neighbours that differ in the number at their end share brackets: `n08 n09 n10 n12` are `n[08-10,12]`. Names
/// with commas, brackets or blanks at their ends have no hostlist; they are written as they are.
///
/// ```
/// use darkfiber_formats::hostlist::compress;
///
/// assert_eq!(compress(&["n08", "n09", "n10", "n12", "n1-ib0", "n2-ib0"]), "n[08-10,12],n1-ib0,n2-ib0");
/// ```
pub fn compress<S: AsRef<str>>(names: &[S]) -> String {
    let mut out = String::new();
    let mut rest = names;
    while let Some((name, others)) = rest.split_first() {
        let name = name.as_ref();
        if !out.is_empty() {
            out.push(',');
        }
        let stem = stem(name);
        let digits = |name: &S| number_behind(stem, name.as_ref()).is_some();
        let length = rest.iter().take_while(|n| digits(n)).count();
        if length < 2 {
            out.push_str(name);
            rest = others;
            continue;
        }
        let group: Vec<&str> = rest[..length].iter().map(|n| &n.as_ref()[stem.len()..]).collect();
        let _ = write!(out, "{stem}[{}]", ranges(&group));
        rest = &rest[length..];
    }
    out
}

/// Numbers as written, runs that count up joined.
fn ranges(group: &[&str]) -> String {
    let mut out = String::new();
    let mut i = 0;
    while i < group.len() {
        let first = group[i];
        let value = |digits: &str| digits.parse::<u64>().unwrap_or(0);
        let mut last = i;
        // The next expanded name must be the next name of the group.
        while let Some(next) = group.get(last + 1)
            && *next == format!("{:0width$}", value(group[last]) + 1, width = first.len())
        {
            last += 1;
        }
        if !out.is_empty() {
            out.push(',');
        }
        out.push_str(first);
        if last > i {
            let _ = write!(out, "-{}", group[last]);
        }
        i = last + 1;
    }
    out
}

/// A name without the number at its end.
fn stem(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit())
}

/// The text after the stem of a name, if that is a valid number.
fn number_behind<'a>(stem: &str, name: &'a str) -> Option<&'a str> {
    let digits = name.strip_prefix(stem).filter(|_| !stem.contains(['[', ']', ',']))?;
    let fits =
        (1..=MOST_DIGITS).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    fits.then_some(digits)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(text: &str) -> String {
        expand(text).map_or_else(|e| e.to_string(), |names| names.join(" "))
    }

    #[test]
    fn lists_expand_as_slurm_expands_them() {
        for (text, names) in [
            ("cn1", "cn1"),
            ("", ""),
            ("a, b,,c", "a b c"),
            ("cn[1-3]", "cn1 cn2 cn3"),
            ("cn[08-10]", "cn08 cn09 cn10"),
            ("cn[9-11]", "cn9 cn10 cn11"),
            ("cn[3,1,001]", "cn3 cn1 cn001"),
            (
                "d13n[03,05,07-08,16],d09n04s[01-02]",
                "d13n03 d13n05 d13n07 d13n08 d13n16 d09n04s01 d09n04s02",
            ),
            ("r[1-2]n[01-03]", "r1n01 r1n02 r1n03 r2n01 r2n02 r2n03"),
            ("node[1-3]-ib0", "node1-ib0 node2-ib0 node3-ib0"),
            ("cpn-u23-[17,25]", "cpn-u23-17 cpn-u23-25"),
            ("[1-2]", "1 2"),
            ("x[1][2]", "x12"),
            ("n[0-10/2]", "n0 n2 n4 n6 n8 n10"),
            ("n[01-09/3,20]", "n01 n04 n07 n20"),
            ("n[1-999999999999999999/900000000000000000]", "n1 n900000000000000001"),
            ("n[1-6]!n[2-3],n2", "n1 n4 n5 n6 n2"),
            ("n[1-6]&n[4-9]", "n4 n5 n6"),
            ("n[1-3]^n[3-5]", "n1 n2 n4 n5"),
            ("n[1-4]!n1&n[1-2]^n[2-3]", "n3"),
            ("n1,n1!n2", "n1"),
            ("n[1-2]&", ""),
            ("!n1", ""),
            ("@rack1,n1", "@rack1 n1"),
            (
                "n1!@rack1",
                "there is no group '@rack1'; give its hosts in a file of --aliases: '@group hosts'",
            ),
        ] {
            assert_eq!(all(text), names, "{text}");
        }
    }

    #[test]
    fn errors_say_what_is_wrong() {
        let wrong: String = [
            "cn[1-3",
            "cn1-3]",
            "cn[1[2]]",
            "cn[a]",
            "cn[]",
            "cn[1,]",
            "cn[7-3]",
            "cn[-3]",
            "cn[1-2-3]",
            "cn[0-1000000]",
            "a[1-1000]b[1-1001]",
            "cn[18446744073709551616]",
        ]
        .iter()
        .fold(String::new(), |t, s| t + s + ": " + &all(s) + "\n");
        insta::assert_snapshot!(wrong, @r"
        cn[1-3: '[' without ']' in 'cn[1-3'
        cn1-3]: ']' without '[' in 'cn1-3]'
        cn[1[2]]: '[' within brackets in 'cn[1[2]]'
        cn[a]: 'a' in brackets is not a number or a range of numbers
        cn[]: '' in brackets is not a number or a range of numbers
        cn[1,]: '' in brackets is not a number or a range of numbers
        cn[7-3]: range '7-3' runs backward
        cn[-3]: '-3' in brackets is not a number or a range of numbers
        cn[1-2-3]: '1-2-3' in brackets is not a number or a range of numbers
        cn[0-1000000]: 'cn[0-1000000]' stands for more than 1000000 hosts
        a[1-1000]b[1-1001]: 'a[1-1000]b[1-1001]' stands for more than 1000000 hosts
        cn[18446744073709551616]: '18446744073709551616' in brackets is not a number or a range of numbers
        ");
        // Many names without a range are a long text, and still short names.
        let every = (0..200_000).step_by(7).map(|n| format!("cn{n}")).collect::<Vec<_>>();
        assert_eq!(expand(&compress(&every)).as_ref(), Ok(&every));
        let many = "[1]".repeat(MOST_BRACKETS + 1);
        assert_eq!(expand(&many), Err(HostlistError::TooManyBrackets(many)));
        assert_eq!(expand("cn[1-1000000]").map(|n| n.len()), Ok(MOST_HOSTS));
    }

    #[test]
    fn names_compress_into_runs() {
        for (names, list) in [
            ("n1 n2 n3", "n[1-3]"),
            ("n9 n10", "n[9-10]"),
            ("n09 n10 n100", "n[09-10,100]"),
            ("n99 n100", "n[99-100]"),
            ("n099 n100", "n[099-100]"),
            ("n1 n01", "n[1,01]"),
            ("login n1 m2", "login,n1,m2"),
            ("n1-ib0 n2-ib0", "n1-ib0,n2-ib0"),
            ("1 2 03", "[1-2,03]"),
            ("n1 n1 n2", "n[1,1-2]"),
            ("n1-ib0 n1-ib1", "n1-ib[0-1]"),
            ("n2 n1", "n[2,1]"),
        ] {
            let names: Vec<&str> = names.split(' ').collect();
            assert_eq!(compress(&names), list);
            assert_eq!(expand(list).expect("a hostlist"), names);
        }
    }

    #[test]
    fn lists_of_slurm_come_back_as_they_were() {
        for list in [
            "d07n07s02,d07n19s02,d07n25s01,d07n28s01,d09n04s[01-02],d09n05s02,d13n[03,05,07-08,16]",
            "cpn-q06-04-[01-02],cpn-q07-04-[01-02],cpn-u22-[16-17],cpn-u23-[17,25]",
            "peta[10000-19999]",
        ] {
            assert_eq!(compress(&expand(list).expect("a hostlist")), list);
        }
    }

    #[test]
    fn groups_are_node_sets() {
        let groups: Groups = [
            ("all", "@r[1-2],login"),
            ("r1", "n[1-4]"),
            ("r2", "n[5-8]"),
            ("self", "n1,@self"),
            ("many", "n[1-900000]"),
        ]
        .map(|(name, list)| (name.to_owned(), list.to_owned()))
        .into();
        let set = |text: &str| {
            expand_with(text, &groups).map_or_else(|e| e.to_string(), |names| names.join(" "))
        };
        assert_eq!(set("@all!@r1"), "n5 n6 n7 n8 login");
        assert_eq!(set("@r1&n[2-9],n2"), "n2 n3 n4");
        assert!(set("@self").contains("is made of itself"), "{}", set("@self"));
        assert!(set("@r[1-3]").starts_with("there is no group '@r3'"), "{}", set("@r[1-3]"));
        assert!(set("@many!@many!@many").contains("more than 1000000 hosts"));
        assert!(set("n[1-4000000000]!n1").contains("more than 1000000 hosts"));
    }

    proptest! {
        #[test]
        fn compress_then_expand_is_the_identity(
            names in prop::collection::btree_set("[a-zä]{0,2}[0-9]{0,3}(-ib|n)?[0-9]{0,21}s?", 0..40)
        ) {
            let names: Vec<String> = names.into_iter().filter(|n| !n.is_empty()).collect();
            prop_assert_eq!(expand(&compress(&names)), Ok(names));
        }

        #[test]
        fn runs_of_any_width_survive(first in 0u32..2000, count in 1u32..300, width in 1usize..6) {
            let names: Vec<String> =
                (first..first + count).map(|n| format!("r3n{n:0width$}")).collect();
            prop_assert_eq!(expand(&compress(&names)), Ok(names));
        }

        #[test]
        fn no_text_panics(text in "[a-c0-9\\[\\],\\-/!&^@ ä]{0,40}") {
            let groups = Groups::from([("a".to_owned(), "@b,c[1-3]".to_owned()), ("b".to_owned(), "@a".to_owned())]);
            let _ = expand(&text);
            let _ = expand_with(&text, &groups);
            let _ = compress(&[text]);
        }
    }
}

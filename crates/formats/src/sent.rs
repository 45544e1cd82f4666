//! Traffic between hosts, as a profiler of messages writes it: a table of records.
//!
//! ```text
//! source,destination,bytes,job
//! cn0001,cn0005,1048576,4711
//! ```
//!
//! Columns are identified by their headings, in any order, separated by commas, semicolons or tabs; others are ignored. Records
//! of one pair add up. Names are those of hosts in the fabric, aliases of them, or GUIDs; the traffic of a host with several
//! ports is divided equally among them.

use std::collections::BTreeMap;
use std::path::Path;

use darkfiber_fabric::TerminalId;

use crate::demands::shared_by;
use crate::diagnostic::counted;
use crate::places::Places;
use crate::{Diagnostics, ReadError, sheet};

/// Traffic from one terminal to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TerminalTraffic {
    /// Job of the record, if it is given.
    pub job: Option<String>,
    /// Terminal that sent.
    pub from: TerminalId,
    /// Terminal that received.
    pub to: TerminalId,
    /// Number of bytes.
    pub bytes: u64,
}

const SOURCE: [&str; 6] = ["source", "src", "from", "sourcenode", "srcnode", "sender"];
const DESTINATION: [&str; 7] =
    ["destination", "dest", "dst", "to", "destnode", "dstnode", "receiver"];
const BYTES: [&str; 5] = ["bytes", "size", "volume", "sentbytes", "bytessent"];
const JOB: [&str; 3] = ["job", "jobid", "jobname"];

/// Whether a text begins as such a table does.
pub fn is_such(text: &str) -> bool {
    let heading = sheet::heading(text);
    let cells: Vec<String> =
        heading.split(sheet::delimiter(heading) as char).map(sheet::plain).collect();
    let has = |names: &[&str]| cells.iter().any(|c| names.contains(&c.as_str()));
    has(&SOURCE) && has(&DESTINATION) && has(&BYTES)
}

/// Reads records, by rising (job, source, destination). Unknown names are reported and left out, as is traffic of a host to
/// itself.
///
/// # Errors
/// If it is not such a table, or has none of the fabric's hosts.
pub fn read(
    text: &str,
    path: &Path,
    places: &Places,
) -> Result<(Vec<TerminalTraffic>, Diagnostics), ReadError> {
    let refused = |what: String, hint: &str| {
        let expected = "records of what was sent, with columns source, destination and bytes";
        ReadError::not_such(path, what, expected, hint)
    };
    let mut reader = sheet::reader(text).comment(Some(b'#')).from_reader(text.as_bytes());
    let columns: Vec<String> = match reader.headers() {
        Ok(heading) => heading.iter().map(sheet::plain).collect(),
        Err(e) => return Err(refused(e.to_string(), "")),
    };
    let column = |names: &[&str]| columns.iter().position(|c| names.contains(&c.as_str()));
    let missing =
        |what: &str| refused(format!("there is no column {what}"), "name it in the heading");
    let source = column(&SOURCE).ok_or_else(|| missing("source"))?;
    let destination = column(&DESTINATION).ok_or_else(|| missing("destination"))?;
    let bytes = column(&BYTES).ok_or_else(|| missing("bytes"))?;
    let job = column(&JOB);

    let mut found = Diagnostics::default();
    let mut sent: BTreeMap<(Option<String>, TerminalId, TerminalId), u64> = BTreeMap::new();
    let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
    let (mut known, mut to_itself, mut without) = (0usize, 0usize, 0usize);
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(e) => {
                let line = e.position().map_or(0, |p| p.line() as usize);
                found.warn(line, "no record", e.to_string());
                continue;
            }
        };
        let line = sheet::line(text, &record);
        let cell = |i: usize| record.get(i).unwrap_or_default();
        let ends = [cell(source), cell(destination)].map(|name| {
            let of = places.of(name);
            if of.is_empty() {
                *unknown.entry(name.chars().take(60).collect()).or_default() += 1;
            }
            of
        });
        let [from, to] = ends;
        if from.is_empty() || to.is_empty() {
            continue;
        }
        known += 1;
        let Some(amount) = whole(cell(bytes)) else {
            let shown: String = cell(bytes).chars().take(40).collect();
            found.warn(line, format!("no bytes in '{shown}'"), "expected a whole number; left out");
            without += 1;
            continue;
        };
        if from == to {
            to_itself += 1;
            continue;
        }
        let job = job.map(&cell).filter(|j| !j.is_empty()).map(str::to_owned);
        let pairs = (from.len() * to.len()) as u64;
        let all = from.iter().flat_map(|&a| to.iter().map(move |&b| (a, b)));
        for (i, (a, b)) in (0..).zip(all) {
            let part = amount / pairs + u64::from(i < amount % pairs);
            let sum = sent.entry((job.clone(), a, b)).or_default();
            *sum = sum.saturating_add(part);
        }
    }
    if known > 0 && known == without {
        return Err(refused(
            "no record has a whole number of bytes".to_owned(),
            "bytes are written in full: 1000000000, without a unit",
        ));
    }
    if let Some(first) = unknown.keys().next() {
        if known == 0 {
            return Err(refused(
                format!(
                    "no name in it is one of the fabric's hosts, for example '{first}'{}",
                    shared_by(places, first)
                ),
                "the file is for other node names; --aliases FILE tells them",
            ));
        }
        let names = counted(unknown.len(), "name is no host's", "names are no hosts'");
        let lines: usize = unknown.values().sum();
        let lines = counted(lines, "record", "records");
        found.warn(
            0,
            format!("{names} in the fabric, for example '{first}'{}", shared_by(places, first)),
            format!("{lines} left out"),
        );
    }
    if to_itself > 0 {
        let records = counted(to_itself, "record is", "records are");
        found.note(
            0,
            format!("{records} of a host to itself"),
            "that is on no cable, and left out",
        );
    }
    let all = sent.into_iter().filter(|(_, bytes)| *bytes > 0);
    Ok((
        all.map(|((job, from, to), bytes)| TerminalTraffic { job, from, to, bytes }).collect(),
        found,
    ))
}

/// A whole number, which tables of numbers also write `1000.0` or `1e9`.
fn whole(word: &str) -> Option<u64> {
    /// From here on floating-point numbers leave out some whole ones.
    const EXACT: f64 = 9e15;
    if let Ok(number) = word.parse() {
        return Some(number);
    }
    let number = word.parse::<f64>().ok()?;
    #[expect(clippy::cast_sign_loss, reason = "it is not below zero")]
    ((0.0..EXACT).contains(&number) && number.fract() == 0.0).then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::open;

    use super::*;
    use crate::places::Aliases;

    fn read_for(text: &str) -> Result<(Vec<TerminalTraffic>, Diagnostics), ReadError> {
        let fabric = open("kary:k=2,n=2").expect("a spec").fabric;
        read(text, Path::new("sent.csv"), &Places::new(&fabric, Aliases::new()))
    }

    #[test]
    fn records_add_up_and_odd_ones_are_reported() {
        let text = "Job ID;dst;calls;Bytes;src\n7;cn0003;1;100;cn0001\n7;cn0003;9;11;cn0001\n;cn0001;1;5;cn0004\n\
                    7;cn0001;1;5;cn0001\n7;nobody;1;5;cn0001\n7;cn0002;1;many;cn0001\n";
        assert!(is_such(text));
        let (sent, found) = read_for(text).expect("a table");
        let values: Vec<(Option<&str>, u32, u32, u64)> =
            sent.iter().map(|s| (s.job.as_deref(), s.from.0, s.to.0, s.bytes)).collect();
        assert_eq!(values, [(None, 3, 0, 5), (Some("7"), 0, 2, 111)]);
        assert_eq!(found.0.len(), 3, "{found:?}");
    }

    #[test]
    fn bytes_of_other_programs() {
        let table = |bytes: &str| format!("source,destination,bytes\ncn0001,cn0002,{bytes}\n");
        let amount = |bytes: &str| read_for(&table(bytes)).map(|(sent, _)| sent[0].bytes);
        for (bytes, amount_of) in [("1000.0", 1000), ("1e9", 1_000_000_000), ("7", 7)] {
            assert_eq!(amount(bytes).expect(bytes), amount_of);
        }
        for bytes in ["2GB", "3 GiB", "1.5", "-5", "nan", "1e40", ""] {
            let error = read_for(&table(bytes)).expect_err(bytes).to_string();
            assert!(error.contains("no record has a whole number of bytes"), "{bytes}: {error}");
        }
        // A stranger beside them is not taken for the reason.
        let both = format!("{}cn9999,cn0001,5\n", table("1.5"));
        assert!(!read_for(&both).expect_err("no bytes").to_string().contains("cn9999"));
    }

    #[test]
    fn what_is_no_such_table() {
        for text in ["", "a,b,c\n1,2,3\n", "source,destination\ncn0001,cn0002\n"] {
            assert!(!is_such(text) && read_for(text).is_err(), "{text}");
        }
        let strangers = "source,destination,bytes\nx,y,1\n";
        assert!(read_for(strangers).expect_err("other hosts").to_string().contains("'x'"));
    }
}

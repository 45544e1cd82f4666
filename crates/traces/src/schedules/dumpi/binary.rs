//! Records as DUMPI writes them: big endian, one after the other, with a table of places at the end of the file.

use std::path::Path;

use super::layout::{self, MARKS};
use super::record::{Record, Status, Value};
use super::sizes::{EXPECTED, Sizes};
use crate::schedules::bytes::Bytes;
use darkfiber_formats::ReadError;

pub(super) const MAGIC: [u8; 8] = *b"\xff\xaa\xdd\x44UMPI";

const CPU: u8 = 1 << 2;
const WALL: u8 = 1 << 3;
const STATUSES: u8 = 3;
const THREAD: u8 = 1 << 6;
const COUNTERS: u8 = 1 << 7;

fn u16_of(bytes: &mut Bytes<'_>) -> Result<u16, ReadError> {
    bytes.array("a record").map(u16::from_be_bytes)
}

fn i32_of(bytes: &mut Bytes<'_>) -> Result<i32, ReadError> {
    bytes.array("a record").map(i32::from_be_bytes)
}

fn u64_of(bytes: &mut Bytes<'_>) -> Result<u64, ReadError> {
    bytes.array("a table").map(u64::from_be_bytes)
}

/// A length, of something that takes this many bytes each.
fn length(bytes: &mut Bytes<'_>, each: usize) -> Result<usize, ReadError> {
    let found = i32_of(bytes)?;
    match usize::try_from(found) {
        Ok(len) if len <= bytes.left() / each => Ok(len),
        _ => Err(bytes.fail(format!("a list of {found} entries does not fit into the file"))),
    }
}

fn times(bytes: &mut Bytes<'_>) -> Result<(i64, i64), ReadError> {
    let mut time = || Ok(i64::from(u16_of(bytes)?) * 1_000_000_000 + i64::from(i32_of(bytes)?));
    Ok((time()?, time()?))
}

/// Hands every call to `each`, and the sizes of datatypes.
pub(super) fn read(
    all: &[u8],
    path: &Path,
    each: &mut dyn FnMut(&Record, &Sizes) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut bytes = Bytes::new(all, path, EXPECTED);
    if bytes.array("the heading")? != MAGIC {
        return Err(bytes.fail("the file does not begin as DUMPI's do"));
    }
    let mut table = bytes;
    table.seek((all.len() as u64).saturating_sub(64), "the table at the end")?;
    if table.array("the table at the end")? != MAGIC {
        return Err(table.fail("there is no table at the end"));
    }
    let mut places = [0; 7];
    for place in &mut places {
        *place = u64_of(&mut table)?;
    }
    let [sizes, _, _, header, body, _, _] = places;
    let mut heading = bytes;
    heading.seek(header, "the heading")?;
    let version = heading.array::<3>("the version")?;
    if version < [0, 6, 9] {
        let [a, b, c] = version;
        return Err(heading
            .fail(format!("version {a}.{b}.{c} of DUMPI is too old: 0.6.9 is the first known")));
    }
    let sizes = datatypes(bytes, sizes)?;
    bytes.seek(body, "the first record")?;
    // The offset of seconds; only differences matter.
    let _ = bytes.take(8, "the clocks")?;
    let functions = layout::functions();
    let mut record = Record::default();
    // The mark of the end, and then the heading.
    while (bytes.at() as u64) + 2 < header {
        let at = bytes.at();
        let label = u16_of(&mut bytes)?;
        let function = functions.get(usize::from(label));
        let mask = bytes.u8("a record")?;
        if mask & THREAD != 0 {
            let _ = bytes.take(2, "a thread")?;
        }
        if mask & CPU != 0 {
            let _ = times(&mut bytes)?;
        }
        let wall = if mask & WALL != 0 { Some(times(&mut bytes)?) } else { None };
        if mask & COUNTERS != 0 {
            let count = bytes.u8("counters")?;
            let _ = bytes.take(usize::from(count) * 16, "counters")?;
        }
        let Some(function) = function else {
            if MARKS.contains(&label) {
                let _ = bytes.take(8, "a mark")?;
                continue;
            }
            bytes.seek(at as u64, "a record")?;
            return Err(bytes.fail(format!("there is no function of the number {label}")));
        };
        function.name.clone_into(&mut record.name);
        record.times = wall;
        record.place = format!("byte {at}");
        record.arguments.clear();
        arguments(&mut bytes, function, mask, &mut record)?;
        each(&record, &sizes)?;
    }
    Ok(())
}

fn datatypes(mut bytes: Bytes<'_>, at: u64) -> Result<Sizes, ReadError> {
    let mut sizes = Sizes::default();
    if at > 0 {
        bytes.seek(at, "the sizes of datatypes")?;
        let count = length(&mut bytes, 4)?;
        for datatype in (0..).take(count) {
            sizes.set(datatype, i64::from(i32_of(&mut bytes)?));
        }
    }
    Ok(sizes)
}

fn arguments(
    bytes: &mut Bytes<'_>,
    function: &layout::Function,
    mask: u8,
    record: &mut Record,
) -> Result<(), ReadError> {
    let mut names = function.arguments.split(' ');
    let mut skipping = false;
    for code in function.layout.chars() {
        match code {
            '(' => skipping = record.number("commrank") != record.number("root"),
            ')' => skipping = false,
            _ if skipping => {}
            _ => {
                let value = argument(bytes, code, mask, function.name)?;
                match names.next() {
                    Some(name) if !name.is_empty() => {
                        record.arguments.push((name.to_owned(), value));
                    }
                    _ => {}
                }
            }
        }
    }
    Ok(())
}

fn argument(bytes: &mut Bytes<'_>, code: char, mask: u8, name: &str) -> Result<Value, ReadError> {
    let list = |bytes: &mut Bytes<'_>| -> Result<Vec<i64>, ReadError> {
        (0..length(bytes, 4)?).map(|_| i32_of(bytes).map(i64::from)).collect()
    };
    let text = |bytes: &mut Bytes<'_>| -> Result<(), ReadError> {
        let len = length(bytes, 1)?;
        bytes.take(len, "text").map(|_| ())
    };
    let nothing = Value::List(Vec::new());
    Ok(match code {
        'i' => Value::Number(i64::from(i32_of(bytes)?)),
        'h' => Value::Number(i64::from(bytes.array("a record").map(i16::from_be_bytes)?)),
        'b' => Value::Number(i64::from(bytes.u8("a record")?)),
        'l' => Value::Number(bytes.array("a record").map(i64::from_be_bytes)?),
        'A' => Value::List(list(bytes)?),
        'H' => {
            let len = length(bytes, 2)?;
            let half = |bytes: &mut Bytes<'_>| bytes.array("a record").map(i16::from_be_bytes);
            Value::List((0..len).map(|_| half(bytes).map(i64::from)).collect::<Result<_, _>>()?)
        }
        'B' => {
            let len = length(bytes, 1)?;
            let _ = bytes.take(len, "a list")?;
            nothing
        }
        'M' => {
            for _ in 0..length(bytes, 4)? {
                let _ = list(bytes)?;
            }
            nothing
        }
        'C' => {
            text(bytes)?;
            nothing
        }
        'D' => {
            for _ in 0..length(bytes, 4)? {
                text(bytes)?;
            }
            nothing
        }
        'S' if mask & STATUSES == 0 => Value::Statuses(Vec::new()),
        'S' => {
            let mut all = Vec::new();
            for _ in 0..length(bytes, 14)? {
                let _ = i32_of(bytes)?;
                let source = i64::from(i32_of(bytes)?);
                let _ = bytes.take(2, "a status")?;
                all.push(Status { source, tag: i64::from(i32_of(bytes)?) });
            }
            Value::Statuses(all)
        }
        _ => return Err(bytes.fail(format!("records of MPI_{name} cannot be read"))),
    })
}

//! Lists of the files of a run: a name in each line, relative to the folder of the list, or to the working directory where it is not there.

use std::path::{Path, PathBuf};

use super::run::{File, ReadBy, ScheduleFormat};
use darkfiber_formats::{ReadError, input};

/// The entry of this format.
pub const FORMAT: ScheduleFormat = ScheduleFormat {
    name: "list",
    what: "a list of files",
    is_such: |h| is_list(&h.lines),
    read: ReadBy::Elsewhere(beside),
};

fn names(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|l| !l.is_empty())
}

fn is_list(text: &str) -> bool {
    let name = |l: &str| {
        !l.contains(char::is_whitespace)
            && l.contains('.')
            && l.contains(|c: char| c.is_ascii_digit())
    };
    names(text).next().is_some() && names(text).all(name)
}

#[expect(clippy::unnecessary_wraps, reason = "the form of all of them")]
fn beside(file: &File) -> Result<Vec<PathBuf>, ReadError> {
    let folder = file.path.parent().unwrap_or(Path::new(""));
    let place = |name: &str| {
        let beside = folder.join(name);
        // As SimGrid looks for them.
        let elsewhere = PathBuf::from(name);
        if !beside.exists() && elsewhere.exists() { elsewhere } else { beside }
    };
    Ok(names(&input::text(&file.bytes)).map(place).collect())
}

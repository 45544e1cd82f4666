//! Configuration files of CODES: parameters of a network, not the network.

use crate::format::{Format, Reading};
use crate::known_by::KnownBy;

/// The entry of these files, which hold no fabric.
pub const FORMAT: Format = Format {
    name: "codes.conf",
    what: "parameters of a CODES simulation",
    known_by: &[KnownBy::Line(|l| matches!(l, "LPGROUPS" | "LPGROUPS{" | "LPGROUPS {"))],
    read: Reading::Refused(refuse),
    ..Format::NONE
};

/// The value of a parameter, without quotes.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let rest = line.trim().strip_prefix(key)?.trim_start().strip_prefix('=')?;
        Some(rest.split(';').next()?.trim().trim_matches('"'))
    })
}

/// The kind of parameters, and what to give instead.
fn refuse(text: &str) -> (String, String) {
    slim_fly(text).unwrap_or_else(|| {
        let file = value(text, "inter-group-connections");
        let hint = match file.and_then(|file| file.rsplit('/').next()).filter(|f| !f.is_empty()) {
            Some(file) => {
                format!("its links are in the file {file} and the one beside it: give that")
            }
            None => "give a generator spec (darkfiber list families)".to_owned(),
        };
        ("CODES parameters of a simulation, without links".to_owned(), hint)
    })
}

/// A Slim Fly: `q` routers in each of `2 q` groups.
fn slim_fly(text: &str) -> Option<(String, String)> {
    value(text, "generator_set_X")?;
    let number = |key| value(text, key)?.parse::<u64>().ok();
    let q = number("num_routers").filter(|&q| (2..1 << 20).contains(&q))?;
    let routers = 2 * q * q;
    let mut what = format!("CODES parameters of a Slim Fly of {routers} routers, without links");
    if let Some(stated) = number("repetitions").filter(|&n| n != routers) {
        what = format!("{what} (though `repetitions` is {stated})");
    }
    let hosts = number("num_terminals")
        .map_or(String::new(), |p| format!(", with {p} hosts on every switch"));
    Some((what, format!("give the generator spec slimfly:q={q}{hosts}")))
}

//! Cables that fail, and cables that are full.

use darkfiber_fabric::{ChannelId, Fabric, Faults, TerminalId};

use super::exam::{Area, Exam, Verdict};
use crate::{Names, group};

/// The hottest channel carrying this many times the mean of all that carried anything is worth a look.
const HOT: f64 = 3.0;

/// Judges the cables with too many symbol errors. `crossing` says which jobs have routes over a channel, `on` which
/// have a terminal; both by name, empty without jobs.
pub fn bad_cables(
    fabric: &Fabric,
    bad: &Faults,
    crossing: impl Fn(ChannelId) -> Vec<String>,
    on: impl Fn(TerminalId) -> Vec<String>,
) -> Exam {
    let names = Names::new(fabric);
    let mut places = Vec::new();
    let mut jobs: Vec<String> = Vec::new();
    let mut add = |cable: String, mut crossed: Vec<String>| {
        crossed.sort_unstable();
        crossed.dedup();
        let by = if crossed.is_empty() {
            String::new()
        } else {
            format!(" (jobs {})", crossed.join(", "))
        };
        jobs.extend(crossed);
        places.push(format!("{cable}{by}"));
    };
    for &c in &bad.links {
        let channel = names.channel(c);
        let cable = format!(
            "{} port {} to {} port {}",
            channel.from, channel.from_port, channel.to, channel.to_port
        );
        let both = [c, fabric.reverse(c)].into_iter().flat_map(&crossing).collect();
        add(cable, both);
    }
    for &t in &bad.terminals {
        let terminal = fabric.terminal(t);
        let switch = names.switch(terminal.switch);
        let cable = format!("{switch} port {} to {}", terminal.switch_port, names.terminal(t));
        add(cable, on(t));
    }
    if places.is_empty() {
        return Exam::good(Area::BadCables, "no cable with too many symbol errors");
    }
    jobs.sort_unstable();
    jobs.dedup();
    let (noun, verb) = if places.len() == 1 { ("cable", "has") } else { ("cables", "have") };
    let crossed = match jobs.len() {
        0 => String::new(),
        1 => ", crossed by 1 job".to_owned(),
        n => format!(", crossed by {n} jobs"),
    };
    Exam {
        area: Area::BadCables,
        verdict: Verdict::Error,
        message: format!(
            "{} {noun} {verb} too many symbol errors{crossed}: {}{}",
            places.len(),
            places[0],
            if places.len() > 1 { ", ..." } else { "" }
        ),
        action: match (bad.links.is_empty(), bad.terminals.is_empty()) {
            (false, true) => {
                "replace them; until then `darkfiber reroute --fail FILE` leads routes around them"
            }
            (false, false) => {
                "replace them; until then `darkfiber reroute --fail FILE` leads routes around those between switches; leave those of \
                 hosts out of FILE: routes are not led around them, and what has no other port would be cut off"
            }
            (true, _) => {
                "replace them: routes cannot be led around the cable of a host's port"
            }
        }
        .to_owned(),
        places,
    }
}

/// Judges the bytes that channels carried; channels without counters are `None`.
pub fn hot_cables(fabric: &Fabric, carried: &[Option<u64>]) -> Exam {
    let between = &carried[..carried.len().min(fabric.channel_count())];
    if between.iter().all(Option::is_none) {
        let ask =
            "no file of --counters says what channels between switches carried (perfquery -x)";
        return Exam::not_asked(Area::HotCables, ask);
    }
    let used: Vec<u64> = between.iter().flatten().copied().filter(|&bytes| bytes > 0).collect();
    let hottest = between
        .iter()
        .enumerate()
        .filter_map(|(c, bytes)| Some(((*bytes)?, std::cmp::Reverse(c))))
        .max();
    let Some((bytes, std::cmp::Reverse(c))) = hottest.filter(|(bytes, _)| *bytes > 0) else {
        return Exam::good(Area::HotCables, "no channel between switches carried anything");
    };
    let mean = used.iter().map(|&b| b as f64).sum::<f64>() / used.len() as f64;
    let times = bytes as f64 / mean;
    let channel = Names::new(fabric).channel(ChannelId::new(c)).to_string();
    let is_hot = times > HOT;
    Exam {
        area: Area::HotCables,
        verdict: if is_hot { Verdict::Warning } else { Verdict::Good },
        message: format!(
            "the hottest channel carried {} bytes, {times:.1} times the mean of the {} that carried any: {channel}",
            group(bytes),
            group(used.len() as u64)
        ),
        action: if is_hot {
            "`darkfiber hot` says whose traffic it is, and which few table entries to change"
                .to_owned()
        } else {
            String::new()
        },
        places: vec![channel],
    }
}

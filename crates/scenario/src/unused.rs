//! Keys of a scenario that its depth, or its way of updating tables, does not use.

use toml::{Table, Value};

use crate::update_part::{HowPart, UpdatePart};
use crate::{Depth, JobPart, LidsPart, Scenario};

/// Keys of `[cost]` that are used from depth `loggp` on alone.
const OF_TIMES: &[&str] = &[
    "send",
    "receive",
    "gap",
    "rendezvous",
    "adapters",
    "switch",
    "cable",
    "host-cable",
    "memory-latency",
    "memory-rate",
    "noise",
    "small",
    "precision",
    "run-repeats",
];

/// Keys that a note names; more are counted.
const MOST: usize = 8;

impl Scenario {
    /// What to say of keys that are set, though nothing at its depth looks at them, or nothing where packets go or tables are updated as
    /// they are.
    pub fn unused_keys(&self) -> Vec<String> {
        let update = self.update.as_ref();
        let of_update = update.and_then(|part| {
            let keys: Vec<String> =
                unused_in(part).into_iter().map(|key| format!("update.{key}")).collect();
            listed(&format!("with how = \"{}\"", part.how), &keys)
        });
        let routing = self.packets.routing().name;
        let chooses = self.depth == Depth::Packet && routing != "tables";
        let of_routing = chooses.then(|| {
            let keys =
                [("lmc", self.routes.lmc.0 > 0), ("lids", self.routes.lids != LidsPart::Engine)];
            let set = keys.into_iter().filter(|(_, is_set)| *is_set);
            let set: Vec<String> = set.map(|(key, _)| format!("routes.{key}")).collect();
            listed(&format!("with routing = \"{routing}\""), &set)
        });
        let of_depth = listed(&format!("at depth `{}`", self.depth), &unused(self));
        of_depth.into_iter().chain(of_routing.flatten()).chain(of_update).collect()
    }
}

/// What to say of keys that are not used there; nothing of none.
fn listed(place: &str, unused: &[String]) -> Option<String> {
    let (shown, more) = unused.split_at(unused.len().min(MOST));
    let keys: Vec<String> = shown.iter().map(|key| format!("`{key}`")).collect();
    let more = match more.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!unused.is_empty()).then(|| format!("not used {place}: {}{more}", keys.join(", ")))
}

/// The keys of an update that are there, though its way of writing tables does not look at them.
fn unused_in(part: &UpdatePart) -> Vec<&'static str> {
    let moves = matches!(part.how, HowPart::Flip | HowPart::FivePhase);
    let waits = part.how == HowPart::FivePhase && part.datagrams.is_some()
        || part.how == HowPart::DropDrain
        || part.fault.as_ref().is_some_and(|fault| fault.repair == Some(true));
    let sends = part.datagrams.is_some();
    let keys = [
        ("high", part.high.is_some(), part.how == HowPart::FivePhase),
        ("pause", part.pause.is_some(), part.how == HowPart::FivePhase),
        ("notice", part.notice.is_some(), moves),
        ("migrate", part.migrate.is_some(), moves),
        ("stragglers", part.stragglers > 0, moves),
        ("straggle", part.straggle.is_some(), moves && part.stragglers > 0),
        ("silent", part.silent > 0, moves),
        ("patience", part.patience.is_some(), moves),
        ("lifetime", part.lifetime.is_some(), waits),
        ("datagram-bytes", part.datagram_bytes.is_some(), sends),
        ("datagrams-until", part.datagrams_until.is_some(), sends),
        ("datagrams-migrate", part.datagrams_migrate.is_some(), sends && moves),
    ];
    keys.into_iter()
        .filter(|(_, is_set, is_used)| *is_set && !is_used)
        .map(|(key, ..)| key)
        .collect()
}

/// The keys that are there and are other than without them, though nothing at its depth looks at them, in the order of the file.
fn unused(scenario: &Scenario) -> Vec<String> {
    let depth = scenario.depth;
    let of_cost: &[&str] = match depth {
        Depth::Count => OF_TIMES,
        Depth::LogGp => &["small", "precision"],
        Depth::Flow => &[],
        Depth::Packet => &["switch", "small", "run-repeats"],
    };
    let of_jobs: &[&str] = match depth {
        Depth::Count => &["start", "repeat-until", "weight", "limit"],
        Depth::LogGp | Depth::Packet => &["weight", "limit"],
        Depth::Flow => &[],
    };
    let is_of_packets = |key: &str| depth != Depth::Packet && matches!(key, "packets" | "class");
    // What a file says that was filled in before is nothing that was asked for.
    let mut plain = Scenario {
        hosts: scenario.hosts,
        jobs: scenario.jobs.iter().map(|_| JobPart::default()).collect(),
        ..Scenario::default()
    };
    plain.fill();
    let (Ok(written), Ok(plain)) = (Table::try_from(scenario), Table::try_from(&plain)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut add = |part: &str, key: &str| {
        let key = if part.is_empty() { key.to_owned() } else { format!("{part}.{key}") };
        if !found.contains(&key) {
            found.push(key);
        }
    };
    for (part, value) in &written {
        let other = plain.get(part);
        match value {
            Value::Table(keys) => {
                let is_unused = |key: &str| {
                    is_of_packets(part)
                        || part == "cost" && of_cost.contains(&key)
                        || part == "keep" && depth == Depth::Count
                };
                let other = other.and_then(Value::as_table);
                let is_other = |key: &str, value| other.and_then(|o| o.get(key)) != Some(value);
                for (key, value) in keys {
                    if is_unused(key) && is_other(key, value) {
                        add(part, key);
                    }
                }
            }
            Value::Array(all) if is_of_packets(part) && !all.is_empty() => add("", part),
            Value::Array(jobs) if part == "job" => {
                let others = other.and_then(Value::as_array);
                for (i, job) in jobs.iter().enumerate() {
                    let other = others.and_then(|o| o.get(i)).and_then(Value::as_table);
                    for (key, value) in job.as_table().into_iter().flatten() {
                        let is_other = other.and_then(|o| o.get(key)) != Some(value);
                        if of_jobs.contains(&key.as_str()) && is_other {
                            add(part, key);
                        }
                    }
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScenarioFile;

    fn of(depth: &str, more: &str) -> Vec<String> {
        let text = format!(
            "fabric = \"kary:k=2,n=2\"\ndepth = \"{depth}\"\nhosts = \"slingshot\"\n[routes]\nengine = \"minhop\"\n{more}\n[[job]]\n\
             traffic = \"ring\"\nstart = \"1ms\"\nweight = 2.0\n"
        );
        unused(&ScenarioFile::parse(&text, "f").expect("a scenario").scenario)
    }

    #[test]
    fn each_depth_has_its_keys() {
        let cost = "[cost]\nnoise = 0.1\nsmall = \"1KiB\"\nswitch = \"1us\"\nlink-rate = \"1GB/s\"";
        assert_eq!(
            of("count", cost),
            ["cost.noise", "cost.small", "cost.switch", "job.start", "job.weight"]
        );
        assert_eq!(of("loggp", cost), ["cost.small", "job.weight"]);
        assert!(of("flow", cost).is_empty());
        assert_eq!(of("packet", cost), ["cost.small", "cost.switch", "job.weight"]);
        let packets = "[packets]\nrouting = \"ugal\"\n[[class]]\nname = \"x\"";
        assert_eq!(of("flow", packets), ["class", "packets.routing"]);
        assert_eq!(of("packet", packets), ["job.weight"]);
    }

    #[test]
    fn routings_without_tables_take_no_lids() {
        let of = |routing: &str| {
            let text = format!(
                "fabric = \"dragonfly:p=1,a=2,h=1\"\ndepth = \"packet\"\n[routes]\nengine = \"sssp\"\nlmc = 1\nlids = \"turns\"\n\
                 [packets]\nrouting = \"{routing}\"\n[[job]]\ntraffic = \"ring\"\n"
            );
            ScenarioFile::parse(&text, "f").expect("a scenario").scenario.unused_keys()
        };
        assert_eq!(of("ugal"), ["not used with routing = \"ugal\": `routes.lmc`, `routes.lids`"]);
        assert!(of("tables").is_empty());
    }

    #[test]
    fn each_way_of_updating_has_its_keys() {
        let of = |how: &str, more: &str| {
            let text = format!(
                "fabric = \"kary:k=2,n=2\"\ndepth = \"packet\"\n[routes]\nengine = \"minhop\"\n[[job]]\ntraffic = \"ring\"\n\
                 [update]\nto = \"updn\"\nat = \"1us\"\nhow = \"{how}\"\n{more}"
            );
            ScenarioFile::parse(&text, "f").expect("a scenario").scenario.unused_keys()
        };
        let all = "high = \"dfsssp\"\npause = \"1us\"\nsilent = 1\nlifetime = \"1ms\"\n";
        assert_eq!(
            of("stages", all),
            [
                "not used with how = \"stages\": `update.high`, `update.pause`, `update.silent`, `update.lifetime`"
            ]
        );
        assert_eq!(
            of("five-phase", all),
            ["not used with how = \"five-phase\": `update.lifetime`"],
            "nothing waits for datagrams that are not sent"
        );
        assert!(of("five-phase", &format!("{all}datagrams = \"1ms\"")).is_empty());
        assert!(of("drop-drain", "lifetime = \"1ms\"").is_empty());
    }

    /// A scenario that was written with everything that its results depend on says nothing of what nobody asked for.
    #[test]
    fn what_was_filled_in_is_not_asked_for() {
        for depth in ["count", "loggp", "flow", "packet"] {
            let text = format!(
                "fabric = \"kary:k=2,n=2\"\ndepth = \"{depth}\"\n[routes]\nengine = \"minhop\"\n[[job]]\ntraffic = \"ring\"\n"
            );
            let mut scenario = ScenarioFile::parse(&text, "f").expect("a scenario").scenario;
            scenario.fill();
            assert!(unused(&scenario).is_empty(), "{depth}: {:?}", unused(&scenario));
        }
    }
}

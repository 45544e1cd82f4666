//! Keys of a scenario that its depth does not use.

use toml::{Table, Value};

use crate::{Depth, JobPart, Scenario};

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
    /// What to say of keys that are set, though nothing at its depth looks at them.
    pub fn unused_keys(&self) -> Option<String> {
        let unused = unused(self);
        let (shown, more) = unused.split_at(unused.len().min(MOST));
        let keys: Vec<String> = shown.iter().map(|key| format!("`{key}`")).collect();
        let more = match more.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let depth = self.depth;
        (!unused.is_empty())
            .then(|| format!("not used at depth `{depth}`: {}{more}", keys.join(", ")))
    }
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
                let is_unused =
                    |key: &str| is_of_packets(part) || (part == "cost" && of_cost.contains(&key));
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

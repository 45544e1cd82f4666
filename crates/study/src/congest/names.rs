//! Victims and aggressors as papers and users name them.

use darkfiber_workload::collective::Collective;
use darkfiber_workload::play::Host;
use darkfiber_workload::traffic::{TRAFFICS, Timed, TrafficError};

use super::Contender;

/// What of an application is smaller than its published input, which is too much for a simulation of packets.
const SMALLER: &[(&str, &str, &str)] =
    &[("hpcg", "side", "32"), ("milc", "side", "12"), ("resnet", "part", "1MB")];

impl Contender {
    /// Who is timed: a collective with its size, or any traffic; sizes may stand without their key. Applications compute
    /// for a share of the time that goes by the host's adapter.
    ///
    /// # Errors
    /// If there is no such traffic.
    pub fn victim(text: &str, host: &Host) -> Result<Self, TrafficError> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let name = name.trim();
        let given = sized(name, rest);
        if let Some(collective) = Collective::named(name) {
            let keys = [("op", collective.name().to_owned()), ("root", "0".to_owned())];
            return Self::new(text, &with("imb", &keys, &given));
        }
        let timed = TRAFFICS.iter().find(|t| t.name() == name).map(|t| t.timed());
        let mut keys = Vec::new();
        let has = |key: &str| {
            TRAFFICS.iter().any(|t| t.name() == name && t.keys().iter().any(|k| k.name == key))
        };
        if timed != Some(Timed::Requests) && has("iterations") {
            keys.push(("iterations", "1".to_owned()));
        }
        if timed == Some(Timed::Runs) {
            let rate = host.adapter_bytes_per_second * host.efficiency;
            if rate.is_finite() {
                keys.push(("nominal", format!("{rate:.0}")));
            }
            let smaller = SMALLER.iter().filter(|s| s.0 == name);
            keys.extend(smaller.map(|&(_, key, value)| (key, value.to_owned())));
        }
        Self::new(text, &with(name, &keys, &given))
    }

    /// Who disturbs: `incast`, `alltoall`, or any traffic.
    ///
    /// # Errors
    /// If there is no such traffic.
    pub fn aggressor(text: &str) -> Result<Self, TrafficError> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let name = match name.trim() {
            "incast" => "bursts",
            "alltoall" => "gpcnet-alltoall",
            other => other,
        };
        Self::new(text, &with(name, &[], &sized(name, rest)))
    }
}

/// A spec whose keys are these where the user does not say, and what the user says.
fn with(kind: &str, keys: &[(&str, String)], given: &str) -> String {
    let has = |key: &str| {
        given.split(',').any(|pair| pair.split_once('=').is_some_and(|(k, _)| k.trim() == key))
    };
    let mut pairs: Vec<String> =
        keys.iter().filter(|(key, _)| !has(key)).map(|(key, v)| format!("{key}={v}")).collect();
    pairs.extend((!given.is_empty()).then(|| given.to_owned()));
    if pairs.is_empty() { kind.to_owned() } else { format!("{kind}:{}", pairs.join(",")) }
}

/// Keys of a spec; a size without a key is what the kind calls bytes.
fn sized(kind: &str, rest: &str) -> String {
    let rest = rest.trim();
    let has_bytes = Collective::named(kind).is_some()
        || TRAFFICS.iter().any(|t| t.name() == kind && t.keys().iter().any(|k| k.name == "bytes"));
    let (first, more) = rest.split_once(',').unwrap_or((rest, ""));
    if !has_bytes || first.is_empty() || first.contains('=') {
        return rest.to_owned();
    }
    let more = if more.is_empty() { String::new() } else { format!(",{more}") };
    format!("bytes={first}{more}")
}

//! Victims and aggressors as papers and users name them.

use darkfiber_scenario::Error;
use darkfiber_workload::collective::{COLLECTIVES, Collective};
use darkfiber_workload::play::Host;
use darkfiber_workload::traffic::{TRAFFICS, Timed, TrafficError};

use super::{Contender, Split};

/// Parameters that are smaller than an application's published input, which is too large for a simulation of packets.
const SMALLER: &[(&str, &str, &str)] =
    &[("hpcg", "side", "32"), ("milc", "side", "12"), ("resnet", "part", "1MB")];

impl Contender {
    /// Parses a victim: a collective with its size, or any traffic; sizes may be written without their key. Applications
    /// compute for a share of the time, by the host's adapter.
    ///
    /// # Errors
    /// If there is no such traffic.
    pub fn victim(text: &str, host: &Host) -> Result<Self, Error> {
        Self::timed(text, host).map_err(|e| unknown("victim", text, e))
    }

    fn timed(text: &str, host: &Host) -> Result<Self, TrafficError> {
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

    /// The aggressor: `incast`, `alltoall`, or any traffic.
    ///
    /// # Errors
    /// If there is no such traffic.
    pub fn aggressor(text: &str) -> Result<Self, Error> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let name = match name.trim() {
            "incast" => "bursts",
            "alltoall" => "gpcnet-alltoall",
            other => other,
        };
        Self::new(text, &with(name, &[], &sized(name, rest)))
            .map_err(|e| unknown("aggressor", text, e))
    }
}

fn unknown(what: &str, text: &str, e: TrafficError) -> Error {
    match e {
        TrafficError::Unknown { .. } => {
            let mut known: Vec<&str> = TRAFFICS.iter().map(|t| t.name()).collect();
            known.extend(COLLECTIVES.iter().map(|c| c.name()).filter(|_| what == "victim"));
            let name = text.split(':').next().unwrap_or_default().trim();
            Error::unknown(what, name, &known)
        }
        e => Error::usage(format!("{what} {text}: {e}")),
    }
}

impl Split {
    /// Split of the hosts: `90`, `90%` or `460/52`.
    ///
    /// # Errors
    /// If it is neither, or there are too few hosts.
    pub fn parse(text: &str, hosts: u32) -> Result<Self, Error> {
        let wrong = || {
            Error::usage(format!("split: {text} is neither a share nor VICTIM/AGGRESSOR")).hint(
                "90 gives the victim 90 % of the hosts; 460/52 gives it 460, the aggressor 52",
            )
        };
        if let Some((victim, aggressor)) = text.split_once('/') {
            let number = |t: &str| t.trim().parse::<u32>().map_err(|_| wrong());
            return Ok(Self { victim: number(victim)?, aggressor: number(aggressor)? });
        }
        let share: f64 = text.trim().trim_end_matches('%').trim().parse().map_err(|_| wrong())?;
        if !(share > 0.0 && share < 100.0) {
            return Err(Error::usage(format!(
                "split: {text} must be above 0 and below 100 percent, so that both have hosts"
            )));
        }
        if hosts < 4 {
            return Err(Error::infeasible(format!(
                "{hosts} hosts are too few: a victim and an aggressor need two each"
            )));
        }
        Ok(Self::percent(share, hosts))
    }
}

/// A spec with these default keys and the keys that the user gives.
fn with(kind: &str, keys: &[(&str, String)], given: &str) -> String {
    let has = |key: &str| {
        given.split(',').any(|pair| pair.split_once('=').is_some_and(|(k, _)| k.trim() == key))
    };
    let mut pairs: Vec<String> =
        keys.iter().filter(|(key, _)| !has(key)).map(|(key, v)| format!("{key}={v}")).collect();
    pairs.extend((!given.is_empty()).then(|| given.to_owned()));
    if pairs.is_empty() { kind.to_owned() } else { format!("{kind}:{}", pairs.join(",")) }
}

/// Keys of a spec; a size without a key gets the name that the kind uses for bytes.
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

#[cfg(test)]
mod tests {
    use darkfiber_workload::play::host;

    use super::*;

    #[test]
    fn short_names_are_specs() {
        let slingshot = host("slingshot").expect("known");
        let spec =
            |text: &str| Contender::victim(text, slingshot).map(|p| p.spec).map_err(|f| f.message);
        assert_eq!(spec("allreduce:8B"), Ok("imb:op=allreduce,root=0,bytes=8B".to_owned()));
        assert_eq!(
            spec("bcast:64KiB,algorithm=chain"),
            Ok("imb:op=bcast,root=0,bytes=64KiB,algorithm=chain".to_owned())
        );
        assert_eq!(spec("barrier"), Ok("imb:op=barrier,root=0".to_owned()));
        assert_eq!(spec("halo3d"), Ok("halo3d:iterations=1".to_owned()));
        assert_eq!(spec("halo3d:iterations=3"), Ok("halo3d:iterations=3".to_owned()));
        assert_eq!(spec("milc"), Ok("milc:iterations=1,nominal=12125000000,side=12".to_owned()));
        assert_eq!(spec("silo:sigma=0"), Ok("silo:sigma=0".to_owned()));
        assert_eq!(spec("allreduse"), Err("no victim is called 'allreduse'".to_owned()));
        let spec = |text: &str| Contender::aggressor(text).map(|p| p.spec).map_err(|f| f.hint);
        assert_eq!(spec("incast"), Ok("bursts".to_owned()));
        assert_eq!(spec("incast:4KiB"), Ok("bursts:bytes=4KiB".to_owned()));
        assert_eq!(spec("alltoall:256KiB"), Ok("gpcnet-alltoall:bytes=256KiB".to_owned()));
        assert_eq!(spec("burst:gap=1us"), Err("did you mean bursts?".to_owned()));
    }

    #[test]
    fn splits() {
        assert_eq!(Split::parse("460/52", 512), Ok(Split { victim: 460, aggressor: 52 }));
        assert_eq!(Split::parse("50 %", 512), Ok(Split { victim: 256, aggressor: 256 }));
        for wrong in ["0", "100", "half", "1/2/3", "-5", "nan"] {
            assert!(Split::parse(wrong, 512).is_err(), "{wrong}");
        }
    }
}

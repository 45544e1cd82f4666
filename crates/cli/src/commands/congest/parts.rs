//! Victims and aggressors as users name them.

use darkfiber_study::congest::{Contender, Split};
use darkfiber_workload::collective::COLLECTIVES;
use darkfiber_workload::play::Host;
use darkfiber_workload::traffic::{TRAFFICS, TrafficError};

use crate::failure::Failure;

/// Who is timed.
pub(super) fn victim(text: &str, host: &Host) -> Result<Contender, Failure> {
    Contender::victim(text, host).map_err(|e| unknown("victim", text, e))
}

/// Who disturbs.
pub(super) fn aggressor(text: &str) -> Result<Contender, Failure> {
    Contender::aggressor(text).map_err(|e| unknown("aggressor", text, e))
}

fn unknown(what: &str, text: &str, e: TrafficError) -> Failure {
    match e {
        TrafficError::Unknown { .. } => {
            let mut known: Vec<&str> = TRAFFICS.iter().map(|t| t.name()).collect();
            known.extend(COLLECTIVES.iter().map(|c| c.name()).filter(|_| what == "victim"));
            let name = text.split(':').next().unwrap_or_default().trim();
            Failure::unknown(what, name, &known)
        }
        e => Failure::usage(format!("{what} {text}: {e}")),
    }
}

/// How hosts are shared out: `90`, `90%` or `460/52`.
pub(super) fn split(text: &str, hosts: u32) -> Result<Split, Failure> {
    let wrong = || {
        Failure::usage(format!("--split: {text} is neither a share nor VICTIM/AGGRESSOR"))
            .hint("90 gives the victim 90 % of the hosts; 460/52 gives it 460, the aggressor 52")
    };
    if let Some((victim, aggressor)) = text.split_once('/') {
        let number = |t: &str| t.trim().parse::<u32>().map_err(|_| wrong());
        return Ok(Split { victim: number(victim)?, aggressor: number(aggressor)? });
    }
    let share: f64 = text.trim().trim_end_matches('%').trim().parse().map_err(|_| wrong())?;
    if !(share > 0.0 && share < 100.0) {
        return Err(Failure::usage(format!(
            "--split: {text} must be above 0 and below 100 percent, so that both have hosts"
        )));
    }
    if hosts < 4 {
        return Err(Failure::infeasible(format!(
            "{hosts} hosts are too few: a victim and an aggressor need two each"
        )));
    }
    Ok(Split::percent(share, hosts))
}

#[cfg(test)]
mod tests {
    use darkfiber_workload::play::host;

    use super::*;

    #[test]
    fn short_names_are_specs() {
        let slingshot = host("slingshot").expect("known");
        let spec = |text: &str| victim(text, slingshot).map(|p| p.spec).map_err(|f| f.message);
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
        let spec = |text: &str| aggressor(text).map(|p| p.spec).map_err(|f| f.hint);
        assert_eq!(spec("incast"), Ok("bursts".to_owned()));
        assert_eq!(spec("incast:4KiB"), Ok("bursts:bytes=4KiB".to_owned()));
        assert_eq!(spec("alltoall:256KiB"), Ok("gpcnet-alltoall:bytes=256KiB".to_owned()));
        assert_eq!(spec("burst:gap=1us"), Err("did you mean bursts?".to_owned()));
    }

    #[test]
    fn splits() {
        assert_eq!(split("460/52", 512), Ok(Split { victim: 460, aggressor: 52 }));
        assert_eq!(split("50 %", 512), Ok(Split { victim: 256, aggressor: 256 }));
        for wrong in ["0", "100", "half", "1/2/3", "-5", "nan"] {
            assert!(split(wrong, 512).is_err(), "{wrong}");
        }
    }
}

//! A month of a machine that never was, for those who have no log.

use crate::{JobRequest, Stream};

/// Jobs of whole hosts on 1,024 hosts of RICC (RIKEN, May to September 2010): hosts, jobs of 90,797, mean run time in
/// seconds. Counted from the log RICC-2010-2 of the Parallel Workloads Archive, jobs of at least 8 processors, sizes
/// drawn together.
const SIZES: &[(u32, u32, u32)] = &[
    (1, 23_921, 9_963),
    (2, 13_081, 7_920),
    (4, 30_675, 7_019),
    (8, 4_050, 14_213),
    (10, 3_317, 6_290),
    (16, 6_319, 33_201),
    (22, 1_721, 8_510),
    (32, 5_195, 18_719),
    (40, 199, 10_990),
    (64, 1_239, 20_418),
    (128, 545, 1_804),
    (256, 460, 2_112),
    (1000, 75, 8_233),
];

/// Hosts of the machine that the jobs of [`month`] are like those of.
pub const MONTH_HOSTS: u32 = 1024;

/// Jobs of this many days on a machine of [`MONTH_HOSTS`] hosts, one processor each, by rising start: sizes as often as
/// on RICC, exponential run times of the same means, starts at random so that `load` of the machine would be busy.
/// Days and nights, users who come again, and jobs of several parts are not in it.
pub fn month(days: u32, load: f64, seed: u64) -> Vec<JobRequest> {
    let mut stream = Stream::new(seed, 0);
    let all: u32 = SIZES.iter().map(|s| s.1).sum();
    let work: f64 = SIZES.iter().map(|&(h, n, s)| f64::from(h) * f64::from(n) * f64::from(s)).sum();
    let gap = work / f64::from(all) / (f64::from(MONTH_HOSTS) * load);
    let end = f64::from(days) * 86_400.0;
    let mut now = 0.0;
    let mut requests = Vec::new();
    loop {
        now += exponential(&mut stream) * gap;
        if now >= end {
            return requests;
        }
        let (processors, _, mean) = size(stream.below(all));
        let seconds = (exponential(&mut stream) * f64::from(mean)).ceil() as i64;
        requests.push(JobRequest { start: now as i64, seconds: seconds.max(1), processors });
    }
}

/// The size of job number `draw` of all.
fn size(draw: u32) -> (u32, u32, u32) {
    let mut before = 0;
    let found = SIZES.iter().find(|s| {
        before += s.1;
        draw < before
    });
    found.copied().unwrap_or(SIZES[0])
}

/// A random number of mean 1, nearly exponential: halves by coin, even in between. Sums and products only, so that it
/// is the same on every machine.
fn exponential(stream: &mut Stream) -> f64 {
    let mut halves = 0.0;
    while stream.below(2) == 1 {
        halves += 1.0;
    }
    // The mean of whole halves is 1, that of the rest 1/2.
    (halves + f64::from(stream.below(1 << 20)) / f64::from(1 << 20)) / 1.5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_as_busy_as_asked() {
        let requests = month(300, 0.8, 5);
        assert!(requests.windows(2).all(|w| w[0].start <= w[1].start));
        let work: f64 = requests.iter().map(|w| w.seconds as f64 * f64::from(w.processors)).sum();
        let load = work / (300.0 * 86_400.0 * 1024.0);
        assert!((load - 0.8).abs() < 0.04, "{load}");
        assert_eq!(month(3, 0.8, 5)[..], requests[..month(3, 0.8, 5).len()]);
        assert_ne!(month(3, 0.8, 6), month(3, 0.8, 5));
    }
}

//! Maximum throughput of a dragonfly, by its cables alone.

use darkfiber_fabric::{ChannelId, DragonflyShape, Fabric, TerminalId};
use schemars::JsonSchema;
use serde::Serialize;

/// Bytes a second that a dragonfly carries at most, all directions together, whatever routes packets take.
///
/// D. De Sensi et al., An In-Depth Analysis of the Slingshot Interconnect (SC'20), section II-G. What is printed there as
/// 6.4 and 12.8 Tb/s are terabytes.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Peaks {
    /// What all terminals send.
    pub injection: f64,
    /// What crosses between two halves of the groups: channels of the least such cut, in both directions. None if there are
    /// not as many cables between any two groups, or only one group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bisection: Option<f64>,
    /// What all terminals send in all if each sends as much to every terminal: what channels between groups carry, over the
    /// share of it that leaves its group; and no more than they can send.
    pub all_to_all: f64,
}

/// The peaks of a dragonfly.
pub fn peaks(fabric: &Fabric, shape: &DragonflyShape) -> Peaks {
    let groups = shape.group.iter().max().map_or(0, |&g| g as usize + 1);
    let mut between = vec![0u64; groups * groups];
    for c in (0..fabric.channel_count()).map(ChannelId::new) {
        let group = |s: darkfiber_fabric::SwitchId| shape.group[s.index()] as usize;
        let (a, b) = (group(fabric.tail(c)), group(fabric.head(c)));
        if a != b {
            between[a * groups + b] += fabric.class_of(c).bytes_per_second;
        }
    }
    let mut terminals = vec![0u64; groups];
    let mut injection = 0;
    for t in (0..fabric.terminal_count()).map(TerminalId::new) {
        terminals[shape.group[fabric.terminal(t).switch.index()] as usize] += 1;
        injection += fabric.terminal_class(t).bytes_per_second;
    }
    let pairs =
        || (0..groups).flat_map(|a| (0..groups).filter(move |b| *b != a).map(move |b| (a, b)));
    let one = pairs().map(|(a, b)| between[a * groups + b]).next();
    let even = one.filter(|one| pairs().all(|(a, b)| between[a * groups + b] == *one));
    let cut = (groups / 2 * groups.div_ceil(2)) as f64;
    let all = fabric.terminal_count() as f64;
    // For all-to-all traffic, including to oneself, as the paper counts.
    let inside: f64 = terminals.iter().map(|&n| (n as f64 / all).powi(2)).sum();
    let global = between.iter().sum::<u64>() as f64;
    let injection = injection as f64;
    let leaves = 1.0 - inside;
    Peaks {
        injection,
        bisection: even.map(|one| 2.0 * cut * one as f64),
        all_to_all: if groups > 1 && leaves > 0.0 {
            (global / leaves).min(injection)
        } else {
            injection
        },
    }
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::{Shape, open};

    use super::*;

    fn of(spec: &str) -> Peaks {
        let t = open(spec).expect(spec);
        let Some(Shape::Dragonfly(shape)) = &t.shape else { panic!("{spec}: a dragonfly") };
        peaks(&t.fabric, shape)
    }

    const GBIT: f64 = 1e9 / 8.0;

    #[test]
    fn shandy_is_as_printed() {
        let p = of("@shandy");
        assert_eq!((p.injection, p.bisection), (204_800.0 * GBIT, Some(6.4e12)));
        assert!((p.all_to_all - 12.8e12).abs() < 1.0, "{p:?}");
        // A quarter of the cables, a quarter of both.
        let p = of("@shandy:taper=25");
        assert_eq!(p.bisection, Some(1.6e12));
        assert!((p.all_to_all - 3.2e12).abs() < 1.0, "{p:?}");
    }

    /// Three groups of the four are full: 48 cables of a group carry the traffic of its 128 adapters to others, 96 Gbit/s of
    /// 100.
    #[test]
    fn malbec_carries_what_its_hosts_send() {
        let p = of("@malbec");
        assert_eq!(p.bisection, Some(2.0 * 4.0 * 16.0 * 200.0 * GBIT));
        assert_eq!((p.injection, p.all_to_all), (48_400.0 * GBIT, 48_400.0 * GBIT));
    }

    #[test]
    fn odd_groups_uneven_cables_and_a_single_group() {
        // Two groups and three: six pairs, one cable each.
        let p = of("dragonfly:p=2,a=4,h=1,g=5,gbps=8,host_gbps=1");
        assert_eq!(p.bisection, Some(12e9));
        let torn = open("dragonfly:p=2,a=4,h=1,gbps=8").expect("a spec");
        let faults = darkfiber_fabric::Faults::random_links(&torn.fabric, 16, 1).expect("enough");
        let torn = torn.with_faults(&faults).0;
        let Some(Shape::Dragonfly(shape)) = &torn.shape else { panic!("still a dragonfly") };
        let found = peaks(&torn.fabric, shape);
        assert!(found.bisection.is_none() && found.all_to_all > 0.0, "{found:?}");
        let p = of("dragonfly:p=2,a=4,g=1,per_pair=1,gbps=8");
        assert_eq!((p.bisection, p.all_to_all), (None, 8e9));
    }
}

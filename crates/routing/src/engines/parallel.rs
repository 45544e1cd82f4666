//! Routing of destinations in parallel parts.
//!
//! Balancing goes destination by destination: each looks at the paths of those before it. In a large fabric
//! one destination changes little. There several parts work in parallel: a destination sees at once those
//! that its own part routed before it, and those of the other parts as of the last exchange. The number of
//! parts, and when they exchange, follows from the fabric alone, so the tables are the same for any number
//! of threads.
//!
//! On complete trees several parts are no less even than one if each has whole subtrees: a channel down is
//! used by destinations of one part, and channels up are assigned in turn by each.

use rayon::prelude::*;

use crate::Routes;

/// Destination switches for each part; with less than twice as many there is one part, and every
/// destination sees all before it.
const SWITCHES_A_PART: usize = 256;
/// Maximum number of parts.
const MOST_PARTS: usize = 16;
/// Channels whose loads are added up in one task.
const CHANNELS: usize = 4096;

/// Destination switches that each part takes before parts exchange loads.
pub(super) const SHARE: usize = 8;

/// Number of parts that route the LIDs of `homes` destination switches.
pub(super) fn parts(homes: usize) -> usize {
    let parts = (homes / SWITCHES_A_PART).clamp(1, MOST_PARTS);
    1 << parts.ilog2()
}

/// Adds up the changes of parts since all had the loads `common`, and gives the sums to all.
pub(super) fn add_up<P>(
    common: &mut Vec<u64>,
    parts: &mut [P],
    load: impl Fn(&mut P) -> &mut Vec<u64>,
) {
    let mut loads: Vec<&mut Vec<u64>> = parts.iter_mut().map(load).collect();
    let mut sum = common.clone();
    let chunks = sum.par_chunks_mut(CHANNELS).zip(common.par_chunks(CHANNELS)).enumerate();
    chunks.for_each(|(i, (sum, before))| {
        for load in &loads {
            let now = &load[i * CHANNELS..];
            for ((sum, before), now) in sum.iter_mut().zip(before).zip(now) {
                // Loads fall, too: the difference may wrap around, the sum does not.
                *sum = sum.wrapping_add(now.wrapping_sub(*before));
            }
        }
    });
    loads.par_iter_mut().for_each(|load| load.copy_from_slice(&sum));
    *common = sum;
}

/// Table rows that a part has made and that are not in the tables yet.
#[derive(Clone, Default)]
pub(super) struct Rows {
    numbers: Vec<usize>,
    ports: Vec<u8>,
}

impl Rows {
    /// Starts a row from its current entries in the tables.
    pub(super) fn begin(&mut self, routes: &Routes, row: usize) -> &mut [u8] {
        let made = self.ports.len();
        self.numbers.push(row);
        self.ports.extend_from_slice(routes.ports(row));
        &mut self.ports[made..]
    }

    /// Writes all rows into the tables.
    pub(super) fn hand_in(&mut self, routes: &mut Routes) {
        let switches = self.ports.len().checked_div(self.numbers.len()).unwrap_or(0).max(1);
        for (&row, ports) in self.numbers.iter().zip(self.ports.chunks(switches)) {
            routes.ports_mut(row).copy_from_slice(ports);
        }
        self.numbers.clear();
        self.ports.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_fabrics_have_one_part() {
        let expected =
            [(0, 1), (1, 1), (511, 1), (512, 2), (876, 2), (1024, 4), (2064, 8), (99_999, 16)];
        for (homes, expected) in expected {
            assert_eq!(parts(homes), expected, "{homes} destination switches");
        }
    }

    #[test]
    fn changes_of_all_parts_add_up() {
        let channels = CHANNELS + 3;
        let mut common: Vec<u64> = (0..channels as u64).collect();
        let mut parts = vec![common.clone(); 3];
        parts[0][1] += 5;
        parts[1][1] -= 1;
        parts[1][channels - 1] -= 7;
        parts[2][0] += 2;
        let mut expected = common.clone();
        expected[0] += 2;
        expected[1] += 4;
        expected[channels - 1] -= 7;
        add_up(&mut common, &mut parts, |part| part);
        assert!(common == expected && parts.iter().all(|part| *part == expected));
    }

    #[test]
    fn rows_are_handed_in_once() {
        let fabric = darkfiber_fabric::parse_spec("fattree2:n=2,m=2,r=2").expect("a spec").fabric;
        let mut routes = Routes::empty("", &fabric, 1);
        let mut rows = Rows::default();
        for row in [2, 0] {
            rows.begin(&routes, row).fill(row as u8 + 1);
        }
        assert!(routes.ports(0).iter().all(|&port| port == crate::NO_ROUTE));
        rows.hand_in(&mut routes);
        for row in [2, 0] {
            assert!(routes.ports(row).iter().all(|&port| port == row as u8 + 1));
        }
        routes.ports_mut(0).fill(9);
        rows.hand_in(&mut routes);
        assert!(routes.ports(0).iter().all(|&port| port == 9), "handed in again");
    }
}

//! Max-min fair rates, and when everything has arrived.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::paths::{Channels, with_channels};
use super::{Costs, Paths};

/// The flows of a pattern and their channels: switch-to-switch channels, then the injection channels of all
/// participants, then their ejection channels.
struct Flows {
    /// `crossed[start[i]..start[i + 1]]` are the channels of flow `i`.
    start: Vec<u32>,
    crossed: Vec<u32>,
    capacity: Vec<f64>,
}

impl Flows {
    fn of(paths: &Paths<'_>, costs: Option<&Costs>, pairs: &[[u32; 2]]) -> Self {
        let (m, n) = (paths.channel_count(), paths.who.len());
        let mut flows = Self {
            start: vec![0],
            crossed: Vec::with_capacity(4 * pairs.len()),
            capacity: vec![1.0; m + 2 * n],
        };
        if let Some(costs) = costs {
            let all = costs.channel.iter().chain(&costs.terminal).chain(&costs.terminal);
            flows.capacity.iter_mut().zip(all).for_each(|(capacity, cost)| *capacity = 1.0 / cost);
        }
        for &[s, d] in pairs {
            flows.crossed.extend([m as u32 + s, (m + n) as u32 + d]);
            let (source, dest) = (paths.source_of[s as usize], paths.dest_of[d as usize]);
            with_channels!(paths, channels => channels.each(source, dest, |c| {
                if c != m {
                    flows.crossed.push(c as u32);
                }
            }));
            flows.start.push(flows.crossed.len() as u32);
        }
        flows
    }

    fn len(&self) -> usize {
        self.start.len() - 1
    }

    fn crossed(&self, flow: usize) -> &[u32] {
        &self.crossed[self.start[flow] as usize..self.start[flow + 1] as usize]
    }

    /// Max-min fair rates of the flows that are `active`, 0 for the others: the channel that has least for
    /// each of its flows decides their rate, then the next one (progressive filling).
    fn rates(&self, active: &[bool]) -> Vec<f64> {
        let mut rates = vec![0.0; self.len()];
        let mut left = self.capacity.clone();
        let mut users: Vec<Vec<u32>> = vec![Vec::new(); left.len()];
        for flow in (0..self.len()).filter(|&f| active[f]) {
            self.crossed(flow).iter().for_each(|&c| users[c as usize].push(flow as u32));
        }
        let mut waiting: Vec<u32> = users.iter().map(|u| u.len() as u32).collect();
        let mut settled = vec![false; self.len()];
        // Shares only grow, so that an old one is a bound of the new one. Positive floats sort as their bits.
        let mut heap: BinaryHeap<Reverse<(u64, u32)>> = (0..left.len())
            .filter(|&c| waiting[c] > 0)
            .map(|c| Reverse(((left[c] / f64::from(waiting[c])).to_bits(), c as u32)))
            .collect();
        while let Some(Reverse((bits, c))) = heap.pop() {
            let channel = c as usize;
            if waiting[channel] == 0 {
                continue;
            }
            let share = left[channel].max(0.0) / f64::from(waiting[channel]);
            if share.to_bits() > bits {
                heap.push(Reverse((share.to_bits(), c)));
                continue;
            }
            for &flow in &users[channel] {
                let flow = flow as usize;
                if !std::mem::replace(&mut settled[flow], true) {
                    rates[flow] = share;
                    for &c in self.crossed(flow) {
                        left[c as usize] -= share;
                        waiting[c as usize] -= 1;
                    }
                }
            }
        }
        rates
    }
}

/// The max-min fair rate of every pair, where the fastest participant's link has rate 1: no pair can get more
/// without another that has as little or less getting less.
pub fn fair_rates(paths: &Paths<'_>, costs: Option<&Costs>, pairs: &[[u32; 2]]) -> Vec<f64> {
    let flows = Flows::of(paths, costs, pairs);
    flows.rates(&vec![true; flows.len()])
}

/// Time until every pair has sent the bytes that a link carries in a unit of time, all starting together at max-min
/// fair rates, which are recomputed after every end.
pub fn finish_time(paths: &Paths<'_>, costs: Option<&Costs>, pairs: &[[u32; 2]]) -> f64 {
    let flows = Flows::of(paths, costs, pairs);
    let mut active = vec![true; flows.len()];
    let mut left = vec![1.0; flows.len()];
    let mut time = 0.0;
    while active.contains(&true) {
        let rates = flows.rates(&active);
        let of = |f: usize| left[f] / rates[f];
        let running: Vec<usize> = (0..flows.len()).filter(|&f| active[f]).collect();
        let step = running.iter().map(|&f| of(f)).fold(f64::INFINITY, f64::min);
        time += step;
        for f in running {
            // Those that end together up to rounding end together.
            if of_ends(left[f], rates[f], step) {
                active[f] = false;
            } else {
                left[f] -= rates[f] * step;
            }
        }
    }
    time
}

fn of_ends(left: f64, rate: f64, step: f64) -> bool {
    left - rate * step < 1e-9
}

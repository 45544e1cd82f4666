//! Pictures of how busy channels were.

use crate::heat::{Map, Panel, Unit, loads_and_maps};

/// Channels by utilization, in steps of 5 % of their capacity, and their positions: a map with a cell for each pair
/// of switches.
pub fn busy(title: &str, subtitle: &str, map: &Map, shares: &[f64]) -> String {
    const STEPS: u16 = 20;
    let mut by_load = vec![0u64; usize::from(STEPS) + 1];
    for share in shares {
        // Channels without load are separate.
        #[expect(clippy::cast_sign_loss, reason = "shares are not below zero")]
        let step = (share * f64::from(STEPS)).ceil().min(f64::from(STEPS)) as usize;
        by_load[step] += 1;
    }
    let heat: Vec<f64> = shares.iter().map(|s| s * 100.0).collect();
    let panel = Panel { title: "how busy channels are", by_load: &by_load, heat: &heat };
    let unit = Unit { load: "% busy, at most", step: 5, heat: "% busy" };
    loads_and_maps(title, subtitle, map, &[panel], unit)
}

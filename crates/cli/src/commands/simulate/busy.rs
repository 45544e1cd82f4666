//! How busy a channel was.

use darkfiber_scenario::Simulated;

/// Share of what a channel could have carried all the time.
pub(super) fn busy(simulated: &Simulated, c: usize) -> f64 {
    let could = simulated.capacity[c] * simulated.end as f64;
    if could > 0.0 { simulated.carried[c] as f64 / could } else { 0.0 }
}

//! Progress of packet simulations, in words.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Instant;

use darkfiber_packetsim::Pulse;

/// Computes events a second, and the end of a run at that rate.
#[derive(Default)]
pub(crate) struct Rate {
    /// Last report of each run.
    runs: Mutex<BTreeMap<u64, LastPulse>>,
}

/// The last report of a run.
struct LastPulse {
    when: Instant,
    pulse: Pulse,
    /// Events a second, and seconds to its end.
    fast: Option<(f64, f64)>,
}

/// Rates are of this many seconds at least.
const LONG: f64 = 0.5;

impl Rate {
    /// Progress of a run; runs of one command differ by a number.
    pub(crate) fn of(&self, run: u64, pulse: &Pulse) -> String {
        let micro = |ps: u64| ps as f64 / 1e6;
        let mut text = format!(
            "{:.0} of at most {:.0} us, {} packets",
            micro(pulse.now),
            micro(pulse.end),
            pulse.packets
        );
        let Ok(mut runs) = self.runs.lock() else { return text };
        let now = Instant::now();
        let last_pulse =
            runs.entry(run).or_insert(LastPulse { when: now, pulse: *pulse, fast: None });
        let passed = (now - last_pulse.when).as_secs_f64();
        if passed >= LONG {
            let events = pulse.events.saturating_sub(last_pulse.pulse.events) as f64;
            let simulated = pulse.now.saturating_sub(last_pulse.pulse.now) as f64;
            let open = pulse.end.saturating_sub(pulse.now) as f64;
            // Nothing is known of a run that another one has kept waiting.
            let advances = simulated > 0.0;
            last_pulse.fast = advances.then_some((events / passed, open * passed / simulated));
            (last_pulse.when, last_pulse.pulse) = (now, *pulse);
        }
        if let Some((rate, left)) = last_pulse.fast {
            // First, as a narrow terminal shows the beginning.
            text = format!("{left:.0} s left at most, {text}, {:.1} M events/s", rate / 1e6);
        }
        text
    }
}

//! Inputs without readings for too long: a reading that hangs where no time limit can end it.

use std::time::{Duration, Instant};

use darkfiber_operate::InputSource;

use crate::config::{Config, Watched};

/// Maximum delay of a reading after its due time.
const LATE: Duration = Duration::from_secs(30);

/// When readings of each input were last heard of.
pub(crate) struct OverdueInputs(Vec<ExpectedReading>);

struct ExpectedReading {
    source: InputSource,
    /// Longest time between two readings.
    within: Duration,
    heard: Instant,
}

impl OverdueInputs {
    pub(crate) fn new(config: &Config, now: Instant) -> Self {
        let of = |watched: &Watched| ExpectedReading {
            source: watched.source,
            within: watched.every + watched.timeout + LATE,
            heard: now,
        };
        let always = [&config.fabric, &config.tables, &config.jobs];
        Self(always.into_iter().chain(config.demands.as_ref()).map(of).collect())
    }

    /// A reading arrived, whatever its content.
    pub(crate) fn reading_arrived(&mut self, source: InputSource, now: Instant) {
        for expected in self.0.iter_mut().filter(|e| e.source == source) {
            expected.heard = now;
        }
    }

    /// Inputs without readings for too long, each reported again after the same time.
    pub(crate) fn broken(&mut self, now: Instant) -> Vec<(InputSource, String)> {
        let mut silent = Vec::new();
        for e in &mut self.0 {
            if now.saturating_duration_since(e.heard) >= e.within {
                e.heard = now;
                silent.push((e.source, format!("no reading for {} s", e.within.as_secs())));
            }
        }
        silent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_that_hangs_is_reported_again_and_again() {
        let start = Instant::now();
        let of =
            |source, s| ExpectedReading { source, within: Duration::from_secs(s), heard: start };
        let mut overdue_inputs = OverdueInputs(vec![
            of(InputSource::Fabric, 120),
            of(InputSource::Tables, 70),
            of(InputSource::Jobs, 65),
        ]);
        let at = |s| start + Duration::from_secs(s);
        assert!(overdue_inputs.broken(at(60)).is_empty());
        overdue_inputs.reading_arrived(InputSource::Jobs, at(60));
        assert_eq!(
            overdue_inputs.broken(at(70)),
            [(InputSource::Tables, "no reading for 70 s".to_owned())]
        );
        assert!(overdue_inputs.broken(at(71)).is_empty());
        let all: Vec<InputSource> =
            overdue_inputs.broken(at(140)).into_iter().map(|s| s.0).collect();
        assert_eq!(all, [InputSource::Fabric, InputSource::Tables, InputSource::Jobs]);
    }
}

//! Inputs without readings for too long: a reading that hangs where no time limit can end it.

use std::time::{Duration, Instant};

use darkfiber_operate::Source;

use crate::config::{Config, Watched};

/// Maximum delay of a reading after its due time.
const LATE: Duration = Duration::from_secs(30);

/// When readings of each input were last heard of.
pub(crate) struct OverdueInputs([ExpectedReading; 3]);

struct ExpectedReading {
    source: Source,
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
        Self([of(&config.fabric), of(&config.tables), of(&config.jobs)])
    }

    /// A reading arrived, whatever its content.
    pub(crate) fn reading_arrived(&mut self, source: Source, now: Instant) {
        for expected in self.0.iter_mut().filter(|e| e.source == source) {
            expected.heard = now;
        }
    }

    /// Inputs without readings for too long, each reported again after the same time.
    pub(crate) fn broken(&mut self, now: Instant) -> Vec<(Source, String)> {
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
    fn an_input_that_hangs_is_told_again_and_again() {
        let start = Instant::now();
        let of =
            |source, s| ExpectedReading { source, within: Duration::from_secs(s), heard: start };
        let mut overdue_inputs =
            OverdueInputs([of(Source::Fabric, 120), of(Source::Tables, 70), of(Source::Jobs, 65)]);
        let at = |s| start + Duration::from_secs(s);
        assert!(overdue_inputs.broken(at(60)).is_empty());
        overdue_inputs.reading_arrived(Source::Jobs, at(60));
        assert_eq!(
            overdue_inputs.broken(at(70)),
            [(Source::Tables, "no reading for 70 s".to_owned())]
        );
        assert!(overdue_inputs.broken(at(71)).is_empty());
        let all: Vec<Source> = overdue_inputs.broken(at(140)).into_iter().map(|s| s.0).collect();
        assert_eq!(all, [Source::Fabric, Source::Tables, Source::Jobs]);
    }
}

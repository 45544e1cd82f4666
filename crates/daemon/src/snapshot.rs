//! A snapshot of the owner's state, for pages that other threads compute: they must not block it.

use std::collections::VecDeque;
use std::sync::Arc;

use darkfiber_operate::{Millis, State};

use crate::alarm::TopAlarm;
use crate::inputs::Values;
use crate::value::CountersValue;

/// Alarms that are remembered for pages.
const ALARMS: usize = 50;
/// Readings of counters that are remembered for the map, and numbers that they hold together at most.
const READINGS: usize = 60;
const NUMBERS: usize = 4_000_000;

/// A snapshot of the owner's state.
pub(crate) struct Snapshot {
    pub(crate) site: String,
    pub(crate) phase: &'static str,
    pub(crate) mode: &'static str,
    /// Time of the request, in milliseconds since 1970.
    pub(crate) at: Millis,
    /// Maximum effective EFI of the tables in place, if it was measured.
    pub(crate) efi: Option<u64>,
    /// Fabric, tables and jobs, once all were read.
    pub(crate) values: Option<Values>,
    pub(crate) recent: Recent,
}

/// Recent inputs of the owner.
#[derive(Clone, Default)]
pub(crate) struct Recent {
    pub(crate) alarms: VecDeque<TopAlarm>,
    /// Times and values of counter readings.
    pub(crate) counted: VecDeque<(Millis, Arc<CountersValue>)>,
}

impl Recent {
    pub(crate) fn alarm(&mut self, at: Millis, level: &str, text: &str) {
        self.alarms.push_back(TopAlarm { at, level: level.to_owned(), text: text.to_owned() });
        while self.alarms.len() > ALARMS {
            self.alarms.pop_front();
        }
    }

    /// Readings of another fabric are no longer of use.
    pub(crate) fn count(&mut self, at: Millis, value: Arc<CountersValue>) {
        self.counted.retain(|(_, old)| old.fabric == value.fabric);
        self.counted.push_back((at, value));
        let most = |counted: &VecDeque<(Millis, Arc<CountersValue>)>| {
            counted.iter().map(|(_, v)| v.carried.len()).sum::<usize>()
        };
        while self.counted.len() > READINGS
            || (self.counted.len() > 1 && most(&self.counted) > NUMBERS)
        {
            self.counted.pop_front();
        }
    }
}

impl Snapshot {
    pub(crate) fn new(
        site: &str,
        state: &State,
        at: Millis,
        values: Option<Values>,
        recent: &Recent,
    ) -> Self {
        Self {
            site: site.to_owned(),
            phase: state.phase.name(),
            mode: state.mode.name(),
            at,
            efi: state.measured.as_ref().map(|m| m.efi),
            values,
            recent: recent.clone(),
        }
    }
}

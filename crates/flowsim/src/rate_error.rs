//! How far rates are from fair ones where changes are not followed to their ends.

use serde::{Deserialize, Serialize};

use crate::MaxMin;

/// Differences between rates as they were and fair ones, as parts of these, at some moments of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RateError {
    /// At how many moments all rates were compared.
    pub moments: u64,
    /// How many rates that were.
    pub rates: u64,
    /// The sum of all differences, none of them below 0.
    pub sum: f64,
    /// The largest.
    pub largest: f64,
}

impl RateError {
    /// Compares the rates of all flows with what sharing exactly gives them.
    pub fn add(&mut self, shares: &MaxMin) {
        let exact = shares.exactly();
        self.moments += 1;
        for flow in shares.flows() {
            let (rate, fair) = (shares.rate(flow), exact.rate(flow));
            if fair.is_finite() && fair > 0.0 {
                let error = (rate - fair).abs() / fair;
                self.rates += 1;
                self.sum += error;
                self.largest = self.largest.max(error);
            }
        }
    }

    /// The mean difference.
    pub fn mean(&self) -> f64 {
        if self.rates == 0 { 0.0 } else { self.sum / self.rates as f64 }
    }
}

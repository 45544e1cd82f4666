//! Trials for any number of threads.

use std::sync::{Mutex, PoisonError};

use super::prepared::Prepared;
use super::trial::Trial;

/// A [`Trial`] for each thread that is at work, all from the same tables. Memory: a copy of the tables for each.
pub struct Trials<'p, 'a> {
    from: &'p Prepared<'a>,
    idle: Mutex<Vec<Trial<'p, 'a>>>,
}

impl<'p, 'a> Trials<'p, 'a> {
    /// An empty pool: trials are made on demand.
    pub fn new(from: &'p Prepared<'a>) -> Self {
        Self { from, idle: Mutex::default() }
    }

    /// Works with a trial that no other thread has.
    pub fn with<R>(&self, work: impl FnOnce(&mut Trial<'p, 'a>) -> R) -> R {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let known = idle().pop();
        let mut trial = known.unwrap_or_else(|| Trial::new(self.from));
        let found = work(&mut trial);
        idle().push(trial);
        found
    }
}

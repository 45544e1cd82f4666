//! What a run answers and finds, so that it is shown without the whole store being read again.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use darkfiber_study::grid::{Prepared, Record, Store};

/// A store that remembers what passes through it.
pub(super) struct Passing<'a> {
    store: &'a dyn Store,
    found: Mutex<BTreeMap<String, Record>>,
    kept: Mutex<Vec<Record>>,
}

impl<'a> Passing<'a> {
    /// In front of a store.
    pub(super) fn new(store: &'a dyn Store) -> Self {
        Self { store, found: Mutex::default(), kept: Mutex::default() }
    }

    /// All that passed, by point and seed.
    pub(super) fn records(self) -> Vec<Record> {
        let mut all = self.kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut found = self.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        // What was kept again, under another point, was found before.
        for record in &all {
            found.remove(&record.id);
        }
        all.extend(found.into_values());
        all.sort_by_key(|record| (record.point, record.turn));
        all
    }
}

impl Store for Passing<'_> {
    fn id(&self, key: &str, cell: &Prepared) -> String {
        self.store.id(key, cell)
    }

    fn find(&self, id: &str) -> Option<Record> {
        let record = self.store.find(id)?;
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.insert(id.to_owned(), record.clone());
        Some(record)
    }

    fn keep(&self, record: Record) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(record.clone());
        self.store.keep(record);
    }
}

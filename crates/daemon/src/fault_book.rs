//! The fault book in service: for the tables in place, repairs for every single cable and switch are found and proved before it
//! fails, so that OpenSM's question is answered by a lookup. `book_maker` makes it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use darkfiber_operate::{Digest, Ready};
use darkfiber_routing::check::check;

use crate::inputs::{Values, WholeTables};
use crate::plan_image::{Patch, PlanImage};
use crate::reference::Missing;
use crate::tables_digest::digest_of_tables;
use crate::value::{FabricValue, JobsValue, TablesValue};
use crate::work::TablePlan;

/// The tables in place, and the fabric that they are tables of.
#[derive(Clone)]
pub(crate) struct Base {
    pub(crate) fabric: Arc<FabricValue>,
    pub(crate) tables: Arc<TablesValue>,
}

impl Base {
    /// The same tables on the remaining part of the fabric.
    pub(crate) fn on(&self, image: &PlanImage, part: &FabricValue) -> Result<TablesValue, String> {
        let (routes, lids) = image.on(part)?;
        let is_whole = check(part.fabric(), &routes).complete();
        let digest = digest_of_tables(part.fabric(), &routes, &lids);
        let has_levels = self.tables.has_levels;
        Ok(TablesValue { routes, lids, has_levels, is_whole, digest, fabric: part.digest })
    }

    /// The image of these tables.
    pub(crate) fn image(&self) -> Result<PlanImage, String> {
        PlanImage::new(self.fabric.fabric(), &self.tables.routes, &self.tables.lids)
    }
}

/// The repair for a fault.
pub(crate) struct Entry {
    pub(crate) ready: Ready,
    /// The tables before the fault.
    pub(crate) base: Arc<PlanImage>,
    /// Changes of each stage relative to them.
    pub(crate) stages: Vec<Patch>,
}

impl Entry {
    /// The tables of a stage.
    pub(crate) fn image(&self, stage: u32) -> Option<PlanImage> {
        self.stages.get(stage as usize).map(|patch| self.base.patched(patch))
    }

    /// Number of stages of the entry.
    pub(crate) fn stages(&self) -> u32 {
        self.stages.len() as u32
    }
}

impl Tally {
    /// It in a line.
    pub(crate) fn line(&self) -> String {
        let Self { faults, one_sweep, stages, drained, none, millis } = self;
        let ready = one_sweep + stages + drained;
        let seconds = *millis as f64 / 1e3;
        let left = faults - ready - none;
        let late = if left > 0 { format!(", {left} not in time") } else { String::new() };
        format!(
            "notice: fault book: {ready} of {faults} faults are prepared ({one_sweep} in one sweep, {stages} in stages, {drained} by \
             drop-drain), {none} have no safe way{late}, in {seconds:.1} s"
        )
    }
}

#[derive(Default)]
struct Pages {
    base: Option<Base>,
    entries: BTreeMap<Missing, Arc<Entry>>,
    /// Nothing more is prepared ahead.
    is_made: bool,
}

/// The book, shared by the thread that makes it and its readers.
#[derive(Clone, Default)]
pub(crate) struct Book {
    pages: Arc<Mutex<Pages>>,
    /// Rises with each set of tables that it is to be about.
    edition: Arc<AtomicU64>,
    /// The edition that was ordered last.
    ordered: Arc<AtomicU64>,
}

impl Book {
    /// The number of the edition that is wanted now.
    pub(crate) fn edition(&self) -> u64 {
        self.edition.load(Ordering::SeqCst)
    }

    /// Notes that this edition is to be made.
    pub(crate) fn order(&self) {
        self.ordered.store(self.edition(), Ordering::SeqCst);
    }

    /// Whether this edition is made already, or about to be.
    pub(crate) fn is_ordered(&self) -> bool {
        self.ordered.load(Ordering::SeqCst) == self.edition()
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tables that are in place now.
    pub(crate) fn base(&self) -> Option<Base> {
        self.pages().base.clone()
    }

    /// Other tables are in place: entries for the previous ones are void.
    pub(crate) fn renew(&self, base: Base) {
        let mut pages = self.pages();
        self.edition.fetch_add(1, Ordering::SeqCst);
        *pages = Pages { base: Some(base), ..Pages::default() };
    }

    /// The tables in place are not known.
    pub(crate) fn forget(&self) {
        let mut pages = self.pages();
        self.edition.fetch_add(1, Ordering::SeqCst);
        *pages = Pages::default();
    }

    /// The entry for the case that this is missing of the whole fabric.
    pub(crate) fn entry(&self, missing: &Missing) -> Option<Arc<Entry>> {
        self.pages().entries.get(missing).cloned()
    }

    /// Nothing more is prepared ahead for an edition.
    pub(crate) fn made(&self, edition: u64) {
        let mut pages = self.pages();
        pages.is_made |= self.edition() == edition;
    }

    /// Whether the thread that makes the book is through with it.
    pub(crate) fn is_made(&self) -> bool {
        self.pages().is_made
    }

    /// Stores the entry for an edition, unless another one has started.
    pub(crate) fn keep(&self, edition: u64, missing: Missing, entry: Arc<Entry>) -> bool {
        let mut pages = self.pages();
        // Read under the lock that renews it.
        if self.edition.load(Ordering::SeqCst) != edition {
            return false;
        }
        pages.entries.insert(missing, entry);
        true
    }
}

/// Counts of the results for faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) faults: usize,
    pub(crate) one_sweep: usize,
    pub(crate) stages: usize,
    /// Entries are cleared, and packets drained before others are written.
    pub(crate) drained: usize,
    /// For these no safe transition is proved, or the fabric is split.
    pub(crate) none: usize,
    pub(crate) millis: u64,
}

/// The plan of an entry in the form of the worker: for stages that follow, and for its folder.
pub(crate) fn plan_of(
    entry: &Entry,
    base: &Base,
    part: &Arc<FabricValue>,
) -> Result<TablePlan, String> {
    let tables = Arc::new(base.on(&entry.base, part)?);
    let mut stages = Vec::new();
    for stage in 0..entry.stages() {
        let image = entry.image(stage).ok_or("there is no such stage")?;
        let (mut routes, _) = image.on(part)?;
        routes.layers = tables.routes.layers.clone();
        stages.push(Arc::new(routes));
    }
    let routes = stages.pop().ok_or("there is no stage")?;
    let jobs = Arc::new(JobsValue { fabric: part.digest, ..JobsValue::default() });
    let whole = base
        .tables
        .is_whole
        .then(|| WholeTables { fabric: base.fabric.clone(), tables: base.tables.clone() });
    let values =
        Values { fabric: part.clone(), tables, jobs, counters: None, demands: None, whole };
    Ok(TablePlan { routes, between: stages, values })
}

/// Whether tables are others than a book is about.
pub(crate) fn is_about(base: &Base, fabric: Digest, tables: Digest) -> bool {
    base.fabric.digest == fabric && base.tables.digest == tables
}

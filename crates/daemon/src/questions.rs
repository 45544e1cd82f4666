//! Questions of OpenSM in the owner of the state: the pending one, and the tables that the fault book is about.

use darkfiber_operate::{Input, PlanId, State};

use crate::book_maker::{Order, Orders};
use crate::fault_book::{Base, Book, is_about};
use crate::plan_image::PlanImage;
use crate::question::{OfferedStage, Question};
use crate::value::TablesValue;
use crate::work::Library;

/// Questions of OpenSM, and the fault book.
pub(crate) struct Questions {
    /// The fault book, for the tables in place.
    book: Book,
    /// Orders for the book's maker; `None` where OpenSM has no plugin.
    orders: Option<Orders>,
    /// The number of the last one.
    count: u64,
    /// The pending question, if any.
    waiting: Option<(u64, Question)>,
}

impl Questions {
    pub(crate) fn new(book: Book, orders: Option<Orders>) -> Self {
        Self { book, orders, count: 0, waiting: None }
    }

    /// Takes a question; returns the input for the machine.
    pub(crate) fn take(&mut self, question: Question) -> Input {
        self.count += 1;
        let fabric = question.fabric.fabric();
        let (ready, tables) = match (&question.ready, &question.tables) {
            (Some(entry), _) => (Some(entry.ready.clone()), Some(entry.ready.verdict.from)),
            (None, tables) => (None, tables.as_ref().map(|t| t.digest)),
        };
        let input = Input::Asked {
            question: self.count,
            fabric: question.fabric.digest,
            budget: u64::try_from(question.budget.as_millis()).unwrap_or(u64::MAX),
            size: Some((fabric.switch_count() as u32, fabric.terminal_count() as u32)),
            tables,
            ready: ready.map(Box::new),
        };
        self.waiting = Some((self.count, question));
        input
    }

    /// Answers the pending question with none.
    pub(crate) fn refuse(&mut self) {
        if let Some((_, question)) = self.waiting.take() {
            // OpenSM continues with its current tables, if they fit, or with its next engine.
            self.forget();
            let _nobody_may_wait = question.reply.try_send(None);
        }
    }

    /// Answers a question with a stage of a plan, whose tables are searched in memory and on disk; returns whether they
    /// were found.
    pub(crate) fn answer(
        &mut self,
        number: u64,
        (plan, stage): (PlanId, u32),
        state: &State,
        library: &Library,
        tables: Option<&TablesValue>,
    ) -> bool {
        let Some((_, question)) = self.waiting.take_if(|(n, _)| *n == number) else { return true };
        let image = image(&question, (plan, stage), state, library, tables);
        let is_there = image.is_some();
        let stages = state.decision(plan).and_then(|d| d.candidate.as_ref());
        let is_last = stages.is_none_or(|c| stage as usize + 1 >= c.stages.len());
        let offered = image.map(|image| OfferedStage { plan, stage, is_last, image });
        let _nobody_may_wait = question.reply.try_send(offered);
        is_there
    }

    /// These tables are in place: repairs for faults of them are prepared from now on, if they are to stay.
    pub(crate) fn base(&self, base: Base, stays: bool) {
        let Some(orders) = &self.orders else { return };
        let known = self.book.base();
        let is_known =
            known.is_some_and(|known| is_about(&known, base.fabric.digest, base.tables.digest));
        if !is_known {
            self.book.renew(base);
        } else if !stays || self.book.is_ordered() {
            return;
        }
        if stays {
            self.book.order();
            let _nobody_makes_it = orders.send(Order::Make);
        }
    }

    /// The tables in place are no longer known.
    pub(crate) fn forget(&self) {
        self.book.forget();
    }

    /// Whether OpenSM has the plugin, and the tables in place are not known.
    pub(crate) fn are_lost(&self) -> bool {
        self.orders.is_some() && self.book.base().is_none()
    }

    /// Whether OpenSM has the plugin.
    pub(crate) fn are_asked(&self) -> bool {
        self.orders.is_some()
    }
}

/// The tables of a stage of a plan, on the swept fabric.
fn image(
    question: &Question,
    (plan, stage): (PlanId, u32),
    state: &State,
    library: &Library,
    tables: Option<&TablesValue>,
) -> Option<PlanImage> {
    let candidate = state.decision(plan)?.candidate.as_ref()?;
    let aim = *candidate.stages.get(stage as usize)?;
    if let Some(entry) = question.ready.as_ref().filter(|e| e.ready.candidate == *candidate) {
        return entry.image(stage);
    }
    let digest = question.fabric.digest;
    if let Some(found) = library.plan(plan).filter(|p| p.values.fabric.digest == digest) {
        let routes = found.between.get(stage as usize).unwrap_or(&found.routes);
        let (fabric, lids) = (found.values.fabric.fabric(), &found.values.tables.lids);
        return PlanImage::new(fabric, routes, lids).ok();
    }
    let tables = tables.filter(|t| t.digest == aim && t.fabric == digest)?;
    PlanImage::new(question.fabric.fabric(), &tables.routes, &tables.lids).ok()
}

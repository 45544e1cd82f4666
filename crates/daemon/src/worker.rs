//! The worker thread: it does the work that the machine requests, and writes proposals.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};

use darkfiber_operate::{Decision, Task};

use crate::actuator::{self, Known, Placed, Stage};
use crate::children::Children;
use crate::config::Config;
use crate::event::Event;
use crate::inputs::Values;
use crate::kept_tables::kept_tables;
use crate::poll::ReadBacks;
use crate::work::{Library, TablePlan, Workshop};
use crate::{plan_files, proposal};

/// An order for the thread.
pub(crate) enum Order {
    /// A piece of work.
    Work { work: u64, generation: u64, task: Task, values: Values },
    /// Write the tables of a proposal.
    Write(Box<Decision>),
    /// Put a stage of a plan where OpenSM finds it.
    Commit { decision: Box<Decision>, stage: u32, values: Option<Values> },
    /// Keep the tables of a plan that OpenSM took, and those before it.
    Keep(Box<Decision>),
    /// Order a sweep of OpenSM.
    Sweep,
}

/// The number of the work that is still wanted; anything else that waits is passed over.
pub(crate) type WantedWork = Arc<AtomicU64>;

/// The thread, from outside.
pub(crate) struct Queue {
    pub(crate) orders: SyncSender<Order>,
    pub(crate) wanted: WantedWork,
}

/// Resources of the thread besides its orders.
pub(crate) struct WorkerResources {
    pub(crate) children: Children,
    pub(crate) read_backs: ReadBacks,
}

/// Puts a plan in place, from memory or, after a restart, from its folder.
fn commit(
    config: &Config,
    workshop: &Workshop,
    decision: &Decision,
    stage: u32,
    values: Option<Values>,
    children: &Children,
) -> Result<Placed, String> {
    let digests = |v: &Values| Known { fabric: v.fabric.digest, tables: v.tables.digest };
    let known = values.as_ref().map(digests);
    let manager = config.manager.as_ref().ok_or("this mode changes nothing")?;
    let plan = match (workshop.plan(decision.id), values) {
        (Some(plan), _) => plan,
        (None, Some(values)) => {
            let dir = plan_files::folder(config, decision.id);
            let (routes, _) = kept_tables(&dir, false, &values.fabric)?;
            let plan = TablePlan { routes: Arc::new(routes), between: Vec::new(), values };
            workshop.keep(decision.id, plan.clone());
            plan
        }
        (None, None) => return Err("the fabric and the tables in place are not known".to_owned()),
    };
    let stage = Stage { decision, number: stage, plan: &plan, known };
    actuator::commit(config, manager, &stage, children)
}

/// Works until the channel of orders is closed.
pub(crate) fn run(
    config: &Config,
    library: Library,
    resources: &WorkerResources,
    orders: &Receiver<Order>,
    wanted: &WantedWork,
    events: &SyncSender<Event>,
) {
    let workshop = Workshop::new(config.moves, config.state.join("plans"), library);
    let mut workshop = workshop.with_router(config.router);
    // The tables after a stage that was written into the switches last, if OpenSM need not sweep for it.
    let mut in_switches = None;
    for order in orders {
        let event = match order {
            Order::Work { work, .. } if work != wanted.load(Ordering::SeqCst) => continue,
            Order::Work { work, generation, task, values } => {
                Event::Done { work, generation, result: workshop.work(task, &values) }
            }
            Order::Write(decision) => {
                let plan = decision.id;
                let found = workshop.plan(plan).ok_or_else(|| "its tables are gone".to_owned());
                let result = found.and_then(|found| proposal::write(config, &decision, &found));
                Event::Written { plan, result }
            }
            Order::Keep(decision) => {
                let kept = match workshop.plan(decision.id) {
                    Some(found) => proposal::write(config, &decision, &found),
                    // After a restart: they were kept when OpenSM took them first.
                    None if plan_files::folder(config, decision.id).is_dir() => Ok(()),
                    None => Err("its tables are gone".to_owned()),
                };
                match kept.and_then(|()| proposal::note_placed(config, decision.id)) {
                    Ok(()) => continue,
                    Err(e) => Event::Unanswered(format!("plan {}: {e}", decision.id)),
                }
            }
            Order::Commit { decision, stage, values } => {
                let plan = decision.id;
                let result =
                    commit(config, &workshop, &decision, stage, values, &resources.children);
                in_switches = match &result {
                    Ok(Placed::InSwitches(tables)) => Some(tables.clone()),
                    _ => None,
                };
                if let Ok(Placed::LeftToOpenSm(why)) = &result
                    && events.send(Event::LeftToOpenSm(plan, why.clone())).is_err()
                {
                    return;
                }
                Event::Placed { plan, stage, result: result.map(drop) }
            }
            Order::Sweep if let Some(tables) = in_switches.take() => Event::InSwitches(tables),
            Order::Sweep => {
                let swept = match &config.manager {
                    Some(manager) => actuator::sweep(manager, &resources.children),
                    None => Err("this mode changes nothing".to_owned()),
                };
                let result = swept.map(|at| resources.read_backs.swept(at));
                Event::Signaled(result)
            }
        };
        if events.send(event).is_err() {
            return;
        }
    }
}

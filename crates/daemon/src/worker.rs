//! The thread that works: it does what the machine asks for, and writes proposals.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};

use darkfiber_operate::{Decision, Task};

use crate::config::Config;
use crate::event::Event;
use crate::proposal;
use crate::work::{Values, Workshop};

/// What the thread is asked to do.
pub(crate) enum Order {
    /// A piece of work.
    Work { work: u64, generation: u64, task: Task, values: Values },
    /// Write the tables of a proposal.
    Write(Box<Decision>),
}

/// The number of the work that is still wanted; anything else that waits is passed over.
pub(crate) type Wanted = Arc<AtomicU64>;

/// The thread, from outside.
pub(crate) struct Queue {
    pub(crate) orders: SyncSender<Order>,
    pub(crate) wanted: Wanted,
}

/// Works until nobody asks any more.
pub(crate) fn run(
    config: &Config,
    orders: &Receiver<Order>,
    wanted: &Wanted,
    events: &SyncSender<Event>,
) {
    let mut shop = Workshop::new(config.moves);
    for order in orders {
        let event = match order {
            Order::Work { work, .. } if work != wanted.load(Ordering::SeqCst) => continue,
            Order::Work { work, generation, task, values } => {
                Event::Done { work, generation, result: shop.work(task, &values) }
            }
            Order::Write(decision) => {
                let plan = decision.id;
                let found = shop.plan(plan).ok_or_else(|| "its tables are gone".to_owned());
                let result = found.and_then(|found| proposal::write(config, &decision, found));
                Event::Written { plan, result }
            }
        };
        if events.send(event).is_err() {
            return;
        }
    }
}

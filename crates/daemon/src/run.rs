//! Starts and ends the program: its threads, its socket, its pages.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use darkfiber_scenario::Error;

use crate::config::{Config, Origin};
use crate::console::Console;
use crate::event::Event;
use crate::fabric_guids::KnownGuids;
use crate::fault_book::Book;
use crate::owner::Owner;
use crate::plugin::PluginResponder;
use crate::poll::SweptFabric;
use crate::port_events::PortEvents;
use crate::questions::Questions;
use crate::store::Store;
use crate::work::Library;
use crate::worker::{self, Queue, WantedWork, WorkerResources};
use crate::{book_maker, control, http, notify, plugin, poll, standby};

/// Events that wait for the owner of the state.
const EVENTS: usize = 64;
/// Pieces of work that wait.
const ORDERS: usize = 16;

/// Ends the program that it was made for.
pub struct Stop(SyncSender<Event>);

impl Stop {
    /// Has the program end, soon: its journal is whole, its socket gone, no command of it runs on.
    pub fn stop(&self) {
        let _it_may_have_ended = self.0.send(Event::Stop);
    }
}

/// Runs until it is stopped. `started` gets the handle that stops it.
///
/// # Errors
/// If the state folder, the socket or the address cannot be used. Later failures are reported, and the program
/// continues.
pub fn run(
    config: &Config,
    console: &dyn Console,
    started: impl FnOnce(Stop),
) -> Result<(), Error> {
    let (store, state) = Store::open(&config.state, &config.site, config.journal_bytes)?;
    let (events, heard) = sync_channel(EVENTS);
    started(Stop(events.clone()));
    let threads =
        |e: &dyn std::fmt::Display| Error::infeasible(format!("cannot start threads: {e}"));
    let known_guids = KnownGuids::open(&config.state).map_err(|e| {
        Error::input(e)
            .hint("it says which fabric is known; move it away to take the next one for it")
    })?;
    control::open(&config.socket, events.clone())?;
    let swept = config.plugin.as_ref().map(|_| SweptFabric::default());
    let of_ports = match config.counters.as_ref().map(|counters| &counters.origin) {
        Some(Origin::Socket(path)) => Some(path),
        _ => None,
    };
    let ports = of_ports.map(|path| PortEvents::open(path)).transpose()?;
    let pollers = poll::start(config, known_guids, swept.clone(), ports, &events);
    let pollers = pollers.map_err(|e| threads(&e))?;
    let standby = standby::start(config, pollers.children.clone(), &events);
    let standby = standby.map_err(|e| threads(&e))?;
    let (orders, asked) = sync_channel(ORDERS);
    let wanted = WantedWork::default();
    let work = Queue { orders, wanted: wanted.clone() };
    // The worker has its own threads to compute on.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(rayon::current_num_threads());
    let pool = pool.build().map_err(|e| threads(&e))?;
    let (of, send) = (Arc::new(config.clone()), events.clone());
    let library = Library::default();
    let shelf = library.clone();
    let resources = WorkerResources {
        children: pollers.children.clone(),
        read_backs: pollers.read_backs.clone(),
    };
    let book = Book::default();
    let mut pages = None;
    if let (Some(plugin), Some(SweptFabric { reference, asked })) = (&config.plugin, swept) {
        let made = book_maker::start(book.clone(), reference.clone(), plugin.book, events.clone());
        let orders = made.map_err(|e| threads(&e))?;
        pages = Some(orders.clone());
        let responder = PluginResponder {
            reference,
            book: book.clone(),
            orders,
            library: library.clone(),
            plan_file: plugin.plan_file.clone(),
            budget: plugin.budget,
            asked,
            events: events.clone(),
            standby: standby.clone(),
        };
        plugin::open(&plugin.socket, responder)?;
    }
    let worker = move || worker::run(&of, shelf, &resources, &asked, &wanted, &send);
    let worker = move || pool.install(worker);
    thread::Builder::new().name("work".to_owned()).spawn(worker).map_err(|e| threads(&e))?;
    if let Some(address) = config.http {
        let bound = http::serve(address, &config.state, &events);
        let bound = bound.map_err(|e| Error::input(format!("http: {e}")))?;
        console.note(&format!(
            "serving http://{bound}/map, /top, /status, /metrics, /plans/N, /journal"
        ));
    }
    let children = pollers.children.clone();
    let questions = Questions::new(book, pages);
    let mut owner =
        Owner::new(config, console, store, state, pollers, standby, work, library, questions);
    owner.start();
    notify::notify("READY=1\nSTATUS=watching");
    owner.listen(&heard);
    notify::notify("STOPPING=1");
    children.kill();
    let of_plugin = config.plugin.as_ref().map(|p| &p.socket);
    for socket in [Some(&config.socket), of_plugin, of_ports].into_iter().flatten() {
        let _it_may_be_gone = std::fs::remove_file(socket);
    }
    Ok(())
}

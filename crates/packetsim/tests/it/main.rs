//! Packets against closed forms, other simulators' numbers, and the static checker.

mod bench;
mod classes;
mod closed_forms;
mod deadlock;
mod flits;
mod links;
mod plain;
mod processes;
mod reference;
mod rosetta;
mod routings;

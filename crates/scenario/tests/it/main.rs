//! Scenarios, run and refused.

mod classes;
mod closed_forms;
mod corpus;
mod ethernet;
mod in_order;
mod mixed_rates;
mod path_choice;
mod planes;
mod processes;
mod refusals;
mod repeats;
mod scenarios;
mod several_adapters;
mod steady;
mod traces;
mod updates;
mod witnesses;

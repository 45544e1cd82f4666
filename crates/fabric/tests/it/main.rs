//! Tests of the fabric crate through its public interface: one binary, one module a subject.

mod arithmetic;
mod builder;
mod damage;
mod expanders;
mod fabric;
mod faults;
mod limits;
mod planes;
mod presets;
mod rails;
mod recognise_flies;
mod recognise_grids;
mod recognise_groups;
mod recognise_others;
mod recognise_rates;
mod recognise_swapped;
mod recognise_trees;
mod registry;
mod shapes;
mod slimfly;
mod support;
mod wiring;

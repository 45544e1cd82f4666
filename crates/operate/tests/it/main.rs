//! The state machine against models of a fabric, OpenSM, SLURM, a disk and a clock; and its journal.

mod cases;
mod full_route;
mod invariants;
mod journal;
mod network;
mod opensm;
mod simulation;
mod world;

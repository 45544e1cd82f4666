//! Tests of the readers on real files and on spoilt ones.

mod chakra;
mod jobs;
mod schedules;
mod spoilt_schedules;
mod torch;

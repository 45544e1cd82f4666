//! One engine, one file; ways of several engines: `dag`.

mod dag;
mod minhop;

pub(crate) use minhop::MinHop;

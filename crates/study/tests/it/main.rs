//! Studies and experiments.

mod congest;
mod replay;
mod reproduce;
mod sweep;

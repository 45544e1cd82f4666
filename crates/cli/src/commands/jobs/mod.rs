//! `darkfiber jobs`: what a batch system says, made fit for routing; and where jobs could be.

mod filter;
mod place;
mod report;

use crate::args::{Common, JobsAction, JobsCommand};
use crate::failure::{Exit, Failure};

pub(crate) fn run(args: &JobsCommand, common: &Common) -> Result<Exit, Failure> {
    match &args.action {
        JobsAction::Filter(args) => filter::run(args, common),
        JobsAction::Report(args) => report::run(args, common),
        JobsAction::Place(args) => place::run(args, common),
    }
}

//! Channels that jobs share.

use darkfiber_analysis::sharing::Sharing;
use darkfiber_scenario::{Error, places};

use super::runs::case;
use crate::grid::params::Params;
use crate::grid::question::{CellContext, ColumnOf, Question};
use crate::grid::row::Answer;

pub(in crate::grid) struct JobSharing;

impl Question for JobSharing {
    fn name(&self) -> &'static str {
        "sharing"
    }

    fn summary(&self) -> &'static str {
        "which channels jobs share: a row for each job, by counting the routes inside jobs"
    }

    fn columns(&self) -> &'static [ColumnOf] {
        &[
            (
                "shared_percent",
                "of the channels that the job crosses, those that others cross, too, in percent",
            ),
            ("channels", "switch-to-switch channels that the job crosses"),
            ("shared", "of these, those that others cross, too"),
            ("with", "jobs that it shares channels with"),
            ("fullest", "routes of all jobs on the fullest channel that it crosses"),
        ]
    }

    fn answer(&self, context: &CellContext<'_>, _: &Params) -> Result<Vec<Answer>, Error> {
        let case = case(context)?;
        case.tables.expect_tables("sharing")?;
        let sharing = Sharing::of(case.fabric(), &case.tables.routes, &places(&case.jobs));
        let row = |(j, job): (usize, &darkfiber_scenario::Job)| {
            let of = sharing.of_job(j);
            let channels = sharing.jobs[j].load.len();
            let percent = 100.0 * of.shared as f64 / channels.max(1) as f64;
            Answer::of(job.name.as_str())
                .with("shared_percent", percent)
                .with("channels", channels)
                .with("shared", of.shared)
                .with("with", of.with.len())
                .with("fullest", of.fullest.map_or(0, |(_, load)| load))
        };
        Ok(case.jobs.iter().enumerate().map(row).collect())
    }
}

//! Section 4.3.2: how often tables would be sent.

use super::{DAYS, EVERY, Site};
use crate::replay::reconfigurations;
use crate::reproduce::{Allowed, Class, Context, Experiment, Row};

/// See [`Experiment::title`].
pub(crate) struct Reconfigurations;

impl Experiment for Reconfigurations {
    fn id(&self) -> &'static str {
        "SAR-RECONF"
    }

    fn title(&self) -> &'static str {
        "New routing configurations a day"
    }

    fn paper(&self) -> &'static str {
        "Domke, Hoefler: Scheduling-Aware Routing for Supercomputers, SC'16, section 4.3.2"
    }

    fn setup(&self) -> &'static str {
        "@taurus, 30 days by 10 minutes (the paper polls every 5), as in SAR-F1. How often places of multi-switch \
         jobs change is a property of the jobs: other jobs, other numbers."
    }

    fn class(&self) -> Class {
        Class::Substitute
    }

    fn run(&self, context: &Context<'_>) -> Vec<Row> {
        let site = Site::new("@taurus", context);
        let moments = site.days(DAYS, &[], context);
        let often = reconfigurations(&moments, &[], EVERY);
        [
            ("in the mean", 14.0, often.per_day_mean),
            ("least", 0.0, often.per_day_min as f64),
            ("most", 57.0, often.per_day_max as f64),
        ]
        .into_iter()
        .map(|(what, printed, ours)| {
            Row::new(format!("changes a day, {what}"), printed, ours, Allowed::Rule)
                .noted(site.source.clone())
        })
        .collect()
    }
}

//! Section 4.3.2: how often tables would be sent.

use super::{DAYS, EVERY, Site};
use crate::replay::reconfigurations;
use crate::reproduce::{Allowed, Class, Context, Experiment, Row, USUAL};

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "SAR-RECONF",
    title: "New routing configurations a day",
    paper: "Domke, Hoefler: Scheduling-Aware Routing for Supercomputers, SC'16, section 4.3.2",
    setup: "@taurus, 30 days by 10 minutes (the paper polls every 5), as in SAR-F1. How often places of multi-switch \
     jobs change is a property of the jobs: other jobs, other numbers.",
    class: Class::Substitute,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let site = Site::new("@taurus", context);
    let moments = site.days(DAYS, &[], context);
    let often = reconfigurations(&moments, &[], EVERY);
    [
        ("in the mean", 14.0, often.per_day_mean),
        ("least", 0.0, often.per_day_min.unwrap_or_default() as f64),
        ("most", 57.0, often.per_day_max.unwrap_or_default() as f64),
    ]
    .into_iter()
    .map(|(what, printed, ours)| {
        Row::new(format!("changes a day, {what}"), printed, ours, Allowed::Rule)
            .noted(site.source.clone())
    })
    .collect()
}

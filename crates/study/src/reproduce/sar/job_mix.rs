//! Figure 1: how many jobs are on several switches.

use super::{DAYS, Site};
use crate::reproduce::{Allowed, Class, Context, Experiment, Row, USUAL};

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "SAR-F1",
    title: "Most jobs are on several switches (figure 1)",
    paper: "Domke, Hoefler: Scheduling-Aware Routing for Supercomputers, SC'16, section 1, figure 1",
    setup: "@taurus and @tsubame25, 30 days by 10 minutes; jobs of a public log (or made up), scaled, first-fit, 20 days \
     to fill the machine; share of running jobs on two switches or more. The paper's own histories are private; \
     it prints `more than`; within 3 points of that is judged.",
    class: Class::Substitute,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    [("@taurus", 66.0), ("@tsubame25", 50.0)]
        .into_iter()
        .map(|(preset, printed)| {
            let site = Site::new(preset, context);
            let moments = site.days(DAYS, &[], context);
            let all: usize = moments.iter().map(|m| m.jobs).sum();
            let several: usize = moments.iter().map(|m| m.multi_switch_jobs).sum();
            let share = 100.0 * several as f64 / all.max(1) as f64;
            let quantity = format!("{preset}: jobs on several switches, %");
            Row::new(quantity, printed, share, Allowed::Absolute(3.0)).noted(site.source)
        })
        .collect()
}

//! Duration of jobs with other tables.

use darkfiber_routing::Routes;

use crate::{Case, Error, Job, Medium, Setup, Sharing, simulate};

impl Case {
    /// By job, the mean duration of one of its runs in picoseconds if messages flow over these tables of the same fabric,
    /// whatever depth the scenario has; `None` where none ended. Only jobs that are `alive` run.
    ///
    /// # Errors
    /// If ranks wait for messages that never come, or the tables lose a message.
    pub fn flow_times(&self, routes: &Routes, alive: &[bool]) -> Result<Vec<Option<f64>>, Error> {
        let sharing = match self.medium {
            Medium::Flow(sharing) => sharing,
            _ => Sharing::default(),
        };
        let runs: Vec<usize> = (0..self.jobs.len()).filter(|&j| alive[j]).collect();
        let jobs: Vec<Job> =
            runs.iter().map(|&j| Job { number: Some(j as u32), ..self.jobs[j].clone() }).collect();
        let setup = Setup {
            routes,
            jobs: jobs.clone(),
            medium: Medium::Flow(sharing),
            interval: None,
            messages: false,
            update: None,
            ..self.setup()
        };
        let found = simulate(&setup, &mut |_| ())
            .map_err(|e| Error::infeasible(e.describe(&jobs, self.topology())))?;
        let mut times = vec![None; self.jobs.len()];
        for (&j, of) in runs.iter().zip(&found.runs).filter(|(_, of)| !of.is_empty()) {
            let sum: u64 = of.iter().map(|run| run.end - run.begin).sum();
            times[j] = Some(sum as f64 / of.len() as f64);
        }
        Ok(times)
    }
}

//! The table of `simulate --steps`: what ports counted while jobs did their steps, for `darkfiber explain`.

use std::io::{self, Write};

use darkfiber_analysis::Names;
use darkfiber_fabric::Topology;
use darkfiber_report::comma;
use darkfiber_scenario::{Job, Simulated, counted};
use darkfiber_workload::play::SECOND;

/// A line for each port of a job's switches in each of its runs. The seed tells simulations apart whose tables are put
/// together.
pub(super) fn write(
    out: &mut dyn Write,
    seed: u64,
    topology: &Topology,
    jobs: &[Job],
    simulated: &Simulated,
) -> io::Result<()> {
    let fabric = &topology.fabric;
    let names = Names::new(fabric);
    writeln!(out, "seed,job,step,switch,port,bytes,held,seconds")?;
    for (number, job) in jobs.iter().enumerate() {
        let name = cell(&job.name);
        let mut failed = Ok(());
        counted(simulated, fabric, jobs, number, &mut |c| {
            let ends = names.channel(c.channel);
            let seconds = c.time as f64 / SECOND as f64;
            let line = writeln!(
                out,
                "{seed},{name},{},{},{},{:.0},{:.0},{seconds}",
                c.run,
                cell(&ends.from),
                ends.from_port,
                c.bytes,
                c.held
            );
            if failed.is_ok() {
                failed = line;
            }
        });
        failed?;
    }
    Ok(())
}

/// A text as a cell.
fn cell(text: &str) -> String {
    comma::text(&[vec![text.to_owned()]]).trim_end().to_owned()
}

//! Jobs of a machine, real or synthetic, before their placement on hosts.

use std::path::Path;

use darkfiber_fabric::Topology;
use darkfiber_traces::jobs::{self, swf};
use darkfiber_workload::placement::Allocator;
use darkfiber_workload::{History, JobRequest, MONTH_HOSTS, Machine, month, scaled};

use crate::Error;
pub use crate::logged_jobs::{LoggedJob, requests};

/// Utilization of the machine by synthetic jobs.
const LOAD: f64 = 0.85;

/// Jobs of a machine.
#[derive(Clone, Debug)]
pub struct Log {
    /// Name of the log.
    pub name: String,
    /// Path of the log, if it is a file.
    pub path: Option<std::path::PathBuf>,
    /// Its jobs, by rising start.
    pub jobs: Vec<JobRequest>,
    /// Processors of a host.
    pub processors_per_host: u32,
    /// Hosts of the machine.
    pub hosts: u32,
}

/// Jobs on a machine, and how many times as large as theirs it is.
pub struct Placed {
    /// Nodes and times of all jobs.
    pub history: History,
    /// Hosts of the machine by those of the log.
    pub scale: f64,
}

impl Log {
    /// Jobs of this many days, made up after RICC's.
    pub fn synthetic(days: u32, seed: u64) -> Self {
        Self {
            name: "jobs made up after RICC-2010-2 (--log FILE takes a real log)".to_owned(),
            path: None,
            jobs: month(days, LOAD, seed),
            processors_per_host: 1,
            hosts: MONTH_HOSTS,
        }
    }

    /// A log in Standard Workload Format whose header gives the size of its machine; `processors` overrides the number of
    /// processors of a host.
    ///
    /// # Errors
    /// If it is not such a log.
    pub fn read(path: &Path, processors: Option<u32>) -> Result<Self, Error> {
        let mut logged_jobs = Vec::new();
        let mut newest = 0;
        let (header, _) = jobs::read(path, &mut |record| {
            let times = [record.submit, record.start, record.end];
            newest = times.into_iter().flatten().fold(newest, i64::max);
            let Some(start) = record.start else { return };
            let named = record.nodes.as_ref().map(|nodes| nodes.len() as u32).filter(|&n| n > 0);
            let hosts = named.or(record.node_count).unwrap_or(0);
            let processors = record.processors.unwrap_or(0);
            let ended = record.end.is_some_and(|end| end > start);
            if (hosts > 0 || processors > 0)
                && (ended || record.end.is_none() && record.state == jobs::State::Running)
            {
                logged_jobs.push(LoggedJob { start, end: record.end, hosts, processors });
            }
        })?;
        let hosts = header.max_nodes.filter(|&n| n > 0);
        let processors = processors.or_else(|| per_host(&header));
        let (Some(hosts), Some(processors_per_host)) = (hosts, processors) else {
            let what = format!("{}: it does not say how large its machine is", path.display());
            return Err(Error::input(what).hint(
                "a log in Standard Workload Format with MaxNodes and MaxProcs in its header is needed",
            ));
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let jobs = requests(logged_jobs, processors_per_host, newest);
        Ok(Self { name, path: Some(path.to_owned()), jobs, processors_per_host, hosts })
    }

    /// Leaves out jobs that are smaller than a host.
    pub fn keep_whole_host_jobs(&mut self) {
        self.jobs.retain(|w| w.processors >= self.processors_per_host);
    }

    /// Its jobs on a machine that is `scale` times as large as theirs (by default according to its hosts), scaled in number and
    /// size: they start at their times where hosts are free, otherwise as soon as there are.
    pub fn placed(
        &self,
        topology: &Topology,
        scale: Option<f64>,
        by: &Allocator,
        seed: u64,
    ) -> Placed {
        let per_host = self.processors_per_host;
        let machine = Machine::new(topology, per_host);
        let usual = || machine.len() as f64 / f64::from(self.hosts.max(1));
        let scale = scale.unwrap_or_else(usual);
        let requests = scaled(&self.jobs, per_host, scale);
        let (history, _) = History::scheduled(&machine, &requests, by, seed);
        Placed { history, scale }
    }
}

/// Processors of a host, where a log's header has both numbers.
pub fn per_host(header: &swf::Header) -> Option<u32> {
    let nodes = header.max_nodes.filter(|&n| n > 0)?;
    Some(header.max_procs?.div_ceil(nodes).max(1))
}

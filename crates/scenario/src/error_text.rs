//! Why a simulation has no result, in words.

use std::fmt::Write as _;

use darkfiber_analysis::Names;
use darkfiber_fabric::{ChannelId, Topology};
use darkfiber_workload::schedule::Op;

use crate::{Job, SimError};

impl SimError {
    /// Why there is no result, with the names of jobs, hosts and switches.
    pub fn describe(&self, jobs: &[Job], topology: &Topology) -> String {
        let names = Names::new(&topology.fabric);
        let stuck = match self {
            Self::Stuck(stuck) => stuck,
            Self::NoRoute(lost) => {
                let (from, to) = (names.terminal(lost.from), names.terminal(lost.to));
                return format!("the tables have no route from {from} to {to}");
            }
            Self::Config(why) => return why.to_string(),
            Self::Deadlock(cycle) => {
                let channel = |(c, lane): &(ChannelId, u8)| {
                    let n = names.channel(*c);
                    format!(
                        "{} port {} -> {} port {}, lane {lane}",
                        n.from, n.from_port, n.to, n.to_port
                    )
                };
                let all: Vec<String> = cycle.iter().map(channel).collect();
                return format!(
                    "deadlock: each of these buffers is full of packets for the next one: {}",
                    all.join("; ")
                );
            }
        };
        let mut text = format!("ranks wait forever ({} operations)", stuck.waiting);
        for (i, &(job, rank, op, what)) in stuck.examples.iter().enumerate() {
            let lead = if i == 0 { ": " } else { "; " };
            let name = &jobs[job as usize].name;
            let _infallible = write!(text, "{lead}rank {rank} of {name}, operation {op}, ");
            let _infallible = match what {
                Op::Send { to, bytes, .. } => {
                    write!(text, "has {bytes} B for rank {to}, who asks for nothing")
                }
                Op::Recv { from, tag, .. } => write!(text, "waits for rank {from} with tag {tag}"),
                Op::Put { to, bytes } => write!(text, "puts {bytes} B at rank {to}"),
                Op::Compute { .. } => write!(text, "computes"),
            };
        }
        text
    }
}

//! Messages and packets by their classes, over all jobs.

use std::collections::BTreeMap;

use darkfiber_packetsim::Measured;

use crate::Job;
use crate::pairs::{Pairs, Received};

/// What became of the messages of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassTotals {
    /// Name of the class.
    pub name: String,
    /// Number of jobs that have messages of it.
    pub jobs: usize,
    /// Totals of its messages; pairs are not kept.
    pub messages: Pairs,
    /// At the packet depth, results of its packets.
    pub packets: Option<Measured>,
}

/// Groups that packets are counted in: one for each class of messages of each job.
pub(crate) struct PacketGroups {
    /// By job its first group, and the number of all.
    first: Vec<usize>,
}

impl PacketGroups {
    pub(crate) fn new(jobs: &[Job]) -> Self {
        let mut first = vec![0];
        for job in jobs {
            first.push(first[first.len() - 1] + job.classes.len().max(1));
        }
        Self { first }
    }

    /// Number of groups.
    pub(crate) fn count(&self) -> usize {
        self.first[self.first.len() - 1]
    }

    /// The group of a job's messages of one of its classes.
    pub(crate) fn of(&self, job: usize, class: usize) -> usize {
        self.first[job] + class
    }

    /// Packets by job, of those by group.
    pub(crate) fn by_job(&self, groups: &[Measured]) -> Vec<Measured> {
        let sum = |groups: &[Measured]| {
            let mut all = groups[0].clone();
            groups[1..].iter().for_each(|group| all.add(group));
            all
        };
        self.first.windows(2).map(|ends| sum(&groups[ends[0]..ends[1]])).collect()
    }
}

/// Totals of each class that jobs name, in the order of names; packets by group, if they are known.
pub(crate) fn by_class(
    jobs: &[Job],
    received: &Received,
    packets: Option<(&PacketGroups, &[Measured])>,
) -> Vec<ClassTotals> {
    let mut all = BTreeMap::<&str, ClassTotals>::new();
    for (j, job) in jobs.iter().enumerate() {
        for (c, class) in job.classes.iter().enumerate() {
            let totals = all.entry(&class.name).or_insert_with(|| ClassTotals {
                name: class.name.clone(),
                jobs: 0,
                messages: Pairs::totals(),
                packets: packets.map(|_| Measured::new()),
            });
            // Short and long messages of a job may be of one class.
            let is_counted = job.classes[..c].iter().any(|before| before.name == class.name);
            totals.jobs += usize::from(!is_counted);
            let messages = received.of_classes[j].get(c).map_or(&received.pairs[j], |(_, of)| of);
            totals.messages.join_totals(messages, 1);
            if let (Some(sum), Some((groups, packets))) = (&mut totals.packets, packets) {
                sum.add(&packets[groups.of(j, c)]);
            }
        }
    }
    all.into_values().collect()
}

//! Communication profiles of jobs: a folder of files, each with the bytes between the ranks of one job.
//!
//! A profile has ranks and no places; the hosts of the job are known when it starts. Together they are the demands that routing
//! follows (Domke et al., "HyperX Topology: First At-Scale Implementation and Comparison to the Fat-Tree", SC'19, section 3.2.3).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use darkfiber_fabric::{Digest as Words, Fabric, TerminalId, natural_order};
use darkfiber_operate::Digest;
use darkfiber_routing::Demand;
use darkfiber_traces::schedules::{self, Options, Read};
use darkfiber_workload::CommMatrix;
use darkfiber_workload::demands::{NodeDemand, Profile, Scale, demands};

use crate::value::JobsValue;

/// Most files in the folder.
const MOST: usize = 100_000;

/// Bytes between ranks, by the id of the job.
pub(crate) type Profiles = BTreeMap<String, CommMatrix>;

/// Profiles that were read, and the state of their files.
#[derive(Clone, Default)]
pub(crate) struct ReadProfiles {
    pub(crate) of_job: Profiles,
    seen: Vec<(PathBuf, u64, Option<std::time::SystemTime>)>,
}

impl ReadProfiles {
    /// Reads the folder again; `None` if no file has changed. A file is named after its job: `4711`, or `4711.csv`. Hidden files are
    /// left out, so that a profile can be written under another name, and then renamed.
    pub(crate) fn read(&self, folder: &Path) -> Result<Option<Self>, String> {
        let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
        let mut seen = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let about = entry.metadata().map_err(failed)?;
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            if about.is_file() && !is_hidden {
                seen.push((entry.path(), about.len(), about.modified().ok()));
            }
            if seen.len() > MOST {
                return Err(format!("{}: more than {MOST} files", folder.display()));
            }
        }
        seen.sort();
        if seen == self.seen {
            return Ok(None);
        }
        let mut of_job = Profiles::new();
        for stamp in &seen {
            let path = &stamp.0;
            let job = path.file_stem().map(|s| s.to_string_lossy().into_owned());
            let job = job.unwrap_or_default();
            let is_as_before = self.seen.binary_search(stamp).is_ok();
            let matrix = match self.of_job.get(&job).filter(|_| is_as_before) {
                Some(known) => known.clone(),
                None => matrix(path)?,
            };
            if of_job.insert(job, matrix).is_some() {
                return Err(format!("{}: there is another profile of this job", path.display()));
            }
        }
        Ok(Some(Self { of_job, seen }))
    }
}

fn matrix(path: &Path) -> Result<CommMatrix, String> {
    let read = schedules::open(&[path.to_owned()], &Options::default());
    match read.map_err(|e| e.to_string())? {
        (Read::Matrix(mut matrix), _) => {
            matrix.merge();
            Ok(matrix)
        }
        _ => Err(format!(
            "{}: it is no profile: bytes between ranks are expected (a graph of mpiP, a square table, or a list `source destination bytes`)",
            path.display()
        )),
    }
}

/// Whether all profiles are among others, unaltered.
pub(crate) fn are_among(profiles: &Profiles, others: &Profiles) -> bool {
    profiles.iter().all(|(job, matrix)| others.get(job) == Some(matrix))
}

/// The identity of profiles.
pub(crate) fn digest(profiles: &Profiles) -> Digest {
    let mut words = Words::default();
    for (job, matrix) in profiles {
        job.bytes().for_each(|b| words.add(u64::from(b)));
        words.add(u64::from(matrix.ranks()) << 32);
        for &(from, to, bytes) in matrix.entries() {
            words.add(u64::from(from) << 32 | u64::from(to));
            words.add(bytes);
        }
    }
    Digest(words.value())
}

/// Demands of the jobs that run: by profile 255 for the most bytes of any pair of them, and 1 for every pair inside a job that has
/// no profile, or one for more ranks than fit.
pub(crate) fn demands_of(profiles: &Profiles, jobs: &JobsValue, fabric: &Fabric) -> Vec<Demand> {
    let mut seats = Vec::new();
    let mut all = Vec::new();
    for (places, id) in jobs.places.iter().zip(&jobs.names) {
        match profiles.get(id).filter(|matrix| matrix.ranks() > 0) {
            Some(matrix) => seats.push((matrix, seated(places, matrix.ranks() as usize, fabric))),
            None => all.extend(all_pairs(places)),
        }
    }
    let of_jobs: Vec<Profile<'_, TerminalId>> =
        seats.iter().map(|(matrix, nodes)| Profile { bytes: matrix.entries(), nodes }).collect();
    let found = demands(&of_jobs, Scale::Together).unwrap_or_default();
    all.extend(found.iter().map(|&NodeDemand { from, to, weight }| Demand { from, to, weight }));
    all.sort_unstable();
    all
}

/// Every pair of terminals alike.
pub(crate) fn all_pairs(places: &[TerminalId]) -> impl Iterator<Item = Demand> + '_ {
    let all = places.iter().flat_map(move |&from| places.iter().map(move |&to| (from, to)));
    all.filter(|(from, to)| from != to).map(|(from, to)| Demand { from, to, weight: 1 })
}

/// The terminal of each rank: blocks of ranks on hosts in the order of their names, as SLURM numbers them, and the ranks of a host on
/// its ports in turn.
fn seated(places: &[TerminalId], ranks: usize, fabric: &Fabric) -> Vec<TerminalId> {
    let mut of_host: BTreeMap<_, Vec<TerminalId>> = BTreeMap::new();
    for &t in places {
        of_host.entry(fabric.host_of(t)).or_default().push(t);
    }
    let mut hosts: Vec<_> = of_host.into_iter().collect();
    hosts.sort_by(|(a, _), (b, _)| natural_order(&fabric.host(*a).name, &fabric.host(*b).name));
    let per_host = ranks.div_ceil(hosts.len().max(1));
    let seat = |rank: usize| {
        let ports = &hosts[rank / per_host].1;
        ports[rank % per_host % ports.len()]
    };
    (0..ranks).map(seat).collect()
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::open;

    use super::*;

    fn jobs(places: &[&[u32]], fabric: &Fabric) -> JobsValue {
        let of = |(i, all): (usize, &&[u32])| {
            (all.iter().map(|&t| TerminalId(t)).collect(), format!("{}", 70 + i))
        };
        JobsValue::new(
            places.iter().enumerate().map(of).collect(),
            Digest(fabric.digest()),
            Vec::new(),
        )
    }

    #[test]
    fn ranks_sit_in_blocks_and_jobs_without_a_profile_count_one_a_pair() {
        let fabric = open("fattree2:n=4,m=2,r=2").expect("a spec").fabric;
        let dir = tempfile::tempdir().expect("a folder");
        // Four ranks on two hosts: 0 and 1 on the first, 2 and 3 on the second.
        std::fs::write(dir.path().join("70.txt"), "0 1 1000\n0 2 100\n1 3 100\n3 0 20\n")
            .expect("a file");
        std::fs::write(dir.path().join(".71"), "half").expect("a file");
        let read = ReadProfiles::default().read(dir.path()).expect("profiles").expect("new ones");
        assert!(read.read(dir.path()).expect("the same").is_none());
        let jobs = jobs(&[&[0, 5], &[1, 2]], &fabric);
        let found = demands_of(&read.of_job, &jobs, &fabric);
        let flat: Vec<_> = found.iter().map(|d| (d.from.0, d.to.0, d.weight)).collect();
        assert_eq!(flat, [(0, 5, 255), (1, 2, 1), (2, 1, 1), (5, 0, 26)]);
        // Another job's profile is a reason to look again; one that is gone is none.
        std::fs::write(dir.path().join("71"), "0 1 5\n").expect("a file");
        let more = read.read(dir.path()).expect("profiles").expect("a new one");
        assert!(are_among(&read.of_job, &more.of_job) && !are_among(&more.of_job, &read.of_job));
        assert_ne!(digest(&read.of_job), digest(&more.of_job));
        std::fs::write(dir.path().join("72"), "JOBID\n").expect("a file");
        let refused = more.read(dir.path()).err().expect("no profile");
        assert!(refused.contains("72"), "{refused}");
    }
}

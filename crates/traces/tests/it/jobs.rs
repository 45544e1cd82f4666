//! Logs of jobs: real ones have the counts that their data sheet states, and spoilt ones never panic.

use std::collections::BTreeSet;
use std::io::{BufReader, Read};
use std::path::Path;

use darkfiber_formats::{Diagnostics, Severity, hostlist, input};
use darkfiber_testkit::{lines, members, shared};
use darkfiber_traces::jobs::{
    self, JobLog, LOGS, Record, State, batsim, pairs, pbs, sacct, scontrol, slurmrestd, squeue, swf,
};
use proptest::prelude::*;

/// All jobs of a file of the shared data, read as its detected kind; `None` where it is absent.
fn log(name: &str, kind: JobLog) -> Option<(Vec<Record>, Diagnostics)> {
    let path = shared(&format!("data/{name}"))?;
    let text = input::read_text(&path).unwrap_or_else(|e| panic!("{e}"));
    let end = (0..=8192.min(text.len())).rev().find(|&n| text.is_char_boundary(n)).unwrap_or(0);
    assert_eq!(jobs::detect(&text[..end]), Some(&kind), "{name}");
    let mut reader = input::open(&path).unwrap_or_else(|e| panic!("{e}"));
    let mut found = Vec::new();
    let diagnostics =
        kind.jobs(&mut reader, &path, &mut |job| found.push(job)).unwrap_or_else(|e| panic!("{e}"));
    Some((found, diagnostics))
}

/// Distinct nodes, jobs on more than one, most nodes of a job.
fn nodes(jobs: &[Record]) -> (usize, usize, usize) {
    let lists = || jobs.iter().flat_map(|j| &j.nodes);
    let distinct: BTreeSet<&String> = lists().flatten().collect();
    let many = lists().filter(|n| n.len() > 1).count();
    (distinct.len(), many, lists().map(Vec::len).max().unwrap_or(0))
}

/// Jobs in short, a line each.
fn short(jobs: &[Record]) -> String {
    let line = |j: &Record| {
        let nodes = j.nodes.as_ref().map_or_else(|| "?".to_owned(), |n| hostlist::compress(n));
        let span = j.start.zip(j.end).map_or(-1, |(start, end)| end - start);
        let count = (j.node_count.unwrap_or(0), j.processors.unwrap_or(0));
        format!("{} {} {:?} {span} s on {nodes} {count:?}\n", j.line, j.id, j.state)
    };
    jobs.iter().map(line).collect()
}

/// Processor seconds, and processors, of all jobs; computed independently, too.
fn totals(jobs: &[Record]) -> (i64, i64) {
    let size = |j: &Record| i64::from(j.processors.unwrap_or(0));
    let span = |j: &Record| j.start.zip(j.end).map_or(0, |(start, end)| end - start);
    (jobs.iter().map(|j| size(j) * span(j)).sum(), jobs.iter().map(size).sum())
}

fn warned(d: &Diagnostics) -> usize {
    d.0.iter().filter(|d| d.severity > Severity::Note).count()
}

#[test]
fn logs_of_the_parallel_workloads_archive() {
    for (name, count, first, processors, told_of) in [
        ("HPC2N-first3170", 3_170, "1", 240, ""),
        ("KTH-SP2-1996-2.1-cln", 28_476, "15", 100, ""),
        (
            "NASA-iPSC-1993-3.1-cln",
            18_239,
            "1",
            128,
            "warning: 18239 jobs have no wait time (taken to start when submitted)\n",
        ),
        ("RICC-2010-2", 447_794, "1", 8_192, ""),
    ] {
        let Some((jobs, found)) = log(&format!("jobs/{name}.swf.gz"), swf::LOG) else {
            continue;
        };
        assert_eq!((jobs.len(), jobs[0].id.as_str()), (count, first), "{name}");
        assert_eq!(lines(&found.0), told_of, "{name}");
        assert!(jobs.iter().all(|j| j.nodes.is_none() && j.submit.is_some()));
        assert!(jobs.iter().all(|j| j.processors.is_none_or(|p| p <= processors)), "{name}");
    }
}

#[test]
fn header_of_an_archived_log() {
    let Some(path) = shared("data/jobs/KTH-SP2-1996-2.1-cln.swf.gz") else { return };
    let text = input::read_text(&path).unwrap_or_else(|e| panic!("{e}"));
    let header = swf::header(&text);
    assert_eq!((header.unix_start, header.max_nodes), (Some(843_480_031), Some(100)));
    assert_eq!((header.computer.as_deref(), header.max_procs), (Some("IBM SP2"), Some(100)));
}

#[test]
fn wagap_says_the_nodes() {
    let Some((jobs, found)) = log("jobs/wagap-2013.swf.gz", swf::LOG) else { return };
    assert_eq!(jobs.len(), 17_900);
    insta::assert_snapshot!(lines(&found.0), @r"
        line 4186: warning: run time -1359980917 (below zero; taken as unknown)
        line 4200: warning: run time -1359981026 (below zero; taken as unknown)
        ");
    assert_eq!(nodes(&jobs), (44, 334, 10));
    assert!(jobs.iter().all(|j| j.node_count.is_some() && j.partition.is_some()));
    // Two jobs have a run time below zero, that is no end.
    assert_eq!(totals(&jobs), (9_647_254_226, 149_386));
    let first = &jobs[0];
    assert_eq!((first.start, first.end), (Some(1_356_996_147), Some(1_357_052_158)));
    assert_eq!((first.processors, first.partition.as_deref()), (Some(64), Some("q_1d")));
}

#[test]
fn phillips_says_the_nodes() {
    let Some((jobs, found)) = log("jobs/xdmod-phillips.sacct.log.gz", sacct::LOG) else {
        return;
    };
    assert_eq!((jobs.len(), lines(&found.0).as_str()), (4_285, ""));
    assert_eq!(nodes(&jobs), (46, 20, 8));
    let none = jobs.iter().filter(|j| j.nodes.as_ref().is_some_and(Vec::is_empty)).count();
    assert_eq!(none, 239);
    assert_eq!(totals(&jobs), (42_364_758, 34_933));
    assert!(jobs.iter().all(|j| j.state == State::Completed && j.start <= j.end));
}

#[test]
fn sacct_with_headers() {
    if let Some((jobs, found)) = log("jobs/sacct_simple.log", sacct::LOG) {
        insta::assert_snapshot!(lines(&found.0), @"");
        insta::assert_snapshot!(short(&jobs), @r"
        2 1 Completed 84805 s on b001 (1, 32)
        3 2 Completed 12688 s on n001 (1, 32)
        4 3 Completed 2009 s on b[002-003] (2, 18)
        5 4 Completed 2003 s on b[002-003] (2, 18)
        ");
    }
    if let Some((jobs, found)) = log("jobs/sacct_dump2101.log", sacct::LOG) {
        insta::assert_snapshot!(lines(&found.0), @r"
        line 16: warning: 74 fields, expected 107: '|||||||||||||||||||||1|1|cpn-k07-05-02||188248|general-compu...' (a part of a row, or of a job's name; left out)
        note: 2 steps (parts of their jobs; passed over)
        ");
        insta::assert_snapshot!(short(&jobs), @r"
        2 4744528_255 Completed 0 s on  (1, 12)
        3 4801784_133 Completed 0 s on  (1, 12)
        4 4810966_372 Completed 0 s on  (1, 12)
        5 4810966_400 Completed 0 s on  (1, 12)
        6 4814610_104 Completed 0 s on  (1, 12)
        7 4814610_123 Completed 0 s on  (1, 12)
        8 4822203 Completed 128930 s on cpn-u22-13 (1, 25)
        11 4830973 Completed 259222 s on cpn-q06-12-01 (1, 40)
        12 4830974 Completed 259222 s on cpn-q06-12-01 (1, 40)
        13 4830975 Completed 259222 s on cpn-q06-12-01 (1, 40)
        14 4830976 Completed 259222 s on cpn-q06-12-01 (1, 40)
        15 4830977 Completed 259222 s on cpn-q06-12-01 (1, 40)
        ");
    }
    if let Some((jobs, found)) = log("jobs/sacct_submitline_multiline.log", sacct::LOG) {
        insta::assert_snapshot!(lines(&found.0), @"note: 7 steps (parts of their jobs; passed over)");
        insta::assert_snapshot!(short(&jobs), @r"
        2 7957382 Completed 56 s on cpn-v09-10 (1, 2)
        4 9067954 Completed 9600 s on cpn-q06-04-[01-02],cpn-q07-04-[01-02],cpn-q08-04-[01-02],cpn-q09-04-[01-02],cpn-u22-[16-17],cpn-u23-[17,25],cpn-u24-[18-19],cpn-u25-[20,36] (16, 576)
        15 7957382 Completed 56 s on cpn-v09-10 (1, 2)
        16 7957382 Completed 56 s on cpn-v09-10 (1, 2)
        17 7957382 Completed 56 s on cpn-v09-10 (1, 2)
        18 7957382 Completed 56 s on cpn-v09-10 (1, 2)
        ");
        let iozone = jobs.iter().find(|j| j.id == "9067954").expect("the job of 16 nodes");
        assert_eq!((iozone.node_count, iozone.processors), (Some(16), Some(576)));
    }
}

#[test]
fn samples_of_xdmod() {
    let mut text = String::new();
    for (name, body) in members("data/jobs/xdmod-shredder-inputs.tar.gz") {
        let kind = match jobs::detect(&body) {
            Some(kind) if [sacct::LOG, pbs::LOG].contains(kind) => kind,
            // Grid Engine and LSF are not read.
            other => {
                assert_eq!((other, name.contains("slurm") || name.contains("pbs")), (None, false));
                continue;
            }
        };
        let mut found = Vec::new();
        let diagnostics = kind
            .jobs(&mut body.as_bytes(), Path::new(&name), &mut |job| found.push(job))
            .unwrap_or_else(|e| panic!("{e}"));
        text.extend([&name, "\n", &short(&found), &lines(&diagnostics.0)]);
    }
    if !text.is_empty() {
        insta::assert_snapshot!(text, @r"
        pbs/input/accounting-logs.log
        1 6.edge.ccr.buffalo.edu Completed 2197 s on i02n[33,32,31,30] (4, 32)
        2 6 Completed 2197 s on i02n[33,32,31,30] (4, 32)
        3 6464684.anonhost Completed 9350 s on n404 (1, 4)
        4 2994.pbs Completed 156 s on c[1-5] (5, 65)
        5 2995.pbs Completed 156 s on c[1-2] (2, 12)
        6 7904 Completed 8407 s on ? (1, 0)
        7 10711 Completed 100000 s on node0703 (1, 28)
        8 10712 Completed 100000 s on node0703 (1, 28)
        9 3073070.[hostname_1] Completed 36072 s on [hostname_2] (1, 48)
        slurm/input/accounting-logs-with-job-arrays.log
        1 4103947_100 Completed 259200 s on d07n07s02,d07n19s02,d07n25s01,d07n28s01,d07n29s01,d07n31s02,d07n38s02,d09n04s[01-02],d09n05s02,d09n06s01,d09n07s01,d09n08s[01-02],d09n09s01,d09n11s[01-02],d09n13s01,d09n14s01,d09n15s01,d09n16s01,d09n17s01,d09n24s01,d09n25s02,d09n28s01,d09n35s01,d09n38s02,d13n[03,05,07-08,16] (32, 256)
        2 4103947_[1-3] Completed 259200 s on d07n07s02,d07n19s02,d07n25s01,d07n28s01,d07n29s01,d07n31s02,d07n38s02,d09n04s[01-02],d09n05s02,d09n06s01,d09n07s01,d09n08s[01-02],d09n09s01,d09n11s[01-02],d09n13s01,d09n14s01,d09n15s01,d09n16s01,d09n17s01,d09n24s01,d09n25s02,d09n28s01,d09n35s01,d09n38s02,d13n[03,05,07-08,16] (32, 256)
        3 4103947_[1,5] Completed 259200 s on d07n07s02,d07n19s02,d07n25s01,d07n28s01,d07n29s01,d07n31s02,d07n38s02,d09n04s[01-02],d09n05s02,d09n06s01,d09n07s01,d09n08s[01-02],d09n09s01,d09n11s[01-02],d09n13s01,d09n14s01,d09n15s01,d09n16s01,d09n17s01,d09n24s01,d09n25s02,d09n28s01,d09n35s01,d09n38s02,d13n[03,05,07-08,16] (32, 256)
        4 4103947_[9-11,20] Completed 259200 s on d07n07s02,d07n19s02,d07n25s01,d07n28s01,d07n29s01,d07n31s02,d07n38s02,d09n04s[01-02],d09n05s02,d09n06s01,d09n07s01,d09n08s[01-02],d09n09s01,d09n11s[01-02],d09n13s01,d09n14s01,d09n15s01,d09n16s01,d09n17s01,d09n24s01,d09n25s02,d09n28s01,d09n35s01,d09n38s02,d13n[03,05,07-08,16] (32, 256)
        5 4103947_[91,100-102] Completed 259200 s on d07n07s02,d07n19s02,d07n25s01,d07n28s01,d07n29s01,d07n31s02,d07n38s02,d09n04s[01-02],d09n05s02,d09n06s01,d09n07s01,d09n08s[01-02],d09n09s01,d09n11s[01-02],d09n13s01,d09n14s01,d09n15s01,d09n16s01,d09n17s01,d09n24s01,d09n25s02,d09n28s01,d09n35s01,d09n38s02,d13n[03,05,07-08,16] (32, 256)
        6 4103947_[9-11,13,16-20] Completed 259200 s on d07n07s02,d07n19s02,d07n25s01,d07n28s01,d07n29s01,d07n31s02,d07n38s02,d09n04s[01-02],d09n05s02,d09n06s01,d09n07s01,d09n08s[01-02],d09n09s01,d09n11s[01-02],d09n13s01,d09n14s01,d09n15s01,d09n16s01,d09n17s01,d09n24s01,d09n25s02,d09n28s01,d09n35s01,d09n38s02,d13n[03,05,07-08,16] (32, 256)
        slurm/input/accounting-logs.log
        1 4103947 Completed 259200 s on d07n07s02,d07n19s02,d07n25s01,d07n28s01,d07n29s01,d07n31s02,d07n38s02,d09n04s[01-02],d09n05s02,d09n06s01,d09n07s01,d09n08s[01-02],d09n09s01,d09n11s[01-02],d09n13s01,d09n14s01,d09n15s01,d09n16s01,d09n17s01,d09n24s01,d09n25s02,d09n28s01,d09n35s01,d09n38s02,d13n[03,05,07-08,16] (32, 256)
        2 4107166 Completed 252184 s on k10n26s01,k13n36s01,k13n37s01 (3, 36)
        3 4107219 Completed 50449 s on k07n07s01,k08n02s01,k08n05s01,k08n13s01 (4, 48)
        4 5692623 Completed 0 s on cpn-k16-35-01,cpn-k16-37-01 (2, 0)
        line 4: warning: 0 nodes, but 2 in the list (the list is taken)
        slurm/input/non-ended-job-state.log
        1 3451067 Running -1 s on cpn-k07-02-01 (1, 12)
        2 3483276 Pending -1 s on  (1, 40)
        slurm/input/unknown-job-state.log
        1 3451067 Unknown 0 s on cpn-k07-02-01 (1, 12)
        2 3483276 Unknown -1 s on cpn-k07-02-01 (1, 40)
        line 1: warning: unheard-of state 'FOO' (taken as unknown)
        line 2: warning: unheard-of state 'BAR' (taken as unknown)
        slurm/input/utf8-multibyte-chars.log
        1 4103947 Completed 259200 s on d07n07s02 (1, 8)
        ");
    }
}

#[test]
fn batsim_and_oar() {
    for (name, count, on) in
        [("batsim_easy_out_jobs", 801, (32, 587, 16)), ("oar_out_jobs", 800, (32, 598, 32))]
    {
        let Some((jobs, found)) = log(&format!("jobs/{name}.csv"), batsim::LOG) else {
            continue;
        };
        assert_eq!((jobs.len(), lines(&found.0).as_str()), (count, ""));
        assert_eq!(nodes(&jobs), on, "{name}");
        assert!(jobs.iter().all(|j| j.state == State::Completed && j.start <= j.end));
    }
}

#[test]
fn a_list_of_states_of_squeue() {
    let Some((jobs, found)) = log("slurm/gsi-squeue.txt", squeue::LOG) else { return };
    let count = |state| jobs.iter().filter(|j| j.state == state).count();
    assert_eq!((jobs.len(), lines(&found.0).as_str()), (42, ""));
    assert_eq!([State::Pending, State::Running, State::Completed].map(count), [4, 32, 6]);
    assert!(jobs.iter().all(|j| j.nodes.is_none()));
}

#[test]
fn jobs_of_slurmrestd() {
    let name = "slurm/slurmrestd-25.11-v0.0.43-jobs.json.gz";
    let Some((jobs, found)) = log(name, slurmrestd::LOG) else { return };
    assert_eq!((jobs.len(), lines(&found.0).as_str()), (30, ""));
    let count = |state| jobs.iter().filter(|j| j.state == state).count();
    assert_eq!([State::Pending, State::Running, State::Completed].map(count), [4, 2, 24]);
    let running: Vec<String> = jobs
        .iter()
        .filter(|j| j.state == State::Running)
        .map(|j| format!("{} {}", j.id, j.nodes.clone().unwrap_or_default().join(" ")))
        .collect();
    assert_eq!(running, ["5759 cn1 cn2 cn3", "5761 cn1 cn3 cn4"]);
    // As `squeue --json` it is the same.
    let path = shared(&format!("data/{name}")).expect("read above");
    let mut again = Vec::new();
    let mut reader = input::open(&path).expect("read above");
    squeue::LOG.jobs(&mut reader, &path, &mut |job| again.push(job)).expect("JSON");
    assert_eq!(again, jobs);
}

#[test]
fn hostlists_of_partitions_have_as_many_nodes_as_slurm_says() {
    let Some(path) = shared("data/slurm/puhti-scontrol-show-partitions.txt") else { return };
    let text = input::read_text(&path).unwrap_or_else(|e| panic!("{e}"));
    let value = |key: &'static str| {
        text.split_whitespace().filter_map(move |w| w.strip_prefix(key)).filter(|v| *v != "(null)")
    };
    let counts: Vec<usize> = value("TotalNodes=").map(|n| n.parse().expect("a number")).collect();
    let lists: Vec<&str> = value("Nodes=").collect();
    let expanded: Vec<usize> =
        lists.iter().map(|l| hostlist::expand(l).expect("a hostlist").len()).collect();
    assert_eq!(expanded, counts);
    assert_eq!(counts.iter().max(), Some(&1002));
    for list in lists {
        assert_eq!(hostlist::compress(&hostlist::expand(list).expect("a hostlist")), list);
    }
}

/// A text of every kind.
const TEXTS: &[(JobLog, &str)] = &[
    (
        squeue::LOG,
        "JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)\n1 b my x me R 1:02 2 a[7-8]\n2_[1-3] b y me PD 0:00 1 (Resources)\n",
    ),
    (squeue::LOG, "1,RUNNING,n[1-2]\n2,PENDING,\n"),
    (
        scontrol::LOG,
        "JobId=1 JobName=x\n   UserId=me(1) JobState=RUNNING StartTime=2020-01-01T00:00:00\n   NodeList=n[1-2] NumNodes=2\n\n",
    ),
    (
        sacct::LOG,
        "JobID|JobName|State|Submit|Start|End|NodeList|NNodes\n1|a|b|COMPLETED|2020-01-01T00:00:00|2020-01-01T00:00:00|1577836800|n[1,3-4]|3\n1.batch|b|COMPLETED||||n1|1\n2|a\nb|CANCELLED by 1|Unknown|Unknown|Unknown|None assigned|1\n",
    ),
    (
        slurmrestd::LOG,
        "{\"jobs\": [{\"job_id\": 1, \"job_state\": [\"RUNNING\"], \"nodes\": \"n[1-2]\", \"start_time\": {\"set\": true, \"number\": 5}}]}",
    ),
    (
        pbs::LOG,
        "01/26/2016 00:00:37;S;1.s;user=u start=5 exec_host=c1/0*13+c2/0-3\n01/26/2016 00:00:38;E;1.s;user=u start=5 end=7 exec_host=c1/0*13\n",
    ),
    (
        pbs::LOG,
        "Job Id: 7.s\n    job_state = R\n    exec_host = n1/0+n\n\t2/1\n    qtime = Fri Jan  2 03:04:05 2015\n",
    ),
    (
        batsim::LOG,
        "job_id,submission_time,starting_time,finish_time,allocated_resources\n1,0.5,1,2,1-2 5\n2,0,1,2,20 19\n",
    ),
    (
        swf::LOG,
        "; Version: 2.2\n; UnixStartTime: 5\n1 0 1 2 3 -1 -1 3 4 -1 1 1 1 -1 1 1 -1 -1 {1,2,2} q x\n2 0 -1 2 3 -1 -1 3 4 -1 5 1 1 -1 1 1 -1 -1\n",
    ),
    (pairs::LOG, "n1 5\nn2 5\nn3 6\n"),
];

#[test]
fn every_kind_is_known_by_its_content() {
    for &(kind, text) in TEXTS {
        assert_eq!(jobs::detect(text), Some(&kind), "{text}");
        let mut count = 0;
        let found = kind.jobs(&mut text.as_bytes(), Path::new("x"), &mut |_| count += 1);
        assert!(found.is_ok_and(|f| warned(&f) <= 1) && count > 0, "{text}");
    }
    for text in
        ["", "hello\n", "a b c\nd e f\n", "<html>", "{\"nodes\": []}", "SwitchName=s0 Nodes=n\n"]
    {
        assert_eq!(jobs::detect(text), None, "{text}");
    }
}

#[test]
fn a_million_wrong_lines_are_reported_in_short() {
    let text = format!("n1 7\n{}", "one\n".repeat(100_000));
    let found = pairs::LOG.jobs(&mut text.as_bytes(), Path::new("x"), &mut |_| ());
    let found = found.expect("one line is a pair");
    assert_eq!(found.0.len(), 21);
    insta::assert_snapshot!(found.0[20], @"warning: 99980 more lines of this kind (expected a node and a job; left out)");
}

/// A log without end, made while it is read.
struct Endless {
    line: &'static [u8],
    at: usize,
    left: usize,
}

impl Read for Endless {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.line.len() {
            self.at = 0;
            self.left -= 1;
        }
        if self.left == 0 {
            return Err(std::io::Error::other("the disk is gone"));
        }
        let n = into.len().min(self.line.len() - self.at);
        into[..n].copy_from_slice(&self.line[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

#[test]
fn jobs_come_before_the_end_of_the_log() {
    for (kind, line) in [
        (swf::LOG, "1 0 1 2 3 -1 -1 3 4 -1 1 1 1 -1 1 1 -1 -1\n"),
        (squeue::LOG, "1,RUNNING,n[1-2]\n"),
        (scontrol::LOG, "JobId=1 JobName=x UserId=me(1) JobState=RUNNING\n"),
        (pbs::LOG, "01/26/2016 00:00:38;E;1.s;user=u start=5 end=7 exec_host=c1/0*13\n"),
    ] {
        let log = Endless { line: line.as_bytes(), at: 0, left: 1000 };
        let mut jobs = 0;
        let end = kind.jobs(&mut BufReader::new(log), Path::new("log"), &mut |_| jobs += 1);
        let error = end.map(|_| ()).map_err(|e| e.to_string());
        assert_eq!(error, Err("cannot read log: the disk is gone".to_owned()));
        // The last job may still be running.
        assert!((999..=1000).contains(&jobs), "{} {jobs}", kind.name);
    }
}

#[test]
fn lines_without_end_are_refused_in_time() {
    for unit in ["a\n", "a|", "[", "n[1-9],", "1 ", "{\"", ";", "x=y ", "1/1+", "\u{1F600}"] {
        let text = unit.repeat(1 << 19);
        for kind in &LOGS {
            let mut count = 0;
            let _ = kind.jobs(&mut text.as_bytes(), Path::new("x"), &mut |_| count += 1);
            // Half a million numbers in a line of a workload are a job.
            assert!(count <= usize::from(*kind == swf::LOG), "{} {unit}", kind.name);
        }
    }
}

#[test]
fn chunks_do_not_matter() {
    for &(kind, text) in TEXTS.iter().filter(|(k, _)| *k != slurmrestd::LOG) {
        let read = |capacity: usize| {
            let mut reader = BufReader::with_capacity(capacity, text.as_bytes());
            let mut jobs = Vec::new();
            let found = kind.jobs(&mut reader, Path::new("x"), &mut |job| jobs.push(job));
            (jobs, found.map(|f| lines(&f.0)).map_err(|e| e.to_string()))
        };
        assert_eq!(read(3), read(8192));
    }
}

fn try_all(bytes: &[u8]) {
    for kind in &LOGS {
        let mut count = 0;
        match kind.jobs(&mut &*bytes, Path::new("x"), &mut |job| {
            assert!(job.nodes.is_none_or(|n| n.iter().collect::<BTreeSet<_>>().len() == n.len()));
            count += 1;
        }) {
            Ok(found) => assert!(count > 0 || warned(&found) == 0 || *kind != pairs::LOG),
            Err(e) => assert!(count == 0 && !e.to_string().is_empty()),
        }
    }
    let _ = jobs::detect(&input::text(bytes));
}

proptest! {
    #[test]
    fn spoilt_texts_do_not_panic(
        which in 0..TEXTS.len(),
        edits in prop::collection::vec(
            (any::<usize>(), prop::sample::select(b"[]{}|,;:=-+*/. \n\t\"0179aE\xff\0".to_vec()), 0usize..3),
            1..12,
        ),
    ) {
        let mut bytes = TEXTS[which].1.as_bytes().to_vec();
        for (at, byte, how) in edits {
            let at = at % (bytes.len() + 1);
            match how {
                0 => bytes.insert(at, byte),
                1 if at < bytes.len() => bytes[at] = byte,
                _ if at < bytes.len() => {
                    bytes.remove(at);
                }
                _ => {}
            }
        }
        try_all(&bytes);
    }

    #[test]
    fn any_text_does_not_panic(text in "(JOBID|JobID|JobId=|Job Id:|\\{\"jobs\":|[0-9]{1,4}|R|\\[|\\]|[|,;= \n\t-]|n1|\\PC){0,60}") {
        try_all(text.as_bytes());
    }
}

/// The corpus of the fuzz target runs through the readers, and each file is recognised.
#[test]
fn replay() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/jobs");
    let mut detected = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a corpus") {
        let path = entry.expect("an entry").path();
        let bytes = std::fs::read(&path).expect("a file");
        let text = String::from_utf8_lossy(&bytes);
        for kind in &LOGS {
            let _either_way = kind.jobs(&mut bytes.as_slice(), &path, &mut |_| ());
        }
        if let Ok(names) = hostlist::expand(&text) {
            let again = hostlist::expand(&hostlist::compress(&names));
            assert_eq!(again.ok(), Some(names), "{}", path.display());
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        detected.push((name, jobs::detect(&text)));
    }
    detected.sort_by(|a, b| a.0.cmp(&b.0));
    let kinds: Vec<(&str, Option<&str>)> =
        detected.iter().map(|(n, k)| (n.as_str(), k.map(|k| k.name))).collect();
    assert_eq!(
        kinds,
        [
            ("hostlist", None),
            ("pairs", Some("pairs")),
            ("sacct", Some("sacct")),
            ("scontrol", Some("scontrol")),
            ("slurmrestd", Some("slurmrestd")),
            ("squeue", Some("squeue")),
            ("swf", Some("swf")),
            ("topology.conf", None),
        ]
    );
}

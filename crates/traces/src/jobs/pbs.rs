//! PBS, Torque and OpenPBS: accounting logs, and `qstat -f`, as text or with `-F json`.
//!
//! A line of an accounting log is `01/26/2016 00:00:37;E;2994.pbs;user=me queue=q start=1453766281 exec_host=...`; its
//! letter is the event (`Q`ueued, `S`tarted, `E`nded, `A`borted, `D`eleted, ...). Times of keys are Unix
//! seconds. `qstat -f` has blocks below `Job Id: 2994.pbs` with `    key = value`; long values go on in
//! lines that begin with a tab, or with more blanks where a text was pasted; SLURM's own `qstat -f` has tabs before keys. Its dates have
//! no zone and are taken as UTC.
//!
//! `exec_host` is `n1/0+n1/1+n2/0*8+n3/0-3`: a host with the number of a processor, a range of such numbers, or
//! `*` and how many processors. `exec_vnode` is `(n1:ncpus=8)+(n2:ncpus=4)`: on a Cray these are the nodes, and `exec_host` names
//! service nodes.

use super::lines::{Remarks, shown};
use super::log::{ByLine, JobLog, Jobs, by_line};
use super::record::{Record, State, leading, some, unique};
use darkfiber_formats::calendar::{self, read_ctime};
use darkfiber_formats::known_by::KnownBy;
use std::collections::{BTreeMap, BTreeSet};

/// Whether a line is of an accounting log: `MM/DD/YYYY hh:mm:ss;X;`.
fn is_accounting(line: &str) -> bool {
    let shape: String = line
        .chars()
        .take(21)
        .map(|c| match c {
            '0'..='9' => '0',
            'A'..='Z' | 'a'..='z' => 'A',
            c => c,
        })
        .collect();
    shape.starts_with("00/00/0000 00:00:00;A") && line.matches(';').count() >= 3
}

/// Whether a line opens a job of `qstat -f`.
fn is_block(line: &str) -> bool {
    line.starts_with("Job Id:")
}

/// The registry entry of this format.
///
/// Jobs are emitted when they end; those that have not ended by the end of the log follow in the order of their first
/// lines, so that memory is used only for running jobs.
pub const LOG: JobLog = JobLog {
    name: "pbs",
    what: "an accounting log of PBS or output of `qstat -f`",
    known_by: &[KnownBy::Line(|l| is_accounting(l) || is_block(l))],
    read: by_line::<Pbs>,
};

#[derive(Default)]
struct Pbs {
    accounts: Accounts,
    block: Option<Block>,
    arrays: Arrays,
}

/// Jobs of an accounting log that have not ended.
#[derive(Default)]
struct Accounts {
    open: BTreeMap<String, Record>,
    /// Seconds that dates of lines are ahead of Unix times: they are of the server's time zone, and a job starts when its line is written.
    zone: i64,
}

/// Arrays of jobs, which are known to be such by `[]` in their ids, until it is known whether their elements are listed, too.
#[derive(Default)]
pub(super) struct Arrays {
    wait: Vec<Record>,
    /// Ids of arrays that have elements, without those.
    listed: BTreeSet<String>,
}

impl Arrays {
    /// Passes a job on, but for arrays.
    pub(super) fn take(&mut self, record: Record) -> Option<Record> {
        let Some((array, rest)) = record.id.split_once('[') else { return Some(record) };
        if rest.starts_with(']') {
            self.wait.push(record);
            return None;
        }
        self.listed.insert(array.to_owned());
        Some(record)
    }

    /// Arrays of which no element was listed: elements have the nodes, the array itself never has any.
    pub(super) fn rest(self) -> impl Iterator<Item = Record> {
        let Self { wait, listed } = self;
        let is_alone =
            move |r: &Record| r.id.split_once('[').is_none_or(|(array, _)| !listed.contains(array));
        wait.into_iter().filter(is_alone)
    }
}

impl ByLine for Pbs {
    const EXPECTED: &'static str = LOG.what;

    fn line(&mut self, line: &str, jobs: &mut Jobs<'_>) {
        if is_block(line) {
            if let Some(block) = self.block.replace(Block::new(line, jobs.number)) {
                self.finish(block, jobs);
            }
        } else if is_accounting(line) {
            match self.accounts.event(line, jobs.number, &mut jobs.remarks) {
                Ok(Some(record)) => jobs.give(record),
                // A log may contain only events that end no job.
                Ok(None) => jobs.pass(1),
                Err(what) => jobs.left_out(what, "left out"),
            }
        } else if let Some(block) = &mut self.block {
            block.line(line);
        } else if !line.trim().is_empty() {
            let what = format!("neither an event nor a job: '{}'", shown(line.trim()));
            jobs.left_out(what, "expected MM/DD/YYYY hh:mm:ss;E;id;... or Job Id:; left out");
        }
    }

    fn end(&mut self, jobs: &mut Jobs<'_>) {
        if let Some(block) = self.block.take() {
            self.finish(block, jobs);
        }
        std::mem::take(&mut self.arrays).rest().for_each(|record| jobs.give(record));
        let mut left: Vec<Record> = std::mem::take(&mut self.accounts.open).into_values().collect();
        left.sort_by_key(|r| r.line);
        for record in left {
            jobs.give(record);
        }
    }
}

impl Pbs {
    fn finish(&mut self, block: Block, jobs: &mut Jobs<'_>) {
        match self.arrays.take(block.job(&mut jobs.remarks)) {
            Some(record) => jobs.give(record),
            None => jobs.pass(1),
        }
    }
}

impl Accounts {
    /// Processes a line of an accounting log, which may end a job, or a run of it.
    fn event(
        &mut self,
        line: &str,
        number: usize,
        remarks: &mut Remarks,
    ) -> Result<Option<Record>, String> {
        let mut parts = line.splitn(4, ';');
        let date = date(parts.next().unwrap_or_default());
        let letter = parts.next().unwrap_or_default();
        let id = parts.next().unwrap_or_default().trim();
        if id.is_empty() {
            return Err("no job id".to_owned());
        }
        let known = self.open.get(id).cloned();
        let ran = known.clone().filter(|r| r.state == State::Running);
        let mut fresh = || {
            let values = values(parts.next().unwrap_or_default());
            let record = described(id, &values, number, remarks);
            match self.open.remove(id) {
                Some(known) => merged(known, record),
                None => record,
            }
        };
        let ended = |run: Record, end: Option<i64>| {
            let end = end.filter(|end| run.start.is_none_or(|start| *end >= start));
            Record { state: State::Completed, end, ..run }
        };
        let now = date.map(|date| date - self.zone);
        match letter {
            "Q" | "S" => {
                let mut record = fresh();
                record.state = if letter == "S" { State::Running } else { State::Pending };
                let start = record.start.filter(|_| letter == "S");
                if let (Some(start), Some(date)) = (start, date) {
                    self.zone = zone(date, start).unwrap_or(self.zone);
                }
                self.open.insert(id.to_owned(), record.settle());
                // A server that crashed writes no end of the run before.
                let before = ran.filter(|run| start.is_some() && run.start != start);
                Ok(before.map(|run| {
                    let what = format!("job {id} starts again, and its run before has no end");
                    remarks.warn(number, what, "taken to have run until then");
                    ended(run, start)
                }))
            }
            // Sent back into the queue: the run before is over.
            "R" => {
                let record = Record { state: State::Pending, ..fresh() };
                let end = record.end.or(now);
                let waits = Record { nodes: None, ..record };
                self.open.insert(id.to_owned(), waits.settle());
                Ok(ran.map(|run| ended(run, end)))
            }
            "E" => Ok(Some(Record { state: State::Completed, ..fresh() })),
            "A" => {
                self.open.remove(id);
                Ok(known.map(|known| match known.state {
                    State::Running => ended(known, now),
                    _ => Record { state: State::Completed, ..known },
                }))
            }
            // A job that ran and is deleted also has an `E` line.
            "D" => {
                if let Some(known) = self.open.get_mut(id).filter(|r| r.state == State::Pending) {
                    known.state = State::Completed;
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }
}

/// The date of a line, `MM/DD/YYYY hh:mm:ss`, as if it were UTC.
fn date(text: &str) -> Option<i64> {
    let (day, time) = text.trim().split_once(' ')?;
    let [month, day, year] = day.split('/').collect::<Vec<_>>()[..] else { return None };
    calendar::read(&format!("{year}-{month}-{day}T{time}"))
}

/// Seconds that a clock is ahead of UTC which shows a date at a time: a multiple of a quarter of an hour, if it is a time zone's.
fn zone(date: i64, time: i64) -> Option<i64> {
    const QUARTER: i64 = 900;
    let ahead = date - time;
    let zone = (ahead + QUARTER / 2).div_euclid(QUARTER) * QUARTER;
    (zone.abs() <= 14 * 3_600 && (ahead - zone).abs() <= 120).then_some(zone)
}

/// Merges two records of one job.
fn merged(known: Record, fresh: Record) -> Record {
    Record {
        submit: fresh.submit.or(known.submit),
        start: fresh.start.or(known.start),
        end: fresh.end,
        nodes: fresh.nodes.or(known.nodes),
        node_count: fresh.node_count.or(known.node_count),
        processors: fresh.processors.or(known.processors),
        user: fresh.user.or(known.user),
        partition: fresh.partition.or(known.partition),
        line: known.line,
        ..fresh
    }
}

/// Parses `key=value key=value`; a word without `=` continues the value before. The first of two equal keys is taken.
fn values(text: &str) -> BTreeMap<String, String> {
    let mut values: BTreeMap<String, String> = BTreeMap::new();
    let mut last: Option<String> = None;
    for word in text.split_whitespace() {
        if let Some((key, value)) = word.split_once('=') {
            last = (!values.contains_key(key)).then(|| key.to_owned());
            values.entry(key.to_owned()).or_insert_with(|| value.to_owned());
        } else if let Some(value) = last.as_ref().and_then(|k| values.get_mut(k)) {
            value.push(' ');
            value.push_str(word);
        }
    }
    values
}

/// The record described by keys; those of accounting logs and of `qstat -f` are alike.
fn described(
    id: &str,
    values: &BTreeMap<String, String>,
    line: usize,
    remarks: &mut Remarks,
) -> Record {
    let mut time = |keys: &[&str]| {
        let text = keys.iter().find_map(|&k| values.get(k))?;
        // NASA's `qstat` has the date behind it, in parentheses.
        let number = text.split(" (").next().unwrap_or(text).trim();
        let time = number.parse().ok().filter(|&t| t > 0).or_else(|| asctime(text));
        if time.is_none() {
            remarks.warn(line, format!("'{}' is not a time", shown(text)), "taken as unknown");
        }
        time
    };
    let (submit, start, end) = (
        time(&["qtime", "ctime"]),
        time(&["start", "stime", "start_time"]),
        time(&["end", "comp_time", "obittime"]),
    );
    let (nodes, listed) = values.get("exec_host").map_or((None, None), |text| {
        exec_host(text).map_or_else(
            |what| {
                remarks.warn(line, what, "expected exec_host=n1/0+n2/0*8; nodes unknown");
                (None, None)
            },
            |(nodes, processors)| (Some(nodes), Some(processors)),
        )
    });
    let nodes = match values.get("exec_vnode").map(|text| vnodes(text)) {
        Some(vnodes) if !are_parts(&vnodes, nodes.as_deref().unwrap_or_default()) => Some(vnodes),
        _ => nodes,
    };
    let count = |keys: &[&str]| keys.iter().find_map(|&k| leading(values.get(k)?));
    // Several chunks may be on one host, but none is on two.
    let chunks = count(&["Resource_List.nodect"]).filter(|&chunks| chunks > 0);
    if let (Some(nodes), Some(chunks)) = (&nodes, chunks)
        && nodes.len() > chunks as usize
    {
        let what = format!("{} hosts in exec_host, but nodect is {chunks}", nodes.len());
        remarks.warn(line, what, "the hosts are taken; is a long line broken?");
    }
    let owner = values.get("Job_Owner").and_then(|o| o.split('@').next());
    Record {
        id: id.to_owned(),
        state: State::Unknown,
        submit,
        start,
        end,
        node_count: nodes
            .as_ref()
            .map(|n| n.len() as u32)
            .or_else(|| count(&["Resource_List.nodect"])),
        nodes,
        processors: listed
            .filter(|&p| p > 0)
            .or_else(|| count(&["resources_used.ncpus", "Resource_List.ncpus"])),
        user: values.get("user").map(String::as_str).or(owner).and_then(some),
        partition: values.get("queue").and_then(|q| some(q)),
        line,
    }
}

/// Hosts in order, each once, and how many processors they give.
fn exec_host(text: &str) -> Result<(Vec<String>, u32), String> {
    let mut hosts = Vec::new();
    let mut processors = 0u32;
    let has_processors = text.contains('/');
    for item in text.split('+').map(str::trim).filter(|i| !i.is_empty()) {
        let Some((host, slots)) = item.split_once('/').or((!has_processors).then_some((item, "0")))
        else {
            return Err(format!("'{}' names no processor, as others do", shown(item)));
        };
        if host.is_empty() || host.contains(char::is_whitespace) {
            return Err(format!("'{}' names no host", shown(item)));
        }
        let given = match slots.split_once('*') {
            Some((_, times)) => times.parse().ok(),
            None => slots.split(',').try_fold(0u32, |sum, range| {
                let (first, last) = range.split_once('-').unwrap_or((range, range));
                let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
                sum.checked_add(last.checked_sub(first)?.checked_add(1)?)
            }),
        };
        let given =
            given.ok_or_else(|| format!("'{}' does not say which processors", shown(item)))?;
        processors = processors.saturating_add(given);
        if hosts.last().is_none_or(|last| last != host) {
            hosts.push(host.to_owned());
        }
    }
    Ok((unique(hosts), processors))
}

/// The nodes of `(n1[0]:ncpus=2+n1[1]:ncpus=3)+(n2:ncpus=4)` in order, each once.
fn vnodes(text: &str) -> Vec<String> {
    let name = |item: &str| {
        let item = item.trim().trim_matches(['(', ')']);
        item.split([':', '[']).next().unwrap_or_default().to_owned()
    };
    unique(text.split('+').map(name).filter(|name| !name.is_empty()).collect())
}

/// Whether some of these are hosts of a list or parts of them, as their names begin, or there are none: domains do not matter.
fn are_parts(some: &[String], hosts: &[String]) -> bool {
    let short = |name: &String| name.split('.').next().unwrap_or_default().to_owned();
    let hosts: Vec<String> = hosts.iter().map(short).collect();
    let is_part = |name: &String| hosts.iter().any(|host| name.starts_with(host));
    some.is_empty() || some.iter().any(is_part)
}

/// A date like `Fri Jan  2 03:04:05 2015`, as UTC; the day of the week does not matter.
fn asctime(text: &str) -> Option<i64> {
    read_ctime(text.trim().split_once(' ')?.1.trim())
}

/// A job of `qstat -f` so far.
pub(super) struct Block {
    id: String,
    line: usize,
    values: BTreeMap<String, String>,
    last: String,
    /// Blanks before the first key.
    before: Option<String>,
}

impl Block {
    /// A job of JSON, whose keys have those around them before a dot.
    pub(super) fn of_values(id: &str, number: usize, values: BTreeMap<String, String>) -> Self {
        Self { id: id.to_owned(), line: number, values, last: String::new(), before: None }
    }

    fn new(line: &str, number: usize) -> Self {
        let id = line.trim_start_matches("Job Id:").trim().to_owned();
        Self::of_values(&id, number, BTreeMap::new())
    }

    fn line(&mut self, line: &str) {
        let body = line.trim_start();
        let before = &line[..line.len() - body.len()];
        // All keys stand below the first one; what goes on stands elsewhere.
        match body.split_once(" = ") {
            Some((key, value)) if self.before.as_ref().is_none_or(|first| first == before) => {
                self.before.get_or_insert_with(|| before.to_owned());
                key.clone_into(&mut self.last);
                self.values.entry(key.to_owned()).or_insert_with(|| value.to_owned());
            }
            _ => {
                if let Some(value) = self.values.get_mut(&self.last) {
                    value.push_str(body);
                }
            }
        }
    }

    pub(super) fn job(self, remarks: &mut Remarks) -> Record {
        let state = match self.values.get("job_state").map_or("", |s| s.trim()) {
            "Q" | "H" | "W" | "T" | "M" => State::Pending,
            "R" | "E" | "S" | "U" | "B" => State::Running,
            "C" | "F" | "X" => State::Completed,
            "" => State::Unknown,
            other => {
                let what = format!("unheard-of state '{}'", shown(other));
                remarks.warn(self.line, what, "taken as unknown");
                State::Unknown
            }
        };
        Record { state, ..described(&self.id, &self.values, self.line, remarks) }.settle()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::testing::{all, one, short};

    #[test]
    fn service_nodes_are_not_those_of_a_job() {
        let head = "Job Id: 7.sdb\n    job_state = R\n    stime = 1593192782 (Fri Jun 26 17:33:02 UTC 2020)\n";
        for (text, expected) in [
            (
                "exec_host = mom2/178*24+mom2/179*24\n    exec_vnode = (a_2907:ncpus=24)+(a_2908:ncpus=24)",
                "a_2907 a_2908",
            ),
            (
                "exec_host = n1/0*8+n2/0*4\n    exec_vnode = (n1[0]:ncpus=4+n1[1]:ncpus=4)+(n2:ncpus=4)",
                "n1 n2",
            ),
            ("exec_host = n1.x.org/0*8\n    exec_vnode = (n1:ncpus=8)", "n1.x.org"),
            ("exec_vnode = (n1:ncpus=8)+(n1:ncpus=8)", "n1"),
            (
                "exec_host = node5/0*2+n5/0*2\n    exec_vnode = (node5-v0:ncpus=2)+(n5-v1:ncpus=2)",
                "node5 n5",
            ),
        ] {
            let job = one(LOG.read, &format!("{head}    {text}\n"));
            let nodes = job.nodes.expect("nodes").join(" ");
            assert_eq!((nodes.as_str(), job.start), (expected, Some(1_593_192_782)), "{text}");
        }
    }

    #[test]
    fn hosts_count_their_processors() {
        for (text, expected) in [
            ("n1/0+n1/1+n2/0*8", "n1 n2: 10"),
            ("c1/0-3+c2/0-7", "c1 c2: 12"),
            ("c1/0,2,4-5", "c1: 4"),
            ("[h]/0*0", "[h]: 0"),
            ("n1+n2+n1", "n1 n2: 3"),
            ("n1/x", "'n1/x' does not say which processors"),
            ("/0", "'/0' names no host"),
            ("n1/9-2", "'n1/9-2' does not say which processors"),
        ] {
            let found =
                exec_host(text).map_or_else(|e| e, |(h, p)| format!("{}: {p}", h.join(" ")));
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn events_are_joined_to_jobs() {
        let (jobs, messages) = all(
            LOG.read,
            "\
01/26/2016 00:00:01;Q;1.s;queue=q\n\
01/26/2016 00:00:02;S;1.s;user=me queue=q qtime=100 start=200 exec_host=a/0+b/0\n\
01/26/2016 00:00:03;Q;2.s;queue=q\n\
01/26/2016 00:00:03;L;license;floating license hour:0\n\
01/26/2016 00:00:04;E;1.s;user=me jobname=a b exec_host=a/0+b/0 end=300 start=200 Exit_status=0\n\
01/26/2016 00:00:05;S;3.s;user=you start=400 exec_host=a/0*4\n\
01/26/2016 00:00:06;D;2.s;requestor=me\n\
01/26/2016 00:00:06;Q;4.s;queue=q\n\
01/26/2016 00:00:06;A;4.s;\n\
01/26/2016 00:00:06;E;;user=me\n\
01/26/2016 00:00:06;E;5.s;start=noon exec_host=a/x Resource_List.nodect=3:ppn=4\n\
oops\n",
        );
        insta::assert_snapshot!(short(&jobs), @r#"
        1: 1.s Completed 200..300 on a+b, Some(2) Some(2), "me" "q"
        8: 4.s Completed ?..? on ?, None None, "?" "q"
        11: 5.s Completed ?..? on ?, Some(3) None, "?" "?"
        3: 2.s Completed ?..? on ?, None None, "?" "q"
        6: 3.s Running 400..? on a, Some(1) Some(4), "you" "?"
        "#);
        insta::assert_snapshot!(messages, @r"
        line 10: warning: no job id (left out)
        line 11: warning: 'noon' is not a time (taken as unknown)
        line 11: warning: 'a/x' does not say which processors (expected exec_host=n1/0+n2/0*8; nodes unknown)
        line 12: warning: neither an event nor a job: 'oops' (expected MM/DD/YYYY hh:mm:ss;E;id;... or Job Id:; left out)
        ");
        insta::assert_snapshot!(all(LOG.read, "oops\n").1, @"log: no line says anything about a job; line 1: neither an event nor a job: 'oops'; expected an accounting log of PBS or output of `qstat -f`");
    }

    /// What was sent back into the queue ran, and so did what was aborted. Dates are of the server's zone, here an hour ahead of UTC.
    #[test]
    fn runs_that_did_not_end_well_count() {
        let (jobs, messages) = all(
            LOG.read,
            "\
01/01/2016 01:00:00;S;1.s;qtime=1451600000 start=1451606400 exec_host=a/0+b/0\n\
01/01/2016 03:00:00;R;1.s;qtime=1451600000 start=1451606400 exec_host=a/0+b/0 end=1451613500\n\
01/01/2016 05:00:00;S;1.s;qtime=1451600000 start=1451620800 exec_host=c/0\n\
01/01/2016 06:00:00;R;1.s;\n\
01/01/2016 07:00:00;S;1.s;qtime=1451600000 start=1451628000 exec_host=d/0\n\
01/01/2016 08:00:01;S;1.s;qtime=1451600000 start=1451631601 exec_host=e/0\n\
01/01/2016 09:00:00;E;1.s;qtime=1451600000 start=1451631601 exec_host=e/0 end=1451635200\n\
01/01/2016 09:00:00;S;2.s;start=1451635200 exec_host=f/0\n\
01/01/2016 09:30:00;A;2.s;\n",
        );
        insta::assert_snapshot!(short(&jobs), @r#"
        1: 1.s Completed 1451606400..1451613500 on a+b, Some(2) Some(2), "?" "?"
        1: 1.s Completed 1451620800..1451624400 on c, Some(1) Some(1), "?" "?"
        1: 1.s Completed 1451628000..1451631601 on d, Some(1) Some(1), "?" "?"
        1: 1.s Completed 1451631601..1451635200 on e, Some(1) Some(1), "?" "?"
        8: 2.s Completed 1451635200..1451637000 on f, Some(1) Some(1), "?" "?"
        "#);
        insta::assert_snapshot!(messages, @"line 6: warning: job 1.s starts again, and its run before has no end (taken to have run until then)");
    }

    /// `qstat -ft` lists arrays and their elements, which have the nodes.
    #[test]
    fn arrays_are_their_elements() {
        let array = "Job Id: 12[].s\n    job_state = B\n";
        let element = "Job Id: 12[1].s\n    job_state = R\n    exec_host = a/0\n";
        let ids = |text: &str| all(LOG.read, text).0.into_iter().map(|r| r.id).collect::<Vec<_>>();
        assert_eq!(ids(&format!("{array}{element}")), ["12[1].s"]);
        assert_eq!(ids(&format!("{element}{array}")), ["12[1].s"]);
        assert_eq!(ids(&array.replace("12", "13")), ["13[].s"]);
    }

    #[test]
    fn long_values_go_on_below() {
        let host = |text: &str| {
            let (jobs, messages) = all(LOG.read, text);
            assert_eq!((jobs.len(), messages.as_str()), (1, ""), "{text}");
            jobs[0].nodes.clone().unwrap_or_default().join("+")
        };
        let with = |key: &str, more: &str| {
            host(&format!(
                "Job Id: 5.s\n{key}job_state = R\n{key}exec_host = n1.cluster/0+n2.clus\n{more}ter/1\n{key}queue = q\n"
            ))
        };
        for (key, more) in
            [("    ", "\t"), ("    ", "        "), ("\t", "\t\t"), ("", ""), ("  ", "\t")]
        {
            assert_eq!(with(key, more), "n1.cluster+n2.cluster");
        }
        let (jobs, messages) = all(
            LOG.read,
            "Job Id: 5.s\n    exec_host = n1/0+n2/0\n    Resource_List.nodect = 1\nJob Id: 6.s\n    exec_host = n1/0+n2\n",
        );
        assert_eq!(jobs[1].nodes, None);
        assert!(messages.contains("2 hosts in exec_host, but nodect is 1"), "{messages}");
        assert!(messages.contains("'n2' names no processor, as others do"), "{messages}");
    }

    #[test]
    fn qstat_f() {
        let (jobs, messages) = all(
            LOG.read,
            "\
Job Id: 7.server\n    Job_Name = a = b\n    Job_Owner = me@login\n    job_state = R\n    queue = batch\n    \
exec_host = n1/0+n1/1+n\n\t2/0*8\n    qtime = Fri Jan  2 03:04:05 2015\n    stime = Fri Jan  2 03:05:05 2015\n    \
Resource_List.nodect = 2\n\nJob Id: 8.server\n    job_state = Q\n    qtime = soon\n    Resource_List.nodect = 4\n    \
Resource_List.ncpus = 64\nJob Id: 9.server\n    job_state = ?\n",
        );
        insta::assert_snapshot!(short(&jobs), @r#"
        1: 7.server Running 1420167905..? on n1+n2, Some(2) Some(10), "me" "batch"
        12: 8.server Pending ?..? on ?, Some(4) Some(64), "?" "?"
        17: 9.server Unknown ?..? on ?, None None, "?" "?"
        "#);
        insta::assert_snapshot!(messages, @r"
        line 12: warning: 'soon' is not a time (taken as unknown)
        line 17: warning: unheard-of state '?' (taken as unknown)
        ");
    }
}

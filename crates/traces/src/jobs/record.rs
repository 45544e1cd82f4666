//! One job of any log; and the meaning of SLURM's words for states and times.

use darkfiber_formats::calendar;

/// The state of a job when the log was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// It waits; it has no nodes.
    Pending,
    /// It holds its nodes: it runs, starts up, is suspended or is being cleaned up.
    Running,
    /// It is over, well or badly, or was cancelled before it began.
    Completed,
    /// The log gives no state, or an unknown one.
    #[default]
    Unknown,
}

/// One job: who ran where and when.
///
/// Times are seconds. Where the log has dates they are Unix times; dates without a zone are taken as UTC.
/// The Standard Workload Format and Batsim count from the beginning of the log instead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The id in the log's own words: `4711`, `4711_3` and `4711_[5-9]` (elements of an array), `4711.server`.
    pub id: String,
    /// State of the job.
    pub state: State,
    /// When the job was submitted.
    pub submit: Option<i64>,
    /// When it started. `None` for pending jobs, also where a scheduler gives an expected start.
    pub start: Option<i64>,
    /// When it ended. `None` for jobs that have not, also where their time limit is known.
    pub end: Option<i64>,
    /// Names of its nodes, expanded, in the order of the log, each once. Empty if the log states that it has none, or
    /// that it is pending; `None` if the log does not list nodes.
    pub nodes: Option<Vec<String>>,
    /// Number of its nodes, or of those requested if it never got any.
    pub node_count: Option<u32>,
    /// Number of its processors, or of those requested if it never got any.
    pub processors: Option<u32>,
    /// Owner of the job: a name or a number.
    pub user: Option<String>,
    /// Its partition or queue.
    pub partition: Option<String>,
    /// The line on which it begins, from 1; in JSON its place in the list, from 1.
    pub line: usize,
}

impl Record {
    /// Removes values that a log only expects, or remembers: start and nodes of pending jobs (those of an earlier
    /// try, or planned ones), the end of running ones.
    pub(super) fn settle(mut self) -> Self {
        if self.state == State::Pending {
            self.start = None;
            if let Some(nodes) = &mut self.nodes {
                nodes.clear();
            }
        }
        if matches!(self.state, State::Pending | State::Running) {
            self.end = None;
        }
        self
    }
}

/// The meaning of one of SLURM's states; long (`CANCELLED by 123`, `IDLE+COMPLETING`) or compact (`PD`). `None` for
/// unknown words.
pub(super) fn slurm_state(text: &str) -> Option<State> {
    let mut best = None;
    for word in text.split_whitespace().next()?.split('+') {
        let word = word.to_ascii_uppercase();
        let is_it = |&&(long, short, _): &&(&str, &str, State)| {
            word == long || word == short || (word.len() == CUT && long.starts_with(&word))
        };
        match SLURM_STATES.iter().find(is_it) {
            // The nodes are not free before the epilogue is through.
            Some(("COMPLETING", ..)) => return Some(State::Running),
            Some((.., state)) => best = best.or(Some(*state)),
            None => {}
        }
    }
    best
}

/// Letters that columns of `squeue -l` have for a state, and cut it to. States with the same beginning mean the same.
const CUT: usize = 8;

/// SLURM's states, long and compact.
const SLURM_STATES: &[(&str, &str, State)] = &[
    ("PENDING", "PD", State::Pending),
    ("REQUEUED", "RQ", State::Pending),
    ("REQUEUE_FED", "RF", State::Pending),
    ("REQUEUE_HOLD", "RH", State::Pending),
    ("RESV_DEL_HOLD", "RD", State::Pending),
    ("SPECIAL_EXIT", "SE", State::Pending),
    ("RUNNING", "R", State::Running),
    ("CONFIGURING", "CF", State::Running),
    ("SUSPENDED", "S", State::Running),
    ("RESIZING", "RS", State::Running),
    ("SIGNALING", "SI", State::Running),
    ("STAGE_OUT", "SO", State::Running),
    ("STOPPED", "ST", State::Running),
    ("COMPLETING", "CG", State::Running),
    ("COMPLETED", "CD", State::Completed),
    ("CANCELLED", "CA", State::Completed),
    ("FAILED", "F", State::Completed),
    ("TIMEOUT", "TO", State::Completed),
    ("NODE_FAIL", "NF", State::Completed),
    ("PREEMPTED", "PR", State::Completed),
    ("BOOT_FAIL", "BF", State::Completed),
    ("DEADLINE", "DL", State::Completed),
    ("OUT_OF_MEMORY", "OOM", State::Completed),
    ("REVOKED", "RV", State::Completed),
    ("LAUNCH_FAILED", "", State::Completed),
    ("RECONFIG_FAIL", "", State::Completed),
];

/// Whether a state of SLURM's accounting is that of a run which is over though its job is not: it was put back into the queue, or goes on
/// with other nodes. `sacct -D` shows one row for each.
pub(super) fn is_former_run(text: &str) -> bool {
    let words = ["REQUEUED", "RQ", "RESIZING", "RS"];
    text.split([' ', '+']).any(|word| words.iter().any(|w| word.eq_ignore_ascii_case(w)))
}

/// Words that mean "nothing" in the tables of SLURM.
pub(super) fn is_nothing(text: &str) -> bool {
    ["", "Unknown", "None", "NONE", "N/A", "n/a", "(null)", "None assigned", "(none)"]
        .contains(&text.trim())
}

/// A time: Unix seconds, `2011-04-05T12:13:14` (a blank instead of `T`; parts of seconds; UTC unless it ends
/// in a zone), or nothing (`Unknown`, `0`).
///
/// # Errors
/// If it is something else.
pub(super) fn time(text: &str) -> Result<Option<i64>, ()> {
    let text = text.trim();
    if is_nothing(text) {
        return Ok(None);
    }
    if let Ok(seconds) = text.parse::<i64>() {
        return Ok((seconds > 0).then_some(seconds));
    }
    calendar::read(text).map(Some).ok_or(())
}

/// The number at the beginning of `4`, `4-8` (the request of a pending job) or `1:ppn=24`.
pub(super) fn leading(text: &str) -> Option<u32> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

/// A number, rounded down.
pub(super) fn number(word: &str) -> Option<i64> {
    word.parse::<i64>().ok().or_else(|| {
        let value: f64 = word.parse().ok()?;
        // Beyond, whole numbers are no longer exact.
        (value.is_finite() && value.abs() < 9e15).then_some(value.floor() as i64)
    })
}

/// A text that is not empty.
pub(super) fn some(text: &str) -> Option<String> {
    let text = text.trim();
    (!is_nothing(text)).then(|| text.to_owned())
}

/// Names in order, each once.
pub(super) fn unique(names: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::with_capacity(names.len());
    let fresh: Vec<bool> = names.iter().map(|n| seen.insert(n.as_str())).collect();
    let mut fresh = fresh.into_iter();
    let mut names = names;
    names.retain(|_| fresh.next().unwrap_or(false));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (text, unix) in [
            ("1970-01-01T00:00:00", 0),
            ("2000-02-29T23:59:59", 951_868_799),
            ("2011-04-05T12:13:14", 1_302_005_594),
            ("2011-04-05 12:13:14", 1_302_005_594),
            ("2011-04-05T12:13", 1_302_005_580),
            ("2011-04-05T12:13:14.123Z", 1_302_005_594),
            ("2011-04-05T14:13:14+02:00", 1_302_005_594),
            ("2011-04-05T07:13:14-0500", 1_302_005_594),
            ("1302005594", 1_302_005_594),
            ("2100-03-01T00:00:00", 4_107_542_400),
        ] {
            assert_eq!(time(text), Ok(Some(unix)), "{text}");
        }
        for text in ["Unknown", "None", "", "0", "N/A"] {
            assert_eq!(time(text), Ok(None), "{text}");
        }
        for text in
            ["2011-02-29T00:00:00", "2011-13-01T00:00:00", "yesterday", "2011-04-05T25:00:00"]
        {
            assert_eq!(time(text), Err(()), "{text}");
        }
    }

    #[test]
    fn states_are_read_long_and_compact() {
        for (text, state) in [
            ("CANCELLED by 123", State::Completed),
            ("PD", State::Pending),
            ("COMPLETED+COMPLETING", State::Running),
            ("RUNNING", State::Running),
            ("oom", State::Completed),
            // As `squeue -l` cuts them off.
            ("COMPLETI", State::Running),
            ("COMPLETE", State::Completed),
            ("CONFIGUR", State::Running),
            ("REQUEUE_", State::Pending),
        ] {
            assert_eq!(slurm_state(text), Some(state), "{text}");
        }
        assert_eq!(slurm_state("FOO"), None);
        assert_eq!(slurm_state("COMPLET"), None);
        assert_eq!(slurm_state(""), None);
    }
}

//! A call as DUMPI records it: its arguments by name.

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(i64),
    List(Vec<i64>),
    Statuses(Vec<Status>),
}

/// The message that a receive matched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Status {
    pub(super) source: i64,
    pub(super) tag: i64,
}

/// A recorded MPI call.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    /// Name without `MPI_`.
    pub(super) name: String,
    /// Nanoseconds of its beginning and end, of any clock.
    pub(super) times: Option<(i64, i64)>,
    pub(super) arguments: Vec<(String, Value)>,
    /// Position in the file, for errors.
    pub(super) place: String,
}

impl Record {
    fn find(&self, name: &str) -> Option<&Value> {
        self.arguments.iter().find(|(n, _)| n == name).map(|(_, v)| v)
    }

    /// A number, also if it is a list of one.
    pub(super) fn number(&self, name: &str) -> Option<i64> {
        match self.find(name)? {
            Value::Number(n) => Some(*n),
            Value::List(list) => list.first().copied(),
            Value::Statuses(_) => None,
        }
    }

    /// A list; empty if it is not recorded.
    pub(super) fn list(&self, name: &str) -> &[i64] {
        match self.find(name) {
            Some(Value::List(list)) => list,
            _ => &[],
        }
    }

    /// Statuses; empty if they were ignored.
    pub(super) fn statuses(&self) -> &[Status] {
        match self.find("statuses").or(self.find("status")) {
            Some(Value::Statuses(all)) => all,
            _ => &[],
        }
    }
}

//! From records to calls.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use darkfiber_workload::trace::{ANY, Call, Message};

use super::record::{Record, Status};
use super::sizes::{EXPECTED, Sizes};
use darkfiber_formats::ReadError;

/// Numbers that DUMPI gives: no request, no communicator, the world, a communicator of a rank alone.
const NO_REQUEST: i64 = 1;
const NO_COMMUNICATOR: i64 = 1;
const THE_WORLD: i64 = 2;
const ALONE: i64 = 3;

/// Numbers of a rank's own: those of the communicators that it makes follow.
pub(super) const WORLD: u32 = 0;
pub(super) const SELF: u32 = 1;

/// Construction of a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommConstruction {
    /// All members of another, in their order.
    Dup,
    /// Of a list of members.
    Group,
    /// Those of a color.
    Split,
    /// Some members, in their order.
    Some,
    Unknown,
}

/// A communicator that a rank makes with others.
#[derive(Clone, Debug)]
pub(super) struct Creation {
    /// The rank's own number of that which it is made of.
    pub(super) of: u32,
    pub(super) how: CommConstruction,
    pub(super) color: i64,
    pub(super) key: i64,
    /// Members by their places in the other one.
    pub(super) places: Vec<u32>,
    /// Whether the rank is in it.
    pub(super) made: bool,
}

/// The calls of a rank.
pub(super) struct Rank {
    path: PathBuf,
    pub(super) calls: Vec<Call>,
    pub(super) counts: BTreeMap<String, u64>,
    pub(super) creations: Vec<Creation>,
    /// Results of `MPI_Comm_rank` and `MPI_Comm_size` of the world.
    pub(super) number: Option<u32>,
    pub(super) world: Option<u32>,
    /// One more than the highest rank of the world that is named.
    pub(super) highest: u32,
    /// Number of calls that move data and are left out.
    pub(super) lost: u64,
    pub(super) unsized_types: u64,
    last: Option<i64>,
    communicators: HashMap<i64, u32>,
    /// Places of groups in a communicator; no list for all.
    groups: HashMap<i64, (u32, Option<Vec<u32>>)>,
    /// Pending requests: the call that started them.
    open: HashMap<i64, usize>,
    persistent: HashMap<i64, (bool, Message)>,
}

fn own_request(request: i64) -> u32 {
    // They have 32 bits.
    u32::try_from(request & 0xffff_ffff).unwrap_or(0)
}

impl Rank {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            calls: Vec::new(),
            counts: BTreeMap::new(),
            creations: Vec::new(),
            number: None,
            world: None,
            highest: 0,
            lost: 0,
            unsized_types: 0,
            last: None,
            communicators: HashMap::from([(THE_WORLD, WORLD), (ALONE, SELF)]),
            groups: HashMap::new(),
            open: HashMap::new(),
            persistent: HashMap::new(),
        }
    }

    pub(super) fn fail(&self, record: &Record, what: impl std::fmt::Display) -> ReadError {
        let what = format!("{}: MPI_{} {what}", record.place, record.name);
        ReadError::not_such(&self.path, what, EXPECTED, "is the file cut off or damaged?")
    }

    pub(super) fn number(&self, record: &Record, name: &str) -> Result<i64, ReadError> {
        record.number(name).ok_or_else(|| self.fail(record, format!("has no `{name}`")))
    }

    pub(super) fn communicator(&mut self, record: &Record, name: &str) -> Result<u32, ReadError> {
        let found = self.number(record, name)?;
        if let Some(&own) = self.communicators.get(&found) {
            return Ok(own);
        }
        // Made by a call that is not followed.
        self.create(WORLD, CommConstruction::Unknown, Some(found));
        Ok(self.creations.len() as u32 + 1)
    }

    /// A new communicator, under the number that DUMPI gives it.
    fn create(&mut self, of: u32, how: CommConstruction, number: Option<i64>) -> &mut Creation {
        let made = number.is_some_and(|n| n > NO_COMMUNICATOR);
        if let Some(number) = number.filter(|_| made) {
            self.communicators.insert(number, self.creations.len() as u32 + 2);
        }
        let at = self.creations.len();
        self.creations.push(Creation { of, how, color: 0, key: 0, places: Vec::new(), made });
        &mut self.creations[at]
    }

    fn unit(&mut self, record: &Record, datatype: &str, sizes: &Sizes) -> Result<u64, ReadError> {
        let found = self.number(record, datatype)?;
        Ok(sizes.of(found).unwrap_or_else(|| {
            self.unsized_types += 1;
            1
        }))
    }

    pub(super) fn bytes(
        &mut self,
        record: &Record,
        count: &str,
        datatype: &str,
        sizes: &Sizes,
    ) -> Result<u64, ReadError> {
        let found = self.number(record, count)?;
        let unit = self.unit(record, datatype, sizes)?;
        let count = u64::try_from(found)
            .map_err(|_| self.fail(record, format!("has a `{count}` of {found}")))?;
        Ok(count.saturating_mul(unit))
    }

    pub(super) fn list(
        &mut self,
        record: &Record,
        counts: &str,
        datatype: &str,
        sizes: &Sizes,
    ) -> Result<Vec<u64>, ReadError> {
        let unit = self.unit(record, datatype, sizes)?;
        let all =
            record.list(counts).iter().map(|&n| Some(u64::try_from(n).ok()?.saturating_mul(unit)));
        all.collect::<Option<Vec<u64>>>()
            .ok_or_else(|| self.fail(record, format!("has `{counts}` below zero")))
    }

    /// One end of a message; `None` if the peer is `MPI_PROC_NULL`.
    fn message(
        &mut self,
        record: &Record,
        [count, datatype, peer, tag]: [&str; 4],
        sizes: &Sizes,
    ) -> Result<Option<Message>, ReadError> {
        let bytes = self.bytes(record, count, datatype, sizes)?;
        let communicator = self.communicator(record, "comm")?;
        let (found, tag) = (self.number(record, peer)?, self.number(record, tag)?);
        let receives = peer == "source";
        let peer = match u32::try_from(found) {
            Ok(peer) => peer,
            Err(_) if receives && found == -1 => ANY,
            Err(_) => return Ok(None),
        };
        let tag = match u32::try_from(tag) {
            Ok(tag) => tag,
            Err(_) if receives => ANY,
            Err(_) => return Err(self.fail(record, format!("has a tag of {tag}"))),
        };
        if communicator == WORLD && peer != ANY {
            self.highest = self.highest.max(peer.saturating_add(1));
        }
        Ok(Some(Message { peer, bytes, tag, communicator }))
    }

    /// Takes in the next call.
    pub(super) fn call(&mut self, record: &Record, sizes: &Sizes) -> Result<(), ReadError> {
        let name = record.name.as_str();
        match self.counts.get_mut(name) {
            Some(count) => *count += 1,
            None => {
                self.counts.insert(name.to_owned(), 1);
            }
        }
        // The time since the last call counts as computation.
        if let Some((start, stop)) = record.times {
            if let Some(gap) =
                self.last.and_then(|last| start.checked_sub(last)).filter(|&gap| gap > 0)
            {
                let picoseconds = u64::try_from(gap).unwrap_or(0).saturating_mul(1000);
                self.calls.push(Call::Compute { picoseconds });
            }
            self.last = Some(stop);
        }
        match name {
            // Messages that are over when the call is.
            "Send" | "Bsend" | "Ssend" | "Rsend" => {
                let m = self.message(record, ["count", "datatype", "dest", "tag"], sizes)?;
                self.calls.extend(m.map(Call::Send));
            }
            "Recv" => {
                let m = self.message(record, ["count", "datatype", "source", "tag"], sizes)?;
                self.calls.extend(m.map(|m| Call::Recv(found(m, record.statuses().first()))));
            }
            // Messages that are still pending after the call, by their requests.
            "Isend" | "Ibsend" | "Issend" | "Irsend" | "Irecv" => {
                let receives = name == "Irecv";
                let peer = if receives { "source" } else { "dest" };
                let request = self.number(record, "request")?;
                let m = self.message(record, ["count", "datatype", peer, "tag"], sizes)?;
                if let Some(m) = m {
                    self.begin(receives, m, request);
                }
            }
            "Send_init" | "Bsend_init" | "Ssend_init" | "Rsend_init" | "Recv_init" => {
                let receives = name == "Recv_init";
                let peer = if receives { "source" } else { "dest" };
                let request = self.number(record, "request")?;
                if let Some(m) = self.message(record, ["count", "datatype", peer, "tag"], sizes)? {
                    self.persistent.insert(request, (receives, m));
                }
            }
            "Start" => self.start(self.number(record, "request")?),
            "Startall" => record.list("requests").iter().for_each(|&r| self.start(r)),
            "Sendrecv" | "Sendrecv_replace" => {
                let alike = name == "Sendrecv_replace";
                let (send, recv) = if alike {
                    (
                        ["count", "datatype", "dest", "sendtag"],
                        ["count", "datatype", "source", "recvtag"],
                    )
                } else {
                    (
                        ["sendcount", "sendtype", "dest", "sendtag"],
                        ["recvcount", "recvtype", "source", "recvtag"],
                    )
                };
                let sent = self.message(record, send, sizes)?;
                let got =
                    self.message(record, recv, sizes)?.map(|m| found(m, record.statuses().first()));
                self.calls.extend(match (sent, got) {
                    (Some(sent), Some(got)) => Some(Call::Sendrecv(Box::new([sent, got]))),
                    (Some(sent), None) => Some(Call::Send(sent)),
                    (None, Some(got)) => Some(Call::Recv(got)),
                    (None, None) => None,
                });
            }
            // Calls that wait for them, or test whether they are complete.
            "Wait" | "Test" => {
                if name == "Wait" || self.number(record, "flag")? != 0 {
                    self.done(&[self.number(record, "request")?], record.statuses());
                }
            }
            "Waitall" | "Testall" => {
                if name == "Waitall" || self.number(record, "flag")? != 0 {
                    self.done(record.list("requests"), record.statuses());
                }
            }
            "Waitany" | "Testany" => {
                if name == "Waitany" || self.number(record, "flag")? != 0 {
                    self.some(record, &[self.number(record, "index")?]);
                }
            }
            "Waitsome" | "Testsome" => self.some(record, record.list("indices")),
            // Who there is.
            "Comm_size" | "Comm_rank" => {
                let argument = if name == "Comm_size" { "size" } else { "rank" };
                if self.number(record, "comm")? == THE_WORLD {
                    let found = self.number(record, argument)?;
                    let found = u32::try_from(found)
                        .map_err(|_| self.fail(record, format!("says {found}")))?;
                    *if name == "Comm_size" { &mut self.world } else { &mut self.number } =
                        Some(found);
                }
            }
            "Comm_group" | "Group_incl" | "Comm_dup" | "Comm_create" | "Comm_split"
            | "Cart_create" | "Graph_create" | "Cart_sub" => self.group(record)?,
            // Calls that a schedule cannot express.
            "Put" | "Get" | "Accumulate" => self.lost += 1,
            _ if name.starts_with("File_") && (name.contains("read") || name.contains("write")) => {
                self.lost += 1;
            }
            _ => self.collective(record, sizes)?,
        }
        Ok(())
    }

    fn begin(&mut self, receives: bool, m: Message, request: i64) {
        self.open.insert(request, self.calls.len());
        let own = own_request(request);
        self.calls.push(if receives { Call::Irecv(m, own) } else { Call::Isend(m, own) });
    }

    fn start(&mut self, request: i64) {
        if let Some(&(receives, m)) = self.persistent.get(&request) {
            self.begin(receives, m, request);
        }
    }

    /// These requests are complete. Those that are not pending were never messages.
    fn done(&mut self, requests: &[i64], statuses: &[Status]) {
        let mut waited = Vec::new();
        for (i, &request) in requests.iter().enumerate() {
            let Some(at) = self.open.remove(&request).filter(|_| request != NO_REQUEST) else {
                continue;
            };
            if let Call::Irecv(m, _) = &mut self.calls[at] {
                *m = found(*m, statuses.get(i));
            }
            waited.push(own_request(request));
        }
        if !waited.is_empty() {
            self.calls.push(Call::Wait(waited));
        }
    }

    /// The requests at these places of the list are done.
    fn some(&mut self, record: &Record, places: &[i64]) {
        let all = record.list("requests");
        let found = places.iter().filter_map(|&i| all.get(usize::try_from(i).ok()?).copied());
        let done: Vec<i64> = found.collect();
        self.done(&done, record.statuses());
    }

    fn group(&mut self, record: &Record) -> Result<(), ReadError> {
        let name = record.name.as_str();
        if name == "Comm_group" {
            let of = self.communicator(record, "comm")?;
            self.groups.insert(self.number(record, "group")?, (of, None));
            return Ok(());
        }
        if name == "Group_incl" {
            let (group, new) = (self.number(record, "group")?, self.number(record, "newgroup")?);
            self.groups.remove(&new);
            let places: Option<Vec<u32>> =
                record.list("ranks").iter().map(|&r| u32::try_from(r).ok()).collect();
            if let (Some((of, inside)), Some(places)) = (self.groups.get(&group), places) {
                let inner =
                    |p: &u32| inside.as_ref().map_or(Some(*p), |all| all.get(*p as usize).copied());
                let places: Option<Vec<u32>> = places.iter().map(inner).collect();
                let entry = (*of, Some(places.unwrap_or_default()));
                self.groups.insert(new, entry);
            }
            return Ok(());
        }
        let of = self.communicator(record, "oldcomm")?;
        let new = Some(self.number(record, "newcomm")?);
        match name {
            "Comm_dup" => {
                self.create(of, CommConstruction::Dup, new);
            }
            "Comm_split" => {
                let (color, key) = (self.number(record, "color")?, self.number(record, "key")?);
                let creation = self.create(of, CommConstruction::Split, new);
                (creation.color, creation.key) = (color, key);
            }
            "Comm_create" => {
                // The list is known to members; it does not matter to others.
                let group = self.groups.get(&self.number(record, "group")?).cloned();
                let places = group.filter(|(whose, _)| *whose == of).and_then(|(_, places)| places);
                self.create(of, CommConstruction::Group, new).places = places.unwrap_or_default();
            }
            "Cart_create" | "Graph_create" => {
                self.create(of, CommConstruction::Some, new);
            }
            _ => {
                self.create(of, CommConstruction::Unknown, new);
            }
        }
        Ok(())
    }
}

/// A receive with wildcards, resolved by its status.
fn found(m: Message, status: Option<&Status>) -> Message {
    let Some(status) = status else { return m };
    let fill = |asked: u32, came: i64| {
        if asked == ANY { u32::try_from(came).unwrap_or(ANY) } else { asked }
    };
    Message { peer: fill(m.peer, status.source), tag: fill(m.tag, status.tag), ..m }
}

//! Logs of NCCL: places of ranks, NICs of hosts, rings, and connections over the network.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use darkfiber_formats::{Diagnostics, ReadError};

/// Whether the rank of the line sends or receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// The rank of the line sends.
    Send,
    /// The rank of the line receives.
    Receive,
}

/// One end of a connection over the network, as the rank there logs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetConnection {
    /// Number of the channel.
    pub channel: u32,
    /// Rank that sends.
    pub from: u32,
    /// Rank that receives.
    pub to: u32,
    /// The end that the line describes.
    pub direction: Direction,
    /// Device number of the NIC at this end.
    pub nic: u32,
    /// Host of the line.
    pub host: String,
    /// The line.
    pub at: LogLine,
}

/// A line of one of several logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Index of the log, in the order in which they were read.
    file: usize,
    /// Number of the line, from 1.
    line: usize,
}

/// A NIC of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogNic {
    /// Device name such as `mlx5_0`.
    pub name: String,
    /// Port of the device, from 1.
    pub port: u8,
}

/// Content of one log, or of several of the same communicator together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NcclLog {
    /// By rank its host.
    pub hosts: BTreeMap<u32, String>,
    /// By host and device number its NICs.
    pub nics: BTreeMap<(String, u32), LogNic>,
    /// By channel and rank the next rank of the ring.
    pub next: BTreeMap<u32, BTreeMap<u32, u32>>,
    /// By channel and rank the rank above it in the tree; none above a root.
    pub above: BTreeMap<u32, BTreeMap<u32, Option<u32>>>,
    /// Ends of connections over the network.
    pub connections: Vec<NetConnection>,
    /// Ranks of the communicator, if a line gives them.
    pub ranks: Option<u32>,
    /// The first line of a connection over TCP, if there is one: it is no connection of a NIC here.
    pub socket: Option<LogLine>,
    /// The logs that were read.
    files: Vec<PathBuf>,
}

impl NcclLog {
    /// Reads one more log into this one. Lines of other programs are passed over.
    ///
    /// # Errors
    /// If no line is NCCL's, or lines are of several communicators.
    pub fn read(&mut self, text: &str, path: &Path) -> Result<Diagnostics, ReadError> {
        let mut found = Diagnostics::default();
        let (mut lines, mut has_merged) = (0, false);
        self.files.push(path.to_owned());
        for (number, line) in (1..).zip(text.lines()) {
            let Some((before, said)) = line.split_once(" NCCL INFO ") else { continue };
            lines += 1;
            let Some(host) = host(before) else { continue };
            if let Err(why) = self.line(host, said.trim_end(), number) {
                return Err(ReadError::not_such(
                    path,
                    format!("line {number}: {why}"),
                    "the log of one communicator",
                    "run a program that makes one, such as all_reduce_perf, or cut the log to the lines of one",
                ));
            }
            if said.starts_with("NET/") && said.contains("={[") && !has_merged {
                has_merged = true;
                found.warn(
                    number,
                    "several NICs are merged into one device",
                    "the first of them stands for all: what the others carry is counted on it, and bandwidth is too low",
                );
            }
            if said.starts_with("Channel") && said.ends_with("...") {
                found.note(
                    number,
                    "NCCL cut this ring off",
                    "rings are put together from the `Ring` lines of all ranks",
                );
            }
        }
        if lines == 0 {
            return Err(ReadError::not_such(
                path,
                "no line has `NCCL INFO`",
                "a log of NCCL",
                "set NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,GRAPH,NET",
            ));
        }
        Ok(found)
    }

    /// Reads one message of a rank.
    fn line(&mut self, host: &str, said: &str, number: usize) -> Result<(), String> {
        if let Some(rest) = said.strip_prefix("NET/").and_then(|s| s.split_once(": Using ")) {
            for (device, nic) in devices(rest.1) {
                self.nics.entry((host.to_owned(), device)).or_insert(nic);
            }
        } else if let Some(rest) = said.strip_prefix("Ring ") {
            let Some((channel, ranks)) = numbered(rest) else { return Ok(()) };
            // As NCCL up to 2.7 named connections.
            if ranks.contains(" via ") {
                return self.connection(host, channel, ranks, number);
            }
            let ranks: Option<Vec<u32>> =
                ranks.split("->").map(|r| first_word(r).parse().ok()).collect();
            if let Some([before, me, after]) = ranks.as_deref() {
                self.seat(*me, host)?;
                self.follows(channel, *before, *me)?;
                self.follows(channel, *me, *after)?;
            }
        } else if let Some(rest) = said.strip_prefix("Trees ") {
            for (channel, chain) in rest.split('[').filter_map(|piece| piece.split_once(']')) {
                // The last one of a long line may be cut off. Up to 2.7 there was a second tree behind a bar, or ranks below
                // stood last.
                let chain = chain.split('|').next().unwrap_or_default();
                let ranks: Vec<&str> = chain.trim().split("->").collect();
                if let (Ok(channel), [first, me, last]) = (channel.parse(), ranks.as_slice()) {
                    let up = if last.contains('/') { first } else { last };
                    self.hangs(host, channel, me, up)?;
                }
            }
        } else if let Some(rest) = said.strip_prefix("Tree ") {
            let Some((channel, ranks)) = numbered(rest) else { return Ok(()) };
            if let [up, me, _] = ranks.split("->").collect::<Vec<&str>>()[..] {
                self.hangs(host, channel, me, up)?;
            }
        } else if let Some(rest) = said.strip_prefix("Channel ") {
            let Some((channel, rest)) = numbered(rest) else { return Ok(()) };
            if rest.contains("->") {
                self.connection(host, channel, rest, number)?;
            } else if let Some(ring) = whole_ring(rest) {
                for (i, &rank) in ring.iter().enumerate() {
                    self.follows(channel, rank, ring[(i + 1) % ring.len()])?;
                }
            }
        } else if said.contains(" rank ") && said.contains("anks ") {
            let words: Vec<&str> = said.split_whitespace().collect();
            let after = |word: &str| {
                let at = words.iter().position(|w| w.eq_ignore_ascii_case(word))?;
                words.get(at + 1)?.parse::<u32>().ok()
            };
            if let (Some(rank), Some(ranks)) = (after("rank"), after("nranks")) {
                let known = *self.ranks.get_or_insert(ranks);
                if known != ranks {
                    return Err(format!("a communicator of {ranks} ranks beside one of {known}"));
                }
                self.seat(rank, host)?;
            }
        }
        Ok(())
    }

    /// `7[7] -> 8[0] [send] via NET/IB/0(3)/GDRDMA`.
    fn connection(
        &mut self,
        host: &str,
        channel: u32,
        rest: &str,
        line: usize,
    ) -> Result<(), String> {
        let at = LogLine { file: self.files.len().saturating_sub(1), line };
        let Some((pair, via)) = rest.split_once(" via NET/") else { return Ok(()) };
        let direction = if pair.contains("[send]") {
            Direction::Send
        } else if pair.contains("[receive]") {
            Direction::Receive
        } else {
            return Ok(());
        };
        let Some((from, to)) = pair.split_once("->") else { return Ok(()) };
        let rank = |text: &str| {
            let digits = text.trim().split(['[', ' ']).next().unwrap_or_default();
            digits.parse::<u32>().ok()
        };
        if via.starts_with("Socket/") {
            self.socket.get_or_insert(at);
            return Ok(());
        }
        // RCCL says more behind a blank.
        let device =
            via.split('/').nth(1).and_then(|d| d.split(['(', ' ']).next()?.parse::<u32>().ok());
        let (Some(from), Some(to), Some(nic)) = (rank(from), rank(to), device) else {
            return Ok(());
        };
        self.seat(if direction == Direction::Send { from } else { to }, host)?;
        let host = host.to_owned();
        let end = NetConnection { channel, from, to, direction, nic, host, at };
        self.connections.push(end);
        Ok(())
    }

    /// A rank is on a host.
    fn seat(&mut self, rank: u32, host: &str) -> Result<(), String> {
        let known = self.hosts.entry(rank).or_insert_with(|| host.to_owned());
        if known == host {
            return Ok(());
        }
        Err(format!("rank {rank} is on {host}, and was on {known} before: several communicators"))
    }

    /// A rank follows another in the ring of a channel.
    fn follows(&mut self, channel: u32, rank: u32, next: u32) -> Result<(), String> {
        let known = *self.next.entry(channel).or_default().entry(rank).or_insert(next);
        if known == next {
            return Ok(());
        }
        Err(format!(
            "in channel {channel} rank {rank} is followed by {next}, and by {known} before: several communicators, or no ring"
        ))
    }

    /// A rank is below another one in the tree of a channel, or is a root (`-1`).
    fn hangs(&mut self, host: &str, channel: u32, me: &str, up: &str) -> Result<(), String> {
        let (Ok(rank), Ok(up)) = (me.trim().parse::<u32>(), first_word(up).parse::<i64>()) else {
            return Ok(());
        };
        self.seat(rank, host)?;
        let up = u32::try_from(up).ok();
        let known = *self.above.entry(channel).or_default().entry(rank).or_insert(up);
        if known == up {
            return Ok(());
        }
        let name = |up: Option<u32>| up.map_or("nobody".to_owned(), |up| up.to_string());
        Err(format!(
            "in the tree of channel {channel} rank {rank} is below {}, and below {} before: several communicators",
            name(up),
            name(known)
        ))
    }

    /// A line, with the name of its log, for messages.
    pub fn place(&self, at: LogLine) -> String {
        let file = self.files.get(at.file).map(|file| file.display().to_string());
        format!("{}: line {}", file.unwrap_or_default(), at.line)
    }

    /// The reason why the channels are not rings through all ranks, if they are not.
    pub fn broken_ring(&self) -> Option<String> {
        let ranks = self
            .ranks
            .unwrap_or_else(|| self.next.values().map(BTreeMap::len).max().unwrap_or(0) as u32);
        self.next.iter().find_map(|(channel, next)| {
            let (mut at, mut steps) = (0, 0);
            loop {
                let Some(&after) = next.get(&at) else {
                    return Some(format!("channel {channel}: nobody follows rank {at}"));
                };
                (at, steps) = (after, steps + 1);
                if at == 0 || steps > ranks {
                    break;
                }
            }
            (steps != ranks || at != 0).then(|| {
                format!("channel {channel} comes back to rank 0 after {steps} of {ranks} ranks")
            })
        })
    }
}

/// The host in the text before `NCCL INFO`: `host:pid:tid [dev]`, after a prefix of the launcher.
fn host(before: &str) -> Option<&str> {
    let word = before.split_whitespace().rev().find(|w| w.matches(':').count() >= 2)?;
    let word = ["<stdout>:", "<stderr>:"]
        .iter()
        .find_map(|mark| word.split_once(mark))
        .map_or(word, |(_, rest)| rest);
    // `[default0]:host:pid:tid` of torchrun.
    let tagged = word.strip_prefix('[').and_then(|rest| rest.split_once("]:"));
    let word = tagged.map_or(word, |(_, rest)| rest);
    let name = word.rsplitn(3, ':').nth(2)?;
    (!name.is_empty()).then_some(name)
}

/// The first word: RCCL says more behind a blank.
fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// `00/16 : rest` or `00 : rest`.
fn numbered(text: &str) -> Option<(u32, &str)> {
    let (head, rest) = text.split_once(':')?;
    let head = head.trim();
    // A second number is that of channels, or of a connection: 1 and above are point-to-point.
    let (channel, second) = head.split_once('/').map_or((head, None), |(a, b)| (a, Some(b)));
    let is_message = rest.contains("->") && second.is_some_and(|s| s.trim() != "0");
    let channel = channel.trim().parse().ok()?;
    (!is_message).then_some((channel, rest))
}

/// All ranks of a ring that was not cut off.
fn whole_ring(text: &str) -> Option<Vec<u32>> {
    let ranks: Option<Vec<u32>> = text.split_whitespace().map(|r| r.parse().ok()).collect();
    ranks.filter(|ring| ring.len() > 1)
}

/// `[0]mlx5_0:1/IB [1]={[0] mlx5_1:1/RoCE, [1] mlx5_1:2/RoCE} [RO]; OOB ...`: of merged ports the first.
fn devices(text: &str) -> Vec<(u32, LogNic)> {
    let mut all = Vec::new();
    let text = text.split("; OOB").next().unwrap_or(text);
    let mut depth = 0;
    for piece in text.split('[').skip(1) {
        let Some((device, rest)) = piece.split_once(']') else { continue };
        let opens = rest.contains('{');
        let nic = rest.trim_matches(|c: char| " ={},".contains(c)).split('/').next();
        let parsed = nic.and_then(|nic| {
            let (name, port) = nic.split_once(':')?;
            Some(LogNic { name: name.trim().to_owned(), port: port.parse().ok()? })
        });
        if let (Some(nic), Ok(device)) = (parsed, device.parse::<u32>()) {
            match (depth, all.last_mut()) {
                (0, _) => all.push((device, nic)),
                // The first of merged ports stands for all.
                (1, Some((_, LogNic { name, port }))) if name.is_empty() => {
                    (*name, *port) = (nic.name, nic.port);
                }
                _ => {}
            }
        } else if let (true, Ok(device)) = (opens, device.parse::<u32>()) {
            all.push((device, LogNic { name: String::new(), port: 1 }));
        }
        if opens {
            depth = 1;
        }
        if rest.contains('}') {
            depth = 0;
        }
    }
    all.retain(|(_, nic)| !nic.name.is_empty());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by the forms of lines that issues and the source have.
    const TWO_HOSTS: &str = "\
a:10:11 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_4:1/IB [RO]; OOB eth0:10.0.0.1<0>
b:20:21 [0] NCCL INFO NET/IBext_v8 : Using [0]={[0] mlx5_2:1/RoCE, [1] mlx5_2:2/RoCE} [1]mlx5_3:1/RoCE [RO]; OOB eth0:1<0>
a:10:11 [0] NCCL INFO comm 0x5 rank 0 nRanks 4 nNodes 2 localRanks 2 localRank 0 MNNVL 0
[1,1]<stdout>:a:12:13 [1] NCCL INFO Channel 00/02 : 0 1 2 3
2026-01-01 10:00:00 a:12:13 [1] NCCL INFO Channel 01/02 :    0   1   3   2...
a:12:13 [1] NCCL INFO Ring 01 : 0 -> 1 -> 3
b:20:21 [0] NCCL INFO Ring 01 : 3 -> 2 -> 0
a:12:13 [1] NCCL INFO Channel 00/0 : 1[1] -> 2[0] [send] via NET/IB/1(0)/GDRDMA/Shared
b:20:21 [0] NCCL INFO Channel 00/0 : 1[b3000] -> 2[1b000] [receive] via NET/IBext_v8/0/GDRDMA
b:20:21 [0] NCCL INFO Channel 00/1 : 2[0] -> 1[1] [send] via NET/IB/0
b:20:21 [0] NCCL INFO Channel 00/0 : 2[0] -> 3[1] via P2P/CUMEM
something else
";

    fn read(text: &str) -> Result<NcclLog, String> {
        let mut log = NcclLog::default();
        log.read(text, Path::new("log")).map_err(|e| e.to_string())?;
        Ok(log)
    }

    #[test]
    fn lines_of_all_forms() {
        let log = read(TWO_HOSTS).expect("it can be read");
        assert_eq!(log.ranks, Some(4));
        let hosts: Vec<(u32, &str)> = log.hosts.iter().map(|(r, h)| (*r, h.as_str())).collect();
        assert_eq!(hosts, [(0, "a"), (1, "a"), (2, "b")]);
        let nics: Vec<String> =
            log.nics.iter().map(|((h, d), n)| format!("{h}{d}={}:{}", n.name, n.port)).collect();
        assert_eq!(nics, ["a0=mlx5_0:1", "a1=mlx5_4:1", "b0=mlx5_2:1", "b1=mlx5_3:1"]);
        assert_eq!(log.broken_ring(), None);
        assert_eq!(log.next[&1], BTreeMap::from([(0, 1), (1, 3), (3, 2), (2, 0)]));
        let ends: Vec<_> = log
            .connections
            .iter()
            .map(|c| (c.channel, c.from, c.to, c.direction, c.nic, &c.host[..]))
            .collect();
        assert_eq!(
            ends,
            [(0, 1, 2, Direction::Send, 1, "a"), (0, 1, 2, Direction::Receive, 0, "b")]
        );
    }

    /// As in `Trees` for all channels at once, and in `Tree` for one.
    #[test]
    fn trees_are_read_from_both_forms() {
        let log = read(
            "a:1:2 [0] NCCL INFO Trees [0] 1/-1/-1->0->-1 [1] 1/-1/-1->0->2 [2] 1/-1\n\
             b:3:4 [0] NCCL INFO Tree 0 : 0 -> 2 -> 3/-1/-1\n\
             b:3:4 [0] NCCL INFO Tree 01 : -1 -> 2 -> 3/0/-1\n",
        );
        let log = log.expect("it can be read");
        let of =
            |channel: u32| log.above[&channel].iter().map(|(r, up)| (*r, *up)).collect::<Vec<_>>();
        assert_eq!(of(0), [(0, None), (2, Some(0))]);
        assert_eq!(of(1), [(0, Some(2)), (2, None)]);
        assert_eq!(log.hosts[&2], "b");
        let two = "a:1:2 [0] NCCL INFO Tree 0 : 3 -> 0 -> 1/-1/-1\na:1:2 [0] NCCL INFO Tree 0 : 4 -> 0 -> 1/-1/-1\n";
        let why = read(two).expect_err("two communicators");
        assert!(why.contains("rank 0 is below 4, and below 3 before"), "{why}");
    }

    /// RCCL says more behind the last word; torchrun says which process a line is of.
    #[test]
    fn lines_of_rccl_and_of_torchrun() {
        let log = read(
            "[default0]:a:1:2 [0] NCCL INFO comm 0x7 rank 0 nranks 2 cudaDev 0\n\
             [rank1]:b:1:2 [0] NCCL INFO comm 0x7 rank 1 nranks 2 cudaDev 0\n\
             a:1:2 [0] NCCL INFO Trees [0] 1/-1/-1->0->-1 [1] -1/-1/-1->0->1 comm 0x7 nRanks 02 busId 3000\n\
             a:1:2 [0] NCCL INFO Ring 0 : 1 -> 0 -> 1 comm 0x7 nRanks 02 busId 3000\n\
             a:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/UCX/1 comm 0x7 nRanks 02\n",
        );
        let log = log.expect("it can be read");
        let hosts: Vec<(u32, &str)> = log.hosts.iter().map(|(r, h)| (*r, h.as_str())).collect();
        assert_eq!(hosts, [(0, "a"), (1, "b")]);
        assert_eq!((log.above[&0][&0], log.above[&1][&0]), (None, Some(1)));
        assert_eq!(log.next[&0], BTreeMap::from([(0, 1), (1, 0)]));
        assert_eq!((log.connections.len(), log.connections[0].nic), (1, 1));
    }

    #[test]
    fn lines_of_old_versions() {
        let log = read(
            "a:1:2 [0] NCCL INFO Ring 00 : 1[0] -> 0[0] [receive] via NET/IB/2\n\
             a:1:2 [0] NCCL INFO Trees [0] 1/-1/-1->0->-1|-1->0->1/-1/-1 [1] 1->0->-1/-1/-1\n",
        );
        let log = log.expect("it can be read");
        assert_eq!((log.connections[0].nic, log.hosts[&0].as_str()), (2, "a"));
        assert_eq!((log.above[&0][&0], log.above[&1][&0]), (None, Some(1)));
    }

    #[test]
    fn merged_nics_are_said() {
        let mut log = NcclLog::default();
        let found = log.read(TWO_HOSTS, Path::new("log")).expect("it can be read");
        let said: Vec<String> = found.0.iter().map(ToString::to_string).collect();
        assert!(said[0].contains("line 2: warning: several NICs are merged"), "{said:?}");
    }

    #[test]
    fn several_communicators_and_broken_rings_are_refused() {
        let more = |line: &str| read(&format!("{TWO_HOSTS}{line}\n"));
        let other = more("b:1:2 [0] NCCL INFO comm 0x6 rank 1 nRanks 2 nNodes 1").expect_err("two");
        assert!(other.contains("line 13: a communicator of 2 ranks beside one of 4"), "{other}");
        let moved = more("b:1:2 [0] NCCL INFO comm 0x6 rank 1 nRanks 4 nNodes 1").expect_err("two");
        assert!(moved.contains("rank 1 is on b, and was on a before"), "{moved}");
        let ring = more("b:1:2 [0] NCCL INFO Ring 00 : 1 -> 3 -> 0").expect_err("no ring");
        assert!(ring.contains("in channel 0 rank 1 is followed by 3, and by 2 before"), "{ring}");
        let short = more("a:1:2 [0] NCCL INFO Channel 02/02 : 0 2").expect("each line is sound");
        let why = short.broken_ring().expect("two of four");
        assert_eq!(why, "channel 2 comes back to rank 0 after 2 of 4 ranks");
        assert!(read("nothing\n").expect_err("no log").contains("NCCL_DEBUG=INFO"));
    }
}

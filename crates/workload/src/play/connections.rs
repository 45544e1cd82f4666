//! The connections of an adapter: each sends one message after the other.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

/// A connection between two ranks, as InfiniBand's queue pairs are: what one rank sends to another by one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Connection {
    /// Number of its job.
    pub job: u32,
    /// The rank that sends.
    pub from: u32,
    /// The rank that receives.
    pub to: u32,
    /// Number of the path, where messages choose among several.
    pub path: u32,
}

/// Connections with a message under way are listed one by one up to this many, and sorted beyond.
const FEW: usize = 16;

/// The connections of one adapter, and what waits in them.
///
/// A send queue starts its messages in the order in which they were posted, and one is sent before the next (InfiniBand Architecture
/// Specification, volume 1, section 9.5, transaction ordering); messages of different connections share the adapter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Connections<T> {
    /// One that sends: mostly there are no others, and all is in one place.
    first: Option<Connection>,
    others: Option<Box<Others<T>>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Others<T> {
    /// Those that send beside the first: in a list while they are few, else in the set.
    few: Vec<Connection>,
    many: BTreeSet<Connection>,
    /// Messages that wait for an earlier one of their connection.
    behind: BTreeMap<Connection, VecDeque<T>>,
}

impl<T> Default for Connections<T> {
    fn default() -> Self {
        Self { first: None, others: None }
    }
}

impl<T> Default for Others<T> {
    fn default() -> Self {
        Self { few: Vec::new(), many: BTreeSet::new(), behind: BTreeMap::new() }
    }
}

impl<T> Connections<T> {
    /// Takes a connection for a message that departs, if it sends nothing: otherwise the message has to [`Connections::wait`].
    #[inline]
    pub fn take(&mut self, connection: Connection) -> bool {
        if self.first == Some(connection) {
            return false;
        }
        match &mut self.others {
            Some(others) if others.sends(connection) => return false,
            others if self.first.is_some() => {
                others.get_or_insert_default().add(connection);
            }
            _ => self.first = Some(connection),
        }
        true
    }

    /// Has a message wait until all that departed before it on its connection has left.
    pub fn wait(&mut self, connection: Connection, message: T) {
        let others = self.others.get_or_insert_default();
        others.behind.entry(connection).or_default().push_back(message);
    }

    /// The message that a connection sent has left: returns the next one, which is sent from now on.
    #[inline]
    pub fn left(&mut self, connection: Connection) -> Option<T> {
        if let Some(others) = &mut self.others {
            let next = others.next(connection);
            if next.is_some() {
                return next;
            }
        }
        if self.first == Some(connection) {
            self.first = None;
        } else if let Some(others) = &mut self.others {
            others.remove(connection);
        }
        None
    }

    /// What waits, by connection and in the order of departure.
    pub fn waiting(&self) -> impl Iterator<Item = (&Connection, &VecDeque<T>)> {
        self.others.iter().flat_map(|others| &others.behind)
    }
}

impl<T> Others<T> {
    fn sends(&self, connection: Connection) -> bool {
        self.few.contains(&connection) || self.many.contains(&connection)
    }

    fn add(&mut self, connection: Connection) {
        if self.many.is_empty() && self.few.len() < FEW {
            self.few.push(connection);
            return;
        }
        self.many.extend(self.few.drain(..));
        self.many.insert(connection);
    }

    fn remove(&mut self, connection: Connection) {
        match self.few.iter().position(|&c| c == connection) {
            Some(at) => {
                self.few.swap_remove(at);
            }
            None => {
                self.many.remove(&connection);
            }
        }
    }

    fn next(&mut self, connection: Connection) -> Option<T> {
        if self.behind.is_empty() {
            return None;
        }
        let waiting = self.behind.get_mut(&connection)?;
        let next = waiting.pop_front();
        if waiting.is_empty() {
            self.behind.remove(&connection);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stream;

    /// Random departures and ends, few and many connections at a time, beside a list of all messages in the order of departure.
    #[test]
    fn one_after_the_other_in_order_of_departure() {
        for pairs in [1, 5, 16, 17, 60] {
            let mut random = Stream::new(pairs, 7);
            let mut connections = Connections::default();
            // All messages that have not left, and whether each is sent now.
            let mut all: Vec<(Connection, u32, bool)> = Vec::new();
            for number in 0..4000 {
                // Now more come than go, now more go than come.
                let comes = random.below(10) < if number / 500 % 2 == 0 { 6 } else { 4 };
                if comes || all.is_empty() {
                    let to = random.below(pairs as u32);
                    let connection = Connection { job: 0, from: 1, to, path: 0 };
                    let is_free = all.iter().all(|m| m.0 != connection);
                    assert_eq!(connections.take(connection), is_free);
                    if !is_free {
                        connections.wait(connection, number);
                    }
                    all.push((connection, number, is_free));
                } else {
                    let sending: Vec<usize> = (0..all.len()).filter(|&i| all[i].2).collect();
                    let which = sending[random.below(sending.len() as u32) as usize];
                    let (connection, ..) = all.remove(which);
                    let next = all.iter_mut().find(|m| m.0 == connection);
                    let expected = next.map(|m| {
                        m.2 = true;
                        m.1
                    });
                    assert_eq!(connections.left(connection), expected);
                }
                let waits = all.iter().filter(|m| !m.2).count();
                assert_eq!(connections.waiting().map(|w| w.1.len()).sum::<usize>(), waits);
            }
        }
    }
}

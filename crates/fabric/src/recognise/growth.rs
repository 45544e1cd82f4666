//! Positions in a lattice, grown from one switch.
//!
//! The neighbours of a switch, of which those are opposite each other that span no square, are the axes. From there
//! on each switch goes to the position next to most of its neighbours that have one. Of several the likeliest is the
//! one that takes the least damage to explain: missing cables to switches around it, and squares that are missing, or
//! should not exist. The switch with the least doubt comes next, so that the growth passes around damage and comes
//! back to it from all sides.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::frame::Frame;
use super::net::Net;
use super::star::{Squares, Star};

/// By how much damage a second choice must be worse for the first to be beyond doubt.
const SURE: i32 = 4;
/// Maximum number of times that switches are placed again.
const ROUNDS: usize = 4;

/// Confidence in the place of a switch, and the number of neighbours that vote for it.
type Rank = (i32, u32);

/// Assignment of switches to places of a lattice.
pub(super) struct Growth<'a> {
    net: &'a Net<'a>,
    squares: &'a Squares,
    pub(super) frame: Frame,
    pub(super) place: Vec<Option<u128>>,
    taken: HashMap<u128, u32>,
    /// Per switch the positions next to its neighbours, with the neighbour each.
    votes: Vec<Vec<(u128, u32)>>,
    ahead: BinaryHeap<(Rank, Reverse<u32>)>,
}

impl<'a> Growth<'a> {
    /// A lattice without any switch.
    pub(super) fn new(net: &'a Net<'a>, squares: &'a Squares, frame: Frame) -> Self {
        let n = net.len();
        Self {
            net,
            squares,
            frame,
            place: vec![None; n],
            taken: HashMap::new(),
            votes: vec![Vec::new(); n],
            ahead: BinaryHeap::new(),
        }
    }

    /// Everything reachable from a star, the star being in the middle. Rings are not considered: around one it ends
    /// where its two ends meet.
    pub(super) fn of(net: &'a Net<'a>, squares: &'a Squares, star: &Star) -> Option<Self> {
        let mut growth = Self::new(net, squares, Frame::open(net.len(), star.axes.len())?);
        let middle = growth.frame.middle();
        growth.put(star.centre, middle);
        for (d, &(one, other)) in star.axes.iter().enumerate() {
            for (s, ahead) in [(Some(one), true), (other, false)] {
                if let (Some(s), Some(p)) = (s, growth.frame.step(middle, d, ahead)) {
                    growth.put(s, p);
                }
            }
        }
        growth.go_on();
        Some(growth)
    }

    /// The coordinates of a switch that has a place.
    pub(super) fn coordinates(&self, s: u32) -> Option<Vec<i32>> {
        let place = self.place[s as usize]?;
        Some((0..self.frame.dimensions()).map(|d| self.frame.coordinate(place, d)).collect())
    }

    /// Number of switches without a place.
    pub(super) fn lost(&self) -> usize {
        self.place.iter().filter(|p| p.is_none()).count()
    }

    /// The same in a lattice of known size, which has its first layers at `low`: there it continues, and repairs
    /// wrong places that it finds.
    pub(super) fn settle(&self, frame: Frame, low: &[i32]) -> Self {
        let mut next = Self::new(self.net, self.squares, frame);
        for s in 0..self.net.len() as u32 {
            let Some(mut x) = self.coordinates(s) else { continue };
            x.iter_mut().zip(low).for_each(|(x, low)| *x -= low);
            if let Some(p) = next.frame.place(&x).filter(|p| !next.taken.contains_key(p)) {
                next.place[s as usize] = Some(p);
                next.taken.insert(p, s);
            }
        }
        next.again(&[]);
        for _ in 0..ROUNDS {
            let before = (next.place.clone(), next.taken.clone());
            let (stray, around) = next.stray();
            if stray == 0 {
                break;
            }
            next.again(&around);
            if next.stray().0 >= stray || next.lost() > 0 {
                (next.place, next.taken) = before;
                break;
            }
        }
        next
    }

    /// Number of cables whose ends are not next to each other, and these ends with all of their neighbours.
    fn stray(&self) -> (usize, Vec<u32>) {
        let strays: Vec<u32> = (0..self.net.len() as u32).filter(|&s| self.strays(s)).collect();
        let ends = strays.iter().map(|&s| self.far(s).count()).sum();
        let near = strays.iter().flat_map(|&s| self.net.neighbours(s)).copied();
        (ends, near.chain(strays.iter().copied()).collect())
    }

    /// Places some switches again, and those without a place.
    fn again(&mut self, lifted: &[u32]) {
        for &s in lifted {
            if let Some(p) = self.place[s as usize].take() {
                self.taken.remove(&p);
            }
        }
        for votes in &mut self.votes {
            votes.clear();
        }
        for s in 0..self.net.len() as u32 {
            if let Some(p) = self.place[s as usize] {
                self.speak(s, p);
            }
        }
        self.go_on();
        self.exchange();
    }

    /// The places next to the neighbours of a switch, sorted.
    fn next_to_neighbours(&self, s: u32) -> Vec<u128> {
        let near = self.net.neighbours(s).iter().filter_map(|&v| self.place[v as usize]);
        let mut places: Vec<u128> =
            near.flat_map(|p| self.frame.beside(p)).map(|(p, _)| p).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// Moves switches that are not next to all of their neighbours, or nowhere, as long as that explains
    /// more of the cables with less damage.
    fn exchange(&mut self) {
        let suspects: Vec<u32> = (0..self.net.len() as u32)
            .filter(|&s| self.place[s as usize].is_none() || self.strays(s))
            .collect();
        for _ in 0..ROUNDS {
            let mut moved = false;
            for &s in &suspects {
                let lost = self.place[s as usize].is_none();
                let gain = self.moves(s).into_iter().map(|to| (self.gain(s, to), Reverse(to)));
                if let Some((gain, Reverse(to))) = gain.max()
                    && (gain > 0 || lost)
                {
                    self.shift(s, to);
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
    }

    /// Possible moves of a switch, and of the switch at the new place if there is one: to the place that becomes
    /// free, or to a free one.
    fn moves(&self, s: u32) -> Vec<(u128, u128)> {
        let from = self.place[s as usize];
        let mut moves = Vec::new();
        for there in self.next_to_neighbours(s).into_iter().filter(|&p| Some(p) != from) {
            moves.extend(from.map(|from| (there, from)));
            if let Some(&other) = self.taken.get(&there) {
                let free = self.next_to_neighbours(other).into_iter();
                moves.extend(free.filter(|p| !self.taken.contains_key(p)).map(|p| (there, p)));
            }
        }
        moves
    }

    /// Improvement of the sense of the changed places if switch `s` moves.
    fn gain(&mut self, s: u32, to: (u128, u128)) -> i32 {
        let from = self.place[s as usize];
        let places: Vec<u128> =
            [to.0, to.1].into_iter().chain(from.filter(|&from| from != to.1)).collect();
        let before = self.sense(&places);
        let other = self.shift(s, to);
        let after = self.sense(&places);
        self.set(s, None);
        if let Some(other) = other {
            self.set(other, Some(to.0));
        }
        self.set(s, from);
        after - before
    }

    /// Puts switch `s` at the first place, and who is there at the second; returns that one.
    fn shift(&mut self, s: u32, (there, beyond): (u128, u128)) -> Option<u32> {
        let other = self.taken.get(&there).copied();
        self.set(s, None);
        if let Some(other) = other {
            self.set(other, Some(beyond));
        }
        self.set(s, Some(there));
        other
    }

    /// Puts a switch at a free place, or nowhere.
    fn set(&mut self, s: u32, place: Option<u128>) {
        if let Some(before) = std::mem::replace(&mut self.place[s as usize], place) {
            self.taken.remove(&before);
        }
        if let Some(place) = place {
            self.taken.insert(place, s);
        }
    }

    /// Whether a switch has a neighbour that is not next to it.
    fn strays(&self, s: u32) -> bool {
        self.far(s).next().is_some()
    }

    /// The neighbours of a switch that are not next to it.
    fn far(&self, s: u32) -> impl Iterator<Item = u32> {
        let near = move |p: u128| {
            let from = self.place[s as usize];
            from.is_none_or(|from| self.frame.beside(from).any(|(beside, _)| beside == p))
        };
        let all = self.net.neighbours(s).iter().copied();
        all.filter(move |&v| self.place[v as usize].is_some_and(|p| !near(p)))
    }

    /// Measure of how well two places explain the cables of their switches: twice the cables to neighbouring places, minus the
    /// number of those.
    fn sense(&self, places: &[u128]) -> i32 {
        let at = |p: u128| self.taken.get(&p).copied();
        let pairs = places.iter().filter_map(|&p| Some((p, at(p)?))).flat_map(|(p, s)| {
            let beside = self.frame.beside(p).filter_map(move |(p, _)| at(p));
            beside.map(move |v| if self.net.edge_of(s, v).is_some() { 1 } else { -1 })
        });
        pairs.sum()
    }

    fn put(&mut self, s: u32, place: u128) {
        self.place[s as usize] = Some(place);
        self.taken.insert(place, s);
        self.speak(s, place);
    }

    /// Says to the neighbours of a switch where they may be.
    fn speak(&mut self, s: u32, place: u128) {
        let net = self.net;
        for &v in net.neighbours(s) {
            if self.place[v as usize].is_none() {
                let free = self.frame.beside(place).map(|(p, _)| p);
                let free = free.filter(|p| !self.taken.contains_key(p)).map(|p| (p, s));
                self.votes[v as usize].extend(free);
            }
        }
    }

    fn go_on(&mut self) {
        for s in 0..self.net.len() as u32 {
            self.consider(s);
        }
        while let Some((rank, Reverse(s))) = self.ahead.pop() {
            if self.place[s as usize].is_some() {
                continue;
            }
            let Some((now, place)) = self.best(s) else { continue };
            if now < rank {
                self.ahead.push((now, Reverse(s)));
                continue;
            }
            self.put(s, place);
            let net = self.net;
            for &v in net.neighbours(s) {
                self.consider(v);
            }
            // Others may have wanted the place, and have fewer choices now.
            let beside = self.frame.beside(place).filter_map(|(p, _)| self.taken.get(&p).copied());
            for v in beside.collect::<Vec<_>>().into_iter().flat_map(|v| net.neighbours(v)) {
                self.consider(*v);
            }
        }
    }

    fn consider(&mut self, s: u32) {
        if self.place[s as usize].is_none()
            && let Some((rank, _)) = self.best(s)
        {
            self.ahead.push((rank, Reverse(s)));
        }
    }

    /// The likeliest place of a switch.
    fn best(&self, s: u32) -> Option<(Rank, u128)> {
        let mut votes: Vec<(u128, u32)> = (self.votes[s as usize].iter().copied())
            .filter(|(place, _)| !self.taken.contains_key(place))
            .collect();
        votes.sort_unstable();
        let most = votes.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len).max()?;
        let choices = votes.chunk_by(|a, b| a.0 == b.0).filter(|votes| votes.len() == most);
        let mut choices: Vec<(i32, u128)> =
            choices.map(|votes| (self.damage(s, votes), votes[0].0)).collect();
        choices.sort_unstable();
        let (damage, place) = choices[0];
        let doubt = choices.get(1).map_or(SURE, |second| (second.0 - damage).min(SURE));
        Some(((doubt - damage, most as u32), place))
    }

    /// Amount of damage that it takes for a switch to be next to its neighbours that vote for one place.
    fn damage(&self, s: u32, votes: &[(u128, u32)]) -> i32 {
        let place = votes[0].0;
        let around = self.frame.beside(place).filter(|(p, _)| self.taken.contains_key(p)).count();
        let mut damage = around.saturating_sub(votes.len());
        for &(_, v) in votes {
            let Some(from) = self.place[v as usize] else { continue };
            let across = self.frame.beside(from).find(|(p, _)| *p == place).and_then(|b| b.1);
            for (x, square) in self.squares.with(self.net, v, s) {
                let at = self.place[x as usize];
                damage += usize::from(at.is_some() && square == (at == across));
            }
        }
        i32::try_from(damage).unwrap_or(i32::MAX / 2)
    }
}

//! Coordinates of a Slim Fly whose columns are known.
//!
//! Take one column, with rows 0 to q-1 in some order: each switch of the other half has one neighbour in it, whose
//! row it takes over (this is `c = y` at `x = 0`). Thus all columns of the other half determine, in the same rows,
//! which rows differ by an element of that half's set; an isomorphism with the ideal column gives rows their field
//! elements. Any two columns of the other half may then be `m = 0` and `m = 1`: maps `(x, y) -> (x/s, y + a x)`, `(m,
//! c) -> (s (m + a), c)` keep all cables. All else follows from `y = m x + c`, by vote.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::generate::Field;

use super::ballot::Ballot;
use super::fit::Fit;
use super::isomorphisms::Isomorphisms;
use super::net::{Net, typical};

/// Coordinates, three a switch, and how well they fit.
pub(super) type Placed = (Vec<u16>, Fit);

const NONE: u32 = u32::MAX;
/// Isomorphisms that are tried. If `q` is a prime they are all equivalent: automorphisms of a Cayley graph
/// of prime order are affine (Burnside 1901), and those keep the set of the other half too.
const TRIES: usize = 32;
/// Assignments that are looked at in search of isomorphisms.
const STEPS: usize = 4_000_000;

/// A Slim Fly to compare a network with.
pub(super) struct Mms<'a> {
    net: &'a Net<'a>,
    q: u32,
    sets: [Vec<u32>; 2],
    /// Row `a`, column `b`: their difference, and their product.
    minus: Vec<u32>,
    times: Vec<u32>,
}

/// The supposed column of each switch, `side * q + column`.
struct Columns<'a> {
    all: &'a [Vec<Vec<u32>>; 2],
    of: Vec<u32>,
}

impl<'a> Mms<'a> {
    pub(super) fn new(net: &'a Net<'a>, q: u32, field: &Field, sets: [Vec<u32>; 2]) -> Self {
        let table = |f: &dyn Fn(u32, u32) -> u32| {
            (0..q).flat_map(|a| (0..q).map(move |b| (a, b))).map(|(a, b)| f(a, b)).collect()
        };
        let minus = table(&|a, b| field.add(a, field.negated(b)));
        let times = table(&|a, b| field.times(a, b));
        Self { net, q, sets, minus, times }
    }

    fn minus(&self, a: u32, b: u32) -> u32 {
        self.minus[(a * self.q + b) as usize]
    }

    fn plus(&self, a: u32, b: u32) -> u32 {
        self.minus(a, self.minus(0, b))
    }

    fn times(&self, a: u32, b: u32) -> u32 {
        self.times[(a * self.q + b) as usize]
    }

    /// Half, column and row of each switch, the first of the two given halves being half `first`, and how
    /// well they fit.
    ///
    /// # Errors
    /// If columns are not joined as in a Slim Fly.
    pub(super) fn fit(&self, columns: &[Vec<Vec<u32>>; 2], first: usize) -> Result<Placed, String> {
        let (net, q) = (self.net, self.q as usize);
        let mut of = vec![NONE; net.len()];
        for (i, column) in (0..).zip(columns.iter().flatten()) {
            for &s in column {
                of[s as usize] = i;
            }
        }
        let columns = Columns { all: columns, of };
        let whole = columns.all[0].iter().filter(|c| c.len() == q);
        let ends = |c: &&Vec<u32>| c.iter().map(|&s| net.degree(s)).sum::<usize>();
        let base = whole.max_by_key(ends).ok_or("no column is whole")?;
        // The row of each switch of the other half, by its neighbour in the base.
        let mut row = vec![NONE; net.len()];
        for (i, &s) in (0..).zip(base) {
            for &v in net.neighbours(s).iter().filter(|&&v| columns.side(self, v) == Some(1)) {
                row[v as usize] = i;
            }
        }
        let near = self.near(&columns, &row);
        if near.chunks(q).any(|r| r.iter().filter(|n| **n).count() != self.sets[1 - first].len()) {
            return Err("columns are not joined in parallel".to_owned());
        }
        let mut isomorphisms = Isomorphisms {
            minus: &self.minus,
            near: &near,
            set: self.members(1 - first),
            used: vec![false; q],
            steps: STEPS,
        };
        let own = self.members(first);
        let mut found = Err("no column is the field's".to_owned());
        let mut tries = TRIES;
        isomorphisms.extend(&mut Vec::with_capacity(q), &mut |element| {
            if self.agrees(base, element, &own) {
                let next = self.place(&columns, &row, element, first);
                let last = std::mem::replace(&mut found, Err(String::new()));
                found = better(last, next);
                tries -= 1;
            }
            tries == 0 || found.as_ref().is_ok_and(|f| f.1.extra.is_empty())
        });
        found
    }

    /// Whether most cables of the base join elements that differ by one of the set of its half.
    fn agrees(&self, base: &[u32], element: &[u32], set: &[bool]) -> bool {
        let (mut good, mut all) = (0, 0);
        for (&s, &a) in base.iter().zip(element) {
            for (&v, &b) in base.iter().zip(element) {
                if self.net.edge_of(s, v).is_some() {
                    all += 1;
                    good += usize::from(set[self.minus(a, b) as usize]);
                }
            }
        }
        good * 10 >= all * 8
    }

    /// Coordinates from the elements of the base's rows, and how well they fit.
    fn place(
        &self,
        columns: &Columns<'_>,
        row: &[u32],
        element: &[u32],
        first: usize,
    ) -> Result<Placed, String> {
        let q = self.q;
        let spread = self.spread(columns, row, element).ok_or("two columns are the same one")?;
        let place = self.fill(spread, first)?;
        let fit = self.compare(&place)?.accept()?;
        let coords = place.into_iter().flat_map(|p| [p / q / q, p / q % q, p % q]);
        Ok((coords.map(|x| x as u16).collect(), fit))
    }

    /// Elements in the set of a half.
    fn members(&self, half: usize) -> Vec<bool> {
        (0..self.q).map(|e| self.sets[half].binary_search(&e).is_ok()).collect()
    }

    /// Rows that are joined in several columns of the other half.
    fn near(&self, columns: &Columns<'_>, row: &[u32]) -> Vec<bool> {
        let q = self.q as usize;
        let mut votes = vec![0; q * q];
        for &(s, v) in &self.net.edges {
            let (a, b) = (row[s as usize], row[v as usize]);
            if columns.of[s as usize] == columns.of[v as usize] && a != NONE && b != NONE {
                votes[a as usize * q + b as usize] += 1;
                votes[b as usize * q + a as usize] += 1;
            }
        }
        votes.into_iter().map(|n| n >= (q / 3).max(2)).collect()
    }

    /// Column and row of each switch from the elements of the base's rows: `(x, y)` in the base's half,
    /// `(m, c)` in the other. `None` if two columns are the same one.
    fn spread(
        &self,
        columns: &Columns<'_>,
        row: &[u32],
        element: &[u32],
    ) -> Option<Vec<Option<(usize, u32, u32)>>> {
        let (net, q) = (self.net, self.q);
        let n = net.len() as u32;
        let mut value: Vec<u32> =
            row.iter().map(|&r| if r == NONE { NONE } else { element[r as usize] }).collect();
        let known = |c: &Vec<u32>| c.iter().filter(|&&s| value[s as usize] != NONE).count();
        let mut by: Vec<usize> = (0..q as usize).collect();
        by.sort_by_key(|&c| Reverse(known(&columns.all[1][c])));
        let (zero, one) = (by[0] as u32 + q, by[1] as u32 + q);
        // y, and the c of the neighbour in column 1.
        let beside = |s: u32, column: u32| {
            let mut all = net.neighbours(s).iter().copied();
            all.find(|&v| columns.of[v as usize] == column && value[v as usize] != NONE)
                .map(|v| value[v as usize])
        };
        let mut ballot = Ballot::default();
        for s in (0..n).filter(|&s| columns.side(self, s) == Some(0)) {
            if let (Some(y), Some(c)) = (beside(s, zero), beside(s, one)) {
                ballot.cast(columns.of[s as usize], self.minus(y, c));
            }
        }
        let ys: Vec<Option<u32>> = (0..n)
            .map(|s| if columns.side(self, s) == Some(0) { beside(s, zero) } else { None })
            .collect();
        let mut line = vec![NONE; 2 * q as usize];
        ballot.count(&mut line);
        for s in (0..n).filter(|&s| {
            line.get(columns.of[s as usize] as usize) == Some(&1) && ys[s as usize].is_some()
        }) {
            for &v in net.neighbours(s) {
                if columns.side(self, v) == Some(1) && value[v as usize] != NONE {
                    let m = self.minus(ys[s as usize]?, value[v as usize]);
                    ballot.cast(columns.of[v as usize], m);
                }
            }
        }
        ballot.count(&mut line);
        for side in line.chunks(q as usize) {
            let mut all = side.to_vec();
            all.sort_unstable();
            all.dedup();
            if all.len() < q as usize || all.contains(&NONE) {
                return None;
            }
        }
        // Rows by all neighbours of the other half, first of the base's half, then of the other.
        for side in [0, 1] {
            for s in (0..n).filter(|&s| columns.side(self, s) == Some(side)) {
                for &v in net.neighbours(s) {
                    if columns.side(self, v) == Some(1 - side) && value[v as usize] != NONE {
                        let [own, other] = [s, v].map(|s| line[columns.of[s as usize] as usize]);
                        let product = self.times(own, other);
                        let r = if side == 0 {
                            self.plus(value[v as usize], product)
                        } else {
                            self.minus(value[v as usize], product)
                        };
                        ballot.cast(s, r);
                    }
                }
            }
            ballot.count(&mut value);
        }
        let place = |s: u32| {
            let side = columns.side(self, s)?;
            let row = Some(value[s as usize]).filter(|&v| v != NONE)?;
            Some((side, line[columns.of[s as usize] as usize], row))
        };
        Some((0..n).map(place).collect())
    }

    /// The numbers of places, half `first` being the first; the switches without a place go where most
    /// of their neighbours are next to.
    fn fill(
        &self,
        found: Vec<Option<(usize, u32, u32)>>,
        first: usize,
    ) -> Result<Vec<u32>, String> {
        let (net, q) = (self.net, self.q);
        let mut taken = vec![false; 2 * (q * q) as usize];
        let mut place = vec![NONE; net.len()];
        let mut lost = Vec::new();
        for (s, at) in found.into_iter().enumerate() {
            // From the other side y = m x + c is c = (-m) x + y.
            let number = at.map(|(side, column, row)| match (side ^ first, first) {
                (1, 1) => (q + self.minus(0, column)) * q + row,
                (half, _) => (half as u32 * q + column) * q + row,
            });
            match number.filter(|&p| !taken[p as usize]) {
                Some(p) => {
                    taken[p as usize] = true;
                    place[s] = p;
                }
                None => lost.push(s),
            }
        }
        if lost.len() * 5 > net.len() {
            return Err(format!("{} switches are in no column", lost.len()));
        }
        while !lost.is_empty() {
            let best = lost.iter().enumerate().filter_map(|(i, &s)| {
                let mut votes: BTreeMap<u32, usize> = BTreeMap::new();
                for &v in net.neighbours(s as u32) {
                    let at = Some(place[v as usize]).filter(|&p| p != NONE);
                    for p in at.into_iter().flat_map(|p| self.beside(p)) {
                        if !taken[p as usize] {
                            *votes.entry(p).or_default() += 1;
                        }
                    }
                }
                let (p, n) = votes.into_iter().max_by_key(|&(p, n)| (n, Reverse(p)))?;
                Some((n, Reverse(i), p))
            });
            let Some((_, Reverse(i), p)) = best.max() else {
                return Err(format!("{} switches have no place", lost.len()));
            };
            place[lost.remove(i)] = p;
            taken[p as usize] = true;
        }
        Ok(place)
    }

    /// The places that have a cable to one.
    fn beside(&self, place: u32) -> impl Iterator<Item = u32> {
        let q = self.q;
        let (half, column, row) = (place / q / q, place / q % q, place % q);
        let own = move |&step: &u32| (half * q + column) * q + self.plus(row, step);
        let across = move |other: u32| {
            let product = self.times(column, other);
            let there = if half == 0 { self.minus(row, product) } else { self.plus(row, product) };
            ((1 - half) * q + other) * q + there
        };
        self.sets[half as usize].iter().map(own).chain((0..q).map(across))
    }

    /// Compares the network with the Slim Fly whose places its switches take.
    ///
    /// # Errors
    /// If two switches have one place.
    fn compare(&self, place: &[u32]) -> Result<Fit, String> {
        let q = self.q;
        let mut at = vec![NONE; 2 * (q * q) as usize];
        for (s, &p) in (0..).zip(place) {
            if std::mem::replace(&mut at[p as usize], s) != NONE {
                return Err("two switches have one place".to_owned());
            }
        }
        let net = self.net;
        let trunk = typical(net.edges.iter().map(|&(s, v)| net.cables(s, v))).max(1);
        let ideal = (0..).zip(place).flat_map(|(s, &p)| {
            let others = self.beside(p).filter(move |&other| p < other);
            others.map(|p| at[p as usize]).filter(|&v| v != NONE).map(move |v| (s, v, trunk))
        });
        let mut fit = Fit::of(net, ideal.collect::<Vec<_>>(), |_, _| true);
        fit.places = at.len() as u64;
        for p in (0..).zip(&at).filter(|(_, s)| **s == NONE).map(|(p, _)| p) {
            fit.vacant.push(format!("a switch at ({}, {}, {})", p / q / q, p / q % q, p % q));
        }
        Ok(fit)
    }
}

/// The fit that differs by fewer cables. Scaled, the set of one half equals that of the other except for a pair of
/// elements, so a wrong fit can pass.
pub(super) fn better(
    one: Result<Placed, String>,
    other: Result<Placed, String>,
) -> Result<Placed, String> {
    match (one, other) {
        (Ok(one), Ok(other)) => Ok(if other.1.off() < one.1.off() { other } else { one }),
        (Ok(one), Err(_)) => Ok(one),
        (Err(_), other) => other,
    }
}

impl Columns<'_> {
    /// The half that a switch belongs to, of the two given ones.
    fn side(&self, mms: &Mms<'_>, s: u32) -> Option<usize> {
        Some(self.of[s as usize]).filter(|&c| c != NONE).map(|c| usize::from(c >= mms.q))
    }
}

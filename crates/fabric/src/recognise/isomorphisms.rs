//! Isomorphisms with the Cayley graph of a set.

/// A search for isomorphisms from the rows of the base to the Cayley graph of a set.
pub(super) struct Isomorphisms<'a> {
    /// The elements' differences, a row each.
    pub(super) minus: &'a [u32],
    /// Which rows are near each other, a row each.
    pub(super) near: &'a [bool],
    /// Differences of the elements of near rows, as a set.
    pub(super) set: Vec<bool>,
    /// Elements that a row has.
    pub(super) used: Vec<bool>,
    /// Assignments that may still be looked at.
    pub(super) steps: usize,
}

impl Isomorphisms<'_> {
    /// Gives the next row each element that agrees with those before; the first row is 0, since
    /// translations are automorphisms. `true` once `enough` says so.
    pub(super) fn extend(
        &mut self,
        element: &mut Vec<u32>,
        enough: &mut dyn FnMut(&[u32]) -> bool,
    ) -> bool {
        let (q, i) = (self.set.len(), element.len());
        if i == q {
            return enough(element);
        }
        let choices = if i == 0 { 1 } else { q };
        for e in 0..choices as u32 {
            if self.steps == 0 {
                return false;
            }
            self.steps -= 1;
            let near = &self.near[i * q..(i + 1) * q];
            let agrees = |(j, &other): (usize, &u32)| {
                self.set[self.minus[e as usize * q + other as usize] as usize] == near[j]
            };
            if self.used[e as usize] || !element.iter().enumerate().all(agrees) {
                continue;
            }
            self.used[e as usize] = true;
            element.push(e);
            if self.extend(element, enough) {
                return true;
            }
            element.pop();
            self.used[e as usize] = false;
        }
        false
    }
}

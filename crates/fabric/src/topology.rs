//! A fabric together with its structure.

use crate::{Fabric, Faults, Planes, Renumbering, Shape, SwitchId, TerminalId};

/// A [`Fabric`] and, where known, its [`Shape`]: what generators make and readers return.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// The network itself.
    pub fabric: Fabric,
    /// Its structure; `None` for a dump that was not recognised.
    pub shape: Option<Shape>,
}

impl Topology {
    /// The topology without `faults`; see [`Fabric::with_faults`].
    pub fn with_faults(&self, faults: &Faults) -> (Self, Renumbering) {
        let (fabric, map) = self.fabric.with_faults(faults);
        let shape = self.shape.as_ref().map(|s| s.restricted(&map));
        (Self { fabric, shape }, map)
    }

    /// Number of planes: those that its shape states, else those that its hosts share ([`Planes`]). Stated planes without
    /// any switch (after faults) count if a later one has some.
    pub fn plane_count(&self) -> usize {
        match &self.shape {
            Some(Shape::Planes(p)) => p.plane.iter().max().map_or(0, |&last| usize::from(last) + 1),
            _ => Planes::of(&self.fabric).count(),
        }
    }

    /// Plane `i` as a separate fabric, with its own shape and without the adapters of the others; `None` beyond
    /// [`plane_count`](Self::plane_count). A fabric without planes is its own plane 0.
    ///
    /// ```
    /// use darkfiber_fabric::{Shape, parse_spec};
    ///
    /// let both = parse_spec("fattree2:n=4,m=4,r=8,planes=2")?;
    /// let second = both.plane(1).unwrap();
    /// assert_eq!((both.plane_count(), second.plane_count()), (2, 1));
    /// assert_eq!(second.fabric.switch_count() * 2, both.fabric.switch_count());
    /// assert!(matches!(second.shape, Some(Shape::Tree(_))));
    /// # Ok::<(), darkfiber_fabric::SpecError>(())
    /// ```
    pub fn plane(&self, i: usize) -> Option<Self> {
        let (plane, _) = self.plane_and_map(i)?;
        // Those without a cable in any plane stay where their host has no other one: that is a fault of this plane, too.
        let without = self.fabric.unlinked_adapters();
        let mut is_here = vec![false; plane.fabric.hosts().len()];
        for t in (0..plane.fabric.terminal_count()).map(TerminalId::new) {
            is_here[plane.fabric.host_of(t).index()] = true;
        }
        let mut others = plane.fabric.unlinked_adapters();
        others.retain(|adapter| {
            let host = plane.fabric.adapter(*adapter).host;
            is_here[host.index()] || without.binary_search(adapter).is_err()
        });
        let fabric =
            if others.is_empty() { plane.fabric } else { plane.fabric.without_unlinked(&others) };
        Some(Self { fabric, ..plane })
    }

    /// [`plane`](Self::plane), and how its ids map to those of the whole fabric. Hosts and adapters
    /// keep their ids: all of them are there, and those of the other planes have no links.
    pub fn plane_and_map(&self, i: usize) -> Option<(Self, Renumbering)> {
        if i >= self.plane_count() {
            return None;
        }
        let planes = Planes::of(&self.fabric);
        let plane_of = |s: SwitchId| match &self.shape {
            Some(Shape::Planes(stated)) => stated.plane[s.index()].into(),
            _ => planes.of_switch(s),
        };
        let others = (0..self.fabric.switch_count())
            .map(SwitchId::new)
            .filter(|&s| plane_of(s) != i)
            .collect::<Vec<_>>();
        let (fabric, map) =
            self.fabric.with_faults(&Faults { switches: others, ..Faults::default() });
        let shape = match self.shape.as_ref().map(|shape| shape.restricted(&map)) {
            Some(Shape::Planes(stated)) => stated.each.get(i).cloned().flatten(),
            other => other,
        };
        Some((Self { fabric, shape }, map))
    }
}

impl Planes {
    /// Each plane as a separate fabric, with its shape where `shape` states it, and the map of its ids to those of the whole
    /// fabric. Hosts and adapters keep their ids: all of them exist, and those of the other planes have no links.
    pub fn apart(&self, fabric: &Fabric, shape: Option<&Shape>) -> Vec<(Topology, Renumbering)> {
        let one = |plane: usize| {
            let others = (0..fabric.switch_count()).map(SwitchId::new);
            let switches = others.filter(|&s| self.of_switch(s) != plane).collect();
            let (fabric, map) = fabric.with_faults(&Faults { switches, ..Faults::default() });
            let shape = match shape.map(|shape| shape.restricted(&map)) {
                Some(Shape::Planes(stated)) => {
                    // The plane that is stated for its switches, if that is one.
                    let mut planes = stated.plane.iter();
                    let first = planes.next().filter(|first| planes.all(|other| other == *first));
                    first.and_then(|&plane| stated.each[usize::from(plane)].clone())
                }
                other => other,
            };
            (Topology { fabric, shape }, map)
        };
        (0..self.count()).map(one).collect()
    }
}

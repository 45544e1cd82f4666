//! Entries that lead into ports without a cable: packets are dropped there, until a cable is plugged in again.

use darkfiber_fabric::{AtPort, Fabric, SwitchId};

use crate::Routes;
use crate::routes::{DELIVER, NO_ROUTE};

impl Routes {
    /// Clears all entries that lead into a port without a cable. What is proved about tables of a fabric is true then as well when
    /// cables are added: no packet takes them.
    ///
    /// Complexity: O(rows x switches).
    pub fn clear_unconnected(&mut self, fabric: &Fabric) {
        let unconnected = ports_without_cables(fabric);
        for row in 0..self.row_count() {
            for (port, unconnected) in self.ports_mut(row).iter_mut().zip(&unconnected) {
                if unconnected[usize::from(*port)] {
                    *port = NO_ROUTE;
                }
            }
        }
    }

    /// The entries that lead into ports without a cable: rows and switches, by row.
    ///
    /// Complexity: O(rows x switches).
    pub(crate) fn unconnected(&self, fabric: &Fabric) -> Vec<(usize, u32)> {
        let unconnected = ports_without_cables(fabric);
        let of_row = |row: usize| {
            let entries = (0..).zip(self.ports(row)).zip(&unconnected);
            let dead = entries.filter(|((_, port), nothing)| nothing[usize::from(**port)]);
            dead.map(move |((s, _), _)| (row, s)).collect::<Vec<_>>()
        };
        (0..self.row_count()).flat_map(of_row).collect()
    }

    /// Whether an entry leads into a port without a cable.
    pub fn has_unconnected(&self, fabric: &Fabric) -> bool {
        let leads = |(s, &port): (usize, &u8)| leads_nowhere(fabric, s, port);
        (0..self.row_count()).any(|row| self.ports(row).iter().enumerate().any(leads))
    }
}

fn leads_nowhere(fabric: &Fabric, s: usize, port: u8) -> bool {
    let leads = !matches!(port, DELIVER | NO_ROUTE);
    leads && fabric.at_port(SwitchId::new(s), port) == AtPort::Nothing
}

/// By switch and port, whether nothing is plugged in there.
fn ports_without_cables(fabric: &Fabric) -> Vec<[bool; 256]> {
    (0..fabric.switch_count())
        .map(|s| std::array::from_fn(|port| leads_nowhere(fabric, s, port as u8)))
        .collect()
}

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
        let unconnected: Vec<[bool; 256]> = (0..fabric.switch_count())
            .map(|s| {
                std::array::from_fn(|port| {
                    let port = port as u8;
                    let leads = !matches!(port, DELIVER | NO_ROUTE);
                    leads && fabric.at_port(SwitchId::new(s), port) == AtPort::Nothing
                })
            })
            .collect();
        for row in 0..self.row_count() {
            for (port, unconnected) in self.ports_mut(row).iter_mut().zip(&unconnected) {
                if unconnected[usize::from(*port)] {
                    *port = NO_ROUTE;
                }
            }
        }
    }

    /// Whether an entry leads into a port without a cable.
    pub fn has_unconnected(&self, fabric: &Fabric) -> bool {
        let leads_nowhere = |(s, &port): (usize, &u8)| {
            let leads = !matches!(port, DELIVER | NO_ROUTE);
            leads && fabric.at_port(SwitchId::new(s), port) == AtPort::Nothing
        };
        (0..self.row_count()).any(|row| self.ports(row).iter().enumerate().any(leads_nowhere))
    }
}

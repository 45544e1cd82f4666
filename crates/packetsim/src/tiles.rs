//! The tiles of Rosetta: the place of a port, and the arbitration among rows.
//!
//! D. De Sensi et al., An In-Depth Analysis of the Slingshot Interconnect (SC'20), section II-A and figure 1. Ports are
//! counted from 0, as there; two are on a tile, eight tiles in a row, four rows.
//!
//! A packet goes over the bus of its input to the crossbar of the tile that is in its row and in the column of its output, and
//! from there over a channel of the column to the output, where one of four such channels is accepted. Data moves when the
//! output has granted it: so nothing waits on the way, and an output that accepts one packet at a time occupies its whole path.
//! Tiles change only the arbitration: of the sixteen inputs of a row the oldest request is granted first at an output of a
//! crossbar, and the four rows are served round robin at the port.

/// Position of a tile in the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tile {
    /// One of four, from 0.
    pub row: u8,
    /// One of eight, from 0.
    pub column: u8,
}

/// Ports of a switch of tiles.
pub const TILED_PORTS: u32 = 64;
/// Tiles of a row, rows, and ports of a row.
const COLUMNS: u8 = 8;
const ROWS: u8 = 4;
const ROW_PORTS: u8 = 16;

impl Tile {
    /// That of a port.
    pub fn of(port: u8) -> Self {
        Self { row: port / ROW_PORTS % ROWS, column: port / 2 % COLUMNS }
    }

    /// The tile whose crossbar a packet crosses from one port to another.
    pub fn crossed(from: u8, to: u8) -> Self {
        Self { row: Self::of(from).row, column: Self::of(to).column }
    }
}

/// Distance of a port's row from the row that is granted next, in turns.
#[inline]
pub(crate) fn behind(turn: u8, port: u8) -> u8 {
    (Tile::of(port).row + ROWS - turn) % ROWS
}

/// The row that is granted next after a port was.
#[inline]
pub(crate) fn after(port: u8) -> u8 {
    (Tile::of(port).row + 1) % ROWS
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The example of figure 1.
    #[test]
    fn from_port_19_to_port_56() {
        assert_eq!(Tile::of(19), Tile { row: 1, column: 1 });
        assert_eq!(Tile::of(56), Tile { row: 3, column: 4 });
        assert_eq!(Tile::crossed(19, 56), Tile { row: 1, column: 4 });
    }

    /// Sixteen inputs and eight outputs at each of 32 crossbars; every pair of ports meets at one of them.
    #[test]
    fn crossbars_have_sixteen_inputs_and_eight_outputs() {
        let tiles: BTreeSet<Tile> = (0..64).map(Tile::of).collect();
        assert_eq!(tiles.len(), 32);
        for tile in tiles {
            assert_eq!((0..64).filter(|&p| Tile::of(p) == tile).count(), 2);
            let inputs = (0..64).filter(|&p| Tile::crossed(p, 2 * tile.column) == tile);
            assert_eq!(inputs.count(), 16);
            let outputs = (0..64).filter(|&p| Tile::crossed(16 * tile.row, p) == tile);
            assert_eq!(outputs.count(), 8);
        }
    }

    /// All want to send all the time: each row does as often as the others, however few of it do.
    #[test]
    fn rows_take_turns() {
        let mut turn = 0;
        let mut count = [0; 64];
        for _ in 0..300 {
            let next = [3u8, 17, 50].into_iter().min_by_key(|&p| behind(turn, p)).expect("some");
            turn = after(next);
            count[usize::from(next)] += 1;
        }
        assert_eq!([count[3], count[17], count[50]], [100; 3]);
    }
}

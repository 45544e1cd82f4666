//! The table of published measurements: `measured.csv`, a line for each measured size.

use darkfiber_workload::nccl::{Algorithm, Cluster, Cost, Operation, system};
use darkfiber_workload::quantity::bytes;

/// A published measurement of an Allreduce, as nccl-tests print it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measured {
    /// The measured system, in words.
    pub(super) system: String,
    /// The hosts of the model.
    pub(super) cluster: Cluster,
    /// The algorithms given to NCCL, by name; none where it chose.
    pub(super) algorithms: Vec<Algorithm>,
    /// Bytes of the vector, and how they are written.
    pub(super) bytes: u64,
    pub(super) size: String,
    /// Bus bandwidth in GB/s: the least and the most that is printed.
    pub(super) bus: [f64; 2],
    /// Whether the model was fixed on it.
    pub(super) is_fixed_on: bool,
    /// Publication of the measurement, and notes.
    pub(super) source: String,
    pub(super) note: String,
}

impl Measured {
    /// All of them, in the order of the file.
    pub(super) fn all() -> Vec<Self> {
        let text = include_str!("measured.csv");
        text.lines().skip(1).map(|line| Self::of(&cells(line))).collect()
    }

    /// A line of the file, which a test reads.
    fn of(cells: &[String]) -> Self {
        let known = "the file is part of the program";
        let number = |i: usize| cells[i].parse::<f64>().expect(known);
        let hosts: u32 = cells[2].parse().expect(known);
        let named = |name: &str| Algorithm::ALL.into_iter().find(|a| a.name() == name);
        Self {
            system: cells[0].clone(),
            cluster: Cluster::new(system(&cells[1]).expect(known), hosts),
            algorithms: cells[4].split('+').filter_map(named).collect(),
            bytes: bytes(&cells[5]).expect(known),
            size: cells[5].clone(),
            bus: [number(6), number(7)],
            is_fixed_on: cells[8] == "yes",
            source: cells[9].clone(),
            note: cells[10].clone(),
        }
    }

    /// The choice of NCCL by its model, and the resulting bus bandwidth in GB/s.
    pub(super) fn ours(&self) -> (Cost, f64) {
        let all = Operation::AllReduce;
        let given: Vec<Option<Algorithm>> = if self.algorithms.is_empty() {
            vec![None]
        } else {
            self.algorithms.iter().copied().map(Some).collect()
        };
        let cost = given
            .into_iter()
            .filter_map(|a| self.cluster.choose(all, a, None, self.bytes))
            .min_by(|a, b| a.seconds.total_cmp(&b.seconds))
            .expect("rings are always possible");
        (cost, all.bus_bandwidth(self.cluster.ranks(), self.bytes, cost.seconds) / 1e9)
    }

    /// Relative error of ours against print; against the nearest end of a range.
    pub(super) fn error(&self) -> f64 {
        let ours = self.ours().1;
        let nearest = ours.clamp(self.bus[0], self.bus[1]);
        ours / nearest - 1.0
    }

    /// Relative tolerance: a tenth from 256 MiB, and three tenths below.
    pub(super) fn tolerance(&self) -> f64 {
        if self.bytes >= 256 << 20 { 0.1 } else { 0.3 }
    }

    /// The settings given to NCCL.
    pub(super) fn given(&self) -> String {
        let names: Vec<&str> = self.algorithms.iter().map(|a| a.name()).collect();
        if names.is_empty() { "default".to_owned() } else { names.join("+") }
    }
}

/// The cells of a line; those in quotes may have commas.
fn cells(line: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut is_quoted = false;
    for c in line.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => all.push(String::new()),
            c => {
                if let Some(last) = all.last_mut() {
                    last.push(c);
                }
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_table_is_whole() {
        let all = Measured::all();
        assert_eq!(all.len(), 48);
        for m in &all {
            assert!(m.bus[0] > 0.0 && m.bus[0] <= m.bus[1], "{m:?}");
            assert!(m.source.len() > 10 && m.bytes >= 1 << 20, "{m:?}");
            assert!(m.cluster.system.gpus == 8 || m.cluster.system.gpus == 72);
        }
        // Fixed on two systems, and judged on at least five others.
        let systems = |fixed: bool| -> BTreeSet<&str> {
            all.iter().filter(|m| m.is_fixed_on == fixed).map(|m| &m.system[..]).collect()
        };
        assert_eq!(systems(true).len(), 2);
        assert!(systems(false).len() >= 5);
        // No system is in both sets.
        assert!(systems(true).is_disjoint(&systems(false)));
    }

    /// Figures that NVIDIA's staff name as good: 96 for four NICs of 200 Gb/s.
    #[test]
    fn errors_are_shares_of_the_nearest_end() {
        let all = Measured::all();
        let m = all.iter().find(|m| m.system == "A100 with 4 x HDR").expect("it is there");
        let at = |bus| Measured { bus, ..m.clone() }.error();
        let ours = m.ours().1;
        assert!(at([ours - 1.0, ours + 1.0]).abs() < 1e-12);
        assert!((at([ours * 2.0, ours * 3.0]) + 0.5).abs() < 1e-12);
        assert!((at([ours / 3.0, ours / 2.0]) - 1.0).abs() < 1e-12);
    }
}

//! Growth with size: the points of the scaling plot, and the exponents of their lines.

use super::results::Results;
use super::rows::{Plot, Rows};

/// A line of a panel: one kind of work at several sizes.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// The peer, if there is one.
    pub(crate) peer: Option<&'a str>,
    /// Sizes, darkfiber's figures, and whether the exponent is fitted to them.
    pub(crate) ours: Vec<(f64, f64, bool)>,
    /// The peer's.
    pub(crate) theirs: Vec<(f64, f64, bool)>,
    /// Days and commits of its points, first and last.
    pub(crate) of: (String, String),
}

/// The lines of a panel, in the order of their first rows.
pub(crate) fn lines<'a>(plot: &Plot, rows: &'a Rows, results: &Results) -> Vec<Line<'a>> {
    let mut lines: Vec<Line> = Vec::new();
    for row in rows.rows.iter().filter(|row| row.plot.as_ref() == Some(&plot.name)) {
        let (Some(name), Some(size)) = (row.series.as_deref(), row.size) else { continue };
        let Some(measured) = results.get(&row.id) else { continue };
        let at = lines.iter().position(|line| line.name == name).unwrap_or_else(|| {
            let of = (String::new(), String::new());
            let peer = row.peer.as_deref();
            lines.push(Line { name, peer, ours: Vec::new(), theirs: Vec::new(), of });
            lines.len() - 1
        });
        let line = &mut lines[at];
        let of = format!("{}, {}", measured.date, measured.commit);
        if line.of.0.is_empty() || of < line.of.0 {
            line.of.0.clone_from(&of);
        }
        line.of.1 = of.max(std::mem::take(&mut line.of.1));
        line.ours.extend(measured.ours.map(|value| (size, value, row.fitted)));
        line.theirs.extend(measured.theirs.map(|value| (size, value, row.fitted)));
    }
    lines
}

/// The exponent e of size^e by least squares on the logarithms, of points of at least `from`; none with fewer than two of them.
pub(crate) fn exponent(points: &[(f64, f64, bool)], from: f64) -> Option<f64> {
    let is_fitted = |p: &&(f64, f64, bool)| p.2 && p.0 >= from && p.1 > 0.0;
    let fit: Vec<(f64, f64)> =
        points.iter().filter(is_fitted).map(|p| (p.0.ln(), p.1.ln())).collect();
    if fit.len() < 2 {
        return None;
    }
    let n = fit.len() as f64;
    let x = fit.iter().map(|p| p.0).sum::<f64>() / n;
    let y = fit.iter().map(|p| p.1).sum::<f64>() / n;
    let over: f64 = fit.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let under: f64 = fit.iter().map(|p| (p.0 - x).powi(2)).sum();
    (under > 0.0).then_some(over / under)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_of_powers_are_found() {
        let points: Vec<_> = [10.0, 1e3, 2e3, 8e3]
            .map(|n: f64| (n, 3e-9 * n.powf(1.9), true))
            .into_iter()
            .chain([(4e3, 1.0, false)])
            .collect();
        let e = exponent(&points, 100.0).expect("three points");
        assert!((e - 1.9).abs() < 1e-9, "{e}");
        assert_eq!(exponent(&points, 5e3), None);
    }
}

//! Names in the order in which people count.

use std::cmp::Ordering;

/// Compares names as people do: numbers in them by value.
///
/// ```
/// let mut names = ["n10", "n9", "a"];
/// names.sort_by(|a, b| darkfiber_fabric::natural_order(a, b));
/// assert_eq!(names, ["a", "n9", "n10"]);
/// ```
pub fn natural_order(a: &str, b: &str) -> Ordering {
    let mut a = pieces(a);
    let mut b = pieces(b);
    loop {
        match (a.next(), b.next()) {
            (None, None) => return Ordering::Equal,
            (x, y) if x == y => {}
            (Some((true, x)), Some((true, y))) => {
                let (short_x, short_y) = (x.trim_start_matches('0'), y.trim_start_matches('0'));
                let order = short_x.len().cmp(&short_y.len());
                return order.then_with(|| short_x.cmp(short_y)).then_with(|| x.cmp(y));
            }
            (x, y) => return x.map(|p| p.1).cmp(&y.map(|p| p.1)),
        }
    }
}

/// The pieces of a name, each only of digits or without digits.
fn pieces(name: &str) -> impl Iterator<Item = (bool, &str)> {
    let mut rest = name;
    std::iter::from_fn(move || {
        let digits = rest.chars().next()?.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != digits).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some((digits, piece))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_as_people_count() {
        let mut names = ["n10", "n9", "n09", "a", "n", "n9-2", "n9-10", "m100", ""];
        names.sort_by(|a, b| natural_order(a, b));
        assert_eq!(names, ["", "a", "m100", "n", "n09", "n9", "n9-2", "n9-10", "n10"]);
    }
}

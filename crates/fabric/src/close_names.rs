//! Names that are close to an unknown one.

/// Those of `candidates` that someone who typed `name` may have meant, closest first.
///
/// Close is: within a third of its letters in Damerau-Levenshtein distance (insertions, deletions,
/// substitutions and swaps of neighbours), or one is the beginning of the other. Letter case does not
/// count. Equal distances keep the order of `candidates`.
///
/// ```
/// use darkfiber_fabric::nearest;
///
/// assert_eq!(nearest("hyprex", ["torus", "hyperx", "mesh"]), ["hyperx"]);
/// assert_eq!(nearest("sling", ["slingshot-max", "shandy", "slingshot-511"]), [
///     "slingshot-max",
///     "slingshot-511",
/// ]);
/// assert!(nearest("zzz", ["torus", "hyperx"]).is_empty());
/// ```
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let name = name.to_lowercase();
    let mut close: Vec<(usize, &str)> = Vec::new();
    for candidate in candidates {
        let lower = candidate.to_lowercase();
        let distance = strsim::damerau_levenshtein(&name, &lower);
        let prefix = name.len().min(lower.len()) >= 2
            && (lower.starts_with(&name) || name.starts_with(&lower));
        let length = name.chars().count().max(lower.chars().count());
        if prefix || distance <= (length / 3).max(1).min(length.saturating_sub(1)) {
            close.push((distance, candidate));
        }
    }
    close.sort_by_key(|&(distance, _)| distance);
    close.truncate(5);
    close.into_iter().map(|(_, candidate)| candidate).collect()
}

/// [`nearest`], or all candidates where none is close: for lists short enough to print.
pub(crate) fn nearest_or_all<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Vec<String> {
    let all: Vec<&str> = candidates.into_iter().collect();
    let close = nearest(name, all.iter().copied());
    let chosen = if close.is_empty() { all } else { close };
    chosen.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_is_ordered_by_distance() {
        assert_eq!(nearest("tours", ["torus", "tree", "ours"]), ["torus", "ours"]);
        assert_eq!(nearest("MESH", ["mesh"]), ["mesh"]);
        assert!(nearest("a", ["b"]).is_empty());
        assert!(nearest("", ["mesh"]).is_empty());
    }
}

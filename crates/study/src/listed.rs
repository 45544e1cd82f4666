//! Lists of specs, as options have them.

/// Cuts a list at its commas, but for those between the keys of one spec.
///
/// ```
/// let all = darkfiber_study::listed("@selene, fattree2:n=2,m=2,r=4,nue");
/// assert_eq!(all, ["@selene", "fattree2:n=2,m=2,r=4", "nue"]);
/// ```
pub fn listed(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for piece in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let is_key = |p: &str| p.find('=').is_some_and(|at| !p[..at].contains(':'));
        match all.last_mut() {
            Some(spec) if is_key(piece) => {
                spec.push(',');
                spec.push_str(piece);
            }
            _ => all.push(piece.to_owned()),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_with_their_spec() {
        assert_eq!(
            listed("allreduce:8B, halo3d:vars=4,compute=0s,bursts:bytes=64,gap=1us,,lammps"),
            ["allreduce:8B", "halo3d:vars=4,compute=0s", "bursts:bytes=64,gap=1us", "lammps"]
        );
    }
}

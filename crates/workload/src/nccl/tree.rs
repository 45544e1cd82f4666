//! Double binary trees of hosts (`trees.cc`).

/// The parent of a host in each of two trees; `None` for a root.
pub type Parent = Option<u32>;

/// The parent of a host in the first tree: its lowest bit is cleared, and the next one set where there is such a host.
fn parent(node: u32, nodes: u32) -> Parent {
    if node == 0 {
        return None;
    }
    let lowest = node & node.wrapping_neg();
    let up = (node ^ lowest) | (lowest << 1);
    Some(if up >= nodes { node ^ lowest } else { up })
}

/// By host, its parents in two trees in which hardly any host has children in both: the second is the mirror image of the
/// first for an even number of hosts, and shifted by one for an odd one.
///
/// ```
/// let trees = darkfiber_workload::nccl::double_tree(4);
/// assert_eq!(trees[0], [None, Some(2), Some(0), Some(2)]);
/// assert_eq!(trees[1], [Some(1), Some(3), Some(1), None]);
/// ```
pub fn double_tree(nodes: u32) -> [Vec<Parent>; 2] {
    let first: Vec<Parent> = (0..nodes).map(|node| parent(node, nodes)).collect();
    let second = (0..nodes)
        .map(|node| {
            if nodes.is_multiple_of(2) {
                first[(nodes - 1 - node) as usize].map(|up| nodes - 1 - up)
            } else {
                first[((node + nodes - 1) % nodes) as usize].map(|up| (up + 1) % nodes)
            }
        })
        .collect();
    [first, second]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both are trees of all hosts, no deeper than the logarithm (and one), with at most two children each, and no host but
    /// few has children in both.
    #[test]
    fn both_are_shallow_binary_trees() {
        for n in 1..200u32 {
            let trees = double_tree(n);
            let mut inner = vec![0; n as usize];
            for tree in &trees {
                assert_eq!(tree.iter().filter(|up| up.is_none()).count(), 1, "{n}");
                let mut children = vec![0; n as usize];
                for up in tree.iter().flatten() {
                    children[*up as usize] += 1;
                }
                assert!(children.iter().all(|&c| c <= 2), "{n}");
                children.iter().zip(&mut inner).for_each(|(c, i)| *i += i32::from(*c > 0));
                for mut node in 0..n {
                    let mut depth = 0;
                    while let Some(up) = tree[node as usize] {
                        (node, depth) = (up, depth + 1);
                        assert!(depth <= n.ilog2() + 1, "{n}: too deep, or a circle");
                    }
                }
            }
            // Every other host is a leaf of each.
            assert!(inner.iter().filter(|&&both| both == 2).count() <= 2, "{n}");
        }
    }

    /// The rule of the lowest bit against the picture that NCCL's source draws for 14 hosts: leaves are odd, 8 is below 0, 4 and
    /// 12 are below 8.
    #[test]
    fn the_picture_of_fourteen() {
        let [first, _] = double_tree(14);
        let below =
            |up: u32| -> Vec<usize> { (0..14).filter(|&node| first[node] == Some(up)).collect() };
        assert_eq!((below(0), below(8)), (vec![8], vec![4, 12]));
        assert_eq!((below(4), below(12)), (vec![2, 6], vec![10, 13]));
        assert!((1..14).step_by(2).all(|leaf| below(leaf).is_empty()));
    }
}

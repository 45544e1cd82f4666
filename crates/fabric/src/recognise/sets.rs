//! Disjoint sets that remember a sign.

/// Union-find over `0..n` in which every element has a sign relative to its set's representative.
/// Tarjan, "Efficiency of a good but not linear set union algorithm", 1975; signs are the usual
/// weighted variant.
#[derive(Clone)]
pub(super) struct Sets {
    parent: Vec<u32>,
    /// Whether the element is turned relative to its parent.
    turned: Vec<bool>,
    size: Vec<u32>,
}

impl Sets {
    /// Sets of one element each.
    pub(super) fn new(n: usize) -> Self {
        Self { parent: (0..n as u32).collect(), turned: vec![false; n], size: vec![1; n] }
    }

    /// The representative of an element, and whether the element is turned relative to it.
    pub(super) fn find(&mut self, x: usize) -> (usize, bool) {
        let (mut root, mut sign) = (x, false);
        while self.parent[root] as usize != root {
            sign ^= self.turned[root];
            root = self.parent[root] as usize;
        }
        let (mut at, mut rest) = (x, sign);
        while at != root {
            let (next, turned) = (self.parent[at] as usize, self.turned[at]);
            self.parent[at] = root as u32;
            self.turned[at] = rest;
            rest ^= turned;
            at = next;
        }
        (root, sign)
    }

    /// The representative of an element.
    pub(super) fn root(&mut self, x: usize) -> usize {
        self.find(x).0
    }

    /// Elements of the set that `root` represents.
    pub(super) fn size(&self, root: usize) -> usize {
        self.size[root] as usize
    }

    /// Every set: how many elements it has, and its representative.
    pub(super) fn all(&self) -> impl Iterator<Item = (usize, usize)> {
        let root = |&x: &usize| self.parent[x] as usize == x;
        (0..self.parent.len()).filter(root).map(|x| (self.size(x), x))
    }

    /// Unites the sets of two elements, `y` turned relative to `x` or not. `false` if they are of one
    /// set already and their signs say otherwise.
    pub(super) fn unite(&mut self, x: usize, y: usize, turned: bool) -> bool {
        let ((a, sign_x), (b, sign_y)) = (self.find(x), self.find(y));
        let turned = turned ^ sign_x ^ sign_y;
        if a == b {
            return !turned;
        }
        let (top, low) = if self.size[a] < self.size[b] { (b, a) } else { (a, b) };
        self.parent[low] = top as u32;
        self.turned[low] = turned;
        self.size[top] += self.size[low];
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_add_up_along_a_way() {
        let mut sets = Sets::new(5);
        assert!(sets.unite(0, 1, true));
        assert!(sets.unite(1, 2, true));
        assert!(sets.unite(3, 4, true));
        assert!(sets.unite(4, 0, false));
        assert_eq!(sets.size(sets.parent[0] as usize), 5);
        // 0 = -1 = 2, 3 = -4 = -0.
        assert!(sets.unite(0, 2, false));
        assert!(!sets.unite(0, 2, true));
        assert!(sets.unite(3, 2, true));
        let sign = |sets: &mut Sets, x| sets.find(x).1;
        assert_eq!(sign(&mut sets, 0), sign(&mut sets, 2));
        assert_ne!(sign(&mut sets, 0), sign(&mut sets, 3));
    }
}

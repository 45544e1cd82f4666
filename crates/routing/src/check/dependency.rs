//! The channel dependency graph, all layers at once, and its cycles.

use std::sync::atomic::{AtomicU32, Ordering};

use darkfiber_fabric::{ChannelId, Fabric};

/// Dependencies between inter-switch channels. Edge (c, c') exists where c' leaves the head of c, so
/// the edges of c are a row of that switch's channels; per edge one bit for each layer.
pub(crate) struct Dependencies {
    row: Vec<u32>,
    edges: Vec<AtomicU32>,
}

const UNSEEN: u32 = u32::MAX;

impl Clone for Dependencies {
    fn clone(&self) -> Self {
        let bits = self.edges.iter().map(|e| AtomicU32::new(e.load(Ordering::Relaxed)));
        Self { row: self.row.clone(), edges: bits.collect() }
    }
}

impl Dependencies {
    pub(crate) fn new(fabric: &Fabric) -> Self {
        let mut row = Vec::with_capacity(fabric.channel_count() + 1);
        let mut total = 0u32;
        for &head in fabric.heads() {
            row.push(total);
            let starts = fabric.channel_starts();
            total += starts[head as usize + 1] - starts[head as usize];
        }
        row.push(total);
        Self { row, edges: (0..total).map(|_| AtomicU32::new(0)).collect() }
    }

    /// The layer bits of dependency (c, next); `next` must leave the head of `c`.
    #[inline]
    pub(crate) fn slot(&self, fabric: &Fabric, c: usize, next: usize) -> &AtomicU32 {
        &self.edges[self.index(fabric, c, next)]
    }

    /// The number of dependency (c, next) among all; `next` must leave the head of `c`.
    #[inline]
    pub(crate) fn index(&self, fabric: &Fabric, c: usize, next: usize) -> usize {
        let first = fabric.channel_starts()[fabric.heads()[c] as usize] as usize;
        self.row[c] as usize + next - first
    }

    /// Number of dependencies that there may be.
    pub(crate) fn len(&self) -> usize {
        self.edges.len()
    }

    /// Number of dependencies in a layer.
    pub(crate) fn count(&self, layer: u8) -> usize {
        self.edges.iter().filter(|e| e.load(Ordering::Relaxed) & (1 << layer) != 0).count()
    }

    fn successors<'a>(
        &'a self,
        fabric: &'a Fabric,
        layer: u8,
        c: usize,
    ) -> impl Iterator<Item = usize> + 'a {
        let first = fabric.channel_starts()[fabric.heads()[c] as usize] as usize;
        let row = self.row[c] as usize..self.row[c + 1] as usize;
        let start = row.start;
        row.filter(move |&e| self.edges[e].load(Ordering::Relaxed) & (1 << layer) != 0)
            .map(move |e| first + e - start)
    }

    /// A shortest cycle through some channel of the first non-trivial strongly connected component
    /// of a layer, or `None` if the layer is acyclic.
    pub(crate) fn find_cycle(&self, fabric: &Fabric, layer: u8) -> Option<Vec<ChannelId>> {
        let component = self.first_cyclic_component(fabric, layer)?;
        let mut inside = vec![false; fabric.channel_count()];
        for &c in &component {
            inside[c as usize] = true;
        }
        let start = *component.iter().min()? as usize;
        // Breadth-first search inside the component, back to the start.
        let mut from = vec![UNSEEN; fabric.channel_count()];
        let mut queue = vec![start];
        let mut next = 0;
        while next < queue.len() {
            let c = queue[next];
            next += 1;
            for d in self.successors(fabric, layer, c) {
                if d == start {
                    let mut cycle = vec![ChannelId::new(c)];
                    let mut at = c;
                    while at != start {
                        at = from[at] as usize;
                        cycle.push(ChannelId::new(at));
                    }
                    cycle.reverse();
                    return Some(cycle);
                }
                if inside[d] && from[d] == UNSEEN {
                    from[d] = c as u32;
                    queue.push(d);
                }
            }
        }
        None
    }

    /// Tarjan's algorithm (1972) with an explicit stack, stopped at the first component with a cycle.
    fn first_cyclic_component(&self, fabric: &Fabric, layer: u8) -> Option<Vec<u32>> {
        let n = fabric.channel_count();
        let mut index = vec![UNSEEN; n];
        let mut low = vec![0u32; n];
        let mut on_stack = vec![false; n];
        let mut stack: Vec<u32> = Vec::new();
        // (channel, next edge of its row)
        let mut calls: Vec<(u32, u32)> = Vec::new();
        let mut counter = 0;
        for root in 0..n {
            if index[root] != UNSEEN {
                continue;
            }
            calls.push((root as u32, self.row[root]));
            index[root] = counter;
            low[root] = counter;
            counter += 1;
            stack.push(root as u32);
            on_stack[root] = true;
            while let Some(&mut (c, ref mut edge)) = calls.last_mut() {
                let c = c as usize;
                if *edge < self.row[c + 1] {
                    let e = *edge as usize;
                    *edge += 1;
                    if self.edges[e].load(Ordering::Relaxed) & (1 << layer) == 0 {
                        continue;
                    }
                    let first = fabric.channel_starts()[fabric.heads()[c] as usize] as usize;
                    let d = first + e - self.row[c] as usize;
                    if d == c {
                        return Some(vec![c as u32]);
                    }
                    if index[d] == UNSEEN {
                        index[d] = counter;
                        low[d] = counter;
                        counter += 1;
                        stack.push(d as u32);
                        on_stack[d] = true;
                        calls.push((d as u32, self.row[d]));
                    } else if on_stack[d] {
                        low[c] = low[c].min(index[d]);
                    }
                } else {
                    calls.pop();
                    if let Some(&(parent, _)) = calls.last() {
                        low[parent as usize] = low[parent as usize].min(low[c]);
                    }
                    if low[c] == index[c] {
                        let mut component = Vec::new();
                        while let Some(d) = stack.pop() {
                            on_stack[d as usize] = false;
                            component.push(d);
                            if d as usize == c {
                                break;
                            }
                        }
                        if component.len() > 1 {
                            return Some(component);
                        }
                    }
                }
            }
        }
        None
    }
}

//! Which channel is full next.

/// A binary heap of (key, channel), the least on top; of equal keys the lower channel.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Heap {
    pub(crate) items: Vec<(f64, u32)>,
}

impl Heap {
    fn less(a: (f64, u32), b: (f64, u32)) -> bool {
        a.0 < b.0 || (a.0 <= b.0 && a.1 < b.1)
    }

    pub(crate) fn order(&mut self) {
        for i in (0..self.items.len() / 2).rev() {
            self.down(i);
        }
    }

    fn down(&mut self, mut i: usize) {
        let item = self.items[i];
        loop {
            let mut child = 2 * i + 1;
            if child >= self.items.len() {
                break;
            }
            if child + 1 < self.items.len() && Self::less(self.items[child + 1], self.items[child])
            {
                child += 1;
            }
            if !Self::less(self.items[child], item) {
                break;
            }
            self.items[i] = self.items[child];
            i = child;
        }
        self.items[i] = item;
    }

    pub(crate) fn pop(&mut self) {
        self.items.swap_remove(0);
        if !self.items.is_empty() {
            self.down(0);
        }
    }

    pub(crate) fn replace(&mut self, key: f64) {
        self.items[0].0 = key;
        self.down(0);
    }
}

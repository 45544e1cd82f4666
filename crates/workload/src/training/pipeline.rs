//! In which order a stage of a pipeline works.

/// A piece of work of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Whether it is the forward pass.
    pub forward: bool,
    /// The part of the stage's layers, from 0.
    pub part: u32,
    /// Number of the microbatch.
    pub batch: u32,
}

/// One forward, one backward (1F1B), each stage with this number of parts of the model in turn (Narayanan et al., "Efficient
/// Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", SC'21, section 2.2). With more than one part
/// microbatches go in groups of the number of stages, and their number must be a multiple of it.
///
/// # Panics
/// If the number is not a multiple.
pub fn pipeline(stage: u32, stages: u32, parts: u32, batches: u32) -> Vec<Work> {
    assert!(
        parts == 1 || batches.is_multiple_of(stages),
        "{batches} microbatches in groups of {stages}"
    );
    let all = batches * parts;
    let work = |forward: bool, k: u32| {
        if parts == 1 {
            return Work { forward, part: 0, batch: k };
        }
        let (round, within) = (k / (stages * parts), k % (stages * parts));
        let part = within / stages;
        let part = if forward { part } else { parts - 1 - part };
        Work { forward, part, batch: round * stages + within % stages }
    };
    let behind = stages - 1 - stage;
    let ahead = if parts == 1 { behind } else { 2 * behind + (parts - 1) * stages };
    let ahead = ahead.min(all);
    let mut order: Vec<Work> = (0..ahead).map(|k| work(true, k)).collect();
    for k in 0..all - ahead {
        order.push(work(true, ahead + k));
        order.push(work(false, k));
    }
    order.extend((all - ahead..all).map(|k| work(false, k)));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything is done once forward and once backward, forward first; and no stage waits for ever.
    #[test]
    fn every_piece_is_done_and_all_stages_come_to_their_ends() {
        for (stages, parts, batches) in
            [(1, 1, 3), (4, 1, 8), (4, 1, 2), (4, 2, 8), (3, 5, 6), (2, 3, 2), (8, 4, 16)]
        {
            let orders: Vec<Vec<Work>> =
                (0..stages).map(|s| pipeline(s, stages, parts, batches)).collect();
            // Start of each piece if each takes 1 forward, 2 backward, and messages take no time.
            let mut done: Vec<Vec<Work>> = vec![Vec::new(); stages as usize];
            loop {
                let mut moved = false;
                for s in 0..stages {
                    let Some(&next) = orders[s as usize].get(done[s as usize].len()) else {
                        continue;
                    };
                    let Work { forward, part, batch } = next;
                    let before = match (forward, s, part) {
                        (true, 0, 0) => None,
                        (true, 0, _) => Some((stages - 1, Work { part: part - 1, ..next })),
                        (true, ..) => Some((s - 1, next)),
                        (false, _, p) if s + 1 == stages && p + 1 == parts => {
                            Some((s, Work { forward: true, ..next }))
                        }
                        (false, _, _) if s + 1 == stages => {
                            Some((0, Work { part: part + 1, ..next }))
                        }
                        (false, ..) => Some((s + 1, next)),
                    };
                    assert!(batch < batches && part < parts);
                    if before.is_none_or(|(s, work)| done[s as usize].contains(&work)) {
                        assert!(!done[s as usize].contains(&next));
                        done[s as usize].push(next);
                        moved = true;
                    }
                }
                if !moved {
                    break;
                }
            }
            for (done, order) in done.iter().zip(&orders) {
                assert_eq!(
                    done.len(),
                    (2 * parts * batches) as usize,
                    "{stages} {parts} {batches}"
                );
                assert_eq!(done, order);
            }
        }
    }
}

//! How rows are divided over threads.

/// Rows for each task: few enough that all threads have some, however few rows there are. Results do not depend on it.
pub(super) fn tasks(rows: usize) -> usize {
    rows.div_ceil(4 * rayon::current_num_threads()).clamp(1, 64)
}

//! Formatting of numbers for readers.

/// `n` with commas between groups of three digits.
///
/// ```
/// assert_eq!(darkfiber_analysis::group(18_839_940), "18,839,940");
/// ```
pub fn group(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

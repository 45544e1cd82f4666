//! Figures in a text, and whether they are those that came out: `12.3` is shown of 12.34, and of 12.4 it is not.

/// A figure as a text shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownFigure {
    /// Its digits, with commas between thousands and its sign, as written.
    pub text: String,
    /// Value of the figure.
    pub value: f64,
    /// Half of its last digit: the maximum difference from the result.
    half: f64,
    /// Start of its digits, in bytes.
    pub at: usize,
    /// Whether a percent sign follows.
    pub is_percent: bool,
}

impl ShownFigure {
    /// Whether it equals a value, rounded to its number of digits. Text drops the sign of a loss (`4.6 % lost`); where it has
    /// one, the value has it, too.
    pub fn is_of(&self, value: f64) -> bool {
        // A value halfway between two figures may be rounded to either.
        let near = self.half * (1.0 + 1e-6) + 1e-12;
        if self.value < 0.0 {
            (value - self.value).abs() <= near
        } else {
            (value.abs() - self.value).abs() <= near
        }
    }

    /// Whether it states a result: it has decimals or is a share. Other figures of a sentence are mostly its conditions.
    pub fn is_result(&self) -> bool {
        self.is_percent || self.text.contains('.')
    }
}

/// A number directly after these words is a name.
const NAMED: [&str; 5] = ["section ", "sections ", "figure ", "table ", "IEEE "];

/// The figures of a text, code (between backticks), addresses of links, and digits within names (`AFAR-F5`, `12x8`) left out.
pub fn figures(text: &str) -> Vec<ShownFigure> {
    let text = without_code(text);
    let bytes = text.as_bytes();
    let mut all = Vec::new();
    let mut i = 0;
    while i < bytes.len() {
        if !bytes[i].is_ascii_digit() {
            i += 1;
            continue;
        }
        let begin = i;
        i += 1;
        // A comma or a point belongs to a figure only before more of its digits: three of them behind a comma.
        while i < bytes.len() {
            let digits = bytes[i + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
            let goes_on = match bytes[i] {
                b'0'..=b'9' => true,
                b',' => digits == 3,
                b'.' => digits > 0 && !bytes[begin..i].contains(&b'.'),
                _ => false,
            };
            if !goes_on {
                break;
            }
            i += 1;
        }
        let before = &bytes[..begin];
        let is_of_name = match before {
            [.., b, b'-' | b'.' | b'+'] => b.is_ascii_alphanumeric(),
            [.., b] => b.is_ascii_alphabetic() || b"_@#=/^".contains(b),
            [] => false,
        } || NAMED.iter().any(|word| text[..begin].ends_with(word))
            || matches!(&bytes[i..], [b'x', b, ..] if b.is_ascii_digit())
            || matches!(&bytes[i..], [b'-', b, ..] if b.is_ascii_alphabetic())
            || matches!(&bytes[i..], [b'.', b, ..] if b.is_ascii_digit());
        if is_of_name {
            // The rest of a name, `12x8`.
            while i < bytes.len()
                && (bytes[i].is_ascii_alphanumeric() || b"-x.".contains(&bytes[i]))
            {
                i += 1;
            }
            continue;
        }
        let is_negative = matches!(before, [b'-'] | [.., b' ' | b'(' | b'*', b'-']);
        let digits = &text[begin..i];
        let decimals = digits.split_once('.').map_or(0, |(_, d)| d.len());
        let size: f64 = digits.replace(',', "").parse().unwrap_or(f64::NAN);
        all.push(ShownFigure {
            text: format!("{}{digits}", if is_negative { "-" } else { "" }),
            value: if is_negative { -size } else { size },
            half: 0.5 * 10f64.powi(-i32::try_from(decimals).unwrap_or(0)),
            at: begin,
            is_percent: text[i..].trim_start().starts_with('%'),
        });
    }
    all
}

/// A text of the same length, with blanks for code and for addresses of links.
fn without_code(text: &str) -> String {
    let mut inside = [false; 2];
    let mut before = ' ';
    let mut clean = String::new();
    for c in text.chars() {
        match c {
            '`' => inside[0] = !inside[0],
            '(' if before == ']' => inside[1] = true,
            ')' if inside[1] => inside[1] = false,
            _ => {}
        }
        let kept = if inside[0] || inside[1] || c == '`' || !c.is_ascii() { ' ' } else { c };
        // The same number of blanks, so that offsets stay valid.
        let bytes = if kept == c { 1 } else { c.len_utf8() };
        clean.extend(std::iter::repeat_n(kept, bytes));
        before = c;
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        figures(text).into_iter().map(|f| f.text).collect()
    }

    #[test]
    fn figures_are_found_and_names_are_not() {
        assert_eq!(
            texts("1,466 of 6,081, 12 and -0.65 to 3.5."),
            ["1,466", "6,081", "12", "-0.65", "3.5"]
        );
        assert!(
            texts("AFAR-F9/3, T2HX-F5a, `8.5`, [a](b9.md), 12x8, Tsubame2.5, 3-level, 3.3.23")
                .is_empty()
        );
        assert_eq!(texts("**11.4 s**, 4,10, 6"), ["11.4", "4", "10", "6"]);
        assert_eq!(texts("± 3, 24 to 70 %"), ["3", "24", "70"]);
        assert!(figures("5.0 %")[0].is_percent && !figures("5.0 s")[0].is_percent);
    }

    #[test]
    fn a_figure_is_what_a_value_rounds_to() {
        let is_of = |text: &str, value| figures(text)[0].is_of(value);
        assert!(is_of("12.3", 12.34) && !is_of("12.3", 12.36) && !is_of("12.3", 12.4));
        assert!(is_of("6,081", 6081.476) && !is_of("6,082", 6081.476));
        assert!(is_of("4.6", -4.6389) && is_of("-4.6", -4.6389) && !is_of("-4.6", 4.6389));
        assert!(!is_of("-4.6", 4.6) && is_of("18", 17.6) && !is_of("18", 17.4));
    }
}

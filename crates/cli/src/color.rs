//! Whether results have colors: on a terminal, always, or never.

use std::ffi::OsString;
use std::sync::OnceLock;

use clap::ValueEnum;
use darkfiber_report::Style;

/// When results have colors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    Always,
    Never,
}

/// The choice on the command line; help is printed before the whole line is parsed.
static ASKED: OnceLock<Color> = OnceLock::new();

/// Finds `--color WHEN` or `--color=WHEN`; the last one counts, and errors are left to the full parser.
fn asked(words: impl IntoIterator<Item = OsString>) -> Color {
    let mut color = Color::Auto;
    let mut is_next = false;
    for word in words.into_iter().map(|word| word.to_string_lossy().into_owned()) {
        let value = if is_next { Some(word.as_str()) } else { word.strip_prefix("--color=") };
        color = value.and_then(|v| Color::from_str(v, false).ok()).unwrap_or(color);
        is_next = word == "--color";
        if word == "--" {
            break;
        }
    }
    color
}

/// The style of standard output, with the requested colors.
pub(crate) fn style() -> Style {
    let style = Style::of_stdout();
    let color = match ASKED.get_or_init(|| asked(std::env::args_os())) {
        Color::Auto => style.color,
        Color::Always => true,
        Color::Never => false,
    };
    Style { color, ..style }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_color_counts() {
        let of = |line: &str| asked(line.split(' ').map(OsString::from));
        assert_eq!(of("darkfiber route x"), Color::Auto);
        assert_eq!(of("darkfiber --color always route x"), Color::Always);
        assert_eq!(of("darkfiber --color=always route --color never"), Color::Never);
        assert_eq!(of("darkfiber --color sometimes"), Color::Auto);
        assert_eq!(of("darkfiber -- --color always"), Color::Auto);
    }
}

//! Common parts of all pictures: the frame with its title, axes with round limits, escaped text.

/// Left end of titles and axes.
pub(crate) const LEFT: f64 = 64.0;

/// The beginning of a picture: an empty page with its title and subtitle.
pub(crate) fn header(width: f64, height: f64, title: &str, subtitle: &str) -> String {
    let room = width - LEFT - 12.0;
    let (title_size, shown) = fitted(title, room, 17.0, 0.56);
    let (subtitle_size, below) = fitted(subtitle, room, 12.0, 0.52);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"Inter, Helvetica, Arial, sans-serif\" \
         font-size=\"12\" fill=\"#1f2933\">\n\
         <title>{title}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"{LEFT}\" y=\"28\" font-size=\"{title_size}\" font-weight=\"600\">{shown}</text>\n\
         <text x=\"{LEFT}\" y=\"48\"{size} fill=\"#616e7c\">{below}</text>\n",
        title = escape(title),
        shown = escape(&shown),
        // That of the whole picture, unless it has to be smaller.
        size = if subtitle_size < 12.0 {
            format!(" font-size=\"{subtitle_size}\"")
        } else {
            String::new()
        },
        below = escape(&below)
    )
}

/// The size at which a text of one line fits, and the text, cut off where it fits at no size that can be read. Letters are
/// `wide` times as wide as the size, on average.
pub(crate) fn fitted(text: &str, room: f64, size: f64, wide: f64) -> (f64, String) {
    const LEAST: f64 = 9.0;
    let letters = text.chars().count().max(1) as f64;
    let fits = ((room / (letters * wide)) * 10.0).floor() / 10.0;
    if fits >= LEAST.min(size) {
        return (fits.min(size), text.to_owned());
    }
    #[expect(clippy::cast_sign_loss, reason = "rooms are above zero")]
    let most = ((room / (LEAST * wide)) as usize).max(2);
    (LEAST, text.chars().take(most - 1).chain(['\u{2026}']).collect())
}

/// The end and the step of an axis over `0..=top` with about `steps` steps of 1, 2, 2.5 or 5 times a
/// power of ten.
pub(crate) fn nice_axis(top: f64, steps: u32) -> (f64, f64) {
    let raw = top / f64::from(steps);
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|&s| s >= raw * 0.999)
        .unwrap_or(raw);
    ((top / step * 0.999).ceil() * step, step)
}

/// Escapes text for XML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fit() {
        assert_eq!(fitted("short", 400.0, 17.0, 0.56), (17.0, "short".to_owned()));
        let long = "a".repeat(60);
        let (size, text) = fitted(&long, 400.0, 17.0, 0.56);
        assert_eq!((size, text.as_str()), (11.9, long.as_str()));
        let (size, text) = fitted(&long, 100.0, 17.0, 0.56);
        assert!(size <= 9.0 && text.ends_with('\u{2026}') && text.chars().count() == 19, "{text}");
    }

    #[test]
    fn axes_end_at_round_numbers() {
        assert_eq!(nice_axis(100.0, 5), (100.0, 20.0));
        assert_eq!(nice_axis(7.0, 3), (7.5, 2.5));
        assert_eq!(nice_axis(18_400.0, 6), (20_000.0, 5000.0));
    }
}

//! What all pictures have in common: the frame with its title, round axes, text that is safe in XML.

/// Left end of titles and axes.
pub(crate) const LEFT: f64 = 64.0;

/// The beginning of a picture: an empty page with its title and subtitle.
pub(crate) fn header(width: f64, height: f64, title: &str, subtitle: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"Inter, Helvetica, Arial, sans-serif\" \
         font-size=\"12\" fill=\"#1f2933\">\n\
         <title>{title}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"{LEFT}\" y=\"28\" font-size=\"17\" font-weight=\"600\">{title}</text>\n\
         <text x=\"{LEFT}\" y=\"48\" fill=\"#616e7c\">{subtitle}</text>\n",
        title = escape(title),
        subtitle = escape(subtitle)
    )
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

/// Text as it stands in XML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers() {
        assert_eq!(nice_axis(100.0, 5), (100.0, 20.0));
        assert_eq!(nice_axis(7.0, 3), (7.5, 2.5));
        assert_eq!(nice_axis(18_400.0, 6), (20_000.0, 5000.0));
    }
}

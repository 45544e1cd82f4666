//! Distinction of series: colours, dashes and markers.

/// Colours that are distinguishable with any kind of vision (Okabe and Ito, "Color universal design", 2008).
const COLOURS: &[&str] =
    &["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#1f2933", "#8c6d1f"];
/// Later series are drawn over earlier ones; where they coincide, their gaps let these be seen.
const DASHES: &[&str] = &["", "7 3", "2.5 3", "9 3 2.5 3"];

/// The colour of a series.
pub(crate) fn colour(series: usize) -> &'static str {
    COLOURS[series % COLOURS.len()]
}

/// The attributes of a series' line; thin where the points are so dense that they would hide dashes and markers.
pub(super) fn stroke(series: usize, is_dense: bool) -> String {
    let colour = colour(series);
    if is_dense {
        return format!(
            "fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.1\" stroke-opacity=\"0.85\""
        );
    }
    // Series of one colour differ in their dashes.
    let dash = DASHES[(series + series / COLOURS.len()) % DASHES.len()];
    let dash =
        if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
    format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\"{dash}")
}

/// A point of a series, the smaller the later the series comes.
pub(super) fn marker(x: f64, y: f64, series: usize, hollow: bool) -> String {
    let colour = colour(series);
    let fill = if hollow { "#ffffff" } else { colour };
    let radius = (4.0 - 0.6 * series as f64).max(1.6);
    format!(
        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"{fill}\" \
         stroke=\"{colour}\" stroke-width=\"1.2\"/>"
    )
}

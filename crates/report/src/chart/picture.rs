//! A chart as a picture: the layout of its panels.

use std::fmt::Write as _;

use super::legend::legend;
use super::panel::{Names, Panel};
use super::value::{Block, Chart, Horizontal};
use super::{bars, groups, lines};
use crate::canvas::{LEFT, escape, header};

const RIGHT: f64 = 24.0;
/// Horizontal gap between blocks.
const GAP_X: f64 = 30.0;
/// Between the panels of a block.
const GAP_Y: f64 = 40.0;
/// Below a block, for the axis.
const BELOW: f64 = 66.0;
/// Number of blocks in a row.
const ACROSS: usize = 3;
/// Maximum width of a row of blocks, unless a single block is wider.
const WIDEST: f64 = 1000.0;

impl Chart {
    /// The default size of panels: few are larger.
    pub(crate) fn usual_panel(blocks: usize) -> (f64, f64) {
        match blocks {
            0 | 1 => (620.0, 300.0),
            2 => (360.0, 240.0),
            _ => (280.0, 180.0),
        }
    }

    /// The picture as SVG.
    pub(crate) fn svg(&self) -> String {
        let all = self.series.len().max(1);
        let count = if let Horizontal::Names(_, names) = &self.x { names.len() } else { 0 };
        let size = (self.panel.0.max(groups::width(count, all)), self.panel.1);
        let fit = ((WIDEST + GAP_X) / (size.0 + GAP_X)).floor().max(1.0);
        #[expect(clippy::cast_sign_loss, reason = "at least 1")]
        let across = self.blocks.len().clamp(1, ACROSS).min(fit as usize);
        let width = LEFT + across as f64 * (size.0 + GAP_X) - GAP_X + RIGHT;
        let is_dense =
            self.blocks.iter().flat_map(|b| b.panels.iter().flatten()).any(|m| lines::is_dense(m));
        let names = match &self.x {
            Horizontal::Names(_, names) => Some(Names::of(names, size.0 / count.max(1) as f64)),
            Horizontal::Numbers(..) => None,
        };
        let below = names.as_ref().map_or(BELOW, |names| names.height + 30.0);
        let legend = legend(self, width, is_dense);
        let has_titles = self.blocks.iter().any(|block| !block.title.is_empty());
        let top = 62.0 + legend.height + if has_titles { 34.0 } else { 22.0 };
        let panels = self.measures.len().max(1) as f64;
        let each = panels * (size.1 + GAP_Y) - GAP_Y + below + 14.0;
        let height = top + self.blocks.len().max(1).div_ceil(across) as f64 * each;
        let mut svg = header(width, height, &self.title, &self.subtitle);
        svg.push_str(&legend.text);
        for (i, block) in self.blocks.iter().enumerate() {
            let left = LEFT + (i % across) as f64 * (size.0 + GAP_X);
            let top = top + (i / across) as f64 * each;
            let place = Place { left, top, size, is_first: i % across == 0 };
            self.block(&mut svg, block, &place, names.as_ref());
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn block(&self, svg: &mut String, block: &Block, place: &Place, names: Option<&Names>) {
        let Place { left, top, size, is_first } = *place;
        if !block.title.is_empty() {
            let _ok = writeln!(
                svg,
                "<text x=\"{left:.1}\" y=\"{:.1}\" font-size=\"13.5\" font-weight=\"600\">{}</text>",
                top - 10.0,
                escape(&shortened(&block.title, size.0))
            );
        }
        let all = self.series.len().max(1);
        for (row, (measure, series)) in self.measures.iter().zip(&block.panels).enumerate() {
            let panel = Panel {
                left,
                base: top + row as f64 * (size.1 + GAP_Y) + size.1,
                size,
                measure,
                has_y_labels: is_first,
                has_x_labels: row + 1 == self.measures.len(),
            };
            panel.axes(svg, &self.x, names, all);
            for (i, marks) in series.iter().enumerate() {
                match &self.x {
                    Horizontal::Numbers(_, scale) => {
                        let shift = measure.apart * (i as f64 - (all - 1) as f64 / 2.0);
                        lines::line(svg, &panel, scale, marks, (i, shift));
                    }
                    Horizontal::Names(_, names) => {
                        bars::bars(svg, &panel, names.len(), marks, (i, all));
                    }
                }
            }
            if let Some(note) = block.note.as_ref().filter(|_| row == 0) {
                let below = if self.measures.len() > 1 { 20.0 } else { 54.0 };
                let _ok = writeln!(
                    svg,
                    "<text x=\"{left:.1}\" y=\"{:.1}\" font-size=\"10.5\" fill=\"#7b8794\">{}</text>",
                    panel.base + below,
                    escape(note)
                );
            }
        }
    }
}

/// Position of a block.
struct Place {
    left: f64,
    top: f64,
    size: (f64, f64),
    /// Whether it is the leftmost block.
    is_first: bool,
}

/// A title that fits above a panel.
fn shortened(title: &str, width: f64) -> String {
    let most = (1..200).take_while(|&n| f64::from(n) * 7.6 < width).count();
    if title.chars().count() <= most {
        return title.to_owned();
    }
    title.chars().take(most.saturating_sub(3)).chain("...".chars()).collect()
}

//! The page around the data.

use std::fmt::Write as _;
use std::io::Read as _;

use flate2::read::ZlibDecoder;

use crate::escape::html;
use crate::layout::Layout;
use crate::model::{Page, Unit};
use crate::{data, svg};

/// The script of the page, compressed by `build.rs`: made from `web/` by esbuild, committed, so that npm is not needed.
const PACKED_SCRIPT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/page.js.zlib"));
/// Style sheet of the page.
const STYLE: &str = include_str!("../assets/page.css");

/// The page never fetches anything: a browser that obeys this refuses to.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:";

/// Channels in the table of a page without scripts.
const ROWS: usize = 20;

/// The script of the page.
fn script() -> String {
    let mut text = String::new();
    ZlibDecoder::new(PACKED_SCRIPT).read_to_string(&mut text).expect("it was compressed as text");
    text
}

/// The page: one file that needs no other.
pub fn page(page: &Page<'_>) -> String {
    let layout = Layout::of(page.fabric, page.shape);
    let data = data::of(page, &layout);
    let (picture, left_out) = svg::picture(page, &layout);
    let about = about(page, &layout, left_out);
    let findings: String = page.findings.iter().fold(String::new(), |mut all, note| {
        let _ok = write!(all, "<li>{}: {}</li>", note.severity, html(&note.message));
        all
    });
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"dark light\">\n\
         <title>{title}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <div id=\"app\" hidden></div>\n\
         <main id=\"plain\"><h1>{title}</h1><p>{subtitle}</p>\n{picture}\n\
         <p id=\"about\">{about}</p>\n<ul>{findings}</ul>\n{table}\n\
         <p class=\"origin\">{command}<br>darkfiber {version}, seed {seed}, fabric {digest}</p></main>\n\
         <script type=\"text/plain\" id=\"data\">{data}</script>\n<script>\n{script}</script>\n</body>\n</html>\n",
        title = html(&page.title),
        script = script(),
        subtitle = html(&page.subtitle),
        table = table(page),
        command = html(&page.origin.command),
        version = html(&page.origin.version),
        seed = page.origin.seed,
        digest = html(&page.origin.digest),
    )
}

fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// The picture in words.
fn about(page: &Page<'_>, layout: &Layout, left_out: usize) -> String {
    let fabric = page.fabric;
    let mut text = format!(
        "Map of {}: {} and {} between them, drawn as {}.",
        html(fabric.name()),
        counted(fabric.switch_count(), "switch", "switches"),
        counted(fabric.switch_link_count(), "cable", "cables"),
        layout.kind
    );
    if let Some(view) = page.views.first() {
        let lit = view.load.iter().filter(|&&x| x > 0.0).count();
        let _ok = write!(
            text,
            " Lit by {}: {lit} of {}, {} dark.",
            html(&view.name),
            counted(view.load.len(), "channel", "channels"),
            view.load.len() - lit
        );
    }
    if left_out > 0 {
        let _ok = write!(text, " The still picture leaves out {left_out} cables that carry least.");
    }
    text
}

/// A table of the fullest channels.
fn table(page: &Page<'_>) -> String {
    let Some(view) = page.views.first() else { return String::new() };
    let fabric = page.fabric;
    let mut order: Vec<usize> = (0..view.load.len()).filter(|&c| view.load[c] > 0.0).collect();
    let heat = |c: usize| view.load[c];
    order.sort_by(|&a, &b| heat(b).total_cmp(&heat(a)).then(a.cmp(&b)));
    let mut text = String::from(
        "<table><caption>Fullest channels</caption><tr><th>from</th><th>port</th><th>to</th><th>port</th><th>load</th></tr>",
    );
    for &c in order.iter().take(ROWS) {
        let id = darkfiber_fabric::ChannelId::new(c);
        let name = |s| html(&fabric.switch(s).description);
        let _ok = write!(
            text,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            name(fabric.tail(id)),
            fabric.tail_port(id),
            name(fabric.head(id)),
            fabric.head_port(id),
            match view.unit {
                Unit::Share | Unit::Failure => format!("{:.1} %", 100.0 * view.load[c]),
                _ => format!("{}", (view.load[c] * 10.0).round() / 10.0),
            }
        );
    }
    text.push_str("</table>");
    text
}

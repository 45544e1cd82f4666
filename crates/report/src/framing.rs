//! The result of `darkfiber framing`: the part of a channel that headers, minimum frames and gaps leave for data.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::Report;
use crate::comma;
use crate::model::Provenance;
use crate::quantity::bytes;
use crate::style::Style;
use crate::table;

/// All of it.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct FramingResult {
    /// Bytes of a message that a packet has at most.
    pub packet_bytes: u32,
    /// One for each framing.
    pub framings: Vec<Framed>,
    /// Where the result comes from.
    pub provenance: Provenance,
}

/// A framing.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Framed {
    /// A name of `darkfiber list framing`.
    pub framing: &'static str,
    /// In half a line.
    pub summary: &'static str,
    /// Headers and trailers, in the order in which they are sent.
    pub headers: Vec<Header>,
    /// Bytes of all headers.
    pub header_bytes: u32,
    /// The same sum as it is printed, where that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub printed_header_bytes: Option<u32>,
    /// Bytes of a frame at least, without what comes before it.
    pub least_frame: u32,
    /// Bytes that a channel rests behind each frame.
    pub gap: u32,
    /// By message, in the order asked for.
    pub messages: Vec<Sized>,
}

/// A header.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Header {
    /// What it is.
    pub name: &'static str,
    /// Its bytes.
    pub bytes: u32,
}

/// A message on a channel.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Sized {
    /// Its bytes.
    pub bytes: u64,
    /// Packets that it is sent in.
    pub packets: u64,
    /// Bytes that a channel takes for it, headers, padding and gaps included.
    pub on_channel: u64,
    /// What of a channel carries data, if such messages follow each other.
    pub efficiency: f64,
    /// The same by the sum of headers as it is printed, where that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub printed_efficiency: Option<f64>,
}

fn percent(share: f64) -> String {
    format!("{:.2}", 100.0 * share)
}

impl Report for FramingResult {
    // For people: headers, then efficiencies.
    fn text(&self, style: Style) -> String {
        let mut names: Vec<&'static str> = Vec::new();
        // Every header once, each before those that come after it in any framing.
        for f in &self.framings {
            let mut place = 0;
            for h in &f.headers {
                let known = names.iter().position(|n| *n == h.name);
                let at = known.unwrap_or(place);
                if known.is_none() {
                    names.insert(at, h.name);
                }
                place = at + 1;
            }
        }
        let columns = || self.framings.iter();
        let row = |what: &str, of: &dyn Fn(&Framed) -> String| -> Vec<String> {
            std::iter::once(what.to_owned()).chain(columns().map(of)).collect()
        };
        let mut rows: Vec<Vec<String>> = names
            .iter()
            .map(|name| {
                row(name, &|f| {
                    let found = f.headers.iter().find(|h| h.name == *name);
                    found.map_or("-".to_owned(), |h| h.bytes.to_string())
                })
            })
            .collect();
        rows.push(row("headers in all", &|f| f.header_bytes.to_string()));
        let is_misprinted = columns().any(|f| f.printed_header_bytes.is_some());
        let printed = |f: &Framed| f.printed_header_bytes.map_or("-".to_owned(), |b| b.to_string());
        if is_misprinted {
            rows.push(row("  as printed", &printed));
        }
        rows.push(row("minimum frame", &|f| f.least_frame.to_string()));
        rows.push(row("gap", &|f| f.gap.to_string()));
        let heading: Vec<&str> =
            std::iter::once("bytes").chain(columns().map(|f| f.framing)).collect();
        let numbers: Vec<usize> = (1..heading.len()).collect();
        let mut text = table::plain(&heading, &rows, &numbers, style);
        let _ok = writeln!(
            text,
            "\nWhat of a channel carries data, in %, in packets with at most {} of it:",
            bytes(self.packet_bytes.into())
        );
        let sizes = self.framings.first().map_or(0, |f| f.messages.len());
        let mut rows = Vec::new();
        for i in 0..sizes {
            let size = self.framings[0].messages[i].bytes as f64;
            rows.push(row(&bytes(size), &|f| percent(f.messages[i].efficiency)));
            if is_misprinted && self.framings[0].messages[i].bytes == u64::from(self.packet_bytes) {
                rows.push(row("  by the printed sum", &|f| {
                    f.messages[i].printed_efficiency.map_or("-".to_owned(), percent)
                }));
            }
        }
        let heading: Vec<&str> =
            std::iter::once("message").chain(columns().map(|f| f.framing)).collect();
        text.push_str(&table::plain(&heading, &rows, &numbers, style));
        text
    }

    // A line for each framing and message.
    fn csv(&self) -> String {
        let rows = self.framings.iter().flat_map(|f| f.messages.iter().map(move |m| (f, m)));
        comma::table(
            rows,
            &[
                ("framing", &|(f, _)| f.framing.to_owned()),
                ("header_bytes", &|(f, _)| f.header_bytes.to_string()),
                ("printed_header_bytes", &|(f, _)| comma::some(f.printed_header_bytes)),
                ("least_frame", &|(f, _)| f.least_frame.to_string()),
                ("gap", &|(f, _)| f.gap.to_string()),
                ("message_bytes", &|(_, m)| m.bytes.to_string()),
                ("packets", &|(_, m)| m.packets.to_string()),
                ("on_channel", &|(_, m)| m.on_channel.to_string()),
                ("efficiency", &|(_, m)| m.efficiency.to_string()),
                ("printed_efficiency", &|(_, m)| comma::some(m.printed_efficiency)),
            ],
        )
    }
}

//! The data of a page: named arrays behind a description, compressed, as text.
//!
//! `web/src/blob.ts` reads it. Arrays of numbers of several bytes are stored byte plane by byte plane, rising ones as differences:
//! both make them smaller when they are compressed.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;

use crate::base64;

/// Larger data are compressed with less effort.
const LARGE: usize = 6 << 20;

#[derive(Serialize)]
struct Section {
    name: String,
    /// `u8`, `u16`, `u32`, `f32`, or `text`: lines.
    form: &'static str,
    /// Whether numbers are differences from the previous one.
    rising: bool,
    /// Offset of the array.
    at: usize,
    /// Its numbers, or its bytes if it is a text.
    count: usize,
}

#[derive(Default)]
pub(crate) struct Blob {
    sections: Vec<Section>,
    bytes: Vec<u8>,
}

impl Blob {
    fn push(&mut self, name: &str, form: &'static str, rising: bool, count: usize, bytes: &[u8]) {
        let at = self.bytes.len();
        self.sections.push(Section { name: name.to_owned(), form, rising, at, count });
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn u8(&mut self, name: &str, numbers: &[u8]) {
        self.push(name, "u8", false, numbers.len(), numbers);
    }

    pub(crate) fn u16(&mut self, name: &str, numbers: &[u16]) {
        let bytes: Vec<[u8; 2]> = numbers.iter().map(|n| n.to_le_bytes()).collect();
        self.push(name, "u16", false, numbers.len(), &planes(&bytes));
    }

    pub(crate) fn u32(&mut self, name: &str, numbers: &[u32]) {
        let mut before = 0;
        let difference = |&n: &u32| {
            let by = n.wrapping_sub(before);
            before = n;
            by.to_le_bytes()
        };
        let bytes: Vec<[u8; 4]> = numbers.iter().map(difference).collect();
        self.push(name, "u32", true, numbers.len(), &planes(&bytes));
    }

    pub(crate) fn f32(&mut self, name: &str, numbers: impl Iterator<Item = f32>) {
        let bytes: Vec<[u8; 4]> = numbers.map(f32::to_le_bytes).collect();
        self.push(name, "f32", false, bytes.len(), &planes(&bytes));
    }

    /// Adds lines of text; none may hold a line break.
    pub(crate) fn text(&mut self, name: &str, lines: impl Iterator<Item = String>) {
        let text = lines.collect::<Vec<_>>().join("\n");
        self.push(name, "text", false, text.len(), text.as_bytes());
    }

    /// All of it behind `about`, compressed, in Base64.
    pub(crate) fn finish(self, about: &impl Serialize) -> String {
        #[derive(Serialize)]
        struct Header<'a, T> {
            about: &'a T,
            sections: &'a [Section],
        }
        let header = Header { about, sections: &self.sections };
        let header = serde_json::to_vec(&header).expect("plain values are JSON");
        let level =
            if self.bytes.len() > LARGE { Compression::new(6) } else { Compression::best() };
        let mut packed = ZlibEncoder::new(Vec::new(), level);
        let mut put = |bytes: &[u8]| packed.write_all(bytes).expect("memory takes all");
        put(&(header.len() as u32).to_le_bytes());
        put(&header);
        put(&self.bytes);
        base64::text(&packed.finish().expect("memory takes all"))
    }
}

/// All first bytes, then all second ones, and so on.
fn planes<const N: usize>(numbers: &[[u8; N]]) -> Vec<u8> {
    (0..N).flat_map(|i| numbers.iter().map(move |n| n[i])).collect()
}

//! Compresses the script of the page, which is a large part of a program otherwise.

use std::env;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::ZlibEncoder;

const SCRIPT: &str = "assets/page.js";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={SCRIPT}");
    let to = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("page.js.zlib");
    let mut packed = ZlibEncoder::new(File::create(to)?, Compression::best());
    packed.write_all(&fs::read(SCRIPT)?)?;
    packed.finish()?.flush()
}

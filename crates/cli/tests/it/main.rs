//! The built program, as its users meet it.

mod bad_input;
mod beside_tables;
mod blast;

mod batch;
mod cluster;
mod compare;
mod congest;
mod congestion;
mod diff;
mod docs;
mod doctor;
mod ease;
mod ecmp;
mod explain;
mod fabric;
mod framing;
mod groups;
mod help;
mod hop;
mod hot;
mod jobs;
mod lids;
mod load;
mod measure;
mod names;
mod nccl;
mod odd_values;
mod operate;
mod operate_acts;
mod output;
mod package;
mod page;
mod pages;
mod place;
mod preset;
mod recognise;
mod reference;
mod replay;
mod reproduce;
mod reroute;
mod route;
mod schema;
mod shell;
mod simulate;
mod slurm;
mod study;
mod study_kept;
mod survive;
mod sweep;
mod top;
mod transition;

use std::path::Path;
use std::process::{Command, Output};

/// The result of a run.
struct Run {
    code: i32,
    out: String,
    err: String,
}

impl Run {
    /// The result, for `--format json`.
    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}{}", self.out, self.err))
    }
}

/// Runs `darkfiber` with blank-separated words in a directory.
fn run_in(dir: &Path, line: &str) -> Run {
    run_as(dir, &[], line)
}

/// The same with these variables of the environment.
fn run_with(variables: &[(&str, &str)], line: &str) -> Run {
    run_as(Path::new("."), variables, line)
}

fn run_as(dir: &Path, variables: &[(&str, &str)], line: &str) -> Run {
    let output: Output = Command::new(env!("CARGO_BIN_EXE_darkfiber"))
        .args(line.split_whitespace())
        .envs(variables.iter().copied())
        .current_dir(dir)
        .env_remove("NO_COLOR")
        .output()
        .expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Run {
        code: output.status.code().expect("no signal"),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

fn run(line: &str) -> Run {
    run_in(Path::new("."), line)
}

/// A directory with some files in it.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    for (name, text) in files {
        std::fs::write(dir.path().join(name), text).expect("a file");
    }
    dir
}

/// Two switches, a cable between them, a host on each.
const PAIR: &str = r#"
vendid=0x2c9
devid=0xb924
sysimgguid=0x2c90000000101
switchguid=0x2c90000000101(2c90000000101)
Switch	8 "S-0002c90000000101"		# "left" base port 0 lid 1 lmc 0
[1]	"H-0002c90000000201"[1](2c90000000211) 		# "cn1 HCA-1" lid 3 4xQDR
[8]	"S-0002c90000000102"[8]		# "right" lid 2 4xQDR

vendid=0x2c9
devid=0xb924
sysimgguid=0x2c90000000102
switchguid=0x2c90000000102(2c90000000102)
Switch	8 "S-0002c90000000102"		# "right" base port 0 lid 2 lmc 0
[1]	"H-0002c90000000202"[1](2c90000000212) 		# "cn2 HCA-1" lid 4 4xQDR
[8]	"S-0002c90000000101"[8]		# "left" lid 1 4xQDR

vendid=0x2c9
devid=0x673c
sysimgguid=0x2c90000000203
caguid=0x2c90000000201
Ca	1 "H-0002c90000000201"		# "cn1 HCA-1"
[1](2c90000000211) 	"S-0002c90000000101"[1]		# lid 3 lmc 0 "left" lid 1 4xQDR

vendid=0x2c9
devid=0x673c
sysimgguid=0x2c90000000205
caguid=0x2c90000000202
Ca	1 "H-0002c90000000202"		# "cn2 HCA-1"
[1](2c90000000212) 	"S-0002c90000000102"[1]		# lid 4 lmc 0 "right" lid 2 4xQDR
"#;

//! `--html`: pages of many commands, and their rendering in a real browser.

use std::path::{Path, PathBuf};
use std::process::Command;

use darkfiber_testkit::skipped;

use crate::run_in;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn found(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|out| out.status.success())
}

const SCENARIO: &str = r#"
title = "Two jobs </script> on a HyperX"
fabric = "hyperx:dims=4x3,t=2"
[routes]
engine = "dfsssp"
[keep]
interval = "20us"
[[job]]
name = "one"
traffic = "imb:op=alltoall,bytes=64KiB"
nodes = 12
[[job]]
name = "<b>two</b>"
traffic = "imb:op=allreduce,bytes=256KiB"
nodes = 8
"#;

const LOG: &str = "JobID|Submit|Start|End|State|NNodes|NodeList\n\
    1|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T09:00:00|COMPLETED|6|cn[0001-0006]\n\
    2|2026-01-01T00:00:00|2026-01-01T02:00:00|2026-01-01T08:00:00|COMPLETED|8|cn[0007-0014]\n";

/// Pages of a tree, a HyperX over time, a dragonfly and an irregular fabric.
fn write_pages(dir: &Path) {
    std::fs::write(dir.join("two.toml"), SCENARIO).expect("a scenario");
    std::fs::write(dir.join("jobs.txt"), "cn1 a\ncn2 a\ncn9 a\ncn2 b\ncn10 b\n").expect("jobs");
    std::fs::write(dir.join("log"), LOG).expect("a log");
    for (line, page) in [
        ("fabric clos3:k=4,pods=4 --fail-links 3 --html fabric.html", "fabric.html"),
        ("route clos3:k=4,pods=4 -e minhop -e updn --html tree.html", "tree.html"),
        ("simulate two.toml --html hyperx.html", "hyperx.html"),
        ("route dragonfly:p=2,a=4,h=2 -e dfsssp --html dragonfly.html", "dragonfly.html"),
        (
            "measure jellyfish:n=20,d=4,p=2 -e dfsssp --pattern bisect --samples 10 --html random.html",
            "random.html",
        ),
        ("route torus:dims=4x4,t=1 -e minhop --html deadlock.html", "deadlock.html"),
        ("route torus:dims=4x4,t=1 -e dfsssp -e lash --html lanes.html", "lanes.html"),
        (
            "replay --fabric kary:k=4,n=2 --jobs log --every 1h -e updn,sar --html replay.html",
            "replay.html",
        ),
        ("reproduce T2HX-F1 --html reproduce.html", "reproduce.html"),
    ] {
        let run = run_in(dir, line);
        assert!(run.code < 2, "{line}: {}", run.err);
        let html = std::fs::read_to_string(dir.join(page)).expect("a page");
        assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"), "{line}");
        assert_eq!(html.matches("</script").count(), 2, "{line}");
    }
}

#[test]
fn pages_answer_in_a_browser() {
    let dir = tempfile::tempdir().expect("a directory");
    write_pages(dir.path());
    if !found("node") {
        skipped("no node: nobody drives a browser");
        return;
    }
    let out = Command::new("node")
        .arg(root().join("web/test/page.mjs"))
        .arg(dir.path())
        .output()
        .expect("node runs");
    let text = String::from_utf8_lossy(&out.stdout);
    if text.starts_with("skipped") {
        skipped("no chromium: pages were written and not looked at");
        return;
    }
    assert!(out.status.success(), "{text}{}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn the_bundle_is_what_its_source_builds() {
    if !root().join("web/node_modules/esbuild").exists() {
        skipped("no web/node_modules (npm ci): the bundle is not built again");
        return;
    }
    let out = Command::new("node")
        .args(["build.mjs", "--check"])
        .current_dir(root().join("web"))
        .output();
    let out = out.expect("node runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn a_page_that_cannot_be_written_is_refused_at_once() {
    let dir = tempfile::tempdir().expect("a directory");
    for command in
        ["fabric @t2hx-hyperx", "route @t2hx-hyperx -e minhop", "measure @t2hx-hyperx -e minhop"]
    {
        let run = run_in(dir.path(), &format!("{command} --html no/such/folder/map.html"));
        assert_eq!(run.code, 3, "{command}: {}", run.err);
        assert!(run.err.contains("nothing was computed"), "{command}: {}", run.err);
    }
}

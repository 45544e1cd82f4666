//! The content of pages of long runs, read from their data as the browser reads it.

use std::io::Read;
use std::path::Path;

use serde_json::Value;

use crate::{folder, run_in};

/// The description in the data of a page: as read by `web/src/blob.ts`.
fn about(html: &str) -> Value {
    let data = html.split("id=\"data\">").nth(1).and_then(|rest| rest.split('<').next());
    let bytes = decoded(data.expect("data"));
    let mut raw = Vec::new();
    flate2::read::ZlibDecoder::new(bytes.as_slice()).read_to_end(&mut raw).expect("compressed");
    let (length, rest) = raw.split_at(4);
    let length = u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
    serde_json::from_slice(&rest[..length]).expect("JSON")
}

/// Decodes Base64 (RFC 4648).
fn decoded(text: &str) -> Vec<u8> {
    const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut out, mut held, mut bits) = (Vec::new(), 0u32, 0);
    for c in text.chars().filter(|c| *c != '=' && !c.is_whitespace()) {
        held = held << 6 | LETTERS.find(c).expect("a letter of it") as u32;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((held >> bits) as u8);
            held &= (1 << bits) - 1;
        }
    }
    out
}

fn page(dir: &Path, line: &str) -> Value {
    let run = run_in(dir, &format!("{line} --html page.html -q"));
    assert!(run.code < 2, "{line}: {}", run.err);
    about(&std::fs::read_to_string(dir.join("page.html")).expect("a page"))
}

/// Number of values in an array of the data.
fn count(page: &Value, section: &str) -> u64 {
    let all = page["sections"].as_array().expect("sections");
    let found = all.iter().find(|s| s["name"] == section);
    found.unwrap_or_else(|| panic!("no {section}"))["count"].as_u64().expect("a number")
}

const LOG: &str = "JobID|Submit|Start|End|State|NNodes|NodeList\n\
    1|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T09:00:00|COMPLETED|6|cn[0001-0006]\n\
    2|2026-01-01T00:00:00|2026-01-01T02:00:00|2026-01-01T08:00:00|COMPLETED|8|cn[0007-0014]\n\
    3|2026-01-01T00:00:00|2026-01-01T05:30:00|2026-01-01T12:00:00|COMPLETED|2|cn[0015-0016]\n";

#[test]
fn a_replay_has_a_slider_over_its_moments() {
    let dir = folder(&[("log", LOG)]);
    let line = "replay --fabric kary:k=4,n=2 --jobs log --every 1h -e updn,sar --map map.svg";
    let page = page(dir.path(), line);
    let about = &page["about"];
    let views = about["views"].as_array().expect("views");
    assert_eq!(views.len(), 2, "{views:?}");
    for (v, engine) in ["updn", "sar"].into_iter().enumerate() {
        assert_eq!(
            (&views[v]["name"], &views[v]["interval"], &views[v]["begins"]),
            (&engine.into(), &3600.0.into(), &1_767_225_600.into())
        );
        assert!(views[v]["full"].as_f64().is_some_and(|most| most > 0.0), "{views:?}");
        // Twelve moments, and where the last ends.
        assert_eq!(count(&page, &format!("view{v}.start")), 13);
    }
    // The maximum over all moments equals that of the replay itself.
    let csv = run_in(dir.path(), &format!("{line} --format csv -q")).out;
    let most = csv.lines().skip(1).filter_map(|l| l.split(',').nth(5)?.parse::<f64>().ok());
    assert_eq!(views[0]["full"].as_f64(), Some(most.fold(0.0, f64::max)));
    let jobs = about["jobs"].as_array().expect("jobs");
    assert_eq!(jobs.len(), 3);
    assert_eq!(jobs[1]["runs"], serde_json::json!([[7200.0, 28_800.0]]));
    let charts = about["charts"].as_array().expect("charts");
    assert_eq!(charts.len(), 4);
    assert_eq!((&charts[0]["x"]["measured"], count(&page, "chart0.x")), (&"date".into(), 12));
    assert_eq!(charts[0]["lines"], serde_json::json!(["updn", "sar"]));
    // The map alone: two engines next to each other.
    let map = std::fs::read_to_string(dir.path().join("map.svg")).expect("a map");
    assert_eq!(map.matches("<svg").count(), 3);
    assert!(map.contains(">updn<") && map.contains(">sar<"), "{}", &map[..800]);
}

#[test]
fn a_long_replay_is_thinned_not_joined() {
    let dir = folder(&[("log", LOG)]);
    let page = page(dir.path(), "replay --fabric kary:k=4,n=2 --jobs log --every 2min -e updn");
    // 360 moments: every third is on the slider; charts have all.
    assert_eq!(page["about"]["views"][0]["interval"], 360.0);
    assert_eq!(count(&page, "view0.start"), 121);
    assert_eq!(count(&page, "chart0.x"), 360);
}

/// Three readings of counters are two steps in time.
#[test]
fn readings_of_counters_are_a_series() {
    let reading = |minute: u32, first: u64, second: u64| {
        let time = 1_767_225_600 + 60 * minute;
        format!(
            "time,name,port,xmit_bytes,rcv_bytes\n{time},leaf001,5,{first},0\n{time},leaf002,6,{second},0\n"
        )
    };
    let mb = 1_000_000;
    let files =
        [reading(0, 7, 9), reading(10, 40 * mb + 7, 9), reading(20, 50 * mb + 7, 20 * mb + 9)];
    let all: String = files.iter().flat_map(|f| f.split_inclusive('\n').skip(1)).collect();
    let all = format!("time,name,port,xmit_bytes,rcv_bytes\n{all}");
    let short = files[1].replace("leaf002", "leaf003");
    let uneven = reading(60, 50 * mb + 7, 20 * mb + 9);
    let untimed = files[2].replace("time,", "").replace("1767226800,", "");
    let dir = folder(&[
        ("a", &files[0]),
        ("b", &files[1]),
        ("c", &files[2]),
        ("all", &all),
        ("short", &short),
        ("uneven", &uneven),
        ("untimed", &untimed),
    ]);
    let made =
        |counters: &str| page(dir.path(), &format!("doctor kary:k=4,n=2 --counters {counters}"));
    // In any order, and in one file.
    for counters in ["a b c", "c a b", "all"] {
        let page = made(counters);
        let view = &page["about"]["views"][0];
        assert_eq!(view["name"], "bytes by counters");
        assert_eq!((&view["interval"], &view["begins"]), (&600.0.into(), &1_767_225_600.into()));
        // The most that a channel carried in a step; in the two steps one channel and two.
        assert_eq!(view["full"].as_f64(), Some(40e6), "{counters}");
        assert_eq!((count(&page, "view0.start"), count(&page, "view0.channel")), (3, 3));
    }
    // A port that is missing once, times that are uneven or missing: no slider, rather than a wrong one.
    for counters in ["a short c", "a b uneven", "a b untimed", "a b", "a"] {
        let page = made(counters);
        let sections = page["sections"].as_array().expect("sections");
        let has_slider = sections.iter().any(|s| s["name"] == "view0.start");
        assert!(!has_slider, "{counters}: {}", page["about"]["views"]);
    }
}

#[test]
fn pages_that_cannot_be_written_are_refused_before_the_work() {
    let dir = folder(&[("log", LOG)]);
    for line in [
        "replay --fabric kary:k=4,n=2 --jobs log --every 1h -e updn",
        "congest dragonfly:p=2,a=4,h=2,g=4 --victims barrier --aggressors incast --split 50",
        "doctor kary:k=4,n=2",
        "reproduce OPT-T1",
    ] {
        for option in ["--html no/such/folder/map.html", "--html .", "--map no/such/map.svg"] {
            if option.starts_with("--map") && line.starts_with("reproduce") {
                continue;
            }
            let run = run_in(dir.path(), &format!("{line} {option}"));
            assert_eq!((run.code, run.out.as_str()), (3, ""), "{line} {option}: {}", run.err);
            assert!(run.err.contains("nothing was computed"), "{line} {option}: {}", run.err);
        }
    }
}

/// A dump that is named by mistake is not replaced; a page is, by the next one.
#[test]
fn pages_replace_pages_alone() {
    let dir = folder(&[]);
    let line = |more: &str| run_in(dir.path(), &format!("fabric kary:k=2,n=2 {more} -q"));
    assert_eq!(line("-o me.topo").code, 0);
    let dump = std::fs::read_to_string(dir.path().join("me.topo")).expect("a dump");
    for option in ["--html me.topo", "--map me.topo"] {
        let run = run_in(dir.path(), &format!("fabric me.topo {option}"));
        assert_eq!((run.code, run.out.as_str()), (3, ""), "{option}: {}", run.err);
        assert!(run.err.contains("me.topo: a file that is no page"), "{}", run.err);
    }
    assert_eq!(std::fs::read_to_string(dir.path().join("me.topo")).expect("a dump"), dump);
    assert_eq!(line("--html same --map same").code, 2);
    for _ in 0..2 {
        assert_eq!(line("--html page.html --map map.svg").code, 0);
    }
}

#[test]
fn congestion_on_a_page() {
    let dir = folder(&[]);
    let page = page(
        dir.path(),
        "congest dragonfly:p=2,a=4,h=2,g=4,gbps=200 --warmup 100us --limit 5ms --iterations 20 \
         --victims allreduce:8B --aggressors incast --split 50 --place linear",
    );
    let about = &page["about"];
    assert_eq!(about["jobs"].as_array().map(Vec::len), Some(2), "victim and aggressor");
    let charts = about["charts"].as_array().expect("charts");
    assert_eq!((&charts[0]["form"], &charts[0]["y"]["log"]), (&"bars".into(), &true.into()));
    let rows = about["sheets"][0]["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), charts[0]["lines"].as_array().expect("lines").len());
    assert_eq!(about["tables"]["kind"], "held");
}

#[test]
fn a_bad_cable_on_the_page_of_a_doctor() {
    let dir = folder(&[]);
    let d = dir.path();
    assert_eq!(run_in(d, "fabric kary:k=4,n=2 -o whole.topo").code, 0);
    assert_eq!(run_in(d, "route whole.topo -e dfsssp -o t").code, 0);
    let text = std::fs::read_to_string(d.join("whole.topo")).expect("a dump");
    let line = text.lines().find(|l| l.starts_with("Switch")).expect("a switch");
    let guid = line.split("\"S-").nth(1).and_then(|rest| rest.get(..16)).expect("a GUID");
    let errors = format!(
        "Errors for 0x{guid} \"leaf001\"\n   GUID 0x{guid} port 5: [SymbolErrorCounter == 65535]\n"
    );
    std::fs::write(d.join("errors"), errors).expect("written");
    let page = page(d, "doctor whole.topo --routes t --counters errors");
    let about = &page["about"];
    let views: Vec<&str> = about["views"]
        .as_array()
        .expect("views")
        .iter()
        .filter_map(|v| v["unit"].as_str())
        .collect();
    assert_eq!(views, ["errors", "routes"]);
    let all = about["findings"].as_array().expect("findings");
    let bad = all.iter().find(|f| f["severity"] == "error").expect("the bad cable");
    assert!(bad["message"].as_str().is_some_and(|m| m.contains("symbol errors")), "{bad}");
    assert_eq!(bad["channels"].as_array().map(Vec::len), Some(1), "{bad}");
    assert_eq!(
        about["sheets"][0]["rows"].as_array().map(Vec::len),
        Some(11),
        "{}",
        about["sheets"]
    );
}

#[test]
fn experiments_have_a_page_without_a_map() {
    let dir = folder(&[]);
    let page = page(dir.path(), "reproduce OPT-T1 T2HX-F1");
    let about = &page["about"];
    assert_eq!(count(&page, "switch.x"), 0);
    assert_eq!(about["sheets"].as_array().map(Vec::len), Some(2));
    assert!(about["charts"].as_array().is_some_and(|all| !all.is_empty()));
    // For stored results there are numbers only, and the page states that.
    let kept = || self::page(dir.path(), "reproduce T2HX-F1 --store kept");
    assert_eq!(kept()["about"]["charts"].as_array().map(Vec::len), Some(1));
    let again = kept();
    assert_eq!(again["about"]["charts"], serde_json::json!([]));
    let facts = again["about"]["facts"].to_string();
    assert!(facts.contains("without charts") && facts.contains("T2HX-F1"), "{facts}");
}

//! `darkfiber route -e ease`.

use std::collections::BTreeSet;

use crate::{folder, run_in};

const FABRIC: &str = "kary:k=4,n=3";

/// Three jobs, hosts of which take turns.
fn jobs() -> String {
    let line = |host: usize| format!("cn{host:04} {}\n", host * 7 % 3);
    (1..=64).map(line).collect::<Vec<_>>().concat()
}

#[test]
fn few_entries_serve_the_jobs() {
    let jobs = jobs();
    let dir = folder(&[("jobs", &jobs)]);
    let d = dir.path();
    assert_eq!(run_in(d, &format!("route {FABRIC} -e ftree -o even -q")).code, 0);
    let line = format!("route {FABRIC} -e ease --from even --jobs jobs");
    let made = run_in(d, &format!("{line} -o eased --format json"));
    assert_eq!(made.code, 0, "{}", made.err);
    let json = made.json();
    let most = |of: &str| json[of]["effective_efi"]["max"].as_u64().expect("a number");
    assert_eq!(json["fullest_before"].as_f64(), Some(most("before") as f64));
    assert_eq!(json["fullest_after"].as_f64(), Some(most("after") as f64));
    assert!(most("after") < most("before") && json["bound"].as_u64() <= Some(most("after")));
    assert_eq!(json["after"]["deadlock_free"], true);
    // The entries that are named are those in which the tables that are written differ.
    let steps = json["steps"].as_array().expect("a list");
    let entries: Vec<&serde_json::Value> =
        steps.iter().flat_map(|s| s["entries"].as_array().expect("a list")).collect();
    assert_eq!(json["entries_changed"].as_u64(), Some(entries.len() as u64));
    let lines = |set: &str| -> BTreeSet<String> {
        let text = std::fs::read_to_string(d.join(set).join("lfts.dump")).expect(set);
        let mut switch = String::new();
        let entry = |l: &str| {
            if l.starts_with("Unicast lids") {
                l.clone_into(&mut switch);
            }
            format!("{switch} {l}")
        };
        text.lines().map(entry).collect()
    };
    assert_eq!(lines("even").difference(&lines("eased")).count(), entries.len());
    // The written tables are the measured ones, and cannot be eased much further.
    let checked = run_in(d, &format!("check {FABRIC} --routes eased --jobs jobs --format json"));
    assert_eq!(checked.json()["effective_efi"], json["after"]["effective_efi"]);
    assert_eq!(json["after"]["engine"], "ftree");
    let again =
        run_in(d, &format!("route {FABRIC} -e ease --from eased --jobs jobs --format json"));
    assert_eq!(again.json()["fullest_before"], json["fullest_after"]);
    assert!(std::fs::read(d.join("eased/ease.json")).is_ok());
    let csv = run_in(d, &format!("{line} --format csv"));
    assert_eq!(csv.out.lines().count(), 1 + entries.len());
    let text = run_in(d, &line);
    for word in ["effective EFI", "bound", "coexistence", "service levels stay"] {
        assert!(text.out.contains(word), "{word}: {}", text.out);
    }
}

#[test]
fn moves_and_steps_are_limits() {
    let jobs = jobs();
    let dir = folder(&[("jobs", &jobs)]);
    let d = dir.path();
    let fabric = "dragonfly:p=2,a=4,h=2";
    assert_eq!(run_in(d, &format!("route {fabric} -e dfsssp -o even -q")).code, 0);
    let with = |options: &str| {
        let line = format!("route {fabric} -e ease --from even --jobs jobs {options}");
        let made = run_in(d, &format!("{line} --format json"));
        assert_eq!(made.code, 0, "{}", made.err);
        made.json()
    };
    let freely = with("--moves 1000 --steps 100");
    assert_eq!(freely["withheld"], 0);
    let steps = freely["steps"].as_array().expect("a list").len();
    let one = with("--moves 1000 --steps 1");
    assert!(one["steps"].as_array().expect("a list").len() <= 1);
    assert!(steps < 2 || one["withheld"].as_u64() > Some(0));
    assert!(one["fullest_after"].as_f64() >= freely["fullest_after"].as_f64());
    let few = with("--moves 3");
    // Moves that do not cool the fullest channel down are left out.
    assert!(few["entries_changed"].as_u64() <= Some(3) && few["moves"].as_u64() <= Some(3));
    assert_eq!(with("--moves 0")["entries_changed"], 0);
}

#[test]
fn demands_are_served_too() {
    let line = |i: usize| format!("cn{:04}: cn{:04}=9\n", i, i + 32);
    let pairs = (1..=16).map(line).collect::<Vec<_>>().concat();
    let dir = folder(&[("pairs", &pairs)]);
    let d = dir.path();
    assert_eq!(run_in(d, &format!("route {FABRIC} -e ftree -o even -q")).code, 0);
    let line = format!("route {FABRIC} -e ease --from even --demands pairs --format json");
    let json = run_in(d, &line).json();
    assert_eq!((json["traffic"].as_str(), json["pairs"].as_u64()), (Some("demands"), Some(16)));
    assert!(json["bound"].is_null());
    assert!(json["fullest_after"].as_f64() <= json["fullest_before"].as_f64());
}

#[test]
fn what_makes_no_sense_is_refused() {
    let dir = folder(&[("jobs", "cn0001 1\ncn0002 1\n"), ("nobody", "x 1\ny 1\n")]);
    let d = dir.path();
    assert_eq!(run_in(d, &format!("route {FABRIC} -e ftree -o even -q")).code, 0);
    for (options, code) in [
        ("-e ease --jobs jobs", 2),
        ("-e ease --from even", 2),
        ("-e ease,ftree --from even --jobs jobs", 2),
        ("-e ftree --from even --counters jobs", 2),
        ("-e ease --from missing --jobs jobs", 3),
        ("-e ease --from even --jobs nobody", 3),
        ("-e ease --from even --counters jobs --demands jobs", 2),
        ("-e ease --from even --counters jobs", 3),
    ] {
        let refused = run_in(d, &format!("route {FABRIC} {options} -o eased"));
        assert_eq!(refused.code, code, "{options}: {}", refused.err);
        assert!(refused.err.contains("error: "), "{}", refused.err);
        assert!(!d.join("eased").exists());
    }
    let other = run_in(d, "route kary:k=3,n=3 -e ease --from even --jobs jobs");
    assert_ne!(other.code, 0, "tables of another fabric");
}

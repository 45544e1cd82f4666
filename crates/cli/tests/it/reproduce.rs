//! `darkfiber reproduce`: completed experiments are stored, and verdicts are those of the rows.

use std::fs;

use crate::{folder, run_in};

#[test]
fn what_is_over_is_not_run_again() {
    let dir = folder(&[]);
    let d = dir.path();
    let line = "reproduce OPT-T2 SAR-F2 T2HX-VL -o kept -q --format json";
    let first = run_in(d, line);
    // PARX takes fewer lanes than printed.
    assert_eq!(first.code, 1, "{}", first.err);
    let verdict = |i: usize| first.json()["experiments"][i]["verdict"].clone();
    assert_eq!([verdict(0), verdict(1), verdict(2)], ["reproduced", "reproduced", "off"]);
    let table = fs::read_to_string(d.join("kept/reproduced.md")).expect("written");
    assert!(table.contains("| OPT-T2 |") && table.contains("| **off** |"), "{table}");
    assert!(table.contains("3 experiments: 2 reproduced, 1 off, 0 told"), "{table}");
    let numbers = fs::read_to_string(d.join("kept/reproduced.csv")).expect("written");
    let of = |id: &str| numbers.lines().filter(|l| l.starts_with(id)).count();
    assert_eq!([of("id,"), of("OPT-T2,"), of("SAR-F2,"), of("T2HX-VL,")], [1, 135, 7, 5]);
    // Read back unmodified, times included.
    let again = run_in(d, line);
    assert_eq!(again.json()["experiments"], first.json()["experiments"], "{}", again.err);

    // Another seed is another run; a file that was altered is refused.
    let other = run_in(d, "reproduce SAR-F2 -o kept -q --seed 2 --format json");
    assert_ne!(other.json()["seconds"], first.json()["experiments"][1]["seconds"]);
    let path = d.join("kept/T2HX-VL.json");
    let text = fs::read_to_string(&path).expect("kept");
    fs::write(&path, text.replacen("\"ours\":4.0", "\"ours\":5.0", 1)).expect("written");
    let altered = run_in(d, line);
    assert_eq!(altered.code, 3);
    assert!(
        altered.err.contains("T2HX-VL.json: this is no experiment that was kept"),
        "{}",
        altered.err
    );
}

#[test]
fn parts_of_all_make_one_table() {
    let dir = folder(&[]);
    let d = dir.path();
    let line = "reproduce OPT-T2 SAR-F2 NCCL-BUS -o kept";
    let part = |i: u32| run_in(d, &format!("{line} --shard {i}/2"));
    let first = part(1);
    assert!(first.err.contains("left to other parts"), "{}", first.err);
    assert!(!d.join("kept/reproduced.md").exists());
    let second = part(2);
    assert!(!second.err.contains("left to other parts"), "{}", second.err);
    let table = fs::read_to_string(d.join("kept/reproduced.md")).expect("written");
    assert!(table.contains("3 experiments: 2 reproduced, 1 off, 0 told"), "{table}");
    // Nothing is run again, and the numbers are those of a run without parts.
    let numbers = fs::read_to_string(d.join("kept/reproduced.csv")).expect("written");
    assert_eq!(run_in(d, "reproduce OPT-T2 SAR-F2 NCCL-BUS -o whole -q").code, 1);
    assert_eq!(fs::read_to_string(d.join("whole/reproduced.csv")).expect("written"), numbers);
    let nowhere = run_in(d, "reproduce SAR-F2 --shard 1/2");
    assert!(nowhere.code == 2 && nowhere.err.contains("-o DIR"), "{}", nowhere.err);
}

#[test]
fn rows_hold_what_is_printed_and_what_is_expected() {
    let dir = folder(&[]);
    let json = run_in(dir.path(), "reproduce SAR-F2 -q --format json").json();
    let rows = json["rows"].as_array().expect("rows");
    let row = |name: &str| rows.iter().find(|r| r["quantity"] == name).expect("it is there");
    let derived = row("fragmented: sar over dmodk");
    assert!(derived["paper"].is_null() && derived["expected"] == 0.375, "{derived}");
    assert!(derived["at_least"].is_number() && derived["at_most"].is_number(), "{derived}");
    let told = row("fragmented: largest load, sar");
    assert!(told["paper"] == 60.0 && told["judged"] == false, "{told}");
    let all = run_in(dir.path(), "reproduce --all OPT-T1");
    assert_eq!(all.code, 2, "{}", all.err);
}

#[test]
fn the_study_of_an_experiment_is_printed_or_written() {
    let dir = folder(&[]);
    let d = dir.path();
    assert_eq!(run_in(d, "reproduce OPT-T1 --write-study made.toml").code, 0);
    let printed = run_in(d, "reproduce OPT-T1 --write-study -").out;
    assert_eq!(fs::read_to_string(d.join("made.toml")).expect("written"), printed);
    assert!(printed.contains("[[expect]]") && !d.join("-").exists());
}

//! `darkfiber sweep`.

use insta::assert_snapshot;

use crate::{folder, run, run_in};

const RING: &str = "sweep torus:dims=5,t=1 -e minhop -e dfsssp --fail-percent 0,1,40 --seeds 3";

#[test]
fn every_run_and_what_they_have_in_common() {
    let result = run(&format!("{RING} --format json"));
    assert_eq!((result.code, result.err.as_str()), (0, ""));
    let json = result.json();
    let list = |key: &str| json[key].as_array().expect("a list").clone();
    // Once without faults, three draws of each share, two engines.
    assert_eq!((list("runs").len(), list("summary").len()), (2 * (1 + 3 + 3), 2 * 3));
    assert_eq!(list("fabrics")[0]["switches"], 5);
    assert_eq!(json["provenance"]["seed"], 1);
    let runs = list("runs");
    assert_eq!((&runs[0]["percent"], &runs[0]["efi_max_relative"]), (&0.0.into(), &1.0.into()));
    assert_eq!((&runs[2]["failed"], &runs[2]["efi_max_relative"]), (&1.into(), &2.0.into()));
    // Two cables of a ring split it in two.
    assert!(runs[8..].iter().all(|r| r["failed"] == 2 && r["pieces"] == 2 && r["unrouted"] == 0));
    assert!(runs[8..].iter().all(|r| r["lost"].as_u64() >= Some(8)));
}

#[test]
fn rows_do_not_depend_on_threads() {
    let rows = |threads: u8| {
        let csv = run(&format!("{RING} --format csv --threads {threads}")).out;
        let without_time = |line: &str| {
            let mut cells: Vec<&str> = line.split(',').collect();
            // The name of the fabric contains a comma, so this is counted from the right.
            cells.remove(cells.len() - 2);
            cells.join(",")
        };
        csv.lines().map(without_time).collect::<Vec<_>>()
    };
    let one = rows(1);
    assert_eq!(one, rows(2));
    assert_eq!(one.len(), 1 + 14);
    assert_snapshot!(one[..4].join("\n"), @r#"
    fabric,engine,percent,failed,seed,pieces,pairs,lost,unrouted,layers,deadlock_free,efi_max,efi_max_relative,hops_mean,refused
    "torus:dims=5,t=1",minhop,0,0,1,1,20,0,0,1,false,3,1,2.5,
    "torus:dims=5,t=1",dfsssp,0,0,1,1,20,0,0,2,true,3,1,2.5,
    "torus:dims=5,t=1",minhop,1,1,1,1,20,0,0,1,true,6,2,3,
    "#);
}

#[test]
fn files_and_table() {
    let dir = folder(&[("ring", "a b\nb c\nc d\nd a\n")]);
    let line =
        "sweep ring kary:k=2,n=2 -e updn -e dmodk --fail-percent 1 --seeds 2 -o r.csv --svg p.svg";
    let result = run_in(dir.path(), line);
    assert_eq!((result.code, result.err.as_str()), (0, ""));
    assert!(result.out.contains("1 % (1)"), "{}", result.out);
    assert!(result.out.contains("dmodk refused: needs "), "{}", result.out);
    let csv = std::fs::read_to_string(dir.path().join("r.csv")).expect("written");
    assert_eq!(csv.lines().count(), 1 + 2 * 2 * (1 + 2));
    let svg = std::fs::read_to_string(dir.path().join("p.svg")).expect("written");
    assert!(svg.contains("kary:k=2,n=2") && svg.contains(">updn<") && svg.contains(">ring<"));
}

#[test]
fn nothing_routed_is_infeasible() {
    assert_eq!(run("sweep torus:dims=5,t=1 -e dmodk --seeds 1 -q").code, 4);
}

#[test]
fn wrong_command_lines() {
    let wrong = |line: &str| {
        let run = run(line);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{line}: {}", run.err);
        run.err
    };
    for share in ["101", "-1", "many", "1,,2", "NaN", "inf"] {
        let err = wrong(&format!("sweep @cab -e updn --fail-percent {share}"));
        assert!(err.contains("a number from 0 to 100 is expected"), "{share}: {err}");
    }
    assert!(wrong("sweep @cab -e updn --seeds 0").contains("--seeds"));
    assert!(wrong("sweep @cab -e updn --lanes 16").contains("--lanes"));
    assert!(wrong("sweep -e updn").contains("FABRIC"));
    assert_snapshot!(wrong("sweep @cab -e dfsspp"), @"
    error: no engine is called 'dfsspp'
    hint: did you mean dfsssp?
    ");
    assert_snapshot!(wrong("sweep @cab -e updn -e updn"), @"error: engine updn is given twice");
    assert_snapshot!(wrong("sweep @cab @cab -e updn"), @"error: fabric @cab is given twice");
    assert_eq!(run("sweep nowhere/at.all -e updn").code, 3);
}
